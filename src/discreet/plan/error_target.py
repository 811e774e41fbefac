"""The noise that just meets given errors, at the least price: one total or choice at a time.

total             the largest scale whose exact quantile is within the error; a larger one misses it
mode              the least ε of the exponential mechanism whose exact bound, in rows, is within the error
quantiles         the least ε at which the bound on what is shown, in rows, is within the error
the others        several totals, perhaps shared with other statistics: see `balance`
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
_VAST = Fraction(10**12)
_CLOSE = 1 + Fraction(1, 10**6)
_HAIR = 1 + Fraction(1, 10**12)


def meet(
    layout: Layout, errors: Sequence[Fraction], size: int, beta: float, *, laplace: bool
) -> tuple[PlannedRelease, ...]:
    """Choose the noise of everything needed such that each statistic's predicted error is at most what is asked.

    Refuses an error as wide as the public range of its statistic, which needs no data, and one that no noise meets.
    """
    asked = list(zip(layout.uses, errors, strict=True))
    for use, error in asked:
        if error >= use.model.most:
            raise InvalidArgument(
                f"every possible {use.name} lies within {float(error):.6g}; ask for a smaller error"
            )
        if error <= use.model.least:
            raise InvalidArgument(
                f"no noise brings {use.name} within {float(error):.6g}: without any it may be off by "
                f"{use.model.least:.6g}; ask for a larger error, or declare a coarser step or tighter bounds"
            )
    singles = _single_scales(layout, asked, beta, laplace=laplace)
    several = [(use, float(error)) for use, error in asked if use.model.law is not None]
    scales = balance(ErrorGoal(layout, size, beta, laplace), several, singles)
    chosen = dict(_choices(layout, asked, beta))
    family = Geometric if laplace else DiscreteGaussian
    return tuple(
        chosen[place]
        if isinstance(need, ChoiceNeed | PlaceNeed)
        else noisy_release(need, family(scales[place], need.sensitivity))
        for place, need in enumerate(layout.needs)
    )


def _single_scales(
    layout: Layout, asked: UseErrors, beta: float, *, laplace: bool
) -> dict[int, Fraction]:
    """Return the largest scale of every total that is a statistic by itself."""
    found: dict[int, Fraction] = {}
    for use, error in asked:
        need, place = layout.needs[use.places[0]], use.places[0]
        if use.model.law is None and not isinstance(need, ChoiceNeed | PlaceNeed):
            scale = _largest(error / need.unit, beta, laplace)
            found[place] = min(scale, found.get(place, scale))
    return found


@lru_cache(maxsize=4096)
def _largest(steps: Fraction, beta: float, laplace: bool) -> Fraction:
    """Return the largest scale whose error is at most so many steps; which sensitivity it hides does not matter."""
    family = Geometric if laplace else DiscreteGaussian
    return family.for_error(steps, beta=beta, sensitivity=1).scale


def _choices(
    layout: Layout, asked: UseErrors, beta: float
) -> Iterator[tuple[int, ChosenRelease | PlaceRelease]]:
    """Choose the least ε of every choice, for the least error asked of it."""
    tightest: dict[int, Fraction] = {}
    for use, error in asked:
        tightest[use.places[0]] = min(error, tightest.get(use.places[0], error))
    for place, error in tightest.items():
        need = layout.needs[place]
        if isinstance(need, PlaceNeed):
            yield place, _place_release(need, error, beta)
        if isinstance(need, ChoiceNeed):
            yield place, ChosenRelease(need, _exponential(need, _epsilon(need, error, beta)))


def _place_release(need: PlaceNeed, error: Fraction, beta: float) -> PlaceRelease:
    """Return the release of least ε, to six digits, that is within an error: it is off by least + c/ε rows.

    Refuses an error that none is within.
    """
    if need.ladder.options == 1:
        raise InvalidArgument("there is one value that this quantile can have; it needs no data")
    least = Fraction(PlaceRelease(need, _VAST).error(beta))
    if error <= least:
        raise InvalidArgument(
            f"no choice brings a quantile within {float(error):.6g} rows; ask for more than {float(least):.6g}"
        )
    epsilon = max(
        (Fraction(PlaceRelease(need, Fraction(1)).error(beta)) - least) / (error - least), 1 / _VAST
    )
    while PlaceRelease(need, epsilon).error(beta) > error:
        epsilon *= _CLOSE
    return PlaceRelease(need, epsilon)


def _exponential(need: ChoiceNeed, epsilon: Fraction) -> Exponential:
    return Exponential(
        epsilon, need.sensitivity, monotone=need.monotone, neighbours=need.neighbours
    )


def _epsilon(need: ChoiceNeed, error: Fraction, beta: float) -> Fraction:
    """Return the least ε, to twelve digits, with which the choice misses by at most so many rows: the miss is c/ε."""
    miss = _exponential(need, Fraction(1)).error(need.options, beta)
    if miss < 1e-300:
        raise InvalidArgument("any choice of a mode is near enough at this level; it needs no data")
    return Fraction(miss) / need.steps_per_row / error * _HAIR
