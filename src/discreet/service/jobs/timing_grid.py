"""When the answer to a query leaves: on ticks fixed before it runs, so that the time taken tells next to nothing.

A query that starts at t shows what came of it at t + g, t + 2g, t + 4g, …, at the first of these after it is done. So
whoever watches learns, of all the time it took, only between which two ticks it ended: nothing if it always ends within
the first, at most log₂(T/g) + 1 outcomes within T seconds. The ticks depend on g alone, never on data.
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
        """Return the first tick at or after a moment."""
        taken = max(moment - started, 0.0) / self.seconds
        doublings = 0 if taken <= 1 else math.ceil(math.log2(taken))
        return started + self.seconds * float(2**doublings)

    def shows(self, started: float, finished: float | None, now: float) -> bool:
        """Return whether something finished may be seen by now."""
        return finished is not None and self.tick(started, finished) <= now

    async def until(self, moment: float) -> None:
        """Wait for a moment of the worker's clock."""
        await anyio.sleep(max(0.0, moment - steady()))
