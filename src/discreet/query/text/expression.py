"""Expressions as SQL text, which `sql` reads back as the same expression."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from fractions import Fraction
from typing import assert_never

from ..algebra.chain import balance, leaves
from ..algebra.expression import Call, Constant, Expression, Field, Function
from ..algebra.spelling import spell
from ..domains.calendar import EPOCH

PLAIN = re.compile(r"[a-z_][a-z0-9_]*")
_WORDS = (
    "all alter and any as asc between by case connect_by_root create cross cube current_catalog current_date "
    "current_time current_timestamp current_user date desc describe distinct drop else end except exists false fetch "
    "for force from full glob grant group having if ilike in inner insert install intersect interval into is join "
    "lateral left like limit localtime localtimestamp lock map natural not notnull null offset on only or order outer "
    "partitioned_by positional qualify regexp returning revoke right rlike rollback rollup select session_user set "
    "summarize tablesample then time timestamp true uncache union using values when where window with xor"
)
RESERVED = frozenset(_WORDS.split())

_INFIX = {
    Function.ADD: "+",
    Function.SUBTRACT: "-",
    Function.MULTIPLY: "*",
    Function.DIVIDE: "/",
    Function.EQUAL: "=",
    Function.UNEQUAL: "<>",
    Function.LESS: "<",
    Function.AT_MOST: "<=",
    Function.AND: "AND",
    Function.OR: "OR",
    Function.LIKE: "LIKE",
}
_MIRRORED = {Function.LESS: ">", Function.AT_MOST: ">="}


def quote(name: str) -> str:
    """Write a name, in quotes unless every store reads it plainly.

    >>> from discreet.query.text.expression import quote
    >>> quote("age"), quote("Time spent"), quote("order")
    ('age', '"Time spent"', '"order"')
    """
    return (
        name
        if PLAIN.fullmatch(name) and name not in RESERVED
        else '"' + name.replace('"', '""') + '"'
    )


def expression_text(expression: Expression, names: Mapping[str, str]) -> str:
    """Write an expression; `names` says how each field is written.

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
        case Call(function=function, arguments=arguments) if function in _INFIX:
            return _infix(expression, function, arguments, names)
        case Call(function=function, arguments=arguments):
            return _call(function, [expression_text(a, names) for a in arguments], arguments)
        case _:
            assert_never(expression)


def _infix(
    call: Call, function: Function, arguments: tuple[Expression, ...], names: Mapping[str, str]
) -> str:
    if function in (Function.AND, Function.OR):
        parts = leaves(function, call)
        if balance(function, parts) == call:
            return f" {function.upper()} ".join(_condition(part, names) for part in parts)
    first, second = arguments
    if function in _MIRRORED and isinstance(first, Constant) and not isinstance(second, Constant):
        return f"{_operand(second, names)} {_MIRRORED[function]} {_operand(first, names)}"
    return f"{_operand(first, names)} {_INFIX[function]} {_operand(second, names)}"


def _condition(expression: Expression, names: Mapping[str, str]) -> str:
    """Write a part of a chain of AND or OR; only these bind as loosely."""
    text = expression_text(expression, names)
    loose = isinstance(expression, Call) and expression.function in (
        Function.AND,
        Function.OR,
        Function.NOT,
    )
    return f"({text})" if loose else text


def _operand(expression: Expression, names: Mapping[str, str]) -> str:
    """Write a part of an infix expression, in brackets unless it is a name, a call or a plain constant."""
    text = expression_text(expression, names)
    bare = isinstance(expression, Field | Constant) or expression.function not in (
        *_INFIX,
        *(Function.NOT, Function.NEGATE, Function.IS_NULL, Function.AMONG),
    )
    return text if bare else f"({text})"


def _call(function: Function, texts: list[str], arguments: tuple[Expression, ...]) -> str:
    match function:
        case Function.NOT:
            return f"NOT {_bracket(texts[0], arguments[0])}"
        case Function.NEGATE:
            return f"-{_bracket(texts[0], arguments[0])}"
        case Function.IS_NULL:
            return f"{_bracket(texts[0], arguments[0])} IS NULL"
        case Function.AMONG:
            return f"{_bracket(texts[0], arguments[0])} IN ({', '.join(texts[1:])})"
        case Function.CASE:
            pairs = zip(texts[:-1:2], texts[1::2], strict=True)
            return f"CASE {' '.join(f'WHEN {test} THEN {value}' for test, value in pairs)} ELSE {texts[-1]} END"
        case Function.DATE_OF:
            return f"CAST({texts[0]} AS DATE)"
        case Function.TRUNCATE:
            return f"DATE_TRUNC({texts[1]}, {texts[0]})"
        case Function.CONCAT:
            return f"({' || '.join(texts)})"
        case Function.TOTAL:
            return f"SUM({texts[0]}) OVER ({_partition(texts[1:])})"
        case Function.LAG:
            back = int(str(arguments[1].value)) if isinstance(arguments[1], Constant) else 1
            order = f"ORDER BY {texts[2]}{' DESC' if arguments[3] == Constant(True) else ''}"
            within = " ".join(part for part in (_partition(texts[4:]), order) if part)
            return f"{'LAG' if back >= 0 else 'LEAD'}({texts[0]}, {abs(back)}) OVER ({within})"
        case Function.MODULO:
            return f"PMOD({', '.join(texts)})"
        case _:
            return f"{spell(function)}({', '.join(texts)})"


def _partition(keys: list[str]) -> str:
    return f"PARTITION BY {', '.join(keys)}" if keys else ""


def _bracket(text: str, expression: Expression) -> str:
    return text if isinstance(expression, Field | Constant) else f"({text})"


def _constant(constant: Constant) -> str:
    value = constant.value
    if value is None or isinstance(value, bool):
        return {None: "NULL", True: "TRUE", False: "FALSE"}[value]
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if constant.time == "day":
        return f"DATE '{EPOCH + timedelta(days=int(value))}'"
    if constant.time == "second":
        return f"TIMESTAMP '{datetime(1970, 1, 1) + timedelta(seconds=int(value))}'"
    return _number(Fraction(value))


def _number(value: Fraction) -> str:
    """Write a number as a decimal if it is one, else as a quotient; in brackets where a sign could stick to another."""
    places = next((n for n in range(40) if (value * 10**n).denominator == 1), None)
    if places is None:
        return f"({value.numerator} / {value.denominator})"
    digits = str(abs(int(value * 10**places))).rjust(places + 1, "0")
    text = f"{digits[:-places]}.{digits[-places:]}" if places else digits
    return f"(-{text})" if value < 0 else text
