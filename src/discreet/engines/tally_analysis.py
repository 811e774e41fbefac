"""Static analysis of a tally: the public facts that every engine needs before it runs one.

All refusals by meaning are made here, from the tally's text and the schemas alone. So every engine
refuses the same tallies, before it touches a row; a store may refuse besides what it cannot write or
read. The analysis never depends on data.

The bounds keep all arithmetic of one contribution within 64-bit integers: a row's weighted value
before clipping, and r times the larger bound of a term where a share has r rows in one key, are at
most 2^62 in size.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

from ..data.unit import People
from ..errors import InvalidArgument, UnboundedSensitivity, UnsupportedQuery
from ..frozen import frozen
from ..query.algebra import tree
from ..query.algebra.expression import Call, Constant, Expression, Function
from ..query.algebra.tally import Free, GroupRowShare, GroupShare, KeptKeys, RowShare, Tally, Term
from ..query.algebra.tree import Relation, relations_in
from ..query.bounds.fanout import check_joins
from ..query.bounds.relation_facts import columns_of, unit_of
from ..query.domains.domain import MAX_STEPS, Day, Domain, Second, Truth, Whole
from ..query.domains.domain_of import domain_of
from ..query.meaning.like import MAX_WILDCARDS, wildcards

MAX_SHARE = 1 << 31
"""Largest number of rows or groups in a share: n·k of a person's n rows must fit into 64 bits."""

RECENT_TALLIES = 32
"""Analyses that are remembered: more than the tallies of one question, few enough to hold."""


@frozen
class TermFacts:
    """A term with its static facts: its domain, and the range of one row's contribution."""

    term: Term
    domain: Whole | Truth
    low: int
    high: int

    @property
    def counts(self) -> bool:
        """Return whether the term counts rows for which a condition holds."""
        return isinstance(self.domain, Truth)


@frozen
class TallyFacts:
    """A tally with the domains of its columns and keys, and the facts of its terms.

    `person` is the unit if that is a person, None if it is a row.
    """

    tally: Tally
    columns: dict[str, Domain]
    keys: tuple[Domain, ...]
    terms: tuple[TermFacts, ...]
    person: People | None


# A question is analysed for its check before the charge and again for its run after it. The result
# depends on the tally alone, never on data, so the second call takes it from this cache.
# Refusals are exceptions, which `lru_cache` does not keep. It is safe across threads.
@lru_cache(maxsize=RECENT_TALLIES)
def understand(tally: Tally) -> TallyFacts:
    """Compute all static facts of a tally.

    Guarantee: a tally that is accepted needs no integer beyond 64 bits for one contribution.

    Refuses: bounds on people's contributions where the unit is a row; terms that are neither
    numbers nor conditions; contributions beyond 64-bit integers; joins that make too many rows of
    one unit; text constants that not every store can hold; patterns with over 500 wildcards;
    public keys of the wrong length; a share of no rows or groups, or of more than 2^31; groups by
    keys that are not listed; a weight below 1, or low > high; a tally without terms.

    Law: tests/engines/test_refusals.py::TestRefusals
    """
    columns = columns_of(tally.rows)
    unit = unit_of(tally.rows)
    person = unit if isinstance(unit, People) else None
    if person is None and _needs_people(tally):
        raise UnboundedSensitivity(
            'shares of people need tables whose unit is a person: People("id", max_rows=…)'
        )
    # A join may multiply the rows of a unit: its fan-out has to be bounded by declarations.
    check_joins(tally.rows)
    for expression in _all_expressions(tally):
        _check_storable(expression)
    keys = tuple(domain_of(key, columns) for key in tally.keys)
    _check_public_keys(tally, len(keys))
    if not tally.terms:
        raise InvalidArgument("a tally needs at least one term; count rows with Constant(True)")
    _check_share(tally)
    terms = []
    for term in tally.terms:
        domain = domain_of(term.expression, columns)
        terms.append(_term_facts(term, domain, tally))
    return TallyFacts(tally, columns, keys, tuple(terms), person)


def _needs_people(tally: Tally) -> bool:
    """Return whether a tally bounds, counts, joins or groups by the person."""
    if tally.people or not isinstance(tally.share, Free):
        return True
    relations = relations_in(tally.rows)
    return any(isinstance(relation, tree.JoinPeople | tree.PerPerson) for relation in relations)


def _all_expressions(tally: Tally) -> Iterator[Expression]:
    yield from tally.keys
    for term in tally.terms:
        yield term.expression
    for relation in relations_in(tally.rows):
        yield from _expressions(relation)


def _check_public_keys(tally: Tally, width: int) -> None:
    """Refuse public keys of different lengths, or longer than the `width` keys of the tally."""
    if tally.only is None:
        return
    listed = tally.listed
    for key in tally.only:
        if len(key) != listed or len(key) > width:
            raise InvalidArgument(
                f"each public key must be a tuple of {width} values, one for each key of the tally"
            )


