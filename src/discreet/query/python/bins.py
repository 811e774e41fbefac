"""Public bins of a number: equal widths, or edges that are written out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from ...arithmetic.rational import Number, positive, rational
from ...errors import InvalidArgument
from ..algebra.constant_folding import exact, fold
from ..algebra.expression import Call, Constant, Expression, Function
from ..domains.type_of import ValueType, type_of
from ..meaning.constant_times import as_second, fold_time
from .column import constant

Edge: TypeAlias = Number | date
"""Where a bin begins: a number, a date or a time."""


def bin_of(x: Expression, start: Fraction, width: Fraction) -> Expression:
    """Return in which bin of a width a number lies, counting from 0 at `start`: ⌊(x − start)/width⌋."""
    above = x if start == 0 else fold(Function.SUBTRACT, x, exact(start))
    return Call(Function.FLOOR, (fold(Function.DIVIDE, above, exact(width)),))


def lower_edge(x: Expression, start: Fraction, width: Fraction) -> Expression:
    """Name a number's bin by its lower edge.

    >>> from discreet.query.python.bins import lower_edge
    >>> from fractions import Fraction
    >>> from discreet.query.meaning.evaluate import evaluate
    >>> from discreet.query.algebra.expression import Field
    >>> from discreet.query.domains.domain import Whole
    >>> decade = lower_edge(Field("age"), Fraction(0), Fraction(10))
    >>> evaluate(decade, {"age": 39}, {"age": Whole(Fraction(1), 0, 120)})
    Fraction(30, 1)
    """
    edge = Call(Function.MULTIPLY, (bin_of(x, start, width), exact(width)))
    return edge if start == 0 else Call(Function.ADD, (edge, exact(start)))


def edge_below(x: Expression, edges: Sequence[Constant]) -> Expression:
    """Name a bin by the greatest of the edges that is at most the number or time; below the first it is NULL."""
    branches: list[Expression] = []
    for edge in reversed(edges):
        branches += [Call(Function.AT_MOST, (edge, x)), edge]
    return Call(Function.CASE, (*branches, Constant(None)))


def binned_by(
    x: Expression,
    type_: ValueType,
    width: Number | str | None,
    start: Edge | None,
    edges: Iterable[Edge] | None,
) -> Expression:
    """Name the bin of a number, date or time: of one width, of a unit such as "week", or between edges.

    Dates are cut into bins of so many days from `start` on, times into so many seconds; a unit needs no start.
    """
    if edges is not None:
        return edge_below(x, _edges(edges))
    if isinstance(width, str) and width.isalpha():
        return Call(Function.TRUNCATE, (x, Constant(width)))
    wide = positive(width if width is not None else 1, "width")
    if type_ not in ("day", "second"):
        return lower_edge(x, rational(start or 0, "start"), wide)
    if wide.denominator != 1:
        raise InvalidArgument(
            "dates are cut into whole days, times into whole seconds; or use a unit, as width='week'"
        )
    first = constant(start if start is not None else date(1970, 1, 1))
    there, back = (
        (Function.UNIX_DATE, Function.FROM_UNIX_DATE)
        if type_ == "day"
        else (Function.UNIX_SECONDS, Function.FROM_UNIX_SECONDS)
    )
    since = fold_time(there, first if type_ == "day" else as_second(first, type_of(first, {})))
    return Call(back, (lower_edge(fold_time(there, x), Fraction(since.value), wide),))  # type: ignore[union-attr,arg-type]


def _edges(edges: Iterable[Edge]) -> list[Constant]:
    known = [constant(edge) for edge in edges]
    values = [Fraction(edge.value) for edge in known if isinstance(edge.value, int | Fraction)]
    if len(values) < max(2, len(known)) or any(low >= high for low, high in pairwise(values)):
        raise InvalidArgument("edges must be at least two numbers or dates, in increasing order")
    return known
