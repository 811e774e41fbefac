"""Chi-square against the exact laws. Every test here raises a false alarm with probability at most 10^-9.

The statistic is compared with the 1 − 10^-10 quantile of chi-square; cells hold at least 200 expected counts, so that
the approximation is good for the factor 10 between 10^-10 and 10^-9.
"""

import math
from fractions import Fraction
from random import Random

import mpmath
import numpy as np
import pytest
from scipy.special import chdtri

from discreet import noise
from oracles.noise import binomial_weight, cks_gaussian, cks_laplace
from support.profile import draws

pytestmark = pytest.mark.statistical

N = 200_000
QUANTILE = 1e-10


def grouped(weight, low, high, count):
    """Neighbouring integers joined until each group expects at least 200; the two ends take the tails."""
    points = list(range(low, high + 1))
    weights = weight(np.array(points))
    weights /= weights.sum()
    groups, running = [], 0.0
    for x, one in zip(points, weights, strict=True):
        running += one
        if running * count >= 200:
            groups.append((x, running))
            running = 0.0
    edges = [x for x, _ in groups[:-1]]
    chances = [chance for _, chance in groups]
    chances[-1] += running
    return np.array(edges), np.array(chances)


def chi_square(sample, weight, low, high):
    edges, chances = grouped(weight, low, high, len(sample))
    counts = np.bincount(np.searchsorted(edges, sample, side="left"), minlength=len(chances))
    expected = chances * len(sample)
    return float(((counts - expected) ** 2 / expected).sum()), chdtri(len(chances) - 1, QUANTILE)


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(7, 3), 10, 64, 1000])
def test_laplace(scale):
    span = int(60 * scale) + 40
    found, limit = chi_square(
        noise.laplace(scale, N), lambda x: np.exp(-np.abs(x) / float(scale)), -span, span
    )
    assert found < limit


@pytest.mark.parametrize("scale", [Fraction(3, 2), 100])
def test_geometric(scale):
    found, limit = chi_square(
        noise.geometric(scale, N), lambda x: np.exp(-x / float(scale)), 0, int(60 * scale)
    )
    assert found < limit


@pytest.mark.parametrize("variance", [Fraction(1, 4), 100, 128**2, 10**6])
def test_gaussian(variance):
    span = int(14 * Fraction(variance) ** Fraction(1, 2)) + 10
    found, limit = chi_square(
        noise.gaussian(variance, N), lambda x: np.exp(-x * x / (2 * float(variance))), -span, span
    )
    assert found < limit


@pytest.mark.parametrize("trials", [1, 5, 300, 2**15 + 1])
def test_binomial(trials):
    middle = trials // 2
    span = min(middle + 1, int(7 * trials**0.5) + 2)
    sample = noise.binomial(trials, N) - middle
    weight = binomial_weight(trials)

    def exact(points):
        return np.array([float(weight(int(x))) for x in points])

    found, limit = chi_square(sample, exact, -span, span)
    assert found < limit


@pytest.mark.untraced
@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_wide_laws_agree_with_the_continuous_ones(law):
    """At scale 2^45 the discrete and the continuous distribution functions differ by less than 2^-40."""
    scale = 2**45
    if law == "laplace":
        uniform = np.exp(-np.abs(noise.laplace(scale, N)) / scale)
    else:
        sample = noise.gaussian(scale**2, N) / scale
        knots = np.linspace(-9, 9, 4001)
        uniform = np.interp(sample, knots, [math.erfc(-k / math.sqrt(2)) / 2 for k in knots])
    counts = np.bincount(np.minimum((uniform * 400).astype(int), 399), minlength=400)
    assert ((counts - N / 400) ** 2 / (N / 400)).sum() < chdtri(399, QUANTILE)


def test_one_at_a_time_has_the_same_law():
    sample = np.array([noise.laplace(3) for _ in range(20_000)])
    found, limit = chi_square(sample, lambda x: np.exp(-np.abs(x) / 3), -200, 200)
    assert found < limit


def test_truncated_geometric():
    """P(0 | 0) = 1/(1 + a), P(n | 0) = a^n/(1 + a)."""
    sample = noise.truncated_geometric(np.zeros(N, dtype=np.int64), 2, 0, 3)
    a = float(mpmath.exp(Fraction(-1, 2)))
    expected = np.array([1, a * (1 - a), a * a * (1 - a), a**3]) / (1 + a) * N
    counts = np.bincount(sample, minlength=4)
    assert ((counts - expected) ** 2 / expected).sum() < chdtri(3, QUANTILE)


@pytest.mark.untraced
@pytest.mark.parametrize(
    "draw", ["coin", "exponential", "uniform", "choice", "exponential_choice", "permute"]
)
def test_small_laws(draw):
    sample, chances = {
        "coin": lambda: (noise.coin(Fraction(1, 3), N), [2 / 3, 1 / 3]),
        "exponential": lambda: (noise.exponential_coin(1, N), [1 - np.exp(-1), np.exp(-1)]),
        "uniform": lambda: (noise.uniform(7, N), [1 / 7] * 7),
        "choice": lambda: (noise.choice([1, 0.5, 2.5], N), [1 / 4, 1 / 8, 5 / 8]),
        "exponential_choice": lambda: (
            noise.exponential_choice([0.0, 1.0, 2.0], 1, N),
            np.exp([0, 1, 2]) / np.exp([0, 1, 2]).sum(),
        ),
        "permute": lambda: (
            np.array([noise.permute_and_flip([0, 1], 1) for _ in range(4000)]),
            [np.exp(-1) / 2, 1 - np.exp(-1) / 2],
        ),
    }[draw]()
    expected = np.array(chances) * len(sample)
    counts = np.bincount(sample.astype(int), minlength=len(expected))
    assert ((counts - expected) ** 2 / expected).sum() < chdtri(len(expected) - 1, QUANTILE)


class TestOracle:
    """The integer-only oracle of Canonne, Kamath and Steinke draws from the same laws (fixed seed: no false alarm)."""

    def test_laplace(self):
        rng = Random(1)
        sample = np.array([cks_laplace(Fraction(7, 3), rng) for _ in range(draws(20_000))])
        found, limit = chi_square(sample, lambda x: np.exp(-np.abs(x) * 3 / 7), -150, 150)
        assert found < limit

    def test_gaussian(self):
        rng = Random(2)
        sample = np.array([cks_gaussian(Fraction(22, 7), rng) for _ in range(draws(20_000))])
        found, limit = chi_square(sample, lambda x: np.exp(-x * x * 7 / 44), -40, 40)
        assert found < limit

    @pytest.mark.untraced
    @pytest.mark.parametrize("law", ["laplace", "gaussian"])
    def test_two_samples(self, law):
        """Ours and the oracle's, side by side: Σ (a − b)²/(a + b) is chi-square."""
        rng, count = Random(3), 20_000  # so that each cell holds enough
        if law == "laplace":
            theirs = [cks_laplace(Fraction(10), rng) for _ in range(count)]
            ours = noise.laplace(10, count)
        else:
            theirs = [cks_gaussian(Fraction(100), rng) for _ in range(count)]
            ours = noise.gaussian(100, count)
        edges = np.arange(-24, 25, 3)
        a = np.bincount(np.searchsorted(edges, theirs), minlength=edges.size + 1)
        b = np.bincount(np.searchsorted(edges, ours), minlength=edges.size + 1)
        assert ((a - b) ** 2 / (a + b)).sum() < chdtri(edges.size, QUANTILE)
