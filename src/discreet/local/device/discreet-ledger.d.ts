import type { Bits, Metric } from "./discreet-device.js";

export type Period = "day" | "year" | "ever";

/** Promise for a period: its ε, and the histories between which it holds. */
export interface Lifetime {
  epsilon: number;
  between: string;
}

/** Grid to which a device rounds its numbers, by a shift that it draws once. */
export interface Grid {
  low: number | string;
  high: number | string;
  step: number | string;
  resolution?: number;
}

export interface DeviceOptions {
  /** Every report drawn anew, or one answer kept for each of `slots` values. */
  mode: "fresh" | "memoised";
  slots?: number;
  /** Public value whose answer is sent when the slots are used; memoised devices need it. */
  default?: string | number;
  most_reports?: number;
  per_day?: number;
  grid?: Grid;
  /** Keeps the state, such as localStorage. Without it the state is lost, and paid for again. */
  store?: { getItem(key: string): string | null; setItem(key: string, value: string): void };
  /** Largest ε for ever that is allowed here. */
  most?: number;
  bits?: Bits;
}

export interface Device {
  lifetime(period: Period): Lifetime;
  sent(): number;
  /** All that the device keeps, as JSON; a secret of the device. */
  state(): string;
  new_day(): void;
  /** The line to send for a value; its answer is in the store before it is returned. */
  line(value: string | number): string;
}

/** Opens the device of a metric, or refuses with a RangeError. */
export declare function open(metric: Metric, options: DeviceOptions): Device;
