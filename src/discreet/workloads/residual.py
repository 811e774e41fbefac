"""Residual strategy: tables with the least mean squared error of any Gaussian matrix mechanism.

The optimum has a closed form on whole numbers. For every set A of keys below one that is asked, the
whole contrasts ⊗_A(n·I − 11ᵀ) of its table are measured. A unit in one cell changes them by
⊗(n·e − 1), so Δ2² = ∏ n(n − 1). With noise of deviation s = ∏n·σ_A on every entry the price is
∏n(n − 1)/s² = p_A/σ_A², p_A = ∏(n − 1)/n. The noise along the null space is projected away.

Of all matrix mechanisms the least error at the price Σ p_A/σ_A² = c is (Σ_A √(p_A·energy_A))²/c,
with shares √(p_A·energy_A) (Xiao, Wang, Zhang, Wang, Kifer, "An optimal and scalable matrix
mechanism for noisy marginals", 2023).

Under replace ‖c_a − c_b‖² is 2∏n(n − 1) − 2∏⟨u_a, u_b⟩ with ⟨u_a, u_b⟩ = −n where keys differ and
n(n − 1) where not. The least product has one difference, in the smallest key:
2∏n(n − 1)·n/(n − 1).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from ..frozen import frozen
from .budget_shares import Floats, energies
from .estimate import ComponentEstimate, cell_variance, contrast, sum_to, to_steps
from .strategy_noise import Measurement, shares_of
from .strategy_norms import Block, Integers
from .workload import KeySet, Tables


def residual_block(sizes: Sequence[int]) -> Block:
    """Return the norms of the contrasts of a table of these sizes.

    >>> from discreet.workloads.residual import residual_block
    >>> residual_block((3, 4)).square, residual_block(()).square
    (72, 1)
    """
    l1 = math.prod(2 * (n - 1) for n in sizes)
    square = math.prod(n * (n - 1) for n in sizes)
    linf = math.prod(n - 1 for n in sizes)
    pair = 1
    if sizes:
        smallest = min(sizes)
        # The division is exact: the square has a factor n − 1 for every key.
        pair = 2 * square // (smallest - 1) * smallest
    cells = math.prod(sizes)
    return Block("contrasts", cells, l1, square, linf, cells, pair, mixed=bool(sizes))


def residual_error(workload: Tables) -> float:
    """Return the least mean squared error of any Gaussian matrix mechanism of Σ Δ2²/σ² = 1.

    Law: tests/workloads/test_strategies.py::TestPublishedFigures
    """
    return float(_roots(workload).sum()) ** 2


def _roots(workload: Tables) -> Floats:
    """Return √(p_A·energy_A) for every component A."""
    prices = [component_price(workload.sizes, part) for part in workload.closure]
    return np.asarray(np.sqrt(np.array(prices) * energies(workload)))


def component_price(sizes: Sequence[int], part: KeySet) -> float:
    """Return p_A = ∏(n − 1)/n: the price of noise of variance 1 in one component."""
    return math.prod((sizes[place] - 1) / sizes[place] for place in part)


@frozen
class ResidualStrategy:
    """Strategy that measures the contrasts of every subset of the sets asked, optimally shared."""

    workload: Tables

    @property
    def name(self) -> str:
        """Name of the strategy in a plan."""
        return "residuals"

    @property
    def parts(self) -> tuple[KeySet, ...]:
        """The sets that are measured, one block each."""
        return self.workload.closure

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Blocks that noise is added to."""
        return tuple(residual_block(self._shape(part)) for part in self.parts)

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """Share of the budget of each block."""
        return shares_of(_roots(self.workload).tolist())

    @property
    def alone(self) -> bool:
        """Whether every released number is an answer by itself."""
        return False

    def measure(self, totals: Mapping[KeySet, Integers]) -> tuple[Integers, ...]:
        """Return the exact whole numbers of every block."""
        tables = [contrast(sum_to(totals, part)) for part in self.parts]
        return tuple(np.asarray(table.ravel()) for table in tables)

    def _shape(self, part: KeySet) -> tuple[int, ...]:
        return tuple(self.workload.sizes[place] for place in part)

    def component_variances(self, variances: Sequence[float]) -> dict[KeySet, float]:
        """Return σ_A² of every component from the variances of the noise on the blocks."""
        components: dict[KeySet, float] = {}
        for part, variance in zip(self.parts, variances, strict=True):
            # Contrasts are ∏n times the component.
            components[part] = variance / math.prod(self._shape(part)) ** 2
        return components

    def set_variances(self, variances: Sequence[float]) -> tuple[float, ...]:
        """Return the variance of one cell of every set that is asked."""
        components = self.component_variances(variances)
        sizes = self.workload.sizes
        return tuple(cell_variance(sizes, asked, components) for asked in self.workload.sets)

    def estimate(
        self, noisy: Sequence[Integers], measured: Sequence[Measurement]
    ) -> ComponentEstimate:
        """Return the least-squares estimate from the released numbers."""
        parts: dict[KeySet, Integers] = {}
        for part, released, one in zip(self.parts, noisy, measured, strict=True):
            shape = self._shape(part)
            # Floats from here on: this is post-processing of released numbers.
            parts[part] = to_steps(released.reshape(shape) / (one.grid * math.prod(shape)))
        variances = self.component_variances([one.variance for one in measured])
        return ComponentEstimate(self.workload.sizes, parts, variances)
