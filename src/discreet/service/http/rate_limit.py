"""How often somebody may ask: buckets that fill at a steady rate, kept by each worker for itself.

A worker's limit holds for the requests it sees; several workers together grant at most their number times the limit.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from ..config import RequestBounds

MOST_KEYS = 10_000
"""Buckets kept at a time; the ones longest unused are full again, or forgotten."""


class TooMany(Exception):
    """Somebody asks too often; `seconds` says when the next request fits."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"too many requests; the next one fits in {max(1, round(seconds))} s")
        self.seconds = max(1, round(seconds))


class TokenBuckets:
    """One bucket for each key: `per_minute` requests at once, refilled within a minute.

    >>> from discreet.service.http.rate_limit import TokenBuckets
    >>> now = iter([0.0, 0.0, 0.0, 30.0])
    >>> bucket = TokenBuckets(2, clock=lambda: next(now))
    >>> bucket.wait("ana"), bucket.wait("ana"), bucket.wait("ana"), bucket.wait("ana")
    (0.0, 0.0, 30.0, 0.0)
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = float(per_minute)
        self._clock = clock
        self._held: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def wait(self, key: str) -> float:
        """Take one from a bucket and give 0, or give the seconds until there is one; nothing is taken then."""
        now = self._clock()
        with self._lock:
            level, then = self._held.get(key, (self._most, now))
            level = min(self._most, level + (now - then) * self._most / 60)
            fits = level >= 1
            self._held[key] = (level - 1 if fits else level, now)
            self._held.move_to_end(key)
            while len(self._held) > MOST_KEYS:
                self._held.popitem(last=False)
        return 0.0 if fits else (1 - level) * 60 / self._most


class Limits:
    """The limits of one worker: requests of a person, failures to sign in and visits of strangers from an address."""

    def __init__(self, bounds: RequestBounds) -> None:
        self.bounds = bounds
        self._asked = TokenBuckets(bounds.requests_per_minute)
        self._again = TokenBuckets(bounds.requests_per_minute)
        self._failed = TokenBuckets(bounds.failures_per_minute)
        self._strangers = TokenBuckets(bounds.requests_per_minute)

    def request(self, person: str) -> None:
        """Count a request of a person, or refuse it."""
        _refuse(self._asked.wait(person))

    def again(self, person: str) -> None:
        """Count a request that was sent before, which has a measure of its own, or refuse it."""
        _refuse(self._again.wait(person))

    def failure(self, address: str) -> None:
        """Count a failure to sign in; refuse to say more than that to an address that fails too often.

        Whoever shows a token that opens is never asked where it comes from: strangers behind the same address lock
        nobody out. Guessing 256 bits needs no lock.
        """
        _refuse(self._failed.wait(address))

    def stranger(self, address: str) -> None:
        """Count a visit of somebody who is not signed in, or refuse it."""
        _refuse(self._strangers.wait(address))


def _refuse(seconds: float) -> None:
    if seconds > 0:
        raise TooMany(seconds)
