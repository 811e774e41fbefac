"""Confidence intervals of quotients, variances, covariances and correlations, as profiles.

Let A, B, … be noisy totals with noises X_A, X_B, …. At the exact value of the statistic, and of its
nuisance parameters (the means μ, ν, the ratio k of the deviations), these linear combinations of the
*exact* totals are 0:

    quotient r       A − rB                                                     (Fieller 1954)
    variance v       Q − 2μS + (μ² − v)n
    covariance c     P − νX − μY + (μν − c)n
    correlation ρ    P − νX − μY + μνn − (ρ/2)·(k(Q_x − 2μX + μ²n) + (Q_y − 2νY + ν²n)/k),
                     k = √(var y/var x)

Here n is the number of rows, and S = Σx, Q = Σx² (Q_y = Σy²), P = Σxy, X = Σx, Y = Σy. So the same
combination of the noisy totals is pure noise, whose law is known. With probability 1 − β/25 all
nuisance parameters lie in intervals of their own. With probability 1 − 24β/25 the combination is
within the quantile of its noise at the worst weights there. The interval holds all values for which
both may be so. Nuisance parameters move the combination in second order only: for a variance by (μ̂
− μ)², so almost nothing is lost. Weights are taken over the public range first, then over the
interval so far, which holds in the same event. With n − 1 in the denominator, n − 1 is the factor
of v instead of n: a constant has no noise.

Where the noisy number of rows is not above 0, only the public range is known.

Guarantee: an interval contains the exact value with probability at least 1 − β.
Law: tests/statistics/test_partition.py::TestLines
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
"""The part of β for the intervals of nuisance parameters."""
_ROUNDS = 5
_FLOAT_LOSS = 1e-12
"""Relative slack far above what floats lose, beside totals in rows of values of size 1."""


@frozen
class SpreadLines:
    """Weighted sums of a variance: Σx², Σx and the number of rows; x lies in the range `within`."""

    squares: WeightedSum
    total: WeightedSum
    rows: WeightedSum
    within: Ends


@frozen
class CrossLines:
    """Weighted sums of a covariance: Σxy, Σx, Σy and rows; x and y lie in the ranges `within`."""

    products: WeightedSum
    x: WeightedSum
    y: WeightedSum
    rows: WeightedSum
    within: tuple[Ends, Ends]


def _clip(found: Ends, within: Ends) -> Ends:
    low, high = within
    least = min(max(found[0], low), high)
    most = max(min(found[1], high), low)
    return least, most


def _shrink(within: Ends, bound: Callable[[Ends], Ends]) -> Ends:
    """Repeat the bound over the interval so far, until it changes little.

    All rounds hold in one event, so any number of rounds is valid.
    """
    ends = within
    for _ in range(_ROUNDS):
        width = ends[1] - ends[0]
        ends = _clip(bound(ends), ends)
        if ends[1] - ends[0] > 0.99 * width:
            break
    return ends


def _bounds(lines: Sequence[WeightedSum], corners: Iterable[Sequence[float]]) -> list[float]:
    """Return the greatest size of each weight of Σ cⱼ·lineⱼ over some corners c."""
    weights = np.array([line.weights for line in lines])
    combined = np.array(list(corners)) @ weights
    sizes: list[float] = np.abs(combined).max(axis=0).tolist()
    # Rounds up: a bound for greater weights holds for smaller ones.
    return [size * (1 + _FLOAT_LOSS) for size in sizes]


def quotient_ends(
    top: WeightedSum, bottom: WeightedSum, noises: Noises, within: Ends, beta: float
) -> Ends:
    """Return a confidence interval of level 1 − β of a quotient, inside the public ends `within`.

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
        low, high = ends
        bounds = []
        for a, b in zip(top.weights, bottom.weights, strict=True):
            # |a − r·b| is convex in r, so it is greatest at an end.
            size = max(abs(a - low * b), abs(a - high * b))
            bounds.append(size * (1 + _FLOAT_LOSS))
        reach = line_reach(noises, bounds, beta)
        reach += _FLOAT_LOSS * (abs(top.value) + bottom.value * max(map(abs, ends)))
        return (top.value - reach) / bottom.value, (top.value + reach) / bottom.value

    return _shrink(within, bound)


def variance_ends(
    of: SpreadLines, noises: Noises, most: float, beta: float, *, sample: bool
) -> Ends:
    """Return a confidence interval of level 1 − β of a variance, inside 0..`most`."""
    denominator = of.rows.value - sample
    if denominator <= 0:
        return 0.0, most
    means = quotient_ends(of.total, of.rows, noises, of.within, beta * _ASIDE)
    least_squares, most_squares = _centred_squares(of, means)
    max_size = max(map(abs, of.within))
    float_loss = _FLOAT_LOSS * (abs(of.squares.value) + denominator * max_size**2)
    lines = (of.squares, of.total, of.rows)

    def bound(ends: Ends) -> Ends:
        # μ² is bounded as a product of two means, so that all extremes are at corners.
        corners = [(1.0, -a - b, a * b - v) for a, b, v in product(means, means, ends)]
        reach = line_reach(noises, _bounds(lines, corners), beta * (1 - _ASIDE)) + float_loss
        return (least_squares - reach) / denominator, (most_squares + reach) / denominator

    return _shrink((0.0, most), bound)


def _centred_squares(of: SpreadLines, means: Ends) -> Ends:
    """Bound Q − 2mS + m²n over all means m of an interval."""
    lines = (of.squares, of.total, of.rows)
    # A parabola in m: least at the noisy mean, or at the end next to it, greatest at an end.
    nearest = min(max(of.total.value / of.rows.value, means[0]), means[1])
    values = [_combine(lines, (1.0, -2 * m, m * m)) for m in (nearest, *means)]
    return values[0], max(values)


