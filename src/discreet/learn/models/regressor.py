"""Base of all regressions: predicts a number within the declared bounds.

A model only has to compute scores of coded rows. This base turns them into numbers of the target's
own unit, and computes R² on rows that may be looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from ...arithmetic.arrays import Floats
from ...data.schema import Schema
from ...privacy.measures import Measure
from ...query.domains.domain import Domain
from ..coding.column_cells import read_doubles
from ..coding.label import Amount, amount_of
from ..frame import target_cells


# Each model has its own `__repr__` and is compared by identity, as in scikit-learn.
@dataclass(eq=False, repr=False)
class Regressor:
    """Mixin of models that predict a number: turns scores into values of the target.

    Refuses: a target that is no number between declared bounds, by `InvalidArgument`.
    """

    schema: Schema | None = None
    target: str | None = None
    spend: Measure | None = None
    _: KW_ONLY
    features: Sequence[str] | None = None

    _estimator_type = "regressor"

    def label(self: Any, domains: Mapping[str, Domain]) -> Amount:
        """Return the number to predict."""
        return amount_of(*self.goal(domains))

    def predict(self: Any, X: Any) -> Floats:  # noqa: ANN401
        """Return the predicted number of each row, within the declared bounds."""
        label: Amount = self.fitted("task_").label
        return label.values(self.scores(X)[:, 0])

    def score(self: Any, X: Any, y: Any) -> float:  # noqa: ANN401
        """Return R² on rows that you may look at; the result is not private.

        1 is perfect, 0 no better than the mean of these rows.
        """
        return r_squared(self.predict(X), y)


def r_squared(predicted: Floats, given: Any) -> float:  # noqa: ANN401 an array or a list
    """Return R²: 1 − (sum of squared errors)/(sum of squared distances from the mean).

    Rows whose number cannot be read are left out.

    >>> import numpy as np
    >>> from discreet.learn.models.regressor import r_squared
    >>> r_squared(np.array([1.0, 2.0, 3.0]), [1, 2, 3]), r_squared(np.full(3, 2.0), [1, 2, 3])
    (1.0, 0.0)
    """
    wanted = read_doubles(target_cells(given, "y"))
    known = np.isfinite(wanted)
    wanted = wanted[known]
    # One number beyond all others, or a single row, is no reason to warn.
    with np.errstate(all="ignore"):
        errors = ((wanted - predicted[known]) ** 2).sum()
        spread = ((wanted - wanted.mean()) ** 2).sum()
        return float(1 - errors / spread)
