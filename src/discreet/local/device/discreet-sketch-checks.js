// Checks of RAPPOR, sketches, bit flips and words, for discreet-sketches.js; refusals have the words of Python.
import { checkFlip, checkMember, isText, less, must, ratio, SHAPES, whole } from "./discreet-checks.js";

function checkKey(key) {
  const size = isText(key) ? new TextEncoder().encode(key).length : 0;
  must(size >= 1 && size <= 64, "key must be text of 1 to 64 bytes, best the name of the metric; it is public");
}

/** Refuse a number of cells that is no power of two. */
function checkWidth(width, name, most) {
  whole(width, name, 2, most);
  const near = 2 ** Math.floor(Math.log2(width));
  must(width === near, `${name} must be a power of two, such as ${near}, got ${width}`);
}

function checkSketch({ rows, width, key }) {
  whole(rows, "rows", 1, 2 ** 20);
  checkWidth(width, "width", 2 ** 20);
  checkKey(key);
}

function checkRappor({ bits, cohorts, hashes, key, f, p, q }) {
  const [keep, low, high] = [[f, "f"], [p, "p"], [q, "q"]].map(([text, name]) => ratio(text, name)), one = [1n, 1n];
  must(keep[0] > 0n && less(keep, one), `f must lie between 0 and 1, else nothing protects, or nothing is told; got ${f}`);
  // With p above q the formula of ε would be negative: such a report costs as much and seems free.
  must(low[0] >= 0n && less(low, high) && !less(one, high),
    `p and q must be probabilities with p below q, got ${p} and ${q}`);
  checkWidth(bits, "bits", 2 ** 16);
  whole(hashes, "hashes", 1, bits);
  checkKey(key);
  whole(cohorts, "cohorts", 1, 2 ** 16);
}

function checkWords({ bits, known, step, prefixes, round, found, member, parameter }) {
  const within = (x, least, most) => Number.isSafeInteger(x) && x >= least && x <= most;
  const sizes = within(bits, 1, 256) && within(step, 0, 22) && within(known, 0, bits) && known + step <= bits && within(round, 0, bits);
  must(sizes && [prefixes, found].every((kept) => Array.isArray(kept) && kept.every((x) => /^[0-9]{1,80}$/.test(x))) &&
    prefixes.length && prefixes.length * 2 ** step <= 2 ** 22, "the words have other sizes");
  checkMember(member, prefixes.length * 2 ** step + (round > 0), parameter);
}

function checkBuckets({ buckets, sample, gamma }) {
  whole(buckets, "buckets", 2, 2 ** 30);
  whole(sample, "sample", 1, buckets);
  must(buckets <= 2 ** 22, "a device draws among at most 4194304 buckets");
  checkFlip(gamma);
}

Object.assign(SHAPES, {
  words: ["bits epsilon found known member parameter prefixes round step top", checkWords],
  "count-mean-sketch": ["epsilon rows width key", checkSketch],
  "hadamard-count-mean-sketch": ["epsilon rows width key", checkSketch],
  "bit-flip": ["buckets epsilon gamma sample", checkBuckets],
  rappor: ["bits cohorts f hashes key p q", checkRappor],
});
