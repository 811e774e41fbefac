"""The clock of a worker: the time of day when it started, and then only ever onward, whatever is done to the clock.

Ticks, leases and how long a job ran are differences of times; a machine whose clock is set by an hour must not hold an
answer, or a thread, for that hour. What people mean by a date (when a token expires) is asked of the time of day.
"""

from __future__ import annotations

import time

_BEGAN = time.time() - time.monotonic()


def steady() -> float:
    """Return seconds since 1970 that never step: as the clock stood when this process began, and counted from there.

    >>> from discreet.service.jobs.steady_clock import steady
    >>> first = steady()
    >>> 0 <= steady() - first < 60
    True
    """
    return _BEGAN + time.monotonic()
