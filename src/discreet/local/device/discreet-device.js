// A report, randomized on the device by integers alone; the same bits give the same report as in Python.
//   const metric = await load(envelope, { key });  // the server's JSON, and its public key
//   fetch(url, { method: "POST", body: metric.line("firefox") });

const GUARD = 40n;
export const refuse = (why) => { throw new RangeError(why); };
export const ratio = (text) => `${text}/1`.split("/").slice(0, 2).map(BigInt);
export const list = (n, make) => Array.from({ length: n }, (_, i) => make(i));
const number = (text) => ratio(text).map(Number).reduce((a, b) => a / b);
const up = (a, b) => (a + b - 1n) / b;
const size = (x) => BigInt(x.toString(2).length);

// Secure bits, as words of 64; only tests hand in a source of bytes.
export class Bits {
  constructor(source = () => crypto.getRandomValues(new Uint8Array(4096))) { this.source = source; }
  word() {
    if (!this.words?.length) this.words = [...new BigUint64Array(this.source().buffer)].reverse();
    return this.words.pop();
  }
  below(bound) {
    const b = BigInt(bound), end = (1n << 64n) / b * b;
    let word = this.word();
    while (word >= end) word = this.word();
    return Number(word % b);
  }
}

// Enclose 2^precision·exp(−num/den) by integers, as noise/exp.py does.
function expNeg([num, den], precision) {
  if (!num) return [1n << precision, 1n << precision];
  if (num >= den * precision) return [0n, 1n];
  const first = (num << 8n) / den, halvings = first && size(first), work = precision + 2n * halvings + 16n;
  const lowX = (num << work) / (den << halvings), highX = up(num << work, den << halvings);
  let low = 1n << work, high = low, least = low, most = low;
  for (let k = 1n; most > 1n; k++) {
    least = (least * lowX >> work) / k;
    most = up(-(-most * highX >> work), k);
    [low, high] = k & 1n ? [low - most, high - least] : [low + least, high + most];
  }
  [low, high] = [low - most, high + most];
  for (let i = 0n; i < halvings; i++) [low, high] = [low * low >> work, -(-high * high >> work)];
  return [low >> work - precision, -(-high >> work - precision)];
}

// (bits, n) → n coins, true with probability a/(a + b·e^−ε), compared with as many bits as it takes.
export function coin(a, b, epsilon = [0n, 1n]) {
  const bounds = (p) => {
    const fine = p + size(b), [low, high] = expNeg(epsilon, fine), top = a << p + fine, own = a << fine;
    return [top / (own + b * high), up(top, own + b * low)];
  };
  const [low, high] = bounds(64n + GUARD), sure = low >> GUARD, most = -(-high >> GUARD);
  const settle = (word, bits, width = 64n) => {
    const [low, high] = bounds(width + GUARD);
    if (word + 1n << GUARD <= low) return true;
    return word << GUARD < high && settle(word << 64n | bits.word(), bits, width + 64n);
  };
  return (bits, n = 1) => list(n, () => bits.word()).map((word) => word < sure || (word < most && settle(word, bits)));
}
export const share = ([num, den]) => coin(num, den - num);  // true with probability num/den

// The field of q = p^e elements, numbers being polynomials with digits in base p.
function fieldOf(q) {
  let p = 2, e = 1, low = [0];
  while (q % p) p++;
  while (p ** e < q) e++;
  const digits = (a) => list(e, (i) => Math.floor(a / p ** i) % p);
  const value = (x) => x.reduceRight((sum, a) => sum * p + (a % p + p) % p, 0);
  const add = (a, b, sign = 1) => { const y = digits(b); return value(digits(a).map((x, i) => x + sign * y[i])); };
  const times = (a, b) => digits(a).reduceRight((sum, x) => {
    const s = digits(sum), y = digits(b);
    return value(y.map((d, i) => (s[i - 1] ?? 0) - s[e - 1] * low[i] + x * d));
  }, 0);
  const splits = (a) => a && list(q, (b) => b && !times(a, b)).some(Boolean);
  for (let c = 0; e > 1; c++) { low = digits(c); if (!list(p ** (e / 2 + 1 | 0), splits).some(Boolean)) break; }
  const inverse = (a) => { let b = 1; while (times(a, b) !== 1) b++; return b; };
  return { add, times, inverse };
}

