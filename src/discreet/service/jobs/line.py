"""A waiting line that is fair between people: each has a turn in the round, whoever has brought most.

Nobody holds all the hands at once: one person's work goes on side by side at most `most` times, so that whoever comes
next finds a free one; the more people have work here, the fewer hands each of them holds. All work of one person is
taken in the order in which it came.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict, deque
from typing import Generic, TypeVar

__all__ = ["WorkLine"]

T = TypeVar("T")


class WorkLine(Generic[T]):
    """Work by person.

    >>> from discreet.service.jobs.line import WorkLine
    >>> line = WorkLine(most=1)
    >>> for who, work in [("ana", 1), ("ana", 2), ("bob", 3)]:
    ...     line.put(who, work)
    >>> line.take(), line.take()
    (('ana', 1), ('bob', 3))
    >>> line.done("ana")
    >>> line.take()
    ('ana', 2)
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._waiting: OrderedDict[str, deque[T]] = OrderedDict()
        self._held: Counter[str] = Counter()
        self._changed = threading.Condition()
        self._closed = False

    def put(self, person: str, work: T) -> None:
        """Add work at the end of a person's line."""
        with self._changed:
            self._waiting.setdefault(person, deque()).append(work)
            self._changed.notify()

    def take(self) -> tuple[str, T] | None:
        """Wait for the next piece of work, and hold one hand for its person; None when the line is closed."""
        with self._changed:
            while not self._closed:
                most = self._share()
                person = next((one for one in self._waiting if self._held[one] < most), None)
                if person is not None:
                    return person, self._next(person)
                self._changed.wait()
            return None

    def _share(self) -> int:
        """Return how many hands one person may hold now: all of twice `most`, shared by those here and one to come."""
        here = len(self._waiting.keys() | {one for one, held in self._held.items() if held > 0})
        return min(self._most, -(-2 * self._most // (here + 1)))

    def done(self, person: str) -> None:
        """Let go of one hand that a person held."""
        with self._changed:
            self._held[person] -= 1
            if self._held[person] <= 0:
                del self._held[person]
            self._changed.notify_all()  # with one person less here, others may hold more

    def load(self, person: str) -> int:
        """Count what a person has in the line and in hand."""
        with self._changed:
            return len(self._waiting.get(person, ())) + self._held[person]

    def close(self) -> None:
        """Give out nothing any more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _next(self, person: str) -> T:
        line = self._waiting[person]
        work = line.popleft()
        if line:
            self._waiting.move_to_end(person)
        else:
            del self._waiting[person]
        self._held[person] += 1
        return work
