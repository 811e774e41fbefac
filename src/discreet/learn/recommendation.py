"""Model recommendation by one public rule, from the number of rows, columns, classes and the budget.

The rule compares the rows for each column with the noise that hides one row. With μ of Gaussian DP
that the budget buys,

    s = n·μ/(columns + 1)

is the signal. The thresholds were fitted on Adult, digits, breast cancer and wine
(benchmarks/learn.py):

    s ≥ 300           AdditiveClassifier, 32 bins      rows enough for effects of any shape
    s ≥ 50            AdditiveClassifier, 16 bins, 30 steps clipped to a tenth of √d
    s ≥ 20            LogisticRegression
    s ≥ 1             NearestCentroid for more than 4 classes, LogisticRegression for fewer
    s < 1             CategoricalNB, 8 bins            noise drowns nearly all; think twice

A number is predicted by LinearRegression, from s ≥ 300 on by AdditiveRegressor.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..arithmetic.rational import whole
from ..data.schema import Schema
from ..frozen import frozen
from ..privacy.calibrate import least_scale
from ..privacy.events import GaussianNoise
from ..privacy.measures import Measure
from .estimator import Estimator
from .models.additive import AdditiveClassifier, AdditiveRegressor
from .models.centroid import NearestCentroid
from .models.linear import LinearRegression
from .models.logistic import LogisticRegression
from .models.naive_bayes import CategoricalNB

_FEW_CLASSES = 4
_LINES, _SHAPES, _FINE = 20, 50, 300


@frozen
class Recommendation:
    """Recommended kind of model, its parameters, and the reason."""

    kind: type[Estimator]
    words: Mapping[str, int | float]
    signal: float
    why: str

    def make(self, schema: Schema, target: str, spend: Measure | None = None) -> Estimator:
        """Return the model."""
        return self.kind(schema, target, spend, **self.words)  # type: ignore[call-arg]

    def __str__(self) -> str:
        parameters = "".join(f", {name}={value}" for name, value in self.words.items())
        signal = f"rows against noise for each column: {self.signal:.3g}"
        return f"{self.kind.__name__}{parameters}: {self.why} ({signal})"


def recommend(n: int, features: int, classes: int | None, spend: Measure) -> Recommendation:
    """Recommend a model for `n` rows with so many columns and classes; None predicts a number.

    >>> import discreet as dp
    >>> from discreet.learn import recommend
    >>> print(recommend(40_000, 13, 2, dp.ApproxDP(1, 1e-6)))
    AdditiveClassifier, bins=32: rows enough for effects of any shape (rows against noise for each column: 676)
    >>> recommend(1_400, 64, 10, dp.ApproxDP(1, 1e-6)).kind.__name__
    'NearestCentroid'
    """
    scale = least_scale(lambda scale: GaussianNoise.of(scale, 1), spend, start=4)
    # μ of Gaussian DP is the sensitivity over the scale, here with sensitivity 1.
    mu = 1 / float(scale)
    rows = whole(n, "n", least=1)
    columns = whole(features, "features", least=1)
    signal = rows * mu / (columns + 1)
    if classes is None:
        return _number(signal)
    if signal >= _SHAPES:
        parameters: dict[str, int | float] = {"bins": 32}
        if signal < _FINE:
            parameters = {"bins": 16, "steps": 30, "clip": 0.1}
        why = "rows enough for effects of any shape"
        return Recommendation(AdditiveClassifier, parameters, signal, why)
    if signal < 1:
        why = "noise drowns nearly all; more rows, fewer columns or a larger spend would help"
        return Recommendation(CategoricalNB, {"bins": 8}, signal, why)
    if signal < _LINES and whole(classes, "classes", least=2) > _FEW_CLASSES:
        why = "many classes and few rows: means are all that can be told"
        return Recommendation(NearestCentroid, {}, signal, why)
    return Recommendation(
        LogisticRegression, {}, signal, "rows enough for a straight line in each column"
    )


def _number(signal: float) -> Recommendation:
    if signal >= _FINE:
        return Recommendation(
            AdditiveRegressor, {"bins": 16}, signal, "rows enough for effects of any shape"
        )
    return Recommendation(
        LinearRegression, {}, signal, "rows enough for a straight line in each column"
    )
