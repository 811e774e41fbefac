"""Base of all regressions: predicts a number within the declared bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...query.domains.domain import Domain
from ..coding.column_cells import read_doubles
from ..coding.label import Amount, amount_of
from ..frame import target_cells
from ..task import Floats


class Regressor:
    """Turns a model's scores into numbers of the target."""

    _estimator_type = "regressor"

    def label(self: Any, domains: Mapping[str, Domain]) -> Amount:
        """Return the number that is predicted."""
        return amount_of(*self.goal(domains))

    def predict(self: Any, X: Any) -> Floats:  # noqa: ANN401
        """Return the predicted number of each row, within the declared bounds."""
        label: Amount = self.fitted("task_").label
        return label.values(self.scores(X)[:, 0])

    def score(self: Any, X: Any, y: Any) -> float:  # noqa: ANN401
        """Return R² on rows that are yours to look at: 1 is perfect, 0 is no better than their mean."""
        return r_squared(self.predict(X), y)


def r_squared(predicted: Floats, given: Any) -> float:  # noqa: ANN401 an array or a list
    """Return 1 − the squared errors over those of the mean; rows whose number cannot be read are left out.

    >>> import numpy as np
    >>> from discreet.learn.models.regressor import r_squared
    >>> r_squared(np.array([1.0, 2.0, 3.0]), [1, 2, 3]), r_squared(np.array([2.0, 2.0, 2.0]), [1, 2, 3])
    (1.0, 0.0)
    """
    wanted = read_doubles(target_cells(given, "y"))
    known = np.isfinite(wanted)
    wanted, predicted = wanted[known], predicted[known]
    with np.errstate(all="ignore"):  # one number beyond all others is no reason to warn
        left = ((wanted - predicted) ** 2).sum()
        return float(1 - left / ((wanted - wanted.mean()) ** 2).sum())
