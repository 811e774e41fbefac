"""The pulse of a worker's keeper: that it goes round, and that the store lets itself be read and written."""

from __future__ import annotations

import time

MISSED = 8.0
"""Seconds without a sign after which something is not well; a round takes less than one, unless the store is slow."""
STUCK = 60.0
"""Seconds for which one round may wait for a store that is away; a keeper that takes longer is not waiting but gone."""


class Heartbeat:
    """When the keeper last began a round, and last ended one with the store in reach; read without waiting."""

    def __init__(self, pause: float) -> None:
        self.pause = pause
        self._turned = self._reached = time.monotonic()

    def turn(self) -> None:
        """Note that a round begins."""
        self._turned = time.monotonic()

    def reached(self) -> None:
        """Note that the store answered all that a round asks of it."""
        self._reached = time.monotonic()

    @property
    def turning(self) -> bool:
        """Whether the keeper goes round."""
        return time.monotonic() - self._turned < STUCK + self.pause

    @property
    def reaching(self) -> bool:
        """Whether the store answered within the last moments."""
        return time.monotonic() - self._reached < MISSED + self.pause
