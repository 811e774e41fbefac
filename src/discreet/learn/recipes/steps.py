"""Noisy gradient descent (DP-GD): moments first, for a start and a preconditioner, then steps.

Noisy moments are released first. Then each step releases the noisy sum of the clipped gradients of
all rows. Classifiers get two more releases: a recalibration of their scores and, for intervals, a
gradient that measures the bias of clipping.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

import numpy as np

from ...arithmetic.arrays import Floats
from ...arithmetic.rational import whole
from ...errors import InvalidArgument
from ...frozen import frozen
from ...noise import Bits
from ...privacy.measures import Measure
from ..coding.contrasts import centred, centring, errors_of, idle_directions, one_covariance
from ..coding.design import ModelDesign
from ..coding.feature import UNIT
from ..coding.label import Amount, Classes
from ..coding.rows import Whole64
from ..task import Fitted, Task, Training
from ..training import recalibration
from ..training.budget import Release, Slice
from ..training.correction import FEW_CLASSES, correct, curvature
from ..training.gram import Moments
from ..training.influence import Influence
from ..training.recalibration import recalibrate
from ..training.residual import FULL, ONE, logistic, pinball, softmax
from ..training.ridge import solve
from ..training.source import Source, label_matrix
from ..training.steps import (
    Gradient,
    Residual,
    Whitened,
    descend,
    noisy_gradient,
    whiten,
    whole_clip,
)
from .moments import moments_of, moments_slice, within

CLIPS = (0.001, 100.0)
"""Least and largest clipping norm of a gradient, in units of √d."""
RATES = (1e-6, 1e6)
"""Least and largest learning rate."""

MAX_STEPS = 10_000
_SHARES = {
    "quantile": (Fraction(1, 5), Fraction(4, 5)),
    "classes": (Fraction(9, 50), Fraction(36, 50), Fraction(1, 10)),
    "coefficients": (Fraction(3, 20), Fraction(1, 2), Fraction(1, 10), Fraction(1, 4)),
    "several": (Fraction(9, 50), Fraction(34, 50), Fraction(1, 10), Fraction(2, 50)),
}
"""Shares of the budget, as μ² of Gaussian DP, for moments, steps, recalibration and correction.

For more than four classes the correction's gradient only bounds their bias, so its share is small.
"""
_WIDE_CLIP = 2.0
"""Clipping norm that hardly any gradient reaches, in units of √d."""
_MAX_NOISE = 0.15
"""Deviation that noise may add to a margin before clipping is preferred to more of it."""
_SEEN = 4.0
"""Deviations of the noise above which a column's sum of squares says that it occurs."""
CURVATURE = 0.15
"""Curvature of the logistic loss that is supposed before a model is known."""


