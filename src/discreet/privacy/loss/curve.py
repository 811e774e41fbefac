"""Dominating pairs from privacy curves: known at some points, or the worst of several curves.

Converts Rényi and zCDP promises to curves δ(ε), and every curve to a pair that dominates it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

import numpy as np

from ...arithmetic.rounding import up
from ...errors import InvalidArgument
from .atoms import Atoms
from .loss_masses import Array, LossPair

DIGITS = Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN)
"""Sixty digits, and e^ε also where it is no float."""
Value = Fraction | Decimal | float
Point = tuple[Decimal, Decimal, Decimal]
"""(ε, x = e^ε, δ): the curve is convex and falls in x."""
_ORIGIN: Point = (Decimal("-Infinity"), Decimal(0), Decimal(1))
"""The point at x = 0, where no curve is above 1."""
_CURVE_POINTS = 1501
"""Points at which a known curve is evaluated before they are joined."""


def from_points(points: Iterable[tuple[Fraction | float, Value]]) -> Atoms:
    """Make the pair whose curve joins the points (ε, δ) by chords in x = e^ε.

    The curve starts at (x = 0, δ = 1) and is flat after the last point.

    Guarantee: the pair dominates every event whose curve is on or below the points. Every privacy
    curve is convex and decreasing in x with H(0) ≤ 1 (Zhu, Dong, Wang 2022, Proposition 7). So the
    lower hull of points on or above it dominates it. A convex curve is the curve of the pair with
    Q-mass H'' at each knot. Sixty digits are carried, since the masses are second differences.

    Refuses: a loss beyond 1e18 (InvalidArgument).

    Law: tests/privacy/test_pair.py::TestCurves

    >>> from discreet.privacy.loss.curve import from_points
    >>> from fractions import Fraction
    >>> pair = from_points([(0, Fraction(1, 2)), (1, 0)])
    >>> round(pair.delta(0.0), 9), pair.delta(1.0)
    (0.5, 0.0)
    """
    given = list(points)
    limit = Fraction(max(epsilon for epsilon, _ in given))
    losses: list[float] = []
    masses: list[float] = []
    with localcontext(DIGITS):
        by_loss = sorted(_point(epsilon, delta) for epsilon, delta in given)
        hull = _hull(by_loss)
        knots = [_ORIGIN, *hull]
        slopes = [_slope(a, b) for a, b in pairwise(knots)]
        # After the last knot the curve is flat.
        slopes.append(Decimal(0))
        for index, (loss, x, _) in enumerate(hull):
            # The Q-mass of a knot is the change of slope there; the P-mass is x times that.
            bend = slopes[index + 1] - slopes[index]
            mass = float(bend * x)
            if mass > 0:
                losses.append(float(loss))
                masses.append(mass)
        top = Fraction(hull[-1][2])
    if not masses:
        # The curve is flat at its top: an atom of mass 0 is the empty law.
        return Atoms(np.zeros(1), np.zeros(1), top, limit)
    return Atoms(np.array(losses), np.array(masses), top, limit)


def _point(epsilon: Fraction | float, delta: Value) -> Point:
    loss = _loss(epsilon)
    return loss, _exp(loss), _decimal(delta)


def _loss(epsilon: Fraction | float) -> Decimal:
    """Return an ε as a decimal of sixty digits; refuse one beyond ±1e18."""
    if abs(float(epsilon)) > 1e18:
        raise InvalidArgument(
            "a curve is not followed numerically beyond a loss of 1e18; add more noise"
        )
    return _decimal(epsilon)


def _decimal(value: Value) -> Decimal:
    """Round to sixty digits."""
    if isinstance(value, Fraction):
        return Decimal(value.numerator) / Decimal(value.denominator)
    # A float or a decimal converts exactly; the sign `+` rounds it to the context.
    return +Decimal(value)


# A curve in both directions asks three times for the same power.
@lru_cache(maxsize=4096)
def _exp(value: Decimal) -> Decimal:
    if value >= 0:
        return value.exp(DIGITS)
    # 1/e^−v shares the stored power of the other direction.
    return DIGITS.divide(1, _exp(value.copy_negate()))


def _hull(points: list[Point]) -> list[Point]:
    """Keep the lower hull of (x = 0, δ = 1) and the points, as far as it falls."""
    kept = [_ORIGIN]
    for point in points:
        if point[2] >= kept[-1][2]:
            # The curve falls, so that a later point that is no lower says nothing.
            continue
        # Drop knots on or above the chord from the knot before them to the new point.
        while len(kept) > 1 and _slope(kept[-2], kept[-1]) >= _slope(kept[-2], point):
            kept.pop()
        kept.append(point)
    return kept[1:] or [(Decimal(0), Decimal(1), Decimal(1))]


def _slope(a: Point, b: Point) -> Decimal:
    rise = b[2] - a[2]
    run = b[1] - a[1]
    return rise / run


def mirrored(
    points: Iterable[tuple[Fraction | float, Value]],
) -> list[tuple[Fraction | float, Value]]:
    """Add to points (ε, δ) known in both directions what they say at −ε.

    H(−ε) = 1 − e^−ε (1 − H'(ε)), where H' is the curve of the other direction.

    >>> from discreet.privacy.loss.curve import mirrored
    >>> [(float(e), round(float(d), 6)) for e, d in mirrored([(1, 0)])]
    [(1.0, 0.0), (-1.0, 0.632121)]
    """
    given = list(points)
    both = list(given)
    with localcontext(DIGITS):
        for epsilon, delta in given:
            kept = (1 - _decimal(delta)) * _exp(-_loss(epsilon))
            both.append((-epsilon, 1 - kept))
    return both


def from_renyi(orders: Callable[[float], tuple[Array, Array]], reach: float) -> Atoms:
    """Make the pair of all that Rényi divergences imply for one release.

    `orders` gives, for an ε, orders α > 1 worth trying and the divergence bound at each. At every
    α δ(ε) ≤ e^{(α−1)(ε(α)−ε)} (1 − 1/α)^α / (α − 1) (Canonne, Kamath, Steinke 2020,
    Proposition 12). The best order of each ε counts.

    Law: tests/privacy/test_pair.py::TestCurves
    """

    def curve(epsilon: float) -> float:
        alpha, bound = orders(epsilon)
        first = (alpha - 1) * (bound - epsilon)
        second = alpha * np.log1p(-1 / alpha)
        log_deltas = first + second - np.log(alpha - 1)
        log_delta = min(0.0, float(log_deltas.min()))
        # Rounded up, as it promises; no δ is above 1.
        return min(1.0, up(math.exp(log_delta)))

    grid = np.linspace(0, reach, _CURVE_POINTS).tolist()
    points = [(epsilon, curve(epsilon)) for epsilon in grid]
    return from_points(mirrored(points))


def from_zcdp(rho: float) -> Atoms:
    """Make the pair of ρ-zCDP: divergence at most ρα at every order.

    >>> from discreet.privacy.loss.curve import from_zcdp
    >>> round(from_zcdp(0.5).delta(5.2215344445301690442), 8)
    1e-06
    """
    # Around the order that is best without the last factors; every order is sound.
    around = np.geomspace(0.25, 4, 513)

    def orders(epsilon: float) -> tuple[Array, Array]:
        best = max((epsilon - rho) / (2 * rho), 1e-3)
        alpha = 1 + best * around
        return alpha, rho * alpha

    # δ at ρ + 2√(350ρ) is about e^−350, below every δ that is asked for.
    reach = rho + 2 * math.sqrt(rho * 350)
    return from_renyi(orders, reach)


def envelope(pairs: list[LossPair]) -> Atoms:
    """Make a pair that dominates each of several: the hull of the largest of their curves.

    Law: tests/privacy/test_pair.py::TestCurves
    """
    lows = []
    highs = []
    for pair in pairs:
        low, high = pair.span(1e-150)
        lows.append(low)
        highs.append(high)
    lowest = min(lows)
    highest = max(highs)
    even = np.linspace(lowest, highest, _CURVE_POINTS)
    # Around 0, where the curves bend most, the points lie closer.
    radius = min(highest, -lowest, 1.0)
    near_zero = np.linspace(-1, 1, 201) * radius
    grid = np.unique(np.concatenate((even, near_zero)))
    points: list[tuple[Fraction | float, Fraction | float]] = []
    for epsilon in grid.tolist():
        deltas = [pair.delta(epsilon) for pair in pairs]
        points.append((epsilon, max(deltas)))
    finite = [pair.limit for pair in pairs if pair.limit is not None]
    if len(finite) == len(pairs):
        # Beyond the largest limit only the masses at infinity are left.
        largest_top = max(pair.top for pair in pairs)
        points.append((max(finite), largest_top))
    return from_points(points)
