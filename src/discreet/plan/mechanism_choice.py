"""Mechanism choice: the mechanism of least noise that a fraction of the budget allows for one need.

Calibration is a search. Plan after plan asks for the same fraction of a budget and the same
sensitivity, so the calibrated mechanisms are cached.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from ..errors import InvalidArgument, UnsupportedQuery
from ..mechanisms.additive.discrete_gaussian import DiscreteGaussian
from ..mechanisms.additive.discrete_laplace import Geometric
from ..mechanisms.reading.allowance import largest_epsilon
from ..mechanisms.selection.exponential import Exponential
from ..mechanisms.selection.permute_and_flip import PermuteAndFlip
from ..mechanisms.sensitivity import Sensitivity
from ..privacy.measures import PureDP
from ..privacy.neighbours import Neighbours
from ..statistics.laws.noise_sum import Additive
from ..statistics.recipe import Need, PlannedRelease
from ..statistics.releases.choice import ChoiceNeed, ChosenRelease
from ..statistics.releases.partition import JointRelease, PartitionNeed
from ..statistics.releases.quantile_release import PlaceNeed, PlaceRelease
from ..statistics.releases.total import DistinctNeed, NoisyRelease, TotalNeed
from .proportional_split import Divisible


def release_of(need: Need, budget: Divisible, *, pure: bool = False) -> PlannedRelease:
    """Choose the mechanism of a release: the least noise that its budget allows.

    `pure` says that the charged filter adds up ε, so that a choice costs its ε and no more.

    >>> from discreet.plan.mechanism_choice import release_of
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
    """Choose the mechanism of a choice.

    Permute-and-flip for one mode where ε is added up, else the exponential mechanism, whose
    tighter prices under other accountants make up for its error.
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
