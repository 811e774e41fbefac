"""Which statistics of a question come from which partition of unity.

    way         partitions
    apart       none: every statistic from totals of its own (`of.recipe_of`)
    centred     none: but sums are centred, so that all share the number of rows (`sum.CentredSumRecipe`)
    by column   one for each column; columns that meet in a covariance or correlation share one
    together    one for all columns

A column is of degree 2 where its squares are needed, of degree 1 else. Statistics that are no sums (quantiles, modes,
distinct values, people) are made as always. Which way is taken is for the plan to say, by predicted errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from math import prod

from ..errors import UnsupportedQuery
from ..frozen import frozen, replace
from ..privacy.neighbours import ADD_REMOVE
from ..query.algebra.expression import Constant, Expression
from ..query.algebra.statistic import expressions_of
from ..query.algebra.tally import Free, GroupShare, RowShare
from ..query.algebra.tree import (
    Correlation,
    Count,
    CountOf,
    Covariance,
    Mean,
    Statistic,
    Sum,
    Variance,
)
from ..query.bounds.not_null import always_present
from ..query.bounds.relation_facts import multiplicity, neighbours_of
from ..query.domains.domain_of import domain_of
from .catalogue import recipe_of
from .count import CountRecipe
from .joint import (
    JointCorrelationRecipe,
    JointCovarianceRecipe,
    JointMeanRecipe,
    JointTotalRecipe,
    JointVarianceRecipe,
)
from .recipe import Recipe
from .releases.addend import present, whole_of
from .releases.basis import Basis
from .releases.partition import (
    MOST_COUNTED,
    MOST_JOINT,
    ROUNDED_DOWN,
    Partition,
    column_of,
    column_text,
)
from .sum import CentredSumRecipe

MOST_TOTALS = 81
"""Of one partition."""
_FEW_DEGREES = 2
"""Up to so many, columns have steps enough for totals as they are."""


class SumWay(StrEnum):
    """How the sums of a question are released."""

    APART = "apart"
    CENTRED = "centred"
    BY_COLUMN = "by column"
    TOGETHER = "together"


_SUMS = (Sum, Mean, Variance, Covariance, Correlation)


def possible_ways(statistics: Sequence[Statistic], basis: Basis) -> tuple[SumWay, ...]:
    """List the ways in which a question's statistics can be made, the plain one first.

    A partition needs rows that are added or removed and that count in full, or by their share of a person's rows; and
    neither way is of use for a sum that is alone.
    """
    free = neighbours_of(basis.rows) == ADD_REMOVE and not isinstance(basis.share, GroupShare)
    sums = [one for one in statistics if isinstance(one, _SUMS)]
    if not free or not sums or (len(statistics) == 1 and isinstance(sums[0], Sum)):
        return (SumWay.APART,)
    columns = {x for one in sums for x in expressions_of(one)}
    several = len(_components(sums)) > 1 and len(columns) <= 4
    wanted = {SumWay.CENTRED: any(isinstance(one, Sum) for one in sums), SumWay.TOGETHER: several}
    return tuple(way for way in SumWay if wanted.get(way, True))


def recipes_of(statistics: Sequence[Statistic], basis: Basis, way: SumWay) -> list[Recipe]:
    """Return how each statistic is made, in this way.

    Refuses columns that are no numbers or have too many steps for a partition; another way may do.
    """
    plain = [recipe_of(one, basis) for one in statistics]
    if way is SumWay.APART:
        return plain
    if way is SumWay.CENTRED:
        return [_centred(one, basis) or usual for one, usual in zip(statistics, plain, strict=True)]
    sums = [one for one in statistics if isinstance(one, _SUMS)]
    found = _components(sums)
    groups = [frozenset().union(*found)] if way is SumWay.TOGETHER else found
    pieces = [
        _Piece.of(group, statistics, basis, rows=place == 0) for place, group in enumerate(groups)
    ]
    return [
        next((recipe for piece in pieces if (recipe := piece.recipe(one)) is not None), usual)
        for one, usual in zip(statistics, plain, strict=True)
    ]


def _centred(one: Statistic, basis: Basis) -> Recipe | None:
    match one:
        case Count():
            return CountRecipe(Constant(True), name="rows")
        case CountOf(of=of):
            return CountRecipe(present(of, basis.rows), name=_rows_name(of, basis))
        case Sum(of=of):
            names = (f"centred {column_text(of)}", _rows_name(of, basis))
            return CentredSumRecipe(of, domain_of(of, basis.columns), names)
    return None


def _rows_name(of: Expression, basis: Basis) -> str:
    return "rows" if always_present(of, basis.rows) else f"rows with {column_text(of)}"


def _components(sums: Sequence[Statistic]) -> list[frozenset[Expression]]:
    """Join the columns that meet in one statistic, in the order of the statistics."""
    found: list[frozenset[Expression]] = []
    for one in sums:
        mine = frozenset(expressions_of(one))
        near = [group for group in found if group & mine]
        place = found.index(near[0]) if near else len(found)
        found = [group for group in found if group not in near]
        found.insert(place, mine.union(*near))
    return found


@frozen
class _Piece:
    """A partition, the places of its columns, and whether it counts all rows."""

    partition: Partition
    places: Mapping[Expression, int]
    basis: Basis
    rows: bool

    @classmethod
    def of(
        cls,
        group: frozenset[Expression],
        statistics: Sequence[Statistic],
        basis: Basis,
        *,
        rows: bool,
    ) -> _Piece:
        """Make the partition of some columns for the statistics about them, and for COUNT(*) if it counts `rows`."""
        mine = [
            one
            for one in statistics
            if set(expressions_of(one)) <= group and isinstance(one, (*_SUMS, CountOf))
        ]
        asked = list(dict.fromkeys(x for one in mine for x in expressions_of(one)))
        beside = [set(expressions_of(one)) for one in mine] + (
            [set()] if rows and Count() in statistics else []
        )
        degrees = {x: max(_degree(one) for one in mine if x in expressions_of(one)) for x in asked}
        nulls = {
            x: any(x not in one for one in beside) and not always_present(x, basis.rows)
            for x in asked
        }
        steps = dict(_steps(degrees, basis))
        columns = [
            column_of(x, degrees[x], steps[x], null=nulls[x], columns=basis.columns) for x in asked
        ]
        if Partition(tuple(columns)).most * multiplicity(basis.rows) > MOST_JOINT:
            columns = [
                replace(column, blur=column.blur + column.width * ROUNDED_DOWN)
                for column in columns
            ]
        partition = Partition(tuple(columns))
        if prod(column.places for column in columns) > MOST_TOTALS:
            raise UnsupportedQuery("these columns have too many products; ask for fewer at once")
        return cls(partition, {x: place for place, x in enumerate(asked)}, basis, rows)

    def recipe(self, one: Statistic) -> Recipe | None:
        """Return how a statistic is made from this partition, or None."""
        names = expressions_of(one)
        if not all(x in self.places for x in names):
            return None
        places, whole = tuple(self.places[x] for x in names), isinstance(self.basis.share, Free)
        kinds = tuple(whole_of(domain_of(x, self.basis.columns)) for x in names)
        match one:
            case Count():
                return JointTotalRecipe(self.partition, (), None, whole) if self.rows else None
            case CountOf():
                return JointTotalRecipe(self.partition, places, None, whole)
            case Sum():
                return JointTotalRecipe(self.partition, places, places[0], whole=False)
            case Mean():
                return JointMeanRecipe(self.partition, places[0], kinds[0])
            case Variance(sample=sample, root=root):
                return JointVarianceRecipe(self.partition, places[0], kinds[0], sample, root)
            case Covariance(sample=sample) if places[0] != places[1]:
                return JointCovarianceRecipe(
                    self.partition, (places[0], places[1]), (kinds[0], kinds[1]), sample
                )
            case Correlation() if places[0] != places[1]:
                return JointCorrelationRecipe(self.partition, (places[0], places[1]))
        return None


def _degree(one: Statistic) -> int:
    return 2 if isinstance(one, Variance | Correlation) else 1


def _steps(degrees: Mapping[Expression, int], basis: Basis) -> Iterator[tuple[Expression, int]]:
    """Share the room for steps: a column that has few leaves the rest to the others."""
    rows = basis.share.rows if isinstance(basis.share, RowShare) else multiplicity(basis.rows)
    left = sum(degrees.values())
    room = MOST_COUNTED if left > _FEW_DEGREES and isinstance(basis.share, Free) else MOST_JOINT
    bits = (room // max(1, rows)).bit_length() - 1.0
    kinds = {x: whole_of(domain_of(x, basis.columns)) for x in degrees}
    for x in sorted(degrees, key=lambda x: kinds[x].high - kinds[x].low):
        most = int(2 ** max(0.0, bits / left))
        own = max(1, kinds[x].high - kinds[x].low)
        yield x, most
        bits -= degrees[x] * min(float(own.bit_length()), bits / left)
        left -= degrees[x]
