"""Private recalibration: one slope (temperature) and a shift for each class, fitted to a model's own score.

Clipping moves the scale of a score far more than its order. A second, small fit on the score alone
mends the scale: with s the standardised score of a class,

    margin of class k = slope·s_k + shift_k

is fitted by noisy gradient steps, after a few uses of the same release that standardise the score:
what the moments say of it is mostly noise where rows are few. The score follows from the *released* coefficients and
from the row's coded values alone, as an integer, so the second fit is one more release in sequence.
A row's gradient (Σ r_k·s_k, r_1, …, r_K), or its (Σ s_k²/2, s_1, …, s_K), is an integer vector,
clipped to `CLIP`.

Guarantee: one row changes the exact sums of a use by at most `CLIP`.
Law: tests/learn/test_calibration.py::TestARowMovesAStepByAtMostTheClip
"""

from __future__ import annotations

import math

import numpy as np

from ...arithmetic.arrays import Floats
from ...frozen import frozen
from ...noise import Bits
from ..coding.feature import UNIT
from ..coding.rows import CodedRows, Exact, Whole64
from .budget import Release
from .gram import Moments
from .residual import FULL, ONE
from .steps import Residual, margins_of, scaled_to

CLIP = 2 * UNIT * FULL
"""Clipping norm of a row's gradient, as an integer: 2 in units of 1."""
STEPS = 20
"""Uses of the release: the first standardise the score; of the others the second half counts."""
_STANDARDISING = 4
_MAX_SCORE = 6 * UNIT
"""A standardised score is clipped to ±6, after rounding."""
_MAX_MARGIN = 1 << 50
"""Bound on margins before they are standardised, so that products fit into 64 bits."""
_RATE = 4.0
_MAX_POINT = 8.0
"""Bound on slope and shifts: beyond it every chance is 0 or 1 to four digits."""
_PRIOR_VARIANCE = 2.0
"""Variance of slopes and shifts of real models, about 0."""
_LEAST_SLOPE = 0.05
"""Least slope of a standardised score of two classes; a score that is all noise costs a log loss of
about .05²/8 = .0003, or .001 where its deviation is half as large as it seems."""
_LEARNT = 1 / 3
"""Share of the gain of fitted rows over new ones that is left after noise and clipping."""
_CURVATURE = 1 / 6
"""Curvature of the logistic loss for margins with a deviation of 1½."""


@frozen(eq=False)
class Standard:
    """Mean of each class's score and their common unit, from released numbers.

    The unit is the deviation of the score of two classes. Of K classes it is the length of half the
    summed variances, √(K/2) deviations: then a row's K scores have the length √2 whatever K is, and
    clipping and steps that suit two classes suit them.
    """

    means: Floats
    deviation: float

    def corrected(self, means: Floats, square: float) -> Standard:
        """Return the standard by which scores with these noisy moments have mean 0 and variance 1.

        Noise cannot move it by more than a factor of 3 at a time.
        """
        moved = np.clip(means, -2.0, 2.0)
        explained = float((moved**2).sum()) / _halves(len(moved))
        variance = min(max(square - explained, 1 / 9), 9.0)
        return Standard(self.means + self.deviation * moved, self.deviation * math.sqrt(variance))


def _halves(columns: int) -> int:
    """Return by what the squares of a row's scores are divided: one score stands for two classes."""
    return 1 if columns == 1 else 2


def _longer(columns: int) -> float:
    """Return the unit of scores in their deviations: √(K/2) for K classes."""
    return 1.0 if columns == 1 else math.sqrt(columns / 2)


def standard_of(moments: Moments, coefficients: Floats) -> Standard:
    """Estimate the distribution of x·w from noisy second moments; reads no row."""
    second = moments.square / moments.count
    means = second[-1] @ coefficients
    squares = np.einsum("ik,ij,jk->k", coefficients, second, coefficients)
    # A variance below what the noise of the moments leaves open is not believed.
    noise = moments.deviation / moments.count * float((coefficients**2).sum(axis=0).max())
    variance = float((squares - means**2).sum()) / _halves(len(means))
    return Standard(means, math.sqrt(max(variance, noise, 1e-4)))


