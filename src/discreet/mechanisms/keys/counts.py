"""Counts of unknown keys: readers, and the answer of a threshold mechanism (partition selection).

The order of the shown keys does not depend on the order of the data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from fractions import Fraction

import numpy as np

from ...arithmetic.arrays import Integers
from ...arithmetic.rational import Number, rational, whole
from ...arithmetic.rounding import down
from ...errors import InvalidArgument
from ...frozen import field, frozen
from ..laws.error_bound import brief

# Near 1e-308 floats lose digits, and rounding down would no longer be safe.
_MIN_DELTA = 1e-300
# Counts below 2^62 and noise below 2^62 have a sum that fits in int64.
_MAX_COUNT = 1 << 62


@frozen
class KeyCounts:
    """Keys that reached the threshold, by type and printed form, with their noisy counts.

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
        noisy: Integers,
        threshold: int,
        error: Callable[[Number], float],
    ) -> KeyCounts:
        """Return the keys whose noisy count reaches the threshold, in a data-independent order."""
        kept = []
        for key, count in zip(keys, noisy, strict=True):
            if count >= threshold:
                kept.append((key, int(count)))
        ordered = public_order(kept)
        shown_keys = tuple(key for key, _ in ordered)
        shown_counts = tuple(count for _, count in ordered)
        return cls(shown_keys, shown_counts, error)

    def interval(self, beta: Number = 0.05) -> tuple[tuple[float, float], ...]:
        """Return a confidence interval (low, high) per key shown.

        For each key of the data, a wrong interval is shown with probability ≤ β. The bound is on
        the noise before selection: among the shown keys of small count, which are there because
        their noise was large, wrong intervals are more frequent than β.
        """
        reach = self.error(beta)
        intervals = []
        for count in self.counts:
            # A key that is shown is held by at least one person.
            low = max(1.0, count - reach)
            intervals.append((low, count + reach))
        return tuple(intervals)

    def items(self) -> Iterator[tuple[Hashable, int]]:
        """Return each key with its noisy count."""
        return iter(zip(self.keys, self.counts, strict=True))


def public_order(kept: Iterable[tuple[Hashable, int]]) -> list[tuple[Hashable, int]]:
    """Sort keys (with their counts) by type and printed form.

    A dict keeps the order of insertion, which the answer must not reveal.
    """

    def printed(pair: tuple[Hashable, int]) -> tuple[str, str]:
        key = pair[0]
        return type(key).__name__, repr(key)

    return sorted(kept, key=printed)


def read_counts(counts: Mapping[Hashable, int]) -> tuple[list[Hashable], Integers]:
    """Read how many people hold each key; a key that nobody holds is dropped.

    >>> from discreet.mechanisms.keys.counts import read_counts
    >>> read_counts({"a": 2, "b": 0})
    (['a'], array([2]))

    Refuses: anything but a mapping, and counts that are not whole numbers below 2^62
    (InvalidArgument); the message shows no key and no count.
    """
    if not isinstance(counts, Mapping):
        raise InvalidArgument(
            "counts must be a mapping from each key to the number of people who hold it"
        )
    if not all(_is_count(count) for count in counts.values()):
        raise InvalidArgument("every count must be a whole number of people below 2**62")
    held = {key: int(count) for key, count in counts.items() if count > 0}
    return list(held), np.array(list(held.values()), dtype=np.int64)


def _is_count(count: object) -> bool:
    if isinstance(count, bool) or not isinstance(count, int | np.integer):
        return False
    return bool(count < _MAX_COUNT)


def read_threshold_rule(delta: Number, max_groups: int) -> dict[str, Fraction | int]:
    """Read the parameters that all thresholds share beside their noise, by the names of fields.

    Refuses: δ outside (0, 1), or too small for floats, and K below 1 (InvalidArgument).
    """
    exact = rational(delta, "delta")
    keys = whole(max_groups, "max_groups", least=1)
    # Called for its refusals, before any key is read.
    per_key_delta(exact, keys)
    return {"delta": exact, "max_groups": keys}


def per_key_delta(delta: Fraction, max_groups: int) -> float:
    """Return the chance for each of K keys that makes δ the chance that any of them is shown.

    The noises are independent, so it is 1 − (1 − δ)^(1/K), rounded down.

    >>> from discreet.mechanisms.keys.counts import per_key_delta
    >>> from fractions import Fraction
    >>> 4.99e-7 < per_key_delta(Fraction(1, 10**6), 2) < 5.01e-7
    True

    Refuses: δ outside (0, 1), and one so small that floats cannot tell it from 0 (InvalidArgument).
    Law: tests/mechanisms/test_threshold.py::test_per_key_chances_make_delta
    """
    if not 0 < delta < 1:
        raise InvalidArgument(
            f"delta must lie between 0 and 1, got {brief(delta)}; it should be far below 1/n"
        )
    log_hidden = math.log1p(-float(delta)) / max_groups
    # Rounded down: a smaller δ for each key asks for a higher threshold.
    key_delta = down(-math.expm1(log_hidden))
    if key_delta < _MIN_DELTA:
        raise InvalidArgument(
            "delta must be at least 1e-300 for each key; a smaller one protects no better"
        )
    return key_delta
