"""A waiting line that is fair between people: each has a turn in the round, whoever has brought most.

Nobody holds all the hands at once: one person's work goes on side by side at most `most` times, so that whoever comes
next finds a free one; and one at a time while others have brought work of late, since hands share one interpreter and
long work beside long work would slow everybody's. What took long is then followed by a rest of its person, as long as
everybody else would have had. All work of one person is taken in the order in which it came.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")
LATE = 30.0
"""Seconds for which somebody who brought work is reckoned with, and the longest rest."""
LONG = 1.0
"""Seconds that one piece of work may take before a rest is due."""


class FairQueue(Generic[T]):
    """Work by person.

    >>> from discreet.service.jobs.fair_queue import FairQueue
    >>> line = FairQueue(most=1)
    >>> for who, work in [("ana", 1), ("ana", 2), ("bob", 3)]:
    ...     line.put(who, work)
    >>> line.take(), line.take()
    (('ana', 1), ('bob', 3))
    >>> line.done("ana")
    >>> line.take()
    ('ana', 2)
    """

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = most, clock
        self._came: OrderedDict[str, float] = OrderedDict()
        self._rests: dict[str, float] = {}
        self._waiting: OrderedDict[str, deque[T]] = OrderedDict()
        self._held: Counter[str] = Counter()
        self._changed = threading.Condition()
        self._closed = False

    def put(self, person: str, work: T) -> None:
        """Add work at the end of a person's line."""
        with self._changed:
            self._waiting.setdefault(person, deque()).append(work)
            self._came[person] = self._clock()
            self._came.move_to_end(person)
            self._changed.notify()

    def take(self) -> tuple[str, T] | None:
        """Wait for the next piece of work, and hold one hand for its person; None when the line is closed."""
        with self._changed:
            while not self._closed:
                person = next(
                    (one for one in self._waiting if self._held[one] < self._share(one)), None
                )
                if person is not None:
                    return person, self._next(person)
                self._changed.wait(1.0 if self._waiting else None)  # somebody may be at rest
            return None

    def done(self, person: str, seconds: float = 0.0) -> None:
        """Let go of one hand that a person held for work of so many seconds."""
        with self._changed:
            rest = max(0.0, seconds - LONG) * max(0, len(self._recent()) - 1)
            self._rests[person] = max(self._rests.get(person, 0.0), self._clock() + min(rest, LATE))
            self._held[person] -= 1
            if self._held[person] <= 0:
                del self._held[person]
            self._changed.notify_all()  # with one person less, others may hold more

    def load(self, person: str) -> int:
        """Count what a person has in the line and in hand."""
        with self._changed:
            return len(self._waiting.get(person, ())) + self._held[person]

    def close(self) -> None:
        """Give out nothing any more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _share(self, person: str) -> int:
        """Return how many hands a person may hold now."""
        if not any(one != person for one in self._recent()):
            return self._most
        return 1 if self._rests.get(person, 0.0) <= self._clock() else 0

    def _recent(self) -> OrderedDict[str, float]:
        """Return who brought work of late, and forget the others."""
        while self._came and next(iter(self._came.values())) < self._clock() - LATE:
            self._rests.pop(self._came.popitem(last=False)[0], None)
        return self._came

    def _next(self, person: str) -> T:
        line = self._waiting[person]
        work = line.popleft()
        if line:
            self._waiting.move_to_end(person)
        else:
            del self._waiting[person]
        self._held[person] += 1
        return work
