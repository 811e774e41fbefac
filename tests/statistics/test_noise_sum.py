"""Sums of integer noise: bounds from above, near the exact law by convolution."""

import math

import numpy as np
import pytest

from discreet.mechanisms import DiscreteGaussian, Geometric
from discreet.statistics.laws.linear_combination import total_reach
from discreet.statistics.laws.noise_sum import IntegerNoise, noise_of, sum_tail
from discreet.statistics.mean import noise_reach
from support.profile import DEEP


def exact_law(noise):
    """The whole law by definition, on the integers."""
    reach = math.ceil(noise.scale * (30 if noise.laplace else 8)) + 2
    k = np.arange(-reach, reach + 1.0)
    weights = (
        np.exp(-np.abs(k) / noise.scale)
        if noise.laplace
        else np.exp(-(k**2) / (2 * noise.scale**2))
    )
    return k * noise.worth, weights / weights.sum()


def exact_tail(noises, s):
    """P(|Σ| > s) by adding up over all combinations."""
    values, chances = np.zeros(1), np.ones(1)
    for noise in noises:
        points, weights = exact_law(noise)
        values = (values[:, None] + points[None, :]).ravel()
        chances = (chances[:, None] * weights[None, :]).ravel()
    return float(chances[np.abs(values) > s * (1 + 1e-12)].sum())


PAIRS = [
    [IntegerNoise(True, 2.0, 1.0)],
    [IntegerNoise(False, 2.0, 0.5)],
    [IntegerNoise(True, 1.5, 60.0), IntegerNoise(True, 90.0, 1.0)],
    [IntegerNoise(True, 1.5, 1.0), IntegerNoise(True, 1.5, 1.0)],
    [IntegerNoise(False, 1.5, 60.0), IntegerNoise(False, 90.0, 1.0)],
    [IntegerNoise(True, 40.0, 1.0), IntegerNoise(True, 34.0, 1.5)],
    [IntegerNoise(True, 40.0, 1.0), IntegerNoise(True, 40.0, 1.0)],
    [IntegerNoise(False, 40.0, 1.0), IntegerNoise(False, 33.0, 2.0)],
    [IntegerNoise(False, 40.0, 1.0), IntegerNoise(True, 33.0, 2.0)],
    [IntegerNoise(True, 1.0, 16.0), IntegerNoise(True, 3.0, 8.0), IntegerNoise(True, 1.5, 1.0)],
    [IntegerNoise(False, 3.0, 16.0), IntegerNoise(False, 5.0, 8.0), IntegerNoise(False, 4.0, 1.0)],
    [IntegerNoise(False, 1.0, 10.0), IntegerNoise(True, 0.2, 1.0)],
    [IntegerNoise(True, 9.0, 1.0), IntegerNoise(True, 1.1, 10.0), IntegerNoise(True, 0.3, 50.0)],
    [
        IntegerNoise(False, 9.0, 1.0),
        IntegerNoise(False, 0.5, 10.0),
        IntegerNoise(False, 0.2, 50.0),
        IntegerNoise(False, 0.3, 20.0),
    ],
]


