"""One column's cells as a model reads them: whole steps with a mark for NULL, or values of a public list.

What stands in an array or a data frame is read here, cell by cell; what comes from a store has been read there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...data.columns.cell import absent, key_number, moment, native, number, text, truth
from ...frozen import frozen
from ...query.domains.domain import Day, Domain, Scalar, Second, Texts, Truth, Whole

_EPOCH = date(1970, 1, 1)


@frozen(eq=False)
class Steps:
    """Ordered cells: whole steps of the column's grid; `missing` marks NULL."""

    steps: NDArray[np.int64]
    missing: NDArray[np.bool_]


@frozen(eq=False)
class Listed:
    """Cells of a public list, each a value or None."""

    values: Sequence[Scalar]


Cells: TypeAlias = Steps | Listed


def steps_of(values: Iterable[Scalar]) -> Steps:
    """Return ordered cells from whole numbers and None."""
    given = list(values)
    missing = np.fromiter((value is None for value in given), dtype=np.bool_, count=len(given))
    return Steps(np.array([0 if value is None else int(value) for value in given], dtype=np.int64), missing)


def read_cells(domain: Domain, values: Any) -> Cells:  # noqa: ANN401 an array, a series or a list
    """Read a column of an array or a data frame as its domain says; what cannot be read is NULL.

    >>> from fractions import Fraction
    >>> from discreet.learn.coding.column_cells import read_cells
    >>> from discreet.query.domains.domain import Whole
    >>> found = read_cells(Whole(Fraction(1, 2), 0, 10), [0.5, 9.0, float("nan"), "x"])
    >>> found.steps.tolist(), found.missing.tolist()
    ([1, 10, 0, 0], [False, False, True, True])
    """
    if isinstance(domain, Whole) and domain.keys is None:
        return _numbers(domain, values)
    if isinstance(domain, Day | Second):
        return steps_of(_time(domain, value) for value in values)
    return Listed([_key(domain, value) for value in (values.tolist() if hasattr(values, "tolist") else values)])


def _numbers(domain: Whole, values: Any) -> Steps:  # noqa: ANN401 an array, a series or a list
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        array = np.array([_float(value) for value in array.tolist()], dtype=np.float64)
    scaled = array.astype(np.float64) / float(domain.step)  # each cell alone: IEEE 754 division and rounding
    missing = np.isnan(scaled)
    inside = np.clip(np.rint(np.where(missing, domain.low, scaled)), domain.low, domain.high)
    return Steps(np.where(missing, 0, inside).astype(np.int64), missing)


def _float(value: object) -> float:
    found = number(value)
    return float("nan") if found is None else float(found)


def _time(domain: Day | Second, value: object) -> int | None:
    found = moment(value)
    if found is None:
        return None
    whole = (found.date() - _EPOCH).days if isinstance(domain, Day) else int(found.replace(tzinfo=UTC).timestamp())
    return min(max(whole, domain.low), domain.high)


def _key(domain: Domain, value: object) -> Scalar:
    plain = native(value)
    if absent(plain):
        return None
    match domain:
        case Truth():
            return truth(plain)
        case Texts():
            return text(plain)
        case _:
            return key_number(plain)
