"""Monotonic clock of a worker: the wall-clock time at its start, then counted without steps.

Ticks, leases and durations of jobs are differences of times. A machine whose clock is set by an hour
must not hold an answer, or a thread, for that hour. Dates that people mean, such as the expiry of a
token, are compared with the wall clock instead.
"""

from __future__ import annotations

import time

_BEGAN = time.time() - time.monotonic()


def steady() -> float:
    """Return seconds since 1970 by a clock that never steps.

    >>> from discreet.service.jobs.steady_clock import steady
    >>> first = steady()
    >>> 0 <= steady() - first < 60
    True
    """
    return _BEGAN + time.monotonic()
