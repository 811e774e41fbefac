/** Text that a server sends: parameters, their hash, the name of the metric, and perhaps a signature. */
export interface Envelope {
  metric: string;
  parameters: string;
  params: string;
  signature?: string;
}

/** Source of secure words. */
export declare class Bits {
  constructor(source?: () => Uint8Array);
  word(): bigint;
  below(bound: number): number;
}

/** Draws the report of a value. */
export type Draw = (value: unknown, bits: Bits) => unknown;

export interface Metric {
  readonly given: Record<string, unknown>;
  readonly metric: string;
  readonly params: string;
  readonly draw: Draw;
  /** Writes a report as the line to send. */
  wrap(report: unknown): string;
  /** Draws the report of a value, and writes it as the line to send. */
  line(value: string | number | bigint, bits?: Bits): string;
}

export interface LoadOptions {
  /** Public Ed25519 key of the server, in base 64; an envelope without its signature is refused. */
  key?: string;
  /** Largest ε of one report that is allowed here, as text such as "2" or "1/2". */
  most?: string;
  /** Mechanisms that may be loaded; `SKETCHES` of discreet-device/sketches and `HISTOGRAM` of discreet-device/histogram add more. */
  mechanisms?: Mechanisms;
}

export type Mechanisms = Record<string, (parameters: any) => Draw>;
export declare const MECHANISMS: Mechanisms;

/** Checks an envelope and makes its metric; a lie is refused with a RangeError. */
export declare function load(envelope: Envelope, options?: LoadOptions): Promise<Metric>;
