// Randomize a report by integers: same bits, same report as in Python.
//   const metric = await load(envelope, { key, most: "2" });
//   fetch(url, { method: "POST", body: metric.line("firefox") });

import { check, checkHash } from "./discreet-checks.js";

const GUARD = 40n;
export const refuse = (why) => { throw new RangeError(why); };
export const ratio = (text) => `${text}/1`.split("/").slice(0, 2).map(BigInt);
export const list = (n, make) => [...Array(n)].map((_, i) => make(i));
const up = (a, b) => (a + b - 1n) / b;
const size = (x) => BigInt(x.toString(2).length);

// Secure words.
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

// 2^p·exp(−num/den): noise/exp.py.
function expNeg([num, den], p) {
	if (!num) return [1n << p, 1n << p];
	if (num >= den * p) return [0n, 1n];
	const x = (num << 8n) / den, j = x && size(x), work = p + 2n * j + 16n, spare = work - p;
	const lowX = (num << work) / (den << j), highX = up(num << work, den << j);
	let low = 1n << work, high = low, least = low, most = low;
	for (let k = 1n; most > 1n; k++) {
		least = (least * lowX >> work) / k;
		most = up(-(-most * highX >> work), k);
		[low, high] = k & 1n ? [low - most, high - least] : [low + least, high + most];
	}
	[low, high] = [low - most, high + most];
	for (let i = 0n; i < j; i++) [low, high] = [low * low >> work, -(-high * high >> work)];
	return [low >> spare, -(-high >> spare)];
}

// (bits, n) → n coins of bias a/(a + b·e^−ε).
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
export const share = ([num, den]) => coin(num, den - num);

// Field of q = p^e.
function fieldOf(q) {
	let p = 2, e = 1, low = [0];
	while (q % p) p++;
	while (p ** e < q) e++;
	const digits = (a) => list(e, (i) => Math.floor(a / p ** i) % p);
	const value = (x) => x.reduceRight((sum, a) => sum * p + (a % p + p) % p, 0);
	const kept = (f, table = []) => (a, b) => (table[a * q + b] ??= f(a, b));
	const add = kept((a, b) => { const y = digits(b); return value(digits(a).map((x, i) => x + y[i])); });
	const product = (a, b) => digits(a).reduceRight((sum, x) => {
		const s = digits(sum), y = digits(b);
		return value(y.map((d, i) => (s[i - 1] ?? 0) - s[e - 1] * low[i] + x * d));
	}, 0);
	const splits = (_, a) => a && list(q, (b) => b && !product(a, b)).some(Boolean);
	for (let c = 0; e > 1 && (!c || Array(p ** (e / 2 + 1 | 0)).fill().some(splits)); c++) low = digits(c);
	const times = kept(product), inverse = (a) => { let b = 1; while (times(a, b) !== 1) b++; return b; };
	return { add, times, inverse, p };
}

const top = (x) => x.findLastIndex(Boolean), gcd = (a, b) => (b ? gcd(b, a % b) : a);
// (options, parameter) → [inside, outside, (option, inside, bits) → report].
export const DESIGNS = {
	direct: (d) => [1, d - 1, (v, inside, bits) => { const y = bits.below(d - 1); return inside ? v : y + (y >= v); }],
	subset: (d, k, g = gcd(d, k)) => [k / g, (d - k) / g, (v, inside, bits) => {
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
		const points = (t) => (q ** t - 1) / (q - 1), { add, times, inverse, p } = fieldOf(q);
		let t = 2; while (points(t) < d) t++;
		const digits = (a) => list(t, (i) => Math.floor(a / q ** i) % q);
		const vector = (at) => { let m = t - 1; while (points(m) > at) m--; return digits(at - points(m)).with(m, 1); };
		return [points(t - 1), q ** (t - 1), (v, inside, bits) => {
			const on = bits.below(points(t - 1)), off = bits.below(q ** (t - 1));
			const y = (inside ? vector(on) : digits(off)).slice(0, -1), x = vector(v), place = top(x);
			y.splice(place, 0, 0);
			y[place] = add(+!inside, times(p - 1, x.reduce((sum, a, i) => add(sum, times(a, y[i])), 0)));
			const head = top(y), factor = inverse(y[head]);
			return points(head) + y.slice(0, head).reduceRight((sum, a) => sum * q + times(factor, a), 0);
		}];
	},
};

function partOf({ low, high }) {
	const [a, b] = ratio(low), [c, d] = ratio(high), by = (x, y) => Number(x) / Number(y);
	const from = by(a, b), to = by(c, d), span = by(c * b - a * d, b * d);
	return (value) => value === +value ? (Math.min(Math.max(value, from), to) - from) / span : refuse("no number");
}

// Parameters → (value, bits) → report.
export const MECHANISMS = {
	choice({ options, member, parameter, epsilon }) {
		const d = options.length ?? options, [a, b, place] = DESIGNS[member](d, parameter);
		const inside = coin(BigInt(a), BigInt(b), ratio(epsilon));
		return (value, bits) => {
			const v = options.length ? options.indexOf(value) : value;
			return Number.isInteger(v) && v >= 0 && v < d ? place(v, inside(bits)[0], bits) : refuse("no option");
		};
	},
	"one-bit-mean"({ epsilon, gamma, ...range }) {
		const part = partOf(range), kept = coin(1n, 1n, ratio(epsilon)), flipped = share(ratio(gamma));
		return (value, bits) => {
			const step = Math.floor(part(value) * 2 ** 32 + 0.5), sent = bits.word() >> 32n < step === kept(bits)[0];
			return +(gamma === "0" ? sent : sent !== flipped(bits)[0]);
		};
	},
	number({ weights, ...range }) {
		const part = partOf(range), fine = 2 ** 52;
		return (value, bits) => {
			const place = Math.floor(Math.min(part(value), 1) * ((weights.length - 1) * fine));
			const row = weights[Math.floor(place / fine) + (bits.below(fine) < place % fine)], word = bits.below(2 ** 40);
			let sum = 0;
			return row.filter((weight) => (sum += weight) <= word).length;
		};
	},
};

// Check an envelope, and its signature.
export async function load({ parameters, params, metric, signature }, { key, most, mechanisms = MECHANISMS } = {}) {
	const name = JSON.stringify(metric), bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt());
	if (key) {
		const { subtle } = crypto, known = await subtle.importKey("raw", bytes(key), "Ed25519", false, ["verify"]);
		const text = new TextEncoder().encode(`discreet device parameters, version 1\n${name}\n${parameters}`);
		(await subtle.verify("Ed25519", known, bytes(signature), text)) || refuse("the signature is wrong");
	}
	await checkHash(parameters, params);
	const given = JSON.parse(parameters), own = new Bits();
	check(given, most);
	const draw = mechanisms[given.mechanism]?.(given) ?? refuse("unknown parameters");
	const text = (report) => (report.map ? JSON.stringify(report) : report);
	const wrap = (report) => `{"v":1,"metric":${name},"params":"${params}","report":${text(report)}}`;
	return { given, metric, params, draw, wrap, line: (x, bits = own) => wrap(draw(x, bits)) };
}
