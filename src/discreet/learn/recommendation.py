"""Model recommendation by one public rule, from the number of rows, columns, classes and the budget.

The rule compares the rows for each column with the noise that hides one row. With μ of Gaussian DP
that the budget buys,

    s = n·μ/(columns + 1)

is the signal. The thresholds were fitted to the log loss on Adult, digits and three surveys
(benchmarks/learn.py):

    s·2/K ≥ 1,000     AdditiveClassifier, 32 bins      rows enough for effects of any shape
    s·2/K ≥ 150       AdditiveClassifier, 16 bins      (K classes share the rows)
    s ≥ 2             LogisticRegression
    s < 2             CategoricalNB of one column      how common each class is, and hardly more

A number is predicted by AdditiveRegressor with 16 bins if s ≥ 300, by LinearRegression if not, and
by LinearRegression of one column if s < 2.
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
from .models.linear import LinearRegression
from .models.logistic import LogisticRegression
from .models.naive_bayes import CategoricalNB

_LINES, _SHAPES, _FINE = 2, 150, 1000
_NUMBER_SHAPES = 300


@frozen
class Recommendation:
    """Recommended kind of model, its parameters, and the reason.

    The model uses the first `columns` of the table's columns beside the target; all if None.
    """

    kind: type[Estimator]
    words: Mapping[str, int | float]
    signal: float
    why: str
    columns: int | None = None

    def make(self, schema: Schema, target: str, spend: Measure | None = None) -> Estimator:
        """Return the model."""
        words: dict[str, object] = dict(self.words)
        if self.columns is not None:
            others = [name for name in schema.columns if name != target]
            words["features"] = others[: self.columns]
        return self.kind(schema, target, spend, **words)  # type: ignore[call-arg]

    def __str__(self) -> str:
        parameters = "".join(f", {name}={value}" for name, value in self.words.items())
        signal = f"rows against noise for each column: {self.signal:.3g}"
        return f"{self.kind.__name__}{parameters}: {self.why} ({signal})"


def recommend(n: int, features: int, classes: int | None, spend: Measure) -> Recommendation:
    """Recommend a model for `n` rows with so many columns and classes; None predicts a number.

    >>> import discreet as dp
    >>> from discreet.learn import recommend
    >>> print(recommend(40_000, 13, 2, dp.ApproxDP(1, 1e-6)))
    AdditiveClassifier, bins=16: rows enough for effects of any shape (rows against noise for each column: 676)
    >>> recommend(1_400, 64, 10, dp.ApproxDP(1, 1e-6)).kind.__name__
    'LogisticRegression'
    """
    scale = least_scale(lambda scale: GaussianNoise.of(scale, 1), spend, start=4)
    # μ of Gaussian DP is the sensitivity over the scale, here with sensitivity 1.
    mu = 1 / float(scale)
    rows = whole(n, "n", least=1)
    columns = whole(features, "features", least=1)
    signal = rows * mu / (columns + 1)
    if classes is None:
        return _number(signal)
    # A class of many has few rows of its own, and each has effects of its own.
    by_class = signal * 2 / whole(classes, "classes", least=2)
    if by_class >= _SHAPES:
        bins = 32 if by_class >= _FINE else 16
        why = "rows enough for effects of any shape"
        return Recommendation(AdditiveClassifier, {"bins": bins}, signal, why)
    if signal < _LINES:
        why = "noise drowns nearly all but how common each class is; more rows or a larger spend would help"
        return Recommendation(CategoricalNB, {"bins": 1}, signal, why, columns=1)
    return Recommendation(
        LogisticRegression, {}, signal, "rows enough for a straight line in each column"
    )


def _number(signal: float) -> Recommendation:
    """Recommend a model for a number, by the signal-to-noise ratio of the rows."""
    if signal >= _NUMBER_SHAPES:
        return Recommendation(
            AdditiveRegressor, {"bins": 16}, signal, "rows enough for effects of any shape"
        )
    if signal < _LINES:
        why = "noise drowns all but the mean; more rows or a larger spend would help"
        return Recommendation(LinearRegression, {}, signal, why, columns=1)
    return Recommendation(
        LinearRegression, {}, signal, "rows enough for a straight line in each column"
    )
