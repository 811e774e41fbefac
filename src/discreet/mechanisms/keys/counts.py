"""Keys that were shown, with their noisy counts; in an order that tells nothing of the data."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ...arithmetic.rational import Number, rational, whole
from ...arithmetic.rounding import down
from ...errors import InvalidArgument
from ...frozen import field, frozen
from ..laws.error_bound import brief

_LEAST = 1e-300


@frozen
class KeyCounts:
    """The keys that reached the threshold, in the order of their printed form, and their noisy counts.

    >>> import numpy as np
    >>> from discreet.mechanisms.keys.counts import KeyCounts
    >>> shown = KeyCounts.above(["b", "a"], np.array([7, 9]), 8, lambda beta: 3.0)
    >>> dict(shown.items()), shown.interval()
    ({'a': 9}, ((6.0, 12.0),))
    """

    keys: tuple[Hashable, ...]
    counts: tuple[int, ...]
    error: Callable[[Number], float] = field(repr=False, compare=False)

    @classmethod
    def above(
        cls,
        keys: list[Hashable],
        noisy: NDArray[np.int64],
        threshold: int,
        error: Callable[[Number], float],
    ) -> KeyCounts:
        """Keep what reaches the threshold, in an order that does not depend on the data's."""
        kept = public_order(
            (key, int(count)) for key, count in zip(keys, noisy, strict=True) if count >= threshold
        )
        return cls(tuple(key for key, _ in kept), tuple(count for _, count in kept), error)

    def interval(self, beta: Number = 0.05) -> tuple[tuple[float, float], ...]:
        """Return (low, high) per key shown; for each key of the data, a wrong interval is shown with probability ≤ β.

        The bound is on the noise before selection: among the shown keys of small count, which are there because their
        noise was large, wrong ones are more frequent than β.
        """
        reach = self.error(beta)
        return tuple((max(1.0, count - reach), count + reach) for count in self.counts)

    def items(self) -> Iterator[tuple[Hashable, int]]:
        """Return each key with its noisy count."""
        return iter(zip(self.keys, self.counts, strict=True))


def public_order(kept: Iterator[tuple[Hashable, int]]) -> list[tuple[Hashable, int]]:
    """Sort by type and printed form: a dict remembers who came first, the answer must not."""
    return sorted(kept, key=lambda pair: (type(pair[0]).__name__, repr(pair[0])))


def read_counts(counts: Mapping[Hashable, int]) -> tuple[list[Hashable], NDArray[np.int64]]:
    """Read how many people hold each key; a key that nobody holds is not there.

    >>> from discreet.mechanisms.keys.counts import read_counts
    >>> read_counts({"a": 2, "b": 0})
    (['a'], array([2]))

    Refuses what is no mapping and counts that are not whole numbers of 62 bits; the message carries none of them.
    """
    if not isinstance(counts, Mapping):
        raise InvalidArgument(
            "counts must be a mapping from each key to the number of people who hold it"
        )
    sound = all(
        isinstance(c, int | np.integer) and not isinstance(c, bool) and c < 1 << 62
        for c in counts.values()
    )
    if not sound:
        raise InvalidArgument("every count must be a whole number of people below 2**62")
    held = [(key, int(count)) for key, count in counts.items() if count > 0]
    return [key for key, _ in held], np.array([count for _, count in held], dtype=np.int64)


def read_rule(delta: Number, max_groups: int) -> dict[str, Fraction | int]:
    """Read what every threshold is told beside its noise, by the names of its fields.

    Refuses δ outside (0, 1), or too small for floats, and K below 1.
    """
    chance, most = rational(delta, "delta"), whole(max_groups, "max_groups", least=1)
    per_key(chance, most)
    return {"delta": chance, "max_groups": most}


def per_key(delta: Fraction, max_groups: int) -> float:
    """Return 1 − (1 − δ)^(1/K), rounded down: the chance of each of K keys, that makes δ for at least one of them.

    >>> from discreet.mechanisms.keys.counts import per_key
    >>> from fractions import Fraction
    >>> 4.99e-7 < per_key(Fraction(1, 10**6), 2) < 5.01e-7
    True

    Refuses δ outside (0, 1), and one so small that floats cannot tell it from 0.
    """
    if not 0 < delta < 1:
        raise InvalidArgument(
            f"delta must lie between 0 and 1, got {brief(delta)}; it should be far below 1/n"
        )
    chance = down(-math.expm1(math.log1p(-float(delta)) / max_groups))
    if chance < _LEAST:
        raise InvalidArgument(
            "delta must be at least 1e-300 for each key; a smaller one protects no better"
        )
    return chance
