"""Catalogue of statistics: the one module that maps a statistic of a question to its file.

COUNT(*), COUNT(x)       number of rows; of rows where x is not NULL
COUNT(DISTINCT person)   number of people
SUM(x)                   Σx
AVG(x)                   Σ(x − m), n       m the middle of the public range: half the sensitivity of Σx
VARIANCE(x)              Σ(x − m)², Σ(x − m), n
COVAR(x, y)              Σuv, Σu, Σv, n    u, v centred likewise, over rows where neither is NULL
CORR(x, y)               Σuv, Σu, Σv, n, Σu², Σv²
QUANTILE, MIN, MAX       counts of public cells, all quantiles of a column at once
MODE, COUNT(DISTINCT x)  counts of the public values
"""

from __future__ import annotations

from functools import cache
from typing import assert_never

from .. import statistics
from ..query.algebra.expression import Constant
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
from ..query.domains.domain_of import domain_of
from .count import CountRecipe
from .joint_estimate import JointCorrelation, JointCovariance, JointMean, JointTotal, JointVariance
from .mean import MeanEstimate, MeanRecipe
from .recipe import NoisyValue, Recipe
from .releases.addend import present
from .releases.basis import Basis
from .releases.choice import any_cells, public_cells
from .releases.set_totals import SetEstimate
from .releases.total import TotalEstimate
from .rounded_sums import RoundedTotal, rounding_of
from .sum import SumRecipe
from .variance import VarianceEstimate, VarianceRecipe


@cache
def list_estimates() -> tuple[type[NoisyValue], ...]:
    """List the classes of estimates in answers.

    Guarantee: ledgers keep estimates for ever, so this list only grows.
    Law: tests/statistics/test_recipes.py::test_stored_forms_keep_every_field_under_names_of_their_own
    """
    # Rarer statistics are named by their package, which loads them on first use.
    return (
        TotalEstimate,
        MeanEstimate,
        VarianceEstimate,
        statistics.covariance.CovarianceEstimate,
        statistics.correlation.CorrelationEstimate,
        statistics.quantile.QuantileEstimate,
        statistics.mode.ModeEstimate,
        JointTotal,
        JointMean,
        JointVariance,
        JointCovariance,
        JointCorrelation,
        statistics.quantile.QuantilePoint,
        SetEstimate,
        RoundedTotal,
    )


def recipe_of(statistic: Statistic, basis: Basis) -> Recipe:
    """Return the recipe of a statistic over the rows of a question.

    Refuses: numbers beyond 64-bit integers, and values that are not a short public list
        (`UnsupportedQuery`).
    Law: tests/statistics/test_recipes.py::test_no_statistic_is_left_out

    >>> from discreet.statistics.catalogue import recipe_of
    >>> from discreet import Integer, Rows, Schema
    >>> from discreet.query.algebra.expression import Field
    >>> from discreet.query.algebra.tally import Free
    >>> from discreet.query.algebra.tree import Mean, Scan
    >>> from discreet.query.bounds.relation_facts import columns_of
    >>> from discreet.statistics.releases.basis import Basis
    >>> people = Scan(Schema("people", Rows(), {"age": Integer(0, 120)}))
    >>> basis = Basis(people, columns_of(people), (), Free(), 1, None)
    >>> recipe = recipe_of(Mean(Field("age")), basis)
    >>> recipe.noise_model.coefficients, [need.sensitivity.l1 for need in recipe.needs(basis)]
    ((1.0, 60.0), [Fraction(60, 1), Fraction(1, 1)])
    """
    columns = basis.columns
    match statistic:
        case Count():
            return CountRecipe(Constant(True))
        case CountPeople():
            return CountRecipe(Constant(True), people=True)
        case CountOf(of=of):
            return CountRecipe(present(of, basis.rows))
        case CountDistinct(of=of):
            return statistics.distinct.DistinctRecipe(any_cells(of, basis))
        case Sum(of=of):
            return SumRecipe(of, rounding_of(of, columns))
        case Mean(of=of):
            return MeanRecipe(of, domain_of(of, columns))
        case Variance(of=of, sample=sample, root=root):
            return VarianceRecipe(of, domain_of(of, columns), sample, root)
        case Covariance(x=x, y=y, sample=sample):
            kinds = (domain_of(x, columns), domain_of(y, columns))
            return statistics.covariance.CovarianceRecipe(x, y, kinds, sample)
        case Correlation(x=x, y=y):
            kinds = (domain_of(x, columns), domain_of(y, columns))
            return statistics.correlation.CorrelationRecipe(x, y, kinds)
        case Quantile(of=of, at=at):
            return statistics.quantile.QuantileRecipe(of, at)
        case Mode(of=of):
            return statistics.mode.ModeRecipe(public_cells(of, basis))
        case _:
            assert_never(statistic)
