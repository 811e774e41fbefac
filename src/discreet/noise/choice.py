"""Choice of an index with probabilities exactly in proportion to rational weights."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import lcm
from typing import Any, cast, overload

import numpy as np

from ..arithmetic.arrays import AnyArray, Integers
from ..arithmetic.rational import Number, rational
from ..errors import InvalidArgument
from .bits import Bits, ByteWords, RandomWords, readable
from .block_draws import count_of
from .uniform import Uniform, wide

# Sums below this fit in int64.
_MAX_SUM = 1 << 63


@overload
def choice(
    weights: Sequence[Number] | AnyArray, size: None = None, *, bits: Bits | None = None
) -> int: ...
@overload
def choice(
    weights: Sequence[Number] | AnyArray, size: int, *, bits: Bits | None = None
) -> Integers: ...
def choice(
    weights: Sequence[Number] | AnyArray, size: int | None = None, *, bits: Bits | None = None
) -> int | Integers:
    """Draw an index i with probability exactly weights[i]/Σ weights.

    The weights become integers with one common denominator. A uniform integer below their sum is
    searched among the cumulated weights. A float weight is its shortest decimal.

    >>> from discreet.noise import choice
    >>> choice([0, 1, 0]), set(choice([0.1, 0, 0.2], 100)) <= {0, 2}
    (1, True)

    Guarantee: every index has exactly this probability.

    Refuses: InvalidArgument for no weights, negative ones, or a sum of 0, before any bit is drawn.

    Law: tests/noise/test_choice.py::TestChoice
    """
    cumulated = _cumulated(weights)
    count = 1 if size is None else count_of(size)
    draw = ByteWords(readable(bits))
    if isinstance(cumulated, np.ndarray):
        drawn = _draw_narrow(cumulated, count, draw)
    else:
        drawn = _draw_wide(cumulated, count, draw)
    return int(drawn[0]) if size is None else drawn


def _draw_narrow(cumulated: Integers, count: int, draw: RandomWords) -> Integers:
    units = Uniform(int(cumulated[-1])).sample(count, draw)
    return cumulated.searchsorted(units, side="right").astype(np.int64)


def _draw_wide(cumulated: list[int], count: int, draw: RandomWords) -> Integers:
    """Draw `count` indices by cumulated weights that are too wide for 64 bits."""
    drawn = np.empty(count, dtype=np.int64)
    for slot in range(count):
        unit = wide(cumulated[-1], draw)
        # Every comparison is made, whichever index it is: the time says nothing of the result.
        drawn[slot] = sum(end <= unit for end in cumulated)
    return drawn


def _cumulated(weights: Sequence[Number] | AnyArray) -> Integers | list[int]:
    """Read the weights as whole numbers and add them up; as 64-bit integers where the sum fits."""
    if np.ndim(cast("Any", weights)) != 1 or len(weights) == 0:
        raise InvalidArgument("weights must be a list of at least one number")
    exact = _whole_weights(weights)
    if min(exact) < 0:
        raise InvalidArgument("weights must be at least 0")
    ends = list(accumulate(exact))
    if ends[-1] == 0:
        raise InvalidArgument("weights must not all be 0")
    return np.array(ends, dtype=np.int64) if ends[-1] < _MAX_SUM else ends


def _whole_weights(weights: Sequence[Number] | AnyArray) -> list[int]:
    if isinstance(weights, np.ndarray) and weights.dtype.kind in "iu":
        return [int(weight) for weight in weights.tolist()]
    exact = [rational(weight, "weights") for weight in weights]
    denominators = [weight.denominator for weight in exact]
    common = lcm(*denominators)
    return [int(weight * common) for weight in exact]
