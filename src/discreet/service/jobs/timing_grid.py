"""Timing grid for answers: a defence against the timing side channel of private queries.

A query that starts at t shows its result at t + g, t + 2g, t + 4g, …, at the first of these ticks after
it is done. An observer learns only between which two ticks it ended: nothing if it always ends within
the first, one of at most ⌈log₂(T/g)⌉ + 1 outcomes within T seconds.

Guarantee: the ticks depend on g and on the start alone, never on data.
Law: tests/service/test_parts.py::TestGrid
"""

from __future__ import annotations

import math

import anyio

from ...frozen import frozen
from .steady_clock import steady


@frozen
class TimingGrid:
    """Ticks of a base length in seconds.

    >>> from discreet.service.jobs.timing_grid import TimingGrid
    >>> grid = TimingGrid(0.25)
    >>> grid.tick(100.0, 100.01), grid.tick(100.0, 100.26), grid.tick(100.0, 101.2)
    (100.25, 100.5, 102.0)
    """

    seconds: float

    def tick(self, started: float, moment: float) -> float:
        """Return the first tick at or after `moment` of a query that began at `started`."""
        # A moment before the start, by a clock of another machine, counts as the start.
        ticks = max(moment - started, 0.0) / self.seconds
        doublings = 0
        if ticks > 1:
            # Rounded up: a result is never shown before the tick that follows its end.
            doublings = math.ceil(math.log2(ticks))
        return started + self.seconds * float(2**doublings)

    def shows(self, started: float, finished: float | None, now: float) -> bool:
        """Return whether a result may be seen `now`: it is finished, and its tick has come."""
        if finished is None:
            return False
        return self.tick(started, finished) <= now

    async def until(self, moment: float) -> None:
        """Wait for a moment of the worker's clock."""
        seconds = max(0.0, moment - steady())
        await anyio.sleep(seconds)
