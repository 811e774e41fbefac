"""Concurrency limit (backpressure) for each user, around requests that this process answers itself.

These are pages and lists; free requests of the API have the queue of the planning pool instead.
A user who opens many pages at once waits for their own pages, or is refused; others do not wait
for them.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from .rate_limit import TooMany

SIDE_BY_SIDE = 2
QUEUE_SECONDS = 30.0
"""Seconds for which a user waits for their own earlier pages."""


class ConcurrencyLimit:
    """Count of each user's requests in progress; two may run, and at most `most` may run or wait.

    >>> from discreet.service.http.concurrency_limit import ConcurrencyLimit
    >>> turns = ConcurrencyLimit(most=1)
    >>> with turns.turn("ana"), turns.turn("bob"):
    ...     with turns.turn("ana"):
    ...         pass
    Traceback (most recent call last):
    ...
    discreet.service.http.rate_limit.TooMany: too many requests; the next one fits in 1 s
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._inside: Counter[str] = Counter()
        self._working: Counter[str] = Counter()
        self._changed = threading.Condition()

    @contextmanager
    def turn(self, person: str) -> Iterator[None]:
        """Wait until fewer than two requests of the user run, then count this one as running.

        Refuses: a user with `most` requests already, and one that has waited QUEUE_SECONDS
        (TooMany).
        """
        with self._changed:
            if self._inside[person] >= self._most:
                raise TooMany(1.0)
            self._inside[person] += 1
        try:
            self._wait(person)
            try:
                yield
            finally:
                self._let_go(self._working, person)
        finally:
            self._let_go(self._inside, person)

    def _wait(self, person: str) -> None:
        """Wait until fewer than two requests of a user run, then count one more as running."""
        end = time.monotonic() + QUEUE_SECONDS
        with self._changed:
            while self._working[person] >= SIDE_BY_SIDE:
                if not self._changed.wait(end - time.monotonic()):
                    raise TooMany(1.0)
            self._working[person] += 1

    def _let_go(self, counts: Counter[str], person: str) -> None:
        """Count one request of a user less, and wake those that wait."""
        with self._changed:
            counts[person] -= 1
            if counts[person] <= 0:
                del counts[person]
            self._changed.notify_all()
