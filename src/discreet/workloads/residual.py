"""Residual strategy: tables with the least mean squared error of any Gaussian matrix mechanism.

The optimum has a closed form on whole numbers. A key has n values; products ∏ are over the keys of
a set. For every subset A of a set of keys that is asked, the whole contrasts ⊗_A(n·I − 11ᵀ) of its
table are measured. A unit in one cell changes them by ⊗(n·e − 1), so Δ2² = ∏ n(n − 1). With noise
of deviation s = ∏n·σ_A on every entry the price is ∏n(n − 1)/s² = p_A/σ_A², p_A = ∏(n − 1)/n. The
noise along the null space is projected away.

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
from typing import ClassVar

import numpy as np

from ..arithmetic.arrays import Floats, Integers
from ..frozen import frozen
from .budget_shares import component_price, energies
from .estimate import ComponentEstimate, cell_variance, contrast, sum_to, to_steps
from .strategy_noise import Measurement, shares_of, variances_of
from .strategy_norms import Block
from .workload import KeySet, Tables, shape_of


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


def contrasts_of(
    parts: Sequence[KeySet], tables: Mapping[KeySet, Integers]
) -> tuple[Integers, ...]:
    """Return the whole contrasts of every set of keys, each as one row of numbers."""
    contrasts: list[Integers] = []
    for part in parts:
        contrasts.append(np.asarray(contrast(sum_to(tables, part)).ravel()))
    return tuple(contrasts)


def component_variances(
    sizes: Sequence[int], parts: Sequence[KeySet], variances: Sequence[float]
) -> dict[KeySet, float]:
    """Return σ_A² of every component from the variances of the noise on its contrasts."""
    components: dict[KeySet, float] = {}
    for part, variance in zip(parts, variances, strict=True):
        # Contrasts are ∏n times the component.
        components[part] = variance / math.prod(shape_of(sizes, part)) ** 2
    return components


def component_estimate(
    sizes: tuple[int, ...],
    parts: Sequence[KeySet],
    noisy: Sequence[Integers],
    grids: Sequence[int],
    variances: Sequence[float],
) -> ComponentEstimate:
    """Return the least-squares estimate from noisy contrasts, each in multiples of 1/grid."""
    components: dict[KeySet, Integers] = {}
    for part, released, grid in zip(parts, noisy, grids, strict=True):
        shape = shape_of(sizes, part)
        # Floats from here on: this is post-processing of released numbers.
        components[part] = to_steps(released.reshape(shape) / (grid * math.prod(shape)))
    return ComponentEstimate(sizes, components, component_variances(sizes, parts, variances))


@frozen
class ResidualStrategy:
    """Strategy that measures the contrasts of every subset of the sets asked, optimally shared."""

    workload: Tables

    name: ClassVar[str] = "residuals"
    # Released numbers are always combined: none is an answer by itself.
    alone: ClassVar[bool] = False

    @property
    def parts(self) -> tuple[KeySet, ...]:
        """The sets that are measured, one block each."""
        return self.workload.closure

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Blocks that noise is added to."""
        sizes = self.workload.sizes
        return tuple(residual_block(shape_of(sizes, part)) for part in self.parts)

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """Share of the budget of each block."""
        return shares_of(_roots(self.workload).tolist())

    def measure(self, totals: Mapping[KeySet, Integers]) -> tuple[Integers, ...]:
        """Return the exact whole numbers of every block."""
        return contrasts_of(self.parts, totals)

    def component_variances(self, variances: Sequence[float]) -> dict[KeySet, float]:
        """Return σ_A² of every component from the variances of the noise on the blocks."""
        return component_variances(self.workload.sizes, self.parts, variances)

    def set_variances(self, variances: Sequence[float]) -> tuple[float, ...]:
        """Return the variance of one cell of every set that is asked."""
        components = self.component_variances(variances)
        sizes = self.workload.sizes
        return tuple(cell_variance(sizes, asked, components) for asked in self.workload.sets)

    def estimate(
        self, noisy: Sequence[Integers], measured: Sequence[Measurement]
    ) -> ComponentEstimate:
        """Return the least-squares estimate from the released numbers."""
        grids = [one.grid for one in measured]
        variances = variances_of(measured)
        return component_estimate(self.workload.sizes, self.parts, noisy, grids, variances)
