"""The best Laplace strategies of the form "every cell, and a few weighted sums": p-Identity (McKenna et al. 2018).

A = [I; Θ]·D with Θ ≥ 0 and D = diag(1/(1 + 1ᵀΘ)), so every column has l1 norm 1. By Woodbury

    tr(G(AᵀA)⁻¹) = Σ G_ii·s_i² − tr(M⁻¹·Θ S G S Θᵀ),   S = D⁻¹, M = I + ΘΘᵀ

and for prefixes and ranges products with G take O(n) a row. What descent finds from random starts are hats: linear
splines on knots about 2·n^(1/(L+1)) cells apart, and on coarser ones above. So it starts from hats, and a few dozen
steps are enough. Each strategy found is valid whatever the descent did: its norms are counted afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from .budget_shares import Floats
from .range_gram import gram_diagonal, gram_times
from .workload import RunningTotals

_Loss: TypeAlias = Callable[[Floats], tuple[float, Floats]]
_Times: TypeAlias = Callable[[Floats], Floats]
_MEMORY = 12
_HEIGHT = 0.9
_HALVINGS = 20
_SMALL = 256
_TINY = 64
_LONG = 800
_LARGE = 1e4
"""Larger weights are left out: cells would count for nothing, and the difference that is the error loses its digits."""


def identity_error(theta: Floats, times: _Times, diagonal: Floats) -> tuple[float, Floats]:
    """Return tr(G(AᵀA)⁻¹) of a p-Identity strategy, and its gradient in Θ; infinite for weights that are too large."""
    if not theta.max(initial=0.0) <= _LARGE:
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
    """The last steps and changes of gradient of a quasi-Newton descent (L-BFGS: Nocedal 1980)."""

    steps: list[Floats] = field(default_factory=list)
    turns: list[Floats] = field(default_factory=list)

    def direction(self, gradient: Floats) -> Floats:
        """Return the direction of descent."""
        found, factors = gradient.copy(), []
        pairs = list(zip(self.steps, self.turns, strict=True))
        for step, turn in reversed(pairs):
            factor = float((step * found).sum() / (step * turn).sum())
            factors.append(factor)
            found -= factor * turn
        if not pairs:
            return -found / (10 * float(np.abs(found).max()))
        found *= float((self.steps[-1] * self.turns[-1]).sum() / (self.turns[-1] ** 2).sum())
        for (step, turn), factor in zip(pairs, reversed(factors), strict=True):
            found += (factor - float((turn * found).sum() / (step * turn).sum())) * step
        return -found

    def learn(self, step: Floats, turn: Floats) -> None:
        """Keep one more pair, if the curvature along it is positive."""
        if float((step * turn).sum()) > 1e-12 * math.sqrt(float((step**2).sum() * (turn**2).sum())):
            self.steps, self.turns = [*self.steps, step][-_MEMORY:], [*self.turns, turn][-_MEMORY:]


def best_sums(start: Floats, times: _Times, diagonal: Floats, rounds: int) -> Floats:
    """Return Θ ≥ 0 after some rounds of descent in its root, which keeps it from turning negative."""

    def loss(root: Floats) -> tuple[float, Floats]:
        with np.errstate(over="ignore"):  # a step may be far too long: it is halved then
            theta = root**2
        error, gradient = identity_error(theta, times, diagonal)
        return error, 2 * gradient * root

    root, memory = np.sqrt(start), _Descent()
    error, gradient = loss(root)
    for _ in range(rounds):
        way = memory.direction(gradient)
        slope, length = float((gradient * way).sum()), 1.0
        for _ in range(_HALVINGS):
            there, slopes = loss(root + length * way)
            if there <= error + 1e-4 * length * slope:
                break
            length /= 2
        else:
            break
        memory.learn(length * way, slopes - gradient)
        done = error - there < 1e-7 * error
        root, error, gradient = root + length * way, there, slopes
        if done:
            break
    return np.asarray(root**2)


def _hats(size: int, levels: int) -> Floats:
    """Return hat functions on knots 2·n^(l/(L+1)) cells apart, for each level l up to L."""
    places = np.arange(size) + 0.5
    rows = []
    for level in range(1, levels + 1):
        count = max(1, round(size ** (1 - level / (levels + 1)) / 2))
        knots = np.arange(count + 1) * (size / count)
        rows.append(np.maximum(0, 1 - np.abs(places - knots[:, None]) * (count / size)))
    return np.asarray(_HEIGHT * np.vstack(rows))


@lru_cache(maxsize=16)
def line_sums(size: int, *, ranges: bool) -> Floats:
    """Return the weighted sums Θ of a p-Identity strategy for a line of at least two cells."""
    line, diagonal = (
        RunningTotals(size, ranges=ranges),
        gram_diagonal(RunningTotals(size, ranges=ranges)),
    )
    rounds = max(20, min(200, 60_000 // size))
    starts = [(_hats(size, 2), rounds)]
    if size <= _SMALL:  # there it costs little to try others, and longer
        parts = {max(1, size // part) for part in ((16,) if size > _TINY else (8, 16))}
        starts += [
            (np.random.default_rng(18).random((count, size)) / 2, _LONG) for count in sorted(parts)
        ]
        starts += [(_hats(size, 1), rounds)]

    def times(rows: Floats) -> Floats:
        return gram_times(line, rows)

    found = [best_sums(start, times, diagonal, most) for start, most in starts]
    return min(found, key=lambda theta: identity_error(theta, times, diagonal)[0])


def dense_sums(matrix: Floats) -> Floats:
    """Return the weighted sums Θ for any Gram matrix: without an order there are no hats, so random ones start."""
    size = len(matrix)
    start = np.random.default_rng(18).random((max(1, min(64, size // 4)), size)) / 2
    return best_sums(
        start,
        lambda rows: np.asarray(rows @ matrix),
        np.diagonal(matrix),
        max(30, 60_000 // size**2),
    )
