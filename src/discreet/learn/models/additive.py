"""Additive models (GAM): each column has an effect of any shape, a step function on public bins.

The effects can be drawn, with error bars.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from ..coding.label import Amount
from ..effects import Effects
from ..estimator import Estimator
from ..recipes.moments import LeastSquares
from ..recipes.steps import Descent
from ..task import TrainingRecipe
from .binned_model import BinnedModel
from .classifier import Classifier
from .regressor import Regressor


@dataclass(eq=False, repr=False)
class AdditiveClassifier(BinnedModel, Classifier, Estimator):
    """Predict one of several classes by adding up an effect of each column.

    It is a generalised additive model. Numbers are cut at public edges: `edges` where you know
    better, else `bins` equal bins and some that double in width. `steps`, `clip` and `rate` are
    those of `LogisticRegression`.

    >>> import numpy as np
    >>> import discreet as dp
    >>> from discreet.learn import AdditiveClassifier
    >>> people = dp.Schema("people", dp.Rows(), {"age": dp.Integer(0, 99), "works": dp.Boolean()})
    >>> age = np.tile(np.arange(100), 100)
    >>> works = (age >= 20) & (age < 70)
    >>> model = AdditiveClassifier(people, "works", dp.ApproxDP(1, 1e-6), bins=10)
    >>> ledger = dp.open_ledger(":memory:", dp.ApproxDP(2, 1e-5))
    >>> model = model.fit(age[:, None], works, ledger=ledger)
    >>> model.predict([[10], [45], [85]]).tolist()
    [False, True, False]
    """

    _: KW_ONLY
    steps: int = 60
    clip: float = 0.3
    rate: float = 4.0

    def recipe(self) -> TrainingRecipe:
        """Return the training recipe: noisy gradient descent."""
        return Descent(self.steps, self.clip, self.rate)

    @property
    def effects_(self) -> Effects:
        """The contribution of each bin to the log-odds of the second class, with its error.

        Of more than two classes it is that to the score of the first.
        """
        return Effects.of(self.fitted("task_"), self.fitted_, self.domains_)


@dataclass(eq=False, repr=False)
class AdditiveRegressor(BinnedModel, Regressor, Estimator):
    """Predict a number by adding up an effect of each column, from one noisy matrix of moments.

    `lift` is the ridge penalty, in units of the operator norm of the noise.

    >>> import numpy as np
    >>> import discreet as dp
    >>> from discreet.learn import AdditiveRegressor
    >>> columns = {"age": dp.Integer(0, 99), "hours": dp.Integer(0, 60)}
    >>> people = dp.Schema("people", dp.Rows(), columns)
    >>> age = np.tile(np.arange(100), 100)
    >>> hours = np.where((age >= 20) & (age < 70), 40, 0)
    >>> model = AdditiveRegressor(people, "hours", dp.ApproxDP(1, 1e-6), bins=10)
    >>> ledger = dp.open_ledger(":memory:", dp.ApproxDP(2, 1e-5))
    >>> model = model.fit(age[:, None], hours, ledger=ledger)
    >>> bool(np.abs(model.predict([[10], [45]]) - [0, 40]).max() < 15)
    True
    """

    _: KW_ONLY
    lift: float = 1.0

    def recipe(self) -> TrainingRecipe:
        """Return the training recipe: least squares from noisy moments."""
        return LeastSquares(self.lift)

    @property
    def effects_(self) -> Effects:
        """The contribution of each bin to the predicted number, with its error."""
        label: Amount = self.fitted("task_").label
        return Effects.of(self.task_, self.fitted_, self.domains_, label.half)
