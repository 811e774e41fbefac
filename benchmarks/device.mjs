// Time one report of every mechanism in node: read {name: {envelope, value, unit}} from standard input.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const { load } = await import(pathToFileURL(`${folder}/discreet-device.js`));
const { SKETCHES } = await import(pathToFileURL(`${folder}/discreet-sketches.js`));
const rows = {};
for (const [name, { envelope, value, unit }] of Object.entries(JSON.parse(readFileSync(0, "utf8")))) {
  const metric = await load(envelope, { mechanisms: SKETCHES });
  const runs = unit > 1 ? 300 : 5000;
  for (let i = 0; i < runs / 2; i++) metric.line(value);
  const start = process.cpuUsage().user;
  for (let i = 0; i < runs; i++) metric.line(value);
  rows[name] = (process.cpuUsage().user - start) / runs / unit;
}
console.log(JSON.stringify(rows));
