"""Linear regression from one noisy matrix of moments.

The moments are sums of products of the columns and the target. They are released once, with
Gaussian noise; coefficients, intervals and predictions are computed from them.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

from ...arithmetic.arrays import Floats
from ..coding.label import Amount
from ..estimator import Estimator
from ..recipes.moments import LeastSquares
from ..task import TrainingRecipe
from .coefficients import Coefficients, quantile_of
from .regressor import Regressor


@dataclass(eq=False, repr=False)
class LinearRegression(Coefficients, Regressor, Estimator):
    """Predict a number as a linear function of the other columns.

    There is one release: Σ (x, y)(x, y)ᵀ, exact integers, with Gaussian noise. A curator takes the
    sums from the store, and no row leaves it. Numbers are scaled by their declared bounds. Each
    listed value has its own coefficient. `lift` is the ridge penalty, in units of the operator norm
    of the noise.

    >>> import numpy as np
    >>> import discreet as dp
    >>> from discreet.learn import LinearRegression
    >>> columns = {"rooms": dp.Integer(1, 9), "price": dp.Real(0, 1000)}
    >>> homes = dp.Schema("homes", dp.Rows(), columns)
    >>> rooms = np.tile(np.arange(1, 10), 2000)
    >>> model = LinearRegression(homes, "price", dp.ApproxDP(1, 1e-6))
    >>> ledger = dp.open_ledger(":memory:", dp.ApproxDP(2, 1e-5))
    >>> model = model.fit(rooms[:, None], 100 * rooms, ledger=ledger)
    >>> bool(np.abs(model.predict([[2], [8]]) - [200, 800]).max() < 40)
    True
    """

    _: KW_ONLY
    lift: float = 0.8

    def recipe(self) -> TrainingRecipe:
        """Return the training recipe: least squares from noisy moments."""
        return LeastSquares(self.lift)

    @property
    def coef_(self) -> Floats:
        """The increase of the target by one unit of each of `columns_`, or by a listed value.

        Rows of more than two numbers that lie far out are shortened first, as in `predict`.
        """
        return self._slopes("coefficients")

    @property
    def intercept_(self) -> float:
        """The prediction for a row of zeros."""
        label: Amount = self.fitted("task_").label
        constant = self.units_.constants(self.fitted_["coefficients"][:, 0])
        return label.middle + label.half * float(constant)

    def coef_interval(self, level: float = 0.95) -> dict[str, tuple[float, float]]:
        """Return a confidence interval for each coefficient, to first order.

        It includes the noise, the sampling of rows and the bias of the ridge penalty. A listed
        value is compared with the mean of all listed values of its column.
        """
        if "errors" in self.fitted("fitted_"):
            found = self.coefficients(level)[:-1]
            return {one.name: (one.low, one.high) for one in found}
        # Models of earlier releases have the deviations of uncentred coefficients.
        widths = quantile_of(level) * self._slopes("deviations") + self._slopes("biases")
        ends = zip(self.coef_ - widths, self.coef_ + widths, strict=True)
        rows = zip(self.columns_, ends, strict=True)
        return {name: (float(low), float(high)) for name, (low, high) in rows}

    def predict_interval(self, X: Any, level: float = 0.95) -> tuple[Floats, Floats]:  # noqa: ANN401
        """Return both ends of an interval for the mean of the target at each row, within bounds."""
        label: Amount = self.fitted("task_").label
        image = self.image(X)
        scores = self.scores_of(image)[:, 0]
        widths = self._score_widths(image, level)
        return label.values(scores - widths), label.values(scores + widths)

    def _label_scale(self) -> tuple[float, float]:
        label: Amount = self.fitted("task_").label
        return label.middle, label.half

    def _slopes(self, name: str) -> Floats:
        label: Amount = self.fitted("task_").label
        return self.units_.slopes(self.fitted_[name][:, 0]) * label.half
