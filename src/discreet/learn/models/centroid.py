"""Nearest centroid: the mean of each class, and the class whose mean is nearest."""

from __future__ import annotations

import numpy as np

from ..estimator import Estimator
from ..recipes.sums import ClassSums
from ..task import Floats, TrainingRecipe
from .classifier import Classifier


class NearestCentroid(Classifier, Estimator):
    """Predict the class whose mean is nearest: the model for few rows and many columns.

    >>> import numpy as np
    >>> import discreet as dp
    >>> from discreet.learn import NearestCentroid
    >>> people = dp.Schema("people", dp.Rows(), {"height": dp.Integer(100, 220), "adult": dp.Boolean()})
    >>> height = np.tile(np.arange(100, 200), 20)
    >>> model = NearestCentroid(people, "adult", dp.ApproxDP(1, 1e-6))
    >>> model = model.fit(height[:, None], height >= 150, ledger=dp.open_ledger(":memory:", dp.ApproxDP(2, 1e-5)))
    >>> model.predict([[110], [190]]).tolist()
    [False, True]
    """

    def recipe(self) -> TrainingRecipe:
        """Return how the model is trained."""
        return ClassSums()

    @property
    def centroids_(self) -> Floats:
        """The mean of each class, a row each: of `columns_`, in their own units; of a listed value, its share."""
        return self.units_.values(self._places()[:, :-1])

    def _places(self) -> Floats:
        self.fitted("task_")
        counts = np.maximum(self.fitted_["sums"][:, -1:], float(self.fitted_["deviations"][0]))
        return np.asarray(np.clip(self.fitted_["sums"] / counts, -1.0, 1.0))

    def scores_of(self, image: Floats) -> Floats:
        """Return minus the squared distance to each centroid, but for the row's own length."""
        centroids = self._places()
        return np.asarray(2 * image @ centroids.T - (centroids**2).sum(axis=1))
