"""The noise that just meets given errors, at the least price.

**One total.** The largest scale whose exact quantile is within the error; a larger one misses it. **Several totals.** With
s_r what total r is charged, ε or ρ, errorᵢ² is near qᵢ²·Σ_r A_ir·s_r^−p (p = 2 for ε, 1 for ρ) with qᵢ a constant of the
mixture of noises. Least Σs_r under errorᵢ ≤ tᵢ is convex; its optimum is s_r^(p+1) ∝ Σᵢ λᵢA_ir with λᵢ ≥ 0, found by
raising λᵢ where an error is missed and lowering it where it is more than met. Then qᵢ is corrected by the true prediction
and all is repeated until every error is met within a factor of 1 − 1e-4; what is still missed at the end is made smaller
by just that. So every error is met, by the same prediction that the plan shows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from ..errors import InvalidArgument
from ..mechanisms.discrete_gaussian import DiscreteGaussian
from ..mechanisms.exponential import Exponential
from ..mechanisms.geometric import Geometric
from ..noise.geometric import MOST_SCALE
from ..privacy.neighbours import ADD_REMOVE
from ..query.rows import neighbours_of
from .layout import Layout, Use
from .noise_sum import Noise
from .release import Additive, Choice, ChosenRelease, Distinct, NoisyRelease, Release, Total, steps_per_row

__all__ = ["meet"]

_ROUNDS = 12
_CLOSE = 1e-4


def meet(layout: Layout, errors: Sequence[Fraction], size: int, beta: float, *, laplace: bool) -> tuple[Release, ...]:
    """Choose the noise of everything wanted such that each statistic's predicted error is at most what is asked.

    Refuses an error as wide as the public range of its statistic, which needs no data, and one that no noise meets.
    """
    for use, error in zip(layout.uses, errors, strict=True):
        if error >= use.model.most:
            raise InvalidArgument(f"every possible {use.name} lies within {float(error):.6g}; ask for a smaller error")
    chosen = _choices(layout, errors, beta, laplace=laplace)
    most = _single_scales(layout, errors, beta, laplace=laplace)
    several = [(use, float(e)) for use, e in zip(layout.uses, errors, strict=True) if _several(use)]
    scales = most if not several else _balanced(layout, several, most, size, beta, laplace=laplace)
    return tuple(chosen.get(place) or _noisy(want, scales[place], laplace=laplace)
                 for place, want in enumerate(layout.wants))  # fmt: skip


def _several(use: Use) -> bool:
    return len(use.places) > 1 and use.model.form != "quantile"


def _noisy(want: Total | Distinct, scale: Fraction, *, laplace: bool) -> NoisyRelease:
    made: Additive = Geometric(scale, want.sensitivity) if laplace else DiscreteGaussian(scale, want.sensitivity)
    return NoisyRelease(want, made)


def _single_scales(layout: Layout, errors: Sequence[Fraction], beta: float, *, laplace: bool) -> dict[int, Fraction]:
    """Give the largest scale of every total that is a statistic by itself."""
    family = Geometric if laplace else DiscreteGaussian
    found: dict[int, Fraction] = {}
    for use, error in zip(layout.uses, errors, strict=True):
        want = layout.wants[use.places[0]]
        if use.model.form != "total" or isinstance(want, Choice):
            continue
        steps = error / (want.unit if isinstance(want, Total) else 1)
        scale = family.for_error(steps, beta, sensitivity=want.sensitivity).scale
        found[use.places[0]] = min(scale, found.get(use.places[0], scale))
    return found


def _choices(layout: Layout, errors: Sequence[Fraction], beta: float, *, laplace: bool) -> dict[int, ChosenRelease]:
    """Choose the least ε of every choice; the ends of a quantile's interval get half of its price each."""
    found: dict[int, ChosenRelease] = {}
    for use, error in zip(layout.uses, errors, strict=True):
        for number, place in enumerate(use.places):
            want = layout.wants[place]
            if isinstance(want, Choice):
                main = _choice(want if not number else layout.wants[use.places[0]], error, beta)  # type: ignore[arg-type]
                part = Fraction(1) if not number else Fraction(1, 2) if laplace else _ROOT_HALF
                made = ChosenRelease(want, _spent(want, main.epsilon * part))
                before = found.get(place)
                found[place] = made if before is None or before.mechanism.epsilon < made.mechanism.epsilon else before
    return found


_ROOT_HALF = Fraction(70711, 100000)


def _spent(want: Choice, epsilon: Fraction) -> Exponential:
    near = neighbours_of(want.tally.rows)
    monotone = want.at is None and near == ADD_REMOVE
    return Exponential(epsilon, want.sensitivity, monotone=monotone, neighbours=near)


def _choice(want: Choice, error: Fraction, beta: float) -> Exponential:
    """Give the least ε, to twelve digits, with which the choice misses by at most so many rows."""
    unit = _spent(want, Fraction(1))
    miss = Fraction(unit.error(want.options, beta)) / steps_per_row(want)
    if not miss:
        raise InvalidArgument("there is one cell or value only, so any choice is exact; leave it out")
    return _spent(want, miss / error * (1 + Fraction(1, 10**12)))


