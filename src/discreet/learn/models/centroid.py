"""Nearest centroid: the mean of each class, and the class whose mean is nearest.

The mean of each class is a noisy sum divided by a noisy count, released together.
"""

from __future__ import annotations

import numpy as np

from ...arithmetic.arrays import Floats
from ..estimator import Estimator
from ..recipes.sums import ClassSums
from ..task import TrainingRecipe
from .classifier import Classifier


class NearestCentroid(Classifier, Estimator):
    """Predict the class whose mean is nearest: the model for few rows and many columns.

    >>> import numpy as np
    >>> import discreet as dp
    >>> from discreet.learn import NearestCentroid
    >>> columns = {"height": dp.Integer(100, 220), "adult": dp.Boolean()}
    >>> people = dp.Schema("people", dp.Rows(), columns)
    >>> height = np.tile(np.arange(100, 200), 20)
    >>> model = NearestCentroid(people, "adult", dp.ApproxDP(1, 1e-6))
    >>> ledger = dp.open_ledger(":memory:", dp.ApproxDP(2, 1e-5))
    >>> model = model.fit(height[:, None], height >= 150, ledger=ledger)
    >>> model.predict([[110], [190]]).tolist()
    [False, True]
    """

    def recipe(self) -> TrainingRecipe:
        """Return the training recipe: noisy sums by class."""
        return ClassSums()

    @property
    def centroids_(self) -> Floats:
        """The mean of each class, a row each, in the units of `columns_`; of a value, its share."""
        return self.units_.values(self._means()[:, :-1])

    def _means(self) -> Floats:
        self.fitted("task_")
        sums = self.fitted_["sums"]
        noise = float(self.fitted_["deviations"][0])
        # A class of fewer rows than noise would have a mean far outside: its count is raised.
        counts = np.maximum(sums[:, -1:], noise)
        # Declared bounds hold every mean, so that clipping only removes noise.
        return np.asarray(np.clip(sums / counts, -1.0, 1.0))

    def scores_of(self, image: Floats) -> Floats:
        """Return minus the squared distance to each centroid, plus the row's own squared length."""
        return closeness(image, self._means())


def closeness(image: Floats, points: Floats) -> Floats:
    """Return 2x·c − ‖c‖² for each row x and point c: the largest is that of the nearest point.

    It is minus the squared distance, plus ‖x‖², which is the same for all points.
    """
    return np.asarray(2 * image @ points.T - (points**2).sum(axis=1))
