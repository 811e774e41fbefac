"""Engine wrapper against the timing side channel: totals are held back to ticks of a timing grid.

The ledger notes when an answer was stored, and `explain` says that it is stored. Both would tell
how long the source took if only replies waited. So the exact totals, and failures of the source,
are held back inside the service to the ticks of a grid that starts with the query. Its base length is
three quarters of that of the grid for replies, which leaves a quarter for noise and for storing the
answer.

Law: tests/service/test_parts.py::TestPaced
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from ...curator.context import RunControl
from ...data.schema import Schema
from ...engines.base import (
    Engine,
    PeopleTotals,
    PublicKeys,
    keeps_all_rows,
    one_snapshot,
    people_apart,
)
from ...errors import Cancelled, EngineFailure
from ...frozen import field, frozen
from ...query.algebra.tally import Tally, Totals
from .steady_clock import steady
from .timing_grid import TimingGrid


@frozen
class Paced:
    """Engine whose totals are held back to the next tick; `touched` is set with the first query.

    No query runs before its charge, so a failure with `touched` unset has spent nothing. When `stopped`
    is set, no query starts and no noise is drawn; `control` tells the curator so. A wait for a tick
    that has begun goes on.
    """

    engine: Engine
    grid: TimingGrid
    touched: threading.Event = field(default_factory=threading.Event, compare=False, repr=False)
    stopped: threading.Event = field(default_factory=threading.Event, compare=False, repr=False)

    @property
    def control(self) -> RunControl:
        """Run control for the curator of this engine, passed to it explicitly.

        A training draws noise in every step, so a checkpoint at each draw notices a stop in every step.
        """
        return RunControl(self._checkpoint, self._pause, self.held)

    def _checkpoint(self) -> None:
        if self.stopped.is_set():
            raise Cancelled

    def _pause(self, seconds: float) -> None:
        # A held-back answer was charged, like a query of the store.
        self.touched.set()
        if self.stopped.wait(seconds):
            raise Cancelled

    @property
    def rows_public(self) -> bool:
        """Whether the engine inside holds every record it was given."""
        return keeps_all_rows(self.engine)

    def tally(self, tally: Tally) -> Totals:
        """Return the exact totals, or raise the source's failure, at a tick; Cancelled at once."""
        self.touched.set()
        self._checkpoint()
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

    def tally_people(self, tally: Tally) -> PeopleTotals:
        """Return the exact totals of each person; a standing report holds them back, by `held`."""
        self.touched.set()
        self._checkpoint()
        return people_apart(self.engine, tally)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Return a context that ends at a tick, whether its work was done or failed."""
        started = steady()
        try:
            yield
        finally:
            self._hold(started)

    def explain(self, tally: Tally) -> str:
        """Return the text of the query that a tally would run; not held back."""
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
        tick = self.grid.tick(started, now)
        time.sleep(max(0.0, tick - now))


def pace(engine: Engine, seconds: float) -> Paced:
    """Hold an engine's totals back, for replies that leave on a grid of so many seconds.

    >>> from discreet.service.jobs.paced_engine import pace
    >>> pace(None, 0.5).grid
    TimingGrid(seconds=0.375)
    """
    return Paced(engine, TimingGrid(0.75 * seconds))
