"""A tally, understood: what every engine must know before it runs, worked out from public facts alone.

All refusals are made here, so that every engine refuses the same tallies, before it touches a row. The bounds keep all
arithmetic of a share within 64-bit integers: |c|, and r·|c| of a clipped sum, are at most 2^62.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from ..data.unit import People
from ..errors import InvalidArgument, UnboundedSensitivity, UnsupportedQuery
from ..frozen import frozen
from ..query.algebra.expression import Call, Constant, Expression, Function
from ..query.algebra.tally import GroupShare, KeptKeys, RowShare, Tally, Term
from ..query.algebra.tree import (
    JoinPeople,
    JoinPublic,
    PerPerson,
    Relation,
    Scan,
    Select,
    Total,
    Union,
    Where,
)
from ..query.bounds.fanout import check_joins
from ..query.bounds.relation_facts import columns_of, unit_of
from ..query.domains.domain import MOST_STEPS, Day, Domain, Second, Truth, Whole
from ..query.domains.domain_of import domain_of
from ..query.meaning.like import MOST_WILDCARDS, wildcards

MOST_SHARE = 1 << 31
"""Shares of more rows or groups than this are refused: n·k of a person's n rows must stay within 64 bits."""


@frozen
class TermFacts:
    """A term with its static facts: its domain, and the range of one row's contribution."""

    term: Term
    domain: Whole | Truth
    low: int
    high: int

    @property
    def counts(self) -> bool:
        """Whether the term counts rows for which a condition holds."""
        return isinstance(self.domain, Truth)


@frozen
class TallyFacts:
    """A tally with the domains of its columns and keys, its parts, and whose rows they are."""

    tally: Tally
    columns: dict[str, Domain]
    keys: tuple[Domain, ...]
    parts: tuple[TermFacts, ...]
    person: People | None


def understand(tally: Tally) -> TallyFacts:
    """Work out all static facts of a tally.

    Refuses shares of people where a row is the unit, terms that are no numbers or truths, contributions beyond 64-bit
    integers, joins that make too many rows of one unit, text constants that not every store can hold, patterns with
    hundreds of wildcards, public keys of the wrong length, no terms at all.
    """
    columns, unit = columns_of(tally.rows), unit_of(tally.rows)
    person = unit if isinstance(unit, People) else None
    if person is None and (
        tally.people
        or isinstance(tally.share, RowShare | GroupShare | KeptKeys)
        or _personal(tally.rows)
    ):
        raise UnboundedSensitivity(
            'shares of people need tables whose unit is a person: People("id", max_rows=…)'
        )
    check_joins(tally.rows)
    for expression in (
        *tally.keys,
        *(term.expression for term in tally.terms),
        *_expressions(tally.rows),
    ):
        _storable(expression)
    keys = tuple(domain_of(key, columns) for key in tally.keys)
    listed = tally.listed
    if tally.only is not None and any(
        len(key) != listed or len(key) > len(keys) for key in tally.only
    ):
        raise InvalidArgument(
            f"each public key must be a tuple of {len(keys)} values, one for each key of the tally"
        )
    if not tally.terms:
        raise InvalidArgument("a tally needs at least one term; count rows with Constant(True)")
    _check_share(tally)
    parts = tuple(_part(term, domain_of(term.expression, columns), tally) for term in tally.terms)
    return TallyFacts(tally, columns, keys, parts, person)


def _check_share(tally: Tally) -> None:
    match tally.share:
        case RowShare(rows=rows):
            sizes = [rows]
        case GroupShare(groups=groups, rows=rows) | KeptKeys(groups=groups, rows=rows):
            sizes = [groups, rows]
        case _:
            sizes = []
    if any(not 1 <= size <= MOST_SHARE for size in sizes):
        raise InvalidArgument("a share is of at least 1 and at most 2^31 rows or groups")


def _part(term: Term, domain: Domain, tally: Tally) -> TermFacts:
    if not isinstance(domain, Whole | Truth):
        raise UnsupportedQuery(
            "only numbers and conditions can be added up; text and times can be counted"
        )
    if term.weight < 1 or term.low > term.high:
        raise InvalidArgument("a term needs a weight of at least 1, and low ≤ high")
    ends = (domain.low, domain.high) if isinstance(domain, Whole) else (1, 1)
    rows = tally.share.rows if isinstance(tally.share, GroupShare | KeptKeys) else 1
    reach = max(term.weight * max(map(abs, ends)), rows * max(abs(term.low), abs(term.high)))
    if reach > MOST_STEPS:
        raise UnsupportedQuery(
            "one person's total could exceed 64-bit integers; clip the expression, or declare tighter bounds, "
            "a coarser step or fewer rows"
        )
    low, high = (min(max(term.weight * end, term.low), term.high) for end in ends)
    return TermFacts(term, domain, low, high)


def _personal(relation: Relation) -> bool:
    """Return whether a relation joins or groups by the person."""
    match relation:
        case Scan():
            return False
        case Where(rows=rows) | Select(rows=rows) | JoinPublic(rows=rows):
            return _personal(rows)
        case Union(parts=parts):
            return any(map(_personal, parts))
        case JoinPeople() | PerPerson():
            return True


def _expressions(relation: Relation) -> Iterator[Expression]:
    """List every expression of a relation, and check what no domain covers: the steps of a person's totals."""
    match relation:
        case Scan():
            return
        case Where(rows=rows, condition=condition):
            yield condition
        case Select(rows=rows, columns=columns):
            yield from (expression for _, expression in columns)
        case JoinPublic(rows=rows, on=on):
            yield from (expression for expression, _ in on)
        case JoinPeople(left=left, right=rows, on=pairs):
            yield from (expression for pair in pairs for expression in pair)
            yield from _expressions(left)
        case Union(parts=parts):
            for part in parts:
                yield from _expressions(part)
            return
        case PerPerson(rows=rows, keys=keys, totals=totals):
            yield from (expression for _, expression in keys)
            yield from (total.expression for _, total in totals if total.expression is not None)
            for _, total in totals:
                times_of(total, columns_of(rows))
    yield from _expressions(rows)


def _storable(expression: Expression) -> None:
    match expression:
        case Constant(value=str(text)):
            if any(letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in text):
                raise UnsupportedQuery(
                    "a text constant holds a character that not every store can hold"
                )
        case Call(function=Function.LIKE, arguments=(_, Constant(value=str(pattern)))) if (
            wildcards(pattern) > MOST_WILDCARDS
        ):
            raise UnsupportedQuery(
                f"a pattern of LIKE may hold at most {MOST_WILDCARDS} of % and _; use fewer"
            )
        case Call(arguments=arguments):
            for argument in arguments:
                _storable(argument)


def times_of(total: Total, columns: dict[str, Domain]) -> int:
    """Return how many of a total's steps one step of its expression is.

    Refuses a total of text or truths, and a step that does not divide that of the expression.
    """
    domain = Whole(Fraction(1), 0, 1) if total.what == "count" else _sum_domain(total, columns)
    step = domain.step if isinstance(domain, Whole) else Fraction(1)
    times = step / total.step
    if times.denominator != 1 or not 1 <= times <= MOST_STEPS:
        raise UnsupportedQuery(
            "a person's total needs the step of what is added up, or one that divides it"
        )
    return int(times)


def _sum_domain(total: Total, columns: dict[str, Domain]) -> Domain:
    domain = None if total.expression is None else domain_of(total.expression, columns)
    if isinstance(domain, Whole) or (isinstance(domain, Day | Second) and total.what != "sum"):
        return domain
    raise UnsupportedQuery(
        f"a person's {total.what} needs a number; count rows, or use CASE to make one"
    )