class TestBound:
    """The bound is never below the exact tail, and near it where the noise is not coarse."""

    @pytest.mark.untraced
    @pytest.mark.parametrize("noises", PAIRS, ids=range(len(PAIRS)))
    @pytest.mark.parametrize("deviations", [0.3, 1.0, 2.0, 3.1, 5.0])
    def test_from_above(self, noises, deviations):
        s = deviations * math.sqrt(sum(noise.spread**2 for noise in noises))
        assert sum_tail(noises, s) >= exact_tail(noises, s) * (1 - 1e-9) - 1e-12

    @pytest.mark.parametrize("s", [30.0, 45.0, 55.0])
    def test_of_two_geometric_noises_far_out(self, s):
        """Down to 1e-14, beside their convolution, whose summands are all positive: floats lose nothing of it."""
        law = np.exp(-np.abs(np.arange(-200, 201)) / 1.5) * math.tanh(0.5 / 1.5)
        tail = np.convolve(law, law)[np.abs(np.arange(-400, 401)) > s].sum()
        assert tail < 1e-7 and tail * (1 - 1e-9) <= sum_tail(PAIRS[3], s) <= tail * 1.02

    @pytest.mark.parametrize(
        "noises", [PAIRS[i] for i in (0, 1, 2, 4)], ids=("one", "gauss", "mean", "mean-gauss")
    )
    def test_tight_where_one_noise_is_fine(self, noises):
        s = 2 * math.sqrt(sum(noise.spread**2 for noise in noises))
        assert sum_tail(noises, s) <= exact_tail(noises, s) * 1.02

    @pytest.mark.untraced
    @pytest.mark.parametrize("noises", PAIRS[-2:], ids=("laplace", "gauss"))
    def test_near_where_noise_is_mostly_nothing(self, noises):
        exact = next(s for s in range(1, 1000) if exact_tail(noises, s) <= 0.05)
        assert sum_tail(noises, 1.3 * exact) <= 0.05

    @pytest.mark.parametrize(
        "noises", [PAIRS[i] for i in (5, 6, 7, 8)], ids=("laplace", "equal", "gauss", "mixed")
    )
    def test_near_for_wide_noise(self, noises):
        s = 2 * math.sqrt(sum(noise.spread**2 for noise in noises))
        assert sum_tail(noises, s) <= exact_tail(noises, s) * 1.12

    @pytest.mark.parametrize("count", [2, 3, 6])
    def test_equal_gaussians_are_one(self, count):
        one = IntegerNoise(False, 1e6, 1.0)
        s = 2e6 * math.sqrt(count)
        assert sum_tail([one] * count, s) == pytest.approx(math.erfc(math.sqrt(2)), rel=1e-4)

    def test_three_laplace_by_closed_form(self):
        """Equal scales: the tail of a sum of three is e^−z(1 + 5z/8 + z²/8)."""
        one, z = IntegerNoise(True, 1e7, 1e-7), 4.0
        assert sum_tail([one] * 3, z) == pytest.approx(
            math.exp(-z) * (1 + 5 * z / 8 + z * z / 8), rel=1e-4
        )

    def test_tiny_chances_by_chernoff(self):
        one = IntegerNoise(True, 1e7, 1e-7)
        for z in (20.0, 40.0, 80.0):
            exact = math.exp(-z) * (1 + 5 * z / 8 + z * z / 8)
            assert exact < sum_tail([one] * 3, z) < 30 * exact + 1e-7

    def test_nothing_and_everything(self):
        one = IntegerNoise(True, 2.0, 1.0)
        assert sum_tail([one], 0.0) == 1.0
        assert sum_tail([one, one.times(0)], 6.0) == sum_tail([one], 6.0)
        assert sum_tail([IntegerNoise(True, 1e5, 1.0)] * 2, 0.4) == 1.0

    def test_one_noise_is_the_mechanisms_own(self):
        for mechanism in (
            Geometric(scale=7, sensitivity=1),
            DiscreteGaussian(scale=7, sensitivity=1),
        ):
            t = mechanism.error(0.05)
            noise = noise_of(mechanism, 0.25)
            assert sum_tail([noise], 0.25 * t) <= 0.05 < sum_tail([noise], 0.25 * (t - 1))


WORTHS = [(1.0, 0.01), (1.0, 0.3), (1.0, 1 / 3), (1.0, 1.0), (60.0, 1.0), (0.5, 7.0)]
SCALES = (0.3, 0.38, 0.6, 1.0, 1.5) if DEEP else (0.38, 1.0)
KINDS = [(False, False), (True, True), (True, False), (False, True)]


def sizes_of(noises):
    """All sizes of a sum, and the probability that it is at least so large, by enumeration."""
    values, chances = np.zeros(1), np.ones(1)
    for noise in noises:
        points, weights = exact_law(noise)
        values = (values[:, None] + points).ravel()
        chances = (chances[:, None] * weights).ravel()
        values, inverse = np.unique(np.round(values, 10), return_inverse=True)
        chances = np.bincount(inverse, chances)
    sizes, inverse = np.unique(np.abs(values), return_inverse=True)
    own = np.bincount(inverse, chances)
    return sizes, np.cumsum(own[::-1])[::-1]


