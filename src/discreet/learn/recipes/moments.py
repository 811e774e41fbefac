"""Least squares from second moments: one noisy release, then post-processing.

The moments are Σ x xᵀ, Σ x y and Σ y² over the coded rows x with labels y. A ridge penalty that
follows from the noise keeps the solution stable.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ...arithmetic.arrays import Floats
from ...errors import InvalidArgument
from ...frozen import frozen, replace
from ...noise import Bits
from ...privacy.measures import Measure
from ..coding.contrasts import centred, centring, errors_of, one_covariance, reporting
from ..coding.design import ModelDesign
from ..coding.feature import UNIT
from ..coding.label import Amount, Label
from ..task import Fitted, Task, Training
from ..training.budget import Slice
from ..training.gram import Moments, gram_slice, release_moments
from ..training.influence import Influence
from ..training.ridge import lift_of, spectrum_of
from ..training.source import Source

LIFTS = (0.0, 100.0)
"""Least and largest ridge factor that a training can use."""


def within(value: object, name: str, bounds: tuple[float, float]) -> None:
    """Refuse a recipe's number outside its bounds, before the charge rather than after it."""
    low, high = bounds
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not low <= value <= high:  # type: ignore[operator]
        raise InvalidArgument(f"{name} is a number from {low:g} to {high:g}, got {value!r}")


def label_unit(task: Task) -> int:
    """Return a label of 1 as an integer: about half the norm of a row."""
    # Half the norm balances the noise of Σ x xᵀ against that of Σ x y.
    row_norm = math.sqrt(task.design.squared_norm) / UNIT
    return UNIT * max(1, round(row_norm / 2))


def _labels(label: Label | None) -> int:
    if label is None:
        return 0
    # An amount and a sign for two classes take one column.
    if isinstance(label, Amount) or len(label.values) == 2:
        return 1
    return len(label.values)


def moments_slice(task: Task, influence: Influence, share: Fraction = Fraction(1)) -> Slice:
    """Return the budget request of the moments of a task, with its share of μ²."""
    labels = _labels(task.label)
    squared_label = label_unit(task) ** 2 if labels else 0
    design = task.design
    whole = gram_slice(design.squared_norm, squared_label, design.width, labels, influence)
    return replace(whole, share=share)


def moments_of(
    task: Task, training: Training, source: Source, *, bits: Bits | None = None
) -> Moments:
    """Release the moments of a task; a label of 1 is 1 in them."""
    unit = label_unit(task)
    exact = source.moments(task.design, task.label, unit)
    squared_unit = UNIT**2 * training.influence.unit
    noisy = release_moments(exact, training.releases[0], squared_unit, bits=bits)
    # Back to a label of 1: Σ xy is linear in the label, Σ y² quadratic.
    scale = UNIT / unit
    return Moments(noisy.square, noisy.cross * scale, noisy.own * scale**2, noisy.deviation)


@frozen
class LeastSquares:
    """Linear regression, or a linear score for each class, from one noisy matrix of moments.

    `lift` times the noise's operator norm is added to every eigenvalue (ridge penalty).
    """

    lift: float = 1.0

    def __post_init__(self) -> None:
        within(self.lift, "lift", LIFTS)

    def plan(self, task: Task, spend: Measure, influence: Influence) -> Training:
        """Spend the whole budget on the moments."""
        return Training.of(spend, [moments_slice(task, influence)], influence)

    def train(
        self, task: Task, training: Training, source: Source, bits: Bits | None = None
    ) -> Fitted:
        """Return coefficients, their deviations, and the noisy number of rows."""
        moments = moments_of(task, training, source, bits=bits)
        inverse = spectrum_of(moments, self.lift).power(-1.0)
        coefficients = inverse @ moments.cross
        # The deviation of Σ xy where a label of 1 is 1.
        across = moments.deviation * UNIT / label_unit(task)
        # The ridge penalty pulls coefficients towards 0 by about this much.
        biases = lift_of(moments, self.lift) * inverse @ coefficients
        covariances = _covariances(moments, inverse, coefficients, across)
        deviations = np.sqrt([np.diag(covariance) for covariance in covariances]).T
        return {
            "coefficients": centring(task.design) @ coefficients,
            "deviations": deviations,
            "biases": np.abs(reporting(task.design) @ biases),
            "errors": errors_of(task.design, covariances),
            "count": np.array([moments.count]),
            "leaning": centring(task.design) @ biases[:, 0],
            "shrinkage": shrinkage_of(
                task.design, lift_of(moments, self.lift) * inverse, coefficients[:, 0], covariances
            ),
            **one_covariance(task.design, covariances),
        }


def shrinkage_of(
    design: ModelDesign, penalty: Floats, coefficients: Floats, covariances: Floats
) -> Floats:
    """Return about how much the ridge penalty changed each effect, taken from its column's mean.

    With the penalty K = λ(A + λ)⁻¹ the fit finds (1 − K)w of coefficients w, plus errors. Those of
    the columns are supposed normal about 0 with one variance, which is read from the fit: its
    square less that of its errors (empirical Bayes). The first-order bias K·ŵ is too small where
    the fit itself is.

    Law: tests/learn/test_calibration.py::TestBarsOfARegressor
    """
    # The constant is no effect.
    effects = np.diag(np.append(np.ones(design.width - 1), 0.0))
    matrix = centred(design, np.ones(design.width), effects)
    kept = matrix @ (np.eye(design.width) - penalty)[:, :-1]
    errors = matrix @ covariances[0] @ matrix.T
    excess = float(((matrix @ coefficients) ** 2).sum() - np.trace(errors))
    # One standard error more: a chance result of 0 would say "no shrinkage".
    at_most = max(0.0, excess) + math.sqrt(2 * float((errors**2).sum()))
    variance = at_most / max(float((kept**2).sum()), 1e-12)
    lost = matrix @ penalty[:, :-1]
    return np.asarray(np.sqrt(variance * (lost**2).sum(axis=1)))


def _covariances(moments: Moments, inverse: Floats, coefficients: Floats, across: float) -> Floats:
    """Estimate the covariance of each label's coefficients, from the added noise and from sampling.

    A is Σ x xᵀ with its ridge penalty, `inverse` is A⁻¹; N_A and N_b are the noise of Σ x xᵀ and
    Σ x y, with deviations σ and σ_b (`across`). To first order
    ŵ − w = A⁻¹(N_b − N_A w) + sampling error, and
    Cov(N_b − N_A w) = σ_b²/2·I + σ²/2·(‖w‖²I + wwᵀ) ≼ (σ_b²/2 + σ²‖w‖²)·I, which is used.
    The covariance of the sampling error is A⁻¹ times the variance of the residuals.
    """
    noise = across**2 / 2 + moments.deviation**2 * (coefficients**2).sum(axis=0)
    explained = np.einsum("ik,ij,jk->k", coefficients, moments.square, coefficients)
    mixed = 2 * (coefficients * moments.cross).sum(axis=0)
    squared_errors = moments.own - mixed + explained
    # Labels lie in −1..1, so that a squared residual is at most 4.
    residuals = np.clip(squared_errors / moments.count, 1e-12, 4.0)
    squared = inverse @ inverse
    return np.array(
        [one * squared + other * inverse for one, other in zip(noise, residuals, strict=True)]
    )
