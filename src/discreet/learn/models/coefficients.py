"""Coefficients with confidence intervals, in the columns' own units.

An interval holds the noise, the sampling of the rows and the bias that is left: of the ridge penalty
in linear regression, of clipping in logistic regression (`training/correction.py`).
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np

from ...arithmetic.arrays import Floats
from ...errors import InvalidArgument
from ...frozen import frozen


@frozen
class Coefficient:
    """One coefficient, or the intercept, and its interval, in the columns' own units."""

    name: str
    value: float
    low: float
    high: float


def quantile_of(level: object) -> float:
    """Return how many deviations an interval of this level reaches.

    Refuses: a level outside (0, 1), by `InvalidArgument`.
    """
    is_number = isinstance(level, int | float) and not isinstance(level, bool)
    if not is_number or not 0 < level < 1:  # type: ignore[operator]
        raise InvalidArgument(f"level is a share between 0 and 1, such as 0.95; got {level!r}")
    return NormalDist().inv_cdf((1 + level) / 2)  # type: ignore[operator]


class Coefficients:
    """Mixin of linear models whose coefficients have confidence intervals.

    Guarantee: intervals of 95 % hold what the same model without noise would find in the population
        in 93 to 99 % of fits (benchmarks/learn_coverage.py).
    Refuses: models of earlier releases, which kept no errors, by `InvalidArgument`.
    """

    def _label_scale(self) -> tuple[float, float]:
        """Return the model's 0 and 1 in units of the target; log-odds stay as they are."""
        return 0.0, 1.0

    def coefficients(self: Any, level: float = 0.95, place: int = 0) -> list[Coefficient]:
        """Return each coefficient and the intercept with intervals; `place` is a score's column."""
        reach = quantile_of(level)
        fitted = self.fitted("fitted_")
        if "errors" not in fitted:
            raise InvalidArgument(
                "this model was trained by an earlier release, which kept no errors; train it again"
            )
        middle, half = self._label_scale()
        units = self.units_
        column = fitted["coefficients"][:, place]
        values = np.append(units.slopes(column), units.constants(column)) * half
        values[-1] += middle
        widths = reach * fitted["errors"][:, place]
        if "biases" in fitted:
            widths = widths + fitted["biases"][:, place]
        widths = widths * half / np.append(units.halves, 1.0)
        names = (*self.columns_, "intercept")
        rows = zip(names, values.tolist(), widths.tolist(), strict=True)
        return [Coefficient(name, value, value - wide, value + wide) for name, value, wide in rows]

    def _score_widths(self: Any, image: Floats, level: float) -> Floats:
        """Return how far the interval of each row's score reaches."""
        reach = quantile_of(level)
        fitted = self.fitted("fitted_")
        if "covariance" not in fitted:
            raise InvalidArgument(
                "intervals of predictions are kept for two classes, or a number, and up to "
                "100 columns; use fewer columns, or the intervals of coefficients"
            )
        covariance = fitted["covariance"]
        variances = np.einsum("ni,ij,nj->n", image, covariance, image)
        widths = reach * np.sqrt(np.maximum(variances, 0.0))
        if "leaning" in fitted:
            widths = widths + np.abs(image @ fitted["leaning"])
        return np.asarray(widths)
