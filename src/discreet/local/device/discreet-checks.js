// Check what a server sends before anything is drawn by it: fields, sizes, ratios, ε and the hash.
// Refusals have the words of Python: arithmetic/rational.py, local/reports/parameters.py, local/spend.py, local/table.py.

const refuse = (why) => { throw new RangeError(why); };
export const must = (holds, why) => { if (!holds) refuse(why); };
const RATIO = /^-?[0-9]{1,400}(\/[0-9]{1,400})?$/, HINT = "try an int, float, Fraction or text";
const kind = (x) => (x === null ? "NoneType" : typeof x === "boolean" ? "a boolean" : Array.isArray(x) ? "list" : "dict");

/** Refuse what is no whole number between two bounds. */
export function whole(x, name, least, most) {
  must(typeof x === "number", `${name} must be a number, got ${kind(x)}; ${HINT}`);
  must(Number.isSafeInteger(x) && x >= least && x <= most,
    `${name} must be a whole number from ${least} to ${most}, got ${x}`);
}

/** Read exact text such as "1/2" as [numerator, denominator]. */
export function ratio(text, name) {
  must(typeof text !== "number", `${name} must be a number as text`);
  must(typeof text === "string", `${name} must be a number, got ${kind(text)}; ${HINT}`);
  const wrong = `${name} must be a finite number, got '${text.slice(0, 40)}'; ${HINT}`;
  must(RATIO.test(text), wrong);
  const [num, den = 1n] = text.split("/").map(BigInt);
  must(den > 0n, wrong);
  return [num, den];
}
export const less = ([a, b], [c, d]) => a * d < c * b;
const LEAST = [1n, 10n ** 9n], MOST = [500n, 1n];

/** Bound e^x for x = num/den ≥ 0 from above, as a ratio: a partial sum of the series, and its rest. */
function expAbove([num, den]) {
  const terms = 2n * (num / den) + 40n;
  let term = 1n << 256n, sum = term;
  for (let k = 1n; k <= terms; k++) {
    term = (term * num + den * k - 1n) / (den * k);
    sum += term;
  }
  // From here on every term is at most half of the one before, so the rest is at most the last term.
  return [sum + term, 1n << 256n];
}

function checkEpsilon(epsilon) {
  const amount = ratio(epsilon, "epsilon");
  must(amount[0] > 0n, `epsilon must be greater than 0, got ${epsilon}`);
  must(!less(amount, LEAST) && !less(MOST, amount),
    "epsilon of a report must lie from 1e-9 to 500: below, it tells nothing; above, all");
  return amount;
}

export function checkRange({ low, high }) {
  must(less(ratio(low, "low"), ratio(high, "high")), "low must be below high, public bounds of the values");
}

export const isText = (x) => typeof x === "string" && (x.isWellFormed?.() ?? !/\p{Surrogate}/u.test(x));
export function checkFlip(gamma) {
  const part = ratio(gamma, "gamma");
  must(part[0] >= 0n && less(part, [1n, 2n]), `gamma must be at least 0 and below 1/2, got ${gamma}`);
}
const primePower = (q) => {
  let p = 2;
  while (q % p) p++;
  while (q % p === 0) q /= p;
  return q === 1;
};

/** Check a member of the two-level family and its parameter: local/choose.py. */
export function checkMember(member, d, parameter) {
  const unknown = "the member of the family, or its parameter, is not known to this release";
  if (member === "direct" || member === "hadamard") return whole(parameter, "parameter", 0, 0);
  if (member === "subset") {
    whole(parameter, "parameter", 1, Math.min(d, 4096) - 1);
    return whole(d, "options of a subset", 0, 4096);
  }
  must(member === "geometry" || member === "apart", unknown);
  whole(parameter, "parameter", 2, 512);
  must(primePower(parameter), unknown);
  let points = 1 + parameter;
  while (points < d) points = points * parameter + 1;
  must(points < 2 ** 22 || points * (parameter - 1) < 2 ** 24, unknown);
}

