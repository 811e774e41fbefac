"""Correction of a clipped fit by one Newton step, and the covariance of what it leaves.

Clipped steps have little noise and some bias. One more gradient g with a wide clipping norm, at the
recalibrated coefficients, measures what is left of that bias, with more noise: σ is the deviation
of its entries. In the whitened space, with a curvature H of the loss,

    c = −H⁻¹g        the correction: unbiased, with noise of variance V2 = σ²H⁻²
    b = E[c²] − V2   the mean square of what the clipped fit missed, pooled over directions

so that the fraction b/(b + V2) of the correction is made (empirical Bayes), and that part has the
variance V2·b/(b + V2). The sampling of n rows adds H⁻¹/n. With more than four classes, or where
recalibration found nothing, nothing is moved, and b only widens the covariance. The curvature
follows from the released moments, for scores that are taken as normal: no row is read here.
"""

from __future__ import annotations

import math

import numpy as np

from ...arithmetic.arrays import Floats
from ...frozen import frozen
from .gram import Moments
from .recalibration import standard_of
from .steps import Whitened

_NODES, _NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(31)
_SHARES = _NODE_WEIGHTS / _NODE_WEIGHTS.sum()
FEW_CLASSES = 4
"""Classes up to which coefficients are moved by the correction, and it is worth its budget."""
_LEAST_CURVATURE = 0.01
"""Least curvature of a direction that is corrected, as a share of the largest."""
_CURVATURE = 0.15
"""Curvature of the loss of an unsure model: where all of it is less, the model is sure by noise."""
_ADDED_UP = 100.0
"""Factor by which 60 steps of rate 4 add up their noise where there is no curvature."""
_SEEN = 4.0
"""Deviations of the noise above which a column's sum of squares says that it occurs."""
_UNKNOWN = 10.0
"""Deviation of a coefficient of which nothing is known: odds of one to 20,000."""
_DRAWS = 2_000
"""Public draws for the curvature of several classes."""


@frozen(eq=False)
class Corrected:
    """Corrected coefficients, one column a class, and the covariance of each column."""

    coefficients: Floats
    covariances: Floats


def correct(  # noqa: PLR0917 a fit, its noise and the space in which it was made
    coefficients: Floats,
    gradient: Floats,
    noise: float,
    before: float,
    space: Whitened,
    moments: Moments,
    idle: Floats,
) -> Corrected:
    """Correct coefficients by a noisy gradient in the whitened space.

    `noise` is the deviation of each entry of the gradient, `before` that of the fit's own steps: 0
    where recalibration found that they tell nothing.
    The columns of `idle` are directions of coefficients that change no prediction.
    """
    unseen = np.diag(moments.square) < _SEEN * moments.deviation
    unseen[-1] = False
    ignored = np.column_stack([idle, np.eye(len(idle))[:, unseen]])
    basis = _complement(np.asarray(np.linalg.pinv(space.floats) @ ignored, dtype=np.float64))
    # One value that is seen of a column of several tells no difference between them.
    if unseen[:-1].all() or not basis.size:
        # Nothing but noise: there is no space in which to correct anything.
        unknown = np.diag(np.full(len(idle), _UNKNOWN**2))
        return Corrected(coefficients, np.array([unknown] * coefficients.shape[1]))
    matrix = space.floats @ basis
    among, classes = np.linalg.eigh(curvature(coefficients, moments))
    if coefficients.shape[1] == 1:
        # The constant and the score in the whitened space, without what changes no prediction.
        pair = np.column_stack([np.eye(len(idle))[:, -1], coefficients[:, 0]])
        places = np.linalg.pinv(np.column_stack([matrix, ignored])) @ pair
        variances = _variances(matrix, moments)
        spread = _flattened(variances, places[: len(variances)], coefficients, moments)
        own, directions = np.linalg.eigh(spread / among[0])
    else:
        own, directions = np.linalg.eigh(_variances(matrix, moments))
    # H is the product of the curvature among classes and the variances of whitened rows.
    values = np.outer(own, among)
    floor = _LEAST_CURVATURE * max(float(values.max()), _CURVATURE)
    # Where the data hardly vary, nothing is corrected: steps leave their noise there, added up.
    known = values > floor
    inverse = 1 / np.maximum(values, floor)
    wanted = -inverse * (directions.T @ basis.T @ gradient @ classes)
    checked = (noise * inverse) ** 2
    steps = (before * np.where(known, inverse, _ADDED_UP)) ** 2
    missed, at_most = _missed(wanted[known], checked[known])
    prior = missed + steps
    believed = np.where(known, prior / (prior + checked), 0.0)
    if len(among) > FEW_CLASSES or not before:
        # Where there are many classes, or recalibration found nothing to learn, a step along a
        # guessed curvature does harm. The gradient then bounds what the fit missed, and moves
        # nothing.
        believed = np.zeros_like(believed)
    found = coefficients + matrix @ directions @ (believed * wanted) @ classes.T
    # The part that is not believed leaves what the fit missed, estimated from above.
    left = believed**2 * checked + (1 - believed) ** 2 * (at_most + steps)
    variances = left + inverse / space.count
    if len(among) > 1:
        # Only differences between classes mean anything: their scores have mean 0.
        centre = np.eye(len(among)) - 1 / len(among)
        found = found @ centre
        classes = centre @ classes
    turned = matrix @ directions
    columns = [(turned * (variances @ own_class**2)) @ turned.T for own_class in classes]
    # Of a column that cannot be told from noise nothing is known but that it is not far out.
    return Corrected(found, np.array(columns) + np.diag(_UNKNOWN**2 * unseen))


