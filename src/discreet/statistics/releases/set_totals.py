"""Totals of several sets of keys at once, measured by one strategy; and one of the sums that come out.

The store is asked the finest cells once. The strategy's whole numbers get noise, one least-squares estimate is made of
them, and every set is a sum of it: so sets add up. One charge: the batch of the strategy's events.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from ...frozen import field, frozen
from ...mechanisms.sensitivity import Sensitivity
from ...privacy.events import Event
from ...query.algebra.tally import Tally
from ...query.bounds.public_cells import Cells
from ..laws.interval_arithmetic import at_least, clip, outward
from ..laws.noise_sum import Additive
from .stored import StoredForm
from .total import ExactTotals, KeyValues, TotalNeed

if TYPE_CHECKING:
    from ...workloads import StrategyPlan, SumLaw


@frozen
class CellsNeed:
    """How many rows lie in each of some public cells; the tally's keys say the cell, one step is worth `unit`."""

    tally: Tally
    cells: Cells
    unit: Fraction
    sensitivity: Sensitivity

    def exact(self, counts: ExactTotals, key: KeyValues) -> int:
        """Return the exact total of a cell, 0 for one that does not occur."""
        return counts.get(key, 0)


@frozen
class CountedTable:
    """One of several tables that are counted: the places of its keys, its cells in order, and what is asked."""

    places: tuple[int, ...]
    cells: tuple[KeyValues, ...] = field(repr=False)
    need: TotalNeed


@frozen
class SetsRelease:
    """The totals of the finest cells, and the strategy by which sums of them are released.

    `asked` are the places of the sets that one question of several reads; None: all. Where there are too many finest
    cells, `tables` has what is counted instead, by the places of its keys, with their values; `need` is the first.
    """

    need: TotalNeed | CellsNeed
    plan: StrategyPlan
    asked: tuple[int, ...] | None = None
    tables: tuple[CountedTable, ...] = ()

    @property
    def event(self) -> Event:
        """What is done, to be priced: one batch of known events."""
        return self.plan.event

    @property
    def mechanism(self) -> Additive:
        """The noise on the first of the strategy's blocks."""
        return self.plan.measured[0].mechanism

    @property
    def unit(self) -> Fraction:
        """What one whole step is worth."""
        return self.need.unit

    @property
    def scale(self) -> float:
        """The scale of the noise on the first block, in the unit of the total."""
        return self.plan.measured[0].scale * float(self.unit)

    def error(self, beta: float = 0.05) -> float:
        """Bound the miss in the worst cell of the sets with probability at least 1 − β, in the unit of the total."""
        found = self.plan.reach(beta)
        return at_least(
            Fraction(max(found if self.asked is None else (found[i] for i in self.asked)))
            * self.unit
        )


@frozen
class SetEstimate:
    """A sum of estimated cells; `shown` differs from `total` where it was moved so that nothing is negative.

    The interval is that of the estimate before it was moved, which alone is known to hold, from `low` on.
    """

    total: Fraction
    shown: Fraction
    law: SumLaw
    unit: Fraction
    low: Fraction | None = None

    stored: ClassVar[StoredForm] = StoredForm.of(
        "sum of cells",
        total="amount",
        shown="amount",
        law="law",
        unit="amount",
        low="amount or null",
    )

    @property
    def value(self) -> float:
        """The released number."""
        return float(self.shown)

    def interval(self, beta: float) -> tuple[float, float]:
        """Bound the exact number."""
        reach = Fraction(self.law.reach(beta)) * self.unit
        box = (self.total - reach, self.total + reach)
        return outward(box if self.low is None else clip(box, self.low, max(self.low, box[1])))
