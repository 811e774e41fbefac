"""k-means clustering: groups of rows that lie near each other, by noisy Lloyd rounds.

A round assigns every row to its nearest centre, and moves each centre to the noisy mean of its
rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from ...arithmetic.arrays import Floats, Integers
from ...arithmetic.rational import whole
from ...data.schema import Schema
from ...privacy.measures import Measure
from ..estimator import Estimator
from ..recipes.clusters import Clusters
from ..task import TrainingRecipe
from .centroid import closeness


@dataclass(eq=False, repr=False)
class KMeans(Estimator):
    """Find `n_clusters` centres in `rounds` noisy rounds; `predict` returns the nearest's index.

    >>> import numpy as np
    >>> import discreet as dp
    >>> from discreet.learn import KMeans
    >>> points = dp.Schema("points", dp.Rows(), {"x": dp.Integer(-100, 100)})
    >>> x = np.tile([-60, -50, 50, 60], 2000)[:, None]
    >>> model = KMeans(points, dp.ApproxDP(1, 1e-6), n_clusters=2)
    >>> model = model.fit(x, ledger=dp.open_ledger(":memory:", dp.ApproxDP(2, 1e-5)))
    >>> left, right = model.predict([[-55], [55]])
    >>> centres = np.sort(model.cluster_centers_[:, 0])
    >>> bool(left != right), bool(np.abs(centres - [-55, 55]).max() < 10)
    (True, True)
    """

    schema: Schema | None = None
    spend: Measure | None = None
    _: KW_ONLY
    n_clusters: int = 8
    rounds: int = 6
    features: Sequence[str] | None = None

    _estimator_type = "clusterer"

    @property
    def target(self) -> None:
        """No column is predicted."""
        return

    def recipe(self) -> TrainingRecipe:
        """Return the training recipe: noisy Lloyd rounds."""
        clusters = whole(self.n_clusters, "n_clusters", least=1, most=1_000)
        rounds = whole(self.rounds, "rounds", least=1, most=100)
        return Clusters(clusters, rounds)

    @property
    def cluster_centers_(self) -> Floats:
        """The centres, a row each, in the units of `columns_`; of a listed value, its share."""
        return self.units_.values(self.fitted("fitted_")["centres"])

    def predict(self, X: Any) -> Integers:  # noqa: ANN401
        """Return the index of the centre nearest to each row."""
        # The constant column says nothing about places.
        image = self.image(X)[:, :-1]
        centres = self.fitted("fitted_")["centres"]
        return np.asarray(closeness(image, centres).argmax(axis=1))