def _complement(idle: Floats) -> Floats:
    """Return an orthonormal basis of the directions orthogonal to the given columns."""
    full, lengths, _ = np.linalg.svd(idle)
    rank = int(np.sum(lengths > 1e-9 * lengths.max(initial=0.0)))
    return np.asarray(full[:, rank:])


def _missed(wanted: Floats, checked: Floats) -> tuple[float, float]:
    """Return the mean square of what the fit missed, pooled over directions, and a bound on it.

    `wanted` are the corrections by direction, `checked` the variances of their noise.
    """
    if not wanted.size:
        return 0.0, _UNKNOWN**2
    weights = checked**-2
    total = float(weights.sum())
    pooled = float((weights * (wanted**2 - checked)).sum()) / total
    # After recalibration no direction is wrong by more than a margin of 1.
    excess = min(max(pooled, 0.0), 1.0)
    # One standard error more: with few directions a chance result of 0 would say "no bias".
    return excess, excess + math.sqrt(2 / total)


def curvature(coefficients: Floats, moments: Moments) -> Floats:
    """Return the mean curvature of the loss in the margins: E[diag(p) − ppᵀ], for normal margins."""
    standard = standard_of(moments, coefficients)
    if coefficients.shape[1] == 1:
        chances = _sigmoid(standard.means[0] + standard.deviation * _NODES)
        return np.array([[float(_SHARES @ (chances * (1 - chances)))]])
    # Public draws of margins with the estimated means and covariances.
    second = coefficients.T @ (moments.square / moments.count) @ coefficients
    values, vectors = np.linalg.eigh(second - np.outer(standard.means, standard.means))
    draws = np.random.default_rng(0).standard_normal((_DRAWS, len(values)))
    margins = standard.means + (draws * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    powers = np.exp(margins - margins.max(axis=1, keepdims=True))
    chances = powers / powers.sum(axis=1, keepdims=True)
    return np.asarray(np.diag(chances.mean(axis=0)) - chances.T @ chances / _DRAWS)


def _flattened(variances: Floats, pair: Floats, coefficients: Floats, moments: Moments) -> Floats:
    """Return H of two classes: the mean curvature, flatter along the constant and the score.

    Where a row is certain it curves nothing, so that the score's own direction is flatter.
    """
    standard = standard_of(moments, coefficients)
    chances = _sigmoid(standard.means[0] + standard.deviation * _NODES)
    curvatures = _SHARES * chances * (1 - chances)
    mean = float(curvatures.sum())
    along = float(curvatures @ _NODES)
    square = float(curvatures @ _NODES**2)
    inner = np.array([[0.0, along], [along, square - mean]])
    # A single direction holds both the constant and the score.
    basis, triangle = np.linalg.qr(pair if len(pair) > 1 else np.pad(pair, ((0, 1), (0, 0))))
    # The sign of a direction is arbitrary; that of the constant and of the score is not.
    basis = (basis * np.sign(np.diag(triangle)))[: len(pair)]
    rounded = mean * np.eye(len(variances)) + basis @ inner @ basis.T
    values, vectors = np.linalg.eigh(variances)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return np.asarray(root @ rounded @ root)


def _variances(matrix: Floats, moments: Moments) -> Floats:
    """Return the second moments of whitened rows: nearly 1, but where noise was lifted."""
    values, vectors = np.linalg.eigh(moments.square / moments.count)
    second = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return np.asarray(matrix.T @ second @ matrix)


def _sigmoid(margins: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(margins, -40, 40))))
