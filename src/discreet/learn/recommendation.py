"""Which model, for so many rows and so large a spend: one public rule, said before anything is spent.

What counts is how many rows there are for each column and how much noise hides one of them. With μ the Gaussian
promise that the spend buys,

    s = n·μ/(columns + 1)

compares them. The thresholds were read off Adult, digits, breast cancer and wine (benchmarks/learn.py):

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
    """A kind of model with its parameters, and why."""

    kind: type[Estimator]
    words: Mapping[str, int | float]
    signal: float
    why: str

    def make(self, schema: Schema, target: str, spend: Measure | None = None) -> Estimator:
        """Return the model."""
        return self.kind(schema, target, spend, **self.words)  # type: ignore[call-arg]

    def __str__(self) -> str:
        words = "".join(f", {name}={value}" for name, value in self.words.items())
        return f"{self.kind.__name__}{words}: {self.why} (rows against noise for each column: {self.signal:.3g})"


def recommend(n: int, features: int, classes: int | None, spend: Measure) -> Recommendation:
    """Name the model for `n` rows with so many columns and classes; `classes=None` predicts a number.

    >>> import discreet as dp
    >>> from discreet.learn import recommend
    >>> print(recommend(40_000, 13, 2, dp.ApproxDP(1, 1e-6)))
    AdditiveClassifier, bins=32: rows enough for effects of any shape (rows against noise for each column: 676)
    >>> recommend(1_400, 64, 10, dp.ApproxDP(1, 1e-6)).kind.__name__
    'NearestCentroid'
    """
    mu = 1 / float(least_scale(lambda scale: GaussianNoise.of(scale, 1), spend, start=4))
    signal = whole(n, "n", least=1) * mu / (whole(features, "features", least=1) + 1)
    if classes is None:
        return _number(signal)
    if signal >= _SHAPES:
        words: dict[str, int | float] = (
            {"bins": 32} if signal >= _FINE else {"bins": 16, "steps": 30, "clip": 0.1}
        )
        return Recommendation(
            AdditiveClassifier, words, signal, "rows enough for effects of any shape"
        )
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
