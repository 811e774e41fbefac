"""p-Identity strategies for Laplace noise: all cells and some weighted sums (McKenna et al. 2018).

A = [I; Θ]·D with Θ ≥ 0 and D = diag(1/(1 + 1ᵀΘ)), so every column has L1 norm 1. By Woodbury

    tr(G(AᵀA)⁻¹) = Σ G_ii·s_i² − tr(M⁻¹·Θ S G S Θᵀ),   S = D⁻¹, M = I + ΘΘᵀ

and for prefixes and ranges products with G take O(n) a row. From random starts the descent finds
hats: linear splines on knots about 2·n^(1/(L+1)) cells apart, and on coarser ones above. So it
starts from hats, and a few dozen steps suffice. Each strategy found is valid for any outcome of the
descent: its norms are computed afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from ..arithmetic.arrays import Floats
from .range_gram import gram_diagonal, gram_times
from .workload import RunningTotals

_Loss: TypeAlias = Callable[[Floats], tuple[float, Floats]]
_Times: TypeAlias = Callable[[Floats], Floats]
# Pairs of steps and gradient changes that L-BFGS keeps.
_MEMORY = 12
# Height of the hats at the start.
_HEIGHT = 0.9
_HALVINGS = 20
# Up to this size other starts cost little, and are tried with more rounds.
_SMALL = 256
_TINY = 64
_LONG_ROUNDS = 800
# Larger weights are excluded: cells would count for nothing, and the difference that is the error
# would lose its digits.
_MAX_WEIGHT = 1e4
# Random starts are the same in every plan, so that equal questions have equal plans.
_SEED = 18


def identity_error(theta: Floats, times: _Times, diagonal: Floats) -> tuple[float, Floats]:
    """Return tr(G(AᵀA)⁻¹) of a p-Identity strategy and its gradient in Θ.

    The error is infinite for weights that are too large.
    """
    # Written so that NaN counts as too large.
    if not theta.max(initial=0.0) <= _MAX_WEIGHT:
        return math.inf, np.zeros_like(theta)
    stretch = 1 + theta.sum(axis=0)
    scaled = theta * stretch
    product = times(scaled)
    inverse = np.linalg.inv(np.eye(len(theta)) + theta @ theta.T)
    inner = scaled @ product.T
    error = float(diagonal @ stretch**2) - float((inverse * inner).sum())
    solved = inverse @ product
    by_theta = 2 * (inverse @ inner @ inverse) @ theta - 2 * solved * stretch
    by_stretch = 2 * diagonal * stretch - 2 * (theta * solved).sum(axis=0)
    return error, by_theta + by_stretch


@dataclass(slots=True)
class _Descent:
    """Last steps and gradient changes of a quasi-Newton descent (L-BFGS: Nocedal 1980)."""

    steps: list[Floats] = field(default_factory=list)
    turns: list[Floats] = field(default_factory=list)

    def direction(self, gradient: Floats) -> Floats:
        """Return the direction of descent, by the two-loop recursion."""
        found = gradient.copy()
        factors: list[float] = []
        pairs = list(zip(self.steps, self.turns, strict=True))
        for step, turn in reversed(pairs):
            factor = float((step * found).sum() / (step * turn).sum())
            factors.append(factor)
            found -= factor * turn
        if not pairs:
            # Without curvature the first step is short: no weight moves by more than 0.1.
            return -found / (10 * float(np.abs(found).max()))
        last_step = self.steps[-1]
        last_turn = self.turns[-1]
        found *= float((last_step * last_turn).sum() / (last_turn**2).sum())
        for (step, turn), factor in zip(pairs, reversed(factors), strict=True):
            correction = float((turn * found).sum() / (step * turn).sum())
            found += (factor - correction) * step
        return -found

    def learn(self, step: Floats, turn: Floats) -> None:
        """Keep one more pair, if the curvature along it is positive."""
        size = math.sqrt(float((step**2).sum() * (turn**2).sum()))
        if float((step * turn).sum()) > 1e-12 * size:
            self.steps = [*self.steps, step][-_MEMORY:]
            self.turns = [*self.turns, turn][-_MEMORY:]


def best_sums(start: Floats, times: _Times, diagonal: Floats, rounds: int) -> Floats:
    """Return Θ ≥ 0 after some rounds of descent in its root, which keeps it from being negative."""

    def loss(root: Floats) -> tuple[float, Floats]:
        # A step may be far too long; it is halved then.
        with np.errstate(over="ignore"):
            theta = root**2
        error, gradient = identity_error(theta, times, diagonal)
        return error, 2 * gradient * root

    root = np.sqrt(start)
    memory = _Descent()
    error, gradient = loss(root)
    for _ in range(rounds):
        direction = memory.direction(gradient)
        slope = float((gradient * direction).sum())
        length = 1.0
        for _ in range(_HALVINGS):
            new_error, new_gradient = loss(root + length * direction)
            # Armijo's condition: the error falls by a part of what the slope promises.
            if new_error <= error + 1e-4 * length * slope:
                break
            length /= 2
        else:
            break
        memory.learn(length * direction, new_gradient - gradient)
        is_settled = error - new_error < 1e-7 * error
        root = root + length * direction
        error = new_error
        gradient = new_gradient
        if is_settled:
            break
    return np.asarray(root**2)


def _hats(size: int, levels: int) -> Floats:
    """Return hat functions on knots 2·n^(l/(L+1)) cells apart, for each level l up to L."""
    places = np.arange(size) + 0.5
    rows: list[Floats] = []
    for level in range(1, levels + 1):
        count = max(1, round(size ** (1 - level / (levels + 1)) / 2))
        knots = np.arange(count + 1) * (size / count)
        distances = np.abs(places - knots[:, None])
        rows.append(np.maximum(0, 1 - distances * (count / size)))
    return np.asarray(_HEIGHT * np.vstack(rows))


@lru_cache(maxsize=16)
def line_sums(size: int, *, ranges: bool) -> Floats:
    """Return the weighted sums Θ of a p-Identity strategy for at least two running totals."""
    line = RunningTotals(size, ranges=ranges)
    diagonal = gram_diagonal(line)
    rounds = max(20, min(200, 60_000 // size))
    starts = [(_hats(size, 2), rounds)]
    if size <= _SMALL:
        divisors = (16,) if size > _TINY else (8, 16)
        counts = {max(1, size // divisor) for divisor in divisors}
        starts += [(_random_sums(count, size), _LONG_ROUNDS) for count in sorted(counts)]
        starts.append((_hats(size, 1), rounds))

    def times(rows: Floats) -> Floats:
        return gram_times(line, rows)

    found = [best_sums(start, times, diagonal, max_rounds) for start, max_rounds in starts]
    return min(found, key=lambda theta: identity_error(theta, times, diagonal)[0])


def dense_sums(matrix: Floats) -> Floats:
    """Return the weighted sums Θ for any Gram matrix.

    Without an order of the cells there are no hats, so that random sums start.
    """
    size = len(matrix)
    start = _random_sums(max(1, min(64, size // 4)), size)

    def times(rows: Floats) -> Floats:
        return np.asarray(rows @ matrix)

    return best_sums(start, times, np.diagonal(matrix), max(30, 60_000 // size**2))


def _random_sums(count: int, size: int) -> Floats:
    return np.random.default_rng(_SEED).random((count, size)) / 2
