import type { Mechanisms } from "./discreet-device.js";

/** Those of discreet-device, RAPPOR, sketches, bit flips and words. */
export declare const SKETCHES: Mechanisms;
