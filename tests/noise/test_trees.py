"""Every bit string on tiny words: the true probability lies in [mass found, mass found + mass undecided].

Words of 2 to 6 bits, read on one bit at a time, so that the cut, doubtful and exact paths, which the wide words take
once in 2^16 to 2^64, are taken all the time.
"""

from fractions import Fraction
from functools import cache
from itertools import islice, permutations

import mpmath
import numpy as np
import pytest

from discreet.noise.binomial import BinomialLaw
from discreet.noise.coin import Coin, ExponentialCoin
from discreet.noise.exponential import envelope
from discreet.noise.gaussian import GaussianLaw
from discreet.noise.geometric import GeometricLaw
from discreet.noise.laplace import LaplaceLaw
from discreet.noise.permute import flip
from discreet.noise.score_gaps import scores_of
from discreet.noise.table import Widths, _propose, build, fill
from discreet.noise.uniform import Uniform, wide
from oracles.noise import (
    binomial_weight,
    cumulated,
    gaussian_weight,
    geometric_weight,
    laplace_weight,
    nearest,
    real,
    walk,
)
from support.profile import DEEP

TINY = Widths(top=3, word=5, accept=3, step=1)
REJECTED = "rejected"


class Remembered:
    """A law that computes each bound once: the walk asks for the same ones thousands of times."""

    def __init__(self, law):
        self.shift, self.sides, self.exponents = law.shift, law.sides, law.exponents
        self.chance = cache(law.chance)
        self.weights = cache(
            lambda precision: (list(islice((found := law.weights(precision))[0], 400)), found[1])
        )


def enclosed(mass, undecided, outcome, true):
    low = real(mass[outcome])
    return low <= true * (1 + mpmath.mpf(2) ** -300) and true <= low + real(undecided)


LAWS = [
    (LaplaceLaw(Fraction(1, 2), 0), laplace_weight(Fraction(1, 2))),
    (LaplaceLaw(Fraction(7, 3), 0), laplace_weight(Fraction(7, 3))),
    (LaplaceLaw(Fraction(5), 2), laplace_weight(Fraction(5))),
    (GeometricLaw(Fraction(2), 0), geometric_weight(Fraction(2))),
    (GeometricLaw(Fraction(9, 2), 2), geometric_weight(Fraction(9, 2))),
    (GaussianLaw(Fraction(1), 0), gaussian_weight(Fraction(1))),
    (GaussianLaw(Fraction(17, 3), 0), gaussian_weight(Fraction(17, 3))),
    (GaussianLaw(Fraction(20), 1), gaussian_weight(Fraction(20))),
    (BinomialLaw(5, 0), binomial_weight(5)),
    (BinomialLaw(8, 0), binomial_weight(8)),
]


LONGER = [
    (LaplaceLaw(Fraction(6), 1), laplace_weight(Fraction(6))),
    (GaussianLaw(Fraction(50), 2), gaussian_weight(Fraction(50))),
]
MARKED = [
    *(pytest.param(*one, marks=[pytest.mark.untraced] if one[0].shift else []) for one in LAWS),
    *(pytest.param(*one, marks=pytest.mark.slow) for one in LONGER),
]
"""Laws with a shift take long, and no branch that the others do not take here or in the other files."""


@pytest.mark.parametrize(
    ("law", "weight"), MARKED, ids=lambda one: "" if callable(one) else str(one)
)
class TestLaws:
    """One proposal gives x with probability weight(x)/(2^shift·Σ weight(x₀)), exactly."""

    def test_one_proposal(self, law, weight):
        made = build(Remembered(law), TINY)

        def run(draw):
            out = np.empty(1, dtype=np.int64)
            return REJECTED if _propose(made, out, draw).size else int(out[0])

        limit, most = (16, 25 if law.shift else 100) if DEEP or not law.shift else (14, 10)
        mass, undecided = walk(run, limit)
        cells, _ = cumulated(weight, law.shift, law.sides)
        total = mpmath.fsum(weight(nearest(h, law.shift)) for h in cells) * 2**law.shift
        assert undecided < Fraction(1, most)
        assert sum(mass.values()) + undecided == 1
        span = max(abs(x) for x in mass if x != REJECTED) + 9
        for x in range(-span, span):
            assert enclosed(mass, undecided, x, weight(x) / total), x
        accepted = (
            mpmath.fsum(
                weight(h * 2**law.shift + low) for h in cells for low in range(2**law.shift)
            )
            / total
        )
        assert enclosed(mass, undecided, REJECTED, 1 - accepted)


