"""Logistic regression, for two classes or several, by noisy steps in a whitened space."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from ..estimator import Estimator
from ..recipes.steps import Descent
from ..task import Floats, TrainingRecipe
from .classifier import Classifier


@dataclass(eq=False, repr=False)
class LogisticRegression(Classifier, Estimator):
    """Predict one of several public classes from scaled numbers and listed values.

    A fifth of the budget is spent on second moments. They give a start, and the space in which
    `steps` noisy gradient steps follow.

    >>> import numpy as np
    >>> import discreet as dp
    >>> from discreet.learn import LogisticRegression
    >>> columns = {"age": dp.Integer(0, 100), "retired": dp.Boolean()}
    >>> people = dp.Schema("people", dp.Rows(), columns)
    >>> age = np.tile(np.arange(100), 100)
    >>> model = LogisticRegression(people, "retired", dp.ApproxDP(1, 1e-6))
    >>> ledger = dp.open_ledger(":memory:", dp.ApproxDP(2, 1e-5))
    >>> model = model.fit(age[:, None], age >= 65, ledger=ledger)
    >>> model.predict([[20], [95]]).tolist()
    [False, True]
    """

    _: KW_ONLY
    steps: int = 60
    clip: float = 0.3
    rate: float = 4.0

    def recipe(self) -> TrainingRecipe:
        """Return the training recipe: noisy gradient descent."""
        return Descent(self.steps, self.clip, self.rate)

    @property
    def coef_(self) -> Floats:
        """The increase of the log-odds of the second class by one unit of each of `columns_`.

        Of more than two classes it is that of the score of each.
        """
        return self.units_.slopes(self.fitted("fitted_")["coefficients"].T)

    @property
    def intercept_(self) -> Floats:
        """The log-odds, or the scores, of a row of zeros."""
        return self.units_.constants(self.fitted("fitted_")["coefficients"].T)
