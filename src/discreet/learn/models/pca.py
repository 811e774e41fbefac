"""Principal component analysis (PCA) from one noisy matrix of moments.

The moments are sums of products of columns, released once with Gaussian noise. Directions,
variances and coordinates are computed from them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from ...arithmetic.arrays import Floats
from ...data.schema import Schema
from ...errors import InvalidArgument
from ...privacy.measures import Measure
from ...query.domains.domain import Domain
from ..estimator import Estimator
from ..recipes.components import Components
from ..task import Task, TrainingRecipe


@dataclass(eq=False, repr=False)
class PCA(Estimator):
    """Describe rows by the `n_components` directions in which they differ most (Analyze Gauss).

    >>> import numpy as np
    >>> import discreet as dp
    >>> from discreet.learn import PCA
    >>> columns = {"x": dp.Integer(-100, 100), "y": dp.Integer(-100, 100)}
    >>> points = dp.Schema("points", dp.Rows(), columns)
    >>> x = np.tile(np.arange(-100, 101), 100)
    >>> model = PCA(points, dp.ApproxDP(1, 1e-6), n_components=1)
    >>> ledger = dp.open_ledger(":memory:", dp.ApproxDP(2, 1e-5))
    >>> model = model.fit(np.column_stack([x, x // 2]), ledger=ledger)
    >>> cosine = model.components_[0] @ [2, 1] / 5**0.5
    >>> bool(abs(abs(cosine) - 1) < 0.01), model.transform([[0, 0]]).shape
    (True, (1, 1))

    Refuses: fewer than one component, or more than coded columns, by `InvalidArgument`.
    """

    schema: Schema | None = None
    spend: Measure | None = None
    _: KW_ONLY
    n_components: int | None = None
    features: Sequence[str] | None = None

    _estimator_type = "transformer"

    @property
    def target(self) -> None:
        """No column is predicted."""
        return

    def recipe(self) -> TrainingRecipe:
        """Return the training recipe: principal directions of noisy moments."""
        return Components()

    def task(self, domains: Mapping[str, Domain]) -> Task:
        """Return the learning task; refuses more components than there are columns."""
        task = Estimator.task(self, domains)
        width = task.design.width
        if self.n_components is not None and not 1 <= self.n_components < width:
            raise InvalidArgument(
                f"n_components is a number from 1 to {width - 1}, got {self.n_components}"
            )
        return task

    @property
    def components_(self) -> Floats:
        """The directions, a row each, in the model's units."""
        return self.fitted("fitted_")["components"][: self.n_components]  # type: ignore[no-any-return]

    @property
    def explained_variance_(self) -> Floats:
        """The variance along each direction, in the model's units."""
        return self.fitted("fitted_")["variances"][: self.n_components]  # type: ignore[no-any-return]

    def transform(self, X: Any) -> Floats:  # noqa: ANN401
        """Return the coordinates of each row along the directions."""
        centred = self.image(X)[:, :-1] - self.fitted_["mean"]
        return np.asarray(centred @ self.components_.T)

    def fit_transform(self, X: Any, y: Any = None, **words: Any) -> Floats:  # noqa: ANN401
        """Fit, and return the coordinates of each row."""
        return self.fit(X, y, **words).transform(X)
