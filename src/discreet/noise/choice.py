"""Choice of an index by exact rational weights."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import lcm
from typing import Any, cast, overload

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.rational import Number, rational
from ..errors import InvalidArgument
from .bits import Bits, readable
from .block_draws import count_of
from .law import Integers
from .random_words import ByteWords, RandomWords
from .uniform import Uniform, wide

_MOST = 1 << 63


@overload
def choice(
    weights: Sequence[Number] | NDArray[Any], size: None = None, *, bits: Bits | None = None
) -> int: ...
@overload
def choice(
    weights: Sequence[Number] | NDArray[Any], size: int, *, bits: Bits | None = None
) -> Integers: ...
def choice(
    weights: Sequence[Number] | NDArray[Any], size: int | None = None, *, bits: Bits | None = None
) -> int | Integers:
    """Draw an index i with probability exactly weights[i]/Σ weights.

    The weights become integers with one common denominator; a uniform integer below their sum is placed among the
    cumulated weights. A float weight is its shortest decimal.

    >>> from discreet.noise import choice
    >>> choice([0, 1, 0]), set(choice([0.1, 0, 0.2], 100)) <= {0, 2}
    (1, True)

    Refuses no weights, negative ones, or a sum of 0, before any bit is drawn.
    """
    cumulated = _cumulated(weights)
    count = 1 if size is None else count_of(size)
    draw = ByteWords(readable(bits))
    found = (
        _few(cumulated, count, draw)
        if isinstance(cumulated, np.ndarray)
        else _vast(cumulated, count, draw)
    )
    return int(found[0]) if size is None else found


def _few(cumulated: Integers, count: int, draw: RandomWords) -> Integers:
    places = Uniform(int(cumulated[-1])).sample(count, draw)
    return cumulated.searchsorted(places, side="right").astype(np.int64)


def _vast(cumulated: list[int], count: int, draw: RandomWords) -> Integers:
    """Place integers too wide for NumPy; every comparison is made, whichever index is found."""
    places = (wide(cumulated[-1], draw) for _ in range(count))
    return np.array([sum(end <= place for end in cumulated) for place in places], dtype=np.int64)


def _cumulated(weights: Sequence[Number] | NDArray[Any]) -> Integers | list[int]:
    """Read the weights as whole numbers and add them up; as 64-bit integers where the sum fits."""
    if np.ndim(cast("Any", weights)) != 1 or len(weights) == 0:
        raise InvalidArgument("weights must be a list of at least one number")
    exact = _whole(weights)
    if min(exact) < 0:
        raise InvalidArgument("weights must be at least 0")
    ends = list(accumulate(exact))
    if ends[-1] == 0:
        raise InvalidArgument("weights must not all be 0")
    return np.array(ends, dtype=np.int64) if ends[-1] < _MOST else ends


def _whole(weights: Sequence[Number] | NDArray[Any]) -> list[int]:
    if isinstance(weights, np.ndarray) and weights.dtype.kind in "iu":
        return [int(weight) for weight in weights.tolist()]
    exact = [rational(weight, "weights") for weight in weights]
    common = lcm(*(weight.denominator for weight in exact))
    return [int(weight * common) for weight in exact]
