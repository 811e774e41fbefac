"""An engine whose answers come on a grid: whatever follows from them, in the ledger or in a reply, tells no finer time.

The ledger notes when an answer was stored, and `explain` says that it is: both would tell how long the store took if
only replies waited. So the store's totals, and its failures, are held back to ticks of their own, fixed before it is
asked: three quarters of a reply's tick, which leaves the last quarter for the noise and for writing down.
"""

from __future__ import annotations

import threading
import time
from contextlib import AbstractContextManager

from ...curator.context import keeps_all_rows
from ...data.schema import Schema
from ...engines.base import Engine, PublicKeys
from ...engines.snapshot import one_snapshot
from ...errors import Cancelled, EngineFailure
from ...frozen import field, frozen
from ...noise import secure_bits
from ...query.algebra.tally import Tally, Totals
from .steady_clock import steady
from .timing_grid import TimingGrid


@frozen
class StoppableBits:
    """Secure bits until somebody says that it is enough: a training of many steps draws noise in each of them."""

    stopped: threading.Event

    def take(self, count: int, /) -> bytes:
        """Return fresh bytes; raises Cancelled once the run is to stop."""
        if self.stopped.is_set():
            raise Cancelled
        return secure_bits().take(count)


@frozen
class Paced:
    """The engine inside, its totals held back to the next tick; `touched` is set as soon as it is asked for any.

    Nothing is asked before it is charged for, so what fails untouched has spent nothing. When `stopped` is set nothing
    more is asked, no noise is drawn and nobody is waited for.
    """

    engine: Engine
    grid: TimingGrid
    touched: threading.Event = field(default_factory=threading.Event, compare=False, repr=False)
    stopped: threading.Event = field(default_factory=threading.Event, compare=False, repr=False)

    @property
    def bits(self) -> StoppableBits:
        """Where the noise of a run is drawn from, until the run is stopped."""
        return StoppableBits(self.stopped)

    def pause(self, seconds: float) -> None:
        """Wait, as for a store: what is waited for was charged."""
        self.touched.set()
        if self.stopped.wait(seconds):
            raise Cancelled

    @property
    def rows_public(self) -> bool:
        """Whether the engine inside holds every record it was given."""
        return keeps_all_rows(self.engine)

    def tally(self, tally: Tally) -> Totals:
        """Return the exact totals at a tick; a query that somebody stopped ends at once."""
        self.touched.set()
        if self.stopped.is_set():
            raise Cancelled
        started = steady()
        try:
            totals = self.engine.tally(tally)
        except Cancelled:
            raise
        except EngineFailure:
            self._hold(started)
            raise
        self._hold(started)
        return totals

    def explain(self, tally: Tally) -> str:
        """Show what would be run."""
        return self.engine.explain(tally)

    def check(self, schema: Schema) -> None:
        """Refuse a schema that does not fit."""
        self.engine.check(schema)

    def public_values(self, table: Schema, *columns: str) -> PublicKeys:
        """List the values of a public table's column."""
        return self.engine.public_values(table, *columns)

    def snapshot(self) -> AbstractContextManager[object]:
        """Hold the data still, if the engine can."""
        self.touched.set()
        return one_snapshot(self.engine)

    def _hold(self, started: float) -> None:
        now = steady()
        time.sleep(max(0.0, self.grid.tick(started, now) - now))


def pace(engine: Engine, seconds: float) -> Paced:
    """Hold an engine's totals back, for replies that leave on a grid of so many seconds.

    >>> from discreet.service.jobs.paced_engine import pace
    >>> pace(None, 0.5).grid
    Grid(seconds=0.375)
    """
    return Paced(engine, TimingGrid(0.75 * seconds))
