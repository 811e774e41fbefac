"""Conditions that no row can meet, whatever the data: `age > 300` where ages are declared from 0 to 120.

A condition is followed through the public domains of its columns. What cannot be told counts as possible, so a
condition that is named here is surely empty; one that is not may be empty all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from math import ceil, floor

from ...errors import DiscreetError
from ...query.algebra.chain import leaves
from ...query.algebra.expression import Call, Constant, Expression, Field, Function, fields_of
from ...query.algebra.tree import Question, Where
from ...query.bounds.relation_facts import columns_of
from ...query.domains.domain import Day, Domain, Second, Texts, Whole
from ...query.domains.domain_of import domain_of
from ...query.text.expression import expression_text, quote

Columns = Mapping[str, Domain]
_RANGES = (Whole, Day, Second)


def impossible_conditions(question: Question) -> list[str]:
    """Name the conditions of WHERE, FILTER and CASE that no row can meet, as SQL.

    >>> import discreet as dp
    >>> from discreet.plan.advice.impossible_conditions import impossible_conditions
    >>> people = dp.Schema("people", dp.Rows(), {"age": dp.Integer(0, 120), "sex": dp.Category(["f", "m"])})
    >>> sql = "SELECT COUNT(*) AS n FROM people WHERE age > 300 AND sex = 'f'"
    >>> impossible_conditions(dp.parse_sql(sql, {"people": people}))
    ['age > 300']
    """
    found: list[str] = []
    for node in _nodes(question.rows):
        if isinstance(node, Where):
            found += _where(node, columns_of(node.rows))
    columns = columns_of(question.rows)
    asked = (*question.keys, *(statistic for _, statistic in question.statistics))
    for call in (node for one in asked for node in _nodes(one)):
        if isinstance(call, Call) and call.function is Function.CASE:
            found += [_text(c) for c in call.arguments[:-1:2] if not can_be_true(c, columns)]
    return list(dict.fromkeys(found))


def _where(node: Where, columns: Columns) -> list[str]:
    """Name the part of a condition that cannot be met, or all of it if its parts exclude each other."""
    parts = leaves(Function.AND, node.condition)
    alone = [_text(part) for part in parts if not can_be_true(part, columns)]
    return alone or ([] if can_be_true(node.condition, columns) else [_text(node.condition)])


def _text(expression: Expression) -> str:
    return expression_text(expression, {name: quote(name) for name in fields_of(expression)})


def _nodes(node: object) -> Iterator[object]:
    """List a value and all that stands inside it, whatever kinds of relations and expressions there are."""
    if isinstance(node, tuple):
        for one in node:
            yield from _nodes(one)
    elif is_dataclass(node) and not isinstance(node, Domain):
        yield node
        for one in fields(node):
            yield from (
                _nodes(getattr(node, one.name)) if one.name not in {"schema", "table"} else ()
            )


def can_be_true(condition: Expression, columns: Columns) -> bool:
    """Return whether a condition can be true of some row that its columns allow."""
    return _verdict(condition, columns)[0]


def _verdict(condition: Expression, columns: Columns) -> tuple[bool, bool]:
    """Return whether a condition can be true, and whether it can be false."""
    if not isinstance(condition, Call):
        value = condition.value if isinstance(condition, Constant) else None
        return value is not False, value is not True
    match condition.function:
        case Function.AND:
            return _all_true(condition, columns), any(
                _verdict(one, columns)[1] for one in condition.arguments
            )
        case Function.OR:
            each = [_verdict(one, columns) for one in leaves(Function.OR, condition)]
            return any(true for true, _ in each), all(false for _, false in each)
        case Function.NOT:
            true, false = _verdict(condition.arguments[0], columns)
            return false, true
        case Function.LESS | Function.AT_MOST:
            other = Function.AT_MOST if condition.function is Function.LESS else Function.LESS
            denied = Call(other, condition.arguments[::-1])
            return _narrowed(condition, columns) is not None, _narrowed(denied, columns) is not None
        case Function.EQUAL | Function.AMONG:
            return _narrowed(condition, columns) is not None, True
        case _:
            return True, True


def _all_true(condition: Call, columns: Columns) -> bool:
    """Follow the parts of a conjunction: each narrows what the next may find."""
    known = columns
    for part in leaves(Function.AND, condition):
        narrowed = _narrowed(part, known)
        if narrowed is None or not can_be_true(part, known):
            return False
        known = narrowed
    return True


def _narrowed(condition: Expression, columns: Columns) -> Columns | None:
    """Return what is left of the columns where a comparison holds; None if nothing is."""
    if not isinstance(condition, Call):
        return columns
    try:
        domains = [domain_of(one, columns) for one in condition.arguments]
    except DiscreetError:
        return columns
    left, right, others = condition.arguments[0], condition.arguments[-1], domains[1:]
    match condition.function:
        case Function.LESS | Function.AT_MOST:
            strict = condition.function is Function.LESS
            less = _set(columns, left, _below(domains[0], others[0], strict=strict))
            return _set(less, right, _above(others[0], domains[0], strict=strict))
        case Function.EQUAL | Function.AMONG:
            return _set(columns, left, _among(domains[0], condition.arguments[1:], others))
        case _:
            return columns


def _set(columns: Columns | None, place: Expression, domain: Domain | None) -> Columns | None:
    if columns is None or domain is None:
        return None
    return {**columns, place.name: domain} if isinstance(place, Field) else columns


def _below(one: Domain, other: Domain, *, strict: bool) -> Domain | None:
    """Return the values of one domain that lie below some value of the other; None if there are none."""
    if not isinstance(one, _RANGES) or type(one) is not type(other):
        return one
    steps = _ends(other)[1] / _step(one)
    return _cut(one, one.low, min(one.high, ceil(steps) - 1 if strict else floor(steps)))


def _above(one: Domain, other: Domain, *, strict: bool) -> Domain | None:
    """Return the values of one domain that lie above some value of the other; None if there are none."""
    if not isinstance(one, _RANGES) or type(one) is not type(other):
        return one
    steps = _ends(other)[0] / _step(one)
    return _cut(one, max(one.low, floor(steps) + 1 if strict else ceil(steps)), one.high)


def _among(one: Domain, listed: tuple[Expression, ...], others: list[Domain]) -> Domain | None:
    """Return the values of a domain that equal one of some constants, or lie in the range of one expression."""
    if (
        isinstance(one, Texts)
        and one.keys is not None
        and all(isinstance(e, Constant) for e in listed)
    ):
        kept = tuple(
            key for key in one.keys if key in {e.value for e in listed if isinstance(e, Constant)}
        )
        return replace(one, keys=kept) if kept else None
    if not isinstance(one, _RANGES) or any(type(other) is not type(one) for other in others):
        return one
    low, high = min(_ends(other)[0] for other in others), max(_ends(other)[1] for other in others)
    inside = _cut(
        one, max(one.low, ceil(low / _step(one))), min(one.high, floor(high / _step(one)))
    )
    return inside if any(_meet(one, other) for other in others) else None


def _meet(one: Domain, other: Domain) -> bool:
    (low, high), (least, most) = _ends(one), _ends(other)
    return low <= most and least <= high


def _cut(one: Whole | Day | Second, low: int, high: int) -> Domain | None:
    return replace(one, low=low, high=high) if low <= high else None


def _step(domain: Domain) -> Fraction:
    return domain.step if isinstance(domain, Whole) else Fraction(1)


def _ends(domain: Domain) -> tuple[Fraction, Fraction]:
    if not isinstance(domain, _RANGES):
        return Fraction(0), Fraction(0)
    return domain.low * _step(domain), domain.high * _step(domain)
