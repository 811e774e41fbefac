"""RAPPOR: both prices by exact enumeration, decoding without bias, false discoveries and joint intervals."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.special import bdtr, bdtrc

import discreet as dp
from discreet.errors import ClaimRefuted, InvalidArgument
from discreet.local.deployments.bit_reports import BitReports
from discreet.local.deployments.hashing import fingerprints
from discreet.noise.exp import exp_neg
from discreet.testing.bits import UntouchedBits

SHAPES = [
    {"bits": 4, "hashes": 1, "cohorts": 2, "f": "1/2", "p": "1/2", "q": "3/4"},
    {"bits": 4, "hashes": 2, "cohorts": 2, "f": "1/4", "p": "7/20", "q": "13/20"},
    {"bits": 4, "hashes": 2, "cohorts": 1, "f": "1/3", "p": 0, "q": 1},
]
NAMES = [f"value {i}" for i in range(40)]


def marks(rappor, cohort):
    """The different sets of Bloom bits that values have in a cohort."""
    prints = fingerprints(NAMES, rappor.key)
    return {
        tuple(bool(b) for b in row) for row in rappor.marks(np.full(len(NAMES), cohort), prints)
    }


def law(marked, report, low, high):
    """P(report | marked bits), each bit 1 with probability `high` where marked, `low` elsewhere: a rational."""
    chances = [high if mark else low for mark in marked]
    return math.prod(
        (c if bit else 1 - c for c, bit in zip(chances, report, strict=True)), start=Fraction(1)
    )


def within(ratio, epsilon):
    """Whether a rational ratio is at most e^ε, decided by integers: ratio·e^−ε ≤ 1."""
    high = exp_neg(epsilon.numerator, epsilon.denominator, 300)[1]
    return ratio * high <= 1 << 300


class TestPrices:
    """Theorems 1 and 2 of Erlingsson, Pihur, Korolova (2014), by enumerating all reports as rationals."""

    @pytest.mark.parametrize("shape", SHAPES)
    def test_one_report(self, shape):
        rappor = dp.local.Rappor(**shape, key="k")
        low, high = rappor.shown
        worst = Fraction(0)
        for cohort in range(rappor.cohorts):
            for report in product((0, 1), repeat=rappor.bits):
                chances = [law(marked, report, low, high) for marked in marks(rappor, cohort)]
                worst = max(worst, max(chances) / min(chances))
        assert within(worst, rappor.epsilon)
        exact = (high * (1 - low) / (low * (1 - high))) ** rappor.hashes
        assert worst == exact  # forty values are enough to find two whose bits are apart
        assert float(rappor.epsilon) == pytest.approx(math.log(exact), rel=1e-9)

    @pytest.mark.parametrize("shape", SHAPES[:2])
    def test_a_value_that_never_changes(self, shape):
        """The joint law of two reports from one permanent response, and that of the response itself."""
        rappor = dp.local.Rappor(**shape, key="k")
        half, kept = rappor.f / 2, list(product((0, 1), repeat=rappor.bits))
        sets = marks(rappor, 0)
        permanent = {marked: {b: law(marked, b, half, 1 - half) for b in kept} for marked in sets}
        worst = max(permanent[a][b] / permanent[c][b] for a in sets for c in sets for b in kept)
        assert within(worst, rappor.epsilon_for_ever) and worst == ((1 - half) / half) ** (
            2 * rappor.hashes
        )
        sent = {b: [law(b, r, rappor.p, rappor.q) for r in kept] for b in kept}
        both = {
            a: np.array(
                [
                    [
                        sum(permanent[a][b] * sent[b][i] * sent[b][j] for b in kept)
                        for j in (0, 5, 15)
                    ]
                    for i in (0, 3, 15)
                ]
            )
            for a in sets
        }
        assert all(
            within(max(map(max, both[a] / both[c])), rappor.epsilon_for_ever)
            for a in sets
            for c in sets
        )

    def test_published_parameters(self):
        chrome = dp.local.Rappor(bits=16, hashes=2, cohorts=64, f=0.5, p=0.5, q=0.75, key="k")
        assert chrome.shown == (Fraction(9, 16), Fraction(11, 16))
        assert float(chrome.epsilon) == pytest.approx(
            2 * math.log(11 / 16 * 7 / 16 / (9 / 16 * 5 / 16))
        )
        assert float(chrome.epsilon_for_ever) == pytest.approx(4 * math.log(3))

    @pytest.mark.statistical
    def test_the_auditor_passes_ours_and_refutes_the_wrong_price(self):
        """False alarm 1e-9. The wrong price counts one of the two sides, h·ln(q*/p*), as is often done."""
        rappor = dp.local.Rappor(bits=4, hashes=1, cohorts=1, f="1/8", p="1/10", q="9/10", key="k")
        left, right = _apart(rappor)

        def run(value, size):
            return rappor.randomize([value] * size).packed[:, 0]

        low, high = map(float, rappor.shown)
        dp.verify(
            run,
            dp.PureDP(rappor.epsilon),
            inputs=(left, right),
            samples=20_000,
            confidence=1 - 1e-9,
        )
        with pytest.raises(ClaimRefuted):
            dp.verify(
                run,
                dp.PureDP(math.log(high / low)),
                inputs=(left, right),
                samples=20_000,
                confidence=1 - 1e-9,
            )


def _apart(rappor):
    """Two values that mark different bits."""
    prints = fingerprints(NAMES, rappor.key)
    rows = rappor.marks(np.zeros(len(NAMES), dtype=np.int64), prints)
    other = next(i for i, row in enumerate(rows) if not (row & rows[0]).any())
    return NAMES[0], NAMES[other]


def simulated(rappor, counts, rng):
    """Reports of the right law, drawn fast by floats; the exact sampler is tested elsewhere."""
    names = [f"value {i}" for i in range(len(counts))]
    who, cohorts = (
        np.repeat(np.arange(len(counts)), counts),
        rng.integers(0, rappor.cohorts, int(counts.sum())),
    )
    low, high = map(float, rappor.shown)
    marked = rappor.marks(cohorts, fingerprints(names, rappor.key)[who])
    sent = rng.random(marked.shape) < np.where(marked, high, low)
    return names, BitReports(cohorts, np.packbits(sent, axis=1, bitorder="little"), rappor.bits)


class TestDecoding:
    """Frequencies come out without bias, what is found is there, and intervals hold although they were picked."""

    @pytest.mark.parametrize(("candidates", "cohorts"), [(60, 64), (400, 32)])
    def test_found_ones_are_there(self, candidates, cohorts):
        """Fixed seeds: few candidates are fitted at once, many by halves. Three deviations of 16 runs are allowed for."""
        rappor = dp.local.Rappor(
            bits=16, hashes=2, cohorts=cohorts, f="1/4", p="7/20", q="13/20", key="k"
        )
        weights = np.r_[np.exp(-np.arange(20) / 5), np.zeros(candidates - 20)]
        found, false, joint, held = 0, 0.0, 0, []
        for seed in range(16):
            rng = np.random.default_rng(seed)
            counts = rng.multinomial(20_000, weights / weights.sum())
            names, reports = simulated(rappor, counts, rng)
            truth = dict(zip(names, counts / 20_000, strict=True))
            picked = rappor.find(reports, names)
            wrong = sum(truth[name] == 0 for name in picked.names)
            found, false = found + len(picked.names), false + wrong / max(1, len(picked.names))
            joint += all(
                picked.interval(name)[0] <= truth[name] <= picked.interval(name)[1]
                for name in picked.names
            )
            every = rappor.estimate(reports, names)
            held.append(((every.low <= counts / 20_000) & (counts / 20_000 <= every.high)).mean())
        assert found >= 16 * 5
        assert false / 16 <= 0.05 + 3 * 0.07 / 16**0.5
        assert joint >= 16 * 0.95 - 3 * (16 * 0.95 * 0.05) ** 0.5
        assert np.mean(held) >= 0.94

    @pytest.mark.parametrize("per_cohort", [3, 20])
    def test_few_reports_a_cohort(self, per_cohort):
        """Fixed seeds: weights read from each cell's own noise held the top value in 76 to 84 %."""
        rappor = dp.local.Rappor(
            bits=16, hashes=2, cohorts=64, f="1/10", p="1/10", q="9/10", key="k"
        )
        weights = np.exp(-np.arange(20) / 5)
        n = 64 * per_cohort
        held = []
        apart = []
        for seed in range(60):
            rng = np.random.default_rng(seed)
            counts = rng.multinomial(n, weights / weights.sum())
            names, reports = simulated(rappor, counts, rng)
            found = rappor.estimate(reports, names)
            held.append((found.low <= counts / n) & (counts / n <= found.high))
            apart.append((found.values - counts / n)[0] / found.errors[0])
        assert np.mean(held) >= 0.94 and np.mean(held, axis=0)[0] >= 0.9
        assert abs(np.mean(apart)) <= 3 / 60**0.5

    @pytest.mark.statistical
    def test_exact_reports_are_decoded_without_bias(self):
        """False alarm 1e-9: estimates of six values from 30,000 exact reports within 6.5 errors."""
        rappor = dp.local.Rappor(bits=16, hashes=2, cohorts=8, f="1/2", p="1/4", q="3/4", key="k")
        people = np.repeat(NAMES[:3], [15_000, 10_000, 5_000])
        found = rappor.estimate(rappor.randomize(people), NAMES[:6])
        truth = np.array([0.5, 1 / 3, 1 / 6, 0, 0, 0])
        assert (np.abs(found.values - truth) < 6.5 * found.errors).all()

    @pytest.mark.statistical
    def test_sent_bits_have_their_law(self):
        """False alarm 1e-9 for each kind of bit."""
        rappor = dp.local.Rappor(bits=16, hashes=1, cohorts=1, f="1/2", p="1/4", q="3/4", key="k")
        sent = rappor.randomize(["x"] * 20_000).bits().sum(axis=0)
        marked = rappor.marks(np.zeros(1, dtype=np.int64), fingerprints(["x"], "k"))[0]
        for bit, ones in zip(marked, sent, strict=True):
            chance = float(rappor.shown[int(bit)])
            assert bdtr(ones, 20_000, chance) > 1e-11 and bdtrc(ones - 1, 20_000, chance) > 1e-11

    def test_values_outside_the_candidates_widen_the_errors(self):
        rng = np.random.default_rng(5)
        rappor = dp.local.Rappor(
            bits=16, hashes=2, cohorts=16, f="1/10", p="1/10", q="9/10", key="k"
        )
        names, reports = simulated(rappor, np.array([4000, 3000, 3000]), rng)
        known, part = rappor.estimate(reports, names), rappor.estimate(reports, names[:1])
        assert part.errors[0] > 2 * known.errors[0]
        assert part.low[0] <= 0.4 <= part.high[0]

    def test_a_cohort_without_reports_says_nothing(self):
        rappor = dp.local.Rappor(bits=8, hashes=1, cohorts=100, f="1/2", p="1/4", q="3/4", key="k")
        found = rappor.estimate(rappor.randomize(["a"] * 30), ["a", "b"])
        assert (
            np.isfinite(found.values).all()
            and (found.errors > 0.1).all()
            and found.interval("a")[1] > 0.3
        )


