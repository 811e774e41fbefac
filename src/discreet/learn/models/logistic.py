"""Logistic regression, for two classes or several, by noisy steps in a whitened space.

Noisy second moments give a matrix that makes the columns about uncorrelated (whitening). In that
space few gradient steps are needed, each released with Gaussian noise.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

from ...arithmetic.arrays import Floats
from ...errors import InvalidArgument
from ..estimator import Estimator
from ..recipes.steps import Descent
from ..task import TrainingRecipe
from .classifier import Classifier, chances_of
from .coefficients import Coefficients


@dataclass(eq=False, repr=False)
class LogisticRegression(Coefficients, Classifier, Estimator):
    """Predict one of several public classes from scaled numbers and listed values.

    Second moments give a start, and the space in which `steps` noisy gradient steps of size `rate`
    follow. The score is then recalibrated. One more gradient with a wide clipping norm measures the
    bias of clipping: it corrects the coefficients of up to four classes, and only widens the
    intervals of more. `clip` is the least clipping norm, in units of √(coded columns). It is
    widened where the noisy number of rows allows it.

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
        return Descent(self.steps, self.clip, self.rate, intervals=True)

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

    def coef_interval(
        self, level: float = 0.95, of: object = None
    ) -> dict[str, tuple[float, float]]:
        """Return a confidence interval for each coefficient of the second class, or of the class `of`.

        It includes the noise, the sampling of rows and the bias of clipping. A listed value is
        compared with the mean of all listed values of its column, a class of several with the mean
        of all classes.

        Refuses: `of` another value than the classes, and none where there are several.
        """
        found = self.coefficients(level, self._place(of))[:-1]
        return {one.name: (one.low, one.high) for one in found}

    def _place(self, of: object) -> int:
        classes = self.classes_.tolist()
        if len(classes) == 2 and (of is None or of == classes[1]):
            return 0
        if of in classes and len(classes) > 2:
            return int(classes.index(of))
        wanted = classes[1:] if len(classes) == 2 else classes
        raise InvalidArgument(f"of is a class that has coefficients: {wanted}; got {of!r}")

    def proba_interval(self, X: Any, level: float = 0.95) -> tuple[Floats, Floats]:  # noqa: ANN401
        """Return both ends of an interval for the probability of the second of two classes."""
        image = self.image(X)
        scores = self.scores_of(image)
        widths = self._score_widths(image, level)[:, None]
        low = chances_of(scores - widths)[:, 1]
        return low, chances_of(scores + widths)[:, 1]
