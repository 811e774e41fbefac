"""Scalar sub-queries: a statistic of all rows of a relation, beside the keys of a question.

Its totals have no keys, so that each is one number. It is drawn once and stands beside every key
(`answer.ask`): drawn anew for each of m keys, the mean of m draws would have m times less variance than
was paid for.

Guarantee: the sensitivity of each total is that of the same statistic asked alone.
Law: tests/statistics/test_overall.py::TestOneNumber
"""

from __future__ import annotations

from ..frozen import frozen
from ..query.algebra.statistic import Overall
from ..query.algebra.tree import Finish, Question
from ..query.bounds.contribution_bounds import row_share
from .catalogue import recipe_of
from .recipe import Draws, Need, NoiseModel, NoisyValue, Recipe, StatisticMethod
from .releases.basis import Basis, basis_of
from .releases.total import TotalEstimate


@frozen
class OverallRecipe:
    """Recipe of a sub-query's statistic: the recipe of the same question asked alone.

    Law: tests/statistics/test_overall.py::TestOneNumber
    """

    alone: Question
    inner: Recipe

    @property
    def noise_model(self) -> NoiseModel:
        """Noise model of the statistic asked alone."""
        return self.inner.noise_model

    def needs(self, basis: Basis) -> list[Need]:
        """List the totals of the statistic asked alone, without keys."""
        return self.inner.needs(_own_basis(self.alone, basis))

    def estimate(self, draws: Draws) -> NoisyValue:
        """Return the estimate of the statistic asked alone."""
        return self.inner.estimate(draws)


def _own_basis(alone: Question, basis: Basis) -> Basis:
    """Return the basis of the rows of a sub-query, of which there is one cell."""
    return basis_of(alone, row_share(alone.rows), 1, basis.public_values, intervals=basis.intervals)


def _recipe(statistic: Overall, basis: Basis) -> Recipe:
    alone = Question(statistic.rows, (), (("all", statistic.statistic),), Finish(()))
    return OverallRecipe(alone, recipe_of(statistic.statistic, _own_basis(alone, basis)))


METHOD = StatisticMethod(_recipe, (TotalEstimate,))
