"""The noise of totals that together meet the errors of statistics made from several of them, at the least price.

With s_r what total r is charged, ε or ρ, errorᵢ² is near qᵢ²·Σ_r A_ir·s_r^−p (p = 2 for ε, 1 for ρ) with qᵢ a
constant of the mixture of noises. Least Σs_r under errorᵢ ≤ tᵢ is convex; its optimum is s_r^(p+1) ∝ Σᵢ λᵢA_ir with
λᵢ ≥ 0, found by raising λᵢ where an error is missed and lowering it where it is more than met. Then qᵢ is corrected
by the true prediction, and all is repeated until every error is met within a factor of 1 − 1e-4; where that does not
come about, all noise is scaled by one factor. So every error is met, by the same prediction that the plan shows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from ..errors import InvalidArgument
from ..frozen import frozen
from ..noise.geometric import MOST_SCALE
from ..statistics.laws.noise_sum import LEAST_SCALE
from .layout import Layout, Use

_ROUNDS = 12
_CLOSE = 1e-4
_LEAST = 2.0**-40
_STEPS = 200
_MOST_ROOM = 1e6
_LEAST_LIMIT = 1e-200  # errors are far from that; floats end soon after
_DAMPED = 0.8  # of the step that would be exact for one statistic alone


@frozen
class ErrorGoal:
    """Where errors are to be met: what is needed, at how many rows per key, with probability 1 − β, by which noise."""

    layout: Layout
    size: int
    beta: float
    laplace: bool

    @property
    def power(self) -> int:
        """The p of errors² that fall as price^−p."""
        return 2 if self.laplace else 1

    def room(self, use: Use, error: float, scales: dict[int, float]) -> float:
        """Return by what factor the noise of a statistic may grow: below 1 if its error is missed."""
        noises = [
            one
            for r in use.places
            for one in self.layout.noises(r, scales[r], laplace=self.laplace)
        ]
        predicted = use.model.law(noises, self.size, self.beta) if use.model.law else 0.0
        found = max(predicted, error / _MOST_ROOM)
        if found >= use.model.most:
            return 0.5
        return error / found


def balance(
    goal: ErrorGoal, several: Sequence[tuple[Use, float]], singles: dict[int, Fraction]
) -> dict[int, Fraction]:
    """Find the scale of every total; one that is a statistic by itself keeps at most its own, from `singles`.

    Refuses an error that is missed however small the noise: what rounding and the bounds leave is more.
    """
    if not several:
        return singles
    layout, power = goal.layout, goal.power
    squares = [_squares(goal, use) for use, _ in several]
    lengths = {r: layout.length(r, laplace=goal.laplace) for each in squares for r in each}
    floors = {
        r: (lengths[r] / float(scale)) ** (2 / power)
        for r, scale in singles.items()
        if r in lengths
    }
    limits = [max((t * goal.size / 2) ** 2, _LEAST_LIMIT) for _, t in several]
    scales: dict[int, float] = {}
    for _ in range(_ROUNDS):
        before, prices = scales, least_prices(squares, limits, floors, power)
        scales = {r: lengths[r] / price ** (power / 2) for r, price in prices.items()}
        if not all(LEAST_SCALE <= scale < math.inf for scale in scales.values()):
            raise _beyond(goal, several)
        rooms = [goal.room(use, t, scales) for use, t in several]
        still = bool(before) and all(
            abs(scales[r] - before[r]) < _CLOSE * scales[r] for r in scales
        )
        if min(rooms) >= 1 and (still or max(rooms) < 1 + _CLOSE):
            break
        changed = [
            limit * (room * (1 - _CLOSE / 2)) ** 2
            for limit, room in zip(limits, rooms, strict=True)
        ]
        limits = [max(limit, _LEAST_LIMIT) for limit in changed]
    else:
        scales = _fitted(goal, several, scales)
    capped = {r: min(Fraction(scale), Fraction(MOST_SCALE)) for r, scale in scales.items()}
    return singles | {r: min(scale, singles.get(r, scale)) for r, scale in capped.items()}


def _squares(goal: ErrorGoal, use: Use) -> dict[int, float]:
    """Return A_ir of one statistic, by the places of its totals."""
    pairs = zip(use.model.coefficients, use.places, strict=True)
    return {r: (c * goal.layout.force(r, laplace=goal.laplace)) ** 2 for c, r in pairs}


def least_prices(
    squares: Sequence[dict[int, float]],
    limits: Sequence[float],
    floors: dict[int, float],
    power: int,
) -> dict[int, float]:
    """Find the least Σs_r with Σ_r A_ir·s_r^−p ≤ limitᵢ and s_r ≥ floor_r.

    >>> from discreet.plan.joint_error_target import least_prices
    >>> found = least_prices([{0: 1.0, 1: 1.0}], [8.0], {}, 2)
    >>> round(found[0], 6), round(found[1], 6)
    (0.5, 0.5)
    """
    rows = [*squares, *({r: floor**power} for r, floor in floors.items())]
    tops = [*limits, *(1.0 for _ in floors)]
    places = sorted({r for each in squares for r in each})
    pulls = [1.0 / top for top in tops]
    prices: dict[int, float] = {}
    over = [1.0]
    for _ in range(_STEPS):
        due = {
            r: sum(pull * row.get(r, 0.0) for pull, row in zip(pulls, rows, strict=True))
            for r in places
        }
        prices = {r: due[r] ** (1 / (power + 1)) for r in places}
        over = [
            sum(a / prices[r] ** power for r, a in row.items()) / top
            for row, top in zip(rows, tops, strict=True)
        ]
        moved = [max(one, 1e-3) ** (_DAMPED * (power + 1) / power) for one in over]
        settled = (
            m > 1 - 1e-6 or pull * top < 1e-9
            for m, pull, top in zip(moved, pulls, tops, strict=True)
        )
        if max(over) < 1 + 1e-6 and all(settled):
            break
        pulls = [max(pull * m, 1e-200) for pull, m in zip(pulls, moved, strict=True)]
    return {r: price * max(over) ** (1 / power) for r, price in prices.items()}


def _fitted(
    goal: ErrorGoal, several: Sequence[tuple[Use, float]], scales: dict[int, float]
) -> dict[int, float]:
    """Find the largest common factor with which all errors are met: those of coarse noise jump, and rounds may not end.

    Refuses an error that is missed however small the noise.
    """

    def scaled(factor: float) -> dict[int, float]:
        return {r: scale * factor for r, scale in scales.items()}

    def met(factor: float) -> bool:
        return all(goal.room(use, error, scaled(factor)) >= 1 for use, error in several)

    low, high = 1.0, 2.0
    while not met(low):
        low, high = low / 2, low
        if low < _LEAST:
            raise _beyond(goal, several)
    while met(high) and high < 1 / _LEAST:
        low, high = high, 2 * high
    while high - low > _CLOSE / 4 * low:
        middle = (low + high) / 2
        low, high = (middle, high) if met(middle) else (low, middle)
    return scaled(low)


def _beyond(goal: ErrorGoal, several: Sequence[tuple[Use, float]]) -> InvalidArgument:
    names = " and ".join(f"{use.name} within {error:.6g}" for use, error in several)
    return InvalidArgument(
        f"no noise brings {names} at {goal.size:,} rows per key; ask for a larger error or give a larger size"
    )
