"""Fair queue of jobs: round robin between users, with throttling of users whose tasks are long.

    other users active    tasks of one user side by side
    --------------------  --------------------------------------------------------------------------
    none                  at most `most`, so that a newcomer finds a free worker thread
    some                  one, since threads share one interpreter; none while the user is throttled

After a task longer than LONG seconds its user is throttled for (duration − LONG) × (other active
users) seconds, at most LATE: the time that each of the others would need to take as much. A user is
active for LATE seconds after a submission. Tasks of one user keep their order.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")
LATE = 30.0
"""Seconds after a submission for which its user counts as active, and the longest throttling."""
LONG = 1.0
"""Seconds that one task may take before its user is throttled."""
_POLL_SECONDS = 1.0


class FairQueue(Generic[T]):
    """Queue of tasks by user, safe for many threads.

    >>> from discreet.service.jobs.fair_queue import FairQueue
    >>> queue = FairQueue(most=1)
    >>> for who, work in [("ana", 1), ("ana", 2), ("bob", 3)]:
    ...     queue.put(who, work)
    >>> queue.take(), queue.take()
    (('ana', 1), ('bob', 3))
    >>> queue.done("ana")
    >>> queue.take()
    ('ana', 2)

    Law: tests/service/test_faults.py::TestFairShare
    """

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        # Users in the order of their last submission, so that inactive ones are at the front.
        self._submitted: OrderedDict[str, float] = OrderedDict()
        self._throttled_until: dict[str, float] = {}
        # Users in the order of their next turn.
        self._waiting: OrderedDict[str, deque[T]] = OrderedDict()
        self._running: Counter[str] = Counter()
        self._changed = threading.Condition()
        self._closed = False

    def put(self, person: str, work: T) -> None:
        """Add a task at the end of a user's own queue."""
        with self._changed:
            self._waiting.setdefault(person, deque()).append(work)
            self._submitted[person] = self._clock()
            self._submitted.move_to_end(person)
            self._changed.notify()

    def take(self) -> tuple[str, T] | None:
        """Wait for the next task and count it as running; None when the queue is closed."""
        with self._changed:
            while not self._closed:
                for person in self._waiting:
                    if self._running[person] < self._limit(person):
                        return person, self._next(person)
                # The end of a throttling notifies nobody, so it is polled for while tasks wait.
                if self._waiting:
                    self._changed.wait(_POLL_SECONDS)
                else:
                    self._changed.wait()
            return None

    def done(self, person: str, seconds: float = 0.0) -> None:
        """Note the end of a task that ran so many seconds, and throttle its user if it was long."""
        with self._changed:
            others = max(0, len(self._active()) - 1)
            excess = max(0.0, seconds - LONG)
            until = self._clock() + min(excess * others, LATE)
            # A short task must not end the throttling that a longer one began.
            self._throttled_until[person] = max(self._throttled_until.get(person, 0.0), until)
            self._running[person] -= 1
            if self._running[person] <= 0:
                del self._running[person]
            # With one user less, others may run more side by side.
            self._changed.notify_all()

    def load(self, person: str) -> int:
        """Count a user's tasks, waiting and running."""
        with self._changed:
            waiting = len(self._waiting.get(person, ()))
            return waiting + self._running[person]

    def close(self) -> None:
        """Hand out no more tasks."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _limit(self, person: str) -> int:
        """Return how many tasks of a user may run side by side now."""
        others = [user for user in self._active() if user != person]
        if not others:
            return self._most
        if self._throttled_until.get(person, 0.0) <= self._clock():
            return 1
        return 0

    def _active(self) -> OrderedDict[str, float]:
        """Return the users who submitted within LATE seconds, and forget the others."""
        oldest = self._clock() - LATE
        while self._submitted:
            user, moment = next(iter(self._submitted.items()))
            if moment >= oldest:
                break
            del self._submitted[user]
            self._throttled_until.pop(user, None)
        return self._submitted

    def _next(self, person: str) -> T:
        """Take a user's first task and move the user to the end of the round."""
        queue = self._waiting[person]
        work = queue.popleft()
        if queue:
            self._waiting.move_to_end(person)
        else:
            del self._waiting[person]
        self._running[person] += 1
        return work
