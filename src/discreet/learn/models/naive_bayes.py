"""Naive Bayes: each class has its own distribution of every column, taken as independent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...data.schema import Schema
from ...privacy.measures import Measure
from ...query.domains.domain import Domain
from ..coding.bins import BINS
from ..coding.design import ModelDesign, design_of
from ..coding.feature import Numeric
from ..estimator import Estimator
from ..recipes.sums import ClassSums
from ..task import Fitted, Floats, Task, TrainingRecipe
from .classifier import Classifier


class CategoricalNB(Classifier, Estimator):
    """Predict a class from listed values and binned numbers: all histograms by class are one Gaussian vector.

    A row moves one cell of each histogram of its class, so Δ2 = √(columns + 1), where a Laplace histogram for each
    column would pay for every column by itself.

    >>> import numpy as np
    >>> import discreet as dp
    >>> from discreet.learn import CategoricalNB
    >>> people = dp.Schema("people", dp.Rows(), {"age": dp.Integer(0, 99), "works": dp.Boolean()})
    >>> age = np.tile(np.arange(100), 100)
    >>> model = CategoricalNB(people, "works", dp.ApproxDP(1, 1e-6), bins=10)
    >>> ledger, works = dp.open_ledger(":memory:", dp.ApproxDP(2, 1e-5)), (age >= 20) & (age < 70)
    >>> model = model.fit(age[:, None], works, ledger=ledger)
    >>> model.predict([[10], [45], [85]]).tolist()
    [False, True, False]
    """

    def __init__(
        self,
        schema: Schema | None = None,
        target: str | None = None,
        spend: Measure | None = None,
        *,
        features: Sequence[str] | None = None,
        bins: int = BINS,
        edges: Mapping[str, Sequence[float]] | None = None,
    ) -> None:
        self.schema, self.target, self.spend, self.features = schema, target, spend, features
        self.bins, self.edges = bins, edges

    def recipe(self) -> TrainingRecipe:
        """Return how the model is trained."""
        return ClassSums()

    def design(self, domains: Mapping[str, Domain]) -> ModelDesign:
        """Return how a row becomes numbers: every number by its bin."""
        return design_of(self.columns(domains), binned=True, bins=self.bins, edges=self.edges)

    def scores_of(self, image: Floats) -> Floats:
        """Return log P(class) + Σ log P(column | class)."""
        return np.asarray(image @ _log_table(self.task_, self.fitted_).T)


def _log_table(task: Task, fitted: Fitted) -> Floats:
    """Return log chances from noisy counts: below the noise a count says nothing, so each gets that much of a start."""
    sums, start = fitted["sums"], max(1.0, float(fitted["deviations"][0]))
    table = np.zeros_like(sums)
    for feature, place in zip(task.design.features, task.design.starts, strict=True):
        part = slice(place, place + feature.width)
        counts = np.maximum(sums[:, part], 0.0) + start
        table[:, part] = np.log(counts / counts.sum(axis=1, keepdims=True))
    share = np.maximum(sums[:, -1], 0.0) + start
    table[:, -1] = np.log(share / share.sum())
    return table


class GaussianNB(Classifier, Estimator):
    """Predict a class from numbers, each taken as normal within a class, and listed values.

    >>> import numpy as np
    >>> import discreet as dp
    >>> from discreet.learn import GaussianNB
    >>> people = dp.Schema("people", dp.Rows(), {"height": dp.Integer(100, 220), "adult": dp.Boolean()})
    >>> height = np.tile(np.arange(100, 200), 100)
    >>> model = GaussianNB(people, "adult", dp.ApproxDP(1, 1e-6))
    >>> model = model.fit(height[:, None], height >= 150, ledger=dp.open_ledger(":memory:", dp.ApproxDP(2, 1e-5)))
    >>> model.predict([[110], [190]]).tolist()
    [False, True]
    """

    def recipe(self) -> TrainingRecipe:
        """Return how the model is trained."""
        return ClassSums(squares=True)

    def scores_of(self, image: Floats) -> Floats:
        """Return log P(class) + Σ log density of each number + Σ log P(value | class)."""
        numbers = sum(isinstance(feature, Numeric) for feature in self.task_.design.features)
        means, spreads = _normals(self.fitted_, numbers)
        parts = (image[:, None, :numbers] - means) ** 2 / spreads + np.log(spreads)
        listed = image.copy()
        listed[:, :numbers] = 0.0
        return np.asarray(-parts.sum(axis=2) / 2 + listed @ _log_table(self.task_, self.fitted_).T)


def _normals(fitted: Fitted, numbers: int) -> tuple[Floats, Floats]:
    """Return the mean and the variance of each number in each class, within what the declared bounds allow."""
    noise = float(fitted["deviations"][0])
    counts = np.maximum(fitted["sums"][:, -1:], 1.0) + noise
    means = np.clip(fitted["sums"][:, :numbers] / counts, -1.0, 1.0)
    spreads = (fitted["squares"] + noise) / counts - means**2
    return means, np.clip(spreads, 1e-3, 1.0)
