"""Proportional split of one budget: exact amounts that add up to the whole.

`routes` lists the divisible budgets that keep a promise, `split` divides one of them by weights.
Which weights to use is the subject of `budget_allocation`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import assert_never

from ..arithmetic.rounding import down, fraction_down
from ..errors import InvalidArgument
from ..mechanisms.reading.budget import read_budget
from ..privacy.filters.filter import Filter
from ..privacy.filters.remaining import gaussian_of
from ..privacy.measures import ZCDP, ApproxDP, GaussianDP, Measure, PureDP
from ..privacy.pricing.gaussian import mu

Divisible = PureDP | ZCDP | GaussianDP
"""Measures whose amounts add up exactly, also when later questions depend on earlier answers."""

# Filters that add up μ²; the others add up Gaussian noise as ρ = μ²/2.
_MU_FILTERS = ("gdp", "residue")


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
    """List the divisible budgets of a spend that one question could charge to a filter.

    A filter over (ε, δ) may keep a fraction of its δ for leaks. It then has less than the whole
    (ε, δ) for Gaussian noise. There a spend of all of it, or nearly, means noise of exactly what
    the filter has. Pure ε fits by its sum.

    >>> import discreet as dp
    >>> from discreet.plan.proportional_split import routes_under
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
    """Return Gaussian noise of at most what a filter has, in a measure that the filter adds up."""
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
    fractions = [weight / total for weight in weights]
    match budget:
        case PureDP(epsilon=amount):
            return [PureDP(amount * fraction) for fraction in fractions]
        case ZCDP(rho=amount):
            return [ZCDP(amount * fraction) for fraction in fractions]
        case GaussianDP(squared=amount):
            return [GaussianDP.of_square(amount * fraction) for fraction in fractions]
        case _:
            assert_never(budget)
