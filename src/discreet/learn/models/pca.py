"""Principal components: the directions in which rows differ most, from one noisy matrix of moments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...data.schema import Schema
from ...errors import InvalidArgument
from ...privacy.measures import Measure
from ...query.domains.domain import Domain
from ..coding.design import design_of
from ..estimator import Estimator
from ..recipes.components import Components
from ..task import Floats, Task, TrainingRecipe


class PCA(Estimator):
    """Describe rows by their `n_components` most telling directions (Analyze Gauss).

    >>> import numpy as np
    >>> import discreet as dp
    >>> from discreet.learn import PCA
    >>> points = dp.Schema("points", dp.Rows(), {"x": dp.Integer(-100, 100), "y": dp.Integer(-100, 100)})
    >>> x = np.tile(np.arange(-100, 101), 100)
    >>> model = PCA(points, dp.ApproxDP(1, 1e-6), n_components=1)
    >>> model = model.fit(np.column_stack([x, x // 2]), ledger=dp.open_ledger(":memory:", dp.ApproxDP(2, 1e-5)))
    >>> bool(abs(abs(model.components_[0] @ [2, 1]) / 5**0.5 - 1) < 0.01), model.transform([[0, 0]]).shape
    (True, (1, 1))
    """

    _estimator_type = "transformer"

    def __init__(
        self,
        schema: Schema | None = None,
        spend: Measure | None = None,
        *,
        n_components: int | None = None,
        features: Sequence[str] | None = None,
    ) -> None:
        self.schema, self.spend, self.features, self.n_components = (
            schema,
            spend,
            features,
            n_components,
        )

    @property
    def target(self) -> None:
        """No column is predicted."""
        return

    def recipe(self) -> TrainingRecipe:
        """Return how the model is trained."""
        return Components()

    def task(self, domains: Mapping[str, Domain]) -> Task:
        """Return what the model learns."""
        design = design_of(self.columns(domains))
        if self.n_components is not None and not 1 <= self.n_components < design.width:
            raise InvalidArgument(
                f"n_components is a number from 1 to {design.width - 1}, got {self.n_components}"
            )
        return Task(design, None)

    @property
    def components_(self) -> Floats:
        """The directions, a row each, in the model's units."""
        self.fitted("task_")
        return self.fitted_["components"][: self.n_components]

    @property
    def explained_variance_(self) -> Floats:
        """The variance along each direction, in the model's units."""
        self.fitted("task_")
        return self.fitted_["variances"][: self.n_components]

    def transform(self, X: Any) -> Floats:  # noqa: ANN401
        """Return each row's place along the directions."""
        return np.asarray((self.image(X)[:, :-1] - self.fitted_["mean"]) @ self.components_.T)

    def fit_transform(self, X: Any, y: Any = None, **words: Any) -> Floats:  # noqa: ANN401
        """Fit, and return each row's place."""
        return self.fit(X, y, **words).transform(X)
