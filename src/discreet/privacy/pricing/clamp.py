"""Noise clamped to a public range, without the clamp."""

from __future__ import annotations

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
    """Return an event at least as bad as this one in which no noise is clamped, moved no further than it can be here.

    Clamping is post-processing. One clamped answer moves by at most its range, however many units change; answers to
    the same question on several disjoint parts may each move by that much. So before several steps are merged into
    one long step of one answer the clamp, and with it the bound on the long step, has to go.

    >>> from discreet.privacy import TruncatedGeometricNoise
    >>> from discreet.privacy.pricing.clamp import unclamped
    >>> unclamped(TruncatedGeometricNoise(scale=2, sensitivity=5, low=0, high=3)).sensitivity
    3
    """
    match event:
        case TruncatedGeometricNoise():
            moved = min(event.sensitivity, event.high - event.low)
            return DiscreteLaplaceNoise(event.scale, moved, neighbours=event.neighbours)
        case Repeated():
            return Repeated(unclamped(event.event), event.times)
        case Sequence() | Batch():
            return type(event)(map(unclamped, event.events))
        case KeySelection():
            return KeySelection(unclamped(event.noise), event.delta)
        case Parallel():
            return Parallel(map(unclamped, event.parts), neighbours=event.neighbours)
    return event  # a sample has no long steps: a group is known only by its promise
