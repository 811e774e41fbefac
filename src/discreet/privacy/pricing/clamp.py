"""Removal of clamping from events of noise that is clamped to a public range.

The event without a clamp costs no less, since clamping is post-processing. It is needed where the
bound that the range sets on one answer does not hold: for several answers, or a group of units.
"""

from __future__ import annotations

from collections import Counter

from ..events import (
    Batch,
    DiscreteLaplaceNoise,
    Event,
    KeySelection,
    Parallel,
    Repeated,
    Sequence,
    TruncatedGeometricNoise,
)


def unclamped(event: Event) -> Event:
    """Return an event without clamping that is at least as bad, and moves no further than this one.

    Clamping is post-processing. One clamped answer moves by at most its range, however many units
    change. Answers to the same question on several disjoint parts may each move by that much. So
    the clamp is removed before several steps are merged into one long step of one answer: its bound
    does not hold for the long step.

    >>> from discreet.privacy import TruncatedGeometricNoise
    >>> from discreet.privacy.pricing.clamp import unclamped
    >>> unclamped(TruncatedGeometricNoise(scale=2, sensitivity=5, low=0, high=3)).sensitivity
    3

    Law: tests/privacy/test_clamp.py::TestTwoClampedPartsMoveTwice
    """
    match event:
        case TruncatedGeometricNoise():
            return DiscreteLaplaceNoise(event.scale, event.shift, neighbours=event.neighbours)
        case Repeated():
            return Repeated(unclamped(event.event), event.times)
        case Sequence() | Batch():
            return type(event)(map(unclamped, event.events))
        case KeySelection():
            return KeySelection(unclamped(event.noise), event.delta)
        case Parallel():
            return Parallel(map(unclamped, event.parts), neighbours=event.neighbours)
    # A sample has no long steps: a group is known only by its promise.
    return event


def unclamped_twins(parts: tuple[Event, ...]) -> list[Event]:
    """Return the parts, without clamps where a part occurs more than once.

    One answer moves by its range at most, two of them by that each.
    """
    occurrences = Counter(parts)
    freed = list[Event]()
    for part in parts:
        occurs_twice = occurrences[part] > 1
        freed.append(unclamped(part) if occurs_twice else part)
    return freed
