"""Literals of SQL as exact public values."""

from __future__ import annotations

import re
from datetime import date, datetime
from fractions import Fraction

from sqlglot import exp

from ...data.columns.cell import day, moment
from ..algebra.constant_folding import exact
from ..algebra.expression import Constant, Expression
from ..algebra.refusal import refusal
from ..domains.calendar import DAY_SECONDS, EPOCH
from ..domains.type_of import ValueType

NUMERAL = re.compile(r"[0-9]{0,40}(\.[0-9]{0,40})?([eE][+-]?[0-9]{1,2})?")
"""Longer numerals are beyond every grid, and a long exponent would cost more memory than there is."""


def literal(node: exp.Literal) -> Constant:
    """Read a number exactly, or text as it stands."""
    text = str(node.this)
    if node.is_string:
        return Constant(text)
    if not NUMERAL.fullmatch(text) or not any(letter.isdigit() for letter in text):
        raise refusal("a number", "it is too long or no decimal", "write one such as 12.5")
    return exact(Fraction(text))


def on_day(text: str) -> Constant:
    """Read a date such as 2024-01-31."""
    found = day(text) if len(text) == 10 else None
    if found is None:
        raise refusal("a date", "it is not written as a day", "write DATE '2024-01-31'")
    return Constant((found - EPOCH).days, "day")


def on_second(text: str) -> Constant:
    """Read a time such as 2024-01-31 12:00:00, in UTC; a bare day is its first second."""
    found = moment(text)
    if found is None or "." in text:
        raise refusal(
            "a time", "it is not written in whole seconds", "write TIMESTAMP '2024-01-31 12:00:00'"
        )
    whole = found.date() - EPOCH
    return Constant(whole.days * DAY_SECONDS + _seconds_of_day(found), "second")


def _seconds_of_day(time: datetime) -> int:
    return (
        time - datetime.combine(date(time.year, time.month, time.day), datetime.min.time())
    ).seconds


def as_type(expression: Expression, type_: ValueType | None) -> Expression:
    """Read a text literal as a date or a time where one is meant, as in joined >= '2024-01-31'."""
    if isinstance(expression, Constant) and isinstance(expression.value, str):
        if type_ == "day":
            return on_day(expression.value)
        if type_ == "second":
            return on_second(expression.value)
    return expression
