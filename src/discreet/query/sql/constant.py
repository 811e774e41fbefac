"""Literals of SQL as exact public constants."""

from __future__ import annotations

import re
from fractions import Fraction

from sqlglot import exp

from ...data.columns.cell import read_date, read_timestamp
from ..algebra.constant_folding import exact
from ..algebra.expression import Constant, Expression
from ..algebra.refusal import refusal
from ..domains.calendar import DAY_SECONDS, EPOCH
from ..domains.type_of import ValueType

# Longer numerals are beyond every grid, and a long exponent would need unbounded memory.
NUMERAL = re.compile(r"[0-9]{0,40}(\.[0-9]{0,40})?([eE][+-]?[0-9]{1,2})?")
_TRUTHS: dict[object, bool] = {1: True, 0: False, "true": True, "false": False}
"""Truths as they are written beside a condition or a Boolean column."""


def literal(node: exp.Literal) -> Constant:
    """Read a number exactly, or text as it stands."""
    text = str(node.this)
    if node.is_string:
        return Constant(text)
    if not NUMERAL.fullmatch(text) or not any(letter.isdigit() for letter in text):
        raise refusal("a number", "it is too long or no decimal", "write one such as 12.5")
    return exact(Fraction(text))


def day_constant(text: str) -> Constant:
    """Read a date such as 2024-01-31."""
    # The day's parser takes times too; ten characters are a date and no more.
    date = read_date(text) if len(text) == 10 else None
    if date is None:
        raise refusal("a date", "it is not written as a day", "write DATE '2024-01-31'")
    return Constant((date - EPOCH).days, "day")


def second_constant(text: str) -> Constant:
    """Read a time such as 2024-01-31 12:00:00, in UTC; a bare day is its first second."""
    time = read_timestamp(text)
    if time is None or "." in text:
        raise refusal(
            "a time", "it is not written in whole seconds", "write TIMESTAMP '2024-01-31 12:00:00'"
        )
    days = (time.date() - EPOCH).days
    clock = time.hour * 3600 + time.minute * 60 + time.second
    return Constant(days * DAY_SECONDS + clock, "second")


def as_type(expression: Expression, type_: ValueType | None) -> Expression:
    """Read a literal as a date, time, number or truth where one is meant.

    So joined >= '2024-01-31' compares days, age > '30' numbers, and married = 1 truths; other
    literals stay what they are.
    """
    if type_ == "truth":
        return _truth_in_literal(expression)
    if isinstance(expression, Constant) and isinstance(expression.value, str):
        if type_ == "day":
            return day_constant(expression.value)
        if type_ == "second":
            return second_constant(expression.value)
        if type_ == "number":
            return _number_in_text(expression)
    return expression


def _truth_in_literal(expression: Expression) -> Expression:
    """Read 1, 0, 'true' and 'false' beside a truth as such, as stores do; others stay."""
    if not isinstance(expression, Constant) or expression.time is not None:
        return expression
    written = expression.value
    if isinstance(written, str):
        return Constant(_TRUTHS.get(written.lower(), written))
    # True equals 1 in Python, so a truth is looked up as itself.
    return Constant(_TRUTHS.get(written, written))


def _number_in_text(text: Constant) -> Constant:
    """Read text that is a numeral, perhaps with a sign, as its number; other text stays text."""
    written = str(text.value).strip()
    numeral = written.removeprefix("-")
    if numeral == written:
        numeral = written.removeprefix("+")
    if not NUMERAL.fullmatch(numeral) or not any(letter.isdigit() for letter in numeral):
        return text
    return exact(Fraction(written))
