"""Confidence level of a confidence interval: the probability with which it holds, at least.

`level` is always this probability; `beta` = 1 − level is the failure probability.
"""

from __future__ import annotations

from ..errors import InvalidArgument


def read_level(level: object) -> float:
    """Check the confidence level of an interval.

    >>> from discreet.answer.confidence import read_level
    >>> read_level(1)
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: level must lie between 0 and 1, got 1; 0.95 is usual
    """
    # A level of 1 would need an infinite interval; True is an int in Python, but no level.
    if not isinstance(level, int | float) or isinstance(level, bool) or not 0 < level < 1:
        raise InvalidArgument(f"level must lie between 0 and 1, got {level}; 0.95 is usual")
    return float(level)
