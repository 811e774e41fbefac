"""Totals that noise is added to: what the store is asked, how much one unit can change it, and the noise on it.

    TotalNeed      one number per key       geometric noise under pure ε, else discrete Gaussian
    DistinctNeed   how many values occur    likewise

Each release is one event, whatever the number of keys: its sensitivity is that of the whole vector.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from ...mechanisms.sensitivity import Sensitivity
from ...privacy.events import Event
from ...query.algebra.tally import Tally, Term
from ...query.bounds.cells import Cells
from ...query.bounds.sensitivity import influence
from ...query.bounds.shares import people_share, weight_of
from ...query.domains.domain import Scalar
from ..laws.box import at_least
from ..laws.noise_sum import Additive
from .addend import Addend
from .basis import Basis

__all__ = ["DistinctNeed", "ExactTotals", "KeyValues", "NoisyRelease", "TotalNeed", "total_need"]

KeyValues: TypeAlias = tuple[Scalar, ...]
"""The values of one key, one for each column of GROUP BY."""
ExactTotals: TypeAlias = dict[KeyValues, int]
"""The exact totals of one term, for the keys that occur."""


@dataclass(frozen=True, slots=True)
class TotalNeed:
    """The totals of one term, the only one of `tally`; one whole step of them is worth `unit`."""

    tally: Tally
    unit: Fraction
    sensitivity: Sensitivity

    def exact(self, counts: ExactTotals, key: KeyValues) -> int:
        """Return what noise is added to: the exact total of a key, 0 for one that does not occur."""
        return counts.get(key, 0)


@dataclass(frozen=True, slots=True)
class DistinctNeed:
    """How many of the cells have a total above 0, per key; the tally's last keys say the cell."""

    tally: Tally
    cells: Cells
    sensitivity: Sensitivity

    @property
    def unit(self) -> Fraction:
        """What one whole step is worth: one value."""
        return Fraction(1)

    def exact(self, counts: ExactTotals, key: KeyValues) -> int:
        """Return what noise is added to: how many cells of a key occur."""
        return sum(counts.get((*key, *place), 0) > 0 for place in self.cells.places)


@dataclass(frozen=True, slots=True)
class NoisyRelease:
    """Numbers, and the noise that is added to them."""

    need: TotalNeed | DistinctNeed
    mechanism: Additive

    @property
    def event(self) -> Event:
        """What is done, to be priced: one event for all keys together."""
        return self.mechanism.event

    @property
    def unit(self) -> Fraction:
        """What one whole step is worth."""
        return self.need.unit

    @property
    def scale(self) -> float:
        """The scale of the noise, in the unit of the total."""
        return at_least(self.mechanism.scale * self.unit)

    def error(self, beta: float = 0.05) -> float:
        """Bound the miss in one key with probability at least 1 − β, in the unit of the total."""
        return at_least(self.mechanism.error(beta) * self.unit)


def total_need(addend: Addend, basis: Basis, *, people: bool = False) -> TotalNeed:
    """State what one total of a question asks of the store, and how much one unit can change it.

    `people`: each person counts once in a key, however many rows there are.
    """
    share = people_share(basis.rows, keyed=bool(basis.keys)) if people else basis.share
    weight = weight_of(max(1, -addend.low, addend.high), share)
    term = Term(addend.expression, weight, addend.low * weight, addend.high * weight)
    tally = Tally(basis.rows, basis.keys, (term,), share, people=people)
    return TotalNeed(tally, addend.step / weight, influence(tally, 0, basis.key_count))