def _balanced(
    layout: Layout,
    several: Sequence[tuple[Use, float]],
    most: dict[int, Fraction],
    size: int,
    beta: float,
    *,
    laplace: bool,
) -> dict[int, Fraction]:
    """Balance the totals that statistics of several totals are made from; single ones keep their largest scale."""
    power = 2 if laplace else 1
    squares = [
        {
            r: (c * layout.force(r, laplace=laplace)) ** 2
            for c, r in zip(use.model.coefficients, use.places, strict=True)
        }
        for use, _ in several
    ]
    lengths = {r: _length(layout.wants[r], laplace=laplace) for each in squares for r in each}
    floors = {r: (lengths[r] / float(scale)) ** (2 / power) for r, scale in most.items() if r in lengths}
    limits = [(_linear(use, t) * size / 2) ** 2 for use, t in several]
    scales: dict[int, float] = {}
    for _ in range(_ROUNDS):
        prices = _least(squares, limits, floors, power)
        scales = {r: lengths[r] / price ** (power / 2) for r, price in prices.items()}
        ratios = [_room(layout, use, t, scales, size, beta, laplace=laplace) for use, t in several]
        if all(1 <= ratio < 1 + _CLOSE for ratio in ratios):
            break
        limits = [limit * (ratio * (1 - _CLOSE / 2)) ** 2 for limit, ratio in zip(limits, ratios, strict=True)]
    _shrink(layout, several, scales, size, beta, laplace=laplace)
    capped = {r: min(Fraction(scale), Fraction(MOST_SCALE)) for r, scale in scales.items()}
    return most | {r: min(scale, most.get(r, scale)) for r, scale in capped.items()}


def _linear(use: Use, error: float) -> float:
    """Give the error that is proportional to the noise: of a deviation, that of the variance."""
    return error**2 if use.model.root else error


def _length(want: object, *, laplace: bool) -> float:
    if isinstance(want, Total | Distinct):
        return float(want.sensitivity.l1) if laplace else math.sqrt(want.sensitivity.squared_l2)
    raise AssertionError("a statistic of several totals has no choices")


def _least(
    squares: Sequence[dict[int, float]], limits: Sequence[float], floors: dict[int, float], power: int
) -> dict[int, float]:
    """Find the least Σs_r with Σ_r A_ir·s_r^−p ≤ limitᵢ and s_r ≥ floor_r: the best prices in the quadratic model."""
    rows = [*squares, *({r: floor**power} for r, floor in floors.items())]
    tops = [*limits, *(1.0 for _ in floors)]
    places = sorted({r for each in squares for r in each})
    force = [1.0 / top for top in tops]
    prices: dict[int, float] = {}
    worst = 1.0
    for _ in range(200):
        pull = {r: sum(f * row.get(r, 0.0) for f, row in zip(force, rows, strict=True)) for r in places}
        prices = {r: pull[r] ** (1 / (power + 1)) for r in places}
        over = [sum(a / prices[r] ** power for r, a in row.items()) / top for row, top in zip(rows, tops, strict=True)]
        worst = max(over)
        if worst <= 1 + 1e-7 and all(
            one > 1 - 1e-7 or f * top < 1e-12 for one, f, top in zip(over, force, tops, strict=True)
        ):
            break
        force = [max(f * one ** (0.8 * (power + 1) / power), 1e-200) for f, one in zip(force, over, strict=True)]
    return {r: price * worst ** (1 / power) for r, price in prices.items()}


def _room(
    layout: Layout, use: Use, error: float, scales: dict[int, float], size: int, beta: float, *, laplace: bool
) -> float:
    """Say by what factor the noise of a statistic may grow: below 1 if its error is missed."""
    noises = [Noise(laplace, scales[r], _worth(layout, r)) for r in use.places]
    found = use.model.error(noises, size, beta)
    if found >= use.model.most:
        return 0.5
    return _linear(use, error) / max(_linear(use, found), 1e-300)


def _worth(layout: Layout, place: int) -> float:
    want = layout.wants[place]
    return float(want.unit) if isinstance(want, Total) else 1.0


def _shrink(
    layout: Layout,
    several: Sequence[tuple[Use, float]],
    scales: dict[int, float],
    size: int,
    beta: float,
    *,
    laplace: bool,
) -> None:
    """Make noise smaller where an error is still missed.

    Refuses an error that is missed however small the noise: what rounding and the bounds leave is more.
    """
    for use, error in several:
        for _ in range(60):
            ratio = _room(layout, use, error, scales, size, beta, laplace=laplace)
            if ratio >= 1:
                break
            for place in use.places:
                scales[place] *= ratio * (1 - 1e-6)
        else:
            raise InvalidArgument(
                f"no noise brings {use.name} within {error:.6g} at {size} rows per key; ask for a larger error or size"
            )
