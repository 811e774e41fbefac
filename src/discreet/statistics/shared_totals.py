"""Shared noisy totals: ways to make several statistics of a question from the same totals.

A partition of unity is a set of totals to which every row adds the same amount together
(`releases.partition`).

    way         partitions
    apart       none: every statistic from totals of its own (`catalogue.recipe_of`)
    centred     none: but sums are centred, so that all share the number of rows
                (`sum.CentredSumRecipe`)
    by column   one for each column; columns of one covariance or correlation share one
    together    one for all columns

A column has degree 2 where its squares are needed, else degree 1. Statistics that are not sums
(quantiles, modes, distinct values, people) are made as always. The plan chooses the way, by
predicted errors.

A partition counts values t in 0..1, x = low + width·t. Every moment of its columns is a weighted
sum of all totals, so no budget is split between the statistics:

    COUNT(*), COUNT(x)    the sum of all totals, or of those of rows that have x
    SUM, AVG              degree 1: two totals a column
    VARIANCE, COVAR       degree 2, or the four corners of two columns
    CORR                  degree 2 in both columns: nine totals

The file of each statistic has its recipe from shared totals (`Joint…Recipe`) beside its own. Errors of
counts, means, variances and covariances are predicted for any data, of deviations for data that are
not too close together (`variance.rooted`). Errors of correlations are predicted for values that are
spread evenly, and also for data that are not too close together.

The noises of all totals are bounded together, not one by one: see `laws.profile_interval`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum
from math import prod

from ..errors import UnsupportedQuery
from ..frozen import frozen, replace
from ..privacy.measures import ADD_REMOVE
from ..query.algebra.expression import Expression
from ..query.algebra.statistic import Count, Result, Statistic, expressions_of
from ..query.algebra.tally import Free, GroupRowShare, GroupShare, RowShare
from ..query.bounds.relation_facts import always_present, multiplicity, neighbours_of
from ..query.domains.domain import Whole
from ..query.domains.domain_of import domain_of
from .catalogue import method_of, recipe_of
from .laws.joint_error import JointLines
from .laws.linear_combination import TotalWeights, total_reach, weighted_noises
from .laws.noise_sum import IntegerNoise
from .recipe import Need, NoiseModel, Recipe
from .releases.basis import Basis, whole_of
from .releases.partition import (
    MAX_COUNTED,
    MAX_JOINT,
    ROUNDED_DOWN,
    Partition,
    PartitionColumn,
    column_of,
    partition_need,
)

PARTITION_LABELS = ("parts of the rows",)
UNIT_RANGE = (0.0, 1.0)
"""The range of the values t that a partition counts."""
_MAX_TOTALS = 81
"""Limit on the totals of one partition, and so on the terms of one database query."""
_MAX_TOGETHER = 4
"""Limit on the columns of one partition: its totals are products over all columns."""
_FEW_DEGREES = 2
"""Limit on the degrees of a partition whose grids are fine enough without rounding its totals."""


@frozen
class SharedColumns:
    """The columns of one statistic in a shared partition, by their indices and domains.

    `all_rows` says that COUNT(*) is taken from this partition; `whole`, that rows count in full, so
    that counts are whole numbers.
    """

    partition: Partition
    places: tuple[int, ...]
    kinds: tuple[Whole, ...]
    all_rows: bool
    whole: bool

    @property
    def columns(self) -> list[PartitionColumn]:
        """The columns of the partition that the statistic reads."""
        return [self.partition.columns[place] for place in self.places]

    def moment(self, *powers: int) -> TotalWeights:
        """Return Σ Π tᵖ over the rows with a value in all columns, as weights of the totals.

        `powers` has one power for each column of the statistic; other columns are not looked at.
        """
        all_powers: list[int | None] = [None] * len(self.partition.columns)
        for place, power in zip(self.places, powers, strict=True):
            all_powers[place] = power
        return self.partition.form(all_powers)

    def cross_moments(self) -> tuple[TotalWeights, TotalWeights, TotalWeights, TotalWeights]:
        """Return Σts, Σt, Σs and n of two columns as weights of the totals."""
        return self.moment(1, 1), self.moment(1, 0), self.moment(0, 1), self.moment(0, 0)


@frozen
class PartitionRecipe:
    """Recipe of a statistic from the totals of a partition: the part that all of them have.

    Law: tests/statistics/test_partition.py::TestPredicted
    """

    shared: SharedColumns

    def needs(self, basis: Basis) -> list[Need]:
        """List the totals of the partition."""
        return [partition_need(self.shared.partition, basis)]


def in_floats(*moments: TotalWeights) -> list[tuple[float, ...]]:
    """Return the weights of moments in floats, as error laws take them."""
    return [tuple(map(float, weights)) for weights in moments]


def joint_lines(*moments: TotalWeights) -> JointLines:
    """Return Σts, Σt, Σs and n as the lines that `laws.joint_error` bounds the noise of."""
    return JointLines(*in_floats(*moments))


def total_model(weights: TotalWeights, *, counts: bool, whole: bool) -> NoiseModel:
    """Return the noise model of a weighted sum of all totals: a count or a sum, for any data."""
    [float_weights] = in_floats(weights)

    def law(noises: Sequence[IntegerNoise], _size: int, beta: float) -> float:
        reach = total_reach(weighted_noises(noises, float_weights), beta)
        # A whole number that is shown rounded is off by a whole number.
        if whole:
            return float(math.floor(reach + 0.5))
        return reach

    coefficient = max(map(abs, float_weights))
    return NoiseModel(PARTITION_LABELS, (coefficient,), counts=counts, law=law, joint=True)


class SumWay(StrEnum):
    """Ways to release the sums of a question."""

    APART = "apart"
    CENTRED = "centred"
    BY_COLUMN = "by column"
    TOGETHER = "together"


def possible_ways(statistics: Sequence[Statistic], basis: Basis) -> tuple[SumWay, ...]:
    """List the ways in which a question's statistics can be made, `APART` first.

    A partition needs rows that count in full or by their share of a person's rows. Rows that are
    replaced have a partition for sums and means without keys. A sum that is alone gains nothing
    from sharing.
    """
    sums = _sums(statistics)
    centred = [statistic for statistic in sums if method_of(statistic).centred]
    if isinstance(basis.share, GroupShare) or not sums:
        return (SumWay.APART,)
    if len(statistics) == 1 and centred:
        return (SumWay.APART,)
    if _is_replaced(basis):
        pairs = not basis.keys and all(map(_is_first_moment, sums))
        return (SumWay.APART, SumWay.BY_COLUMN) if pairs else (SumWay.APART,)
    ways = [SumWay.APART]
    if centred:
        ways.append(SumWay.CENTRED)
    ways.append(SumWay.BY_COLUMN)
    components = _components(sums)
    columns = frozenset[Expression]().union(*components)
    # With one component both ways would form the same partition.
    if len(components) > 1 and len(columns) <= _MAX_TOGETHER:
        ways.append(SumWay.TOGETHER)
    return tuple(ways)


def _is_replaced(basis: Basis) -> bool:
    return neighbours_of(basis.rows) != ADD_REMOVE


def _is_first_moment(statistic: Statistic) -> bool:
    """Return whether a statistic is a sum or a mean of one column."""
    return method_of(statistic).degree == 1 and len(expressions_of(statistic)) == 1


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
    homes = {x: partition for partition in partitions for x in partition.indices}
    recipes: list[Recipe] = []
    for statistic, usual in zip(statistics, plain, strict=True):
        candidates = partitions
        # Partitions share no column; a count of rows has none and takes the first that counts them.
        for x in expressions_of(statistic)[:1]:
            candidates = [homes[x]] if x in homes else []
        shared = _first_recipe(candidates, statistic)
        if way is SumWay.CENTRED:
            shared = _centred_recipe(statistic, basis)
        recipes.append(shared or usual)
    return recipes


def _partitions(
    statistics: Sequence[Statistic], basis: Basis, way: SumWay
) -> list[_ColumnPartition]:
    """Make the partitions of a way: one for each component of columns, or one for all."""
    groups = _components(_sums(statistics))
    if way is SumWay.TOGETHER:
        groups = [frozenset[Expression]().union(*groups)]
    # Found by column: every group by every statistic would be quadratic in a long question.
    homes = {x: i for i, group in enumerate(groups) for x in group}
    members: list[list[Statistic]] = [[] for _ in groups]
    for statistic in statistics:
        found = {homes.get(x) for x in expressions_of(statistic)}
        # COUNT(*) has no columns: one partition alone adds it.
        if len(found) == 1 and None not in found and method_of(statistic).joint:
            members[homes[expressions_of(statistic)[0]]].append(statistic)
    partitions = []
    for i in range(len(groups)):
        # The first partition alone counts all rows: one total of COUNT(*) is enough. Where rows
        # are replaced none does: COUNT(*) is public there, or less noisy by itself.
        rows = i == 0 and not _is_replaced(basis)
        counted = rows and Count() in statistics
        partition = _ColumnPartition.of(members[i], basis, rows=rows, counted=counted)
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
    make = method_of(statistic).centred
    if make is None:
        return None
    return make(statistic, basis)


def _sums(statistics: Sequence[Statistic]) -> list[Statistic]:
    """List the statistics that partitions are made for; counts are only taken from them."""
    sums = []
    for statistic in statistics:
        counts = statistic.declared.result is Result.COUNT
        if method_of(statistic).joint and not counts:
            sums.append(statistic)
    return sums


def _components(sums: Sequence[Statistic]) -> list[frozenset[Expression]]:
    """Return the connected components of columns that occur in one statistic, in first order."""
    homes: dict[Expression, int] = {}
    components: dict[int, set[Expression]] = {}
    for i, statistic in enumerate(sums):
        columns = set(expressions_of(statistic))
        touched = sorted({homes[x] for x in columns if x in homes})
        # What is joined keeps the place of its first member.
        home = touched[0] if touched else i
        for other in touched[1:]:
            columns |= components.pop(other)
        components.setdefault(home, set()).update(columns)
        homes.update(dict.fromkeys(columns, home))
    return [frozenset(columns) for columns in components.values()]


@frozen
class _ColumnPartition:
    """Partition of unity of some columns, the index of each column, and whether it counts all rows."""

    partition: Partition
    indices: Mapping[Expression, int]
    basis: Basis
    rows: bool

    @classmethod
    def of(
        cls, members: Sequence[Statistic], basis: Basis, *, rows: bool, counted: bool
    ) -> _ColumnPartition:
        """Make the partition of the columns of some statistics; `counted` if COUNT(*) is taken from it."""
        degrees: dict[Expression, int] = {}
        for statistic in members:
            degree = method_of(statistic).degree
            for x in expressions_of(statistic):
                degrees[x] = max(degrees.get(x, 1), degree)
        column_sets = [set(expressions_of(statistic)) for statistic in members]
        if counted:
            column_sets.append(set())
        steps = _max_steps(degrees, basis)
        columns = []
        for x, degree in degrees.items():
            # Rows without x count only where a statistic does not look at x.
            counted_without = any(x not in column_set for column_set in column_sets)
            null = counted_without and not always_present(x, basis.rows)
            column = column_of(x, degree, steps[x], null=null, columns=basis.columns)
            columns.append(column)
        partition = Partition(tuple(columns), _is_replaced(basis))
        if partition.most * multiplicity(basis.rows) > MAX_JOINT:
            # The totals will be rounded down, which counts as a further blur of the values.
            partition = Partition(tuple(map(_rounded_down, columns)), _is_replaced(basis))
        if prod(column.places for column in columns) > _MAX_TOTALS:
            raise UnsupportedQuery("these columns have too many products; ask for fewer at once")
        indices = {x: i for i, x in enumerate(degrees)}
        return cls(partition, indices, basis, rows)

    def recipe(self, statistic: Statistic) -> Recipe | None:
        """Return the recipe of a statistic from this partition; None if it has none."""
        make = method_of(statistic).joint
        expressions = expressions_of(statistic)
        if make is None or not all(x in self.indices for x in expressions):
            return None
        shared = SharedColumns(
            partition=self.partition,
            places=tuple(self.indices[x] for x in expressions),
            kinds=tuple(whole_of(domain_of(x, self.basis.columns)) for x in expressions),
            all_rows=self.rows,
            # Rows that count by shares of a person do not add up to whole numbers.
            whole=isinstance(self.basis.share, Free),
        )
        return make(statistic, shared)


def _rounded_down(column: PartitionColumn) -> PartitionColumn:
    return replace(column, blur=column.blur + column.width * ROUNDED_DOWN)


def _max_steps(degrees: Mapping[Expression, int], basis: Basis) -> dict[Expression, int]:
    """Return the most steps of each column's grid, such that their product keeps the limit.

    Columns with few steps come first and leave the remaining bits to the others.
    """
    rows = multiplicity(basis.rows)
    if isinstance(basis.share, RowShare | GroupRowShare):
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
