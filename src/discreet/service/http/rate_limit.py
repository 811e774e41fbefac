"""Rate limits: one token bucket for each user or address, kept by each worker process for itself.

A worker limits the requests that it sees. Several workers together grant at most their number times the
limit.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from ..config import RequestBounds

MAX_KEYS = 10_000
"""Buckets kept at a time. The ones longest unused are dropped first; most of them are full again."""


class TooMany(Exception):
    """Refusal of a request above the rate limit; `seconds` until the next one fits (Retry-After)."""

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
        """Take a token and return 0; without a token return the seconds until there is one."""
        now = self._clock()
        per_second = self._most / 60
        with self._lock:
            tokens, updated = self._held.get(key, (self._most, now))
            refilled = tokens + (now - updated) * per_second
            tokens = min(self._most, refilled)
            seconds = 0.0
            if tokens >= 1:
                tokens -= 1
            else:
                seconds = (1 - tokens) / per_second
            self._held[key] = (tokens, now)
            self._held.move_to_end(key)
            # Memory stays bounded however many addresses send requests.
            while len(self._held) > MAX_KEYS:
                self._held.popitem(last=False)
        return seconds


class Limits:
    """Rate limits of one worker: requests of a user; failed sign-ins and anonymous visits of an address."""

    def __init__(self, bounds: RequestBounds) -> None:
        self.bounds = bounds
        self._asked = TokenBuckets(bounds.requests_per_minute)
        self._again = TokenBuckets(bounds.requests_per_minute)
        self._failed = TokenBuckets(bounds.failures_per_minute)
        self._strangers = TokenBuckets(bounds.requests_per_minute)

    def request(self, person: str) -> None:
        """Count a request of a user, or refuse it."""
        _refuse(self._asked.wait(person))

    def again(self, person: str) -> None:
        """Count a repeated request with a known idempotency key, which has its own limit, or refuse it."""
        _refuse(self._again.wait(person))

    def failure(self, address: str) -> None:
        """Count a failed sign-in of an address, or refuse it.

        A valid token is never limited by its address, so strangers behind the same address lock nobody
        out. Guessing 256 random bits needs no lockout.
        """
        _refuse(self._failed.wait(address))

    def stranger(self, address: str) -> None:
        """Count a visit without a session, or refuse it."""
        _refuse(self._strangers.wait(address))


def _refuse(seconds: float) -> None:
    if seconds > 0:
        raise TooMany(seconds)
