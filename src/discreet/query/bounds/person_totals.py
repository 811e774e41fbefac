"""What is worked out about one person's rows, with bounds that follow from public facts.

A person has at most so many rows that count (`People.max_rows`), so a sum lies within that many times a value's bounds.
A total beyond its bounds is clipped: the bounds are enforced, not believed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from ..algebra.constant_folding import exact
from ..algebra.expression import Call, Constant, Expression, Field, Function
from ..algebra.names import fresh
from ..algebra.refusal import refusal
from ..algebra.statistic import function_name, statistic_name
from ..algebra.tree import (
    Count,
    CountOf,
    Mean,
    Named,
    PerPerson,
    Quantile,
    Relation,
    Statistic,
    Sum,
    Total,
)
from ..domains.domain import Domain, Whole
from ..domains.domain_of import domain_of
from ..domains.type_of import ValueType, type_of_domain
from .fanout import person_rows
from .relation_facts import columns_of


@dataclass(slots=True)
class PersonTotals:
    """The totals of each person's rows found so far; each is worked out once, and has a name of its own."""

    rows: Relation
    keys: Named
    found: dict[Total, str] = field(default_factory=dict)
    types: dict[str, ValueType] = field(default_factory=dict)

    def __post_init__(self) -> None:
        domains = columns_of(self.rows)
        self.types.update(
            {name: type_of_domain(domain_of(key, domains)) for name, key in self.keys}
        )

    def expression(self, statistic: Statistic, wanted: str | None) -> Expression:
        """Return a statistic of one person's rows as an expression of totals."""
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
                return _mean(
                    total,
                    self._named(_sum(_present(of), self.rows), f"{name} count"),
                    of,
                    self.rows,
                )
            case Quantile(of=of, at=at) if at in (0, 1):
                return self._named(_extreme("greatest" if at else "least", of, self.rows), name)
            case _:
                what = f"{function_name(statistic)} of a person's rows"
                raise refusal(
                    what, "it is not worked out per person", "use COUNT, SUM, AVG, MIN or MAX"
                )

    def _named(self, total: Total, wanted: str) -> Field:
        if total not in self.found:
            taken = (*(name for name, _ in self.keys), *self.found.values())
            self.found[total] = fresh(wanted, "total", taken)
            self.types[self.found[total]] = "number"
        return Field(self.found[total])

    def per_person(self) -> PerPerson:
        """Return one row for each person and key, with all totals found; with at least the number of rows."""
        totals = self.found or {
            _count(self.rows): fresh("rows", "total", (name for name, _ in self.keys))
        }
        return PerPerson(
            self.rows, self.keys, tuple((name, total) for total, name in totals.items())
        )


def _count(rows: Relation) -> Total:
    """Count a person's rows; whoever is there has at least one."""
    return Total("count", None, Fraction(1), 1, person_rows(rows))


def _sum(expression: Expression, rows: Relation) -> Total:
    """Sum a number over a person's rows that have it: over one of them at least."""
    domain, most = _number("SUM", expression, rows), person_rows(rows)
    low, high = min(domain.low, most * domain.low), max(domain.high, most * domain.high)
    Whole(domain.step, low, high)  # refuses what does not fit
    return Total("sum", expression, domain.step, low, high)


def _extreme(what: Literal["least", "greatest"], expression: Expression, rows: Relation) -> Total:
    """Take the least or greatest value of a person's rows."""
    domain = _number("MIN and MAX", expression, rows)
    return Total(what, expression, domain.step, domain.low, domain.high)


def _present(expression: Expression) -> Expression:
    """Return 1 where an expression has a value, 0 where it is NULL, so that a sum counts."""
    return Call(Function.CASE, (Call(Function.IS_NULL, (expression,)), Constant(0), Constant(1)))


def _mean(total: Field, count: Field, expression: Expression, rows: Relation) -> Expression:
    """Divide a total by a count, both columns of totals; a mean lies between the bounds of its values."""
    domain = _number("AVG", expression, rows)
    quotient = Call(Function.DIVIDE, (total, count))
    clipped = Call(Function.GREATEST, (quotient, exact(domain.low * domain.step)))
    return Call(Function.LEAST, (clipped, exact(domain.high * domain.step)))


def _number(name: str, expression: Expression, rows: Relation) -> Whole:
    domain: Domain = domain_of(expression, columns_of(rows))
    if not isinstance(domain, Whole):
        raise refusal(f"{name} of a person's rows", "it takes a number", "count them instead")
    return domain
