"""What a row wants changed, given what the model says of it: whole numbers from whole margins, by one public table.

    logistic    σ(m) − y           binary labels
    softmax     p(m) − 1_y         several classes
    pinball     σ((m − y)/h) − τ   the quantile τ, smoothed over a width h

A margin is `ONE` for 1. Functions are tables over margins, worked out once, so that a row's residual depends on that
row alone (a fast exponential of an array may differ with the place in the array). Residuals are `FULL` for 1.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from ..coding.rows import Whole64

ONE = 1 << 26
"""A margin of 1 as a whole number."""
FULL = 1 << 14
"""A residual of 1 as a whole number."""
_FINE = 1 << 14
"""Margins are told apart to 1/4,096."""
_FAR = 16 * ONE // _FINE


@cache
def _sigmoid() -> Whole64:
    return np.array(
        [round(FULL / (1 + math.exp(-m * _FINE / ONE))) for m in range(-_FAR, _FAR + 1)],
        dtype=np.int64,
    )


@cache
def _decay() -> Whole64:
    return np.array(
        [round(2**30 * math.exp(-m * _FINE / ONE)) for m in range(_FAR + 1)], dtype=np.int64
    )


def sigmoid(margins: Whole64) -> Whole64:
    """Return FULL·σ(m), rounded."""
    return np.asarray(_sigmoid()[np.clip(margins // _FINE, -_FAR, _FAR) + _FAR])


def logistic(margins: Whole64, labels: Whole64) -> Whole64:
    """Return σ(m) − y for labels 0 and 1.

    >>> import numpy as np
    >>> from discreet.learn.training.residual import FULL, ONE, logistic
    >>> (logistic(np.array([[0], [20 * ONE]]), np.array([[1], [1]])) / FULL).tolist()
    [[-0.5], [0.0]]
    """
    return sigmoid(margins) - FULL * labels


def softmax(margins: Whole64, labels: Whole64) -> Whole64:
    """Return p(m) − y for one-hot labels; each row of margins is one row's classes."""
    below = np.minimum((margins.max(axis=1, keepdims=True) - margins) // _FINE, _FAR)
    powers = _decay()[below]
    return np.asarray(powers * FULL // powers.sum(axis=1, keepdims=True) - FULL * labels)


def pinball(margins: Whole64, labels: Whole64, at: float, width: float) -> Whole64:
    """Return σ((m − y)/h) − τ for labels as margins: its zero is near the quantile τ."""
    return sigmoid(((margins - labels) / width).astype(np.int64)) - round(at * FULL)
