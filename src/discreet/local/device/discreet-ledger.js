// Ledger of a device over time: kept answers, counts, ε. The rules of local/longitudinal.py; one page at a time.
//   const device = open(await load(envelope), { mode: "memoised", slots: 3, default: "chrome", store: localStorage, most: 6 });
//   fetch(url, { method: "POST", body: device.line("firefox") });

import { rapporEpsilon } from "./discreet-checks.js";
import { Bits, MECHANISMS, ratio, refuse, share } from "./discreet-device.js";

const DAYS = 366;
const ANY = "any two histories of values";
const DAY = "any two histories of that day, to one who sees that day alone";
const PATTERN = "histories that change, and return to earlier values, at the same moments; " +
	"the moments themselves show, and histories with other moments can be told apart";
const ABOVE = 1 + 1e-12; // more than three roundings

/** What is drawn once, for a value, and at every report. */
function memoryOf({ given, draw }) {
	if (draw.begin) return draw;
	const whole = { check: (value) => draw(value, new Bits()), begin: () => null, send: (_, answer) => answer };
	if (given.mechanism !== "one-bit-mean") return { ...whole, remember: (_, value, bits) => draw(value, bits) };
	// The bit is kept before the flip with probability γ.
	const bare = MECHANISMS["one-bit-mean"]({ ...given, gamma: "0" }), flipped = share(ratio(given.gamma));
	const flip = (bits) => +(given.gamma !== "0" && flipped(bits)[0]);
	return { ...whole, remember: (_, value, bits) => bare(value, bits), send: (_, answer, bits) => answer ^ flip(bits) };
}

/** ε of one report, and of one kept answer however often it is sent: rounded up. */
function pricesOf(given) {
	if (given.mechanism !== "rappor") {
		const [num, den] = ratio(given.epsilon), above = Number((num << 64n) / den + 1n) / 2 ** 64 * ABOVE;
		return [above, above];
	}
	const [num, den] = ratio(given.f), ever = 2 * given.hashes * Math.log(Number(2n * den - num) / Number(num));
	return [rapporEpsilon(given), ever * (1 + 1e-9)];
}

function exact(value) {
	if (!Number.isFinite(value)) refuse("a value must be a finite number");
	let den = 1n;
	while (!Number.isInteger(value)) [value, den] = [value * 2, den * 2n];
	return [BigInt(value), den];
}

/** Round numbers to low, low + step, … by a shift that a device draws once (α-point rounding). */
export function alphaPoint({ low, high, step, resolution = 65536, alpha }, bits = new Bits()) {
	const [bottom, top, width] = [low, high, step].map((x) => ratio(String(x)));
	const minus = ([a, b], [c, d]) => [a * d - c * b, b * d], over = ([a, b], [c, d]) => [a * d, b * c];
	const [num, den] = over(minus(top, bottom), width);
	if (num <= 0n || den <= 0n || num % den) refuse("step must divide the range from low to high into whole parts");
	const shift = BigInt(alpha ?? bits.below(resolution)), parts = BigInt(resolution);
	const state = { low: String(low), high: String(high), step: String(step), alpha: Number(shift), resolution };
	const value = (given) => {
		let at = minus(exact(given), bottom);
		if (at[0] < 0n) at = [0n, 1n];
		if (minus(at, minus(top, bottom))[0] > 0n) at = minus(top, bottom);
		const [num, den] = over(at, width), below = num / den, up = (num - below * den) * parts + shift * den >= den * parts;
		const point = below + BigInt(up);
		return Number(bottom[0] * width[1] + point * width[0] * bottom[1]) / Number(bottom[1] * width[1]);
	};
	return { state, value };
}

const plain = (_, value) => (typeof value === "bigint" ? { whole: String(value) } : value);
const back = (_, value) => (value?.whole ? BigInt(value.whole) : value);
const count = (value, name) => value == null || (Number.isSafeInteger(value) && value >= 1) ? value ?? null
	: refuse(`${name} must be a whole number, at least 1`);

