"""How far off statistics of one partition of unity will be: values t in 0..1, one noise on each of some totals.

The estimate of E(t − p)(s − q) is off by L/N − (X_t − pX_n)(X_s − qX_n)/N² with N the noisy number of rows and L the
noise of the line P − qX − pY + (pq − c)n, c the exact value (see `profile`). L is bounded over all data: the means p, q
and c are cut into cells, in each of which every weight is bounded; a tail only grows with the weights, and since all
noises are alike a cell counts for nothing if another has greater weights, in order of size.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise, product

from ...frozen import frozen
from .least_error import least_error
from .linear_combination import line_reach
from .moment import quotient_miss
from .noise_sum import IntegerNoise, line_tail

_ASIDE = 0.02
_EVEN = 1 / 12
"""The variance of values that are spread evenly over 0..1."""
Bounds = tuple[float, ...]


@frozen
class JointLines:
    """The weights of Σts, Σt, Σs and n in the totals of a partition; s is t for a variance."""

    products: tuple[float, ...]
    x: tuple[float, ...]
    y: tuple[float, ...]
    rows: tuple[float, ...]

    @property
    def same(self) -> bool:
        """Whether it is a variance."""
        return self.x == self.y

    def weights(self, p: float, q: float, c: float) -> Iterator[float]:
        """Return the size of every weight of the line at some means and moment."""
        for a, x, y, n in zip(self.products, self.x, self.y, self.rows, strict=True):
            yield abs(a - q * x - p * y + (p * q - c) * n)


@lru_cache(maxsize=256)
def _cells(lines: JointLines) -> tuple[Bounds, ...]:
    """Bound the weights over all data, cell by cell; of mirrored data, with t for 1 − t, one half is enough."""
    steps = [i / 12 for i in range(7)]
    found: list[Bounds] = []
    for one, other in product(pairwise(steps), pairwise(steps)):
        if lines.same and one != other:
            continue
        most = math.sqrt(one[1] * (1 - one[1]) * other[1] * (1 - other[1]))
        moments = [0.0, most / 2, most] if lines.same else [-most, 0.0, most]
        for ends in pairwise(moments):
            corners = [tuple(lines.weights(p, q, c)) for p, q, c in product(one, other, ends)]
            found.append(tuple(sorted(map(max, zip(*corners, strict=True)))))
    listed = list(enumerate(found))
    return tuple(
        cell for i, cell in listed if not any(_beaten(cell, i, other, j) for j, other in listed)
    )


def _beaten(cell: Bounds, place: int, other: Bounds, by: int) -> bool:
    """Return whether another cell has greater weights throughout; of equals the first stays."""
    return all(a <= b for a, b in zip(cell, other, strict=True)) and (cell != other or by < place)


@lru_cache(maxsize=4096)
def joint_mean_error(
    noises: tuple[IntegerNoise, ...], total: Bounds, rows: Bounds, size: int, beta: float
) -> float:
    """Bound the error of a mean of values in 0..1, for any data: the worst mean is at an end, less the error itself."""
    none = line_tail([n.times(b) for n, b in zip(noises, rows, strict=True)], size * (1 - 1e-9))

    def miss(t: float) -> float:
        sides = (1.0, max(1 - 2 * t, 0.5 + t))
        each = (
            [n.times(a - x * b) for n, a, b in zip(noises, total, rows, strict=True)] for x in sides
        )
        return min(1.0, sum(line_tail(line, t * size) for line in each) / 2 + none / 2)

    return least_error(miss, beta, 2 * math.hypot(*(n.spread for n in noises)) / size, 1.0)


def joint_moment_error(
    noises: Sequence[IntegerNoise],
    lines: JointLines,
    size: int,
    beta: float,
    *,
    sample: bool,
    even: bool = False,
) -> float:
    """Bound the error of a variance or covariance of values in 0..1.

    For any data; or, if `even`, for a variance of values that are spread evenly.
    """
    most = (0.25 if lines.same else 0.5) * (2 if sample else 1)
    cells = (tuple(lines.weights(0.5, 0.5, _EVEN)),) if even else _cells(lines)
    return _moment(tuple(noises), lines, cells, size, beta, most=most, sample=sample)


@lru_cache(maxsize=4096)
def _moment(
    noises: tuple[IntegerNoise, ...],
    lines: JointLines,
    cells: tuple[Bounds, ...],
    size: int,
    beta: float,
    *,
    most: float,
    sample: bool,
) -> float:
    third = beta * _ASIDE / 3
    moved = line_reach(noises, lines.rows, third)
    rows = size - moved
    if rows <= (1 if sample else 0):
        return most
    rest = (
        _far(noises, lines.x, lines.rows, third)
        * _far(noises, lines.y, lines.rows, third)
        / rows**2
    )
    spread = max(
        math.hypot(*(n.times(w).spread for n, w in zip(noises, cell, strict=True)))
        for cell in cells
    )
    found = least_error(
        _miss(noises, cells, size, rest, _ASIDE * beta), beta, 2 * spread / size + rest, most
    )
    return (
        min(most, found * rows / (rows - 1) + 0.25 * moved / ((size - 1) * (rows - 1)))
        if sample
        else found
    )


def _miss(
    noises: Sequence[IntegerNoise], cells: Sequence[Bounds], size: int, rest: float, aside: float
) -> Callable[[float], float]:
    def miss(t: float) -> float:
        if t <= rest:
            return 1.0
        tails = (
            line_tail(
                [n.times(w + t - rest) for n, w in zip(noises, cell, strict=True)],
                (t - rest) * size,
            )
            for cell in cells
        )
        return min(1.0, max(tails) + aside)

    return miss


def _far(noises: tuple[IntegerNoise, ...], total: Bounds, rows: Bounds, beta: float) -> float:
    """Bound the noise of Σt − p·n for every mean p."""
    return line_reach(
        noises, [max(abs(a), abs(a - b)) for a, b in zip(total, rows, strict=True)], beta
    )


def correlation_miss(
    noises: tuple[IntegerNoise, ...],
    lines: JointLines,
    squares: tuple[Bounds, Bounds],
    size: int,
    beta: float,
) -> float:
    """Bound the error of a correlation, whatever it is, of values that are spread evenly over their ranges.

    With L the noise of the line of `profile` at k = 1, the estimate c/√(uv) is off by (L/N − δ + ρ(G − √(uv)))/√(uv),
    where δ and G − √(uv) are products of two noises: they are bounded by the errors of means and variances.
    """
    part = beta * _ASIDE / 6
    rows = size - line_reach(noises, lines.rows, part)
    if rows <= 0:
        return 2.0
    mean = max(_far(noises, line, lines.rows, part) for line in (lines.x, lines.y)) / rows
    sides = [
        JointLines(q, x, x, lines.rows) for q, x in zip(squares, (lines.x, lines.y), strict=True)
    ]
    spread = max(
        joint_moment_error(noises, side, size, part, sample=False, even=True) for side in sides
    )
    if spread >= _EVEN / 2:
        return 2.0
    low = _EVEN - spread
    rest = mean**2 * 2 + spread**2 / (2 * low)  # (√u − √v)²/2 ≤ (u − v)²/8·low, |u − v| ≤ 2·spread
    reach = max(
        line_reach(
            noises,
            [max(pair) for pair in zip(*_slopes(lines, squares, ends), strict=True)],
            beta * (1 - _ASIDE),
        )
        for ends in pairwise([-1.0, -0.75, -0.5, 0.0, 0.5, 0.75, 1.0])
    )
    return min(2.0, (reach / rows + rest) / low)


def wide_correlation_miss(
    noises: tuple[IntegerNoise, ...],
    lines: JointLines,
    squares: tuple[Bounds, Bounds],
    size: int,
    beta: float,
    *,
    least: float,
) -> float:
    """Bound the error of a correlation of any values whose variances are at least `least`, in ranges of width 1.

    A third of β for the covariance and for each variance.
    """
    sides = [
        JointLines(q, x, x, lines.rows) for q, x in zip(squares, (lines.x, lines.y), strict=True)
    ]
    c, x, y = (
        joint_moment_error(noises, one, size, beta / 3, sample=False) / least
        for one in (lines, *sides)
    )
    return quotient_miss(c, x, y)


def _slopes(
    lines: JointLines, squares: tuple[Bounds, Bounds], ends: tuple[float, float]
) -> Iterator[list[float]]:
    """Return the weights of the line at two correlations; it is linear between them."""
    crossed = _centred(lines.products, lines.x, lines.y, lines.rows)
    u, v = (_centred(q, t, t, lines.rows) for q, t in zip(squares, (lines.x, lines.y), strict=True))
    for rho in ends:
        yield [abs(c - rho / 2 * (a + b)) for c, a, b in zip(crossed, u, v, strict=True)]


def _centred(products: Bounds, x: Bounds, y: Bounds, rows: Bounds) -> list[float]:
    """Return the weights of Σ(t − ½)(s − ½)."""
    return [p - a / 2 - b / 2 + n / 4 for p, a, b, n in zip(products, x, y, rows, strict=True)]
