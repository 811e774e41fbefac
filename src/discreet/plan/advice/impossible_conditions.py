"""Impossible conditions: no row of any data can meet them, by the declared domains.

An example is `age > 300` where ages are declared from 0 to 120. A condition is followed through the
public domains of its columns (interval arithmetic). A condition that this does not decide counts as
possible. So no row meets a condition that is named here; a condition that is not named may be
impossible all the same.
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
    >>> columns = {"age": dp.Integer(0, 120), "sex": dp.Category(["f", "m"])}
    >>> people = dp.Schema("people", dp.Rows(), columns)
    >>> sql = "SELECT COUNT(*) AS n FROM people WHERE age > 300 AND sex = 'f'"
    >>> impossible_conditions(dp.parse_sql(sql, {"people": people}))
    ['age > 300']

    Guarantee: a condition that is named is false or NULL for every row that the domains allow.

    Law: tests/plan/test_advice.py::TestImpossible
    """
    found: list[str] = []
    for node in _nodes(question.rows):
        if isinstance(node, Where):
            found += _where(node, columns_of(node.rows))
    columns = columns_of(question.rows)
    statistics = tuple(statistic for _, statistic in question.statistics)
    for node in _nodes((*question.keys, *statistics)):
        if isinstance(node, Call) and node.function is Function.CASE:
            # The arguments of CASE are condition, value, …, condition, value, default.
            conditions = node.arguments[:-1:2]
            found += [_text(one) for one in conditions if not can_be_true(one, columns)]
    return list(dict.fromkeys(found))


def _where(node: Where, columns: Columns) -> list[str]:
    """Name the terms of a WHERE that no row can meet; all of it if they exclude each other."""
    terms = leaves(Function.AND, node.condition)
    impossible = []
    for term in terms:
        if not can_be_true(term, columns):
            impossible.append(_text(term))
    if impossible:
        return impossible
    if can_be_true(node.condition, columns):
        return []
    return [_text(node.condition)]


def _text(expression: Expression) -> str:
    names = {name: quote(name) for name in fields_of(expression)}
    return expression_text(expression, names)


def _nodes(node: object) -> Iterator[object]:
    """List a value and everything inside it, for all kinds of relations and expressions."""
    if isinstance(node, tuple):
        for child in node:
            yield from _nodes(child)
    elif is_dataclass(node) and not isinstance(node, Domain):
        yield node
        for field in fields(node):
            # Schemas hold columns, not conditions.
            if field.name not in {"schema", "table"}:
                yield from _nodes(getattr(node, field.name))


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
            can_be_false = any(_verdict(one, columns)[1] for one in condition.arguments)
            return _all_true(condition, columns), can_be_false
        case Function.OR:
            each = []
            for one in leaves(Function.OR, condition):
                each.append(_verdict(one, columns))
            return any(true for true, _ in each), all(false for _, false in each)
        case Function.NOT:
            true, false = _verdict(condition.arguments[0], columns)
            return false, true
        case Function.LESS | Function.AT_MOST:
            # The negation of a < b is b ≤ a, and that of a ≤ b is b < a.
            is_less = condition.function is Function.LESS
            opposite = Function.AT_MOST if is_less else Function.LESS
            negated = Call(opposite, condition.arguments[::-1])
            can_be_false = _narrowed(negated, columns) is not None
            return _narrowed(condition, columns) is not None, can_be_false
        case Function.EQUAL | Function.AMONG:
            return _narrowed(condition, columns) is not None, True
        case _:
            return True, True


def _all_true(condition: Call, columns: Columns) -> bool:
    """Follow the terms of a conjunction: each one narrows the domains of the next."""
    known = columns
    for term in leaves(Function.AND, condition):
        narrowed = _narrowed(term, known)
        if narrowed is None or not can_be_true(term, known):
            return False
        known = narrowed
    return True


