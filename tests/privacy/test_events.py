"""Events refuse what cannot have happened, and say what would work."""

from __future__ import annotations

import pytest

from discreet.errors import InvalidArgument
from discreet.privacy.events import (
    Batch,
    GaussianNoise,
    KeySelection,
    LaplaceNoise,
    OwnCurve,
    Parallel,
    Promise,
    Repeated,
    Sampled,
    Sequence,
    TruncatedGeometricNoise,
)

ONE = LaplaceNoise(1, 1)
OTHER = LaplaceNoise(1, 1, neighbours="replace")


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: LaplaceNoise(1, 1, "2/3"), "divide the sensitivity"),
        (lambda: LaplaceNoise(1, 1, -1), "divide the sensitivity"),
        (lambda: LaplaceNoise(0, 1), "scale must be greater than 0"),
        (lambda: LaplaceNoise(1, 1, neighbours="swap"), "neighbours must be"),
        (lambda: GaussianNoise(1, 1, -1), "step must be at least 0"),
        (lambda: TruncatedGeometricNoise(1, 1, 0.5, 3), "low must be a whole number"),
        (lambda: TruncatedGeometricNoise(1, 1, 3, 3), "high must be a whole number"),
        (lambda: Promise(1), "takes a measure"),
        (lambda: OwnCurve([]), "at least one point"),
        (lambda: OwnCurve([(1, 1)]), "at least one point"),
        (lambda: Sampled(ONE, 0), "rate must be"),
        (lambda: Sampled(ONE, 2), "rate must be"),
        (lambda: Sampled(OTHER, "1/2"), "add-remove"),
        (lambda: KeySelection(ONE, 0), "delta must lie"),
        (lambda: KeySelection(ONE, 1), "delta must lie"),
        (lambda: Parallel([OTHER]), "stated under 'add-remove'"),
        (lambda: Repeated("ten", 2), "an event is expected"),
        (lambda: Repeated(ONE, 0), "times must be"),
        (lambda: Sequence([]), "at least one event"),
        (lambda: Batch([ONE, OTHER]), "mix 'add-remove' and 'replace'"),
    ],
)
def test_refusals(make, word):
    with pytest.raises(InvalidArgument, match=word):
        make()


def test_relations_are_those_of_the_parts():
    assert Sampled(ONE, "1/2").neighbours == "add-remove"
    assert {
        e.neighbours
        for e in (Repeated(OTHER, 2), KeySelection(OTHER, "1/9"), Sequence([OTHER]), Batch([OTHER]))
    } == {"replace"}
    assert Parallel([ONE], neighbours="replace").neighbours == "replace"
