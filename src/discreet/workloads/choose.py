"""Choice of strategy for a workload: the one of least RMSE, computed from public facts alone.

    strategies that are compared, by kind of workload and budget

    workload        pure ε                                       ρ, μ
    Tables          histogram, direct answers, weighted tables   histogram, and residuals: optimal
    RunningTotals   histogram, p-identity                        histogram, the optimum
    Hierarchy       weighted levels                              weighted levels
    NestedTables    weighted levels by the further keys          residuals of levels
    Counts          histogram, direct answers, p-identity        histogram, direct answers, optimum

An (ε, δ) may be spent either way, and both are compared. The first of equals is taken. Tables of
more than 100,000 finest cells have no histogram.

Bounds. For Gaussian noise of price Σ Δ2²/σ² = c the least mean squared error is the optimum of
`fixed_point` or `residual` over c. For Laplace noise Δ1 ≥ Δ2 in every column, so √2/ε times that
optimum is a bound. Whole noise on whole strategies has slightly less variance than the continuous
law of its parameter, most at one step. Both bounds are reduced by that factor at the least possible
scale, so no plan lies below its bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ..arithmetic.rational import Number, positive
from ..errors import InvalidArgument
from ..frozen import replace
from ..mechanisms.laws import discrete_gaussian as theta
from ..mechanisms.laws import discrete_laplace as two_sided
from ..mechanisms.laws.error_bound import read_beta
from ..privacy.measures import ZCDP, GaussianDP, PureDP
from .budget_shares import fresh_parts, nested
from .fixed_point import dense_optimum, line_bound
from .matrix import RAISED, gram_of, matrix_strategies
from .nested import NestedTables, best_nested, nested_bound
from .plan import AnyStrategy, AnyWorkload, Bound, StrategyPlan, planned
from .residual import ResidualStrategy, residual_error
from .strategy_noise import NoiseBudget, square_of
from .strategy_norms import StrategyNorms
from .tree import best_levels
from .weighted_tables import best_tables, direct_tables, finest_table
from .workload import Counts, Hierarchy, RunningTotals, Tables

# Beyond this number of finest cells they are not counted at all.
_MAX_FINEST = 100_000
# Longer running totals are cached apart: their strategies are large.
_LONG = 512
# Bounds are lowered by the rounding of floats, so that no plan lies below its bound.
_ROUNDING = 1 - 1e-9


def strategies(workload: AnyWorkload, *, laplace: bool) -> list[AnyStrategy]:
    """Return the strategies that are compared, by the table above.

    They depend on the workload and the kind of noise only, and are cached.
    """
    if isinstance(workload, Hierarchy):
        return [best_levels(workload, laplace=laplace)]
    if isinstance(workload, NestedTables):
        return [best_nested(workload, laplace=laplace)]
    if isinstance(workload, RunningTotals) and workload.size > _LONG:
        return list(_cached_long(workload, laplace))
    return list(_cached(workload, laplace))


@lru_cache(maxsize=2)
def _cached_long(line: RunningTotals, laplace: bool) -> tuple[AnyStrategy, ...]:
    # Few are cached: the optimum of 4,096 running totals has 33 million numbers.
    return tuple(matrix_strategies(line, laplace=laplace))


@lru_cache(maxsize=64)
def _cached(workload: Tables | RunningTotals | Counts, laplace: bool) -> tuple[AnyStrategy, ...]:
    """Return the strategies for tables, counts or short running totals."""
    if not isinstance(workload, Tables):
        return tuple(matrix_strategies(workload, laplace=laplace))
    histograms: list[AnyStrategy] = []
    if math.prod(workload.sizes) <= _MAX_FINEST:
        histograms.append(finest_table(workload))
    if not laplace:
        return (ResidualStrategy(workload), *histograms)
    direct = direct_tables(workload, laplace=True)
    return (*histograms, direct, best_tables(workload, laplace=True))


def bound_of(workload: AnyWorkload, budget: NoiseBudget, change: StrategyNorms) -> Bound:
    """Return a lower bound on the RMSE of any unbiased linear mechanism with this budget's noise.

    >>> import discreet as dp
    >>> from discreet.workloads import StrategyNorms, RunningTotals
    >>> from discreet.workloads.choose import bound_of
    >>> totals = RunningTotals(64)
    >>> gaussian = bound_of(totals, dp.GaussianDP(1), StrategyNorms())
    >>> gaussian.rmse < bound_of(totals, dp.PureDP(1), StrategyNorms()).rmse
    True

    Guarantee: no plan of this budget lies below the bound.

    Law: tests/workloads/test_strategies.py::TestPrice
    """
    least = _unit_bound(workload) * change.size**2
    where = "any unbiased linear mechanism"
    if change.neighbours == "replace":
        where += " (for units that may also leave the table)"
    if isinstance(budget, PureDP):
        epsilon = float(budget.epsilon)
        variance = two_sided.squared(epsilon)
        why = f"{where} with Laplace noise at ε = {epsilon:.6g}, since Δ1 ≥ Δ2"
        return Bound(math.sqrt(least * variance) * _ROUNDING, why)
    square = float(square_of(budget))
    variance = theta.squared(1 / square)
    why = f"{where} with Gaussian noise of Σ Δ2²/σ² = {square:.6g}"
    return Bound(math.sqrt(least * variance) * _ROUNDING, why)


def _unit_bound(workload: AnyWorkload) -> float:
    """Return a lower bound on the mean squared error for Δ2 = 1 and noise of variance 1."""
    match workload:
        case Tables():
            # Units that have every key are one kind of data, so what holds for them bounds all.
            return residual_error(workload.asked)
        case Hierarchy():
            return _tree_bound(workload)
        case NestedTables():
            return nested_bound(workload.asked)
        case RunningTotals():
            return line_bound(workload.size, ranges=workload.ranges) / workload.queries
        case Counts():
            return _counts_bound(workload)


def _tree_bound(tree: Hierarchy) -> float:
    """Return the optimum of the regular tree inside: other units only add to the workload.

    Of a node's children as many are kept as every node of its level has. Contrasts between the
    children of one node are then the components, and (Σ √(p·energy))² is the optimum, as for
    residuals.
    """
    kept = [int(np.bincount(parents).min()) for parents in tree.parents]
    sizes = np.cumprod([1, *kept]).astype(float)
    weights = sizes / np.array(tree.sizes) / len(sizes)
    _, energy = nested(sizes.tolist(), weights.tolist())
    return float(np.sqrt(fresh_parts(sizes.tolist()) * energy).sum()) ** 2


@lru_cache(maxsize=64)
def _counts_bound(workload: Counts) -> float:
    """Return the larger of two lower bounds on the mean squared error of counts."""
    rows = workload.matrix
    size = rows.shape[1]
    # G was raised by η: ‖[W; √η·I]U^½‖_* ≤ ‖W·U^½‖_* + √η·Σ√u, and Σ√u ≤ √n.
    raised = math.sqrt(RAISED * float((rows**2).sum()))
    best = math.sqrt(dense_optimum(gram_of(workload)).bound) - raised
    # The singular value bound (Li, Miklau 2013) holds too, and may be the larger one.
    singular_values = np.linalg.svd(rows.astype(float), compute_uv=False)
    even = float(singular_values.sum()) / math.sqrt(size)
    return max(even, best) ** 2 / len(rows)


def plan_strategy(
    workload: AnyWorkload,
    budgets: Sequence[NoiseBudget],
    *,
    change: StrategyNorms | None = None,
    error: Number | None = None,
    beta: Number = "1/20",
) -> StrategyPlan:
    """Return the plan of least RMSE, of all strategies and all budgets given.

    With `error` the budgets say only which noise may be used. Each is scaled until the worst cell
    is within `error` with probability at least 1 − β, and the plan of the least amount (ε, ρ or
    μ²) is taken.

    >>> import discreet as dp
    >>> from discreet.workloads import RunningTotals
    >>> from discreet.workloads.choose import plan_strategy
    >>> plan = plan_strategy(RunningTotals(64), [dp.PureDP(1)])
    >>> plan.strategy.name, round(plan.rmse, 1), plan.gap > 0
    ('p-identity', 5.3, True)

    Refuses: no budget, and an error that no noise meets (InvalidArgument).

    Law: tests/workloads/test_strategies.py::TestPrice
    """
    norms = change or StrategyNorms()
    if not budgets:
        raise InvalidArgument(
            "a workload is planned for a PureDP, ZCDP or GaussianDP budget; give one"
        )
    plans: list[StrategyPlan] = []
    for budget in budgets:
        bound = bound_of(workload, budget, norms)
        every = strategies(workload, laplace=isinstance(budget, PureDP))
        plans += [planned(workload, strategy, budget, norms, bound) for strategy in every]
    if error is not None:
        exact_error = positive(error, "error")
        failure = read_beta(beta)
        met = [_meeting(plan, exact_error, failure) for plan in plans]
        return min(met, key=lambda plan: _amount(plan.budget))
    tried = tuple((plan.strategy.name, plan.noise, plan.rmse) for plan in plans)
    best = min(plans, key=lambda plan: plan.rmse)
    return replace(best, tried=tried)


def _amount(budget: NoiseBudget) -> Fraction:
    match budget:
        case PureDP(epsilon=amount) | ZCDP(rho=amount) | GaussianDP(squared=amount):
            return amount


def _times(budget: NoiseBudget, factor: Fraction) -> NoiseBudget:
    """Return a budget whose amount (ε, ρ or μ²) is multiplied by a factor."""
    match budget:
        case PureDP(epsilon=amount):
            return PureDP(amount * factor)
        case ZCDP(rho=amount):
            return ZCDP(amount * factor)
        case GaussianDP(squared=amount):
            return GaussianDP.of_square(amount * factor)


def _meeting(plan: StrategyPlan, error: Fraction, beta: float) -> StrategyPlan:
    """Return the same strategy at about the least budget whose worst cell is within the error.

    Errors fall as the budget grows, so that bisection finds it; the returned plan meets the error.

    Refuses: an error that no noise meets (InvalidArgument).
    """

    def scaled(factor: float) -> StrategyPlan:
        # Nine digits keep the exact fractions of a budget short.
        budget = _times(plan.budget, Fraction(f"{factor:.9g}"))
        bound = bound_of(plan.workload, budget, plan.change)
        return planned(plan.workload, plan.strategy, budget, plan.change, bound)

    def is_met(factor: float) -> bool:
        return max(scaled(factor).reach(beta)) <= error

    # Errors fall as 1/ε, and as 1/√ρ or 1/μ where the budget is ρ or μ².
    power = 1 if isinstance(plan.budget, PureDP) else 2
    high = (max(plan.reach(beta)) / float(error)) ** power
    for _ in range(60):
        if is_met(high):
            break
        high *= 1.02
    else:
        raise InvalidArgument(f"no noise brings every cell within {error}; ask for a larger error")
    low = high / 1.05
    for _ in range(12):
        middle = (low + high) / 2
        if is_met(middle):
            high = middle
        else:
            low = middle
    # The upper end is the safe one: there the error was seen to be met.
    return scaled(high)
