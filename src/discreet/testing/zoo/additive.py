"""Additive noise: broken by floats, by the wrong scale, by steps before or after the noise."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...privacy.measures import ZCDP, ApproxDP, GaussianDP, PureDP
from .noise import CLAIM_FRACTION, geometric, laplace, on_grid, polar
from .specimen import Specimen

Numbers = NDArray[np.float64]


def textbook_laplace(value: float, size: int) -> Numbers:
    """Add float noise to a float: the sum keeps low bits of the noise that depend on the value."""
    return value + laplace(1.0, size)


def polar_gaussian(values: Sequence[float], size: int) -> Numbers:
    """Add pairs of polar normal numbers to two values, as floats."""
    return np.asarray(values) + polar(1.0, size)


def classic_gaussian(value: float, size: int) -> Numbers:
    """Use σ = √(2 ln(1.25/δ))/ε at ε = 20, where it is not proved and not true."""
    sigma = math.sqrt(2 * math.log(1.25 / 1e-5)) / 20
    return on_grid(np.random.default_rng().normal(value, sigma, size))


def clipped_to_true_n(data: Sequence[int], size: int) -> NDArray[np.int64]:
    """Clamp a noisy count to 0..n with the true n, which is private under add/remove."""
    return np.clip(sum(data) + geometric(1.0, size), 0, len(data))


def nan_pass_through(data: Sequence[float], size: int) -> Numbers:
    """Clamp to 0..1 and sum, but np.clip lets NaN through: one person turns the answer into NaN."""
    total = np.sum(np.clip(data, 0.0, 1.0))
    return on_grid(total + laplace(1.0, size))


def integer_wrap(data: Sequence[int], size: int) -> NDArray[np.int64]:
    """Sum clamped values in 8 bits: the sum wraps, and one person moves it by 256."""
    clamped = np.clip(data, 0, 1).astype(np.int8)
    with np.errstate(over="ignore"):
        total = np.sum(clamped, dtype=np.int8)
    return int(total) + geometric(1.0, size)


def float_sum(data: Sequence[float], size: int) -> Numbers:
    """Sum values of 2^52..2^52+1 in floats: the sum moves by 1024 instead of 1, above the noise."""
    clamped = np.clip(data, 2.0**52, 2.0**52 + 1)
    # One by one, in order: NumPy's own sum adds pairwise and rounds less.
    total = float(np.add.accumulate(clamped)[-1])
    return total + laplace(1.0, size)


def data_dependent_bounds(data: Sequence[float], size: int) -> Numbers:
    """Take the bounds of the mean from the data: equal values mean no range, and no noise."""
    width = max(data) - min(data)
    noise = laplace(1.0, size) * width / len(data)
    return on_grid(np.mean(data) + noise)


def snapped_laplace(value: float, size: int) -> Numbers:
    """Add Laplace noise and round to a public grid."""
    return on_grid(value + laplace(1 / CLAIM_FRACTION, size))


def gaussian(value: float, size: int) -> Numbers:
    """Add normal noise with σ = 1/0.95 and round to a public grid."""
    return on_grid(np.random.default_rng().normal(value, 1 / CLAIM_FRACTION, size))


def analytic_gaussian(value: float, size: int) -> Numbers:
    """Add normal noise with the σ of the analytic curve at (1, 1e-5)."""
    return on_grid(np.random.default_rng().normal(value, 3.73063163482, size))


def clamped_sum(data: Sequence[float], size: int) -> Numbers:
    """Read NaN as 0, clamp to public bounds 0..1, sum."""
    clamped = np.clip(np.nan_to_num(data, nan=0.0), 0.0, 1.0)
    return on_grid(np.sum(clamped) + laplace(1.0, size))


def truncated_geometric(data: Sequence[int], size: int) -> NDArray[np.int64]:
    """Clamp a noisy count to a public range."""
    return np.clip(sum(data) + geometric(1 / CLAIM_FRACTION, size), 0, 12)


_MIDDLE = 2.0**52
_LOW_BITS = "low-order bits of the sum of two floats depend on the value (Mironov 2012)"

BROKEN = (
    Specimen(
        "textbook_laplace", textbook_laplace, PureDP(1), (0.0, 1.0), broken=True, why=_LOW_BITS
    ),
    Specimen(
        "polar_gaussian",
        polar_gaussian,
        GaussianDP.of_square(2),
        ((0.0, 0.0), (1.0, 1.0)),
        broken=True,
        why="float pairs show their value in their low-order bits (Jin, McMurtry, Rubinstein, Ohrimenko 2022)",
    ),
    Specimen(
        "classic_gaussian",
        classic_gaussian,
        ApproxDP(20, "1e-5"),
        (0.0, 1.0),
        broken=True,
        why="σ = √(2 ln(1.25/δ))/ε is proved for ε < 1 only; at ε = 20 the true δ is 153 times the claimed one",
        assume="gaussian",
    ),
    Specimen(
        "clipped_to_true_n",
        clipped_to_true_n,
        PureDP(1),
        ([1] * 10, [1] * 11),
        broken=True,
        why="clamping to the true n is no post-processing: n is private",
        neighbours="add-remove",
    ),
    Specimen(
        "nan_pass_through",
        nan_pass_through,
        PureDP(1),
        ([0.2, 0.7], [0.2, math.nan]),
        broken=True,
        why="NaN survives clamping and the noise",
        samples=4000,
        neighbours="replace",
    ),
    Specimen(
        "integer_wrap",
        integer_wrap,
        PureDP(1),
        ([1] * 127, [1] * 128),
        broken=True,
        why="an 8-bit sum wraps from 127 to −128: one person moves it by 255",
        samples=4000,
        neighbours="add-remove",
    ),
    Specimen(
        "float_sum",
        float_sum,
        PureDP(1),
        ([_MIDDLE + 1] * 1023 + [_MIDDLE], [_MIDDLE + 1] * 1024),
        broken=True,
        why="float sums round at every step: sensitivity 1 on paper, 1024 in fact (Casacuberta et al. 2022)",
        samples=4000,
        neighbours="replace",
    ),
    Specimen(
        "data_dependent_bounds",
        data_dependent_bounds,
        PureDP(1),
        ([5.0] * 10, [5.0] * 9 + [6.0]),
        broken=True,
        why="bounds taken from the data set the scale of the noise",
        samples=4000,
        neighbours="replace",
    ),
)

SOUND = (
    Specimen(
        "snapped_laplace",
        snapped_laplace,
        PureDP(1),
        (0.0, 1.0),
        broken=False,
        why="rounded to a public grid",
    ),
    Specimen("gaussian", gaussian, GaussianDP(1), (0.0, 1.0), broken=False, why="μ = Δ/σ = 0.95"),
    Specimen(
        "gaussian_zcdp", gaussian, ZCDP("1/2"), (0.0, 1.0), broken=False, why="ρ = Δ²/2σ² < 1/2"
    ),
    Specimen(
        "analytic_gaussian",
        analytic_gaussian,
        ApproxDP(1, "1e-5"),
        (0.0, 1.0),
        broken=False,
        why="the least σ of the analytic curve (Balle, Wang 2018)",
    ),
    Specimen(
        "clamped_sum",
        clamped_sum,
        PureDP(1),
        ([0.2, 0.7], [0.2, math.nan]),
        broken=False,
        why="NaN has a declared meaning, bounds are public",
        neighbours="replace",
    ),
    Specimen(
        "truncated_geometric",
        truncated_geometric,
        PureDP(1),
        ([1] * 10, [1] * 11),
        broken=False,
        why="clamping to a public range is post-processing",
        neighbours="add-remove",
    ),
)