class TestCriticalPoints:
    """Just below a value of the sum, a multiple of either worth, the bound holds that value too; just above it need not."""

    @pytest.mark.untraced
    @pytest.mark.parametrize("worths", WORTHS, ids=str)
    def test_two_noises(self, worths):
        for kinds in KINDS if DEEP else KINDS[:3]:
            for scales in ((a, b) for a in SCALES for b in SCALES):
                noises = [IntegerNoise(*each) for each in zip(kinds, scales, worths, strict=True)]
                sizes, at_least = sizes_of(noises)
                likely = np.flatnonzero((at_least > 1e-7) & (sizes > 0))
                for place in likely if DEEP else likely[:: 1 + len(likely) // 24]:
                    size, tail = float(sizes[place]), float(at_least[place])
                    bound = sum_tail(noises, size * (1 - 1e-6))
                    assert bound >= tail * (1 - 1e-9) - 1e-12, (noises, size)
                    assert bound <= tail * (1 + 1e-6) + 1e-11, (noises, size)

    @pytest.mark.parametrize("wide", [33.0, 70.0, 500.0])
    def test_a_narrow_and_a_wide_gaussian(self, wide):
        """Beyond σ = 32 the tail is an integral: also where the narrow noise alone exceeds s, and the wide one must be below 0."""
        noises = [IntegerNoise(False, 1.5, 90.0), IntegerNoise(False, wide, 1.0)]
        for s in np.arange(0.6, 6 * 90.0, 26.7):
            exact = exact_tail(noises, s)
            assert exact * (1 - 1e-9) - 1e-12 <= sum_tail(noises, s) <= exact * 1.002 + 1e-9


class TestConvolution:
    """The reach of many noises misses no more than β, and its last step is needed; where worths have a unit, just that."""

    @pytest.mark.untraced
    @pytest.mark.parametrize("laplace", [True, False], ids=("laplace", "gaussian"))
    @pytest.mark.parametrize(
        ("each", "scale", "worths"),
        [(20, 0.5, (1.0,)), (10, 2.0, (1.0,)), (2, 0.5, (1.0, 0.7)), (2, 0.6, (1.0, 1 / 3))],
    )
    def test_least_multiple(self, each, scale, worths, laplace):
        noises = [IntegerNoise(laplace, scale, worth) for worth in worths for _ in range(each)]
        sizes, at_least = sizes_of(noises)
        for beta in (0.2, 0.05, 1e-3):
            reach = total_reach(tuple(noises), beta)
            assert at_least[sizes > reach].max() <= beta
            assert at_least[sizes >= reach * (1 - 1e-6)].max() > beta

    @pytest.mark.parametrize("laplace", [True, False], ids=("laplace", "gaussian"))
    def test_worths_without_a_unit(self, laplace):
        noises = [IntegerNoise(laplace, 0.9, worth) for worth in (1.0, math.sqrt(2), math.pi)]
        sizes, at_least = sizes_of(noises)
        for beta in (0.2, 0.05, 1e-3):
            reach = total_reach(tuple(noises), beta)
            assert at_least[sizes > reach].max() <= beta
            assert at_least[sizes >= reach * 0.99].max() > beta

    def test_a_thousand(self):
        """Normal by the central limit theorem; the half steps of all of them would be 12 deviations."""
        reach = total_reach((IntegerNoise(False, 1.25, 1.0),) * 1000, 0.05)
        # P(|Σ| > 77) is the normal tail from 77.5 on, 4.99 %.
        normal = math.erfc(77.5 / (1.25 * math.sqrt(2000)))
        assert 0.0495 < normal < 0.05 and round(reach, 4) == 77


class TestFieller:
    """|A − xB| is within the reach of a mean for *every* |x| ≤ far, also where A and far·B cancel out."""

    @pytest.mark.parametrize("far", [1.0, 2.0, 0.7])
    @pytest.mark.parametrize("scale", [0.25, 0.29, 0.33, 0.5, 1.0])
    def test_every_quotient(self, scale, far):
        for laplace, worth in ((True, 1.0), (False, 1.0), (True, 2.0)):
            total, count = IntegerNoise(laplace, scale, worth), IntegerNoise(laplace, scale, 1.0)
            # Between the chances that A − far·B and that A or B is not 0: they differ where both cancel out.
            not_zero = [exact_tail([total, count.times(x)], 1e-9) for x in (far, 0.37 * far)]
            for beta in (0.05, sum(not_zero) / 2):
                reach = float(noise_reach(total, count, far, beta))
                for x in np.linspace(0, far, 5):
                    noises = [total, count.times(x)] if x else [total]
                    assert exact_tail(noises, reach) <= beta, (total, count, far, beta, x)


class TestFurtherFromZero:
    """|X + U| is nearer to 0 than the continuous law that stands for it, at every distance: the lemma of the bound."""

    @pytest.mark.parametrize("scale", [1e-3, 0.1, 0.3, 0.5, 0.8, 1.0, 2.0, 5.0, 20.0, 100.0])
    @pytest.mark.parametrize("laplace", [True, False], ids=("laplace", "gaussian"))
    def test_at_all_distances(self, scale, laplace):
        points, chances = exact_law(IntegerNoise(laplace, scale, 1.0))
        edges = np.arange(0, min(len(points) // 2, 60 * scale + 5)) + 0.5
        beyond = np.array([chances[np.abs(points) > edge].sum() for edge in edges])
        r = np.concatenate(
            [np.linspace(0, 0.5, 33), *(np.linspace(edge, edge + 1, 33) for edge in edges[:-1])]
        )
        smeared = np.interp(r, np.concatenate([[0.0], edges]), np.concatenate([[1.0], beyond]))
        if laplace:
            further = np.exp(-r * 2 * math.tanh(0.5 / scale))
        else:
            further = np.array([math.erfc(x / math.sqrt(2 * (scale**2 + 0.25))) for x in r])
        assert (smeared <= further * (1 + 1e-9) + 1e-14).all()
