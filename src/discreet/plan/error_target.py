"""Error target: the noise that just meets given errors at the least price, one need at a time.

total             the largest scale whose exact quantile is within the error; a larger one misses it
mode              the least ε of the exponential mechanism whose exact bound, in rows, is within the
                  error
quantiles         the least ε at which the bound on the shown value, in rows, is within the error
other statistics  several totals, perhaps shared with other statistics: see `joint_error_target`
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from ..errors import InvalidArgument
from ..mechanisms.additive.discrete_gaussian import DiscreteGaussian
from ..mechanisms.additive.discrete_laplace import Geometric
from ..mechanisms.selection.exponential import Exponential
from ..statistics.recipe import PlannedRelease
from ..statistics.releases.choice import ChoiceNeed, ChosenRelease
from ..statistics.releases.quantile_release import PlaceNeed, PlaceRelease
from .joint_error_target import ErrorGoal, balance
from .layout import Layout, Use
from .mechanism_choice import noisy_release

UseErrors = Sequence[tuple[Use, Fraction]]

# An ε so large that only the rounding of a quantile is left in its error.
_HUGE_EPSILON = Fraction(10**12)
# The ε of a quantile is raised by this factor until its bound holds: six digits.
_EPSILON_STEP = 1 + Fraction(1, 10**6)
# The ε of a mode is raised by this factor: it covers the rounding of the float bound c.
_ROUNDING_MARGIN = 1 + Fraction(1, 10**12)
# Below this bound of the error any option of a mode is near enough.
_MIN_MISS = 1e-300


def meet(
    layout: Layout, errors: Sequence[Fraction], size: int, beta: float, *, laplace: bool
) -> tuple[PlannedRelease, ...]:
    """Choose the noise of every need so that each statistic's predicted error is at most asked.

    Guarantee: every predicted error is met, at the least price of this kind of noise.

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
    """Return the largest scale of every total that is a statistic by itself."""
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
    """Choose the least ε of every choice, for the least error asked of it."""
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
    while PlaceRelease(need, epsilon).error(beta) > error:
        epsilon *= _EPSILON_STEP
    return PlaceRelease(need, epsilon)


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
