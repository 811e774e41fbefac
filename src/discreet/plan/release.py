"""One release: what is asked of the store, how much one unit can change it, and the noise that hides that.

    Total      one number per key            geometric noise under pure ε, else discrete Gaussian
    Distinct   how many values occur         likewise
    Choice     one cell or value per key     the exponential mechanism, over all keys at once

Each is one event, whatever the number of keys: its sensitivity is that of the whole vector.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from ..errors import InvalidArgument, UnsupportedQuery
from ..mechanisms.additive.discrete_gaussian import DiscreteGaussian
from ..mechanisms.additive.discrete_laplace import Geometric
from ..mechanisms.selection.exponential import Exponential
from ..mechanisms.sensitivity import Sensitivity
from ..privacy.events import Event
from ..privacy.measures import PureDP
from ..privacy.neighbours import ADD_REMOVE, Neighbours
from ..query.algebra.tally import Tally
from ..query.bounds.cells import Cells
from ..query.bounds.rows import neighbours_of
from .split import Divisible

__all__ = [
    "Additive",
    "Choice",
    "ChosenRelease",
    "Distinct",
    "NoisyRelease",
    "Release",
    "Total",
    "Want",
    "at_least",
    "release_of",
    "steps_per_row",
]

Additive: TypeAlias = Geometric | DiscreteGaussian


@dataclass(frozen=True, slots=True)
class Total:
    """The totals of one term, the only one of `tally`; one whole step of them is worth `unit`."""

    tally: Tally
    unit: Fraction
    sensitivity: Sensitivity


@dataclass(frozen=True, slots=True)
class Distinct:
    """How many of the cells have a total above 0, per key; the tally's last keys say the cell."""

    tally: Tally
    cells: Cells
    sensitivity: Sensitivity


@dataclass(frozen=True, slots=True)
class Choice:
    """One cell per key: the quantile `at`, or the most frequent one if `at` is None.

    `side` is −1 or 1 for a cell that lies below or above the quantile but for a small chance, 0 for the quantile.
    `sensitivity` is that of the sum of the scores over all keys, in whole steps of the scores.
    """

    tally: Tally
    cells: Cells
    sensitivity: int
    at: Fraction | None
    side: int = 0

    @property
    def options(self) -> int:
        """How many outcomes there are in one key: the cells, and for a side also "before" and "after" them all."""
        return len(self.cells.places) + (2 if self.side else 0)


Want: TypeAlias = Total | Distinct | Choice


@dataclass(frozen=True, slots=True)
class NoisyRelease:
    """Numbers, and the noise that is added to them."""

    want: Total | Distinct
    mechanism: Additive

    @property
    def event(self) -> Event:
        """What is done, to be priced: one event for all keys together."""
        return self.mechanism.event

    @property
    def unit(self) -> Fraction:
        """What one whole step is worth."""
        return self.want.unit if isinstance(self.want, Total) else Fraction(1)

    @property
    def scale(self) -> float:
        """The scale of the noise, in the unit of the total."""
        return at_least(self.mechanism.scale * self.unit)

    def error(self, beta: float = 0.05) -> float:
        """Bound the miss in one key, but for a chance β, in the unit of the total."""
        return at_least(self.mechanism.error(beta) * self.unit)


@dataclass(frozen=True, slots=True)
class ChosenRelease:
    """Cells or values, and the mechanism that chooses one per key."""

    want: Choice
    mechanism: Exponential

    @property
    def event(self) -> Event:
        """What is done, to be priced: one choice among all combinations over the keys."""
        return self.mechanism.event

    @property
    def scale(self) -> float:
        """How many rows worse a choice must be to be e times less likely."""
        return at_least(1 / (self.mechanism.rate * steps_per_row(self.want)))

    def error(self, beta: float = 0.05) -> float:
        """Bound the miss in one key, but for a chance β, in rows."""
        return self.mechanism.error(self.want.options, beta) / steps_per_row(self.want)


Release: TypeAlias = NoisyRelease | ChosenRelease


def at_least(exact: Fraction) -> float:
    """Give the least float that is not below an exact number.

    >>> at_least(Fraction(3)), at_least(Fraction(1, 3)) > Fraction(1, 3)
    (3.0, True)
    """
    near = float(exact)
    return near if near >= exact else math.nextafter(near, math.inf)


def steps_per_row(want: Choice) -> int:
    """Say how many steps of its scores one row is worth: the weight; for a rank, in halves of 1/denominator."""
    return want.tally.terms[0].weight * (1 if want.at is None else 2 * want.at.denominator)


def release_of(want: Want, budget: Divisible) -> Release:
    """Choose the mechanism of a release: the least noise that its part of the budget allows.

    >>> from ..data import Boolean, Rows, Schema
    >>> from ..query.algebra.expression import Constant
    >>> from ..query.bounds.sensitivity import influence
    >>> from ..query.algebra.tally import Free, Term
    >>> from ..query.algebra.tree import Scan
    >>> votes = Scan(Schema("votes", Rows(), {"yes": Boolean()}))
    >>> tally = Tally(votes, (), (Term(Constant(True), 1, 0, 1),), Free())
    >>> release_of(Total(tally, Fraction(1), influence(tally, 0)), PureDP("1/2")).mechanism.scale
    Fraction(2, 1)
    """
    if isinstance(want, Choice):
        near = neighbours_of(want.tally.rows)
        return ChosenRelease(want, _chosen(budget, want.sensitivity, want.at is None and near == ADD_REMOVE, near))
    try:
        return NoisyRelease(want, _noise(budget, want.sensitivity))
    except InvalidArgument:
        raise UnsupportedQuery(
            "the noise would exceed 2^50 steps of the grid: declare a coarser step or tighter bounds, or spend more"
        ) from None


# Calibration is a search; the same part of a budget and the same sensitivity come back in plan after plan.


@lru_cache(maxsize=4096)
def _chosen(budget: Divisible, sensitivity: int, monotone: bool, near: Neighbours) -> Exponential:
    return Exponential.spending(budget, sensitivity=sensitivity, monotone=monotone, neighbours=near)


@lru_cache(maxsize=4096)
def _noise(budget: Divisible, sensitivity: Sensitivity) -> Additive:
    if isinstance(budget, PureDP):
        return Geometric.spending(budget, sensitivity=sensitivity)
    return DiscreteGaussian.spending(budget, sensitivity=sensitivity)
