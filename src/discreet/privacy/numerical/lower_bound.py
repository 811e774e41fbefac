"""Lower bounds on ε and δ, from the same composition as the upper ones.

Let T be the true curve of the composed pair and F that of the loss grids. Splitting a cell's mass
between its ends is a second, small release: given the loss it tells the end, and both its
likelihood ratios lie within one step h. It has bounded range h, so the pair B(h) of bounded range
dominates it, and F ≤ curve of (T ⊗ B(h)^k) by adaptive composition; k counts the split releases:

    F(x) ≤ E[T(x/s)],  s = e^{loss of B(h)^k} under its P.                                   (1)

T is convex and decreasing in x = e^ε, and T ≤ F. If T(x0) were at most v, then T would lie below
the convex hull of F and the point (x0, v). Put that hull into (1) at x0: if the right side falls
short of F(x0), then T(x0) > v. The hull bends only at x0, so the bound loses order k h², as the
upper bound does, even for laws with atoms.

Law: tests/privacy/test_pld.py::TestOracle
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from ...arithmetic.root_finder import bisect
from ...arithmetic.rounding import down
from ...frozen import frozen
from ..loss.loss_masses import Array
from ..pairs.hyperbola import bounded_range
from .convolution import Profile, power
from .loss_grid import connect_dots, float_range
from .tilting import log_renyi_factor


@frozen(eq=False)
class Spread:
    """Law of ln s in (1) on half steps −reach..reach, with bounds on its tails and on rounding.

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

    Half steps keep the discretisation of B(h) itself small against its effect.

    >>> from discreet.privacy.numerical.lower_bound import spread_law
    >>> law = spread_law(0.01, 100, 1.0)
    >>> round(float(law.weights.sum()), 9), law.tail < 1e-12
    (1.0, True)
    """
    half = step / 2
    grid = connect_dots(bounded_range(Fraction(step)), half, 0.0)
    start = grid.start
    mass = grid.mass
    # Eleven deviations and more, as one release deviates by 1.2 half steps; or the whole support.
    last = start + len(mass) - 1
    support = max(abs(start), last) * count
    deviations = math.ceil(14 * math.sqrt(count)) + 12
    reach = min(support, deviations)
    size = 1 << (2 * reach + 1).bit_length()
    points = np.arange(len(mass))
    cyclic = np.zeros(size)
    cyclic[(start + points) % size] += mass
    wave = np.fft.rfft(cyclic)
    convolved = np.fft.irfft(power(wave, count), size)
    # Below 0 is a rounding error of the FFT, covered by `noise`.
    centred = np.roll(convolved, reach)[: 2 * reach + 1]
    weights = np.maximum(centred, 0.0)
    tail = 0.0
    if reach < abs(start) * count:
        at = start + points.astype(np.float64)
        tail = _tail_moment(at, mass, reach, count, tilt * half)
    # The polar power errs by 8·count units, the two FFTs by 8 units a level; 64 covers both.
    units = 64 + 64 * count
    noise = units * 2.0**-52 * math.log2(size)
    return Spread(half, weights, tail, noise)


def _tail_moment(at: Array, mass: Array, reach: int, count: int, tilt: float) -> float:
    """Bound E[s^λ; |ln s| > reach half steps] by Chernoff, each side by itself."""
    # About the best θ for a normal law; every θ > 0 gives a sound bound.
    theta = reach / (1.3 * count)
    tail = 0.0
    for sign in (1, -1):
        exponents = at * (tilt + sign * theta)
        # A large tilt overflows: the greatest exponent that has mass is taken out of the sum.
        greatest = float(np.max(exponents[mass > 0.0]))
        scaled = float(mass @ np.exp(np.minimum(exponents - greatest, 0.0)))
        log_moment = greatest + math.log(scaled)
        log_bound = count * log_moment - theta * reach
        # An exponent above 700 says nothing as it is; the cap only keeps it a float.
        tail += math.exp(min(700.0, log_bound))
    return tail


@frozen(eq=False)
class Proof:
    """Evidence of a composition about the true curve: its profile, and bounds on all changes.

    `top` bounds the mass at infinity from both sides, `low` is the P-mass lifted onto the grid.
    `blur` bounds ln of the ratio of the masses kept to the true ones, and half of what the losses
    were raised by in all. The second bound covers masses of which a part d was put one step too
    high. That leaves a pair of bounded range whose Q-mass is short of 1 by dh: a shift of the loss.
    """

    profile: Profile
    top: tuple[float, float]
    blur: float
    low: float
    spread: Spread | None


def exceeds(evidence: Proof, epsilon: float, delta: float) -> bool:
    """Return whether the true curve at ε is certainly above δ.

    Guarantee: True only if T(e^ε) > δ, by (1) with every rounding against the claim.
    """
    profile = evidence.profile
    blur = evidence.blur
    least_top, most_top = evidence.top
    # Left side of (1), rounded down: losses may be raised by 2·blur and masses by a factor e^blur.
    # Mass lifted from below the grid may not count.
    at = np.array([epsilon + 2 * blur])
    raw = interpolate(profile.losses, profile.lower, at, below=0.0)
    factor = math.exp(-blur)
    finite = factor * float(raw[0])
    left = finite + least_top - evidence.low
    spread = evidence.spread
    if spread is None:
        # No mass was split: F is T, and (1) is not needed.
        return left > delta
    # Right side of (1), rounded up: F at lower ε, masses larger by e^blur, and at most 1.
    shifts = spread.half * float_range(-spread.reach, spread.reach + 1)
    at = epsilon - 2 * blur - shifts
    raw = interpolate(profile.losses, profile.upper, at, below=1.0)
    factor = math.exp(min(blur, 700.0))
    curve = np.minimum(1.0, most_top + factor * raw)
    hull = _hull(curve, delta, spread.half)
    # Outside of the window, at lower ε: T(x/s) ≤ s^λ · (Rényi bound at x) + top, and s^λ ≥ 1. At
    # higher ε the hull is at most δ. The chance of that is at most e^−60, at 11 deviations, which
    # the factor 1 + 1e-12 below covers.
    tilt = profile.tilt
    log_renyi = profile.log_moment + log_renyi_factor(tilt) - tilt * epsilon
    renyi = math.exp(min(700.0, log_renyi))
    outside = spread.tail * (renyi + most_top + delta)
    rounding = spread.noise * float(hull.sum()) + outside
    expected = float(spread.weights @ hull)
    return left > expected * (1 + 1e-12) + rounding


def _hull(curve: Array, value: float, half: float) -> Array:
    """Return the convex hull of a falling curve and the point (middle, `value`) below it.

    Entries run from high ε to low ε, in half steps.
    """
    middle = len(curve) // 2
    hull = curve.copy()
    hull[middle] = value
    # e^700 is the last power of e that is a float; further points count as being there.
    steps = np.arange(1, middle + 1)
    away = np.minimum(steps, 700 / half)
    # |y/x0 − 1| of the points at lower and at higher ε.
    lower_distance = -np.expm1(-half * away)
    higher_distance = np.expm1(half * away)
    # At lower ε: the flattest line from the point that touches the curve.
    rise = (curve[middle + 1 :] - value) / lower_distance
    touch = int(np.argmin(rise))
    line = value + rise[touch] * lower_distance[:touch]
    after = middle + 1
    hull[after : after + touch] = line
    # At higher ε: the steepest one. If the curve stays above the point, the hull is flat there, as
    # T falls.
    higher = curve[:middle][::-1]
    fall = (value - higher) / higher_distance
    touch = int(np.argmax(fall))
    slope = fall[touch]
    if not slope > 0:
        slope = 0.0
        touch = middle
    line = value - slope * higher_distance[:touch]
    hull[middle - touch : middle] = line[::-1]
    return hull


def interpolate(losses: Array, curve: Array, epsilon: Array, *, below: float) -> Array:
    """Interpolate a curve by chords in e^ε.

    `below` is its value under the grid; above the grid it keeps its last value.
    """
    step = float(losses[1] - losses[0])
    position = np.floor((epsilon - losses[0]) / step)
    within = np.clip(position, 0, len(losses) - 2)
    cell = within.astype(np.int64)
    over = np.clip(epsilon - losses[cell], 0.0, step)
    # (e^over − 1)/(e^step − 1), in a form that does not overflow for a wide step.
    growth = np.exp(over - step) * np.expm1(-over)
    ratio = growth / math.expm1(-step)
    part = np.clip(ratio, 0.0, 1.0)
    low = curve[cell]
    high = curve[cell + 1]
    value = low * (1 - part) + high * part
    return np.where(epsilon < losses[0], below, value)


def last_above(evidence: Proof, delta: float, upper: float, gap: float) -> float:
    """Return the largest ε found at which the true curve is certainly above δ, 0 if there is none.

    The search starts a little below the upper bound on ε and doubles its distance.
    """
    if not math.isfinite(upper) or upper <= 0:
        return 0.0

    def is_proven(epsilon: float) -> bool:
        return exceeds(evidence, epsilon, delta)

    high = upper
    distance = gap * upper / 4
    while not is_proven(high - distance):
        high -= distance
        distance *= 2
        if high <= 0:
            return 0.0
    found = _last_proven(is_proven, high - distance, high, evidence)
    return max(0.0, down(found))


def most_below(evidence: Proof, epsilon: float, upper: float) -> float:
    """Return the largest δ found that the true curve at ε certainly exceeds, 0 if there is none."""

    def is_proven(delta: float) -> bool:
        return exceeds(evidence, epsilon, delta)

    high = upper
    part = 1e-4
    while not is_proven(high * (1 - part)):
        high *= 1 - part
        part = min(part * 2, 0.9)
        # A bound a million times too small would tell nothing.
        if high <= upper * 1e-6:
            return 0.0
    found = _last_proven(is_proven, high * (1 - part), high, evidence)
    return down(found)


def _last_proven(
    is_proven: Callable[[float], bool], low: float, high: float, evidence: Proof
) -> float:
    """Bisect between a number that is proven and one that is not; return one that is."""
    # A test with a spread law costs more, and its gap is wider than an eighth bisection.
    halvings = 24 if evidence.spread is None else 8
    return bisect(is_proven, low, high, halvings)[0]
