"""Error target: the largest noise, and so the least price, with which given errors are met.

    statistic               noise that is chosen
    count, sum (one total)  the largest scale whose exact quantile is within the error
    mode                    the least ε of the exponential mechanism whose exact bound, in rows, is
                            within the error
    quantile                the least ε, to six digits, whose bound on the shown value, in rows, is
                            within the error
    others                  several totals, perhaps shared with others: `balance`, as follows

**Joint error target.** With s_r the price of total r, ε or ρ, errorᵢ² is near qᵢ²·Σ_r A_ir·s_r^−p
(p = 2 for ε, p = 1 for ρ) with qᵢ a constant of the mixture of noises. Minimising Σs_r under
errorᵢ ≤ tᵢ is a convex problem. Its optimum is s_r^(p+1) ∝ Σᵢ λᵢA_ir with multipliers λᵢ ≥ 0. They
are found by raising λᵢ where an error is missed and lowering it where the error is more than met.

Then qᵢ is corrected by the true prediction, and all is repeated. The rounds end when every
predicted error is at most the asked one, and either at most a factor 1 + 1e-4 below it or no scale
moves any more. After 12 rounds all scales are multiplied by the largest common factor with which
every error is met. So every error is met, by the same prediction that the plan shows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from ..errors import InvalidArgument
from ..frozen import frozen
from ..mechanisms.additive.discrete_gaussian import DiscreteGaussian
from ..mechanisms.additive.discrete_laplace import Geometric
from ..mechanisms.selection.exponential import Exponential
from ..noise.geometric import MAX_SCALE
from ..statistics.laws.noise_sum import LEAST_SCALE, IntegerNoise
from ..statistics.recipe import PlannedRelease
from ..statistics.releases.choice import ChoiceNeed, ChosenRelease
from ..statistics.releases.quantile_release import PlaceNeed, PlaceRelease
from .budget_allocation import noisy_release
from .layout import Layout, Use

UseErrors = Sequence[tuple[Use, Fraction]]

# An ε so large that only the rounding of a quantile is left in its error.
_HUGE_EPSILON = Fraction(10**12)
# The ε of a quantile is raised by this factor until its bound holds: six digits.
_EPSILON_STEP = 1 + Fraction(1, 10**6)
# The ε of a mode is raised by this factor: it covers the rounding of the float bound c.
_ROUNDING_MARGIN = 1 + Fraction(1, 10**12)
# Below this bound of the error any option of a mode is near enough.
_MIN_MISS = 1e-300


_ROUNDS = 12
_STEPS = 200
# Errors are met within this relative distance: a smaller one costs rounds and saves nothing.
_TOLERANCE = 1e-4
# Noise is scaled down by at most this factor before an error counts as unreachable.
_MIN_FACTOR = 2.0**-40
# Errors predicted as 0 are raised to error/1e6, so that the ratio stays finite.
_MAX_SLACK = 1e6
# Errors are far above this limit; floats end soon below it.
_MIN_LIMIT = 1e-200
# Fraction of the step that would be exact for one statistic alone: shared totals overshoot.
_DAMPING = 0.8
# Constraints of `least_prices` are met within this relative distance.
_MET = 1e-6


def meet(
    layout: Layout, errors: Sequence[Fraction], size: int, beta: float, *, laplace: bool
) -> tuple[PlannedRelease, ...]:
    """Choose the noise of every release so that each statistic's predicted error is at most asked.

    `errors` are in the order of `layout.uses`, in the statistics' own units (modes and quantiles
    in rows). They hold with probability 1 − `beta` in a key of `size` rows. `laplace` chooses
    geometric noise instead of discrete Gaussian noise.

    Guarantee: every predicted error is at most the asked one. The price is the least of this kind
    of noise, up to the tolerance of the search.

    Refuses: an error as wide as the public range of its statistic, which needs no data, and one
    that no noise meets (InvalidArgument).

    Law: tests/plan/test_error_target.py::TestLeast
    """
    asked = list(zip(layout.uses, errors, strict=True))
    for use, error in asked:
        _check_reachable(use, error)
    single_scales = _single_scales(layout, asked, beta, laplace=laplace)
    several = [(use, float(error)) for use, error in asked if use.model.law is not None]
    scales = balance(ErrorGoal(layout, size, beta, laplace), several, single_scales)
    choices = _choices(layout, asked, beta)
    family = Geometric if laplace else DiscreteGaussian
    releases: list[PlannedRelease] = []
    for place, need in enumerate(layout.needs):
        if isinstance(need, ChoiceNeed | PlaceNeed):
            releases.append(choices[place])
        else:
            mechanism = family(scales[place], need.sensitivity)
            releases.append(noisy_release(need, mechanism))
    return tuple(releases)


def _check_reachable(use: Use, error: Fraction) -> None:
    if error >= use.model.most:
        raise InvalidArgument(
            f"every possible {use.name} lies within {float(error):.6g}; ask for a smaller error"
        )
    if error <= use.model.least:
        raise InvalidArgument(
            f"no noise brings {use.name} within {float(error):.6g}: without any it may be off by "
            f"{use.model.least:.6g}; ask for a larger error, or declare a coarser step or tighter "
            "bounds"
        )


def _single_scales(
    layout: Layout, asked: UseErrors, beta: float, *, laplace: bool
) -> dict[int, Fraction]:
    """Return by place the largest scale, in steps, of every total that is a statistic itself."""
    scales: dict[int, Fraction] = {}
    for use, error in asked:
        place = use.places[0]
        need = layout.needs[place]
        if use.model.law is None and not isinstance(need, ChoiceNeed | PlaceNeed):
            scale = _largest_scale(error / need.unit, beta, laplace)
            # Two statistics may share the total: the smaller error decides.
            scales[place] = min(scale, scales.get(place, scale))
    return scales


@lru_cache(maxsize=4096)
def _largest_scale(steps: Fraction, beta: float, laplace: bool) -> Fraction:
    """Return the largest scale whose error is at most so many steps."""
    family = Geometric if laplace else DiscreteGaussian
    # The error depends on the scale alone, so any sensitivity gives the same scale.
    return family.for_error(steps, beta=beta, sensitivity=1).scale


def _choices(
    layout: Layout, asked: UseErrors, beta: float
) -> dict[int, ChosenRelease | PlaceRelease]:
    """Choose the least ε of every mode and quantile, for the smallest error asked of it."""
    tightest: dict[int, Fraction] = {}
    for use, error in asked:
        place = use.places[0]
        tightest[place] = min(error, tightest.get(place, error))
    releases: dict[int, ChosenRelease | PlaceRelease] = {}
    for place, error in tightest.items():
        need = layout.needs[place]
        if isinstance(need, PlaceNeed):
            releases[place] = _quantile_release(need, error, beta)
        if isinstance(need, ChoiceNeed):
            mechanism = _exponential(need, _mode_epsilon(need, error, beta))
            releases[place] = ChosenRelease(need, mechanism)
    return releases


def _quantile_release(need: PlaceNeed, error: Fraction, beta: float) -> PlaceRelease:
    """Return the release of least ε, to six digits, that is within an error.

    Refuses: a quantile with one possible value, and an error that no ε meets (InvalidArgument).
    """
    if need.ladder.options == 1:
        raise InvalidArgument("there is one value that this quantile can have; it needs no data")
    least = Fraction(PlaceRelease(need, _HUGE_EPSILON).error(beta))
    if error <= least:
        raise InvalidArgument(
            f"no choice brings a quantile within {float(error):.6g} rows; "
            f"ask for more than {float(least):.6g}"
        )
    # The error is least + c/ε rows, so that c is the excess at ε = 1.
    excess = Fraction(PlaceRelease(need, Fraction(1)).error(beta)) - least
    epsilon = max(excess / (error - least), 1 / _HUGE_EPSILON)
    # The formula is exact up to rounding. The release's own bound decides, never the formula.
    if need.at_once(Fraction(1)) is None:
        while PlaceRelease(need, epsilon).error(beta) > error:
            epsilon *= _EPSILON_STEP
        return PlaceRelease(need, epsilon)
    return _least_release(need, epsilon, error, beta)


def _least_release(need: PlaceNeed, near: Fraction, error: Fraction, beta: float) -> PlaceRelease:
    """Search the least ε, to six digits, near an ε, where the bound falls in steps."""
    high = near
    while PlaceRelease(need, high).error(beta) > error:
        high *= 2
    low = high / 2
    while PlaceRelease(need, low).error(beta) <= error:
        low /= 2
    while high > low * _EPSILON_STEP:
        # A number of 53 bits: exact middles would get one bit longer each time.
        middle = Fraction(float((low + high) / 2))
        if PlaceRelease(need, middle).error(beta) > error:
            low = middle
        else:
            high = middle
    return PlaceRelease(need, high)


def _exponential(need: ChoiceNeed, epsilon: Fraction) -> Exponential:
    return Exponential(
        epsilon, need.sensitivity, monotone=need.monotone, neighbours=need.neighbours
    )


def _mode_epsilon(need: ChoiceNeed, error: Fraction, beta: float) -> Fraction:
    """Return the least ε, to twelve digits, with which the mode misses by at most so many rows.

    Refuses: a mode for which any option is near enough (InvalidArgument).
    """
    miss = _exponential(need, Fraction(1)).error(need.options, beta)
    if miss < _MIN_MISS:
        raise InvalidArgument("any choice of a mode is near enough at this level; it needs no data")
    # The miss is c/ε, so the miss at ε = 1 is c.
    return Fraction(miss) / need.steps_per_row / error * _ROUNDING_MARGIN


@frozen
class ErrorGoal:
    """Conditions under which errors are to be met.

    `layout` has the totals, `size` is the number of rows per key, errors hold with probability
    1 − `beta`, and `laplace` says that the noise is geometric, else discrete Gaussian.
    """

    layout: Layout
    size: int
    beta: float
    laplace: bool

    @property
    def power(self) -> int:
        """The p with which squared errors fall as price^−p: 2 for ε, 1 for ρ."""
        return 2 if self.laplace else 1

    def slack(self, use: Use, error: float, scales: dict[int, float]) -> float:
        """Return the asked error over the error predicted at these scales; below 1 for a miss."""
        noises: list[IntegerNoise] = []
        for place in use.places:
            noises += self.layout.noises(place, scales[place], laplace=self.laplace)
        predicted = error / _MAX_SLACK
        if use.model.law is not None:
            predicted = max(use.model.law(noises, self.size, self.beta), predicted)
        if predicted >= use.model.most:
            # A prediction clipped to the public range does not tell by how much it is missed.
            return 0.5
        return error / predicted


def balance(
    goal: ErrorGoal, several: Sequence[tuple[Use, float]], singles: dict[int, Fraction]
) -> dict[int, Fraction]:
    """Find the noise scale of every total, by its place in the layout.

    `several` has the statistics that are made from several totals, with their asked errors.
    `singles` has the largest allowed scales of totals that are statistics by themselves; they are
    not exceeded.

    Guarantee: every error in `several` is met, by the prediction that the plan shows.

    Refuses: an error that is missed however small the noise, since rounding and bounds alone
    exceed it (InvalidArgument).

    Law: tests/plan/test_error_target.py::TestLeast
    """
    if not several:
        return singles
    power = goal.power
    squares = []
    for use, _ in several:
        squares.append(_squares(goal, use))
    places = {place for each in squares for place in each}
    lengths = {place: goal.layout.length(place, laplace=goal.laplace) for place in places}
    floors: dict[int, float] = {}
    for place, scale in singles.items():
        if place in lengths:
            floors[place] = (lengths[place] / float(scale)) ** (2 / power)
    targets = []
    for _, error in several:
        targets.append(error * goal.size / 2)
    limits = [max(target**2, _MIN_LIMIT) for target in targets]
    scales: dict[int, float] = {}
    for _ in range(_ROUNDS):
        before = scales
        prices = least_prices(squares, limits, floors, power)
        scales = {place: lengths[place] / price ** (power / 2) for place, price in prices.items()}
        if not all(LEAST_SCALE <= scale < math.inf for scale in scales.values()):
            raise _unreachable(goal, several)
        slacks = [goal.slack(use, error, scales) for use, error in several]
        close = max(slacks) < 1 + _TOLERANCE or _is_settled(before, scales)
        if min(slacks) >= 1 and close:
            break
        limits = _corrected(limits, slacks)
    else:
        scales = _fitted(goal, several, scales)
    return _capped(scales, singles)


def _is_settled(before: dict[int, float], scales: dict[int, float]) -> bool:
    """Return whether no scale moved since the last round; False in the first round."""
    if not before:
        return False
    return all(abs(scale - before[place]) < _TOLERANCE * scale for place, scale in scales.items())


def _corrected(limits: Sequence[float], slacks: Sequence[float]) -> list[float]:
    """Return limits corrected by the true predictions: noise grows where an error has slack."""
    corrected: list[float] = []
    for limit, slack in zip(limits, slacks, strict=True):
        # Half of the tolerance is kept as a margin, so that the next round rather meets the error.
        factor = (slack * (1 - _TOLERANCE / 2)) ** 2
        corrected.append(max(limit * factor, _MIN_LIMIT))
    return corrected


def _capped(scales: dict[int, float], singles: dict[int, Fraction]) -> dict[int, Fraction]:
    """Return exact scales, at most those of `singles` and the largest that can be sampled."""
    capped = dict(singles)
    for place, scale in scales.items():
        exact = min(Fraction(scale), Fraction(MAX_SCALE))
        capped[place] = min(exact, singles.get(place, exact))
    return capped


def _squares(goal: ErrorGoal, use: Use) -> dict[int, float]:
    """Return A_ir of one statistic, by the places of its totals."""
    squares: dict[int, float] = {}
    for coefficient, place in zip(use.model.coefficients, use.places, strict=True):
        force = goal.layout.force(place, laplace=goal.laplace)
        squares[place] = (coefficient * force) ** 2
    return squares


def least_prices(
    squares: Sequence[dict[int, float]],
    limits: Sequence[float],
    floors: dict[int, float],
    power: int,
) -> dict[int, float]:
    """Find prices s_r with the least sum Σs_r for which Σ_r A_ir·s_r^−p ≤ limitᵢ and s_r ≥ floor_r.

    `squares` has for each statistic i its A_ir by the place r of the total, `power` is p. All
    limits hold; the sum is the least up to a relative distance of about 1e-6 where the search
    ended in time.

    >>> from discreet.plan.error_target import least_prices
    >>> found = least_prices([{0: 1.0, 1: 1.0}], [8.0], {}, 2)
    >>> round(found[0], 6), round(found[1], 6)
    (0.5, 0.5)

    Law: tests/plan/test_error_target.py::TestLeastPrices
    """
    # A floor s_r ≥ f is the constraint f^p·s_r^−p ≤ 1, of the same form as the others.
    rows = list(squares)
    bounds = list(limits)
    for place, floor in floors.items():
        rows.append({place: floor**power})
        bounds.append(1.0)
    places = sorted({place for each in squares for place in each})
    multipliers = [1.0 / bound for bound in bounds]
    exponent = _DAMPING * (power + 1) / power
    prices: dict[int, float] = {}
    ratios = [1.0]
    for _ in range(_STEPS):
        prices = _stationary_prices(rows, multipliers, places, power)
        ratios = _ratios(rows, bounds, prices, power)
        steps = [max(ratio, 1e-3) ** exponent for ratio in ratios]
        if max(ratios) < 1 + _MET and _is_optimal(steps, multipliers, bounds):
            break
        multipliers = [
            max(multiplier * step, 1e-200)
            for multiplier, step in zip(multipliers, steps, strict=True)
        ]
    # Scaling by the worst ratio makes every constraint hold, wherever the search stopped.
    factor = max(ratios) ** (1 / power)
    return {place: price * factor for place, price in prices.items()}


def _stationary_prices(
    rows: Sequence[dict[int, float]],
    multipliers: Sequence[float],
    places: Sequence[int],
    power: int,
) -> dict[int, float]:
    """Return s_r = (Σᵢ λᵢA_ir)^(1/(p+1)): the prices at which the Lagrangian is stationary."""
    exponent = 1 / (power + 1)
    prices: dict[int, float] = {}
    for place in places:
        terms = zip(multipliers, rows, strict=True)
        pull = sum(multiplier * row.get(place, 0.0) for multiplier, row in terms)
        prices[place] = pull**exponent
    return prices


def _ratios(
    rows: Sequence[dict[int, float]],
    bounds: Sequence[float],
    prices: dict[int, float],
    power: int,
) -> list[float]:
    """Return by constraint the ratio of its left side to its bound; above 1 if it is violated."""
    ratios: list[float] = []
    for row, bound in zip(rows, bounds, strict=True):
        left = sum(square / prices[place] ** power for place, square in row.items())
        ratios.append(left / bound)
    return ratios


def _is_optimal(
    steps: Sequence[float], multipliers: Sequence[float], bounds: Sequence[float]
) -> bool:
    """Return whether each constraint is tight or its multiplier is about 0 (complementarity)."""
    return all(
        step > 1 - _MET or multiplier * bound < 1e-9
        for step, multiplier, bound in zip(steps, multipliers, bounds, strict=True)
    )


def _fitted(
    goal: ErrorGoal, several: Sequence[tuple[Use, float]], scales: dict[int, float]
) -> dict[int, float]:
    """Find the largest common factor of the scales with which all errors are met, by bisection.

    Errors of coarse noise jump from step to step, so the rounds of `balance` may not end.

    Refuses: an error that is missed however small the noise (InvalidArgument).
    """

    def scaled(factor: float) -> dict[int, float]:
        return {place: scale * factor for place, scale in scales.items()}

    def is_met(factor: float) -> bool:
        return all(goal.slack(use, error, scaled(factor)) >= 1 for use, error in several)

    # All errors are met at `low`, and some are missed at `high`.
    low = 1.0
    high = 2.0
    while not is_met(low):
        high = low
        low = low / 2
        if low < _MIN_FACTOR:
            raise _unreachable(goal, several)
    while is_met(high) and high < 1 / _MIN_FACTOR:
        low = high
        high = 2 * high
    while high - low > _TOLERANCE / 4 * low:
        middle = (low + high) / 2
        if is_met(middle):
            low = middle
        else:
            high = middle
    # The lower end is the safe one: there every error was seen to be met.
    return scaled(low)


def _unreachable(goal: ErrorGoal, several: Sequence[tuple[Use, float]]) -> InvalidArgument:
    names = " and ".join(f"{use.name} within {error:.6g}" for use, error in several)
    return InvalidArgument(
        f"no noise brings {names} at {goal.size:,} rows per key; "
        "ask for a larger error or give a larger size"
    )
