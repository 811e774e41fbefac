"""Intervals and units of time that a question writes out."""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp

from ...algebra.refusal import refusal
from ...domains.calendar import DAY_SECONDS, UNITS
from ..syntax import clause_of, only

_MONTHS = {"year": 12, "quarter": 3, "month": 1}
"""Months of the units whose length in seconds varies."""
_SECONDS = {"week": 7 * DAY_SECONDS, "day": DAY_SECONDS, "hour": 3600, "minute": 60, "second": 1}
"""Seconds of the other units; nine digits of the longest fit into 64 bits."""
_AMOUNT = re.compile(r"\s*([+-]?[0-9]{1,9})\s*([a-z]*)\s*,?", re.IGNORECASE)


def interval_of(node: exp.Expr) -> tuple[int, int]:
    """Read INTERVAL '1' DAY, '2 weeks' or '1 year 6 months' as whole months and seconds."""
    if isinstance(node, exp.ToDays):
        only(node, "this")
        node = exp.Interval(this=node.this, unit=exp.var("DAY"))
    only(node, "this", "unit")
    text = _amount_text(node.args.get("this"))
    unit = node.args.get("unit")
    default_unit = "" if unit is None else unit.name
    months = 0
    seconds = 0
    position = 0
    while position < len(text):
        amount = _AMOUNT.match(text, position)
        if amount is None:
            break
        number = int(amount[1])
        name = _singular(amount[2] or default_unit)
        if name in _MONTHS:
            months += number * _MONTHS[name]
        elif name in _SECONDS:
            seconds += number * _SECONDS[name]
        else:
            break
        position = amount.end()
    # Text that is left over was not understood, so nothing of it may count.
    if position != len(text) or not text:
        raise refusal(
            clause_of(node),
            "an interval is a whole number of a unit, written out",
            "write INTERVAL '7' DAY",
        )
    return months, seconds


def _amount_text(amount: object) -> str:
    """Return the amount of an interval as it is written; empty if it is computed."""
    if isinstance(amount, exp.Neg) and isinstance(amount.this, exp.Literal):
        return f"-{amount.this.this}"
    return str(amount.this) if isinstance(amount, exp.Literal) else ""


def _singular(name: str) -> str:
    return name.lower().removesuffix("s")


def settle_units(node: exp.Expr, is_column: Callable[[str], bool]) -> None:
    """Move the unit of DATE_TRUNC(d, MONTH) and DATE_DIFF(a, b, DAY) to its usual place.

    Some dialects write the unit last. The grammar expects it first, so it takes d for the unit.
    `is_column` tells which names are columns: of DATE_TRUNC(day, MONTH) the column is whichever
    of both there is.
    """
    for call in node.find_all(exp.TimestampTrunc, exp.DateTrunc, exp.DateDiff, exp.TimestampDiff):
        unit = call.args.get("unit")
        last = _unit_in_place_of_time(call.this)
        if unit is None or last is None:
            continue
        # DATE_TRUNC('month', day) is in the usual order, where day is a column.
        can_be_unit = isinstance(unit, exp.Var) and (
            _unit(unit.name) in UNITS or not is_column(unit.name)
        )
        if can_be_unit and is_column(call.this.name):
            continue
        call.set("this", _as_time(unit))
        call.set("unit", exp.var(last))


def _as_time(unit: exp.Expr) -> exp.Expr:
    """Return the time that the grammar took for a unit.

    It is a column, text that is written out, or an expression.
    """
    if not isinstance(unit, exp.Var):
        return unit
    if unit.name.isidentifier():
        return exp.column(unit.name)
    return exp.Literal.string(unit.name)


def _unit_in_place_of_time(node: exp.Expr) -> str | None:
    """Return the unit in the place of a time: MONTH, ISOWEEK, WEEK(MONDAY); else None."""
    if isinstance(node, exp.Week) and node.this.name.upper() == "MONDAY":
        return "week"
    if not isinstance(node, exp.Column) or node.args.get("table") is not None:
        return None
    unit = _unit(node.name)
    return unit if unit in UNITS else None


def unit_of(node: exp.Expr, example: str) -> str:
    """Return the unit of time that a function names."""
    argument = node.args.get("unit")
    unit = "" if argument is None else _unit(argument.name)
    if unit not in UNITS:
        raise refusal(clause_of(node), f"its unit is one of {', '.join(UNITS)}", f"write {example}")
    return unit


def _unit(name: str) -> str:
    singular = _singular(name)
    return "week" if singular == "isoweek" else singular
