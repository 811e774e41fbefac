// RAPPOR, count-mean sketches, bit flips and words for discreet-device.js; hashes as in local/hashing.py.
//   const metric = await load(envelope, { key, mechanisms: SKETCHES });
import "./discreet-sketch-checks.js";
import { coin, DESIGNS, list, MECHANISMS, ratio, refuse, share } from "./discreet-device.js";

const utf8 = (text) => new TextEncoder().encode(text), word = (x) => BigInt.asUintN(64, x);
const rotate = (x, n) => x >> n | word(x << 64n - n);
const IV = [
  0x6a09e667f3bcc908n, 0xbb67ae8584caa73bn, 0x3c6ef372fe94f82bn, 0xa54ff53a5f1d36f1n,
  0x510e527fade682d1n, 0x9b05688c2b3e6c1fn, 0x1f83d9abfb41bd6bn, 0x5be0cd19137e2179n,
];
const SIGMA = [
  "0123456789abcdef", "ea489fd61c02b753", "b8c052fdae367194", "7931dcbe265a40f8", "905724afe1bc683d",
  "2c6a0b834d75fe19", "c51fed4a0763928b", "db7ec13950f4862a", "6fe9b308c2d714a5", "a2847615fb9e3cd0",
].map((row) => [...row].map((digit) => parseInt(digit, 16)));
const COLUMNS = ["048c", "159d", "26ae", "37bf", "05af", "16bc", "278d", "349e"].map((row) =>
  [...row].map((digit) => parseInt(digit, 16)));

/** Keyed BLAKE2b (RFC 7693): little-endian words of the digest. */
export function blake2b(data, key, size) {
  const text = new Uint8Array((key.length ? 128 : 0) + data.length), h = [...IV];
  text.set(key);
  text.set(data, key.length ? 128 : 0);
  h[0] ^= 0x01010000n ^ BigInt(key.length) << 8n ^ BigInt(size);
  const blocks = Math.max(1, Math.ceil(text.length / 128)), whole = new Uint8Array(blocks * 128);
  whole.set(text);
  const view = new DataView(whole.buffer);
  for (let block = 0; block < blocks; block++) {
    const m = list(16, (i) => view.getBigUint64(128 * block + 8 * i, true)), last = block === blocks - 1;
    const v = [...h, ...IV];
    v[12] ^= BigInt(last ? text.length : 128 * (block + 1));
    if (last) v[14] = word(~v[14]);
    for (let round = 0; round < 12; round++) {
      const s = SIGMA[round % 10];
      COLUMNS.forEach(([a, b, c, d], i) => {
        for (const [x, p, q] of [[m[s[2 * i]], 32n, 24n], [m[s[2 * i + 1]], 16n, 63n]]) {
          v[a] = word(v[a] + v[b] + x);
          v[d] = rotate(v[d] ^ v[a], p);
          v[c] = word(v[c] + v[d]);
          v[b] = rotate(v[b] ^ v[c], q);
        }
      });
    }
    h.forEach((_, i) => { h[i] ^= v[i] ^ v[i + 8]; });
  }
  return h.slice(0, size / 8);
}

const isText = (value) => typeof value === "string" && (value.isWellFormed?.() ?? !/\p{Surrogate}/u.test(value));

/** Return (row, value) → cell: keyed BLAKE2b to 64 bits, then multiply-shift. */
export function buckets(key, width) {
  const secret = utf8(key), shift = 64n - BigInt(Math.log2(width)), rows = {}; // coefficients of rows seen before
  return (value) => {
    if (!isText(value)) refuse("a value must be text");
    const [print] = blake2b(utf8(value), secret, 8);
    return (row) => {
      const [a, b, c] = (rows[row] ??= blake2b(new Uint8Array(new Uint32Array([row]).buffer), secret, 24));
      return Number(word(a * (print >> 32n) + b * (print & 0xffffffffn) + c) >> shift);
    };
  };
}

/** Write bits as hexadecimal text, the first bit lowest in the first byte. */
function hex(bits) {
  let text = "";
  for (let i = 0, byte = 256; i < bits.length; i++) {
    if (bits[i]) byte += 1 << i % 8;
    if (i % 8 === 7 || i === bits.length - 1) [text, byte] = [text + byte.toString(16).slice(1), 256];
  }
  return text;
}
const half = ([num, den]) => [num, 2n * den];

