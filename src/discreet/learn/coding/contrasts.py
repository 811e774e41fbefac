"""Contrasts: coefficients as they are shown, so that each of them is determined by the data.

The columns of a listed value add up to the constant. One number added to all of them and taken off
the constant changes no prediction, so their common level is arbitrary. It is moved to the constant:

    coefficient of a listed value    its difference from the mean over the listed values
    constant                         the score of a row of zeros, in the columns' own units
"""

from __future__ import annotations

import numpy as np

from ...arithmetic.arrays import Floats
from .design import ModelDesign
from .feature import Numeric, OneHot

MAX_COVARIANCE = 101**2
"""Entries of a covariance up to which it is kept with a model: those of 100 columns."""


def centring(design: ModelDesign) -> Floats:
    """Return the matrix M for which M·w predicts as w does, with listed values of mean 0.

    >>> from discreet.learn.coding.contrasts import centring
    >>> from discreet.learn.coding.design import ModelDesign
    >>> from discreet.learn.coding.feature import OneHot
    >>> design = ModelDesign((OneHot("sex", ("f", "m")),))
    >>> (centring(design) @ [5.0, 3.0, 9.0, 1.0]).tolist()
    [1.0, -1.0, 5.0, 5.0]
    """
    matrix = np.eye(design.width)
    for feature, start in zip(design.features, design.starts, strict=True):
        if isinstance(feature, OneHot):
            listed = slice(start, start + len(feature.values))
            # All others, the last column of the block, may occur in no row: no part of the mean.
            share = 1 / len(feature.values)
            matrix[start : start + feature.width, listed] -= share
            matrix[-1, listed] += share
    return matrix


def centred(design: ModelDesign, counts: Floats, values: Floats) -> Floats:
    """Return values; those of each listed or binned column less their mean over the rows.

    `counts` are noisy numbers of rows, a bin or value each: rare ones hardly move a mean.
    """
    found = values.copy()
    for feature, start in zip(design.features, design.starts, strict=True):
        if not isinstance(feature, Numeric):
            block = slice(start, start + feature.width)
            weights = counts[block] + 1e-9
            found[block] -= weights @ values[block] / weights.sum()
    return found


def idle_directions(design: ModelDesign) -> Floats:
    """Return, as columns, the directions of coefficients that change no prediction."""
    blocks = zip(design.features, design.starts, strict=True)
    listed = [(feature, start) for feature, start in blocks if not isinstance(feature, Numeric)]
    idle = np.zeros((design.width, len(listed)))
    for column, (feature, start) in enumerate(listed):
        idle[start : start + feature.width, column] = 1.0
        idle[-1, column] = -1.0
    return idle


def reporting(design: ModelDesign) -> Floats:
    """Return the matrix from coefficients to contrasts, its last row the score of a row of zeros."""
    origin = np.eye(design.width)
    for feature, start in zip(design.features, design.starts, strict=True):
        if isinstance(feature, Numeric) and feature.high > feature.low:
            # In −1..1 between the bounds, 0 in the column's own units lies here.
            origin[-1, start] = -(feature.low + feature.high) / (feature.high - feature.low)
    return np.asarray(origin @ centring(design))


def errors_of(design: ModelDesign, covariances: Floats) -> Floats:
    """Return the standard error of every contrast, a column for each class.

    `covariances` are those of the coefficients, one matrix for each class.
    """
    matrix = reporting(design)
    variances = [np.diag(matrix @ covariance @ matrix.T) for covariance in covariances]
    return np.asarray(np.sqrt(np.maximum(np.array(variances), 0.0)).T)


def one_covariance(design: ModelDesign, covariances: Floats) -> dict[str, Floats]:
    """Return the covariance that a model keeps: of the contrasts, if there is one score.

    Nothing is kept of several scores, nor of more than 100 columns.
    """
    if len(covariances) > 1 or covariances[0].size > MAX_COVARIANCE:
        return {}
    # As the coefficients: what is arbitrary in them would be arbitrary here.
    matrix = centring(design)
    return {"covariance": matrix @ covariances[0] @ matrix.T}
