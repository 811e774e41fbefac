"""Intervals and units of time that a question writes out."""

from __future__ import annotations

import re

from sqlglot import exp

from ....errors import DiscreetError
from ...algebra.refusal import refusal
from ...domains.calendar import DAY_SECONDS, UNITS
from ..expression import Names, read
from ..syntax import clause_of, only

__all__ = ["interval_of", "unit_of"]

_MONTHS = {"year": 12, "quarter": 3, "month": 1}
_SECONDS = {"week": 7 * DAY_SECONDS, "day": DAY_SECONDS, "hour": 3600, "minute": 60, "second": 1}
_PIECE = re.compile(r"\s*([+-]?[0-9]{1,9})\s*([a-z]*)\s*,?", re.IGNORECASE)


def interval_of(node: exp.Expr) -> tuple[int, int]:
    """Read INTERVAL '1' DAY, '2 weeks' or '1 year 6 months' as whole months and whole seconds."""
    if isinstance(node, exp.ToDays):
        only(node, "this")
        node = exp.Interval(this=node.this, unit=exp.var("DAY"))
    only(node, "this", "unit")
    unit, text = node.args.get("unit"), _written(node.args.get("this"))
    months = seconds = place = 0
    while place < len(text) and (piece := _PIECE.match(text, place)):
        name = _singular(piece[2] or ("" if unit is None else unit.name))
        months += int(piece[1]) * _MONTHS.get(name, 0)
        seconds += int(piece[1]) * _SECONDS.get(name, 0)
        place = piece.end() if name in _MONTHS or name in _SECONDS else len(text) + 1
    if place != len(text) or not text:
        raise refusal(clause_of(node), "an interval is a whole number of a unit, written out", "write INTERVAL '7' DAY")
    return months, seconds


def _written(amount: object) -> str:
    """Return how much an interval is, as it is written; nothing if it is computed."""
    if isinstance(amount, exp.Neg) and isinstance(amount.this, exp.Literal):
        return f"-{amount.this.this}"
    return str(amount.this) if isinstance(amount, exp.Literal) else ""


def _singular(name: str) -> str:
    return name.lower().removesuffix("s")


def unit_of(node: exp.Expr, names: Names, example: str, *others: exp.Expr) -> tuple[str, tuple[exp.Expr, ...]]:
    """Return the unit of time that a function names first or last, and its other arguments.

    DATE_TRUNC(d, WEEK) is read by a grammar that expects the unit first, so it takes d for the unit.
    """
    unit, first = node.args.get("unit"), others[0]
    name = "" if unit is None else _unit(unit.name)
    turned = isinstance(first, exp.Column) and _unit(first.name) in UNITS
    if unit is not None and turned and (name not in UNITS or not _is_column(first, names)):
        return _unit(first.name), (exp.column(unit.name), *others[1:])
    if name in UNITS:
        return name, others
    raise refusal(clause_of(node), f"its unit is one of {', '.join(UNITS)}", f"write {example}")


def _is_column(node: exp.Expr, names: Names) -> bool:
    try:
        read(node, names)
    except DiscreetError:
        return False
    return True


def _unit(name: str) -> str:
    return {"isoweek": "week"}.get(_singular(name), _singular(name))
