"""Logistic regression, for two classes or several, by noisy steps in a whitened space."""

from __future__ import annotations

from collections.abc import Sequence

from ...data.schema import Schema
from ...privacy.measures import Measure
from ..estimator import Estimator
from ..recipes.steps import Descent
from ..task import Floats, TrainingRecipe
from .classifier import Classifier


class LogisticRegression(Classifier, Estimator):
    """Predict one of several public classes from scaled numbers and listed values.

    A fifth of the budget buys second moments: a start, and the space in which `steps` noisy gradient steps do the rest.

    >>> import numpy as np
    >>> import discreet as dp
    >>> from discreet.learn import LogisticRegression
    >>> people = dp.Schema("people", dp.Rows(), {"age": dp.Integer(0, 100), "retired": dp.Boolean()})
    >>> age = np.tile(np.arange(100), 100)
    >>> model = LogisticRegression(people, "retired", dp.ApproxDP(1, 1e-6))
    >>> model = model.fit(age[:, None], age >= 65, ledger=dp.open_ledger(":memory:", dp.ApproxDP(2, 1e-5)))
    >>> model.predict([[20], [95]]).tolist()
    [False, True]
    """

    def __init__(
        self,
        schema: Schema | None = None,
        target: str | None = None,
        spend: Measure | None = None,
        *,
        features: Sequence[str] | None = None,
        steps: int = 60,
        clip: float = 0.3,
        rate: float = 4.0,
    ) -> None:
        self.schema, self.target, self.spend, self.features = schema, target, spend, features
        self.steps, self.clip, self.rate = steps, clip, rate

    def recipe(self) -> TrainingRecipe:
        """Return how the model is trained."""
        return Descent(self.steps, self.clip, self.rate)

    @property
    def coef_(self) -> Floats:
        """What one unit of each of `columns_` adds to the log-odds of the second class, or to the score of each."""
        return self.units_.slopes(self.fitted("fitted_")["coefficients"].T)

    @property
    def intercept_(self) -> Floats:
        """What is said of a row of zeros."""
        return self.units_.constants(self.fitted("fitted_")["coefficients"].T)