@pytest.mark.untraced
def test_rejected_slots_are_proposed_again():
    law, weight = LaplaceLaw(Fraction(5), 2), laplace_weight(Fraction(5))
    made = build(Remembered(law), TINY)

    def run(draw):
        out = np.empty(1, dtype=np.int64)
        fill(made, out, draw)
        return int(out[0])

    mass, undecided = walk(run, 14)
    total = mpmath.fsum(weight(x) for x in range(-3000, 3000))
    assert undecided < Fraction(1, 3)
    assert all(enclosed(mass, undecided, x, weight(x) / total) for x in range(-60, 60))


class TestCoins:
    """A coin falls heads with exactly its bias."""

    @pytest.mark.parametrize(
        "bias", [Fraction(1, 3), Fraction(5, 7), Fraction(3, 8), Fraction(0), Fraction(1)]
    )
    def test_rational(self, bias):
        mass, undecided = walk(lambda draw: bool(Coin(bias, 2, 1).sample(1, draw)[0]), 12)
        assert undecided <= Fraction(1, 2**11)
        assert enclosed(mass, undecided, True, real(bias))

    @pytest.mark.parametrize("exponent", [Fraction(0), Fraction(1, 2), Fraction(5, 3), Fraction(9)])
    def test_exponential(self, exponent):
        mass, undecided = walk(
            lambda draw: bool(ExponentialCoin(exponent, 2, 1).sample(1, draw)[0]), 12
        )
        assert undecided <= Fraction(1, 2**11)
        assert enclosed(mass, undecided, True, mpmath.exp(-real(exponent)))


class TestUniform:
    """Every integer below the bound has the same probability."""

    @pytest.mark.parametrize("bound", [1, 2, 3, 5, 7, 8])
    def test_words(self, bound):
        mass, undecided = walk(lambda draw: int(Uniform(bound, 3).sample(1, draw)[0]), 12)
        assert undecided <= Fraction(1, 2**4)
        assert len(mass) == bound
        assert len(set(mass.values())) == 1

    @pytest.mark.parametrize("bound", [1, 2, 5, 9])
    def test_wide(self, bound):
        mass, _ = walk(lambda draw: wide(bound, draw), 12)
        assert sorted(mass) == list(range(bound))
        assert len(set(mass.values())) == 1


SCORES = [
    ([3, 2, 0], Fraction(1, 2)),
    ([0.5, 0.25, -1e300], Fraction(3)),
    ([-1, 4, 2], Fraction(-1, 3)),
    ([7, 7], Fraction(0)),
]


def laws(scores, rate):
    best = max(rate * Fraction(score) for score in scores)
    return [mpmath.exp(real(rate * Fraction(score) - best)) for score in scores]


@pytest.mark.parametrize(
    ("scores", "rate"),
    [SCORES[0], *(pytest.param(*one, marks=pytest.mark.untraced) for one in SCORES[1:])],
    ids=str,
)
class TestChoices:
    """The exponential mechanism and permute-and-flip have exactly their laws."""

    def test_exponential_choice(self, scores, rate):
        drawn = envelope(scores_of(scores, rate), fine=3, width=6, step=1)
        mass, undecided = walk(lambda draw: int(drawn.sample(1, draw)[0]), 15)
        weights = laws(scores, rate)
        assert undecided < Fraction(1, 8)
        for index, weight in enumerate(weights):
            assert enclosed(mass, undecided, index, weight / mpmath.fsum(weights))

    def test_permute_and_flip(self, scores, rate):
        checked = scores_of(scores, rate)
        mass, undecided = walk(
            lambda draw: flip(checked, draw, width=3, step=1), 15 if DEEP else 13
        )
        chances = laws(scores, rate)
        assert undecided < Fraction(1, 6)
        for index in range(len(scores)):
            assert enclosed(mass, undecided, index, permuted(chances, index))


def permuted(chances, index):
    """P(index) by the definition: over all orders, nobody before says yes, then index does."""
    orders = list(permutations(range(len(chances))))
    total = mpmath.mpf(0)
    for one in orders:
        product = chances[index]
        for before in one[: one.index(index)]:
            product *= 1 - chances[before]
        total += product
    return total / len(orders)