def _check_share(tally: Tally) -> None:
    """Refuse bounds on rows or groups outside 1 … 2^31, and groups by keys that are not listed."""
    match tally.share:
        case RowShare(rows=rows):
            sizes = [rows]
        case GroupRowShare(rows=rows, group_rows=group_rows, keys=keys):
            sizes = [rows, group_rows]
            # Groups are listed by the keys that `only` lists.
            if not 0 <= keys <= tally.listed:
                raise InvalidArgument("a group has the first keys of its tally, and listed ones")
        case GroupShare(groups=groups, rows=rows) | KeptKeys(groups=groups, rows=rows):
            sizes = [groups, rows]
        case _:
            sizes = []
    for size in sizes:
        if not 1 <= size <= MAX_SHARE:
            raise InvalidArgument("a share is of at least 1 and at most 2^31 rows or groups")


def _term_facts(term: Term, domain: Domain, tally: Tally) -> TermFacts:
    """Return a term with its domain and the range of one row's contribution.

    Refuses: text and times, and terms whose totals of one person could exceed 64 bits.
    """
    if not isinstance(domain, Whole | Truth):
        raise UnsupportedQuery(
            "only numbers and conditions can be added up; text and times can be counted"
        )
    if term.weight < 1 or term.low > term.high:
        raise InvalidArgument("a term needs a weight of at least 1, and low ≤ high")
    # A condition that holds counts as 1; rows for which it does not hold add nothing.
    ends = (domain.low, domain.high) if isinstance(domain, Whole) else (1, 1)
    rows = tally.share.rows if isinstance(tally.share, GroupShare | KeptKeys) else 1
    # Both the weighted value before clipping and the clipped sum of all rows have to fit.
    largest_value = term.weight * max(map(abs, ends))
    largest_sum = rows * max(abs(term.low), abs(term.high))
    if max(largest_value, largest_sum) > MAX_STEPS:
        raise UnsupportedQuery(
            "one person's total could exceed 64-bit integers; clip the expression, or declare tighter bounds, "
            "a coarser step or fewer rows"
        )
    low = _clip(term.weight * ends[0], term)
    high = _clip(term.weight * ends[1], term)
    return TermFacts(term, domain, low, high)


def _clip(contribution: int, term: Term) -> int:
    return min(max(contribution, term.low), term.high)


def _expressions(relation: Relation) -> Iterator[Expression]:
    """List the expressions of one relation, without those of the relations below it.

    Also checks the steps of a person's totals, which no domain covers.
    """
    match relation:
        case tree.Where(condition=condition):
            yield condition
        case tree.Select(columns=columns):
            for _, expression in columns:
                yield expression
        case tree.JoinPublic(on=on):
            for expression, _ in on:
                yield expression
        case tree.JoinPeople(on=pairs):
            for pair in pairs:
                yield from pair
        case tree.PerPerson(rows=rows, keys=keys, totals=totals):
            for _, expression in keys:
                yield expression
            for _, total in totals:
                if total.expression is not None:
                    yield total.expression
            for _, total in totals:
                times_of(total, columns_of(rows))


def _check_storable(expression: Expression) -> None:
    """Refuse text constants and LIKE patterns in an expression that not every store can handle."""
    match expression:
        case Constant(value=str(text)):
            # PostgreSQL has no NUL in text, and lone surrogates have no UTF-8.
            if any(letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in text):
                raise UnsupportedQuery(
                    "a text constant holds a character that not every store can hold"
                )
        case Call(function=Function.LIKE, arguments=(_, Constant(value=str(pattern)))) if (
            wildcards(pattern) > MAX_WILDCARDS
        ):
            raise UnsupportedQuery(
                f"a pattern of LIKE may hold at most {MAX_WILDCARDS} of % and _; use fewer"
            )
        case Call(arguments=arguments):
            for argument in arguments:
                _check_storable(argument)


def times_of(total: tree.Total, columns: dict[str, Domain]) -> int:
    """Return the number of a total's steps in one step of its expression.

    Refuses: a total of text or conditions, and a step that does not divide that of the expression.
    """
    if total.what == "count":
        step = Fraction(1)
    else:
        domain = _number_domain(total, columns)
        step = domain.step if isinstance(domain, Whole) else Fraction(1)
    times = step / total.step
    if times.denominator != 1 or not 1 <= times <= MAX_STEPS:
        raise UnsupportedQuery(
            "a person's total needs the step of what is added up, or one that divides it"
        )
    return int(times)


def _number_domain(total: tree.Total, columns: dict[str, Domain]) -> Domain:
    """Return the domain of a person's total; refuses text, conditions and sums of times."""
    if total.expression is not None:
        domain = domain_of(total.expression, columns)
        # Times have a least and a greatest value, but no sum.
        is_time = isinstance(domain, Day | Second) and total.what != "sum"
        if is_time or isinstance(domain, Whole):
            return domain
    raise UnsupportedQuery(
        f"a person's {total.what} needs a number; count rows, or use CASE to make one"
    )
