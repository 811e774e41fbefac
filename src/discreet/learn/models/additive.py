"""Additive models: each column has an effect of its own shape, on public bins, that can be drawn with error bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...data.schema import Schema
from ...privacy.measures import Measure
from ...query.domains.domain import Domain
from ..coding.bins import BINS
from ..coding.design import ModelDesign, design_of
from ..coding.label import Amount
from ..effects import Effects
from ..estimator import Estimator
from ..recipes.moments import LeastSquares
from ..recipes.steps import Descent
from ..task import TrainingRecipe
from .classifier import Classifier
from .regressor import Regressor


class AdditiveClassifier(Classifier, Estimator):
    """Predict one of several classes by adding up an effect of each column (a generalised additive model).

    Numbers are cut at public edges: `edges` where you know better, else `bins` equal ones and some that double. A row
    stands in one bin of each column, so its norm is the same whatever it holds: nothing is ever clipped.

    >>> import numpy as np
    >>> import discreet as dp
    >>> from discreet.learn import AdditiveClassifier
    >>> people = dp.Schema("people", dp.Rows(), {"age": dp.Integer(0, 99), "works": dp.Boolean()})
    >>> age = np.tile(np.arange(100), 100)
    >>> model = AdditiveClassifier(people, "works", dp.ApproxDP(1, 1e-6), bins=10)
    >>> ledger, works = dp.open_ledger(":memory:", dp.ApproxDP(2, 1e-5)), (age >= 20) & (age < 70)
    >>> model = model.fit(age[:, None], works, ledger=ledger)
    >>> model.predict([[10], [45], [85]]).tolist()
    [False, True, False]
    """

    def __init__(
        self,
        schema: Schema | None = None,
        target: str | None = None,
        spend: Measure | None = None,
        *,
        features: Sequence[str] | None = None,
        bins: int = BINS,
        edges: Mapping[str, Sequence[float]] | None = None,
        steps: int = 60,
        clip: float = 0.3,
        rate: float = 4.0,
    ) -> None:
        self.schema, self.target, self.spend, self.features = schema, target, spend, features
        self.bins, self.edges, self.steps, self.clip, self.rate = bins, edges, steps, clip, rate

    def recipe(self) -> TrainingRecipe:
        """Return how the model is trained."""
        return Descent(self.steps, self.clip, self.rate)

    def design(self, domains: Mapping[str, Domain]) -> ModelDesign:
        """Return how a row becomes numbers: every number by its bin."""
        return design_of(self.columns(domains), binned=True, bins=self.bins, edges=self.edges)

    @property
    def effects_(self) -> Effects:
        """What each bin of each column adds to the score of the second class (or the first of several), with error."""
        return Effects.of(self.fitted("task_"), self.fitted_)


class AdditiveRegressor(Regressor, Estimator):
    """Predict a number by adding up an effect of each column, from one noisy matrix of moments.

    >>> import numpy as np
    >>> import discreet as dp
    >>> from discreet.learn import AdditiveRegressor
    >>> people = dp.Schema("people", dp.Rows(), {"age": dp.Integer(0, 99), "hours": dp.Integer(0, 60)})
    >>> age = np.tile(np.arange(100), 100)
    >>> hours = np.where((age >= 20) & (age < 70), 40, 0)
    >>> model = AdditiveRegressor(people, "hours", dp.ApproxDP(1, 1e-6), bins=10)
    >>> model = model.fit(age[:, None], hours, ledger=dp.open_ledger(":memory:", dp.ApproxDP(2, 1e-5)))
    >>> bool(np.abs(model.predict([[10], [45]]) - [0, 40]).max() < 15)
    True
    """

    def __init__(
        self,
        schema: Schema | None = None,
        target: str | None = None,
        spend: Measure | None = None,
        *,
        features: Sequence[str] | None = None,
        bins: int = BINS,
        edges: Mapping[str, Sequence[float]] | None = None,
        lift: float = 1.0,
    ) -> None:
        self.schema, self.target, self.spend, self.features = schema, target, spend, features
        self.bins, self.edges, self.lift = bins, edges, lift

    def recipe(self) -> TrainingRecipe:
        """Return how the model is trained."""
        return LeastSquares(self.lift)

    def design(self, domains: Mapping[str, Domain]) -> ModelDesign:
        """Return how a row becomes numbers: every number by its bin."""
        return design_of(self.columns(domains), binned=True, bins=self.bins, edges=self.edges)

    @property
    def effects_(self) -> Effects:
        """What each bin of each column adds to the number, with its error."""
        label: Amount = self.fitted("task_").label
        return Effects.of(self.task_, self.fitted_, label.half)
