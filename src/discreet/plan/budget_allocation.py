"""Which part of a budget each release gets.

The split makes Σ wᵢ·ln(errorᵢ) least: scale-free, so no unit of a column matters, and a statistic of weight 2 may cost
the others twice as much as one of weight 1 to become 1 % better.

**One total each.** An error is a constant over ε, or over √ρ or μ, in the limit of fine steps. Σ wᵢ·ln(cᵢ/εᵢ) under
Σεᵢ = ε is least where wᵢ/εᵢ is the same for all (Lagrange; the sum is convex): **parts are proportional to weights**,
for ε, ρ and μ² alike, and no constant cᵢ matters.

**Several totals, some of them shared.** Let errorᵢ² = Σ_r A_ir·s_r^−p, with s_r the part of total r (p = 2 for ε, 1
for ρ and μ²). In σ = ln s the objective is a sum of logarithms of sums of exponentials, so convex, and so is Σe^σ ≤
1: there is one optimum, s_r = Σᵢ wᵢ·γ_ir/Σw with γ_ir the part of errorᵢ² that is due to total r. `divide`
iterates just that, in geometric means with the last step, which for one statistic arrives at once. Where a statistic's
noise model fixes the parts of its releases, as a quantile's does, they stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TypeVar

from .layout import Layout, Use

Amount = TypeVar("Amount", float, Fraction)
Power = tuple[tuple[float, ...], bool, tuple[int, ...]]
"""Of one statistic: A_ir, or the parts themselves and True where no split changes them; the places of its totals."""
_FINE = 10**6
_STEPS = 60
_LEAST = 1e-24
"""The least part that counts, far below what a part is rounded to: one of 0 would never come back."""


def divide(layout: Layout, weights: Sequence[Fraction], *, laplace: bool) -> tuple[Fraction, ...]:
    """Return the part of each release that makes the weighted sum of log errors least; they add up to 1.

    Exactly proportional to weights where no statistic has more than one total; else to six digits. It does not hang on
    what is divided.
    """
    powers = tuple(_power(layout, use, laplace=laplace) for use in layout.uses)
    return _divide(powers, tuple(weights), len(layout.needs), _STEPS, 2 if laplace else 1)


@lru_cache(maxsize=64)
def _divide(
    powers: tuple[Power, ...], weights: tuple[Fraction, ...], count: int, steps: int, power: int
) -> tuple[Fraction, ...]:
    if all(fixed for _, fixed, _ in powers):
        exact = [[Fraction(part) for part in gamma] for gamma, _, _ in powers]
        found = _pulls(exact, list(weights), powers, count)
        return tuple(part / sum(found, Fraction()) for part in found)
    now = [1.0 / count] * count
    for _ in range(steps):
        after = _step(powers, [float(weight) for weight in weights], now, power)
        done = max(abs(a - b) for a, b in zip(now, after, strict=True)) < 1e-9
        now = after
        if done:
            break
    return _exact(powers, weights, now)


def _step(
    powers: Sequence[Power], weights: list[float], now: Sequence[float], power: int
) -> list[float]:
    """Move every part towards the part of the weighted errors that is due to it, in logarithms."""
    gammas = [
        g if fixed else _due(g, [now[r] for r in places], power) for g, fixed, places in powers
    ]
    pulls = _pulls(gammas, weights, powers, len(now))
    after = [(s**power * pull) ** (1 / (power + 1)) for s, pull in zip(now, pulls, strict=True)]
    return [part / sum(after) for part in after]


def _exact(
    powers: Sequence[Power], weights: Sequence[Fraction], found: Sequence[float]
) -> tuple[Fraction, ...]:
    """Round to six digits what was searched; what only statistics of one total use is a matter of weights, exactly."""
    kept: dict[int, Fraction] = {}
    searched = {place for _, fixed, places in powers if not fixed for place in places}
    for (gamma, fixed, places), weight in zip(powers, weights, strict=True):
        for part, place in zip(gamma, places, strict=False):
            if fixed and place not in searched:
                kept[place] = kept.get(place, Fraction()) + weight * Fraction(part) / sum(
                    weights, Fraction()
                )
    rounded = {place: Fraction(max(1, round(found[place] * _FINE))) for place in searched}
    scale = (1 - sum(kept.values(), Fraction())) / sum(rounded.values(), Fraction())
    return tuple(
        kept[place] if place in kept else rounded[place] * scale for place in range(len(found))
    )


def _power(layout: Layout, use: Use, *, laplace: bool) -> Power:
    """Return what decides how one statistic's part is divided: all that a search hangs on."""
    if use.model.fixed is not None:
        return tuple(use.model.fixed), True, use.places
    if len(set(use.places)) == 1:
        return (1.0,), True, use.places
    coefficients = zip(use.model.coefficients, use.places, strict=True)
    sizes = [min(c * layout.force(r, laplace=laplace), 1e300) for c, r in coefficients]
    largest = (
        max(sizes) or 1.0
    )  # only their ratios matter; squares of what is far from 1 are beyond floats
    return tuple(max((size / largest) ** 2, _LEAST) for size in sizes), False, use.places


def _due(squares: Sequence[float], own: Sequence[float], power: int) -> list[float]:
    """Return the part of a statistic's squared error that is due to each of its totals."""
    each = [square / part**power for square, part in zip(squares, own, strict=True)]
    return [one / sum(each) for one in each]


def _pulls(
    gammas: Sequence[Sequence[Amount]],
    weights: Sequence[Amount],
    powers: Sequence[Power],
    count: int,
) -> list[Amount]:
    found: list[Amount] = [weights[0] * 0] * count
    for gamma, weight, (_, _, places) in zip(gammas, weights, powers, strict=True):
        for part, place in zip(gamma, places, strict=False):
            found[place] = found[place] + weight * part
    return found
