"""Noise of a strategy: calibrated mechanisms of its blocks as known events, and their release.

    PureDP(ε)             geometric noise, ε divided:    scale Δ1/(ε·share)
    ZCDP(ρ), GaussianDP   discrete Gaussian, ρ or μ²:    σ² = Δ2²/(2ρ·share) or Δ2²/(μ²·share)

Rows are multiplied by a whole `grid` first, so that Gaussian noise has σ ≥ 2^13 steps. There its
price under μ is that of the continuous law within 2^-28, and sums of it are normal. Where possible,
the grid makes σ = 2^34 steps in every block, so that one certified table of the law serves all of
them. Geometric noise stays on the grid of the totals where each is read by itself (there it is less
than continuous noise, and optimal for one count); else its grid is 2^8 times finer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from ..arithmetic.arrays import Integers
from ..errors import UnsupportedQuery
from ..frozen import frozen
from ..mechanisms.additive.discrete_gaussian import DiscreteGaussian
from ..mechanisms.additive.discrete_laplace import Geometric
from ..mechanisms.additive.lattice import root_up
from ..noise.bits import Bits
from ..noise.geometric import MAX_SCALE
from ..privacy.events import Event
from ..privacy.measures import ZCDP, GaussianDP, PureDP
from ..privacy.pricing.gdp import price_gdp
from .strategy_norms import Block, StrategyNorms, fits_64_bits

NoiseBudget: TypeAlias = PureDP | ZCDP | GaussianDP
"""A budget whose amount is divided exactly: ε, ρ or μ²."""

FINE = 2**13
"""Least σ of discrete Gaussian noise, in steps."""
SHARED = 2**34
"""Usual σ of discrete Gaussian noise, in steps: one table of the law serves all blocks."""
LAPLACE_GRID = 2**8
"""Refinement of the grid of geometric noise where several rows are combined."""

# Shares of a budget are multiples of 2^-40.
_SHARE_STEPS = 2**40
# Keeps precisions, which are 1 over a variance, finite.
_MIN_VARIANCE = 1e-100
# A discrete Gaussian of σ ≥ 2^13 costs at most this factor above the continuous one.
_DISCRETE_COST = 1 + Fraction(1, 2**27)


@frozen
class Measurement:
    """One block on its grid, and the mechanism that releases it."""

    block: Block
    grid: int
    mechanism: Geometric | DiscreteGaussian

    @property
    def event(self) -> Event:
        """Privacy event of the release: one for all rows of the block."""
        return self.mechanism.event

    @property
    def laplace(self) -> bool:
        """True if the noise is geometric."""
        return isinstance(self.mechanism, Geometric)

    @property
    def variance(self) -> float:
        """The variance of the noise on one row, in the unit of the totals; always above 0."""
        return max(self.mechanism.variance, _MIN_VARIANCE) / self.grid**2

    @property
    def scale(self) -> float:
        """The parameter of the noise on one row, in the unit of the totals."""
        return float(self.mechanism.scale) / self.grid

    def release(self, exact: Integers, *, bits: Bits | None = None) -> Integers:
        """Return grid·(exact rows) + noise, as whole numbers of any size.

        Guarantee: nothing is refused here. The release runs after the charge, and a refusal would
        tell the size of totals. Numbers are Python integers where 64 bits may overflow.
        """
        zeros = np.zeros(exact.size, dtype=np.int64)
        noise = np.asarray(self.mechanism.release(zeros, bits=bits))
        if fits_64_bits(exact, self.grid):
            return np.asarray(exact * self.grid + noise)
        return np.asarray(exact.astype(object) * self.grid + noise.astype(object))


def shares_of(weights: Sequence[float]) -> tuple[Fraction, ...]:
    """Return weights as exact fractions that add up to at most 1, each at least 2^-40.

    >>> from discreet.workloads.strategy_noise import shares_of
    >>> shares_of([3.0, 1.0])
    (Fraction(3, 4), Fraction(1, 4))
    """
    exact = list(map(Fraction, weights))
    exact_total = sum(exact)
    fractions = [weight / exact_total for weight in exact]
    if all((fraction * _SHARE_STEPS).denominator == 1 for fraction in fractions):
        return tuple(fractions)
    # One step is given to each first, and the others are rounded down: the sum is at most 1.
    total = math.fsum(weights)
    steps = _SHARE_STEPS - len(weights)
    rounded = [1 + math.floor(weight / total * steps) for weight in weights]
    return tuple(Fraction(part, _SHARE_STEPS) for part in rounded)


def variances_of(measured: Sequence[Measurement]) -> list[float]:
    """Return the variance of the noise on one row of each block."""
    return [one.variance for one in measured]


def square_of(budget: ZCDP | GaussianDP) -> Fraction:
    """Return Σ Δ2²/σ² that a Gaussian budget allows: 2ρ, or μ²."""
    if isinstance(budget, ZCDP):
        return 2 * budget.rho
    return budget.squared


def calibrate(
    blocks: Sequence[Block],
    shares: Sequence[Fraction],
    change: StrategyNorms,
    budget: NoiseBudget,
    *,
    alone: bool = False,
) -> tuple[Measurement, ...]:
    """Return the least noise that each block's share of the budget allows.

    `alone` says that each row is read by itself.

    Guarantee: the events of all blocks together fit the budget.

    Refuses: noise beyond 2^50 steps (UnsupportedQuery).

    Law: tests/workloads/test_strategies.py::TestPrice
    """
    measured: list[Measurement] = []
    for block, share in zip(blocks, shares, strict=True):
        if isinstance(budget, PureDP):
            grid = 1 if alone else LAPLACE_GRID
            measured.append(_laplace(block, change, budget.epsilon * share, grid))
        else:
            measured.append(_gaussian(block, change, budget, share))
    return tuple(measured)


def _laplace(block: Block, change: StrategyNorms, epsilon: Fraction, grid: int) -> Measurement:
    sensitivity = block.times(grid).sensitivity(change)
    scale = sensitivity.l1 / epsilon
    if scale > MAX_SCALE:
        raise _too_much_noise()
    return Measurement(block, grid, Geometric(scale, sensitivity))


def _gaussian(
    block: Block, change: StrategyNorms, budget: ZCDP | GaussianDP, share: Fraction
) -> Measurement:
    """Return the block on the grid that makes σ the shared one; if coarse, with its own σ."""
    square = square_of(budget) * share
    variance = block.sensitivity(change).squared_l2 / square
    if variance >= MAX_SCALE**2:
        raise _too_much_noise()
    wanted = variance if isinstance(budget, ZCDP) else variance * _DISCRETE_COST
    # Rounded down twice: a coarser grid has more noise in the unit of the totals.
    grid = math.isqrt(int(SHARED**2 / wanted))
    if grid >= FINE:
        noise = DiscreteGaussian(SHARED, block.times(grid).sensitivity(change))
        if _fits(noise, budget, square):
            return Measurement(block, grid, noise)
    return _own_scale(block, change, budget, variance, square)


def _fits(noise: DiscreteGaussian, budget: ZCDP | GaussianDP, square: Fraction) -> bool:
    """Return whether the noise costs at most μ² = `square`; under ρ it fits by its parameters."""
    if isinstance(budget, ZCDP):
        return True
    price = price_gdp(noise.event) or square + 1
    return price <= square


def _own_scale(
    block: Block,
    change: StrategyNorms,
    budget: ZCDP | GaussianDP,
    variance: Fraction,
    square: Fraction,
) -> Measurement:
    """Return the block on a grid that is a power of 2, with σ ≥ 2^13 steps."""
    bits = math.ceil(math.log2(FINE) - math.log2(float(variance)) / 2)
    grid = 1 << max(0, bits)
    sensitivity = block.times(grid).sensitivity(change)
    # Roots are rounded up: more noise costs less.
    if isinstance(budget, ZCDP):
        return Measurement(block, grid, DiscreteGaussian(root_up(variance * grid**2), sensitivity))
    scale = root_up(variance * grid**2 * _DISCRETE_COST)
    noise = DiscreteGaussian(scale, sensitivity)
    if not _fits(noise, budget, square):
        noise = DiscreteGaussian.spending(GaussianDP.of_square(square), sensitivity=sensitivity)
    return Measurement(block, grid, noise)


def _too_much_noise() -> UnsupportedQuery:
    return UnsupportedQuery(
        "the noise would exceed 2^50 steps of the grid: declare a coarser step, or spend more"
    )
