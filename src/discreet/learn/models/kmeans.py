"""k-means: groups of rows that lie near each other, by noisy rounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arithmetic.rational import whole
from ...data.schema import Schema
from ...privacy.measures import Measure
from ..estimator import Estimator
from ..recipes.clusters import Clusters
from ..task import Floats, TrainingRecipe


class KMeans(Estimator):
    """Find `n_clusters` centres; `predict` says which is nearest.

    >>> import numpy as np
    >>> import discreet as dp
    >>> from discreet.learn import KMeans
    >>> points = dp.Schema("points", dp.Rows(), {"x": dp.Integer(-100, 100)})
    >>> x = np.tile([-60, -50, 50, 60], 2000)[:, None]
    >>> model = KMeans(points, dp.ApproxDP(1, 1e-6), n_clusters=2)
    >>> model = model.fit(x, ledger=dp.open_ledger(":memory:", dp.ApproxDP(2, 1e-5)))
    >>> left, right = model.predict([[-55], [55]])
    >>> bool(left != right), bool(np.abs(np.sort(model.cluster_centers_[:, 0]) - [-55, 55]).max() < 10)
    (True, True)
    """

    _estimator_type = "clusterer"

    def __init__(
        self,
        schema: Schema | None = None,
        spend: Measure | None = None,
        *,
        n_clusters: int = 8,
        rounds: int = 6,
        features: Sequence[str] | None = None,
    ) -> None:
        self.schema, self.spend, self.features = schema, spend, features
        self.n_clusters, self.rounds = n_clusters, rounds

    @property
    def target(self) -> None:
        """No column is predicted."""
        return

    def recipe(self) -> TrainingRecipe:
        """Return how the model is trained."""
        clusters = whole(self.n_clusters, "n_clusters", least=1, most=1_000)
        return Clusters(clusters, whole(self.rounds, "rounds", least=1, most=100))

    @property
    def cluster_centers_(self) -> Floats:
        """The centres, a row each: of `columns_`, in their own units; of a listed value, the share that has it."""
        return self.units_.values(self.fitted("fitted_")["centres"])

    def predict(self, X: Any) -> NDArray[np.int64]:  # noqa: ANN401
        """Return which centre is nearest to each row."""
        image, centres = self.image(X)[:, :-1], self.fitted("fitted_")["centres"]
        return np.asarray((2 * image @ centres.T - (centres**2).sum(axis=1)).argmax(axis=1))
