"""Intervals of quotients, variances, covariances and correlations: profiles of a line that is 0 at the exact values.

Let A, B, … be noisy totals with noises X_A, X_B, … At the exact values of what is asked, and of what stands beside it
(the means μ, ν, the ratio k of the deviations), these lines of the *exact* totals are 0:

    quotient r       A − rB                                                     (Fieller 1954)
    variance v       Q − 2μS + (μ² − v)n
    covariance c     P − νX − μY + (μν − c)n
    correlation ρ    P − νX − μY + μνn − (ρ/2)·(k(Q_x − 2μX + μ²n) + (Q_y − 2νY + ν²n)/k),   k = √(var y/var x)

so the same line of the noisy totals is pure noise: its law is known. With probability 1 − β/25 all that stands beside
lies in its own interval, and with the rest the line is within the quantile of its noise at the worst weights there; all
values that obey both are the interval. What stands beside moves the line in second order only: for a variance by
(μ̂ − μ)², so almost nothing is lost. Weights are taken over the public range first, then over the interval found, which
holds in the same event. With n − 1 in the denominator n − 1 stands beside v instead of n: a constant has no noise.

Where the noisy number of rows is not above 0, only the public range is known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import product

import numpy as np

from ...frozen import frozen
from .linear_combination import Noises, WeightedSum, line_reach

Ends = tuple[float, float]
_ASIDE = 0.04
_ROUNDS = 5
_HAIR = 1e-12
"""Far above what is lost in floats, beside totals that are counted in rows of values of size 1."""


@frozen
class SpreadLines:
    """What a variance is made from: Σx², Σx and the number of rows, and between which ends x lies."""

    squares: WeightedSum
    total: WeightedSum
    rows: WeightedSum
    within: Ends


@frozen
class CrossLines:
    """What a covariance is made from: Σxy, Σx, Σy and the number of rows, and between which ends x and y lie."""

    products: WeightedSum
    x: WeightedSum
    y: WeightedSum
    rows: WeightedSum
    within: tuple[Ends, Ends]


def _clip(found: Ends, within: Ends) -> Ends:
    low, high = within
    return min(max(found[0], low), high), max(min(found[1], high), low)


def _shrink(within: Ends, bound: Callable[[Ends], Ends]) -> Ends:
    """Take the bound over what is left, again and again, until that changes little."""
    ends = within
    for _ in range(_ROUNDS):
        before, ends = ends, _clip(bound(ends), ends)
        if ends[1] - ends[0] > 0.99 * (before[1] - before[0]):
            break
    return ends


def _bounds(lines: Sequence[WeightedSum], corners: Iterable[Sequence[float]]) -> list[float]:
    """Return the greatest size of each weight of Σ cⱼ·lineⱼ over some corners c."""
    weights = np.array([line.weights for line in lines])
    found: list[float] = np.abs(np.array(list(corners)) @ weights).max(axis=0).tolist()
    return [bound * (1 + _HAIR) for bound in found]


def quotient_ends(
    top: WeightedSum, bottom: WeightedSum, noises: Noises, within: Ends, beta: float
) -> Ends:
    """Bound a quotient of totals that lies between public ends.

    >>> from discreet.statistics.laws.linear_combination import WeightedSum
    >>> from discreet.statistics.laws.noise_sum import IntegerNoise
    >>> from discreet.statistics.laws.profile_interval import quotient_ends
    >>> noises = (IntegerNoise(True, 2.0, 1.0),) * 2
    >>> total, rows = WeightedSum(500.0, (1.0, 0.0)), WeightedSum(100.0, (0.0, 1.0))
    >>> low, high = quotient_ends(total, rows, noises, (-60.0, 60.0), 0.05)
    >>> 4.6 < low < high < 5.4
    True
    """
    if bottom.value <= 0:
        return within

    def bound(ends: Ends) -> Ends:
        pairs = zip(top.weights, bottom.weights, strict=True)
        bounds = [max(abs(t - ends[0] * b), abs(t - ends[1] * b)) * (1 + _HAIR) for t, b in pairs]
        reach = line_reach(noises, bounds, beta)
        reach += _HAIR * (abs(top.value) + bottom.value * max(map(abs, ends)))
        return (top.value - reach) / bottom.value, (top.value + reach) / bottom.value

    return _shrink(within, bound)


def variance_ends(
    of: SpreadLines, noises: Noises, most: float, beta: float, *, sample: bool
) -> Ends:
    """Bound a variance of at most `most`."""
    below = of.rows.value - sample
    if below <= 0:
        return 0.0, most
    means = quotient_ends(of.total, of.rows, noises, of.within, beta * _ASIDE)
    middle = min(max(of.total.value / of.rows.value, means[0]), means[1])
    at = [_line((of.squares, of.total, of.rows), (1.0, -2 * m, m * m)) for m in (middle, *means)]
    hair = _HAIR * (abs(of.squares.value) + below * max(map(abs, of.within)) ** 2)

    def bound(ends: Ends) -> Ends:
        corners = [(1.0, -a - b, a * b - v) for a, b in product(means, means) for v in ends]
        reach = (
            line_reach(
                noises, _bounds((of.squares, of.total, of.rows), corners), beta * (1 - _ASIDE)
            )
            + hair
        )
        return (at[0] - reach) / below, (max(at) + reach) / below

    return _shrink((0.0, most), bound)


def _line(lines: Sequence[WeightedSum], weights: Sequence[float]) -> float:
    return math.fsum(weight * line.value for weight, line in zip(weights, lines, strict=True))


def covariance_ends(
    of: CrossLines, noises: Noises, most: float, beta: float, *, sample: bool
) -> Ends:
    """Bound a covariance of at most `most` either way."""
    below = of.rows.value - sample
    if below <= 0:
        return -most, most
    means = _means(of, noises, beta * _ASIDE / 2)
    found = [
        _line((of.products, of.x, of.y, of.rows), (1.0, -q, -p, p * q)) for p, q in product(*means)
    ]
    hair = _HAIR * (abs(of.products.value) + below * most * 4)

    def bound(ends: Ends) -> Ends:
        corners = [(1.0, -q, -p, p * q - c) for p, q, c in product(*means, ends)]
        bounds = _bounds((of.products, of.x, of.y, of.rows), corners)
        reach = line_reach(noises, bounds, beta * (1 - _ASIDE)) + hair
        return (min(found) - reach) / below, (max(found) + reach) / below

    return _shrink((-most, most), bound)


def _means(of: CrossLines, noises: Noises, beta: float) -> tuple[Ends, Ends]:
    x, y = (
        quotient_ends(t, of.rows, noises, w, beta)
        for t, w in zip((of.x, of.y), of.within, strict=True)
    )
    return x, y


def correlation_ends(
    of: CrossLines, x: SpreadLines, y: SpreadLines, noises: Noises, beta: float
) -> tuple[Ends, tuple[float, float]]:
    """Bound a correlation, and say how small the two variances may be.

    Four things stand beside it: two means and two variances. If a variance may be 0, nothing is known.
    """
    whole, part = (-1.0, 1.0), beta * _ASIDE / 4
    if of.rows.value <= 0:
        return whole, (0.0, 0.0)
    u, v = (
        variance_ends(one, noises, (one.within[1] - one.within[0]) ** 2 / 4, part, sample=False)
        for one in (x, y)
    )
    if min(u[0], v[0]) <= 0:
        return whole, (u[0], v[0])
    means, ratios = _means(of, noises, part), (math.sqrt(v[0] / u[1]), math.sqrt(v[1] / u[0]))
    covered = [
        _line((of.products, of.x, of.y, of.rows), (1.0, -q, -p, p * q)) for p, q in product(*means)
    ]
    roots = _roots(x, y, means, ratios)
    if roots[0] <= 0:
        return whole, (u[0], v[0])
    far = [max(map(abs, ends)) for ends in of.within]
    hair = _HAIR * (abs(of.products.value) + of.rows.value * far[0] * far[1])

    def bound(ends: Ends) -> Ends:
        corners = _correlation_corners(means, ratios, ends)
        bounds = _bounds((of.products, of.x, of.y, of.rows, x.squares, y.squares), corners)
        reach = line_reach(noises, bounds, beta * (1 - _ASIDE)) + hair
        low, high = min(covered) - reach, max(covered) + reach
        return low / roots[0 if low < 0 else 1], high / roots[0 if high > 0 else 1]

    return _shrink(whole, bound), (u[0], v[0])


def _roots(x: SpreadLines, y: SpreadLines, means: tuple[Ends, Ends], ratios: Ends) -> Ends:
    """Bound (k·A + B/k)/2, with A, B the centred squares: at least √(AB), and greatest at an end of k."""
    sides = []
    for one, mean in ((x, means[0]), (y, means[1])):
        lines = (one.squares, one.total, one.rows)
        best = min(max(one.total.value / one.rows.value, mean[0]), mean[1])
        at = [_line(lines, (1.0, -2 * m, m * m)) for m in (best, *mean)]
        sides.append((at[0], max(at)))
    (a, most_a), (b, most_b) = sides
    if min(a, b) <= 0:
        return 0.0, 0.0
    near = min(max(math.sqrt(b / a), ratios[0]), ratios[1])
    return (near * a + b / near) / 2, max((k * most_a + most_b / k) / 2 for k in ratios)


def _correlation_corners(
    means: tuple[Ends, Ends], ratios: Ends, ends: Ends
) -> Iterable[tuple[float, ...]]:
    """List the weights of P, X, Y, n, Q_x, Q_y at the corners; squares of means, and k and 1/k, as if they were two."""
    for (p, q), k, h, rho, (a, b) in product(
        product(*means), ratios, ratios, ends, product(*means)
    ):
        x, y = rho * k / 2, rho / (2 * h)
        yield (1.0, -q + x * (p + a), -p + y * (q + b), p * q - x * p * a - y * q * b, -x, -y)
