"""What noise each block of a strategy gets for its share of a budget, as known events, and its exact release.

    PureDP(ε)             geometric noise, ε divided:    scale Δ1/(ε·share)
    ZCDP(ρ), GaussianDP   discrete Gaussian, ρ or μ²:    σ² = Δ2²/(2ρ·share) or Δ2²/(μ²·share)

Rows are multiplied by a whole `grid` first, so that Gaussian noise has σ ≥ 2^13 steps: there its price under μ is that
of the continuous law within 2^-28, and sums of it are normal. Where it can, the grid makes σ = 2^34 steps in every
block: one certified table of the law serves all of them, whatever is asked. Geometric noise stays on the grid of the
totals where each is read by itself (there it is less than continuous noise, and optimal for one count); else 2^8 finer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from ..errors import UnsupportedQuery
from ..frozen import frozen
from ..mechanisms.additive.discrete_gaussian import DiscreteGaussian
from ..mechanisms.additive.discrete_laplace import Geometric
from ..mechanisms.additive.lattice import root_up
from ..noise.bits import Bits
from ..noise.geometric import MOST_SCALE
from ..privacy.events import Event
from ..privacy.measures import ZCDP, GaussianDP, PureDP
from ..privacy.pricing.gdp import price_gdp
from .strategy_norms import Block, Integers, StrategyNorms, largest

NoiseBudget: TypeAlias = PureDP | ZCDP | GaussianDP
"""A budget whose amount is divided exactly: ε, ρ or μ²."""

FINE = 2**13
SHARED = 2**34
LAPLACE_GRID = 2**8
_PARTS = 2**40
_LEAST = 1e-100
_DEAR = 1 + Fraction(
    1, 2**27
)  # the discrete Gaussian of σ ≥ 2^13 costs no more than this above the continuous


@frozen
class Measurement:
    """One block on its grid, and the mechanism that releases it."""

    block: Block
    grid: int
    mechanism: Geometric | DiscreteGaussian

    @property
    def event(self) -> Event:
        """What is done, to be priced: one event for all rows of the block."""
        return self.mechanism.event

    @property
    def laplace(self) -> bool:
        """Whether the noise is geometric."""
        return isinstance(self.mechanism, Geometric)

    @property
    def variance(self) -> float:
        """The variance of the noise on one row, in the unit of the totals; above 0, so that precisions are numbers."""
        return max(self.mechanism.variance, _LEAST) / self.grid**2

    @property
    def scale(self) -> float:
        """The parameter of the noise on one row, in the unit of the totals."""
        return float(self.mechanism.scale) / self.grid

    def release(self, exact: Integers, *, bits: Bits | None = None) -> Integers:
        """Return grid·(exact rows) + noise, whole numbers; of any size, as Python's, where 64 bits may not hold them.

        Nothing is refused here: it runs after the charge, and a refusal would tell how large totals are.
        """
        noise = np.asarray(self.mechanism.release(np.zeros(exact.size, dtype=np.int64), bits=bits))
        if exact.dtype != object and largest(exact) * self.grid < 2**61:
            return np.asarray(exact * self.grid + noise)
        return np.asarray(exact.astype(object) * self.grid + noise.astype(object))


def shares_of(weights: Sequence[float]) -> tuple[Fraction, ...]:
    """Return weights as exact parts that add up to at most 1, each at least 2^-40.

    >>> from discreet.workloads.strategy_noise import shares_of
    >>> shares_of([3.0, 1.0])
    (Fraction(3, 4), Fraction(1, 4))
    """
    total = math.fsum(weights)
    room = _PARTS - len(weights)
    parts = [1 + math.floor(weight / total * room) for weight in weights]
    exact = [Fraction(weight) for weight in weights]
    if all((weight / sum(exact) * _PARTS).denominator == 1 for weight in exact):
        return tuple(weight / sum(exact) for weight in exact)
    return tuple(Fraction(part, _PARTS) for part in parts)


def square_of(budget: ZCDP | GaussianDP) -> Fraction:
    """Return Σ Δ2²/σ² that a Gaussian budget allows: 2ρ, or μ²."""
    return 2 * budget.rho if isinstance(budget, ZCDP) else budget.squared


def calibrate(
    blocks: Sequence[Block],
    shares: Sequence[Fraction],
    change: StrategyNorms,
    budget: NoiseBudget,
    *,
    alone: bool = False,
) -> tuple[Measurement, ...]:
    """Return the least noise that each block's share of the budget allows; `alone`: each row is read by itself.

    Refuses noise beyond 2^50 steps.
    """
    pairs = zip(blocks, shares, strict=True)
    if isinstance(budget, PureDP):
        grid = 1 if alone else LAPLACE_GRID
        return tuple(
            _laplace(block, change, budget.epsilon * share, grid) for block, share in pairs
        )
    return tuple(_gaussian(block, change, budget, share) for block, share in pairs)


def _laplace(block: Block, change: StrategyNorms, epsilon: Fraction, grid: int) -> Measurement:
    sensitivity = block.times(grid).sensitivity(change)
    if sensitivity.l1 / epsilon > MOST_SCALE:
        raise _beyond()
    return Measurement(block, grid, Geometric(sensitivity.l1 / epsilon, sensitivity))


def _gaussian(
    block: Block, change: StrategyNorms, budget: ZCDP | GaussianDP, share: Fraction
) -> Measurement:
    """Return the block on the grid that makes σ the one of all blocks; by a σ of its own where that grid is coarse."""
    square = square_of(budget) * share
    variance = block.sensitivity(change).squared_l2 / square
    if variance >= MOST_SCALE**2:
        raise _beyond()
    wanted = variance if isinstance(budget, ZCDP) else variance * _DEAR
    grid = math.isqrt(int(SHARED**2 / wanted))
    found = (
        DiscreteGaussian(SHARED, block.times(grid).sensitivity(change)) if grid >= FINE else None
    )
    if found is None or not _fits(found, budget, square):
        return _apart(block, change, budget, variance, square)
    return Measurement(block, grid, found)


def _fits(found: DiscreteGaussian, budget: ZCDP | GaussianDP, square: Fraction) -> bool:
    """Return whether the noise's own price fits: by its parameters for ρ; under μ² checked, not assumed."""
    return isinstance(budget, ZCDP) or (price_gdp(found.event) or square + 1) <= square


def _apart(
    block: Block,
    change: StrategyNorms,
    budget: ZCDP | GaussianDP,
    variance: Fraction,
    square: Fraction,
) -> Measurement:
    grid = 1 << max(0, math.ceil(math.log2(FINE) - math.log2(float(variance)) / 2))
    sensitivity = block.times(grid).sensitivity(change)
    if isinstance(budget, ZCDP):
        return Measurement(block, grid, DiscreteGaussian(root_up(variance * grid**2), sensitivity))
    near = DiscreteGaussian(root_up(variance * grid**2 * _DEAR), sensitivity)
    if not _fits(near, budget, square):
        near = DiscreteGaussian.spending(GaussianDP.of_square(square), sensitivity=sensitivity)
    return Measurement(block, grid, near)


def _beyond() -> UnsupportedQuery:
    return UnsupportedQuery(
        "the noise would exceed 2^50 steps of the grid: declare a coarser step, or spend more"
    )
