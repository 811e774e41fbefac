"""What everything that a question needs rests on: its rows and keys, how much of one unit counts, public lists."""

from __future__ import annotations

from fractions import Fraction

from ...frozen import frozen
from ...query.algebra.expression import Expression
from ...query.algebra.tally import Share
from ...query.algebra.tree import Quantile, Question, Relation
from ...query.bounds.keys import PublicValues
from ...query.bounds.relation_facts import columns_of
from ...query.domains.domain import Domain


@frozen
class Basis:
    """The rows with their columns, the expressions of the keys, and the share of one unit that counts.

    `key_count` is how many public keys there are, None if they are not public. `quantiles` lists those of the question,
    since all of one expression are one release; `intervals` says whether each gets an interval.
    """

    rows: Relation
    columns: dict[str, Domain]
    keys: tuple[Expression, ...]
    share: Share
    key_count: int | None
    public_values: PublicValues | None
    quantiles: tuple[tuple[Expression, Fraction], ...] = ()
    intervals: bool = True


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
    quantiles = tuple(
        (one.of, one.at) for _, one in question.statistics if isinstance(one, Quantile)
    )
    columns = columns_of(question.rows)
    return Basis(
        question.rows, columns, keys, share, key_count, public_values, quantiles, intervals
    )