def scores_of(rows: CodedRows, coefficients: Floats, standard: Standard) -> Whole64:
    """Return standardised scores of each row and class as integers, UNIT for 1, at most ±6."""
    margins = margins_of(rows, coefficients)
    means = np.rint(np.clip(standard.means * ONE, -_MAX_MARGIN, _MAX_MARGIN)).astype(np.int64)
    centred = np.clip(margins - means, -_MAX_MARGIN, _MAX_MARGIN)
    deviation = max(1, round(min(standard.deviation * ONE, _MAX_MARGIN)))
    return np.asarray(np.clip(centred * UNIT // deviation, -_MAX_SCORE, _MAX_SCORE))


def spread_of(scores: Whole64, rows: CodedRows) -> Exact:
    """Return Σ weight·clip(Σ s_k²/2, s_1, …, s_K) over the rows, exactly; of one score its square."""
    squares = (scores * scores).sum(axis=1) // (_halves(scores.shape[1]) * UNIT)
    # However many classes: `scaled_to` wants entries below 2^30, and 36 is what one score can have.
    bounded = np.minimum(squares, _MAX_SCORE**2 // UNIT)
    spreads = np.column_stack([bounded, scores]) * FULL
    return rows.add_up(scaled_to(spreads, np.full(len(spreads), CLIP)))


def gradient_of(scores: Whole64, residuals: Whole64, rows: CodedRows) -> Exact:
    """Return Σ weight·clip(Σ_k r_k·s_k, r_1, …, r_K) over the rows, exactly."""
    along = (residuals * scores).sum(axis=1)
    gradients = np.column_stack([along, residuals * UNIT])
    return rows.add_up(scaled_to(gradients, np.full(len(gradients), CLIP)))


@frozen(eq=False)
class Recalibrated:
    """Recalibrated coefficients, and how sure their scale is.

    `says` is whether the score says anything, `error` the deviation of the slope as a share of it:
    its noise, and what was taken off it for noise.
    """

    coefficients: Floats
    says: bool
    error: float


def recalibrate(  # noqa: PLR0917 rows, labels, model, loss and noise of a second fit
    rows: CodedRows,
    labels: Whole64,
    coefficients: Floats,
    moments: Moments,
    residual: Residual,
    release: Release,
    *,
    weight: int = 1,
    bits: Bits | None = None,
) -> Recalibrated:
    """Return coefficients whose scores are recalibrated; the last row is that of the constant.

    `residual` maps margins and `labels` to the residuals of the loss. `weight` is the weight of a
    row that counts in full.

    All `release.times` steps are made whatever they find.
    """
    unit = UNIT * FULL * weight * moments.count
    standard = standard_of(moments, coefficients)
    for _ in range(_STANDARDISING):
        scores = scores_of(rows, coefficients, standard)
        square, *means = release.noisy(spread_of(scores, rows), bits) / unit
        standard = standard.corrected(np.array(means), square)
    scores = scores_of(rows, coefficients, standard)
    # From equal scores upwards: where nothing is found, rows have the chances of their classes.
    point = np.append(0.0, _implied(moments, 0.0)[0])
    mean = np.zeros_like(point)
    rates = np.full_like(point, _RATE)
    longer = _longer(coefficients.shape[1])
    # Scores in a longer unit have a slope that is as much longer, and so are its steps.
    bounds = np.full_like(point, _MAX_POINT)
    bounds[0] *= longer
    fastest = np.full_like(point, _RATE)
    fastest[0] *= longer
    last = np.zeros_like(point)
    along: list[float] = []
    steps = release.times - _STANDARDISING
    half = steps // 2
    for step in range(steps):
        slope, *shifts = np.rint(point * ONE).astype(np.int64)
        margins = slope * scores // UNIT + np.array(shifts)
        exact = gradient_of(scores, residual(margins, labels), rows)
        gradient = release.noisy(exact, bits) / unit
        # A step that overshot is followed by half of it.
        rates = np.where(gradient * last < 0, rates / 2, np.minimum(1.2 * rates, fastest))
        point = np.clip(point - rates * gradient, -bounds, bounds)
        last = gradient
        along.append(float(gradient[0]))
        if step >= half:
            mean += point / (steps - half)
    noise = float(release.noise.scale) / unit / math.sqrt(steps - half)
    found = _believed(mean, noise, moments)
    if coefficients.shape[1] > 1:
        found[0] *= _not_by_heart(-along[0] * float(mean[0]) / 2, coefficients, moments)
    # A score that orders rows the wrong way round says nothing.
    says = max(0.0, float(found[0]))
    # Descent orders rows better than chance before its slope can be told from 0. With more noise
    # the deviation of the score is not known either, and the slope would be of any size.
    is_known = coefficients.shape[1] == 1 and noise < _CURVATURE / 2
    least = _LEAST_SLOPE if is_known else 0.0
    shown = max(says, least)
    slope = shown / standard.deviation
    changed = coefficients * slope
    changed[-1] += found[1:] - slope * standard.means
    error = math.hypot(noise / _CURVATURE, float(mean[0]) - shown)
    return Recalibrated(changed, says > 0, error / max(shown, 1e-12))


def _believed(point: Floats, noise: float, moments: Moments) -> Floats:
    """Return slope and shifts as far as they are more than noise.

    The slope is shrunk by the share of its square that noise explains (James, Stein). The shifts
    are averaged with those that the shares of the classes in the released moments imply. Both are
    believed only as far as their noise is below what real models have.
    """
    variance = (noise / _CURVATURE) ** 2
    # A slope below twice its noise says nothing; then all rows have the chances of their classes.
    stein = max(0.0, 1 - 4 * variance / max(float(point[0]) ** 2, 1e-12))
    prior = _PRIOR_VARIANCE * _longer(len(point) - 1) ** 2
    slope = float(point[0]) * stein * prior / (prior + variance)
    implied, own = _implied(moments, slope)
    # One of K classes has a curvature of 1/K: its shift has as much more noise.
    steps = variance * max(1.0, (len(implied) * _CURVATURE) ** 2)
    weights = np.array([1 / max(steps, 1e-12), 1 / max(own, 1e-12), 1 / _PRIOR_VARIANCE])
    shifts = (weights[0] * point[1:] + weights[1] * implied) / weights.sum()
    # Shifts of several classes that scatter no more than noise say that all are as common.
    scatter = max(float(((shifts - shifts.mean()) ** 2).sum()), 1e-12)
    noisy = max(0, len(shifts) - 3) * weights[:2].sum() / weights.sum() ** 2
    return np.append(slope, shifts * max(0.0, 1 - noisy / scatter))


def _not_by_heart(gain: float, coefficients: Floats, moments: Moments) -> float:
    """Return the share of a gain in log loss that new rows will see (van Houwelingen, le Cessie).

    Rows that a model was fitted to flatter it: one coefficient gains 1/(2n) on rows without a
    pattern. Noise and clipping leave about a third of that.
    """
    width, classes = coefficients.shape
    by_heart: float = _LEARNT * width * (classes - 1) / (2 * moments.count)
    return max(0.0, 1 - by_heart / max(gain, 1e-12))


def _implied(moments: Moments, slope: float) -> tuple[Floats, float]:
    """Return the shifts that noisy shares of the classes imply, and the variance of their noise."""
    noise = moments.deviation / moments.count
    shares = moments.cross[-1] / moments.count
    # A share within its noise of 0 or 1 may be as far inside.
    least = min(0.5, max(noise, 1e-6))
    if len(shares) == 1:
        chance = min(max(float(1 + shares[0]) / 2, least), 1 - least)
        logits = np.array([math.log(chance / (1 - chance))])
    else:
        chances = np.log(np.clip(shares, least, 1.0))
        logits = chances - chances.mean()
    # A chance at the mean score lies further from ½ than the mean chance (MacKay 1992).
    deviation = slope / _longer(len(shares))
    widened = math.sqrt(1 + math.pi * deviation**2 / 8)
    # A share of about 1/K with this noise moves its logarithm K times as far.
    return logits * widened, (max(2, len(shares)) * noise) ** 2
