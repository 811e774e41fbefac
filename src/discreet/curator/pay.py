"""Charge, run, finish: the only place where a question has effects, in this order.

    an answer is stored under the key       it is given again; nothing is charged, no store is touched
    a charge is pending                     another process runs it now, or died: wait a moment for its answer, then run
                                            it under that charge, since nothing has gone out yet
    otherwise                               charge, durably; then run; then store the answer, durably; then give it

Which of the three it is, the ledger decides in the transaction that would write the charge: one charge, whoever asks,
from however many processes. So a crash may waste budget and never leaks. What is given is always what the ledger holds:
if two processes ran the same charge, the first end that was noted is the one that both tell, be it an answer or a
failure: one draw of noise is all that goes out, and nobody sees a failure beside an answer that one charge paid for.
Where questions are not shared, what somebody else was charged for is counted in the asker's own account too, and held
back for as long as it took: that it was asked before is not told. A failure after the charge is one constant message,
whatever happened, and the charge stays.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock

from ..arithmetic.canonical import digest
from ..engines.base import failure
from ..errors import Cancelled, DiscreetError
from ..ledger import Entry, Ledger, clock, steps
from ..ledger.clock import read_time
from ..ledger.order import Order, Settlement

__all__ = ["Locks", "pay"]

PATIENCE = 1.0
"""Seconds after a charge for which others wait for its answer before they run it themselves. A longer wait would only
save work: all who run one charge give the same answer."""
LONGEST_HOLD = 60.0
"""Seconds for which an answer is held back at most: a first run that took longer was broken off and taken up again."""
_PAUSE = 0.02


@dataclass(frozen=True, slots=True)
class Locks:
    """One lock for each of 64 groups of keys: threads that ask the same wait for one answer, others do not wait."""

    each: tuple[Lock, ...] = field(default_factory=lambda: tuple(Lock() for _ in range(64)))

    def of(self, key: str) -> Lock:
        """Return the lock of a key."""
        return self.each[int(digest(key)[:8], 16) % len(self.each)]


def pay(ledger: Ledger, order: Order, run: Callable[[], str], locks: Locks) -> tuple[Entry, str]:
    """Return the charge and the stored answer of an order, running it if it was never answered.

    `run` makes the answer's text, once it is paid for. If questions are not shared, the entry is never somebody else's.

    Raises what the ledger refuses before anything is run; after that, EngineFailure with one constant message.
    """
    with locks.of(order.key):
        ran = False
        while True:
            found = _settle(ledger, order)
            if found.body is not None:
                if not ran:
                    _hold(found)
                return found.entry, found.body
            steps.passed("run:before")
            body = _run(ledger, found, run)
            ran = True
            steps.passed("run:after")
            # What is given is what the ledger then finds: the first that was stored.
            if body is not None and ledger.finish(found.charge, body).kind == "fail":
                raise failure()


def _settle(ledger: Ledger, order: Order) -> Settlement:
    """Find the answer or a charge to run under, waiting for the answer if somebody else may be running it."""
    found = ledger.find(order)
    if found is None:
        found = ledger.settle(order)
    if found.body is not None or found.fresh:
        return found
    end = time.monotonic() + _patience(found.charge)
    while time.monotonic() < end:
        time.sleep(_PAUSE)
        again = ledger.find(order)
        if again is None and found.own is not None:  # what one has paid for, apart, is that failure
            raise failure()
        if again is None:  # it failed, which used up its charge
            return ledger.settle(order)
        if again.body is not None:
            return again
    return found


def _hold(found: Settlement) -> None:
    """Wait as long as the first asker did, if the asker must not know that there was one."""
    if found.own is None:
        return
    took = (read_time(found.ended) - read_time(found.charge.time)).total_seconds()
    age = (clock.now() - read_time(found.own.time)).total_seconds()
    time.sleep(min(max(took - max(age, 0.0), 0.0), LONGEST_HOLD))


def _patience(charge: Entry) -> float:
    """Return how many seconds to wait for the answer of a charge; none if it was made long ago."""
    age = (clock.now() - read_time(charge.time)).total_seconds()
    return PATIENCE - min(max(age, 0.0), PATIENCE)


def _run(ledger: Ledger, found: Settlement, run: Callable[[], str]) -> str | None:
    """Return what was run; None if it failed here, but another process has stored the answer."""
    try:
        return run()
    except Exception as raised:  # noqa: BLE001 whatever it was may tell about the data
        problem, stopped = failure(), isinstance(raised, Cancelled)
    if stopped and not found.fresh:  # somebody else's charge: who stops asking does not end it for the others
        raise problem
    with suppress(DiscreetError):  # the charge stays all the same; the message must not depend on why
        if ledger.fail(found.charge).kind == "answer":
            return None
    raise problem
