"""Toeplitz strategies of days (`triangular`), fitted to the sums of days that matter (aims).

They also depend on the number of days on which one unit counts. The error of a strategy with first
column c is Δ2²(c)·f(b), with b = 1/((1 − x)·c(x)) as power series, and f the weighted mean of the
variances of sums of days. For a sum of L days that begins at day s

    Var = Σ_{j<L} b_j² + Σ_{j<s} (b_{j+L} − b_j)²

so f needs O(n) for each length L that occurs. Its gradient in c is a correlation with b·c⁻¹, by
fast Fourier transforms. The descent is over the steps c_j − c_{j+1} ≥ 0: any point of it is a valid
strategy, whose norms are computed afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arithmetic.arrays import Floats
from ..frozen import frozen
from .triangular import Participation, Triangular, root_strategy, toeplitz_strategy

_ROUNDS = 400


@frozen
class Aim:
    """Sums of days whose mean variance counts with one `weight`.

    A sum is its first day and the day after its last.
    """

    name: str
    sums: tuple[tuple[int, int], ...]
    weight: float = 1.0


def mean_variance(strategy: Triangular, aims: Sequence[Aim]) -> float:
    """Return the weighted mean variance of the aims at noise of variance 1 a row.

    Law: tests/workloads/test_triangular.py::TestErrors
    """
    total = 0.0
    for aim in aims:
        starts, ends = zip(*aim.sums, strict=True)
        total += aim.weight * float(strategy.variances(starts, ends).mean())
    return total / sum(aim.weight for aim in aims)


def gram_of_aims(size: int, aims: Sequence[Aim]) -> Floats:
    """Return the Gram matrix whose tr(G·X⁻¹) is the weighted mean variance of the aims."""
    weights = sum(aim.weight for aim in aims)
    gram = np.zeros((size, size))
    for aim in aims:
        rows = np.zeros((len(aim.sums), size))
        for row, (start, end) in zip(rows, aim.sums, strict=True):
            row[start:end] = 1.0
        gram += rows.T @ rows * (aim.weight / weights / len(aim.sums))
    return gram


class _Errors:
    """The quadratic form f(b) of some aims, and its gradient."""

    def __init__(self, size: int, aims: Sequence[Aim]) -> None:
        weights = sum(aim.weight for aim in aims)
        self.squares = np.zeros(size)
        self.later: dict[int, Floats] = {}
        for aim in aims:
            each = aim.weight / weights / len(aim.sums)
            for start, end in aim.sums:
                length = end - start
                self.squares[:length] += each
                if start:
                    later = self.later.setdefault(length, np.zeros(size))
                    later[:start] += each

    def __call__(self, weights: Floats) -> tuple[float, Floats]:
        error = float(self.squares @ weights**2)
        gradient = 2 * self.squares * weights
        for length, counts in self.later.items():
            changed = weights[length:] - weights[: len(weights) - length]
            scaled = counts[: len(changed)] * changed
            error += float(scaled @ changed)
            gradient[length:] += 2 * scaled
            gradient[: len(changed)] -= 2 * scaled
        return error, gradient


def _square(column: Floats, counted: Participation) -> tuple[float, Floats]:
    """Return Δ2² of a falling column, and its gradient."""
    size = len(column)
    moved = np.zeros(size)
    starts = range(0, counted.within(size) * counted.apart, counted.apart)
    for start in starts:
        moved[start:] += column[: size - start]
    gradient = np.zeros(size)
    for start in starts:
        gradient[: size - start] += 2 * moved[start:]
    return float(moved @ moved), gradient


def fit_toeplitz(size: int, aims: Sequence[Aim], counted: Participation) -> Triangular:
    """Return a falling Toeplitz strategy of small error for some aims and units of several days.

    Law: tests/workloads/test_triangular.py::TestFigures
    """
    # Each service imports this module; SciPy would take more time than all the rest.
    from scipy import fft, optimize, signal

    errors = _Errors(size, aims)
    length = fft.next_fast_len(2 * size)
    impulse = np.zeros(size)
    impulse[0] = 1.0
    start = root_strategy(size).column.astype(np.float64)
    steps = np.append(-np.diff(start), start[-1])
    scales = np.sqrt(np.maximum(steps, 1e-3 * steps[0] / size) / start[0])

    def convolved(one: Floats, other: Floats) -> Floats:
        product = fft.rfft(one, length) * fft.rfft(other, length)
        return fft.irfft(product, length)[:size]

    def loss(points: Floats) -> tuple[float, Floats]:
        """Return ln(error·Δ2²) of the column with these roots of steps, and its gradient."""
        roots = points * scales
        column = np.cumsum((roots**2)[::-1])[::-1]
        inverse = signal.lfilter([1.0], column, impulse)
        weights = np.cumsum(inverse)
        error, by_weights = errors(weights)
        square, by_square = _square(column, counted)
        # δb = −(b ∗ c⁻¹) ∗ δc, so the gradient in c is a correlation with b ∗ c⁻¹.
        both = convolved(weights, inverse)
        reversed_sum = convolved(by_weights[::-1], both)
        by_column = -reversed_sum[::-1] / error + by_square / square
        by_steps = np.cumsum(by_column)
        return float(np.log(error) + np.log(square)), by_steps * 2 * roots * scales

    found = optimize.minimize(
        loss, np.ones(size), jac=True, method="L-BFGS-B", options={"maxiter": _ROUNDS}
    )
    roots = found.x * scales
    return toeplitz_strategy(np.cumsum((roots**2)[::-1])[::-1])