def _narrowed(condition: Expression, columns: Columns) -> Columns | None:
    """Return the domains of the columns where a comparison holds; None if it never does."""
    if not isinstance(condition, Call):
        return columns
    try:
        domains = [domain_of(argument, columns) for argument in condition.arguments]
    except DiscreetError:
        # Without a domain nothing can be excluded.
        return columns
    left = condition.arguments[0]
    match condition.function:
        case Function.LESS | Function.AT_MOST:
            strict = condition.function is Function.LESS
            below = _set(columns, left, _below(domains[0], domains[1], strict=strict))
            right = condition.arguments[-1]
            return _set(below, right, _above(domains[1], domains[0], strict=strict))
        case Function.EQUAL | Function.AMONG:
            among = _among(domains[0], condition.arguments[1:], domains[1:])
            return _set(columns, left, among)
        case _:
            return columns


def _set(columns: Columns | None, target: Expression, domain: Domain | None) -> Columns | None:
    """Return the columns with `domain` for the column `target`; None if a domain is empty.

    If `target` is no column, the columns stay as they are.
    """
    if columns is None or domain is None:
        return None
    if not isinstance(target, Field):
        return columns
    return {**columns, target.name: domain}


def _below(domain: Domain, other: Domain, *, strict: bool) -> Domain | None:
    """Return the part of a domain below the largest value of another, or up to it if not `strict`.

    None if that part is empty. Domains that are no ranges of one type stay as they are.
    """
    if not isinstance(domain, _RANGES) or type(domain) is not type(other):
        return domain
    steps = _ends(other)[1] / _step(domain)
    # The largest whole number of steps below the other's high end, or at it.
    high = ceil(steps) - 1 if strict else floor(steps)
    return _cut(domain, domain.low, min(domain.high, high))


def _above(domain: Domain, other: Domain, *, strict: bool) -> Domain | None:
    """Return the part of a domain above the least value of another, or from it on if not `strict`.

    None if that part is empty. Domains that are no ranges of one type stay as they are.
    """
    if not isinstance(domain, _RANGES) or type(domain) is not type(other):
        return domain
    steps = _ends(other)[0] / _step(domain)
    # The least whole number of steps above the other's low end, or at it.
    low = floor(steps) + 1 if strict else ceil(steps)
    return _cut(domain, max(domain.low, low), domain.high)


def _among(domain: Domain, listed: tuple[Expression, ...], others: list[Domain]) -> Domain | None:
    """Return a domain narrowed to the values that `listed` may have; None if there is none.

    `others` are the domains of `listed`. A range is narrowed to the range that holds them all.
    """
    constants = []
    for one in listed:
        if isinstance(one, Constant):
            constants.append(one.value)
    if isinstance(domain, Texts) and domain.keys is not None and len(constants) == len(listed):
        allowed = set(constants)
        kept = tuple(key for key in domain.keys if key in allowed)
        return replace(domain, keys=kept) if kept else None
    if not isinstance(domain, _RANGES) or any(type(other) is not type(domain) for other in others):
        return domain
    if not any(_overlap(domain, other) for other in others):
        return None
    step = _step(domain)
    ends = [_ends(other) for other in others]
    low = ceil(min(low for low, _ in ends) / step)
    high = floor(max(high for _, high in ends) / step)
    return _cut(domain, max(domain.low, low), min(domain.high, high))


def _overlap(domain: Domain, other: Domain) -> bool:
    low, high = _ends(domain)
    other_low, other_high = _ends(other)
    return low <= other_high and other_low <= high


def _cut(domain: Whole | Day | Second, low: int, high: int) -> Domain | None:
    if low > high:
        return None
    return replace(domain, low=low, high=high)


def _step(domain: Domain) -> Fraction:
    return domain.step if isinstance(domain, Whole) else Fraction(1)


def _ends(domain: Domain) -> tuple[Fraction, Fraction]:
    if not isinstance(domain, _RANGES):
        return Fraction(0), Fraction(0)
    step = _step(domain)
    return domain.low * step, domain.high * step
