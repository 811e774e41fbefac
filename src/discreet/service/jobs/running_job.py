"""A job at work in one thread, and how others stop it: because its person says so, or because it takes too long."""

from __future__ import annotations

import threading
import time

from ..stores.datasets import Hired

GRACE = 5.0
"""Seconds after it was told to stop for which a store may go on; then the line to it is cut, if there is one."""


class RunningJob:
    """The run of one job; `why` says who stopped it: `cancelled` its person, `late` its time, nothing nobody."""

    def __init__(self, hired: Hired) -> None:
        self.hired = hired
        self.since = time.monotonic()
        self.why = ""
        self._told: float | None = None
        self._over = False
        self._lock = threading.Lock()
        hired.begin()

    @property
    def charged(self) -> bool:
        """Whether the store was asked, which is done after the charge and never before."""
        return self.hired.touched.is_set()

    def stop(self, why: str) -> None:
        """Stop the query, unless it is over or somebody is stopping it just now; may wait for a silent store."""
        if not self._lock.acquire(blocking=False):
            return
        try:
            if self._over:
                return
            self.why = self.why or why
            self._told = self._told or time.monotonic()
            if time.monotonic() - self._told > GRACE:
                self.hired.hang_up()
            else:
                self.hired.interrupt()
        finally:
            self._lock.release()

    def end(self) -> None:
        """Say that it is over: from here on nobody stops it, since the engine goes on to the next job."""
        with self._lock:
            self._over = True
