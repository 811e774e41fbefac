"""Basis of a question: its rows and keys, the contribution bounds of one unit, and public lists."""

from __future__ import annotations

from fractions import Fraction

from ...frozen import frozen
from ...query.algebra.expression import Expression
from ...query.algebra.statistic import Quantile
from ...query.algebra.tally import Share
from ...query.algebra.tree import Question, Relation
from ...query.bounds.keys import PublicValues
from ...query.bounds.relation_facts import columns_of
from ...query.domains.domain import Domain


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
    return Basis(
        rows=question.rows,
        columns=columns,
        keys=keys,
        share=share,
        key_count=key_count,
        public_values=public_values,
        quantiles=tuple(quantiles),
        intervals=intervals,
    )
