"""check_mechanism passes what is sound and catches what is not: each broken mechanism here is one seen in the wild."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import ClaimRefuted, InvalidArgument
from discreet.mechanisms.additive.binomial import Binomial
from discreet.mechanisms.additive.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.additive.discrete_laplace import Geometric, TruncatedGeometric
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.sensitivity import counting_queries, histogram
from discreet.privacy.events import BinomialNoise, DiscreteLaplaceNoise, Event, LaplaceNoise
from discreet.testing.mechanism_laws import check_mechanism
from support.profile import draws

pytestmark = [
    pytest.mark.untraced,
    pytest.mark.statistical,
]  # false alarm below 1e-9 in each check, as it says

SOUND = [
    Laplace(2, 1),
    Laplace(Fraction(1, 3), 1),
    Laplace(5, "0.3"),
    Laplace(2**60, 2**40),
    Laplace(3, histogram("replace")),
    Gaussian(2, 1),
    Gaussian(Fraction(7, 2), 3, neighbours="replace"),
    Gaussian(10, counting_queries(5)),
    Geometric(2, 1),
    Geometric(2**45, 1),
    Geometric(4, 3),
    DiscreteGaussian(2, 1),
    DiscreteGaussian(9, 2),
    DiscreteGaussian(9, counting_queries(3)),
    Binomial(400, 1),
]


@pytest.mark.parametrize("mechanism", SOUND, ids=repr)
def test_the_mechanisms_of_this_room_pass(mechanism):
    assert isinstance(mechanism, Mechanism)
    check_mechanism(mechanism, draws=draws(500))


def test_inputs_are_chosen_by_the_caller():
    check_mechanism(TruncatedGeometric(2, 1, 0, 10), inputs=(0, 4, 9), draws=500)
    check_mechanism(TruncatedGeometric(2, 20, 0, 10), inputs=(0,), draws=500)


EVENT = DiscreteLaplaceNoise(2, 1)


@dataclass(frozen=True)
class Own:
    """A mechanism somebody else wrote: geometric noise, whole numbers one at a time, no pmf."""

    event: Event = EVENT

    def release(self, value, /):
        if not isinstance(value, int):
            raise InvalidArgument("whole numbers only")
        return Geometric(2, 1).release(value)

    def error(self, beta=0.05, /):
        return Geometric(2, 1).error(beta)


def test_a_mechanism_of_ones_own_passes():
    check_mechanism(Own(), draws=500)


class Naive(Own):
    """Adds floating-point noise to a float: one draw often identifies the input (Mironov 2012)."""

    def release(self, value, /):
        if not isinstance(value, int | float) or not math.isfinite(value):
            raise InvalidArgument("finite numbers only")
        noise = float(np.random.default_rng().laplace(0, 2))
        return value + round(noise) if isinstance(value, int) else value + noise

    def error(self, beta=0.05, /, *, whole=False):
        return Laplace(2, 1).error(beta, whole=whole)


class TakesAnything(Naive):
    """Releases NaN."""

    def release(self, value, /):
        if isinstance(value, np.ndarray):
            raise TypeError
        return value if isinstance(value, float) else super().release(value)


class FloatsForInts(Own):
    def release(self, value, /):
        return float(super().release(value))


class IntsForFloats(Own):
    def release(self, value, /):
        return super().release(value if isinstance(value, np.ndarray) else int(value))


class FlatArrays(Own):
    def release(self, value, /):
        return 0 if isinstance(value, np.ndarray) else super().release(value)


class Flatters(Own):
    """Reports the expected error as if it were a 95 % bound."""

    def error(self, beta=0.05, /):
        return 2 * (beta < 1)


class Underprices(Geometric):
    """Forgets that the sensitivity is 2 (the printed parallel composition under replace)."""

    def __init__(self):
        super().__init__(2, 2)
        object.__setattr__(self, "event", DiscreteLaplaceNoise(2, 1))


class WrongLaw(Geometric):
    def pmf(self, x, value=0):
        return 2 * super().pmf(x, value)


@pytest.mark.parametrize(
    ("mechanism", "because"),
    [
        (object(), "something is missing"),
        (Own(event="ε = 1"), "event must say what was done"),
        (Own(event=BinomialNoise(2, 5)), "keeps no promise"),
        (Naive(event=LaplaceNoise(2, 1)), "low bits"),
        (TakesAnything(event=LaplaceNoise(2, 1)), "nan was released"),
        (FloatsForInts(), "an int was released as float"),
        (IntsForFloats(), "a float was released as int"),
        (FlatArrays(), "an array of int64 must come back"),
        (Flatters(), "the error bar flatters"),
        (Underprices(), "costs more than it says"),
        (WrongLaw(2, 1), "the pmf adds up to 2"),
    ],
    ids=lambda x: type(x).__name__ if not isinstance(x, str) else "",
)
def test_broken_mechanisms_are_caught(mechanism, because):
    with pytest.raises(ClaimRefuted, match=because):
        check_mechanism(mechanism)