// A geometry, and the last option's set apart: local/designs/apart.py.
DESIGNS.apart = (d, q) => {
  const [on, off, place] = DESIGNS.geometry(d - 1, q), points = on + off;
  return [on, points, (v, inside, bits) => {
    const point = bits.below(on), other = bits.below(points);
    if (v === d - 1) return inside ? points : other;
    return inside || other < off ? place(v, inside, { below: (end) => (end === on ? point : other) }) : points;
  }];
};

// (value, bits) → report in three steps: once for a device, once for a value, at every report.
const inSteps = (steps) => Object.assign((value, bits) => {
  steps.check(value);
  const state = steps.begin(bits);
  return steps.send(state, steps.remember(state, value, bits), bits);
}, steps);

export const SKETCHES = {
  ...MECHANISMS,
  words({ bits: size, known, round = known, step, prefixes, found = [], ...given }) {
    const many = 2 ** step, options = prefixes.length * many + (round > 0), told = found.map(BigInt);
    const draw = MECHANISMS.choice({ ...given, options }), bytes = Math.ceil(size / 8);
    const whole = BigInt(size), kept = prefixes.map(BigInt), left = whole - BigInt(known), rest = left - BigInt(step);
    const read = (text) => list(bytes, (i) => BigInt(text[i] ?? 0)).reduce((sum, x) => sum << 8n | x) >> BigInt(8 * bytes) - whole;
    return (value, bits) => {
      if (!(isText(value) || Number.isSafeInteger(value) || typeof value === "bigint")) refuse("a word must be text or whole");
      const word = isText(value) ? read(utf8(value)) : BigInt(value), at = told.includes(word) ? -1 : kept.indexOf(word >> left);
      if (word < 0n || word >> whole) refuse("a word has too many bits");
      return draw(at < 0 ? options - 1 : at * many + Number(word >> rest & BigInt(many - 1)), bits);
    };
  },
  "count-mean-sketch"({ epsilon, rows, width, key }) {
    const kept = coin(1n, 1n, half(ratio(epsilon))), place = buckets(key, width);
    return (value, bits) => {
      const cell = place(value), row = bits.below(rows), mark = cell(row);
      return [row, hex(kept(bits, width).map((keep, i) => keep === (i === mark)))];
    };
  },
  "hadamard-count-mean-sketch"({ epsilon, rows, width, key }) {
    const kept = coin(1n, 1n, ratio(epsilon)), place = buckets(key, width);
    return (value, bits) => {
      const cell = place(value), row = bits.below(rows), column = bits.below(width), both = cell(row) & column;
      const odd = both.toString(2).replaceAll("0", "").length % 2;
      return [row, column, kept(bits)[0] ? odd : 1 - odd];
    };
  },
  "bit-flip"({ epsilon, buckets: many, sample, gamma }) {
    const kept = coin(1n, 1n, half(ratio(epsilon))), flipped = share(ratio(gamma));
    return inSteps({
      check: (value) => Number.isInteger(value) && value >= 0 && value < many || refuse("a value must be the number of a bucket"),
      begin(bits) {
        const drawn = [];
        for (let top = many - sample; top < many; top++) {
          const found = bits.below(top + 1);
          drawn.push(drawn.includes(found) ? top : found);
        }
        return drawn.sort((a, b) => a - b);
      },
      remember: (drawn, value, bits) => kept(bits, sample).map((keep, i) => keep === (drawn[i] === value)),
      send(drawn, sent, bits) {
        const again = gamma === "0" ? [] : flipped(bits, sample);
        return drawn.map((bucket, i) => 2 * bucket + (sent[i] !== !!again[i]));
      },
    });
  },
  rappor({ bits: width, hashes, cohorts, f, p, q, key }) {
    const [once, high, low] = [half(ratio(f)), ratio(q), ratio(p)].map(share), place = buckets(key, width);
    return inSteps({
      check: place,
      begin: (bits) => bits.below(cohorts),
      remember(cohort, value, bits) {
        const cell = place(value), marked = new Set(list(hashes, (i) => cell(cohort * hashes + i)));
        return once(bits, width).map((flip, i) => flip !== marked.has(i));
      },
      send(cohort, kept, bits) {
        const ones = high(bits, width), zeros = low(bits, width);
        return [cohort, hex(kept.map((bit, i) => (bit ? ones[i] : zeros[i])))];
      },
    });
  },
};
