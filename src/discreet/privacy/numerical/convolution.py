"""Composition on a ring: tilted combs multiplied in the frequency domain, with a certificate for every error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...frozen import frozen
from ..pairs.loss_masses import Array
from .loss_grid import LossGrid

Wave: TypeAlias = NDArray[np.complex128]

EPS = 2.0**-52
OUTSIDE = 40.0
"""The tilted mass left outside the ring is at most 2e^−40."""


@frozen(eq=False)
class Profile:
    """Bounds on the curve of a composed comb at its grid points, infinite losses apart, and what they rest on.

    `upper` and `lower` enclose Σ_{l > ε} P(l)(1 − e^{ε−l}) at ε = `losses`; between grid points the curve is a chord in
    e^ε. `log_moment` is ln E[e^{λL}] at the tilt λ.
    """

    losses: Array
    upper: Array
    lower: Array
    tilt: float
    log_moment: float


@frozen(eq=False)
class Tilted:
    """A comb after the tilt: weights that sum to 1, ln of what they were divided by, their mean and variance."""

    start: int
    offset: float
    weight: Array
    count: int
    log_moment: float
    mean: float
    variance: float
    centred: Array


@frozen
class _Known:
    """What is known of a ring: `noise` bounds the error of each tilted weight, `outside` the tilted mass not on it."""

    step: float
    tilt: float
    mean: float
    log_moment: float
    noise: float
    outside: float


def tilted(comb: LossGrid, count: int, tilt: float) -> Tilted:
    """Weigh the masses of a comb by e^{λl}, in logarithms so that nothing overflows."""
    losses = comb.losses
    live = comb.mass > 0
    live |= not live.any()  # if all mass is at infinity a trace is left, so that there is a law
    logs = np.where(live, np.log(np.maximum(comb.mass, 1e-320)) + tilt * losses, -np.inf)
    peak = float(logs.max())
    weight = np.exp(logs - peak)
    total = float(weight.sum())
    weight /= total
    mean = float(weight @ losses)
    centred = losses - mean
    return Tilted(
        comb.start,
        comb.offset,
        weight,
        count,
        peak + math.log(total),
        mean,
        float(weight @ centred**2),
        centred,
    )


def compose(
    combs: Sequence[LossGrid], counts: Sequence[int], tilt: float, longest: int
) -> Profile | None:
    """Compose combs of one step, each `counts` times over; None if the ring would be longer than `longest`.

    Tilting by e^{λl} makes the errors of the transform, of wrapping around and of cutting off small against
    the Rényi bound at λ, which is within a few powers of ten of δ itself, however small δ is.
    """
    step = combs[0].step
    tilt = min(tilt, 12 / step)  # a steeper one would drown all but the last point in rounding
    parts = [tilted(comb, k, tilt) for comb, k in zip(combs, counts, strict=True)]
    below, above = _reach(parts, -1), _reach(parts, 1)
    mean = sum(t.count * t.mean for t in parts)
    offset = sum(t.count * t.offset for t in parts)
    base = sum(t.count * t.start for t in parts)
    whole = (
        sum(t.count * (len(t.weight) - 1) for t in parts) + 2
    )  # one empty point more, so that a chord exists
    first = max(0, math.floor((mean - below - offset) / step) - base)
    last = min(whole, math.ceil((mean + above - offset) / step) - base + 1)
    size = _fast(last - first)
    if size > longest:
        return None
    ring, noise = _multiply(parts, size)
    first = 0 if size >= whole else first
    weight = np.roll(ring, -(first % size))[: min(size, whole)]
    losses = offset + step * np.arange(base + first, base + first + len(weight), dtype=np.float64)
    outside = 0.0 if size >= whole else 2 * math.exp(-OUTSIDE)
    log_moment = sum(t.count * t.log_moment for t in parts)
    return _profile(losses, weight, _Known(step, tilt, mean, log_moment, noise, outside))


def _reach(parts: Sequence[Tilted], sign: int) -> float:
    """Return a distance from the mean beyond which the tilted composition has mass at most e^−OUTSIDE (Chernoff)."""
    variance = sum(t.count * t.variance for t in parts)
    best = math.inf
    rate = math.sqrt(2 * OUTSIDE / max(variance, 1e-300))
    widest = max(float(np.abs(t.centred).max()) for t in parts)
    for scale in (1.0, 0.5):
        theta = min(rate, 100 * rate if widest == 0 else 600 / widest) * scale
        log = sum(
            t.count * math.log(float(t.weight @ np.exp(sign * theta * t.centred))) for t in parts
        )
        best = min(best, (log + OUTSIDE) / theta)
        if log < 2 * OUTSIDE:
            break
    return best


def _fast(size: int) -> int:
    """Return a length at least `size` that transforms quickly."""
    power = 1 << max(6, (size - 1).bit_length())
    return min(n for n in (power, power * 5 // 8, power * 3 // 4) if n >= size)


def _multiply(parts: Sequence[Tilted], size: int) -> tuple[Array, float]:
    """Return the composed tilted weights on a ring, and a bound on the error of each.

    A transform of weights that sum to 1 errs by at most `each` in every coefficient (sums along a tree of depth
    log2 size); with |w| + each in place of |w| the product errs by at most the difference of the two products.
    """
    each = 8 * math.log2(size) * EPS
    spectrum = np.ones(size // 2 + 1, dtype=np.complex128)
    outer = np.ones(size // 2 + 1)
    for t in parts:
        place = np.zeros(size)
        _wrap(place, t)
        wave = np.fft.rfft(place)
        spectrum *= wave if t.count == 1 else power(wave, t.count)
        outer *= raised(np.abs(wave) + each, t.count)
    inner = np.abs(spectrum)
    powers = sum(32 * t.count if t.count > 1 else 4 for t in parts) * EPS
    error = np.maximum(outer - inner, 0.0) + powers * outer
    noise = (2 * float(error.sum()) + each * 2 * float(outer.sum())) / size
    return np.fft.irfft(spectrum, size), noise


def power(wave: Wave, count: int) -> Wave:
    """Raise a spectrum to a whole power in polar form, to 8·count units in the last place or e^−80."""
    size = np.abs(wave)
    live = size > math.exp(-80 / count)  # what would be below e^−80 is left at 0
    turn = np.angle(wave[live]) * count
    whole = np.zeros(len(wave), dtype=np.complex128)
    whole[live] = size[live] ** count * (np.cos(turn) + 1j * np.sin(turn))
    return whole


def raised(size: Array, count: int) -> Array:
    """Raise sizes to a whole power, upward: what would be below e^−80 becomes e^−80."""
    if count == 1:
        return size
    least = math.exp(-80 / count)
    whole = np.full(len(size), math.exp(-80))
    live = size > least
    whole[live] = size[live] ** count
    return whole


def _wrap(place: Array, t: Tilted) -> None:
    size = len(place)
    for begin in range(0, len(t.weight), size):
        piece = t.weight[begin : begin + size]
        place[: len(piece)] += piece


def _profile(losses: Array, weight: Array, known: _Known) -> Profile:
    tilt, step, mean, log_moment = known.tilt, known.step, known.mean, known.log_moment
    keep = tilt * (mean - losses) <= 500
    losses, weight = losses[keep], weight[keep]
    scale = math.exp(log_moment - tilt * mean)
    back = np.exp(np.maximum(-tilt * (losses - mean), -700.0))
    margin = (8 * len(losses) + 64 * (1 + abs(log_moment) + abs(tilt * mean))) * EPS
    value = curve_of(np.maximum(weight, 0.0) * back, step)
    error = curve_of(known.noise * back, step)
    top = known.outside * float(back[-1])
    upper = scale * (value + error + top) * (1 + margin)
    lower = scale * np.maximum(0.0, value * (1 - margin) - error - known.outside * back)
    return Profile(losses, upper, lower, tilt, log_moment)


def curve_of(mass: Array, step: float) -> Array:
    """Return Σ_{i>j} mass_i (1 − e^{−step(i−j)}) at every j as a double sum of positive terms: no digit is lost."""
    held = _decayed(mass, step)
    sums = np.cumsum(held[::-1])[::-1]
    result: Array = -math.expm1(-step) * np.append(sums[1:], 0.0)
    return result


def _decayed(mass: Array, step: float) -> Array:
    """Return Σ_{i≥j} mass_i e^{−step(i−j)}, in blocks short enough not to overflow."""
    out = np.empty(len(mass))
    block = max(1, int(300 / step))
    carry = 0.0
    for stop in range(len(mass), 0, -block):
        begin = max(0, stop - block)
        grow = np.exp(step * np.arange(stop - begin, dtype=np.float64))
        sums = np.cumsum((mass[begin:stop] / grow)[::-1])[::-1]
        out[begin:stop] = grow * (sums + carry * math.exp(-step * (stop - begin)))
        carry = float(out[begin])
    return out