function checkOptions(options) {
  if (!Array.isArray(options)) {
    must(Number.isInteger(options), "options must be a list of names, or how many there are");
    return whole(options, "options", 2, 2 ** 22);
  }
  must(options.every(isText), "an option must be text that UTF-8 can write");
  must(new Set(options).size === options.length, "options must be text, each listed once");
  whole(options.length, "the number of options", 2, 2 ** 22);
}

function checkTable({ weights, values, epsilon }) {
  const many = weights?.[0]?.length, rows = Array.isArray(weights) && weights.length > 1 && many > 1;
  must(rows && weights.every((row) => Array.isArray(row) && row.length === many) && values?.length === many,
    "a table has at least two inputs and two outputs, and a value for every output");
  must(weights.every((row) => row.every((w) => Number.isInteger(w) && w >= 1 && w <= 2 ** 40) && row.reduce((a, b) => a + b) === 2 ** 40),
    "every row of a table must be weights of at least 1 that sum to 2**40");
  const [top, bottom] = expAbove(ratio(epsilon, "epsilon"));
  for (let i = 0; i < many; i++) {
    const column = weights.map((row) => BigInt(row[i])), sorted = column.sort((a, b) => (a < b ? -1 : +(a > b)));
    must(sorted.at(-1) * bottom <= top * sorted[0],
      "the table does not keep epsilon: two inputs differ too much in one output");
  }
}

// ε of one RAPPOR report, h·ln(q*(1 − p*)/(p*(1 − q*))), a little more than its float.
export function rapporEpsilon({ hashes, f, p, q }) {
  const [keep, low, high] = [f, p, q].map((text) => { const [a, b] = ratio(text, "f, p, q"); return Number(a) / Number(b); });
  const one = keep / 2 * (low + high) + (1 - keep) * high, zero = keep / 2 * (low + high) + (1 - keep) * low;
  return hashes * Math.log(one * (1 - zero) / (zero * (1 - one))) * (1 + 1e-9);
}

// Mechanism → its fields and its own check; other parts add theirs.
export const SHAPES = {
  choice: ["options epsilon member parameter", (given) => {
    checkOptions(given.options);
    must(given.member !== "apart", "the member of the family, or its parameter, is not known to this release");
    checkMember(given.member, given.options.length ?? given.options, given.parameter);
  }],
  "one-bit-mean": ["low high epsilon gamma", (given) => { checkRange(given); checkFlip(given.gamma); }],
  number: ["low high epsilon weights values", (given) => { checkRange(given); checkTable(given); }],
};

const UNKNOWN = "the parameters name no mechanism of the local model: choice, number, histogram, one-bit-mean, " +
  "bit-flip, rappor, count-mean-sketch, hadamard-count-mean-sketch, words";

/** Refuse parameters that are not what they say, or that cost more than `most`. */
export function check(given, most) {
  const [names, own] = Object.hasOwn(SHAPES, given?.mechanism ?? "") ? SHAPES[given.mechanism] : refuse(UNKNOWN);
  must(given.version === 1, `these are not the parameters of ${given.mechanism} in version 1`);
  const fields = ["mechanism", "version", ...names.split(" ")];
  must(Object.keys(given).length === fields.length && fields.every((name) => Object.hasOwn(given, name)),
    `the parameters of ${given.mechanism} have other fields`);
  const cost = given.mechanism === "rappor" ? null : checkEpsilon(given.epsilon);
  own(given);
  if (most === undefined) return;
  const limit = ratio(most, "most"), dear = cost ? less(limit, cost)
    : !(rapporEpsilon(given) <= Number(limit[0]) / Number(limit[1]));
  must(!dear, `a report costs more than the epsilon of ${most} that is allowed here`);
}

/** Refuse parameters whose hash is not the one that reports will carry. */
export async function checkHash(text, params) {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  const found = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("").slice(0, 16);
  must(found === params, "the hash of the parameters is another one");
}
