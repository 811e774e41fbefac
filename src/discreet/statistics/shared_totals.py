"""Assignment of statistics to shared noisy totals: partitions of unity, or a shared count of rows.

    way         partitions
    apart       none: every statistic from totals of its own (`catalogue.recipe_of`)
    centred     none: but sums are centred, so that all share the number of rows
                (`sum.CentredSumRecipe`)
    by column   one for each column; columns of one covariance or correlation share one
    together    one for all columns

A column has degree 2 where its squares are needed, else degree 1. Statistics that are not sums
(quantiles, modes, distinct values, people) are made as always. The plan chooses the way, by
predicted errors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    MAX_COUNTED,
    MAX_JOINT,
    ROUNDED_DOWN,
    Partition,
    PartitionColumn,
    column_of,
    column_text,
)
from .sum import CentredSumRecipe

_MAX_TOTALS = 81
"""Limit on the totals of one partition, and so on the terms of one database query."""
_MAX_TOGETHER = 4
"""Limit on the columns of one partition: its totals are products over all columns."""
_FEW_DEGREES = 2
"""Limit on the degrees of a partition whose grids are fine enough without rounding its totals."""


class SumWay(StrEnum):
    """Ways to release the sums of a question."""

    APART = "apart"
    CENTRED = "centred"
    BY_COLUMN = "by column"
    TOGETHER = "together"


_SUMS = (Sum, Mean, Variance, Covariance, Correlation)


def possible_ways(statistics: Sequence[Statistic], basis: Basis) -> tuple[SumWay, ...]:
    """List the ways in which a question's statistics can be made, `APART` first.

    A partition needs rows that are added or removed, and that count in full or by their share of a
    person's rows. A sum that is alone gains nothing from sharing.
    """
    sums = [statistic for statistic in statistics if isinstance(statistic, _SUMS)]
    added_or_removed = neighbours_of(basis.rows) == ADD_REMOVE
    if not added_or_removed or isinstance(basis.share, GroupShare) or not sums:
        return (SumWay.APART,)
    if len(statistics) == 1 and isinstance(sums[0], Sum):
        return (SumWay.APART,)
    ways = [SumWay.APART]
    if any(isinstance(statistic, Sum) for statistic in sums):
        ways.append(SumWay.CENTRED)
    ways.append(SumWay.BY_COLUMN)
    components = _components(sums)
    columns = frozenset[Expression]().union(*components)
    # With one component both ways would form the same partition.
    if len(components) > 1 and len(columns) <= _MAX_TOGETHER:
        ways.append(SumWay.TOGETHER)
    return tuple(ways)


def recipes_of(statistics: Sequence[Statistic], basis: Basis, way: SumWay) -> list[Recipe]:
    """Return the recipe of each statistic, in this way.

    Refuses: columns that are not numbers or have too many steps for a partition
        (`UnsupportedQuery`); another way may do.
    Law: tests/statistics/test_partition.py::TestChoice
    """
    # Plain recipes are made in any way: they refuse what no way can make.
    plain = [recipe_of(statistic, basis) for statistic in statistics]
    if way is SumWay.APART:
        return plain
    partitions = []
    if way is not SumWay.CENTRED:
        partitions = _partitions(statistics, basis, way)
    recipes: list[Recipe] = []
    for statistic, usual in zip(statistics, plain, strict=True):
        shared = _first_recipe(partitions, statistic)
        if way is SumWay.CENTRED:
            shared = _centred_recipe(statistic, basis)
        recipes.append(shared or usual)
    return recipes


def _partitions(
    statistics: Sequence[Statistic], basis: Basis, way: SumWay
) -> list[_ColumnPartition]:
    sums = [statistic for statistic in statistics if isinstance(statistic, _SUMS)]
    groups = _components(sums)
    if way is SumWay.TOGETHER:
        groups = [frozenset[Expression]().union(*groups)]
    partitions = []
    for i, group in enumerate(groups):
        # The first partition alone counts all rows: one total of COUNT(*) is enough.
        partition = _ColumnPartition.of(group, statistics, basis, rows=i == 0)
        partitions.append(partition)
    return partitions


def _first_recipe(partitions: Sequence[_ColumnPartition], statistic: Statistic) -> Recipe | None:
    for partition in partitions:
        recipe = partition.recipe(statistic)
        if recipe is not None:
            return recipe
    return None


def _centred_recipe(statistic: Statistic, basis: Basis) -> Recipe | None:
    """Return the recipe from named totals of centred values and rows; None for other statistics."""
    match statistic:
        case Count():
            return CountRecipe(Constant(True), name="rows")
        case CountOf(of=of):
            return CountRecipe(present(of, basis.rows), name=_rows_name(of, basis))
        case Sum(of=of):
            names = (f"centred {column_text(of)}", _rows_name(of, basis))
            return CentredSumRecipe(of, domain_of(of, basis.columns), names)
    return None


def _rows_name(of: Expression, basis: Basis) -> str:
    # Totals of one name are one release: a column without NULL shares the count of all rows.
    if always_present(of, basis.rows):
        return "rows"
    return f"rows with {column_text(of)}"


def _components(sums: Sequence[Statistic]) -> list[frozenset[Expression]]:
    """Return the connected components of columns that occur in one statistic, in first order."""
    components: list[frozenset[Expression]] = []
    for statistic in sums:
        columns = frozenset(expressions_of(statistic))
        touching = [group for group in components if group & columns]
        index = components.index(touching[0]) if touching else len(components)
        components = [group for group in components if group not in touching]
        components.insert(index, columns.union(*touching))
    return components


@frozen
class _ColumnPartition:
    """Partition of unity of some columns, the index of each column, and whether it counts all rows."""

    partition: Partition
    indices: Mapping[Expression, int]
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
    ) -> _ColumnPartition:
        """Make the partition of some columns for their statistics, and for COUNT(*) if `rows`."""
        members = []
        for statistic in statistics:
            inside = set(expressions_of(statistic)) <= group
            if inside and isinstance(statistic, (*_SUMS, CountOf)):
                members.append(statistic)
        degrees: dict[Expression, int] = {}
        for statistic in members:
            for x in expressions_of(statistic):
                degrees[x] = max(degrees.get(x, 1), _degree(statistic))
        column_sets = [set(expressions_of(statistic)) for statistic in members]
        if rows and Count() in statistics:
            column_sets.append(set())
        steps = _max_steps(degrees, basis)
        columns = []
        for x, degree in degrees.items():
            # Rows without x count only where a statistic does not look at x.
            counted_without = any(x not in column_set for column_set in column_sets)
            null = counted_without and not always_present(x, basis.rows)
            column = column_of(x, degree, steps[x], null=null, columns=basis.columns)
            columns.append(column)
        partition = Partition(tuple(columns))
        if partition.most * multiplicity(basis.rows) > MAX_JOINT:
            # The totals will be rounded down, which counts as a further blur of the values.
            partition = Partition(tuple(map(_rounded_down, columns)))
        if prod(column.places for column in columns) > _MAX_TOTALS:
            raise UnsupportedQuery("these columns have too many products; ask for fewer at once")
        indices = {x: i for i, x in enumerate(degrees)}
        return cls(partition, indices, basis, rows)

    def recipe(self, statistic: Statistic) -> Recipe | None:
        """Return the recipe of a statistic from this partition; None if it has none."""
        expressions = expressions_of(statistic)
        if not all(x in self.indices for x in expressions):
            return None
        places = tuple(self.indices[x] for x in expressions)
        # Rows that count by shares of a person do not add up to whole numbers.
        whole = isinstance(self.basis.share, Free)
        kinds = tuple(whole_of(domain_of(x, self.basis.columns)) for x in expressions)
        match statistic:
            case Count() if self.rows:
                return JointTotalRecipe(self.partition, (), None, whole)
            case CountOf():
                return JointTotalRecipe(self.partition, places, None, whole)
            case Sum():
                return JointTotalRecipe(self.partition, places, places[0], whole=False)
            case Mean():
                return JointMeanRecipe(self.partition, places[0], kinds[0])
            case Variance(sample=sample, root=root):
                return JointVarianceRecipe(self.partition, places[0], kinds[0], sample, root)
            case Covariance(sample=sample) if places[0] != places[1]:
                pair = (places[0], places[1])
                domains = (kinds[0], kinds[1])
                return JointCovarianceRecipe(self.partition, pair, domains, sample)
            case Correlation() if places[0] != places[1]:
                return JointCorrelationRecipe(self.partition, (places[0], places[1]))
        return None


def _rounded_down(column: PartitionColumn) -> PartitionColumn:
    return replace(column, blur=column.blur + column.width * ROUNDED_DOWN)


def _degree(statistic: Statistic) -> int:
    return 2 if isinstance(statistic, Variance | Correlation) else 1


def _max_steps(degrees: Mapping[Expression, int], basis: Basis) -> dict[Expression, int]:
    """Divide the limit on counted steps among columns.

    Columns with few steps come first and leave the remaining bits to the others.
    """
    rows = multiplicity(basis.rows)
    if isinstance(basis.share, RowShare):
        rows = basis.share.rows
    remaining_degrees = sum(degrees.values())
    limit = MAX_JOINT
    # Rows that count in full may be counted in finer steps; their totals are rounded afterwards.
    if remaining_degrees > _FEW_DEGREES and isinstance(basis.share, Free):
        limit = MAX_COUNTED
    bits = (limit // max(1, rows)).bit_length() - 1.0
    widths: dict[Expression, int] = {}
    for x in degrees:
        kind = whole_of(domain_of(x, basis.columns))
        widths[x] = kind.high - kind.low
    steps: dict[Expression, int] = {}
    for x in sorted(degrees, key=widths.__getitem__):
        bits_per_degree = bits / remaining_degrees
        steps[x] = int(2 ** max(0.0, bits_per_degree))
        own_bits = float(max(1, widths[x]).bit_length())
        bits -= degrees[x] * min(own_bits, bits_per_degree)
        remaining_degrees -= degrees[x]
    return steps