class TestRefusals:
    @pytest.mark.parametrize(
        "wrong",
        [
            {"f": 0}, {"f": 1}, {"p": "3/4"}, {"q": 2}, {"bits": 12}, {"hashes": 0}, {"cohorts": 0}, {"key": "x" * 65},
        ],
    )  # fmt: skip
    def test_parameters(self, wrong):
        with pytest.raises(InvalidArgument):
            dp.local.Rappor(
                **{
                    "bits": 16,
                    "hashes": 2,
                    "cohorts": 64,
                    "f": 0.5,
                    "p": 0.5,
                    "q": 0.75,
                    "key": "k",
                }
                | wrong
            )

    def test_values_and_reports(self):
        rappor = dp.local.Rappor(**SHAPES[0], key="k")
        for wrong in (lambda: rappor.randomize(3, bits=UntouchedBits()), lambda: rappor.estimate([], ["a"]),
                      lambda: rappor.estimate([(2, "00")], ["a"]), lambda: rappor.estimate([(0, "ff")], ["a"]),
                      lambda: rappor.estimate([(0, "00")], "a"), lambda: rappor.find([(0, "00")], ["a"], false_share=1)):  # fmt: skip
            with pytest.raises(InvalidArgument):
                wrong()
        assert dp.local.Rappor.from_json(rappor.to_json()) == rappor
        made = dp.local.Rappor.for_error(0.05, n=100_000, bits=16, hashes=2, cohorts=64, key="k")
        assert made.error(n=100_000) <= 0.05 and made.influence(n=1000, forged=10) > 0.01


def test_few_cells_are_said():
    """Student's law, and a word of warning: with few cells an unlisted value may look like a candidate."""
    shape = {"bits": 8, "hashes": 1, "f": 0.5, "p": 0.25, "q": 0.75, "key": "k"}
    few, many = (dp.local.Rappor(**shape, cohorts=c) for c in (2, 64))
    assert "only about" in few.find(few.randomize(["a"] * 200), ["a", "b"]).note
    found = many.estimate(many.randomize(["a"] * 2000), ["a", "b"])
    assert "Student" in found.note and "only about" not in found.note


def test_nothing_found_can_be_printed():
    rappor = dp.local.Rappor(bits=8, hashes=1, cohorts=2, f=0.5, p=0.25, q=0.75, key="k")
    found = rappor.find(rappor.randomize(["a"]), ["a", "b"], false_share=1e-9)
    assert found.names == () and "1 reports" in str(found)
