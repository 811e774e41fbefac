"""Public cells: an ordered list of disjoint cells; every value of an expression is in one."""

from __future__ import annotations

from collections.abc import Iterable

from ...frozen import frozen
from ..algebra.expression import Expression
from ..domains.domain import Scalar, Values


@frozen
class Cells:
    """Expressions that tell a row's cell, the cells by their values, and the ends of each cell.

    `open`: every value that is not NULL is a cell, and nobody lists them.
    """

    expressions: tuple[Expression, ...]
    places: tuple[Values, ...]
    ends: tuple[tuple[Scalar, Scalar], ...]
    open: bool = False


def list_cells(of: Expression, values: Iterable[Scalar]) -> Cells:
    """Make one cell of every value.

    >>> from discreet.query.bounds.public_cells import list_cells
    >>> from discreet.query.algebra.expression import Field
    >>> list_cells(Field("region"), ["N", "S"]).places
    (('N',), ('S',))
    """
    listed = tuple(values)
    places = tuple((value,) for value in listed)
    ends = tuple((value, value) for value in listed)
    return Cells((of,), places, ends)