@frozen
class Descent:
    """Logistic regression (two classes or several) or quantile regression by noisy whitened steps.

    `steps`, `clip` (in units of √d for d coded columns) and `rate` are public. For classes `clip`
    is the least clipping norm: it is widened, up to 2, as far as the noisy number of rows bears the
    noise. Their scores are then recalibrated. With `intervals` their coefficients are corrected (up
    to four classes) and have covariances. `at` is the quantile of a number, by default ½.
    """

    steps: int = 60
    clip: float = 0.3
    rate: float = 4.0
    at: float | None = None
    intervals: bool = False

    def __post_init__(self) -> None:
        whole(self.steps, "steps", least=1, most=MAX_STEPS)
        within(self.clip, "clip", CLIPS)
        within(self.rate, "rate", RATES)

    def plan(self, task: Task, spend: Measure, influence: Influence) -> Training:
        """Divide the budget between moments, steps, recalibration and correction.

        Every clipping norm is a public integer, so that the event is fixed before a row is read.
        """
        shares = self._shares(task)
        clipped = influence.squared(whole_clip(influence.unit) ** 2)
        classes = _columns(task)
        size = task.design.width * classes
        slices = [
            moments_slice(task, influence, shares[0]),
            Slice(clipped, size, self.steps, shares[1]),
        ]
        if len(shares) > 2:
            score = influence.squared(recalibration.CLIP**2)
            slices.append(Slice(score, classes + 1, recalibration.STEPS, shares[2]))
        if len(shares) > 3:
            slices.append(Slice(clipped, size, 1, shares[3]))
        return Training.of(spend, slices, influence)

    def _shares(self, task: Task) -> tuple[Fraction, ...]:
        if not isinstance(task.label, Classes):
            return _SHARES["quantile"]
        if not self.intervals:
            return _SHARES["classes"]
        return _SHARES["several" if _columns(task) > FEW_CLASSES else "coefficients"]

    def train(
        self, task: Task, training: Training, source: Source, bits: Bits | None = None
    ) -> Fitted:
        """Return coefficients, one column for each class, and the deviation of their noise."""
        moments = moments_of(task, training, source, bits=bits)
        weight = training.influence.unit
        rows, found = source.rows(task.design, task.label)
        labels, residual, slope = self._loss(task, found)
        clip = self.clip
        if isinstance(task.label, Classes):
            clip = max(clip, widest_clip(training.releases[1], moments.count, task.design.width))
        spaces = [
            whiten(moments, task.design.squared_norm, one, whole_clip(weight))
            for one in (clip, max(clip, _WIDE_CLIP))
        ]

        def gradient(space: Whitened, release: Release) -> Gradient:
            return noisy_gradient(rows, labels, space, residual, release, weight=weight, bits=bits)

        space = spaces[0]
        steps = training.releases[1]
        stepped, wander = descend(
            gradient(space, steps), slope * solve(moments, 0.3), space, self.steps, self.rate
        )
        kept = {"count": np.array([moments.count])}
        if not isinstance(task.label, Classes):
            deviations = _deviations(space, _noise(space, steps, weight), 0.25)
            return {"coefficients": stepped, "deviations": deviations, **kept}
        recalibrated = recalibrate(
            rows,
            labels,
            stepped,
            moments,
            residual,
            training.releases[2],
            weight=weight,
            bits=bits,
        )
        coefficients = recalibrated.coefficients
        scaled = _shrinkage(stepped, coefficients)
        spread = float(np.diag(curvature(coefficients, moments)).mean())
        kept["seen"] = np.maximum(np.diag(moments.square), 0.0)
        by_formula = _deviations(space, _noise(space, steps, weight), spread)
        noisy = scaled * _wandered(task.design, moments, wander, by_formula)
        own = centred(task.design, kept["seen"], coefficients)
        kept["deviations"] = np.hypot(noisy, recalibrated.error * own)
        if self.intervals:
            wide = spaces[1]
            check = training.releases[3]
            final = correct(
                coefficients,
                gradient(wide, check)(coefficients),
                _noise(wide, check, weight),
                # Recalibration scales the noise of the steps as it scales what they found.
                _noise(space, steps, weight) * scaled * recalibrated.says,
                wide,
                moments,
                idle_directions(task.design),
            )
            coefficients = centring(task.design) @ final.coefficients
            kept["errors"] = errors_of(task.design, final.covariances)
            kept |= one_covariance(task.design, final.covariances)
        return {"coefficients": coefficients, **kept}

    def _loss(self, task: Task, found: Whole64) -> tuple[Whole64, Residual, float]:
        """Return labels, residual function, and the factor from least squares to a start."""
        match task.label:
            case Amount():
                at = 0.5 if self.at is None else self.at
                labels = (found * (ONE // UNIT))[:, None]
                return labels, partial(pinball, at=at, width=1 / 32), 1.0
            case Classes(values=values) if len(values) == 2:
                return found[:, None], logistic, 2.0
            case Classes():
                return label_matrix(task.label, found, 1), softmax, 4.0
            case _:
                raise InvalidArgument(
                    "a model that is trained in steps predicts something; give its target"
                )


def widest_clip(release: Release, count: float, width: int) -> float:
    """Return the widest clipping norm, in units of √d, whose noise moves a margin but little.

    At C = c·√d the mean of the steps has the deviation z·C·√(2/T)/(n·h) in each of d directions.
    """
    multiple = float(release.noise.scale / release.noise.sensitivity)  # type: ignore[operator]
    averaged = multiple * math.sqrt(2 / release.times)
    each_unit = averaged * width / (count * CURVATURE)
    return min(_WIDE_CLIP, _MAX_NOISE / each_unit)


def _noise(space: Whitened, release: Release, weight: int) -> float:
    """Return the deviation of the noise in the mean gradient, averaged over half the uses.

    `weight` is the weight of a row that counts in full.
    """
    unit = space.unit * UNIT * FULL * weight * space.count
    averaged = max(1, release.times - release.times // 2)
    return float(release.noise.scale) / unit / math.sqrt(averaged)


def _shrinkage(before: Floats, after: Floats) -> float:
    """Return how much smaller recalibration made the coefficients, the constant left out."""
    return float(np.linalg.norm(after[:-1]) / max(float(np.linalg.norm(before[:-1])), 1e-12))


def _deviations(space: Whitened, noise: float, spread: float) -> Floats:
    """Return the deviation that the noise of the steps leaves in each coefficient.

    Around the minimum a step is w ← (1 − rate·h)w + rate·noise/n, with the curvature h in this
    space. The mean of m steps then has the noise's deviation/(h·√m).
    """
    row_norms = np.sqrt((space.floats**2).sum(axis=1))
    return np.asarray(row_norms * noise / spread)[:, None]


def _wandered(design: ModelDesign, moments: Moments, wander: Floats, by_formula: Floats) -> Floats:
    """Return the deviations of coefficients as far as the steps themselves show them.

    Clipped rows curve less, so that steps wander more than `by_formula`; the median of the ratios
    tells by how much. The median bears directions in which steps have not come to rest; each of
    them adds its own movement. Columns of rows too few to be told from noise tell nothing.
    """
    counts = np.diag(moments.square)
    seen = counts > _SEEN * moments.deviation
    seen[-1] = False
    moved = np.abs(centred(design, np.maximum(counts, 0.0), wander))
    if not seen.any():
        return by_formula
    # The median of |N(0, 1)|.
    ratio = float(np.median((moved / by_formula)[seen])) / 0.6745
    return np.asarray(np.hypot(ratio * by_formula, moved))


def _columns(task: Task) -> int:
    label = task.label
    # Two classes need one score, the log-odds of the second.
    if isinstance(label, Classes) and len(label.values) > 2:
        return len(label.values)
    return 1
