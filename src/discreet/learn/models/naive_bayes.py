"""Naive Bayes: each class has its own distribution of every column, taken as independent.

`CategoricalNB` uses noisy counts of listed values and bins by class, `GaussianNB` noisy means and
variances of numbers by class.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arithmetic.arrays import Floats
from ..estimator import Estimator
from ..recipes.sums import ClassSums
from ..task import Fitted, Task, TrainingRecipe
from .binned_model import BinnedModel
from .classifier import Classifier


@dataclass(eq=False, repr=False)
class CategoricalNB(BinnedModel, Classifier, Estimator):
    """Predict a class from listed values and binned numbers.

    All histograms by class are one Gaussian vector. A row moves one cell of each histogram of its
    class, so that Δ2 = √(columns + 1). A Laplace histogram for each column would pay for every
    column by itself.

    >>> import numpy as np
    >>> import discreet as dp
    >>> from discreet.learn import CategoricalNB
    >>> people = dp.Schema("people", dp.Rows(), {"age": dp.Integer(0, 99), "works": dp.Boolean()})
    >>> age = np.tile(np.arange(100), 100)
    >>> works = (age >= 20) & (age < 70)
    >>> model = CategoricalNB(people, "works", dp.ApproxDP(1, 1e-6), bins=10)
    >>> ledger = dp.open_ledger(":memory:", dp.ApproxDP(2, 1e-5))
    >>> model = model.fit(age[:, None], works, ledger=ledger)
    >>> model.predict([[10], [45], [85]]).tolist()
    [False, True, False]
    """

    def recipe(self) -> TrainingRecipe:
        """Return the training recipe: noisy sums by class."""
        return ClassSums()

    def scores_of(self, image: Floats) -> Floats:
        """Return log P(class) + Σ log P(column | class)."""
        return np.asarray(image @ _log_table(self.task_, self.fitted_).T)


class GaussianNB(Classifier, Estimator):
    """Predict a class from numbers, each taken as normal within a class, and listed values.

    >>> import numpy as np
    >>> import discreet as dp
    >>> from discreet.learn import GaussianNB
    >>> columns = {"height": dp.Integer(100, 220), "adult": dp.Boolean()}
    >>> people = dp.Schema("people", dp.Rows(), columns)
    >>> height = np.tile(np.arange(100, 200), 100)
    >>> model = GaussianNB(people, "adult", dp.ApproxDP(1, 1e-6))
    >>> ledger = dp.open_ledger(":memory:", dp.ApproxDP(2, 1e-5))
    >>> model = model.fit(height[:, None], height >= 150, ledger=ledger)
    >>> model.predict([[110], [190]]).tolist()
    [False, True]
    """

    def recipe(self) -> TrainingRecipe:
        """Return the training recipe: noisy sums by class, of numbers and their squares."""
        return ClassSums(squares=True)

    def scores_of(self, image: Floats) -> Floats:
        """Return log P(class) + Σ log density of each number + Σ log P(value | class)."""
        numbers = self.task_.design.numbers
        means, variances = _normals(self.fitted_, numbers)
        squares = (image[:, None, :numbers] - means) ** 2
        # Twice the negative log density, but for a constant.
        densities = squares / variances + np.log(variances)
        listed = image.copy()
        listed[:, :numbers] = 0.0
        table = _log_table(self.task_, self.fitted_)
        return np.asarray(-densities.sum(axis=2) / 2 + listed @ table.T)


def _log_table(task: Task, fitted: Fitted) -> Floats:
    """Return the log probabilities of classes and columns from noisy counts."""
    sums = fitted["sums"]
    # A model of an earlier release has noisy counts alone: each begins with as much as its noise.
    start = max(1.0, float(fitted["deviations"][0]))
    counts = fitted.get("counts", np.maximum(sums, 0.0) + start)
    table = np.zeros_like(sums)
    for feature, place in zip(task.design.features, task.design.starts, strict=True):
        block = slice(place, place + feature.width)
        own = counts[:, block]
        table[:, block] = np.log(own / own.sum(axis=1, keepdims=True))
    by_class = counts[:, -1]
    table[:, -1] = np.log(by_class / by_class.sum())
    return table


def _normals(fitted: Fitted, numbers: int) -> tuple[Floats, Floats]:
    """Return the mean and the variance of each number in each class, within declared bounds."""
    noise = float(fitted["deviations"][0])
    counts = np.maximum(fitted["sums"][:, -1:], 1.0) + noise
    means = np.clip(fitted["sums"][:, :numbers] / counts, -1.0, 1.0)
    variances = (fitted["squares"] + noise) / counts - means**2
    # In −1..1 no variance exceeds 1; a variance near 0 would rule out every other value.
    return means, np.clip(variances, 1e-3, 1.0)
