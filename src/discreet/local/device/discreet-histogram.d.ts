import type { Mechanisms } from "./discreet-device.js";

/** Mechanisms of discreet-device, and histograms. */
export declare const HISTOGRAM: Mechanisms;
