"""Quantile regression: a quantile of the target as a linear function of the other columns.

It is trained by noisy gradient steps; its predictions lie within the target's declared bounds.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...data.schema import Schema
from ...errors import InvalidArgument
from ...privacy.measures import Measure
from ..estimator import Estimator
from ..recipes.steps import Descent
from ..task import TrainingRecipe
from .regressor import Regressor


class QuantileRegression(Regressor, Estimator):
    """Predict the quantile `at` of a number from the others, by noisy steps on the pinball loss.

    `steps`, `clip` and `rate` are those of `LogisticRegression`; the clipping norm is not widened.

    >>> import numpy as np
    >>> import discreet as dp
    >>> from discreet.learn import QuantileRegression
    >>> columns = {"rooms": dp.Integer(1, 9), "price": dp.Real(0, 1000)}
    >>> homes = dp.Schema("homes", dp.Rows(), columns)
    >>> rooms = np.tile(np.arange(1, 10), 2000)
    >>> model = QuantileRegression(homes, "price", dp.ApproxDP(1, 1e-6), at=0.5)
    >>> ledger = dp.open_ledger(":memory:", dp.ApproxDP(2, 1e-5))
    >>> model = model.fit(rooms[:, None], 100 * rooms, ledger=ledger)
    >>> bool(np.abs(model.predict([[2], [8]]) - [200, 800]).max() < 60)
    True

    Refuses: an `at` outside (0, 1), by `InvalidArgument`.
    """

    # Written out, unlike other models: ledgers store texts in which `at` precedes `features`.
    def __init__(
        self,
        schema: Schema | None = None,
        target: str | None = None,
        spend: Measure | None = None,
        *,
        at: float = 0.5,
        features: Sequence[str] | None = None,
        steps: int = 60,
        clip: float = 0.3,
        rate: float = 1.0,
    ) -> None:
        super().__init__(schema, target, spend, features=features)
        self.at = at
        self.steps = steps
        self.clip = clip
        self.rate = rate

    def recipe(self) -> TrainingRecipe:
        """Return the training recipe: noisy gradient descent on the smoothed pinball loss."""
        if not 0 < self.at < 1:
            raise InvalidArgument(f"at is a share between 0 and 1, got {self.at}")
        return Descent(self.steps, self.clip, self.rate, at=self.at)
