"""Public bins of a number: equal widths, or edges that are written out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from ...arithmetic.rational import Number, positive, rational
from ...errors import InvalidArgument
from ..algebra.constant_folding import lower_edge
from ..algebra.expression import Constant, Expression, Function, call_of
from ..domains.type_of import ValueType, type_of
from ..meaning.constant_times import as_second, fold_time
from .column import constant

Edge: TypeAlias = Number | date
"""Lower edge of a bin: a number, a date or a time."""


def edge_below(x: Expression, edges: Sequence[Constant]) -> Expression:
    """Return the expression for the greatest edge that is at most x; NULL below the first edge."""
    branches: list[Expression] = []
    # The first condition of CASE that holds decides, so the greatest edge is tried first.
    for edge in reversed(edges):
        branches += [call_of(Function.AT_MOST, edge, x), edge]
    return call_of(Function.CASE, *branches, Constant(None))


def binned_by(
    x: Expression,
    type_: ValueType,
    width: Number | str | None,
    start: Edge | None,
    edges: Iterable[Edge] | None,
) -> Expression:
    """Return the expression for the lower edge of the bin of a number, date or time.

    `type_` is the type of `x`. A bin begins at each of `edges`, and the last one has no upper end;
    or bins have one `width`, counted from `start` up and down. For dates the width is in days, for
    times in seconds; or it is a unit such as "week", without a start.

    Refuses: with `InvalidArgument` parts of a day or second as width, and edges that do not
    increase.
    """
    if edges is not None:
        return edge_below(x, _read_edges(edges))
    if isinstance(width, str) and width.isalpha():
        return call_of(Function.TRUNCATE, x, Constant(width))
    exact_width = positive(width if width is not None else 1, "width")
    if type_ not in ("day", "second"):
        return lower_edge(x, rational(start or 0, "start"), exact_width)
    if exact_width.denominator != 1:
        raise InvalidArgument(
            "dates are cut into whole days, times into whole seconds; "
            "or use a unit, as width='week'"
        )
    return _time_edge(x, type_, exact_width, start)


def _time_edge(x: Expression, type_: ValueType, width: Fraction, start: Edge | None) -> Expression:
    """Return the start of the bin of a date or time, computed in days or seconds since 1970."""
    first = constant(start if start is not None else date(1970, 1, 1))
    if type_ == "day":
        to_number = Function.UNIX_DATE
        to_time = Function.FROM_UNIX_DATE
    else:
        to_number = Function.UNIX_SECONDS
        to_time = Function.FROM_UNIX_SECONDS
        # A date as the start of times means its first second.
        first = as_second(first, type_of(first, {}))  # type: ignore[assignment]
    since = fold_time(to_number, first)
    number = fold_time(to_number, x)
    edge = lower_edge(number, Fraction(since.value), width)  # type: ignore[union-attr,arg-type]
    return call_of(to_time, edge)


def _read_edges(edges: Iterable[Edge]) -> list[Constant]:
    constants = [constant(edge) for edge in edges]
    values = []
    for edge in constants:
        if isinstance(edge.value, int | Fraction):
            values.append(Fraction(edge.value))
    increasing = all(low < high for low, high in pairwise(values))
    if len(values) < max(2, len(constants)) or not increasing:
        raise InvalidArgument("edges must be at least two numbers or dates, in increasing order")
    return constants
