"""check_mechanism on selections, responses and mechanisms of one's own: sound ones pass, broken ones are caught."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import ClaimRefuted, InvalidArgument, NoRandomness
from discreet.mechanisms.adaptive.sparse_vector import SparseVector
from discreet.mechanisms.additive.discrete_laplace import Geometric, TruncatedGeometric
from discreet.mechanisms.keys.threshold import LaplaceThreshold
from discreet.mechanisms.response.grid import GridResponse
from discreet.mechanisms.response.randomized import RandomizedResponse
from discreet.mechanisms.selection.exponential import Exponential
from discreet.mechanisms.selection.noisy_max import NoisyMax
from discreet.mechanisms.selection.permute_and_flip import PermuteAndFlip
from discreet.mechanisms.selection.top_k import TopK
from discreet.privacy.events import (
    DiscreteLaplaceNoise,
    Event,
    ExponentialSelection,
    Promise,
    Response,
)
from discreet.privacy.measures import PureDP
from discreet.testing import check_mechanism
from support.profile import draws

pytestmark = [
    pytest.mark.untraced,
    pytest.mark.statistical,
]  # false alarm below 1e-9 in each check, as it says

EVERY = ("price", "JSON", "refusal", "range", "loss", "law", "error", "randomness", "pickling")
SELECTIONS = [
    Exponential(1, 1),
    Exponential("0.1", 3, monotone=True),
    Exponential(5, "0.3", neighbours="replace"),
    Exponential(1000, 1),
    PermuteAndFlip(1, 1),
    PermuteAndFlip(20, 2, monotone=True),
    NoisyMax(1, 1),
    NoisyMax(30, 1, noise="laplace"),
    TopK(1, 1, 1),
    TopK(2, 1, 1, monotone=True),
]
RESPONSES = [
    RandomizedResponse(2, epsilon=1),
    RandomizedResponse(2, epsilon=1000),
    RandomizedResponse(5, truth=Fraction(1, 3)),
    GridResponse(2, 1),
    GridResponse(3, 2, "distance"),
]


@pytest.mark.parametrize("mechanism", SELECTIONS, ids=repr)
def test_every_law_of_a_selection_is_checked(mechanism):
    found = check_mechanism(mechanism, draws=draws(300))
    assert (found.kind, found.held, found.unchecked) == ("selection", EVERY, ())


@pytest.mark.parametrize("mechanism", RESPONSES, ids=repr)
def test_a_response_is_checked_but_for_the_error_of_an_estimate(mechanism):
    found = check_mechanism(mechanism, draws=draws(300))
    assert found.kind in ("response", "grid")
    assert set(found.held) == set(EVERY) - {"error"}
    assert [law for law, _ in found.unchecked] == ["error"]


@pytest.mark.parametrize(
    "mechanism",
    [TopK(10, "0.1", 1), RandomizedResponse(10_000, epsilon=1), GridResponse(80, 2)],
    ids=repr,
)
def test_a_law_too_long_to_list_is_told(mechanism):
    found = check_mechanism(mechanism, draws=20)
    assert dict(found.unchecked)["loss"] == "its law is too long to list"
    assert "not checked: loss (its law is too long to list)" in str(found)


def test_scores_are_chosen_by_the_caller():
    scores = [[3, 1, 4, 1, 5, 9, 2, 6, 5, 3], np.array([0.5, 0.25])]
    assert check_mechanism(Exponential(1, 1), scores, draws=draws(300)).held == EVERY


def test_what_cannot_be_checked_is_told_not_raised():
    found = check_mechanism(SparseVector(1, 1), draws=20)  # release needs a threshold as well
    assert (found.kind, found.held) == ("other", ("price", "JSON"))
    assert dict(found.unchecked)["randomness"] == "give inputs that it takes"
    refused = check_mechanism(SparseVector(1, 1), [[1, 2]], neighbours=[([1], [2])])
    assert dict(refused.unchecked)["inputs"].startswith("2 inputs or pairs")


def test_any_object_with_release_and_event_is_checked_as_far_as_it_goes():
    found = check_mechanism(
        LaplaceThreshold(1, 1e-6), [{"a": 3}], refuses=[{"a": math.nan}, {"a": "three"}], draws=20
    )
    assert set(found.held) == {"price", "JSON", "refusal", "randomness", "pickling"}
    assert [law for law, _ in found.unchecked] == ["range", "loss", "law", "error"]


def test_a_declared_range_is_checked():
    found = check_mechanism(TruncatedGeometric(2, 1, 0, 10), inputs=(0, 4, 9), draws=100)
    assert "range" in found.held


LN3 = Promise(PureDP("1.0986122886681099"), neighbours="replace")


@dataclass(frozen=True)
class Words:
    """A response in words, told as a mapping: neither options nor scores."""

    event: Event = LN3

    def probabilities(self, value):
        other = {"tea": "coffee", "coffee": "tea"}[value]
        return {value: 0.75, other: 0.25}

    def release(self, value, *, bits=None):
        names = ("tea", "coffee")
        coin = RandomizedResponse(truth=Fraction(3, 4))
        return names[coin.release(names.index(value), bits=bits)]


PAIR = [("tea", "coffee")]


def test_a_law_told_as_a_mapping_is_checked():
    found = check_mechanism(
        Words(), ["tea", "coffee"], neighbours=PAIR, refuses=["milk", math.nan], draws=500
    )
    assert set(found.held) == set(EVERY) - {"error"}
    alone = check_mechanism(Words(), draws=20)
    assert dict(alone.unchecked)["loss"].startswith("give neighbouring inputs")
    assert (
        dict(alone.unchecked)["law"]
        == dict(alone.unchecked)["randomness"]
        == "give inputs that it takes"
    )


class Closed(Words):
    """Cannot be copied."""

    def __reduce__(self):
        raise InvalidArgument("no copies")


class NoBits(Words):
    """Draws on its own."""

    def release(self, value):
        return super().release(value)


def test_reasons_are_told():
    assert dict(check_mechanism(Closed()).unchecked)["pickling"] == "it refuses to be copied"
    found = check_mechanism(NoBits(), ["tea"], refuses=["milk"], draws=20)
    assert dict(found.unchecked)["randomness"].startswith("release takes no bits=")
    assert "refusal" in found.held


class Own:
    """An exponential mechanism somebody else wrote, with nothing but what is needed."""

    sensitivity = 1
    event: Event = ExponentialSelection(1)

    def probabilities(self, scores):
        return Exponential(1, 1).probabilities(scores)

    def release(self, scores, *, bits=None):
        return Exponential(1, 1).release(scores, bits=bits)


class OwnResponse:
    """A randomized response that tells its law by probabilities(answer)."""

    options = 3
    event: Event = Response(1, 3)

    def probabilities(self, answer):
        kin = RandomizedResponse(3, epsilon=1)
        return [kin.p if option == answer else kin.q for option in range(3)]

    def release(self, answer, *, bits=None):
        return np.int64(RandomizedResponse(3, epsilon=1).release(answer, bits=bits))


class SilentResponse:
    """A randomized response that does not tell its law."""

    options = 2
    event: Event = Response(1, 2)

    def release(self, answer, *, bits=None):
        return RandomizedResponse(2, epsilon=1).release(answer, bits=bits)


def test_mechanisms_of_ones_own_pass():
    assert set(check_mechanism(Own(), draws=draws(300)).held) == set(EVERY) - {"error"}
    assert set(check_mechanism(OwnResponse(), draws=draws(300)).held) == set(EVERY) - {"error"}
    assert "neither p and q" in dict(check_mechanism(SilentResponse()).unchecked)["loss"]


class TwiceTheRate(Own):
    """Forgets the 2 of ε/2Δ though the scores are not monotone."""

    def probabilities(self, scores):
        return Exponential(2, 1).probabilities(scores)

    def release(self, scores, *, bits=None):
        return Exponential(2, 1).release(scores, bits=bits)


class TellsAnotherLaw(Own):
    """Promises the law at ε = 1 and draws the greatest score."""

    def release(self, scores, *, bits=None):
        Own.release(self, scores, bits=bits)
        return int(np.argmax(scores))


class NotALaw(Own):
    def probabilities(self, scores):
        return 2 * super().probabilities(scores)


class TakesNaN(Own):
    def release(self, scores, *, bits=None):
        return super().release(np.nan_to_num(scores), bits=bits)


class DrawsFirst(Own):
    """Draws before it looks at the scores."""

    def release(self, scores, *, bits=None):
        Exponential(1, 1).release([0, 0], bits=bits)
        return super().release(scores, bits=bits)


class CountsFromOne(Own):
    def release(self, scores, *, bits=None):
        return 1 + super().release(scores, bits=bits)


class GoesOnWithoutChance(Own):
    """Falls back on the best score when the source of bits fails."""

    def release(self, scores, *, bits=None):
        try:
            return super().release(scores, bits=bits)
        except NoRandomness:
            return int(np.argmax(scores))


class FlattersSelection(Own):
    def error(self, options, beta=0.05):
        return beta / options


class KeepsAGenerator(Own):
    """Carries its generator along: every pickled copy draws the same noise."""

    def __init__(self):
        self.generator = np.random.default_rng()

    def release(self, scores):
        return int(self.generator.choice(len(scores), p=self.probabilities(scores)))


class ForgetsItsPrice(Own):
    """Another price after pickling."""

    def __reduce__(self):
        return Own, ()

    event: Event = ExponentialSelection(2)


class ToldTooCheap(RandomizedResponse):
    """Truth with ¾ costs ln 3, said to cost 1."""

    event: Event = Response(1, 2)


class OutOfRange(TruncatedGeometric):
    """Clamps nothing."""

    def release(self, value, *, bits=None):
        return Geometric(2, 1).release(value, bits=bits)


class Elsewhere(Words):
    """Says what is in no law."""

    def release(self, value, *, bits=None):
        return super().release(value, bits=bits) + "!"


class GivesFirst:
    """Additive; gives the true value when the bits fail."""

    event: Event = DiscreteLaplaceNoise(2, 1)

    def release(self, value, *, bits=None):
        if type(value) is not int:
            raise InvalidArgument("whole numbers only")
        try:
            return Geometric(2, 1).release(value, bits=bits)
        except Exception:  # noqa: BLE001 - the fault under test
            return value

    def error(self, beta=0.05):
        return Geometric(2, 1).error(beta)


class SpeaksOfMany(GivesFirst):
    """Its error bar is for n of them at once: not that of one release."""

    def release(self, value, *, bits=None):
        return Geometric(2, 1).release(value, bits=bits)

    def error(self, n, beta):
        return n * Geometric(2, 1).error(beta)


def test_an_error_bar_of_another_kind_is_not_taken_for_that_of_one_release():
    found = check_mechanism(SpeaksOfMany(), [0, 1], refuses=[math.nan], draws=20)
    assert found.kind == "other"
    assert set(found.held) == {"price", "JSON", "refusal", "randomness", "pickling"}


OF_SOUND_LAW = (GoesOnWithoutChance, FlattersSelection, KeepsAGenerator, ForgetsItsPrice)
"""What is wrong with them is not what they draw."""


@pytest.mark.parametrize(
    ("mechanism", "because"),
    [
        (TwiceTheRate(), "costs more than it says"),
        (TellsAnotherLaw(), "its told chance is"),
        (NotALaw(), "the probabilities add up to 2"),
        (TakesNaN(), "was released; refuse it"),
        (DrawsFirst(), "a bit was drawn before"),
        (CountsFromOne(), "not one of the outputs it declares"),
        (GoesOnWithoutChance(), "source of random bits failed"),
        (FlattersSelection(), "it flatters"),
        (KeepsAGenerator(), "two pickled copies drew the same noise"),
        (ForgetsItsPrice(), "another event"),
        (ToldTooCheap(2, truth=Fraction(3, 4)), "costs more than it says"),
        (OutOfRange(2, 1, 0, 10), "outside the declared range"),
        (GivesFirst(), "source of random bits failed"),
    ],
    ids=lambda x: type(x).__name__ if not isinstance(x, str) else "",
)
def test_broken_mechanisms_are_caught(mechanism, because):
    with pytest.raises(ClaimRefuted, match=because):
        check_mechanism(mechanism, draws=100 if isinstance(mechanism, OF_SOUND_LAW) else 2000)


def test_broken_mechanisms_of_another_kind_are_caught():
    with pytest.raises(ClaimRefuted, match="not one of the outputs"):
        check_mechanism(Elsewhere(), ["tea"], neighbours=PAIR)
    with pytest.raises(ClaimRefuted, match="costs more than it says"):
        check_mechanism(Words(Promise(PureDP(1), neighbours="replace")), ["tea"], neighbours=PAIR)
    with pytest.raises(ClaimRefuted, match="was released"):
        check_mechanism(Words(), ["tea"], neighbours=PAIR, refuses=["coffee"])
