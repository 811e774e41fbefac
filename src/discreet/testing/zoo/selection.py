"""Specimens of selection and randomized response, broken and sound, on which auditors are tested.

They are noisy max, the exponential mechanism, permute-and-flip and randomized response.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .noise import CLAIM_FRACTION, laplace
from .specimen import Specimen

Indices = NDArray[np.int64]


def _argmax(noisy: NDArray[np.float64]) -> Indices:
    """Return the index of the largest score of each row."""
    return np.asarray(np.argmax(noisy, axis=1), dtype=np.int64)


def _noisy_max(scores: Sequence[float], size: int, scale: float) -> Indices:
    noisy = np.asarray(scores) + laplace(scale, (size, len(scores)))
    return _argmax(noisy)


def half_noisy_max(scores: Sequence[float], size: int) -> Indices:
    """Report the noisy max with scale Δ/ε: enough only if all scores move together."""
    return _noisy_max(scores, size, 1.0)


def noisy_max(scores: Sequence[float], size: int) -> Indices:
    """Report the noisy max with scale 2Δ/ε."""
    return _noisy_max(scores, size, 2.0)


def _gumbel(scores: Sequence[float], size: int, rate: float) -> Indices:
    noise = np.random.default_rng().gumbel(size=(size, len(scores)))
    noisy = rate * np.asarray(scores) + noise
    # The Gumbel-max trick: the argmax has the law of the exponential mechanism.
    return _argmax(noisy)


def doubled_exponential(scores: Sequence[float], size: int) -> Indices:
    """Forget the 2 in exp(ε w/2Δ) for a score that is not monotone."""
    return _gumbel(scores, size, 1.0)


def exponential(scores: Sequence[float], size: int) -> Indices:
    """Choose with probability ∝ exp(ε w/2Δ)."""
    return _gumbel(scores, size, 0.5)


def permute_and_flip(scores: Sequence[float], size: int) -> Indices:
    """Report the max with one-sided exponential noise of scale 2Δ/(0.95 ε): permute-and-flip."""
    noise = np.random.default_rng().exponential(2 / CLAIM_FRACTION, (size, len(scores)))
    noisy = np.asarray(scores) + noise
    return _argmax(noisy)


def _respond(value: int, size: int, truth: float, options: int) -> Indices:
    rng = np.random.default_rng()
    # A shift of at least 1: the truth itself is never among the others.
    other = (value + rng.integers(1, options, size)) % options
    return np.where(rng.random(size) < truth, value, other)


def three_quarters(value: int, size: int) -> Indices:
    """Tell the truth in three cases of four: the loss is ln 3, more than the claimed ε = 1."""
    return _respond(value, size, 0.75, 2)


def response(value: int, size: int) -> Indices:
    """Tell the truth with odds e^0.95."""
    return _respond(value, size, 1 / (1 + math.exp(-CLAIM_FRACTION)), 2)


def four_way_response(value: int, size: int) -> Indices:
    """Tell the truth among four with odds e^0.95/3."""
    return _respond(value, size, 1 / (1 + 3 * math.exp(-CLAIM_FRACTION)), 4)


_GAP = ((0.0, 3.0), (1.0, 2.0))
_MANY = ((0.0, 3.0, 3.0), (1.0, 2.0, 2.0))

BROKEN = (
    Specimen.of(half_noisy_max, _GAP, "half the noise: scale Δ/ε", broken=True),
    Specimen.of(doubled_exponential, _MANY, "exp(ε w/Δ) for any score", broken=True),
    Specimen.of(three_quarters, (0, 1), "the loss is ln 3 = 1.0986", broken=True, samples=40_000),
)

SOUND = (
    Specimen.of(noisy_max, _GAP, "scale 2Δ/ε"),
    Specimen.of(exponential, _MANY, "exp(ε w/2Δ)"),
    Specimen.of(permute_and_flip, _MANY, "McKenna, Sheldon 2020"),
    Specimen.of(response, (0, 1), "the loss is 0.95"),
    Specimen.of(four_way_response, (0, 1), "the loss is 0.95"),
)
