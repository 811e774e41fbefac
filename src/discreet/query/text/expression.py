"""Expressions as SQL text, which the SQL reader reads back as the same expression.

If a question built in Python lists the values of a key, SQL cannot say so: the list is written as a
comment below the SQL (`shorter_lists`).

Law: tests/query/test_show.py::TestText
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from fractions import Fraction
from typing import assert_never

from ..algebra.chain import balance, leaves
from ..algebra.expression import WINDOWS, Call, Constant, Expression, Field, Function
from ..algebra.spelling import spell
from ..algebra.tree import JoinPublic, Question, Relation, inputs_of
from ..algebra.window import PEERS, WindowParts, window_parts
from ..bounds.relation_facts import columns_of
from ..domains.calendar import EPOCH
from ..domains.domain import Day, Domain, Scalar, Second, Whole
from ..domains.type_of import ValueType
from ..meaning.post_processing import types_of

PLAIN = re.compile(r"[a-z_][a-z0-9_]*")
# Keywords of some store or of the grammar; a column of such a name is written in quotes.
_KEYWORDS = """
    all alter and any as asc between by case connect_by_root create cross cube current_catalog
    current_date current_time current_timestamp current_user date desc describe distinct drop
    else end except exists false fetch for force from full glob grant group having if ilike in
    inner insert install intersect interval into is join lateral left like limit localtime
    localtimestamp lock map natural not notnull null offset on only or order outer
    partitioned_by positional qualify regexp returning revoke right rlike rollback rollup select
    session_user set summarize tablesample then time timestamp true uncache union using values
    when where window with xor
