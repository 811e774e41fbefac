"""Columns of a statistic in a partition of unity, whose noisy totals it shares with other statistics.

A partition counts values t in 0..1, x = low + width·t (`releases.partition`). Every moment of its
columns is a weighted sum of all totals, so no budget is split between the statistics:

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
from collections.abc import Sequence

from ..frozen import frozen
from ..query.domains.domain import Whole
from .laws.joint_error import JointLines
from .laws.linear_combination import TotalWeights, total_reach, weighted_noises
from .laws.noise_sum import IntegerNoise
from .recipe import Need, NoiseModel
from .releases.basis import Basis
from .releases.partition import Partition, PartitionColumn, partition_need

PARTITION_LABELS = ("parts of the rows",)
UNIT_RANGE = (0.0, 1.0)
"""The range of the values t that a partition counts."""


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