const top = (x) => x.findLastIndex(Boolean);
const gcd = (a, b) => (b ? gcd(b, a % b) : a);
// (options, parameter) → [outputs inside, outside, (option, inside, bits) → report]: see local/designs.
const DESIGNS = {
  direct: (d) => [1, d - 1, (v, inside, bits) => { const y = bits.below(d - 1); return inside ? v : y + (y >= v); }],
  subset: (d, k) => [k / gcd(k, d - k), (d - k) / gcd(k, d - k), (v, inside, bits) => {
    const taken = [], first = d - 1 - k;
    for (let j = first; j < d - 1; j++) {
      const y = bits.below(j + 1);
      taken[taken[y] ? j : y] ||= j > first || !inside;
    }
    return BigInt("0b" + list(d, (i) => +!!(i === v ? inside : taken[i - (i > v)])).reverse().join(""));
  }],
  hadamard: (d) => [1, 1, (v, inside, bits) => {
    const y = bits.below(2 ** Math.max(1, d.toString(2).length - 1)), row = v + 1, one = row & -row;
    const spread = (y & -one) << 1 | y & one - 1, ones = (spread & row).toString(2).replaceAll("0", "").length;
    return ones % 2 == inside ? spread | one : spread;
  }],
  geometry(d, q) {
    const points = (t) => (q ** t - 1) / (q - 1), { add, times, inverse } = fieldOf(q);
    let t = 2;
    while (points(t) < d) t++;
    const digits = (a) => list(t, (i) => Math.floor(a / q ** i) % q);
    const vector = (at) => { let m = t - 1; while (points(m) > at) m--; return digits(at - points(m)).with(m, 1); };
    return [points(t - 1), q ** (t - 1), (v, inside, bits) => {
      const on = bits.below(points(t - 1)), off = bits.below(q ** (t - 1));
      const y = (inside ? vector(on) : digits(off)).slice(0, -1), x = vector(v), place = top(x);
      y.splice(place, 0, 0);
      y[place] = add(+!inside, x.reduce((sum, a, i) => add(sum, times(a, y[i])), 0), -1);
      const head = top(y), factor = inverse(y[head]);
      return points(head) + y.slice(0, head).reduceRight((sum, a) => sum * q + times(factor, a), 0);
    }];
  },
};

// Parameters → (value, bits) → report.
export const MECHANISMS = {
  choice({ options, member, parameter, epsilon }) {
    const d = options.length ?? options, [a, b, place] = DESIGNS[member](d, parameter);
    const inside = coin(BigInt(a), BigInt(b), ratio(epsilon));
    return (value, bits) => {
      const v = options.length ? options.indexOf(value) : value;
      return v >= 0 && v < d && v % 1 === 0 ? place(v, inside(bits)[0], bits) : refuse("no option has this value");
    };
  },
  "one-bit-mean"({ low, high, epsilon, gamma }) {
    const from = number(low), to = number(high), kept = coin(1n, 1n, ratio(epsilon)), flipped = share(ratio(gamma));
    return (value, bits) => {
      if (typeof value !== "number" || value !== value) refuse("a value must be a number");
      const step = Math.floor((Math.min(Math.max(value, from), to) - from) / (to - from) * 2 ** 32 + 0.5);
      const sent = bits.word() >> 32n < step === kept(bits)[0];
      return +(gamma === "0" ? sent : sent !== flipped(bits)[0]);
    };
  },
};

// Check an envelope by its Ed25519 signature, if a key is given; then make the metric.
export async function load({ parameters, params, metric, signature }, { key, mechanisms = MECHANISMS } = {}) {
  const { subtle } = crypto, bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt()), name = JSON.stringify(metric);
  if (key) {
    const known = await subtle.importKey("raw", bytes(key), "Ed25519", false, ["verify"]);
    const text = new TextEncoder().encode(`discreet device parameters, version 1\n${name}\n${parameters}`);
    if (!(await subtle.verify("Ed25519", known, bytes(signature ?? ""), text))) refuse("the signature is not of this key");
  }
  const given = JSON.parse(parameters), draw = given.version === 1 && mechanisms[given.mechanism]?.(given);
  if (!draw) refuse("these parameters are of another version");
  const secure = new Bits(), text = (report) => (typeof report === "bigint" ? report : JSON.stringify(report));
  return { given, line: (x, bits = secure) => `{"v":1,"metric":${name},"params":"${params}","report":${text(draw(x, bits))}}` };
}
