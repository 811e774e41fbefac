// Replay vectors: read {script, vectors} as JSON from standard input, print one line a vector.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const { Bits, load } = await import(pathToFileURL(`${folder}/discreet-device.js`));
const { SKETCHES } = await import(pathToFileURL(`${folder}/discreet-sketches.js`));
const { HISTOGRAM } = await import(pathToFileURL(`${folder}/discreet-histogram.js`));
const { vectors } = JSON.parse(readFileSync(0, "utf8"));
for (const { envelope, value, bits } of vectors) {
  const bytes = Uint8Array.from(Buffer.from(bits, "hex"));
  let used = false;
  const source = () => { if (used) throw new Error("the script has ended"); used = true; return bytes; };
  const metric = await load(envelope, { mechanisms: { ...SKETCHES, ...HISTOGRAM } });
  const script = new Bits(source);
  const line = metric.line(value, script);
  console.log(JSON.stringify({ line, left: script.words.length }));
}
