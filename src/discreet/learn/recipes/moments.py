"""Models of second moments: least squares, and principal components. One release, and all else follows from it."""

from __future__ import annotations

import math

import numpy as np

from ...errors import InvalidArgument
from ...frozen import frozen
from ...noise import Bits
from ...privacy.measures import Measure
from ..coding.feature import UNIT
from ..coding.label import Amount, Label
from ..task import Fitted, Floats, Task, Training
from ..training.budget import Slice, divide
from ..training.gram import Moments, gram_slice, release_moments
from ..training.influence import Influence
from ..training.ridge import lift_of, spectrum_of
from ..training.source import Source

LIFTS = (0.0, 100.0)
"""From where to where a lift is of use."""


def within(value: object, name: str, bounds: tuple[float, float]) -> None:
    """Refuse a number of a recipe that lies outside what a training can use: before the charge, not after it."""
    low, high = bounds
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise InvalidArgument(f"{name} is a number from {low:g} to {high:g}, got {value!r}")


def label_unit(task: Task) -> int:
    """Return what a label of 1 is in whole numbers: about half the norm of a row, so that both are told alike well."""
    return UNIT * max(1, round(math.sqrt(task.design.squared_norm) / UNIT / 2))


def _labels(label: Label | None) -> int:
    if label is None:
        return 0
    return 1 if isinstance(label, Amount) or len(label.values) == 2 else len(label.values)


def moments_slice(task: Task, influence: Influence) -> Slice:
    """Say what releasing the moments of a task asks of a budget."""
    labels = _labels(task.label)
    own = label_unit(task) ** 2 if labels else 0
    return gram_slice(task.design.squared_norm, own, task.design.width, labels, influence)


def moments_of(
    task: Task, training: Training, source: Source, *, bits: Bits | None = None
) -> Moments:
    """Release the moments of a task; a label of 1 is 1 in them."""
    unit = label_unit(task)
    exact = source.moments(task.design, task.label, unit)
    found = release_moments(
        exact, training.releases[0], UNIT**2 * training.influence.unit, bits=bits
    )
    scale = UNIT / unit
    return Moments(found.square, found.cross * scale, found.own * scale**2, found.deviation)


@frozen
class LeastSquares:
    """Linear regression, or a linear score for each class, from one noisy matrix of moments.

    `lift` says how much of the noise's operator norm is added to every eigenvalue.
    """

    lift: float = 1.0

    def __post_init__(self) -> None:
        within(self.lift, "lift", LIFTS)

    def plan(self, task: Task, spend: Measure, influence: Influence) -> Training:
        """Spend all on the moments."""
        return Training(
            divide(spend, [moments_slice(task, influence)], influence.neighbours), influence
        )

    def train(
        self, task: Task, training: Training, source: Source, bits: Bits | None = None
    ) -> Fitted:
        """Return coefficients, their deviations, and the noisy number of rows."""
        moments = moments_of(task, training, source, bits=bits)
        inverse = spectrum_of(moments, self.lift).power(-1.0)
        coefficients = inverse @ moments.cross
        across = (
            moments.deviation * UNIT / label_unit(task)
        )  # the noise of Σ xy where a label of 1 is 1
        return {
            "coefficients": coefficients,
            "deviations": _deviations(moments, inverse, coefficients, across),
            "biases": np.abs(
                lift_of(moments, self.lift) * inverse @ coefficients
            ),  # what lifting pulls towards 0
            "count": np.array([moments.count]),
        }


def _deviations(moments: Moments, inverse: Floats, coefficients: Floats, across: float) -> Floats:
    """Estimate how far each coefficient is off: by the noise that was added, and by which rows happened to be there.

    To first order ŵ − w = A⁻¹(N_b − N_A w) + sampling. The first has variance (A⁻¹A⁻ᵀ)·(σ_b²/2 + σ²(‖w‖² + w_i²)/2),
    bounded by σ²‖w‖² in its second part; the second is A⁻¹ times the variance of the residuals.
    """
    count, labels = moments.count, coefficients.shape[1]
    noise = across**2 / 2 + moments.deviation**2 * (coefficients**2).sum(axis=0)
    explained = np.einsum("ik,ij,jk->k", coefficients, moments.square, coefficients)
    beside = 2 * (coefficients * moments.cross).sum(axis=0)
    residual = np.clip((moments.own - beside + explained) / count, 1e-12, 4.0)
    spread = (inverse**2).sum(axis=1)[:, None] * noise + np.diag(inverse)[:, None] * residual
    return np.asarray(np.sqrt(np.maximum(spread, 0.0))).reshape(-1, labels)
