"""Public cells: a list of disjoint places that every value of an expression falls in one of, in order."""

from __future__ import annotations

from collections.abc import Iterable

from ...frozen import frozen
from ..algebra.expression import Expression
from ..domains.domain import Scalar


@frozen
class Cells:
    """The expressions that say which cell a row is in, the cells by their values, and the ends of each cell.

    `open`: every value that is no NULL is a cell; nobody lists them.
    """

    expressions: tuple[Expression, ...]
    places: tuple[tuple[Scalar, ...], ...]
    ends: tuple[tuple[Scalar, Scalar], ...]
    open: bool = False


def list_cells(of: Expression, values: Iterable[Scalar]) -> Cells:
    """Make one cell of every value.

    >>> from discreet.query.bounds.public_cells import list_cells
    >>> from discreet.query.algebra.expression import Field
    >>> list_cells(Field("region"), ["N", "S"]).places
    (('N',), ('S',))
    """
    each = tuple(values)
    return Cells((of,), tuple((value,) for value in each), tuple((value, value) for value in each))
