"""Specimens with additive noise, broken and sound, on which auditors are tested.

The broken ones fail by floating-point numbers, a wrong scale, or a step before or after the noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...arithmetic.arrays import Floats, Integers
from ...privacy.measures import ZCDP, ApproxDP, GaussianDP
from .noise import CLAIM_FRACTION, geometric, laplace, on_grid, polar
from .specimen import Specimen

Numbers = Floats


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


def clipped_to_true_n(data: Sequence[int], size: int) -> Integers:
    """Clamp a noisy count to 0..n with the true n, which is private under add/remove."""
    return np.clip(sum(data) + geometric(1.0, size), 0, len(data))


def nan_pass_through(data: Sequence[float], size: int) -> Numbers:
    """Clamp to 0..1 and sum, but np.clip lets NaN through: one person turns the answer into NaN."""
    total = np.sum(np.clip(data, 0.0, 1.0))
    return on_grid(total + laplace(1.0, size))


def integer_wrap(data: Sequence[int], size: int) -> Integers:
    """Sum clamped values in 8 bits: the sum wraps, and one person moves it by 255."""
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
    """Read NaN as 0, clamp to public bounds 0..1, sum, add Laplace noise on a grid."""
    clamped = np.clip(np.nan_to_num(data, nan=0.0), 0.0, 1.0)
    return on_grid(np.sum(clamped) + laplace(1.0, size))


def truncated_geometric(data: Sequence[int], size: int) -> Integers:
    """Clamp a noisy count to a public range."""
    return np.clip(sum(data) + geometric(1 / CLAIM_FRACTION, size), 0, 12)


_MIDDLE = 2.0**52
_LOW_BITS = "low-order bits of the sum of two floats depend on the value (Mironov 2012)"

BROKEN = (
    Specimen.of(textbook_laplace, (0.0, 1.0), _LOW_BITS, broken=True),
    Specimen.of(
        polar_gaussian,
        ((0.0, 0.0), (1.0, 1.0)),
        "float pairs show their value in their low-order bits (Jin, McMurtry, Rubinstein, Ohrimenko 2022)",
        claim=GaussianDP.of_square(2),
        broken=True,
    ),
    Specimen.of(
        classic_gaussian,
        (0.0, 1.0),
        "σ = √(2 ln(1.25/δ))/ε is proved for ε < 1 only; at ε = 20 the true δ is 153 times the claimed one",
        claim=ApproxDP(20, "1e-5"),
        broken=True,
        assume="gaussian",
    ),
    Specimen.of(
        clipped_to_true_n,
        ([1] * 10, [1] * 11),
        "clamping to the true n is no post-processing: n is private",
        broken=True,
        neighbours="add-remove",
    ),
    Specimen.of(
        nan_pass_through,
        ([0.2, 0.7], [0.2, math.nan]),
        "NaN survives clamping and the noise",
        broken=True,
        samples=4000,
        neighbours="replace",
    ),
    Specimen.of(
        integer_wrap,
        ([1] * 127, [1] * 128),
        "an 8-bit sum wraps from 127 to −128: one person moves it by 255",
        broken=True,
        samples=4000,
        neighbours="add-remove",
    ),
    Specimen.of(
        float_sum,
        ([_MIDDLE + 1] * 1023 + [_MIDDLE], [_MIDDLE + 1] * 1024),
        "float sums round at every step: sensitivity 1 on paper, 1024 in fact (Casacuberta et al. 2022)",
        broken=True,
        samples=4000,
        neighbours="replace",
    ),
    Specimen.of(
        data_dependent_bounds,
        ([5.0] * 10, [5.0] * 9 + [6.0]),
        "bounds taken from the data set the scale of the noise",
        broken=True,
        samples=4000,
        neighbours="replace",
    ),
)

SOUND = (
    Specimen.of(snapped_laplace, (0.0, 1.0), "rounded to a public grid"),
    Specimen.of(gaussian, (0.0, 1.0), "μ = Δ/σ = 0.95", claim=GaussianDP(1)),
    Specimen.of(gaussian, (0.0, 1.0), "ρ = Δ²/2σ² < 1/2", name="gaussian_zcdp", claim=ZCDP("1/2")),
    Specimen.of(
        analytic_gaussian,
        (0.0, 1.0),
        "the least σ of the analytic curve (Balle, Wang 2018)",
        claim=ApproxDP(1, "1e-5"),
    ),
    Specimen.of(
        clamped_sum,
        ([0.2, 0.7], [0.2, math.nan]),
        "NaN has a declared meaning, bounds are public",
        neighbours="replace",
    ),
    Specimen.of(
        truncated_geometric,
        ([1] * 10, [1] * 11),
        "clamping to a public range is post-processing",
        neighbours="add-remove",
    ),
)
