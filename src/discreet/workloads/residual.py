"""Tables by residuals: the least mean squared error of any Gaussian matrix mechanism, in closed form, on whole numbers.

Measured are, for every set A of keys below one that is asked, the whole contrasts ⊗_A(n·I − 11ᵀ) of its table. A unit
in one cell moves them by ⊗(n·e − 1), so Δ2² = ∏ n(n − 1); with noise of deviation s = ∏n·σ_A on every entry the price
is ∏n(n − 1)/s² = p_A/σ_A², p_A = ∏(n − 1)/n, and what the noise adds along the null space is projected away. Of all
matrix mechanisms the least error at the price Σ p_A/σ_A² = c is (Σ_A √(p_A·energy_A))²/c, with shares √(p_A·energy_A)
(Xiao, Wang, Zhang, Wang, Kifer, "An optimal and scalable matrix mechanism for noisy marginals", 2023).

Under replace ‖c_a − c_b‖² is 2∏n(n − 1) − 2∏⟨u_a, u_b⟩ with ⟨u_a, u_b⟩ = −n where keys differ and n(n − 1) where not;
the least product has one difference, in the smallest key: 2∏n(n − 1)·n/(n − 1).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from ..frozen import frozen
from .budget_shares import energies, one_cell
from .estimate import ComponentEstimate, contrast, sum_to, to_steps
from .strategy_noise import Measurement, shares_of
from .strategy_norms import Block, Integers
from .workload import KeySet, Tables


def residual_block(sizes: Sequence[int]) -> Block:
    """Return the norms of the contrasts of a table of these sizes.

    >>> from discreet.workloads.residual import residual_block
    >>> residual_block((3, 4)).square, residual_block(()).square
    (72, 1)
    """
    square = math.prod(n * (n - 1) for n in sizes)
    least = min(sizes, default=1)
    pair = 2 * square // (least - 1) * least if sizes else 1
    l1, linf = math.prod(2 * (n - 1) for n in sizes), math.prod(n - 1 for n in sizes)
    cells = math.prod(sizes)
    return Block("contrasts", cells, l1, square, linf, cells, pair, mixed=bool(sizes))


def residual_error(workload: Tables) -> float:
    """Return the least mean squared error of any Gaussian matrix mechanism of price Σ Δ2²/σ² = 1."""
    return float(_roots(workload).sum()) ** 2


def _roots(workload: Tables) -> np.ndarray:
    prices = [
        math.prod((workload.sizes[i] - 1) / workload.sizes[i] for i in part)
        for part in workload.closure
    ]
    return np.asarray(np.sqrt(np.array(prices) * energies(workload)))


@frozen
class ResidualStrategy:
    """Measure the contrasts of every set below those that are asked, each with its optimal share."""

    workload: Tables

    @property
    def name(self) -> str:
        """What a plan calls it."""
        return "residuals"

    @property
    def parts(self) -> tuple[KeySet, ...]:
        """The sets that are measured, one block each."""
        return self.workload.closure

    @property
    def blocks(self) -> tuple[Block, ...]:
        """What noise is added to."""
        return tuple(residual_block([self.workload.sizes[i] for i in part]) for part in self.parts)

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """The part of the budget of each block."""
        return shares_of(_roots(self.workload).tolist())

    @property
    def alone(self) -> bool:
        """Whether every released number is an answer by itself."""
        return False

    def measure(self, totals: Mapping[KeySet, Integers]) -> tuple[Integers, ...]:
        """Return the exact whole numbers of every block."""
        return tuple(np.asarray(contrast(sum_to(totals, part)).ravel()) for part in self.parts)

    def component_variances(self, variances: Sequence[float]) -> dict[KeySet, float]:
        """Return σ_A² of every component from the variances of the noise on the blocks."""
        rows = zip(self.parts, variances, strict=True)
        return {part: v / math.prod(self.workload.sizes[i] for i in part) ** 2 for part, v in rows}

    def set_variances(self, variances: Sequence[float]) -> tuple[float, ...]:
        """Return the variance of one cell of every set that is asked."""
        own, sizes = self.component_variances(variances), self.workload.sizes
        return tuple(
            math.fsum(
                v * one_cell(sizes, asked, part)
                for part, v in own.items()
                if set(asked).issuperset(part)
            )
            for asked in self.workload.sets
        )

    def estimate(
        self, noisy: Sequence[Integers], measured: Sequence[Measurement]
    ) -> ComponentEstimate:
        """Return the least-squares estimate from what was released."""
        parts: dict[KeySet, Integers] = {}
        for part, released, one in zip(self.parts, noisy, measured, strict=True):
            shape = tuple(self.workload.sizes[i] for i in part)
            parts[part] = to_steps(
                released.reshape(shape) / (one.grid * math.prod(shape))
            )  # floats from here on
        return ComponentEstimate(
            self.workload.sizes, parts, self.component_variances([one.variance for one in measured])
        )
