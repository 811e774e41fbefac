"""From a statistic in a question to its file: the one place where all of them are listed.

COUNT(*), COUNT(x)       how many rows; where x is not NULL
COUNT(DISTINCT person)   how many people
SUM(x)                   Σx
AVG(x)                   Σ(x − m), n          with m the middle of the public range: half the sensitivity of Σx
VARIANCE(x)              Σ(x − m)², Σ(x − m), n
COVAR(x, y)              Σuv, Σu, Σv, n       with u, v centred likewise, over rows where neither is NULL
CORR(x, y)               Σuv, Σu, Σv, n, Σu², Σv²
QUANTILE, MIN, MAX       counts on a public lattice of cells
MODE, COUNT(DISTINCT x)  counts of the public values
"""

from __future__ import annotations

from typing import assert_never

from ..query.algebra.tree import (
    Correlation,
    Count,
    CountDistinct,
    CountOf,
    CountPeople,
    Covariance,
    Mean,
    Mode,
    Quantile,
    Statistic,
    Sum,
    Variance,
)
from .correlation import CorrelationEstimate, CorrelationRecipe
from .count import CountRecipe
from .covariance import CovarianceEstimate, CovarianceRecipe
from .distinct import DistinctRecipe
from .mean import MeanEstimate, MeanRecipe
from .mode import ModeEstimate, ModeRecipe
from .quantile import QuantileEstimate, QuantileRecipe
from .recipe import Estimate, Recipe
from .releases.basis import Basis
from .releases.noisy_total import TotalEstimate
from .sum import SumRecipe
from .variance import VarianceEstimate, VarianceRecipe

__all__ = ["ESTIMATES", "recipe_of"]

ESTIMATES: tuple[type[Estimate], ...] = (
    TotalEstimate,
    MeanEstimate,
    VarianceEstimate,
    CovarianceEstimate,
    CorrelationEstimate,
    QuantileEstimate,
    ModeEstimate,
)
"""What answers are made of; ledgers keep them, so this list only ever grows."""


def recipe_of(statistic: Statistic, basis: Basis) -> Recipe:
    """Return how a statistic is made from the rows of a question.

    >>> from discreet import Integer, Rows, Schema
    >>> from discreet.query.algebra.expression import Field
    >>> from discreet.query.algebra.tally import Free
    >>> from discreet.query.algebra.tree import Mean, Scan
    >>> from discreet.query.bounds.rows import columns_of
    >>> from discreet.statistics.releases.basis import Basis
    >>> people = Scan(Schema("people", Rows(), {"age": Integer(0, 120)}))
    >>> basis = Basis(people, columns_of(people), (), Free(), 1, None)
    >>> recipe = recipe_of(Mean(Field("age")), basis)
    >>> recipe.noise_model.coefficients, [need.sensitivity.l1 for need in recipe.needs(basis)]
    ((1.0, 60.0), [Fraction(60, 1), Fraction(1, 1)])

    Refuses numbers beyond 64-bit integers, and values that are not a short public list.
    """
    match statistic:
        case Count() | CountOf() | CountPeople():
            return CountRecipe.of(statistic, basis)
        case CountDistinct():
            return DistinctRecipe.of(statistic, basis)
        case Sum():
            return SumRecipe.of(statistic)
        case Mean():
            return MeanRecipe.of(statistic, basis)
        case Variance():
            return VarianceRecipe.of(statistic, basis)
        case Covariance():
            return CovarianceRecipe.of(statistic, basis)
        case Correlation():
            return CorrelationRecipe.of(statistic, basis)
        case Quantile():
            return QuantileRecipe.of(statistic)
        case Mode():
            return ModeRecipe.of(statistic, basis)
        case _:
            assert_never(statistic)
