"""Protocol of a two-level design: which outputs belong to which option, in integers only.

A device reports an output from its option's set more often than others. A server counts, for every
option, how many reports lie in its set.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ...arithmetic.arrays import AnyArray, Flags, Integers
from ...errors import InvalidArgument
from ...frozen import frozen
from ...noise import Bits

__all__ = [
    "Design",
    "DesignSizes",
    "Flags",
    "Integers",
    "check_possible",
    "read_array",
    "read_numbers",
]


@frozen
class DesignSizes:
    """Sizes that decide price, estimate and choice of a design.

    |Y| is `outputs`, |S_v| is `inside`, |S_u ∩ S_v| is `shared`. `bits` is the size of one report.
    """

    member: str
    options: int
    outputs: int
    inside: int
    shared: int
    bits: int

    @property
    def width(self) -> int:
        """The whole bytes of one report."""
        return max(1, -(-self.bits // 8))


class Design(Protocol):
    """Outputs Y and a set S_v for every option v.

    Reports are whole numbers below |Y|. Where those are too many for 64 bits, reports are rows of
    bytes, whose bit v says that option v is named.
    """

    @property
    def facts(self) -> DesignSizes:
        """The sizes."""

    def place(self, values: Integers, inside: Flags, bits: Bits | None, /) -> AnyArray:
        """Return a uniform output of S_v where `inside`, of its complement elsewhere.

        Guarantee: the bits drawn and the work done are the same for every value and either case.
        Law: `tests/local/test_family.py::TestExactLaw`
        """

    def counts(self, reports: AnyArray, /) -> Integers:
        """Return for every option how many of the valid reports lie in its set."""

    def valid(self, reports: AnyArray, /) -> Flags:
        """Return which reports a device could have sent."""


def read_array(values: object, kind: type[np.object_] | None = None, *, axes: int = 1) -> AnyArray:
    """Read one value, or a list of values or reports, as an array.

    >>> from discreet.local.designs.design import read_array
    >>> read_array([1, 2]).tolist()
    [1, 2]

    Refuses: `InvalidArgument` for lists within lists beyond `axes`, and rows of different length.
    The message carries no value.
    Law: `tests/local/test_limits.py::test_lists_within_lists_and_ragged_ones_are_refused`
    """
    try:
        array = np.asarray(values, dtype=kind)
    except Exception:  # noqa: BLE001 NumPy's errors, or those of an object's own code
        raise InvalidArgument(
            "values must be given as one list, reports in rows of one length"
        ) from None
    if array.ndim > axes:
        raise InvalidArgument("values must be given as one list, not as lists within lists")
    return array


def read_numbers(reports: AnyArray, outputs: int) -> Flags:
    """Return which elements of an array are whole numbers below `outputs`.

    >>> import numpy as np
    >>> from discreet.local.designs.design import read_numbers
    >>> read_numbers(np.array([0, 5, -1]), 5).tolist()
    [True, False, False]

    Refuses: `InvalidArgument` for an array of anything but whole numbers.
    """
    if reports.dtype.kind not in "iu" or reports.ndim != 1:
        raise InvalidArgument(
            "reports must be a list of whole numbers, as `randomize` returns them"
        )
    return np.asarray((reports >= 0) & (reports < outputs))


def check_possible(possible: Flags, *, least: int = 0) -> None:
    """Refuse reports that no device could have sent, and fewer reports than `least`.

    >>> import numpy as np
    >>> from discreet.local.designs.design import check_possible
    >>> check_possible(np.array([True, False]))
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: 1 of 2 reports could not come from a device; keep reports[valid(reports)] only
    """
    impossible = int((~possible).sum())
    if impossible or possible.size < least:
        raise InvalidArgument(
            f"{impossible} of {possible.size} reports could not come from a device; "
            "keep reports[valid(reports)] only"
        )
