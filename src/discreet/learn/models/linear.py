"""Linear regression from one noisy matrix of moments."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

from ...data.schema import Schema
from ...privacy.measures import Measure
from ..coding.label import Amount
from ..estimator import Estimator
from ..recipes.moments import LeastSquares
from ..task import Floats, TrainingRecipe
from .regressor import Regressor


class LinearRegression(Regressor, Estimator):
    """Predict a number as a linear function of the others.

    One release: Σ (x, y)(x, y)ᵀ with Gaussian noise, exact integers before it; a curator takes the sums from the store,
    and no row leaves it. Numbers are scaled by their declared bounds, listed values get a coefficient each.

    >>> import numpy as np
    >>> import discreet as dp
    >>> from discreet.learn import LinearRegression
    >>> homes = dp.Schema("homes", dp.Rows(), {"rooms": dp.Integer(1, 9), "price": dp.Real(0, 1000)})
    >>> rooms = np.tile(np.arange(1, 10), 2000)
    >>> model = LinearRegression(homes, "price", dp.ApproxDP(1, 1e-6))
    >>> model = model.fit(rooms[:, None], 100 * rooms, ledger=dp.open_ledger(":memory:", dp.ApproxDP(2, 1e-5)))
    >>> bool(np.abs(model.predict([[2], [8]]) - [200, 800]).max() < 40)
    True
    """

    def __init__(
        self,
        schema: Schema | None = None,
        target: str | None = None,
        spend: Measure | None = None,
        *,
        features: Sequence[str] | None = None,
        lift: float = 0.8,
    ) -> None:
        self.schema, self.target, self.spend, self.features, self.lift = (
            schema,
            target,
            spend,
            features,
            lift,
        )

    def recipe(self) -> TrainingRecipe:
        """Return how the model is trained."""
        return LeastSquares(self.lift)

    @property
    def coef_(self) -> Floats:
        """What one unit of each of `columns_` adds to the target; of a listed value, what having it adds.

        Rows of more than two numbers that lie far out are shortened first, as `predict` does.
        """
        return self._slopes("coefficients")

    @property
    def intercept_(self) -> float:
        """What is predicted for a row of zeros."""
        label: Amount = self.fitted("task_").label
        return label.middle + label.half * float(
            self.units_.constants(self.fitted_["coefficients"][:, 0])
        )

    def coef_interval(self, level: float = 0.95) -> dict[str, tuple[float, float]]:
        """Return an interval for each coefficient: the noise, the sampling of rows and the lifting, to first order."""
        wide = NormalDist().inv_cdf((1 + level) / 2) * self._slopes("deviations") + self._slopes(
            "biases"
        )
        ends = zip(self.columns_, self.coef_, wide, strict=True)
        return {name: (float(value - reach), float(value + reach)) for name, value, reach in ends}

    def _slopes(self, name: str) -> Floats:
        label: Amount = self.fitted("task_").label
        return self.units_.slopes(self.fitted_[name][:, 0]) * label.half
