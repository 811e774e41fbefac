"""Integer residuals of loss functions, by lookup tables over integer margins.

    logistic    σ(m) − y           binary labels
    softmax     p(m) − 1_y         several classes
    pinball     σ((m − y)/h) − τ   the quantile τ, smoothed over a width h

A margin of 1 is `ONE`; a residual of 1 is `FULL`. The functions are tables over margins, computed
once, so that a row's residual depends on that row alone. A vectorised exponential does not promise
that: its last bit may differ with the index in the array.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from ..coding.rows import Whole64

ONE = 1 << 26
"""A margin of 1 as an integer."""
FULL = 1 << 14
"""A residual of 1 as an integer."""
_FINE = 1 << 14
"""Step of the tables: margins are resolved to ONE/_FINE = 1/4,096."""
_FAR = 16 * ONE // _FINE
"""Half the table's length: beyond a margin of 16 σ is 0 or 1 to the last step of a residual."""


@cache
def _sigmoid() -> Whole64:
    margins = range(-_FAR, _FAR + 1)
    values = [round(FULL / (1 + math.exp(-m * _FINE / ONE))) for m in margins]
    return np.array(values, dtype=np.int64)


@cache
def _decay() -> Whole64:
    # 30 bits: times FULL the products stay far below 2^63.
    values = [round(2**30 * math.exp(-m * _FINE / ONE)) for m in range(_FAR + 1)]
    return np.array(values, dtype=np.int64)


def sigmoid(margins: Whole64) -> Whole64:
    """Return FULL·σ(m), rounded."""
    steps = np.clip(margins // _FINE, -_FAR, _FAR)
    return np.asarray(_sigmoid()[steps + _FAR])


def logistic(margins: Whole64, labels: Whole64) -> Whole64:
    """Return σ(m) − y for labels 0 and 1.

    >>> import numpy as np
    >>> from discreet.learn.training.residual import FULL, ONE, logistic
    >>> (logistic(np.array([[0], [20 * ONE]]), np.array([[1], [1]])) / FULL).tolist()
    [[-0.5], [0.0]]
    """
    return sigmoid(margins) - FULL * labels


def softmax(margins: Whole64, labels: Whole64) -> Whole64:
    """Return p(m) − y for one-hot labels; each row of margins holds the classes of one row."""
    # Margins below the row's largest, so that no exponential overflows.
    largest = margins.max(axis=1, keepdims=True)
    below = np.minimum((largest - margins) // _FINE, _FAR)
    powers = _decay()[below]
    chances = powers * FULL // powers.sum(axis=1, keepdims=True)
    return np.asarray(chances - FULL * labels)


def pinball(margins: Whole64, labels: Whole64, at: float, width: float) -> Whole64:
    """Return σ((m − y)/h) − τ for labels y as margins, τ = `at` and h = `width`.

    Its mean over rows is 0 near the quantile τ.
    """
    scaled = ((margins - labels) / width).astype(np.int64)
    return sigmoid(scaled) - round(at * FULL)
