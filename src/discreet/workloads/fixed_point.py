"""Optimal Gaussian strategy for any Gram matrix G, with a certified distance to the optimum.

G = WᵀW for a workload W; a strategy A measures A·x of the cells x with Gaussian noise. Its total
squared error is tr(G·X⁻¹) at noise of variance 1. Minimising that over X = AᵀA ≥ 0 with diagonal at
most 1 (Δ2 = 1) has the dual problem

    max over u ≥ 0, Σu = 1 of (tr S)²,   S = (U^½·G·U^½)^½, U = diag(u)

and the optimum X = U^−½·S·U^−½/tr S, where u_i = S_ii/tr S: a fixed point that plain iteration
reaches. Every u gives a certified lower bound, (tr S)², and by scaling X a strategy; the two
bracket the optimum. With u even this is the singular value bound of Li and Miklau (2013). For
prefixes and ranges G⁻¹ is tridiagonal, and

    S = T^−½ = 2/π ∫₀^∞ (T + t²)⁻¹ dt,   T = U^−½·G⁻¹·U^−½

needs O(n) for each point of a trapezoid rule in log t, which converges as e^(−π²/h).
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ..arithmetic.arrays import Floats
from ..frozen import frozen
from .range_gram import inverse_gram
from .workload import RunningTotals

GAP = 5e-4
"""Relative distance to the RMSE of the optimum at which the iteration stops."""
# Step h of the trapezoid rule in log t, and its length beyond both ends of the spectrum.
_STEP = 0.6
_TAIL = 12.0
_ROUNDS = 200
# Lines are halved down to about this size to find a start.
_MIN_SIZE = 64
# Rounding error of the eigenvalues of a tridiagonal matrix of 4,096 rows: 1e-16 of the largest
# eigenvalue is 1e-8 of the least.
_EIGENVALUE_ERROR = 1e-7


@frozen(eq=False)
class GaussianOptimum:
    """Gram matrix X with a diagonal of at most 1, its error tr(G·X⁻¹), and a certified bound."""

    gram: Floats
    error: float
    bound: float

    @property
    def gap(self) -> float:
        """Relative distance of the RMSE above that of the optimum, at most."""
        return math.sqrt(self.error / self.bound) - 1


def _bracket(matrix: Floats, dual: Floats) -> GaussianOptimum:
    """Return the strategy and the certified bound of dual weights that add up to 1."""
    root = np.sqrt(dual)
    values, vectors = np.linalg.eigh(root[:, None] * matrix * root)
    # Rounding may make the least eigenvalues negative.
    values = np.maximum(values, values[-1] * 1e-15)
    halves = np.sqrt(values)
    total = float(halves.sum())
    square_root = (vectors * halves) @ vectors.T
    plan = square_root / np.outer(root, root) / total
    return _scaled_optimum(plan, total, 1e-9)


def _scaled_optimum(plan: Floats, total: float, rounding: float) -> GaussianOptimum:
    """Return X scaled down to columns of at most 1, for tr S = `total`."""
    most = float(np.diagonal(plan).max())
    # tr(G·X⁻¹) = (tr S)² before X is scaled. The bound is rounded down by more than the error of
    # the floats.
    return GaussianOptimum(plan / most, total**2 * most, total**2 * (1 - rounding))


def dense_optimum(matrix: Floats, *, gap: float = GAP, power: float = 1.0) -> GaussianOptimum:
    """Return the best strategy for a positive definite Gram matrix, within `gap` of its RMSE.

    A `power` of 2 takes longer steps: half as many rounds for sums of days. Where such a step does
    not improve, plain steps go on.

    >>> import numpy as np
    >>> from discreet.workloads.fixed_point import dense_optimum
    >>> found = dense_optimum(np.eye(3))
    >>> round(found.error, 6), found.gap < 1e-6
    (3.0, True)
    """
    dual = np.sqrt(np.diagonal(matrix))
    best = _bracket(matrix, dual / dual.sum())
    for _ in range(_ROUNDS):
        if best.gap <= gap:
            break
        stepped = dual * np.diagonal(best.gram) ** power
        now = _bracket(matrix, stepped / stepped.sum())
        if now.gap < best.gap * (1 - 1e-6):
            dual, best = stepped, now
        elif power > 1:
            power = 1.0
        else:
            break
    return best


def line_dual(line: RunningTotals, start: Floats, gap: float) -> Floats:
    """Return dual weights of running totals within `gap` of the optimum, by O(n) steps."""
    middle, beside = inverse_gram(line)
    dual = start / start.sum()
    for _ in range(_ROUNDS):
        diagonal = _root_diagonal(*_scaled(middle, beside, dual))
        total = float(diagonal.sum())
        # The ratio is the diagonal of X; it is 1 everywhere at the optimum.
        ratio = diagonal / (dual * total)
        if math.sqrt(float(ratio.max())) - 1 <= gap:
            break
        dual = dual * ratio
        dual = dual / dual.sum()
    return np.asarray(dual)


def _root_diagonal(middle: Floats, beside: Floats) -> Floats:
    """Return the diagonal of T^−½ for a tridiagonal T > 0."""
    # T stays positive if its secondary diagonal changes sign, so that T ≤ 2·diag(T).
    most = float(middle.max() * 2)
    inverse_diagonal = _inverse_diagonal(middle, beside, np.zeros(1))[:, 0]
    # A lower bound on the spectrum: least ≤ 1/tr T⁻¹ ≤ λ_min.
    least = 1 / float(np.sqrt(inverse_diagonal).sum()) ** 2
    start = math.log(least) / 2 - _TAIL
    end = math.log(most) / 2 + _TAIL
    points = np.arange(start, end, _STEP)
    inverse = _inverse_diagonal(middle, beside, np.exp(2 * points))
    weights = np.exp(points) * (2 / math.pi * _STEP)
    return np.asarray(inverse @ weights)


def _inverse_diagonal(middle: Floats, beside: Floats, shifts: Floats) -> Floats:
    """Return the diagonals of (T + shift)⁻¹ from the pivots of eliminations from both ends."""
    count = len(middle)
    ahead = np.empty((count, len(shifts)))
    back = np.empty_like(ahead)
    squares = beside**2
    ahead[0] = middle[0] + shifts
    back[-1] = middle[-1] + shifts
    for i in range(1, count):
        np.divide(squares[i - 1], ahead[i - 1], out=ahead[i])
        np.subtract(middle[i] + shifts, ahead[i], out=ahead[i])
        j = count - 1 - i
        np.divide(squares[j], back[j + 1], out=back[j])
        np.subtract(middle[j] + shifts, back[j], out=back[j])
    return np.asarray(1 / (ahead + back - middle[:, None] - shifts))


@lru_cache(maxsize=64)
def _best_dual(size: int, ranges: bool) -> Floats:
    """Return the dual weights of running totals; those of half the size, stretched, start it."""
    sizes = [size]
    while sizes[-1] > 2 * _MIN_SIZE:
        sizes.append((sizes[-1] + 1) // 2)
    dual = np.ones(sizes[-1])
    for count in reversed(sizes):
        places = np.linspace(0, len(dual) - 1, count)
        start = np.interp(places, np.arange(len(dual)), dual)
        # The last, full size is solved a little better than is promised.
        gap = GAP * 0.8 if count == size else GAP
        dual = line_dual(RunningTotals(count, ranges=ranges), start, gap)
    return dual


def _scaled_inverse(line: RunningTotals) -> tuple[Floats, Floats, Floats]:
    """Return the dual weights u of running totals, and both diagonals of T = U^−½·G⁻¹·U^−½."""
    dual = _best_dual(line.size, line.ranges)
    middle, beside = inverse_gram(line)
    return dual, *_scaled(middle, beside, dual)


def _scaled(middle: Floats, beside: Floats, dual: Floats) -> tuple[Floats, Floats]:
    """Return both diagonals of U^−½·T·U^−½ from those of T."""
    return middle / dual, beside / np.sqrt(dual[1:] * dual[:-1])


@lru_cache(maxsize=64)
def line_bound(size: int, *, ranges: bool) -> float:
    """Return a certified lower bound on the squared error of Gaussian strategies of running totals.

    It is (tr T^−½)², from eigenvalues alone.

    Law: tests/workloads/test_wide.py::TestLongLines
    """
    # SciPy is slow to load, and only running totals need it.
    from scipy.linalg import eigvalsh_tridiagonal

    _, middle, beside = _scaled_inverse(RunningTotals(size, ranges=ranges))
    values = eigvalsh_tridiagonal(middle, beside)
    return float((1 / np.sqrt(values)).sum()) ** 2 * (1 - _EIGENVALUE_ERROR)


def line_optimum(size: int, *, ranges: bool) -> GaussianOptimum:
    """Return the best Gaussian strategy of running totals.

    T is tridiagonal, so that its eigenvectors take O(n²).
    """
    from scipy.linalg import eigh_tridiagonal

    dual, middle, beside = _scaled_inverse(RunningTotals(size, ranges=ranges))
    values, vectors = eigh_tridiagonal(middle, beside)
    total = float((1 / np.sqrt(values)).sum())
    rows = vectors * values**-0.25 / np.sqrt(dual * total)[:, None]
    return _scaled_optimum(rows @ rows.T, total, _EIGENVALUE_ERROR)
