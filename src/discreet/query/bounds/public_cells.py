"""Public cells: an ordered list of disjoint cells, fixed in advance, in which rows are counted."""

from __future__ import annotations

from collections.abc import Iterable

from ...frozen import frozen
from ..algebra.expression import Expression
from ..domains.domain import Scalar, Values


@frozen
class Cells:
    """Cells of rows, by the values of some expressions.

    A row is in the cell whose entry in `places` equals the values of `expressions` for that row; a
    row with other values is in none. `ends` has the least and the greatest value in each cell. If
    `open`, every value that is not NULL is a cell, and `places` does not list them.
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
