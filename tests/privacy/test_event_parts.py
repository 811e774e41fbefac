from fractions import Fraction

import pytest

from discreet.errors import InvalidArgument
from discreet.privacy.events import (
    Batch,
    KeySelection,
    LaplaceNoise,
    Parallel,
    Promise,
    Repeated,
    Response,
    Sampled,
    Sequence,
)
from discreet.privacy.measures import ApproxDP, PureDP
from discreet.privacy.pricing.event_parts import flatten, total

NOISE = LaplaceNoise(2, 1)
OTHER = LaplaceNoise(3, 1)


def test_nesting_does_not_matter():
    nested = Repeated(Sequence([NOISE, Batch([NOISE, Repeated(OTHER, 2)])]), 5)
    parts = flatten([nested, NOISE])
    assert dict(parts.atoms) == {NOISE: 11, OTHER: 10}
    assert parts.count == 21
    assert parts.neighbours == "add-remove"
    assert flatten(parts) is parts


def test_boxes_leak_and_respond():
    parts = flatten(Repeated(Promise(ApproxDP(1, "0.1")), 3))
    assert dict(parts.atoms) == {Promise(PureDP(1)): 3}
    assert parts.leaks == ((Fraction(1, 10), 3),)
    assert parts.leak_sum == Fraction(3, 10)
    assert 0.271 <= parts.leak < 0.2710001
    assert parts.kept.leaks == ()
    assert parts.kept.leak == 0.0


def test_a_box_without_delta_does_not_leak():
    assert flatten(Promise(ApproxDP(1, 0))).leaks == ()


def test_keys_leak():
    parts = flatten(KeySelection(NOISE, "1e-6"))
    assert parts.atoms == ((NOISE, 1),)
    assert parts.leak_sum == Fraction(1, 10**6)


def test_one_event_on_disjoint_parts_is_that_event():
    assert flatten(Parallel([NOISE] * 9)).atoms == ((NOISE, 1),)


@pytest.mark.parametrize(
    "kept",
    [Parallel([NOISE, OTHER]), Parallel([NOISE] * 9, neighbours="replace"), Sampled(NOISE, "0.1")],
)
def test_others_stay_whole(kept):
    assert flatten(kept).atoms == ((kept, 1),)


def test_total_adds_or_gives_none():
    assert total([NOISE, OTHER], lambda e: 1 / e.scale) == Fraction(5, 6)
    assert total([NOISE, OTHER], lambda e: 1 / e.scale if e is NOISE else None) is None
    assert total(KeySelection(NOISE, "1e-6"), lambda e: 1 / e.scale) is None


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        ([], "at least one event"),
        (3, "events are expected"),
        ([NOISE, "noise"], "an event is expected"),
        ([NOISE, Response(1)], "mix 'add-remove' and 'replace'"),
    ],
)
def test_refusals(wrong, what):
    with pytest.raises(InvalidArgument, match=what):
        flatten(wrong)
