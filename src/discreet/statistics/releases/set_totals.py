"""Totals of several sets of keys (grouping sets) at once, measured by one strategy.

The store is asked for the totals of the finest cells, of which the cells of every set are sums;
where these are too many, for those of a few smaller tables. A strategy (`workloads`) turns them
into whole numbers that get noise. One least-squares estimate is made of these, and every set is a
sum of it: so the sets are consistent. The charge is the batch of the strategy's events.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from ...arithmetic.rounding import at_least
from ...frozen import field, frozen
from ...mechanisms.sensitivity import Sensitivity
from ...privacy.events import Event
from ...query.algebra.tally import Tally
from ...query.bounds.public_cells import Cells
from ..laws.interval_arithmetic import clip, outward
from ..laws.noise_sum import Additive
from .total import ExactTotals, KeyValues, StoredForm, TotalNeed

if TYPE_CHECKING:
    from ...workloads import StrategyPlan, SumLaw


@frozen
class CellsNeed:
    """Need for the number of rows in each of some public cells.

    The keys of the tally are the values of the cell; one step is worth `unit`.
    """

    tally: Tally
    cells: Cells
    unit: Fraction
    sensitivity: Sensitivity

    def exact(self, counts: ExactTotals, key: KeyValues) -> int:
        """Return the exact total of a cell; 0 for a cell that does not occur."""
        return counts.get(key, 0)


@frozen
class CountedTable:
    """One of several counted tables: the indices of its keys, its cells in order, and its need."""

    places: tuple[int, ...]
    cells: tuple[KeyValues, ...] = field(repr=False)
    need: TotalNeed


@frozen
class SetsRelease:
    """Planned release of sums of the finest cells, by a strategy.

    `asked` are the indices of the sets that one question of several reads; None means all. Where there
    are too many finest cells, `tables` are counted instead, and `need` is that of the first.
    """

    need: TotalNeed | CellsNeed
    plan: StrategyPlan
    asked: tuple[int, ...] | None = None
    tables: tuple[CountedTable, ...] = ()

    @property
    def event(self) -> Event:
        """The event that accountants price: one batch of known events."""
        return self.plan.event

    @property
    def mechanism(self) -> Additive:
        """The noise on the first of the strategy's blocks."""
        return self.plan.measured[0].mechanism

    @property
    def unit(self) -> Fraction:
        """The worth of one whole step."""
        return self.need.unit

    @property
    def scale(self) -> float:
        """The scale of the noise on the first block, in the unit of the total."""
        return self.plan.measured[0].scale * float(self.unit)

    def error(self, beta: float = 0.05) -> float:
        """Bound the error in the worst cell of the sets with probability at least 1 − β.

        The bound is in the unit of the total.
        """
        reaches = self.plan.reach(beta)
        if self.asked is not None:
            reaches = tuple(reaches[i] for i in self.asked)
        worst = max(reaches)
        # Rounds up: the promise of accuracy is never too small.
        return at_least(Fraction(worst) * self.unit)


@frozen
class SetEstimate:
    """Released sum of estimated cells.

    `shown` differs from `total` where post-processing made all cells nonnegative. The interval is that
    of `total`, because it is not known to hold for `shown`; it is cut off below `low`.
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
        if self.low is not None:
            box = clip(box, self.low, max(self.low, box[1]))
        return outward(box)
