"""Totals of one person's rows, with bounds that follow from public facts.

A sub-query that groups by the person makes such totals. At most `People.max_rows` rows of a person
are supposed, so a sum has that many times the bounds of a value. A total beyond its bounds is
clipped.

Guarantee: the bounds of a total hold for every store, because engines enforce them.

Law: tests/query/test_relation_facts.py::TestTotals
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from ..algebra.constant_folding import exact
from ..algebra.expression import Constant, Expression, Field, Function, call_of
from ..algebra.refusal import refusal
from ..algebra.statistic import (
    Count,
    CountDistinct,
    CountOf,
    Mean,
    Quantile,
    Statistic,
    Sum,
    function_name,
    statistic_name,
)
from ..algebra.tree import Named, PerPerson, Relation, Total, by_name, names_of, unused_name
from ..domains.domain import Day, Domain, Second, Whole
from ..domains.domain_of import domain_of
from ..domains.type_of import ValueType, type_of_domain
from .fanout import person_rows
from .relation_facts import columns_of


@dataclass(slots=True)
class PersonTotals:
    """Collects the totals that a sub-query by person needs; equal totals share one column.

    `rows` and `keys` are those of the sub-query, `found` the names of the totals so far, `types`
    the types of keys and totals by name.
    """

    rows: Relation
    keys: Named
    found: dict[Total, str] = field(default_factory=dict)
    types: dict[str, ValueType] = field(default_factory=dict)

    def __post_init__(self) -> None:
        domains = columns_of(self.rows)
        for name, key in self.keys:
            self.types[name] = type_of_domain(domain_of(key, domains))

    def expression(self, statistic: Statistic, wanted: str | None) -> Expression:
        """Return a statistic of one person's rows as an expression of totals, which are collected.

        `wanted` is the name of its column, if the user gave one.

        Refuses: statistics other than COUNT, SUM, AVG, MIN and MAX.
        """
        name = wanted or statistic_name(statistic)
        match statistic:
            case Count():
                return self._named(_count(self.rows), name)
            case CountOf(of=of):
                return self._named(_sum(_present(of), self.rows), name)
            case Sum(of=of):
                return self._named(_sum(of, self.rows), name)
            case Mean(of=of):
                total = self._named(_sum(of, self.rows), f"{name} sum")
                count = self._named(_sum(_present(of), self.rows), f"{name} count")
                return _mean(total, count, of, self.rows)
            case Quantile(of=of, at=at) if at in (0, 1):
                return self._extreme("greatest" if at else "least", of, name)
            case CountDistinct():
                raise refusal(
                    "COUNT(DISTINCT x) of a person's rows",
                    "it is not worked out per person in one step",
                    "count in a sub-query: SELECT id, COUNT(*) AS n FROM (SELECT DISTINCT id, x "
                    "FROM …) AS t GROUP BY id",
                )
            case _:
                raise refusal(
                    f"{function_name(statistic)} of a person's rows",
                    "it is not worked out per person",
                    "use COUNT, SUM, AVG, MIN or MAX",
                )

    def _extreme(self, what: Literal["least", "greatest"], of: Expression, name: str) -> Expression:
        """Return the least or greatest value; of dates and times as a date or time."""
        domain = domain_of(of, columns_of(self.rows))
        # Days and seconds are whole numbers since 1970, so a total of numbers has their order.
        match domain:
            case Day():
                since = call_of(Function.UNIX_DATE, of)
                total = Total(what, since, Fraction(1), domain.low, domain.high)
                return call_of(Function.FROM_UNIX_DATE, self._named(total, name))
            case Second():
                since = call_of(Function.UNIX_SECONDS, of)
                total = Total(what, since, Fraction(1), domain.low, domain.high)
                return call_of(Function.FROM_UNIX_SECONDS, self._named(total, name))
        number = _number("MIN and MAX", of, self.rows)
        return self._named(Total(what, of, number.step, number.low, number.high), name)

    def _named(self, total: Total, wanted: str) -> Field:
        """Return the column of a total; the same total has one column."""
        if total not in self.found:
            name = unused_name(wanted, "total", (*self._key_names(), *self.found.values()))
            self.found[total] = name
            self.types[name] = "number"
        return Field(self.found[total])

    def _key_names(self) -> list[str]:
        return names_of(self.keys)

    def per_person(self) -> PerPerson:
        """Return one row for each person and key, with all totals found.

        Without totals it has the number of rows, since rows have at least one column.
        """
        totals = self.found
        if not totals:
            totals = {_count(self.rows): unused_name("rows", "total", self._key_names())}
        return PerPerson(self.rows, self.keys, by_name(totals))


def _count(rows: Relation) -> Total:
    """Count a person's rows; a person who occurs has at least one."""
    return Total("count", None, Fraction(1), 1, person_rows(rows))


def _sum(expression: Expression, rows: Relation) -> Total:
    """Return the sum of a number over a person's rows, with the bounds of 1 to `max_rows` rows.

    Rows where the number is NULL add nothing; the engine clips the sum to the bounds.
    """
    domain = _number("SUM", expression, rows)
    max_rows = person_rows(rows)
    # Of 1 to max_rows rows: a positive low is reached by one row, a negative one by all.
    low = min(domain.low, max_rows * domain.low)
    high = max(domain.high, max_rows * domain.high)
    # Refuses bounds that do not fit into the integers of a store.
    Whole(domain.step, low, high)
    return Total("sum", expression, domain.step, low, high)


def _present(expression: Expression) -> Expression:
    """Return 1 where an expression has a value, 0 where it is NULL, so that a sum counts."""
    is_null = call_of(Function.IS_NULL, expression)
    return call_of(Function.CASE, is_null, Constant(0), Constant(1))


def _mean(total: Field, count: Field, expression: Expression, rows: Relation) -> Expression:
    """Divide a total by a count, and clip the quotient to the bounds of the values."""
    domain = _number("AVG", expression, rows)
    low = exact(domain.low * domain.step)
    high = exact(domain.high * domain.step)
    quotient = call_of(Function.DIVIDE, total, count)
    # The domain of a quotient has no such bounds; a mean lies between those of its values.
    clipped_below = call_of(Function.GREATEST, quotient, low)
    return call_of(Function.LEAST, clipped_below, high)


def _number(name: str, expression: Expression, rows: Relation) -> Whole:
    domain: Domain = domain_of(expression, columns_of(rows))
    if not isinstance(domain, Whole):
        raise refusal(f"{name} of a person's rows", "it takes a number", "count them instead")
    return domain
