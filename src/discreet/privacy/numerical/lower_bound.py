"""Lower bounds from the same composition as the upper ones.

Let T be the true curve of the composed pair and F that of the combs. Splitting a cell's mass between its ends is a
second, small release: given the loss it tells the end, and both its likelihood ratios lie within one step h. It has
bounded range h, so it is dominated by the pair B(h) of bounded range, and F ≤ curve of (T ⊗ B(h)^k) by adaptive
composition, k counting the releases that were split:

    F(x) ≤ E[T(x/s)],  s = e^{loss of B(h)^k} under its P.                                   (1)

T is convex and decreasing in x = e^ε and T ≤ F. If T(x0) were at most v, then T would lie below the convex hull of F
and the point (x0, v); put that hull into (1) at x0: if the right side falls short of F(x0), then T(x0) > v. The hull
bends only at x0, so the bound loses order k h², as the upper bound does, even for laws with atoms.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ...frozen import frozen
from ..pairs.hyperbola import bounded_range
from ..pairs.loss_masses import Array
from .convolution import Profile, power
from .loss_grid import dots
from .tilting import log_share


@frozen(eq=False)
class Spread:
    """The law of ln s on half steps −reach..reach, with bounds for what lies outside and for rounding.

    `tail` bounds E[s^λ; outside] at the tilt λ of the profile, `noise` the error of each weight.
    """

    half: float
    weights: Array
    tail: float
    noise: float

    @property
    def reach(self) -> int:
        """The number of half steps on each side."""
        return len(self.weights) // 2


def spread_law(step: float, count: int, tilt: float) -> Spread:
    """Compose B(h) `count` times on half steps.

    >>> from discreet.privacy.numerical.lower_bound import spread_law
    >>> law = spread_law(0.01, 100, 1.0)
    >>> round(float(law.weights.sum()), 9), law.tail < 1e-12
    (1.0, True)
    """
    half = step / 2
    one = dots(bounded_range(Fraction(step)), half, 0.0)
    start, mass = one.start, one.mass
    reach = min(
        max(abs(start), start + len(mass) - 1) * count, math.ceil(14 * math.sqrt(count)) + 12
    )
    size = 1 << (2 * reach + 1).bit_length()
    place = np.zeros(size)
    place[(start + np.arange(len(mass))) % size] += mass
    wave = np.fft.rfft(place)
    ring = np.fft.irfft(power(wave, count), size)
    weights = np.maximum(np.roll(ring, reach)[: 2 * reach + 1], 0.0)
    at = start + np.arange(len(mass), dtype=np.float64)
    tail = 0.0
    if reach < abs(start) * count:
        theta = reach / (1.3 * count)
        moments = [float(mass @ np.exp(at * (tilt * half + sign * theta))) for sign in (1, -1)]
        tail = sum(math.exp(min(700.0, count * math.log(m) - theta * reach)) for m in moments)
    noise = (64 + 64 * count) * 2.0**-52 * math.log2(size)
    return Spread(half, weights, tail, noise)


@frozen(eq=False)
class Proof:
    """What a composition of combs says about the true curve: its profile, and bounds on all that was changed.

    `top` bounds the mass at infinity from both sides, `low` is the P-mass lifted onto the grid. `blur` bounds ln of the
    ratio of the masses kept to the true ones, and half of what the losses were raised by in all: putting a part d of a
    mass one step too high leaves a pair of bounded range whose Q-mass is short of 1 by dh, a shift of the loss.
    """

    profile: Profile
    top: tuple[float, float]
    blur: float
    low: float
    spread: Spread | None


def exceeds(given: Proof, epsilon: float, delta: float) -> bool:
    """Return whether the true curve at ε is certainly above δ."""
    tilt, blur, losses = given.profile.tilt, given.blur, given.profile.losses
    renyi = math.exp(min(700.0, given.profile.log_moment + log_share(tilt) - tilt * epsilon))
    raw = interpolate(losses, given.profile.lower, np.array([epsilon + 2 * blur]), below=0.0)
    have = math.exp(-blur) * float(raw[0]) + given.top[0] - given.low
    if given.spread is None:
        return have > delta
    reach = given.spread.reach
    at = epsilon - 2 * blur - given.spread.half * np.arange(-reach, reach + 1, dtype=np.float64)
    curve = np.minimum(
        1.0,
        given.top[1]
        + math.exp(min(blur, 700.0)) * interpolate(losses, given.profile.upper, at, below=1.0),
    )
    hull, law = _hull(curve, delta, given.spread.half), given.spread.weights
    wrong = given.spread.noise * float(hull.sum()) + given.spread.tail * (
        renyi + given.top[1] + delta
    )
    return have > float(law @ hull) * (1 + 1e-12) + wrong


def _hull(curve: Array, value: float, half: float) -> Array:
    """Return the hull of a convex falling curve and a point below its middle; entries run from high ε to low ε."""
    middle = len(curve) // 2
    hull = curve.copy()
    hull[middle] = value
    away = np.minimum(np.arange(1, middle + 1), 700 / half)
    nearer, farther = (
        -np.expm1(-half * away),
        np.expm1(half * away),
    )  # |y/x0 − 1| at lower and at higher ε
    rise = (curve[middle + 1 :] - value) / nearer
    touch = int(np.argmin(rise))
    hull[middle + 1 : middle + 1 + touch] = value + rise[touch] * nearer[:touch]
    fall = (value - curve[:middle][::-1]) / farther
    touch = int(np.argmax(fall))
    slope, reach = (fall[touch], touch) if fall[touch] > 0 else (0.0, middle)
    hull[middle - reach : middle] = (value - slope * farther[:reach])[::-1]
    return hull


def interpolate(losses: Array, curve: Array, epsilon: Array, *, below: float) -> Array:
    """Interpolate a curve by chords in e^ε; `below` stands for it under the grid, its last value above."""
    step = float(losses[1] - losses[0])
    where = np.clip(np.floor((epsilon - losses[0]) / step), 0, len(losses) - 2).astype(np.int64)
    over = np.clip(epsilon - losses[where], 0.0, step)
    part = np.clip(np.exp(over - step) * np.expm1(-over) / math.expm1(-step), 0.0, 1.0)
    value = curve[where] * (1 - part) + curve[where + 1] * part
    return np.where(epsilon < losses[0], below, value)
