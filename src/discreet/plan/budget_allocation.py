"""Budget allocation: divide one budget among the releases of a question.

The allocation minimises Σ wᵢ·ln(errorᵢ). Logarithms are scale-free, so the unit of a column does
not matter. A statistic of weight 2 may cost the others twice as much as one of weight 1 to become
1 % better.

**One total per statistic.** In the limit of fine steps an error is a constant over ε, √ρ or μ.
Σ wᵢ·ln(cᵢ/εᵢ) under Σεᵢ = ε is least where wᵢ/εᵢ is equal for all i (Lagrange; the sum is convex).
**Fractions are proportional to weights**, for ε, ρ and μ² alike, and no constant cᵢ matters.

**Several totals, some of them shared.** Let errorᵢ² = Σ_r A_ir·s_r^−p with s_r the fraction of
total r (p = 2 for ε, p = 1 for ρ and μ²). In σ = ln s the objective is a sum of logarithms of sums
of exponentials, hence convex, and so is the constraint Σe^σ ≤ 1. The one optimum satisfies
s_r = Σᵢ wᵢ·γ_ir/Σw with γ_ir the fraction of errorᵢ² that total r causes. `divide` iterates this
equation, taking a geometric mean with the last step; for one statistic it arrives at once. Where a
noise model fixes the fractions of its releases, as that of quantiles does, they are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, TypeVar

from .layout import Layout, Use

Amount = TypeVar("Amount", float, Fraction)

# The searched fractions are rounded to six digits: errors near the optimum are flat there.
_FINE = 10**6
_STEPS = 60
# Far below the rounding of fractions. A coefficient of exactly 0 would never recover.
_MIN_SQUARE = 1e-24
# Squares of numbers beyond this bound would overflow a float.
_MAX_SIZE = 1e300
# The search stops once no fraction moves by more than this.
_SETTLED = 1e-9


class _Allocation(NamedTuple):
    """Inputs that decide the allocation of one statistic; hashable, so that searches are cached.

    `coefficients` are A_ir or, where `fixed`, the fractions of the statistic's own releases.
    `places` are the indices of its totals in the layout.
    """

    coefficients: tuple[float, ...]
    fixed: bool
    places: tuple[int, ...]


def divide(layout: Layout, weights: Sequence[Fraction], *, laplace: bool) -> tuple[Fraction, ...]:
    """Return the fraction of the budget of each release; the fractions add up to 1.

    Guarantee: the fractions minimise the weighted sum of log errors. They are exactly proportional
    to the weights where no statistic has more than one total, else accurate to six digits. They do
    not depend on the size of the budget.

    Law: tests/plan/test_shares.py::TestOptimum
    """
    statistics = tuple(_allocation(layout, use, laplace=laplace) for use in layout.uses)
    power = 2 if laplace else 1
    return _divide(statistics, tuple(weights), len(layout.needs), _STEPS, power)


@lru_cache(maxsize=64)
def _divide(
    statistics: tuple[_Allocation, ...],
    weights: tuple[Fraction, ...],
    count: int,
    steps: int,
    power: int,
) -> tuple[Fraction, ...]:
    if all(statistic.fixed for statistic in statistics):
        return _proportional(statistics, weights, count)
    float_weights = [float(weight) for weight in weights]
    fractions = [1.0 / count] * count
    for _ in range(steps):
        after = _step(statistics, float_weights, fractions, power)
        moved = max(abs(a - b) for a, b in zip(fractions, after, strict=True))
        fractions = after
        if moved < _SETTLED:
            break
    return _exact(statistics, weights, fractions)


def _proportional(
    statistics: Sequence[_Allocation], weights: Sequence[Fraction], count: int
) -> tuple[Fraction, ...]:
    """Return exact fractions where every statistic fixes those of its own releases."""
    # Exact arithmetic: a lone count gets precisely the fraction that its weight says.
    gammas = [[Fraction(part) for part in statistic.coefficients] for statistic in statistics]
    claims = _claims(gammas, list(weights), statistics, count)
    total = sum(claims, Fraction())
    return tuple(claim / total for claim in claims)


def _step(
    statistics: Sequence[_Allocation],
    weights: list[float],
    fractions: Sequence[float],
    power: int,
) -> list[float]:
    """Move every fraction, in logarithms, towards its fraction of the weighted errors."""
    gammas: list[Sequence[float]] = []
    for coefficients, fixed, places in statistics:
        if fixed:
            gammas.append(coefficients)
        else:
            own = [fractions[place] for place in places]
            gammas.append(_error_fractions(coefficients, own, power))
    claims = _claims(gammas, weights, statistics, len(fractions))
    # Geometric mean with the last step. For one statistic s^p cancels against γ ∝ s^−p, so the
    # first step already gives the optimum.
    exponent = 1 / (power + 1)
    after = [
        (fraction**power * claim) ** exponent
        for fraction, claim in zip(fractions, claims, strict=True)
    ]
    total = sum(after)
    return [fraction / total for fraction in after]


def _exact(
    statistics: Sequence[_Allocation], weights: Sequence[Fraction], searched: Sequence[float]
) -> tuple[Fraction, ...]:
    """Round searched fractions to six digits; keep the others exactly proportional to weights."""
    searched_places: set[int] = set()
    for statistic in statistics:
        if not statistic.fixed:
            searched_places.update(statistic.places)
    total_weight = sum(weights, Fraction())
    kept: dict[int, Fraction] = {}
    for (coefficients, fixed, places), weight in zip(statistics, weights, strict=True):
        for part, place in zip(coefficients, places, strict=False):
            if fixed and place not in searched_places:
                claim = weight * Fraction(part) / total_weight
                kept[place] = kept.get(place, Fraction()) + claim
    rounded: dict[int, Fraction] = {}
    for place in searched_places:
        # At least one unit: no release gets a budget of zero.
        units = max(1, round(searched[place] * _FINE))
        rounded[place] = Fraction(units)
    # Rescaling makes the sum exactly 1, so that the whole budget is used and not exceeded.
    remaining = 1 - sum(kept.values(), Fraction())
    scale = remaining / sum(rounded.values(), Fraction())
    fractions = []
    for place in range(len(searched)):
        if place in kept:
            fractions.append(kept[place])
        else:
            fractions.append(rounded[place] * scale)
    return tuple(fractions)


def _allocation(layout: Layout, use: Use, *, laplace: bool) -> _Allocation:
    """Return the inputs that decide how the budget of one statistic is divided."""
    if use.model.fixed is not None:
        return _Allocation(tuple(use.model.fixed), True, use.places)
    if len(set(use.places)) == 1:
        return _Allocation((1.0,), True, use.places)
    sizes = []
    for coefficient, place in zip(use.model.coefficients, use.places, strict=True):
        size = coefficient * layout.force(place, laplace=laplace)
        sizes.append(min(size, _MAX_SIZE))
    # Only ratios matter. Dividing by the largest keeps the squares within the range of floats.
    largest = max(sizes) or 1.0
    squares = tuple(max((size / largest) ** 2, _MIN_SQUARE) for size in sizes)
    return _Allocation(squares, False, use.places)


def _error_fractions(
    squares: Sequence[float], fractions: Sequence[float], power: int
) -> list[float]:
    """Return γ_ir: the fraction of a statistic's squared error that each of its totals causes."""
    variances = [
        square / fraction**power for square, fraction in zip(squares, fractions, strict=True)
    ]
    total = sum(variances)
    return [variance / total for variance in variances]


def _claims(
    gammas: Sequence[Sequence[Amount]],
    weights: Sequence[Amount],
    statistics: Sequence[_Allocation],
    count: int,
) -> list[Amount]:
    """Return Σᵢ wᵢ·γ_ir for every total r: the weight with which statistics claim it."""
    # The zero has the type of the weights: exact fractions stay exact.
    zero = weights[0] * 0
    claims: list[Amount] = [zero] * count
    for gamma, weight, statistic in zip(gammas, weights, statistics, strict=True):
        for part, place in zip(gamma, statistic.places, strict=False):
            claims[place] = claims[place] + weight * part
    return claims
