"""Intervals and units of time that a question writes out."""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp

from ...algebra.refusal import refusal
from ...domains.calendar import DAY_SECONDS, UNITS
from ..syntax import clause_of, only

_MONTHS = {"year": 12, "quarter": 3, "month": 1}
_SECONDS = {"week": 7 * DAY_SECONDS, "day": DAY_SECONDS, "hour": 3600, "minute": 60, "second": 1}
_PIECE = re.compile(r"\s*([+-]?[0-9]{1,9})\s*([a-z]*)\s*,?", re.IGNORECASE)


def interval_of(node: exp.Expr) -> tuple[int, int]:
    """Read INTERVAL '1' DAY, '2 weeks' or '1 year 6 months' as whole months and whole seconds."""
    if isinstance(node, exp.ToDays):
        only(node, "this")
        node = exp.Interval(this=node.this, unit=exp.var("DAY"))
    only(node, "this", "unit")
    unit, text = node.args.get("unit"), _amount_text(node.args.get("this"))
    months = seconds = place = 0
    while place < len(text) and (piece := _PIECE.match(text, place)):
        name = _singular(piece[2] or ("" if unit is None else unit.name))
        months += int(piece[1]) * _MONTHS.get(name, 0)
        seconds += int(piece[1]) * _SECONDS.get(name, 0)
        place = piece.end() if name in _MONTHS or name in _SECONDS else len(text) + 1
    if place != len(text) or not text:
        raise refusal(
            clause_of(node),
            "an interval is a whole number of a unit, written out",
            "write INTERVAL '7' DAY",
        )
    return months, seconds


def _amount_text(amount: object) -> str:
    """Return how much an interval is, as it is written; nothing if it is computed."""
    if isinstance(amount, exp.Neg) and isinstance(amount.this, exp.Literal):
        return f"-{amount.this.this}"
    return str(amount.this) if isinstance(amount, exp.Literal) else ""


def _singular(name: str) -> str:
    return name.lower().removesuffix("s")


def settle_units(node: exp.Expr, known: Callable[[str], bool]) -> None:
    """Put the unit of DATE_TRUNC(d, MONTH) and DATE_DIFF(a, b, DAY), which comes last there, where the grammar has it.

    The grammar expects the unit first, so it takes d for the unit. `known` tells which names are columns: of
    DATE_TRUNC(day, MONTH) the column is whichever of both there is.
    """
    for call in node.find_all(exp.TimestampTrunc, exp.DateTrunc, exp.DateDiff, exp.TimestampDiff):
        unit, last = call.args.get("unit"), _last_unit(call.this)
        if unit is None or last is None:
            continue
        word = isinstance(unit, exp.Var) and (_unit(unit.name) in UNITS or not known(unit.name))
        if word and known(call.this.name):
            continue
        call.set("this", _as_time(unit))
        call.set("unit", exp.var(last))


def _as_time(unit: exp.Expr) -> exp.Expr:
    """Return what the grammar took for a unit: a column, text that is written out, or an expression."""
    if not isinstance(unit, exp.Var):
        return unit
    return exp.column(unit.name) if unit.name.isidentifier() else exp.Literal.string(unit.name)


def _last_unit(node: exp.Expr) -> str | None:
    """Return the unit that stands where a time should: MONTH, ISOWEEK, WEEK(MONDAY); None if none does."""
    if isinstance(node, exp.Week) and node.this.name.upper() == "MONDAY":
        return "week"
    plain = isinstance(node, exp.Column) and node.args.get("table") is None
    return _unit(node.name) if plain and _unit(node.name) in UNITS else None


def unit_of(node: exp.Expr, example: str) -> str:
    """Return the unit of time that a function names."""
    unit = node.args.get("unit")
    name = "" if unit is None else _unit(unit.name)
    if name not in UNITS:
        raise refusal(clause_of(node), f"its unit is one of {', '.join(UNITS)}", f"write {example}")
    return name


def _unit(name: str) -> str:
    return {"isoweek": "week"}.get(_singular(name), _singular(name))