def _combine(lines: Sequence[WeightedSum], weights: Sequence[float]) -> float:
    # An exactly rounded sum: the terms nearly cancel.
    products = [weight * line.value for weight, line in zip(weights, lines, strict=True)]
    return math.fsum(products)


def _centred_products(of: CrossLines, means: tuple[Ends, Ends]) -> list[float]:
    """Return P − qX − pY + pqn at the corners of both means, where its extremes are."""
    lines = (of.products, of.x, of.y, of.rows)
    return [_combine(lines, (1.0, -q, -p, p * q)) for p, q in product(*means)]


def covariance_ends(
    of: CrossLines, noises: Noises, most: float, beta: float, *, sample: bool
) -> Ends:
    """Return a confidence interval of level 1 − β of a covariance, inside ±`most`."""
    denominator = of.rows.value - sample
    if denominator <= 0:
        return -most, most
    means = _means(of, noises, beta * _ASIDE / 2)
    products = _centred_products(of, means)
    float_loss = _FLOAT_LOSS * (abs(of.products.value) + denominator * most * 4)
    lines = (of.products, of.x, of.y, of.rows)

    def bound(ends: Ends) -> Ends:
        corners = [(1.0, -q, -p, p * q - c) for p, q, c in product(*means, ends)]
        reach = line_reach(noises, _bounds(lines, corners), beta * (1 - _ASIDE)) + float_loss
        low = (min(products) - reach) / denominator
        high = (max(products) + reach) / denominator
        return low, high

    return _shrink((-most, most), bound)


def _means(of: CrossLines, noises: Noises, beta: float) -> tuple[Ends, Ends]:
    x_mean = quotient_ends(of.x, of.rows, noises, of.within[0], beta)
    y_mean = quotient_ends(of.y, of.rows, noises, of.within[1], beta)
    return x_mean, y_mean


def correlation_ends(
    of: CrossLines, x: SpreadLines, y: SpreadLines, noises: Noises, beta: float
) -> tuple[Ends, tuple[float, float]]:
    """Return a confidence interval of a correlation, and lower bounds of both variances.

    All hold together with probability at least 1 − β.
    There are four nuisance parameters: two means and two variances. If a variance may be 0, the
    interval is −1..1.
    """
    public = (-1.0, 1.0)
    quarter = beta * _ASIDE / 4
    if of.rows.value <= 0:
        return public, (0.0, 0.0)
    x_variance = _variance_of(x, noises, quarter)
    y_variance = _variance_of(y, noises, quarter)
    least_variances = (x_variance[0], y_variance[0])
    if min(least_variances) <= 0:
        return public, least_variances
    means = _means(of, noises, quarter)
    least_ratio = math.sqrt(y_variance[0] / x_variance[1])
    most_ratio = math.sqrt(y_variance[1] / x_variance[0])
    ratios = (least_ratio, most_ratio)
    products = _centred_products(of, means)
    roots = _roots(x, y, means, ratios)
    if roots[0] <= 0:
        return public, least_variances
    far_x = max(map(abs, of.within[0]))
    far_y = max(map(abs, of.within[1]))
    float_loss = _FLOAT_LOSS * (abs(of.products.value) + of.rows.value * far_x * far_y)
    lines = (of.products, of.x, of.y, of.rows, x.squares, y.squares)

    def bound(ends: Ends) -> Ends:
        corners = _correlation_corners(means, ratios, ends)
        reach = line_reach(noises, _bounds(lines, corners), beta * (1 - _ASIDE)) + float_loss
        low = min(products) - reach
        high = max(products) + reach
        # Divide outward: by the least root away from 0, by the greatest towards 0.
        low_root = roots[0] if low < 0 else roots[1]
        high_root = roots[0] if high > 0 else roots[1]
        return low / low_root, high / high_root

    return _shrink(public, bound), least_variances


def _variance_of(of: SpreadLines, noises: Noises, beta: float) -> Ends:
    # Popoviciu: a variance is at most a quarter of the squared width.
    most = (of.within[1] - of.within[0]) ** 2 / 4
    return variance_ends(of, noises, most, beta, sample=False)


def _roots(x: SpreadLines, y: SpreadLines, means: tuple[Ends, Ends], ratios: Ends) -> Ends:
    """Bound (k·A + B/k)/2, with A, B the centred squares and k a ratio of deviations."""
    a, most_a = _centred_squares(x, means[0])
    b, most_b = _centred_squares(y, means[1])
    if min(a, b) <= 0:
        return 0.0, 0.0
    # Convex in k: least at k = √(B/A) or the end next to it, greatest at an end.
    nearest = min(max(math.sqrt(b / a), ratios[0]), ratios[1])
    least = (nearest * a + b / nearest) / 2
    most = max((k * most_a + most_b / k) / 2 for k in ratios)
    return least, most


def _correlation_corners(
    means: tuple[Ends, Ends], ratios: Ends, ends: Ends
) -> Iterable[tuple[float, ...]]:
    """Generate the weights of P, X, Y, n, Q_x, Q_y at the corners.

    A square of a mean is bounded as a product of two means (p, a and q, b), and k and 1/k as two
    independent numbers (k, h): the weights are then extreme at corners.
    """
    mean_pairs = list(product(*means))
    for (p, q), k, h, rho, (a, b) in product(mean_pairs, ratios, ratios, ends, mean_pairs):
        x = rho * k / 2
        y = rho / (2 * h)
        x_weight = -q + x * (p + a)
        y_weight = -p + y * (q + b)
        rows_weight = p * q - x * p * a - y * q * b
        yield (1.0, x_weight, y_weight, rows_weight, -x, -y)
