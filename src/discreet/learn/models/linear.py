"""Linear regression from one noisy matrix of moments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import NormalDist

from ...data.schema import Schema
from ...privacy.measures import Measure
from ...query.domains.domain import Domain
from ..coding.design import design_of
from ..coding.label import Amount, amount_of
from ..estimator import Estimator
from ..recipes.moments import LeastSquares
from ..task import Task, TrainingRecipe
from .regressor import Regressor

__all__ = ["LinearRegression"]


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
        self.schema, self.target, self.spend, self.features, self.lift = schema, target, spend, features, lift

    def recipe(self) -> TrainingRecipe:
        """Return how the model is trained."""
        return LeastSquares(self.lift)

    def task(self, domains: Mapping[str, Domain]) -> Task:
        """Return what the model learns."""
        return Task(design_of(self.columns(domains)), amount_of(*self.goal(domains)))

    @property
    def coef_(self) -> dict[str, float]:
        """The coefficients, in the target's units: of a number, from its middle to its upper bound."""
        label: Amount = self.fitted("task_").label
        found = self.fitted_["coefficients"][:, 0] * label.half
        return dict(zip(self.task_.design.labels, found.tolist(), strict=True))

    def coef_interval(self, level: float = 0.95) -> dict[str, tuple[float, float]]:
        """Return an interval for each coefficient: the noise, the sampling of rows and the lifting, to first order."""
        label: Amount = self.fitted("task_").label
        found = {name: array[:, 0] * label.half for name, array in self.fitted_.items() if name != "count"}
        wide = NormalDist().inv_cdf((1 + level) / 2) * found["deviations"] + found["biases"]
        return {
            name: (value - float(reach), value + float(reach))
            for (name, value), reach in zip(self.coef_.items(), wide, strict=True)
        }
