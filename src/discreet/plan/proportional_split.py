"""How one budget is divided in proportion to weights, in exact parts that add up to the whole."""

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


def routes(spend: Measure) -> tuple[Divisible, ...]:
    """List the divisible budgets that keep a promise.

    Pure, zCDP and Gaussian budgets are themselves. An (ε, δ) can be spent as pure ε, or as the largest μ whose curve
    passes under (ε, δ) (Balle, Wang 2018); which leaves less error depends on how many totals a unit touches.

    >>> import discreet as dp
    >>> from discreet.plan import routes
    >>> routes(dp.ApproxDP(1, 0))
    (PureDP(1),)
    >>> [route.implies(dp.ApproxDP(1, "1e-6")) for route in routes(dp.ApproxDP(1, "1e-6"))]
    [True, True]

    Refuses a budget of nothing, and Rényi budgets, which are stated at a few orders only.
    """
    budget = read_budget(spend)
    match budget:
        case PureDP() | ZCDP() | GaussianDP():
            return (budget,)
        case ApproxDP(epsilon=epsilon, delta=delta):
            gaussian = GaussianDP.of_square(_largest_mu(epsilon, delta) ** 2)
            return (PureDP(epsilon), gaussian) if epsilon else (gaussian,)
        case _:
            raise InvalidArgument(
                "a question spends PureDP, ApproxDP, ZCDP or GaussianDP; restate the Rényi budget"
            )


def routes_under(spend: Measure, under: Filter | None) -> tuple[Divisible, ...]:
    """List the divisible budgets of a spend that one question could charge to a filter, planned to fit.

    A filter over (ε, δ) that keeps a part of its δ for leaks has less than the whole (ε, δ) for Gaussian noise: there
    a spend of all of it, or nearly, means noise of just what the filter has. Pure ε fits by its sum.

    >>> import discreet as dp
    >>> from discreet.plan.proportional_split import routes_under
    >>> book = dp.open_filter(dp.ApproxDP(1, "1e-6"), delta="5e-7")
    >>> [str(route) for route in routes_under(dp.ApproxDP(1, "1e-6"), book)]
    ['ε = 1', 'μ = 0.229087']

    Refuses what `routes` refuses.
    """
    found = routes(spend)
    if (
        under is None
        or not under.adds
        or not isinstance(spend, ApproxDP)
        or spend.epsilon > under.terms.epsilon
    ):
        return found
    most = gaussian_of(under.left())
    if most is None or not most.squared:
        return found
    return tuple(_capped(route, most, under) for route in found)


def _capped(route: Divisible, most: GaussianDP, under: Filter) -> Divisible:
    """Return Gaussian noise of at most what a filter has, in a measure that the filter adds up."""
    if not isinstance(route, GaussianDP):
        return route
    least = GaussianDP.of_square(min(route.squared, most.squared))
    return least if under.kind in ("gdp", "residue") else ZCDP(least.squared / 2)


@lru_cache(maxsize=1024)
def _largest_mu(epsilon: Fraction, delta: Fraction) -> Fraction:
    small, less = down(float(epsilon)), down(float(delta))
    return fraction_down(math.nextafter(mu(small, less), 0.0), 1e-9)


def split(budget: Divisible, weights: Sequence[Fraction]) -> list[Divisible]:
    """Divide a budget in proportion to weights: ε, ρ or μ².

    >>> import discreet as dp
    >>> from discreet.plan import split
    >>> from fractions import Fraction
    >>> split(dp.PureDP(1), [Fraction(1), Fraction(3)])
    [PureDP(0.25), PureDP(0.75)]
    """
    parts = [weight / sum(weights) for weight in weights]
    match budget:
        case PureDP(epsilon=amount):
            return [PureDP(amount * part) for part in parts]
        case ZCDP(rho=amount):
            return [ZCDP(amount * part) for part in parts]
        case GaussianDP(squared=amount):
            return [GaussianDP.of_square(amount * part) for part in parts]
        case _:
            assert_never(budget)