"""
RESERVED = frozenset(_KEYWORDS.split())

_INFIX = (
    *(Function.ADD, Function.SUBTRACT, Function.MULTIPLY, Function.DIVIDE),
    *(Function.EQUAL, Function.UNEQUAL, Function.LESS, Function.AT_MOST),
    *(Function.AND, Function.OR, Function.LIKE),
)
"""Functions that are written between their two arguments."""
_MIRRORED = {Function.LESS: ">", Function.AT_MOST: ">="}
_LOOSE = (Function.AND, Function.OR, Function.NOT)
_OPERATORS = (*_INFIX, Function.NOT, Function.NEGATE, Function.IS_NULL, Function.AMONG)
_WINDOW_NAMES = {
    Function.TOTAL: "SUM",
    Function.FRAME: "SUM",
    Function.LOWEST: "MIN",
    Function.HIGHEST: "MAX",
}
"""Window functions whose SQL name is not the upper case of their own."""
_MAX_PLACES = 40
"""Decimal places that the SQL reader takes (`NUMERAL`)."""


def quote(name: str) -> str:
    """Write a name, in quotes unless every store reads it plainly.

    >>> from discreet.query.text.expression import quote
    >>> quote("age"), quote("Time spent"), quote("order")
    ('age', '"Time spent"', '"order"')
    """
    if PLAIN.fullmatch(name) and name not in RESERVED:
        return name
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def expression_text(expression: Expression, names: Mapping[str, str]) -> str:
    """Write an expression; `names` are the texts of its fields.

    >>> from discreet.query.algebra.expression import Call, Constant, Field, Function
    >>> from discreet.query.text.expression import expression_text
    >>> expression_text(Call(Function.LESS, (Constant(18), Field("age"))), {"age": "p.age"})
    'p.age > 18'
    """
    match expression:
        case Field(name=name):
            return names[name]
        case Constant():
            return _constant(expression)
        case Call(function=function) if function in _INFIX:
            return _infix(expression, names)
        case Call(function=function) if function in WINDOWS:
            return _window(expression, names)
        case Call(function=function, arguments=arguments):
            texts = [expression_text(argument, names) for argument in arguments]
            return _call(function, texts, arguments)
        case _:
            assert_never(expression)


def _infix(call: Call, names: Mapping[str, str]) -> str:
    """Write an operator between its operands, with the brackets needed to read it back."""
    function = call.function
    if function in (Function.AND, Function.OR):
        conditions = leaves(function, call)
        # A chain without brackets is read back balanced, so only such a tree is written flat.
        if balance(function, conditions) == call:
            texts = [_condition(condition, names) for condition in conditions]
            return f" {function.upper()} ".join(texts)
    first, second = call.arguments
    operator = spell(function)
    # 18 < age is written as people write it: age > 18.
    if function in _MIRRORED and isinstance(first, Constant) and not isinstance(second, Constant):
        first, second = second, first
        operator = _MIRRORED[function]
    left = _operand(first, names)
    right = _operand(second, names)
    return f"{left} {operator} {right}"


def _condition(expression: Expression, names: Mapping[str, str]) -> str:
    """Write a part of a chain of AND or OR; only AND, OR and NOT need brackets in it."""
    text = expression_text(expression, names)
    if isinstance(expression, Call) and expression.function in _LOOSE:
        return f"({text})"
    return text


def _operand(expression: Expression, names: Mapping[str, str]) -> str:
    """Write an operand of an infix expression, in brackets if it has operators itself."""
    text = expression_text(expression, names)
    if isinstance(expression, Call) and expression.function in _OPERATORS:
        return f"({text})"
    return text


def _call(function: Function, texts: list[str], arguments: tuple[Expression, ...]) -> str:
    """Write a function whose arguments are written already; infix operators come from `_infix`."""
    match function:
        case Function.NOT if _is_null_test(arguments[0]):
            return f"{texts[0].removesuffix('NULL')}NOT NULL"
        case Function.NOT:
            return f"NOT {_bracket(texts[0], arguments[0])}"
        case Function.NEGATE:
            return f"-{_bracket(texts[0], arguments[0])}"
        case Function.IS_NULL:
            return f"{_bracket(texts[0], arguments[0])} IS NULL"
        case Function.AMONG:
            listed = ", ".join(texts[1:])
            return f"{_bracket(texts[0], arguments[0])} IN ({listed})"
        case Function.CASE:
            return _case(texts)
        case Function.DATE_OF:
            return f"CAST({texts[0]} AS DATE)"
        case Function.TRUNCATE:
            return f"DATE_TRUNC({texts[1]}, {texts[0]})"
        case Function.CONCAT:
            return f"({' || '.join(texts)})"
        # SQL's % has the sign of x, MODULO is never negative.
        case Function.MODULO:
            return f"PMOD({', '.join(texts)})"
        case _:
            return f"{spell(function)}({', '.join(texts)})"


def _is_null_test(expression: Expression) -> bool:
    return isinstance(expression, Call) and expression.function is Function.IS_NULL


def _case(texts: list[str]) -> str:
    branches = []
    for condition, value in zip(texts[:-1:2], texts[1::2], strict=True):
        branches.append(f"WHEN {condition} THEN {value}")
    return f"CASE {' '.join(branches)} ELSE {texts[-1]} END"


def _window(call: Call, names: Mapping[str, str]) -> str:
    """Write a window function with its OVER clause; a negative number of rows back is LEAD."""
    parts = window_parts(call)
    value = "" if parts.value is None else expression_text(parts.value, names)
    function = _WINDOW_NAMES.get(call.function, call.function.upper())
    if call.function is Function.LAG:
        back = -int(parts.ends[0] or 0)
        function = "LAG" if back >= 0 else "LEAD"
        value = f"{value}, {abs(back)}"
    over = []
    if parts.keys:
        keys = [expression_text(key, names) for key in parts.keys]
        over.append(f"PARTITION BY {', '.join(keys)}")
    if parts.order:
        items = []
        for expression, descending in parts.order:
            items.append(expression_text(expression, names) + " DESC" * descending)
        over.append(f"ORDER BY {', '.join(items)}")
    if call.function is Function.FRAME:
        over.append(_frame(parts))
    return f"{function}({value}) OVER ({' '.join(over)})"


def _frame(parts: WindowParts) -> str:
    first, last = parts.ends
    if last == PEERS:
        return "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
    return f"ROWS BETWEEN {_frame_end(first, 'PRECEDING')} AND {_frame_end(last, 'FOLLOWING')}"


def _frame_end(end: int | str | None, unbounded: str) -> str:
    if end is None:
        return f"UNBOUNDED {unbounded}"
    rows = int(end)
    if rows == 0:
        return "CURRENT ROW"
    return f"{-rows} PRECEDING" if rows < 0 else f"{rows} FOLLOWING"


def _bracket(text: str, expression: Expression) -> str:
    if isinstance(expression, Call):
        return f"({text})"
    return text


def _constant(constant: Constant) -> str:
    """Write a constant as a literal of SQL."""
    match constant.value:
        case None:
            return "NULL"
        case bool(truth):
            return str(truth).upper()
        case str(text):
            escaped = text.replace("'", "''")
            return f"'{escaped}'"
        case number if constant.time == "day":
            return f"DATE '{EPOCH + timedelta(days=int(number))}'"
        case number if constant.time == "second":
            moment = datetime(1970, 1, 1) + timedelta(seconds=int(number))
            return f"TIMESTAMP '{moment}'"
        case number:
            return _number(Fraction(number))


def _number(value: Fraction) -> str:
    """Write a number as a decimal if it is one, else as a quotient.

    Brackets keep a sign from being read together with another operator.
    """
    places = _decimal_places(value)
    if places is None:
        return f"({value.numerator} / {value.denominator})"
    digits = str(abs(int(value * 10**places)))
    if places:
        # At least one digit stays before the point: 0.05, not .05.
        padded = digits.rjust(places + 1, "0")
        digits = f"{padded[:-places]}.{padded[-places:]}"
    return f"(-{digits})" if value < 0 else digits


def _decimal_places(value: Fraction) -> int | None:
    """Return the number of decimal places of a number; None if it has more than are read."""
    for places in range(_MAX_PLACES):
        if (value * 10**places).denominator == 1:
            return places
    return None


MAX_LISTED = 20
"""Values of a key that the text lists; more are counted."""


def shorter_lists(question: Question, names: Mapping[str, str]) -> Iterator[str]:
    """Yield a comment on each key whose values the question lists itself (`keys=` in Python).

    SQL cannot say such a list: a WHERE would change which rows of a person count.
    """
    # Chosen combinations are written as a join; values of public tables are not known here.
    if question.nested is not None or _reads_public_table(question.rows):
        return
    columns = columns_of(question.rows)
    for key in question.keys:
        # Only lists of plain columns are told: all values of a function take long to list.
        if key.values is None or not isinstance(key.expression, Field):
            continue
        values = key.values
        if len(values) >= _number_of_values(columns[key.expression.name]):
            continue
        type_ = types_of(question)[key.name]
        shown = [expression_text(typed_constant(value, type_), {}) for value in values[:MAX_LISTED]]
        if len(values) > MAX_LISTED:
            shown.append(f"and {len(values) - MAX_LISTED:,} more")
        yield f"-- cells only of {names[key.name]}: {', '.join(shown)}"


def _number_of_values(domain: Domain) -> float:
    """Return the number of values in a domain; infinite for text without declared values."""
    if domain.keys is not None:
        return len(domain.keys)
    if isinstance(domain, Whole | Day | Second):
        return domain.high - domain.low + 1
    return math.inf


def _reads_public_table(rows: Relation) -> bool:
    if isinstance(rows, JoinPublic):
        return True
    return any(_reads_public_table(one) for one in inputs_of(rows))


def typed_constant(value: Scalar, type_: ValueType) -> Constant:
    """Return a key as a constant that says whether it is a day or second; NULL is neither."""
    if value is not None and type_ in ("day", "second"):
        return Constant(value, type_)
    return Constant(value)
