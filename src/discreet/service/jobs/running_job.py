"""Running job of one thread, which other threads stop on cancellation or timeout."""

from __future__ import annotations

import threading
import time

from ..stores.datasets import ThreadCurator

GRACE = 5.0
"""Seconds for which a store may go on after it was told to stop; then its connection is cut."""


class RunningJob:
    """Run of one job; `why` it was stopped: `cancelled` by its user, `late` on timeout, "" if not stopped."""

    def __init__(self, hired: ThreadCurator) -> None:
        self.hired = hired
        self.since = time.monotonic()
        self.why = ""
        self._told: float | None = None
        self._over = False
        self._lock = threading.Lock()
        hired.begin()

    @property
    def charged(self) -> bool:
        """Whether the store was queried, which happens only after the charge."""
        return self.hired.touched.is_set()

    def stop(self, why: str) -> None:
        """Stop the query, unless it is over or being stopped already; may wait for a silent store."""
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
        """Mark the run as over: the engine goes on to the next job, which must not be stopped."""
        with self._lock:
            self._over = True
