"""Heartbeat of a thread that works in rounds: whether it is alive, and whether its server answers.

One belongs to the maintenance thread and the service's store, one to the thread that reads ledgers.
"""

from __future__ import annotations

import time

MISSED = 8.0
"""Seconds without an answer of the server after which health is bad; a round takes below one."""
STUCK = 60.0
"""Seconds for which one round may wait for a server; a longer round means a dead thread."""


class Heartbeat:
    """Time of the last round begun, and of the last one that reached the store; read without a lock."""

    def __init__(self, pause: float) -> None:
        self.pause = pause
        now = time.monotonic()
        self._turned = now
        self._reached = now

    def turn(self) -> None:
        """Note that a round begins."""
        self._turned = time.monotonic()

    def reached(self) -> None:
        """Note that the store answered everything that a round asks of it."""
        self._reached = time.monotonic()

    @property
    def turning(self) -> bool:
        """Whether the thread is alive: it began a round less than STUCK seconds and a pause ago."""
        silent = time.monotonic() - self._turned
        return silent < STUCK + self.pause

    @property
    def reaching(self) -> bool:
        """Whether the server answered less than MISSED seconds and a pause ago."""
        silent = time.monotonic() - self._reached
        return silent < MISSED + self.pause
