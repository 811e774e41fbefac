"""Convolution of loss grids by FFT: the composed privacy loss distribution with certified errors.

The masses are tilted exponentially, convolved cyclically in the frequency domain, and tilted back.
Every error (rounding, wrap-around, cut tails) is bounded and becomes part of the result.

Law: tests/privacy/test_pld.py::TestParts
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...frozen import frozen
from ..loss.loss_masses import EPS, Array
from .loss_grid import LossGrid, float_range

Wave: TypeAlias = NDArray[np.complex128]

OUTSIDE = 40.0
"""The tilted mass left outside the cyclic window is at most 2e^−40."""
_TINY_LOG = 80.0
"""Powers below e^−80 are not computed: 0 from below, e^−80 from above."""


@frozen(eq=False)
class Profile:
    """Bounds on the curve of composed loss grids at the grid points, infinite losses left out.

    `upper` and `lower` enclose Σ_{l > ε} P(l)(1 − e^{ε−l}) at ε = `losses`. Between grid points
    the curve is a chord in e^ε. `log_moment` is ln E[e^{λL}] at the tilt λ.
    """

    losses: Array
    upper: Array
    lower: Array
    tilt: float
    log_moment: float


@frozen(eq=False)
class _TiltedGrid:
    """Loss grid after the tilt, taken `count` times.

    `weight` sums to 1; `log_moment` is ln of the divisor; `centred` are the losses minus `mean`.
    """

    start: int
    offset: float
    weight: Array
    count: int
    log_moment: float
    mean: float
    variance: float
    centred: Array


@frozen
class _Certificate:
    """Known facts about the convolved weights, from which the bounds follow.

    `noise` bounds the error of each tilted weight, `outside` the tilted mass not in the window.
    """

    step: float
    tilt: float
    mean: float
    log_moment: float
    noise: float
    outside: float


def _tilt_grid(grid: LossGrid, count: int, tilt: float) -> _TiltedGrid:
    """Weigh the masses of a grid by e^{λl}, in logarithms so that nothing overflows."""
    losses = grid.losses
    positive = grid.mass > 0
    # If all mass is at an infinite loss, a trace of 1e-320 is left at every point, so that there
    # is a law to normalise. It is far below every δ that is told from 0.
    positive |= not positive.any()
    log_mass = np.log(np.maximum(grid.mass, 1e-320))
    tilted = log_mass + tilt * losses
    logs = np.where(positive, tilted, -np.inf)
    peak = float(logs.max())
    weight = np.exp(logs - peak)
    total = float(weight.sum())
    weight /= total
    mean = float(weight @ losses)
    centred = losses - mean
    variance = float(weight @ centred**2)
    log_moment = peak + math.log(total)
    return _TiltedGrid(grid.start, grid.offset, weight, count, log_moment, mean, variance, centred)


def compose(
    grids: Sequence[LossGrid], counts: Sequence[int], tilt: float, max_size: int
) -> Profile | None:
    """Compose grids of one step, each `counts` times; None if the FFT would exceed `max_size`.

    Tilting by e^{λl} makes the errors of the FFT, of wrapping around and of cutting off small
    against the Rényi bound at λ. That bound is within a few powers of ten of δ itself, however
    small δ is.
    """
    step = grids[0].step
    # A steeper tilt would leave nothing but rounding errors at all points but the last.
    tilt = min(tilt, 12 / step)
    tilted = []
    means = []
    offsets = []
    log_moments = []
    base = 0
    # Points of the full convolution, and one empty point more so that a last chord exists.
    full_size = 2
    for grid, count in zip(grids, counts, strict=True):
        part = _tilt_grid(grid, count, tilt)
        tilted.append(part)
        means.append(count * part.mean)
        offsets.append(count * part.offset)
        log_moments.append(count * part.log_moment)
        base += count * part.start
        full_size += count * (len(part.weight) - 1)
    mean = sum(means)
    offset = sum(offsets)
    log_moment = sum(log_moments)

    # The window rounds outward on both sides: the Chernoff bound covers everything beyond it.
    lowest = mean - _reach(tilted, -1)
    highest = mean + _reach(tilted, 1)
    lowest_index = math.floor((lowest - offset) / step) - base
    highest_index = math.ceil((highest - offset) / step) - base
    first = max(0, lowest_index)
    last = min(full_size, highest_index + 1)
    size = _fft_size(last - first)
    if size > max_size:
        return None
    cyclic, noise = _convolve(tilted, size)
    if size >= full_size:
        # The whole convolution fits: nothing wraps around and nothing is outside.
        first = 0
        outside = 0.0
    else:
        # Chernoff's e^−OUTSIDE on each side, whether it was cut off or wrapped around.
        outside = 2 * math.exp(-OUTSIDE)
    length = min(size, full_size)
    unrolled = np.roll(cyclic, -(first % size))
    weight = unrolled[:length]
    begin = base + first
    losses = offset + step * float_range(begin, begin + length)
    certificate = _Certificate(step, tilt, mean, log_moment, noise, outside)
    return _bounded_profile(losses, weight, certificate)


def _reach(tilted: Sequence[_TiltedGrid], sign: int) -> float:
    """Return a distance from the mean beyond which the tilted mass is at most e^−OUTSIDE.

    Chernoff: P[±(L − mean) ≥ r] ≤ e^{K(θ) − θr} for every θ > 0, so r = (K(θ) + OUTSIDE)/θ.
    """
    variances = []
    widths = []
    for part in tilted:
        variances.append(part.count * part.variance)
        widths.append(float(np.abs(part.centred).max()))
    variance = sum(variances)
    widest = max(widths)
    # The θ that is best for a normal law; any θ is sound, a poor one costs a longer window.
    rate = math.sqrt(2 * OUTSIDE / max(variance, 1e-300))
    # Below 600/widest no exponential overflows; a width of 0 sets no limit.
    rate = min(rate, 600 / max(widest, 1e-300))
    best = math.inf
    for factor in (1.0, 0.5):
        theta = rate * factor
        logs = []
        for part in tilted:
            tilts = np.exp(sign * theta * part.centred)
            moment = float(part.weight @ tilts)
            logs.append(part.count * math.log(moment))
        log_moment = sum(logs)
        best = min(best, (log_moment + OUTSIDE) / theta)
        # Half of θ helps only where K(θ) is far above the normal law's, which is OUTSIDE.
        if log_moment < 2 * OUTSIDE:
            break
    return best


def _fft_size(size: int) -> int:
    """Return a length at least `size` with prime factors 2, 3 and 5: the FFT is fast there."""
    power_of_two = 1 << max(6, (size - 1).bit_length())
    for shorter in (power_of_two * 5 // 8, power_of_two * 3 // 4):
        if shorter >= size:
            return shorter
    return power_of_two


def _convolve(tilted: Sequence[_TiltedGrid], size: int) -> tuple[Array, float]:
    """Return the cyclic convolution of the tilted weights, and a bound on the error of each.

    An FFT of weights that sum to 1 errs by at most `each` in every coefficient (sums along a
    tree of depth log2 size). With |w| + each in place of |w| the product errs by at most the
    difference of the two products.
    """
    # Eight units in the last place a level: a butterfly has one product and one sum.
    each = 8 * math.log2(size) * EPS
    half = size // 2 + 1
    spectrum = np.ones(half, dtype=np.complex128)
    outer = np.ones(half)
    rounding = 0
    for part in tilted:
        wave = np.fft.rfft(_wrapped(part.weight, size))
        if part.count == 1:
            spectrum *= wave
            # One complex product errs by at most four units.
            rounding += 4
        else:
            spectrum *= power(wave, part.count)
            # `power` errs by 8·count units, in modulus and in angle; 32 covers both.
            rounding += 32 * part.count
        modulus = np.abs(wave) + each
        outer *= _power_up(modulus, part.count)
    inner = np.abs(spectrum)
    # Two errors: of the coefficients that went in, and of the products' own rounding.
    error = np.maximum(outer - inner, 0.0)
    error = error + rounding * EPS * outer
    # The inverse FFT averages `size` coefficients. All but two of the half spectrum count twice;
    # its own rounding adds `each` of their sum.
    error_sum = 2 * float(error.sum())
    inverse_error = each * 2 * float(outer.sum())
    noise = (error_sum + inverse_error) / size
    return np.fft.irfft(spectrum, size), noise


def power(wave: Wave, count: int) -> Wave:
    """Raise a spectrum to a whole power in polar form.

    The result is right to 8·count units in the last place, or to e^−80.
    """
    modulus = np.abs(wave)
    # A power below e^−80 stays 0: the error bound of `_power_up` covers it.
    computed = modulus > math.exp(-_TINY_LOG / count)
    angle = np.angle(wave[computed]) * count
    result = np.zeros(len(wave), dtype=np.complex128)
    direction = np.cos(angle) + 1j * np.sin(angle)
    result[computed] = modulus[computed] ** count * direction
    return result


def _power_up(modulus: Array, count: int) -> Array:
    """Raise moduli to a whole power, upward: a power below e^−80 becomes e^−80."""
    if count == 1:
        return modulus
    least = math.exp(-_TINY_LOG)
    result = np.full(len(modulus), least)
    computed = modulus > math.exp(-_TINY_LOG / count)
    result[computed] = modulus[computed] ** count
    return result


def _wrapped(weight: Array, size: int) -> Array:
    """Add up weights modulo `size`: a grid longer than the window wraps around it."""
    cyclic = np.zeros(size)
    for begin in range(0, len(weight), size):
        piece = weight[begin : begin + size]
        cyclic[: len(piece)] += piece
    return cyclic


def _bounded_profile(losses: Array, weight: Array, known: _Certificate) -> Profile:
    """Undo the tilt and bound the curve from both sides."""
    tilt = known.tilt
    step = known.step
    mean = known.mean
    log_moment = known.log_moment
    # Points so far below the mean that e^{−λl} leaves the floats are dropped. The curve is asked
    # at higher ε; below its first point it counts as 1 (upper) or 0 (lower).
    keep = tilt * (mean - losses) <= 500
    losses = losses[keep]
    weight = weight[keep]
    # Sums of n positive terms err by n units each way; e^x errs by |x| units.
    largest_power = 1 + abs(log_moment) + abs(tilt * mean)
    units = 8 * len(losses) + 64 * largest_power
    margin = units * EPS
    if margin >= 1:
        # Losses of millions times a steep tilt: no digit of the scale is known, and nothing is told.
        return Profile(losses, np.ones(len(losses)), np.zeros(len(losses)), tilt, log_moment)
    scale = math.exp(log_moment - tilt * mean)
    # The floor e^−700 keeps the factors positive. It raises the curve by at most e^−700 = 1e-304,
    # as `scale` is at most 1: nothing that is told from 0 (`direction.LEAST`).
    exponents = -tilt * (losses - mean)
    untilt = np.exp(np.maximum(exponents, -700.0))
    # Negative weights are rounding errors of the FFT, covered by `noise`.
    value = _curve_of(np.maximum(weight, 0.0) * untilt, step)
    error = _curve_of(known.noise * untilt, step)
    # Upper: mass above the window counts in full. Its untilting factor is at most that of the
    # window's last point. Mass that wrapped around only adds to the weights.
    beyond = known.outside * float(untilt[-1])
    most = value + error + beyond
    upper = scale * most * (1 + margin)
    # Lower: mass that wrapped around may have come to any higher point, where its untilting factor
    # is at most that of this point. All of it is taken off.
    least = value * (1 - margin) - error - known.outside * untilt
    lower = scale * np.maximum(0.0, least)
    return Profile(losses, upper, lower, tilt, log_moment)


def _curve_of(mass: Array, step: float) -> Array:
    """Return Σ_{i>j} mass_i (1 − e^{−step(i−j)}) at every j.

    1 − e^{−step·n} = (1 − e^{−step}) Σ_{m<n} e^{−step·m} turns the sum into a double sum of
    positive terms: no digit is lost by cancellation.
    """
    sums = _sums_from_the_end(_decayed_sums(mass, step))
    # Strictly above j: the sums from j + 1 on, and nothing above the last point.
    above = np.append(sums[1:], 0.0)
    cell_width = -math.expm1(-step)
    result: Array = cell_width * above
    return result


def _sums_from_the_end(values: Array) -> Array:
    reversed_sums = np.cumsum(values[::-1])
    return reversed_sums[::-1]


def _decayed_sums(mass: Array, step: float) -> Array:
    """Return Σ_{i≥j} mass_i e^{−step(i−j)} at every j, from the last point down."""
    sums = np.empty(len(mass))
    # e^{step·n} within a block is at most e^300: it does not overflow.
    block = max(1, int(300 / step))
    carry = 0.0
    for stop in range(len(mass), 0, -block):
        begin = max(0, stop - block)
        length = stop - begin
        growth = np.exp(step * float_range(0, length))
        inside = _sums_from_the_end(mass[begin:stop] / growth)
        later = carry * math.exp(-step * length)
        sums[begin:stop] = growth * (inside + later)
        carry = float(sums[begin])
    return sums