function checkTerms(mode, slots, start, reports) {
	if (mode !== "fresh" && mode !== "memoised") refuse("mode must be fresh or memoised; they promise different things");
	const memoised = mode === "memoised";
	if (memoised && (slots === null || start === undefined))
		refuse("a memoised device needs slots, the most values it answers for, and a public default");
	if (memoised && reports !== null) refuse("a memoised device never falls silent; most_reports belongs to fresh ones");
	if (!memoised && (slots !== null || start !== undefined)) refuse("slots and default belong to memoised devices");
}

/** Open the device of a metric; with a `store` (such as localStorage) it goes on where it was. */
export function open(metric, { mode, slots, default: start, most_reports, per_day, grid, store, most, bits = new Bits() } = {}) {
	const memory = memoryOf(metric), [each, ever] = pricesOf(metric.given), place = `discreet ${metric.metric}`;
	const given = { slots, most_reports, per_day }, limits = {};
	for (const name in given) limits[name] = count(given[name], name);
	checkTerms(mode, limits.slots, start, limits.most_reports);
	const terms = { version: 1, params: metric.params, mode, ...limits };

	/** ε of a period, and the histories between which it holds. */
	function lifetime(period) {
		if (!["day", "year", "ever"].includes(period)) refuse("period must be day, year or ever");
		const days = { day: 1, year: DAYS, ever: Infinity }[period];
		const reports = Math.min(limits.per_day === null ? Infinity : days * limits.per_day, limits.most_reports ?? Infinity);
		if (mode === "fresh") return { epsilon: each * reports * ABOVE, between: period === "day" ? DAY : ANY };
		if (reports === 1) return { epsilon: each, between: DAY };
		return { epsilon: ever * Math.min(limits.slots, reports) * ABOVE, between: PATTERN };
	}
	if (most !== undefined && !(lifetime("ever").epsilon <= most * ABOVE * ABOVE))
		refuse(`this device would cost more than the epsilon of ${most} that is allowed here`);

	function begin() {
		const rounding = grid ? alphaPoint(grid, bits) : null, state = memory.begin(bits);
		// Drawn at the start, so that running out of slots draws nothing and shows nothing.
		const overflow = mode === "memoised" ? memory.remember(state, rounding?.value(start) ?? start, bits) : null;
		return { ...terms, sent: 0, today: 0, state, overflow, kept: [], grid: rounding?.state ?? null };
	}
	function read() {
		const found = JSON.parse(store?.getItem(place) ?? null, back);
		const same = !found || Object.keys(terms).every((name) => found[name] === terms[name]);
		return same ? found : refuse("this was kept under other parameters or terms; begin a new device");
	}
	const save = (state) => store?.setItem(place, JSON.stringify(state, plain));
	// A default that the mechanism refuses begins no device.
	if (mode === "memoised") memory.check(grid ? alphaPoint(grid).value(start) : start);
	let ledger = read();
	if (!ledger) save(ledger = begin());

	function answer(value) {
		const known = ledger.kept.find(([kept]) => kept === value);
		if (known) return known[1];
		if (ledger.kept.length >= limits.slots) return ledger.overflow;
		ledger.kept.push([value, memory.remember(ledger.state, value, bits)]);
		return ledger.kept.at(-1)[1];
	}

	return {
		lifetime,
		sent: () => ledger.sent,
		state: () => JSON.stringify(ledger, plain),
		/** The calendar calls this, never a value. */
		new_day() {
			ledger = read() ?? ledger;
			ledger.today = 0;
			save(ledger);
		},
		/** The line to send for a value: what it rests on is stored before it is returned. */
		line(value) {
			ledger = read() ?? ledger;
			// Counts first, so that the refusal does not depend on the value.
			if (ledger.sent >= (limits.most_reports ?? Infinity)) refuse("this device has sent all the reports it may");
			if (ledger.today >= (limits.per_day ?? Infinity)) refuse("this device has sent the reports of a day; new_day() begins the next");
			const rounded = grid ? alphaPoint(ledger.grid).value(value) : value;
			memory.check(rounded);
			const drawn = mode === "fresh" ? memory.remember(ledger.state, rounded, bits) : answer(rounded);
			ledger.sent += 1;
			ledger.today += 1;
			save(ledger);
			return metric.wrap(memory.send(ledger.state, drawn, bits));
		},
	};
}
