"""Every order in which askers can move, one at a time, from one step of the ledger to the next; each order once.

An asker is a thread that runs the real code and stops at steps of `discreet.ledger.failpoints`. Which steps, `POINTS` says:
at all of them the enumeration is plain; at those before the store is touched it loses nothing, since what is between
them touches nothing that others see. Orders that differ only in who of two *readers* reads first are the same: sleep
sets leave all but one of them out (Godefroid, *Partial-Order Methods for the Verification of Concurrent Systems*, 1996).
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

STEPS = (
    "charge:before",
    "charge:after",
    "run:before",
    "run:after",
    "finish:before",
    "finish:after",
)
"""All steps of one asker; inside a transaction (`charge:written`) nobody else can move, but a process can die."""
TOUCHES = ("charge:before", "finish:before", "finish:after")
"""The steps after which the store is touched; the first touch is at the start."""
READS = ("start", "finish:after")
"""What is done next only reads."""


class Died(BaseException):
    """The end of a process."""


@dataclass
class Node:
    """A place where somebody must be chosen: who can move and where each stands, who was chosen, who need not be."""

    able: dict
    asleep: set
    choice: int
    done: set = field(default_factory=set)


class Stage:
    """Askers that move one at a time; `choose` says who is next."""

    def __init__(self, points, choose, dies=None):
        self.points, self.choose, self.dies = points, choose, dies
        self.moved, self.turn, self.where, self.names = threading.Semaphore(0), {}, {}, {}

    def passed(self, step):
        """Stop here until it is this asker's turn, or die here; take the place of `steps.passed`."""
        asker = self.names.get(threading.get_ident())
        if asker is None:
            return
        if asker == 0 and step == self.dies:
            raise Died
        if step in self.points:
            self._wait(asker, step)

    def _wait(self, asker, step):
        self.where[asker] = step
        self.moved.release()
        self.turn[asker].acquire()

    def play(self, acts):
        """Run all askers to their ends."""
        threads = []
        for asker, act in enumerate(acts):
            self.turn[asker] = threading.Semaphore(0)
            threads.append(threading.Thread(target=self._act, args=(asker, act)))
            threads[-1].start()
            self.moved.acquire()
        while self.where:
            pick = self.choose(dict(self.where))
            self.turn[pick].release()
            self.moved.acquire()
        for thread in threads:
            thread.join()

    def _act(self, asker, act):
        self.names[threading.get_ident()] = asker
        self._wait(asker, "start")
        try:
            act(asker)
        except Died:
            pass
        finally:
            del self.names[threading.get_ident()]
            del self.where[asker]
            self.moved.release()


def every_schedule(play, *, reduced=False, enough=None):
    """Call `play(choose)` once for every schedule; give how many there were, and how many were seen to be repetitions.

    `enough()` may end it early.
    """
    path, played, repeated = [], 0, 0
    while True:
        place, again = 0, False

        def choose(able):
            nonlocal place, again
            if place == len(path) and not again:
                asleep = _asleep(path, able, reduced=reduced)
                awake = [asker for asker in able if asker not in asleep]
                again = not awake
                if awake:
                    path.append(Node(able, asleep, awake[0]))
            if again:
                return min(able)
            place += 1
            return path[place - 1].choice

        play(choose)
        played, repeated = played + (not again), repeated + again
        while path and not _next(path[-1]):
            path.pop()
        if not path or (enough is not None and enough()):
            return played, repeated


def _asleep(path, able, *, reduced):
    """Say whose move here would repeat a schedule that was played: they could have moved before, and both only read."""
    if not path or not reduced:
        return set()
    node = path[-1]
    if node.able[node.choice] not in READS:
        return set()
    return {
        asker for asker in node.asleep | node.done if asker in able and node.able[asker] in READS
    }


def _next(node):
    node.done.add(node.choice)
    for asker in node.able:
        if asker not in node.done and asker not in node.asleep:
            node.choice = asker
            return True
    return False
