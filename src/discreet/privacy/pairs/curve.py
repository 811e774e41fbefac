"""Pairs from privacy curves: a curve known at some points, or the worst of several curves."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

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


def from_points(points: Iterable[tuple[Fraction | float, Value]]) -> Atoms:
    """Make the pair whose curve joins the points (ε, δ) by chords in x = e^ε, from (0, 1) and flat after the last.

    Every privacy curve is convex and decreasing in x with H(0) ≤ 1 (Zhu, Dong, Wang 2022, Proposition 7), so the lower
    hull of points on or above it dominates it; a convex curve is the curve of the pair with Q-mass H'' at each knot.
    Sixty digits are carried, since the masses are second differences.

    >>> from discreet.privacy.pairs.curve import from_points
    >>> from fractions import Fraction
    >>> pair = from_points([(0, Fraction(1, 2)), (1, 0)])
    >>> round(pair.delta(0.0), 9), pair.delta(1.0)
    (0.5, 0.0)
    """
    known = list(points)
    limit = Fraction(max(e for e, _ in known))
    with localcontext(DIGITS):
        hull = _hull(sorted(_point(e, d) for e, d in known))
        x = [Decimal(0)] + [p[1] for p in hull]
        d = [Decimal(1)] + [p[2] for p in hull]
        slopes = [(d[i + 1] - d[i]) / (x[i + 1] - x[i]) for i in range(len(hull))] + [Decimal(0)]
        mass = [float((slopes[i + 1] - slopes[i]) * x[i + 1]) for i in range(len(hull))]
        losses = [float(p[0]) for p in hull]
        top = Fraction(hull[-1][2])
    keep = [i for i, m in enumerate(mass) if m > 0]
    p = np.array([mass[i] for i in keep]) if keep else np.zeros(1)
    at = np.array([losses[i] for i in keep]) if keep else np.zeros(1)
    return Atoms(at, p, top, limit)


def _point(epsilon: Fraction | float, delta: Value) -> Point:
    e = _loss(epsilon)
    return e, _exp(e), _decimal(delta)


def _loss(epsilon: Fraction | float) -> Decimal:
    if abs(float(epsilon)) > 1e18:
        raise InvalidArgument(
            "a curve is not followed numerically beyond a loss of 1e18; add more noise"
        )
    return _decimal(epsilon)


def _decimal(value: Value) -> Decimal:
    """Round to sixty digits; what is a float or a decimal is so at once."""
    return (
        Decimal(value.numerator) / Decimal(value.denominator)
        if isinstance(value, Fraction)
        else +Decimal(value)
    )


@lru_cache(maxsize=4096)  # a curve in both directions asks three times
def _exp(value: Decimal) -> Decimal:
    return value.exp(DIGITS) if value >= 0 else DIGITS.divide(1, _exp(value.copy_negate()))


def _hull(points: list[Point]) -> list[Point]:
    """Keep the lower hull of (0, 1) and the points, as far as it falls."""
    kept: list[Point] = [(Decimal("-Infinity"), Decimal(0), Decimal(1))]
    for point in points:
        if point[2] >= kept[-1][2]:
            continue
        while len(kept) > 1 and _slope(kept[-2], kept[-1]) >= _slope(kept[-2], point):
            kept.pop()
        kept.append(point)
    return kept[1:] or [(Decimal(0), Decimal(1), Decimal(1))]


def _slope(a: Point, b: Point) -> Decimal:
    return (b[2] - a[2]) / (b[1] - a[1])


def mirrored(
    points: Iterable[tuple[Fraction | float, Value]],
) -> list[tuple[Fraction | float, Value]]:
    """Add to points (ε, δ) known in both directions what they say at −ε: H(−ε) = 1 − e^−ε (1 − H'(ε)).

    >>> from discreet.privacy.pairs.curve import mirrored
    >>> [(float(e), round(float(d), 6)) for e, d in mirrored([(1, 0)])]
    [(1.0, 0.0), (-1.0, 0.632121)]
    """
    given = list(points)
    with localcontext(DIGITS):
        back = [(-e, 1 - (1 - _decimal(d)) * _exp(-_loss(e))) for e, d in given]
    return [*given, *back]


def from_renyi(orders: Callable[[float], tuple[Array, Array]], reach: float) -> Atoms:
    """Make the pair of all that Rényi divergences imply for one release, by the conversion at the best order.

    `orders` gives, for an ε, orders α > 1 worth trying and the divergence bound at each. At every α
    δ(ε) ≤ e^{(α−1)(ε(α)−ε)} (1 − 1/α)^α / (α − 1) (Canonne, Kamath, Steinke 2020, Proposition 12).
    """

    def curve(e: float) -> float:
        a, bound = orders(e)
        log = (a - 1) * (bound - e) + a * np.log1p(-1 / a) - np.log(a - 1)
        return min(1.0, up(math.exp(min(0.0, float(log.min())))))

    return from_points(mirrored((e, curve(e)) for e in np.linspace(0, reach, 1501).tolist()))


def from_zcdp(rho: float) -> Atoms:
    """Make the pair of ρ-zCDP: divergence at most ρα at every order.

    >>> from discreet.privacy.pairs.curve import from_zcdp
    >>> round(from_zcdp(0.5).delta(5.2215344445301690442), 8)
    1e-06
    """
    around = np.geomspace(0.25, 4, 513)

    def orders(e: float) -> tuple[Array, Array]:
        a = 1 + max((e - rho) / (2 * rho), 1e-3) * around
        return a, rho * a

    return from_renyi(orders, rho + 2 * math.sqrt(rho * 350))


def envelope(pairs: list[LossPair]) -> Atoms:
    """Make a pair that dominates each of several: the hull of the largest of their curves at many points."""
    ends = [pair.span(1e-150) for pair in pairs]
    low, high = min(e[0] for e in ends), max(e[1] for e in ends)
    grid = np.unique(
        np.concatenate(
            (np.linspace(low, high, 1501), np.linspace(-1, 1, 201) * min(high, -low, 1.0))
        )
    )
    points: list[tuple[Fraction | float, Fraction | float]] = [
        (e, max(pair.delta(e) for pair in pairs)) for e in grid.tolist()
    ]
    limits = [pair.limit for pair in pairs]
    finite = [limit for limit in limits if limit is not None]
    if len(finite) == len(limits):
        points.append((max(finite), max(pair.top for pair in pairs)))
    return from_points(points)
