"""Basis of a question, and the addends of its totals.

The basis holds rows and keys, the contribution bounds of one unit, and public lists. An addend is the
contribution of one row to an exact total, in whole steps, and the worth of a step.

Numbers are centred at the middle m of their public range where a count of rows is released as well:
Σ(x − m) has half the sensitivity of Σx.
"""

from __future__ import annotations

from fractions import Fraction

from ...errors import UnsupportedQuery
from ...frozen import frozen
from ...query.algebra.expression import Call, Constant, Expression, Function
from ...query.algebra.statistic import Quantile
from ...query.algebra.tally import Share
from ...query.algebra.tree import Question, Relation
from ...query.bounds.keys import PublicValues
from ...query.bounds.not_null import always_present
from ...query.bounds.relation_facts import columns_of
from ...query.domains.domain import Domain, Whole
from ...query.domains.domain_of import domain_of


@frozen
class Basis:
    """Rows with their columns, expressions of the keys, and the share of one unit that counts.

    `key_count` is the number of public keys, None if they are not public. `quantiles` lists those of
    the question, since all of one expression are one release; `intervals` says whether each gets one.
    """

    rows: Relation
    columns: dict[str, Domain]
    keys: tuple[Expression, ...]
    share: Share
    key_count: int | None
    public_values: PublicValues | None
    quantiles: tuple[tuple[Expression, Fraction], ...] = ()
    intervals: bool = True
    joined: tuple[int, ...] = ()
    """Places of the keys that a public list of chosen keys is joined to (`Tally.joined`)."""


def basis_of(
    question: Question,
    share: Share,
    key_count: int | None,
    public_values: PublicValues | None,
    *,
    intervals: bool = True,
) -> Basis:
    """Return the basis of a question under a share."""
    keys = tuple(key.expression for key in question.keys)
    quantiles = []
    for _, statistic in question.statistics:
        if isinstance(statistic, Quantile):
            quantiles.append((statistic.of, statistic.at))
    columns = columns_of(question.rows)
    joined: tuple[int, ...] = ()
    # Without several sets a nest is a list of chosen keys: rows that match none are dropped.
    if question.nested is not None and question.sets is None:
        joined = question.nested.places
    return Basis(
        rows=question.rows,
        columns=columns,
        keys=keys,
        share=share,
        key_count=key_count,
        public_values=public_values,
        quantiles=tuple(quantiles),
        intervals=intervals,
        joined=joined,
    )


@frozen
class Addend:
    """Contribution of a row to a total, in whole steps from `low` to `high`, and the worth of a step."""

    expression: Expression
    step: Fraction
    low: int
    high: int


def rows_addend(truth: Expression) -> Addend:
    """Count the rows where a condition holds."""
    return Addend(truth, Fraction(1), 0, 1)


def number_addend(x: Expression, columns: dict[str, Domain]) -> Addend:
    """Add up a number; refuse other expressions (`UnsupportedQuery`)."""
    kind = whole_of(domain_of(x, columns))
    # A row that is NULL, or filtered out, adds 0: the range of a contribution contains 0.
    return Addend(x, kind.step, min(kind.low, 0), max(kind.high, 0))


def present(x: Expression, rows: Relation) -> Expression:
    """Return the condition that a value is not NULL."""
    # A column that is never NULL has the condition of COUNT(*), so that both share one total.
    if always_present(x, rows):
        return Constant(True)
    return Call(Function.NOT, (Call(Function.IS_NULL, (x,)),))


def centred(x: Expression, columns: dict[str, Domain]) -> Expression:
    """Return a number less the middle of its public range."""
    middle = middle_of(domain_of(x, columns))
    return Call(Function.SUBTRACT, (x, Constant(middle)))


def range_of(kind: Domain) -> tuple[Fraction, Fraction]:
    """Return the public range of a number.

    >>> from discreet.statistics.releases.basis import range_of
    >>> from fractions import Fraction
    >>> from discreet.query.domains.domain import Whole
    >>> range_of(Whole(Fraction(1, 2), 0, 9))
    (Fraction(0, 1), Fraction(9, 2))
    """
    whole = whole_of(kind)
    return whole.low * whole.step, whole.high * whole.step


def middle_of(kind: Domain) -> Fraction:
    """Return the public number that totals are centred at.

    It is the grid point nearest below the middle of the range.

    >>> from discreet.statistics.releases.basis import middle_of
    >>> from fractions import Fraction
    >>> from discreet.query.domains.domain import Whole
    >>> middle_of(Whole(Fraction(1, 2), 0, 9))
    Fraction(2, 1)
    """
    whole = whole_of(kind)
    return (whole.low + whole.high) // 2 * whole.step


def whole_of(kind: Domain) -> Whole:
    """Return the domain of a number; refuse text, truth values and times (`UnsupportedQuery`)."""
    if not isinstance(kind, Whole):
        raise UnsupportedQuery("sums, means, variances and correlations take numbers")
    return kind
