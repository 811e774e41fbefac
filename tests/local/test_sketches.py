"""Microsoft's and Apple's mechanisms: exact laws, no bias, intervals that hold, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.special import bdtr, bdtrc

import discreet as dp
from discreet.errors import InvalidArgument
from discreet.local.deployments.bit_reports import BitReports
from discreet.local.deployments.flip import flips
from discreet.local.deployments.hashing import RowHashes, fingerprint, fingerprints
from discreet.testing.bits import UntouchedBits

SKETCHES = {
    "CMS": lambda epsilon, key="k": dp.local.CountMeanSketch(
        dp.PureDP(epsilon), rows=16, width=32, key=key
    ),
    "HCMS": lambda epsilon, key="k": dp.local.HadamardCountMeanSketch(
        dp.PureDP(epsilon), rows=16, width=32, key=key
    ),
}


class TestExactLaws:
    """Each sent bit is kept with e^(ε/2)/(1 + e^(ε/2)); two values differ in at most two bits, so the ratio is ≤ e^ε.

    A probability is t^flips/(1 + t)^bits with t = e^(−ε/2): the loss of a report is (flips − flips')·ε/2, exactly.
    """

    def test_bit_flip(self):
        losses = set()
        for drawn in ((0, 1), (0, 2), (1, 2), (0, 1, 2)):
            for sent in product((0, 1), repeat=len(drawn)):
                needed = [
                    sum(bit != (bucket == value) for bit, bucket in zip(sent, drawn, strict=True))
                    for value in range(3)
                ]
                losses |= {a - b for a in needed for b in needed}
        assert max(losses) == 2  # e^(2·ε/2) = e^ε, and it is reached

    def test_count_mean_sketch(self):
        width, losses = 4, set()
        for sent in product((0, 1), repeat=width):
            needed = [
                sum(bit != (i == cell) for i, bit in enumerate(sent)) for cell in range(width)
            ]
            losses |= {a - b for a in needed for b in needed}
        assert max(losses) == 2

    @pytest.mark.statistical
    def test_flips_have_their_probability(self):
        """False alarm 1e-9: six deviations and some."""
        for epsilon in (Fraction(1, 3), Fraction(2), Fraction(5)):
            n, chance = 200_000, 1 / (1 + float(np.exp(float(epsilon))))
            ones = int(flips(epsilon, n).sum())
            assert bdtr(ones, n, chance) > 5e-10 and bdtrc(ones - 1, n, chance) > 5e-10

    def test_one_bit_reaches_both_ends(self):
        """P(1 | low) = 1/(1 + e^ε) and P(1 | high) = e^ε/(1 + e^ε): their ratio is e^ε, and between them it is linear."""
        minutes = dp.local.OneBitMean(0, 1440, dp.PureDP(1))
        assert (
            minutes.steps(0) == 0
            and minutes.steps(1440) == 1 << 32
            and minutes.steps(360) == 1 << 30
        )
        assert minutes.steps(-5) == 0 and minutes.steps(float("inf")) == 1 << 32

    @pytest.mark.statistical
    def test_drawn_buckets_are_an_even_subset(self):
        """False alarm 1e-9 over the six pairs of four buckets."""
        drawn = dp.local.BitFlip(dp.PureDP(1), buckets=4, sample=2).draw_buckets(60_000)
        _, counts = np.unique(drawn @ [4, 1], return_counts=True)
        assert counts.size == 6
        assert (bdtr(counts, 60_000, 1 / 6) > 1e-10).all() and (
            bdtrc(counts - 1, 60_000, 1 / 6) > 1e-10
        ).all()


class TestHashes:
    """Keyed BLAKE2b to 64 bits, then multiply-shift: two values meet in a cell with probability 1/width."""

    def test_known_fingerprints(self):
        assert fingerprints(["a", "b", "a"], "k").tolist() == [
            fingerprint("a", "k"),
            fingerprint("b", "k"),
            fingerprint("a", "k"),
        ]
        assert fingerprint("a", "k") != fingerprint("a", "l")

    @pytest.mark.statistical
    def test_two_values_share_one_cell_in_width(self):
        """Public keys are fixed, so this never changes: 64 keys of 1,024 rows."""
        met = 0
        for key in range(64):
            pair = fingerprints(["left", "right"], str(key))
            cells = RowHashes(1024, 32, str(key)).place(np.arange(1024)[:, None], pair[None, :])
            met += int((cells[:, 0] == cells[:, 1]).sum())
        assert abs(met - 2048) < 7 * 2048**0.5


class TestEstimates:
    """Estimates are unbiased and their intervals hold at least as often as they say."""

    @pytest.mark.statistical
    @pytest.mark.parametrize("make", SKETCHES.values(), ids=SKETCHES)
    def test_sketches(self, make):
        """False alarm 1e-9: the covered ones of 240 are no fewer than a binomial of 95 % could give."""
        truth = {"a": 0.5, "b": 0.3, "c": 0.2, "never": 0.0}
        people = np.repeat(["a", "b", "c"], [200, 120, 80])
        held, errors = 0, []
        for run in range(60):
            sketch = make(2, key=f"key {run}")
            found = sketch.estimate(sketch.randomize(people), list(truth))
            errors += [
                (found[name] - share) / float(found.errors[at])
                for at, (name, share) in enumerate(truth.items())
            ]
            held += sum(
                found.interval(name)[0] <= share <= found.interval(name)[1]
                for name, share in truth.items()
            )
        assert bdtr(held, 240, 0.95) > 1e-9
        assert abs(np.mean(errors)) < 6.5 / 240**0.5 * 1.2

    @pytest.mark.statistical
    def test_one_bit_mean(self):
        """False alarm 1e-9 for coverage of 300 runs."""
        values = np.linspace(0, 900, 400)
        minutes = dp.local.OneBitMean(0, 1440, dp.PureDP(1), gamma="1/10")
        found = [minutes.estimate(minutes.randomize(values)) for _ in range(300)]
        held = sum(f.low[0] <= 450 <= f.high[0] for f in found)
        assert bdtr(held, 300, 0.95) > 1e-9
        spread = np.mean([f.errors[0] for f in found])
        assert abs(np.mean([f["mean"] for f in found]) - 450) < 6.5 * spread / 300**0.5

    @pytest.mark.statistical
    def test_bit_flip(self):
        """False alarm 1e-9 for coverage of 5 buckets in 100 runs."""
        values, truth = (
            np.repeat(np.arange(5), [200, 100, 60, 40, 0]),
            np.array([0.5, 0.25, 0.15, 0.1, 0]),
        )
        minutes = dp.local.BitFlip(dp.PureDP(2), buckets=5, sample=3, gamma="1/20")
        found = [minutes.estimate(minutes.randomize(values)) for _ in range(100)]
        held = sum(int(((f.low <= truth) & (truth <= f.high)).sum()) for f in found)
        assert bdtr(held, 500, 0.95) > 1e-9
        means = np.mean([f.values for f in found], axis=0)
        assert (np.abs(means - truth) < 6.5 * np.mean([f.errors for f in found], axis=0) / 10).all()

    def test_variances_are_those_of_the_papers(self):
        emoji = dp.local.CountMeanSketch(dp.PureDP(4), rows=1024, width=1024, key="k")
        assert emoji.coin_variance == pytest.approx(np.exp(2) / (np.exp(2) - 1) ** 2)
        safari = dp.local.HadamardCountMeanSketch(dp.PureDP(4), rows=1024, width=1024, key="k")
        assert safari.coin_variance == pytest.approx(((np.exp(4) + 1) / (np.exp(4) - 1)) ** 2)
        flip = dp.local.BitFlip(dp.PureDP(2), buckets=32, sample=4)
        assert flip.variance(n=1) == pytest.approx(8 * np.e / (np.e - 1) ** 2)
        mean = dp.local.OneBitMean(0, 10, dp.PureDP(1))
        assert mean.variance(n=7) == pytest.approx(100 / 28 * ((np.e + 1) / (np.e - 1)) ** 2)

    @pytest.mark.parametrize(
        "made",
        [
            dp.local.OneBitMean.for_error(30, n=5000, low=0, high=1440),
            dp.local.BitFlip.for_error(0.1, n=50_000, buckets=8, sample=4),
            dp.local.CountMeanSketch.for_error(0.05, n=50_000, rows=4096, width=1024, key="k"),
            dp.local.HadamardCountMeanSketch.for_error(
                0.05, n=50_000, rows=4096, width=1024, key="k"
            ),
        ],
        ids=lambda made: type(made).__name__,
    )
    def test_for_error_takes_the_least_epsilon(self, made):
        n = 5000 if isinstance(made, dp.local.OneBitMean) else 50_000
        error = {dp.local.OneBitMean: 30, dp.local.BitFlip: 0.1}.get(type(made), 0.05)
        less = type(made).from_json(
            made.to_json() | {"epsilon": str(made.epsilon * Fraction(99, 100))}
        )
        assert made.error(n=n) <= error < less.error(n=n)
        assert type(made).from_json(made.to_json()) == made
        assert dp.compose([made.event]).epsilon(delta=0) == pytest.approx(float(made.epsilon))

    def test_forged_reports_are_bounded(self):
        """A hundred reports are replaced by whatever moves the estimate most: never farther than `influence`."""
        sketch, people = SKETCHES["CMS"](2), ["a"] * 900 + ["b"] * 100
        honest = sketch.randomize(people)
        forged = honest.packed.copy()
        forged[:100] = 255
        moved = (
            sketch.estimate(BitReports(honest.rows, forged, 32), ["b"])["b"]
            - sketch.estimate(honest, ["b"])["b"]
        )
        assert abs(moved) <= sketch.influence(n=1000, forged=100)

    @pytest.mark.statistical
    def test_forged_bit_flips_are_bounded(self):
        """All forged reports name the bucket that fewest drew. False alarm 1e-9: the bound's own."""
        flip = dp.local.BitFlip(dp.PureDP(2), buckets=64, sample=2)
        honest = flip.randomize(np.zeros(640, dtype=np.int64))
        rare = int(np.bincount((honest >> 1).ravel(), minlength=64).argmin())
        for many in (1, 4, 40):
            forged = honest.copy()
            forged[:many] = sorted([2 * rare + 1, 2 * ((rare + 1) % 64)])
            moved = np.abs(flip.estimate(forged).values - flip.estimate(honest).values).max()
            assert (
                moved
                <= flip.influence(n=640, forged=many)
                <= flip.influence(n=640, forged=many + 1)
            )
        assert flip.influence(n=100, forged=100) == pytest.approx(1 / (2 * flip.p - 1))


class TestRefusals:
    """Bad input is refused before a bit is drawn, and no message carries a value."""

    @pytest.mark.parametrize(
        "wrong",
        [
            lambda: dp.local.OneBitMean(1, 1, dp.PureDP(1)),
            lambda: dp.local.OneBitMean(0, 1, dp.PureDP(1), gamma=0.5),
            lambda: dp.local.OneBitMean(0, 1, dp.PureDP(1)).randomize(
                float("nan"), bits=UntouchedBits()
            ),
            lambda: dp.local.OneBitMean(0, 1, dp.PureDP(1)).randomize(
                "secret", bits=UntouchedBits()
            ),
            lambda: dp.local.OneBitMean(0, 1, dp.PureDP(1)).estimate([0, 2]),
            lambda: dp.local.OneBitMean(0, 1, dp.PureDP(1)).estimate([]),
            lambda: dp.local.BitFlip(dp.PureDP(1), buckets=4, sample=5),
            lambda: dp.local.BitFlip(dp.PureDP(1), buckets=4, sample=2).randomize(
                4, bits=UntouchedBits()
            ),
            lambda: dp.local.BitFlip(dp.PureDP(1), buckets=4, sample=2).estimate(
                [[0, 1]]
            ),  # one bucket twice
            lambda: dp.local.BitFlip(dp.PureDP(1), buckets=4, sample=2).estimate([[0, 9]]),
            lambda: SKETCHES["CMS"](1).randomize(7, bits=UntouchedBits()),
            lambda: SKETCHES["CMS"](1).randomize("\ud800", bits=UntouchedBits()),
            lambda: SKETCHES["CMS"](1).estimate([(16, "00000000")], ["a"]),
            lambda: SKETCHES["CMS"](1).estimate([(0, "0000")], ["a"]),
            lambda: SKETCHES["CMS"](1).estimate([(0, "secret")], ["a"]),
            lambda: SKETCHES["CMS"](1).estimate([(0, "00000000")], ["a", "a"]),
            lambda: SKETCHES["HCMS"](1).estimate([(0, 32, 1)], ["a"]),
            lambda: SKETCHES["HCMS"](1).estimate([(0, 0, 2)], ["a"]),
            lambda: dp.local.CountMeanSketch(dp.PureDP(1), rows=4, width=30, key="k"),
            lambda: dp.local.CountMeanSketch(dp.PureDP(1), rows=4, width=32, key=""),
            lambda: dp.local.CountMeanSketch(dp.PureDP(0), rows=4, width=32, key="k"),
            lambda: dp.local.OneBitMean.for_error(0.001, n=10, low=0, high=1),
        ],
    )
    def test_refused(self, wrong):
        with pytest.raises(InvalidArgument) as refusal:
            wrong()
        assert "secret" not in str(refusal.value)
