"""Budget allocation: divide one budget among the releases of a question, each with its mechanism.

`routes` lists the divisible budgets (ε, ρ or μ) that imply a promised one. `divide` finds the
fraction of each release, `split` divides a budget by the fractions exactly, and `release_of`
chooses the mechanism of least noise that a fraction of the budget allows. Calibration is a search.
Plan after plan asks for the same fraction of a budget and the same sensitivity, so calibrated
mechanisms are cached.

The allocation minimises Σ wᵢ·ln(errorᵢ). Logarithms are scale-free, so the unit of a column does
not matter. A statistic of weight 2 may cost the others twice as much as one of weight 1 to become
1 % better.

**One total per statistic.** In the limit of fine steps an error is a constant over ε, √ρ or μ.
Σ wᵢ·ln(cᵢ/εᵢ) under Σεᵢ = ε is least where wᵢ/εᵢ is equal for all i (Lagrange; the sum is convex).
**Fractions are proportional to weights**, for ε, ρ and μ² alike, and no constant cᵢ matters.

**Several totals, some of them shared.** Let errorᵢ² = Σ_r A_ir·s_r^−p with s_r the fraction of
total r (p = 2 for ε, p = 1 for ρ and μ²). In σ = ln s the objective is a sum of logarithms of sums
of exponentials, hence convex, and so is the constraint Σe^σ ≤ 1. The one optimum satisfies s_r = Σᵢ
wᵢ·γ_ir/Σw with γ_ir the fraction of errorᵢ² that total r causes. `divide` iterates this equation,
taking a geometric mean with the last step; for one statistic it arrives at once. Fractions that a
noise model fixes (`NoiseModel.fixed`) are kept; no statistic fixes any today.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, TypeVar, assert_never

from ..arithmetic.rounding import down, fraction_down
from ..errors import InvalidArgument, UnsupportedQuery
from ..mechanisms.additive.discrete_gaussian import DiscreteGaussian
from ..mechanisms.additive.discrete_laplace import Geometric
from ..mechanisms.reading.allowance import largest_epsilon
from ..mechanisms.reading.value import read_budget
from ..mechanisms.selection.exponential import Exponential
from ..mechanisms.selection.permute_and_flip import PermuteAndFlip
from ..mechanisms.sensitivity import Sensitivity
from ..privacy.filters.filter import Filter
from ..privacy.filters.remaining import gaussian_of
from ..privacy.measures import ZCDP, ApproxDP, GaussianDP, Measure, Neighbours, PureDP
from ..privacy.pricing.gaussian import mu
from ..statistics.laws.noise_sum import Additive
from ..statistics.recipe import Need, PlannedRelease
from ..statistics.releases.choice import ChoiceNeed, ChosenRelease
from ..statistics.releases.partition import JointRelease, PartitionNeed
from ..statistics.releases.quantile_release import PlaceNeed, PlaceRelease
from ..statistics.releases.total import DistinctNeed, NoisyRelease, TotalNeed
from .layout import Layout, Use

Divisible = PureDP | ZCDP | GaussianDP
"""Measures whose amounts add up exactly, also when later questions depend on earlier answers."""

# Filters that add up μ²; the others add up Gaussian noise as ρ = μ²/2.
_MU_FILTERS = ("gdp", "residue")


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


def routes(spend: Measure) -> tuple[Divisible, ...]:
    """List the divisible budgets that keep a promise.

    Pure, zCDP and Gaussian budgets are themselves. An (ε, δ) can be spent as pure ε, or as the
    largest μ whose curve passes under (ε, δ) (Balle, Wang 2018). Which of the two leaves less
    error depends on the number of totals that a unit touches.

    >>> import discreet as dp
    >>> from discreet.plan import routes
    >>> routes(dp.ApproxDP(1, 0))
    (PureDP(1),)
    >>> [route.implies(dp.ApproxDP(1, "1e-6")) for route in routes(dp.ApproxDP(1, "1e-6"))]
    [True, True]

    Guarantee: every route implies the promise `spend`.

    Refuses: a budget of nothing, and Rényi budgets, which are stated at a few orders only
    (InvalidArgument).

    Law: tests/plan/test_plan.py::TestSplit
    """
    budget = read_budget(spend)
    match budget:
        case PureDP() | ZCDP() | GaussianDP():
            return (budget,)
        case ApproxDP(epsilon=epsilon, delta=delta):
            gaussian = GaussianDP.of_square(_largest_mu(epsilon, delta) ** 2)
            if not epsilon:
                return (gaussian,)
            return (PureDP(epsilon), gaussian)
        case _:
            raise InvalidArgument(
                "a question spends PureDP, ApproxDP, ZCDP or GaussianDP; restate the Rényi budget"
            )


def routes_under(spend: Measure, under: Filter | None) -> tuple[Divisible, ...]:
    """List the divisible budgets of a spend that one question could charge to the filter `under`.

    They are those of `routes`, except for an (ε, δ) spend under an (ε, δ) filter that also adds up
    pure ε. Such a filter may keep a fraction of its δ to select unknown keys, so it has less than
    the whole (ε, δ) for Gaussian noise. Then the Gaussian budget is at most the μ that the filter
    has left. Filters that do not add up μ² get it as ρ = μ²/2. Pure ε stays as it is.

    >>> import discreet as dp
    >>> from discreet.plan.budget_allocation import routes_under
    >>> book = dp.open_filter(dp.ApproxDP(1, "1e-6"), delta="5e-7")
    >>> [str(route) for route in routes_under(dp.ApproxDP(1, "1e-6"), book)]
    ['ε = 1', 'μ = 0.229087']

    Refuses: what `routes` refuses.
    """
    found = routes(spend)
    if under is None or not under.adds:
        return found
    if not isinstance(spend, ApproxDP) or spend.epsilon > under.terms.epsilon:
        return found
    available = gaussian_of(under.left())
    if available is None or not available.squared:
        return found
    return tuple(_capped(route, available, under) for route in found)


def _capped(route: Divisible, available: GaussianDP, under: Filter) -> Divisible:
    """Return a Gaussian budget, capped at `available`, in a measure that the filter adds up."""
    if not isinstance(route, GaussianDP):
        return route
    square = min(route.squared, available.squared)
    capped = GaussianDP.of_square(square)
    if under.kind in _MU_FILTERS:
        return capped
    return ZCDP(capped.squared / 2)


@lru_cache(maxsize=1024)
def _largest_mu(epsilon: Fraction, delta: Fraction) -> Fraction:
    # Every rounding is down: a smaller ε, δ or μ keeps the promise of (ε, δ).
    float_epsilon = down(float(epsilon))
    float_delta = down(float(delta))
    found = math.nextafter(mu(float_epsilon, float_delta), 0.0)
    return fraction_down(found, 1e-9)


def split(budget: Divisible, weights: Sequence[Fraction]) -> list[Divisible]:
    """Divide a budget in proportion to weights: ε, ρ or μ².

    >>> import discreet as dp
    >>> from discreet.plan import split
    >>> from fractions import Fraction
    >>> split(dp.PureDP(1), [Fraction(1), Fraction(3)])
    [PureDP(0.25), PureDP(0.75)]

    Guarantee: the amounts are exact fractions and add up to the budget.

    Law: tests/plan/test_plan.py::TestSplit
    """
    total = sum(weights)
    return [times(budget, weight / total) for weight in weights]


def times(budget: Divisible, fraction: Fraction) -> Divisible:
    """Return an exact fraction of a budget: of its ε, ρ or μ²."""
    match budget:
        case PureDP(epsilon=amount):
            return PureDP(amount * fraction)
        case ZCDP(rho=amount):
            return ZCDP(amount * fraction)
        case GaussianDP(squared=amount):
            return GaussianDP.of_square(amount * fraction)
        case _:
            assert_never(budget)


def release_of(need: Need, budget: Divisible, *, pure: bool = False) -> PlannedRelease:
    """Choose the mechanism of a release: the least noise that its budget allows.

    `pure` says that the charged filter adds up ε, so that a choice costs its ε and no more.

    >>> from discreet.plan.budget_allocation import release_of
    >>> from fractions import Fraction
    >>> from discreet import Boolean, PureDP, Rows, Schema
    >>> from discreet.query.algebra.expression import Constant
    >>> from discreet.query.algebra.tally import Free, Tally, Term
    >>> from discreet.query.algebra.tree import Scan
    >>> from discreet.query.bounds.sensitivity import influence
    >>> from discreet.statistics.releases.total import TotalNeed
    >>> votes = Scan(Schema("votes", Rows(), {"yes": Boolean()}))
    >>> tally = Tally(votes, (), (Term(Constant(True), 1, 0, 1),), Free())
    >>> need = TotalNeed(tally, Fraction(1), influence(tally, 0))
    >>> release_of(need, PureDP("1/2")).mechanism.scale
    Fraction(2, 1)

    Guarantee: the event of the release fits the budget.

    Refuses: noise beyond 2^50 steps of the grid (UnsupportedQuery).

    Law: tests/plan/test_plan.py::TestPrice
    """
    if isinstance(need, PlaceNeed):
        return PlaceRelease(need, _quantile_epsilon(budget, need))
    if isinstance(need, ChoiceNeed):
        return choice_of(need, budget, pure=pure)
    try:
        return noisy_release(need, _noise(budget, need.sensitivity))
    except InvalidArgument:
        raise UnsupportedQuery(
            "the noise would exceed 2^50 steps of the grid: "
            "declare a coarser step or tighter bounds, or spend more"
        ) from None


def noisy_release(
    need: TotalNeed | DistinctNeed | PartitionNeed, mechanism: Additive
) -> NoisyRelease | JointRelease:
    """Return the release of totals with this noise: of one total, or of several together."""
    if isinstance(need, PartitionNeed):
        return JointRelease(need, mechanism)
    return NoisyRelease(need, mechanism)


def choice_of(need: ChoiceNeed, budget: Divisible, *, pure: bool = False) -> ChosenRelease:
    """Choose the mechanism of a private choice (a mode, or a quantile) for a budget.

    It is permute-and-flip for the mode of a question with one key, if `pure` and the budget is a
    pure ε. Else it is the exponential mechanism: its price is lower under other accountants, which
    makes up for its larger error.
    """
    facts = (need.sensitivity, need.monotone, need.neighbours)
    if pure and need.alone and need.at is None and isinstance(budget, PureDP):
        return ChosenRelease(need, _permute_and_flip(budget, *facts))
    return ChosenRelease(need, _exponential(budget, *facts))


@lru_cache(maxsize=4096)
def _exponential(
    budget: Divisible, sensitivity: int, monotone: bool, near: Neighbours
) -> Exponential:
    return Exponential.spending(budget, sensitivity=sensitivity, monotone=monotone, neighbours=near)


@lru_cache(maxsize=4096)
def _permute_and_flip(
    budget: PureDP, sensitivity: int, monotone: bool, near: Neighbours
) -> PermuteAndFlip:
    return PermuteAndFlip.spending(
        budget, sensitivity=sensitivity, monotone=monotone, neighbours=near
    )


@lru_cache(maxsize=1024)
def _quantile_epsilon(budget: Divisible, need: PlaceNeed) -> Fraction:
    return largest_epsilon(need.event, budget)


@lru_cache(maxsize=4096)
def _noise(budget: Divisible, sensitivity: Sensitivity) -> Additive:
    if isinstance(budget, PureDP):
        return Geometric.spending(budget, sensitivity=sensitivity)
    return DiscreteGaussian.spending(budget, sensitivity=sensitivity)


class _Allocation(NamedTuple):
    """Inputs that decide the allocation of one statistic; hashable, so that searches are cached.

    `coefficients` are the A_ir of the module docstring; if `fixed`, they are the fractions of the
    statistic's budget that its releases get. `places` are the indices of its releases in the
    layout.
    """

    coefficients: tuple[float, ...]
    fixed: bool
    places: tuple[int, ...]


def divide(layout: Layout, weights: Sequence[Fraction], *, laplace: bool) -> tuple[Fraction, ...]:
    """Return the fraction of the budget of each release of a layout; the fractions add up to 1.

    `weights` are those of the statistics. `laplace` says that the budget is a pure ε, for which
    errors fall as 1/ε, and not a ρ or μ².

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
    """Return the fractions of `divide` for these inputs; cached, since plans repeat them."""
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
    gammas = []
    for statistic in statistics:
        gammas.append([Fraction(part) for part in statistic.coefficients])
    claims = _claims(gammas, list(weights), statistics, count)
    total = sum(claims, Fraction())
    return tuple(claim / total for claim in claims)


def _step(
    statistics: Sequence[_Allocation],
    weights: list[float],
    fractions: Sequence[float],
    power: int,
) -> list[float]:
    """Return the fractions after one step: a geometric mean with Σᵢ wᵢ·γ_ir, scaled to sum 1."""
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
    after = []
    for fraction, claim in zip(fractions, claims, strict=True):
        after.append((fraction**power * claim) ** exponent)
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
    variances = []
    for square, fraction in zip(squares, fractions, strict=True):
        variances.append(square / fraction**power)
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
