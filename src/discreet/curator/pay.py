"""Charge, run, store: the only place where a question has effects, in this order.

    ledger holds under the key      action
    ------------------------------  ------------------------------------------------------------------
    a stored answer                 return it again; no charge, no query
    a pending charge                another process runs it or has died: wait PATIENCE seconds for its
                                    answer, then run it under the same charge
    nothing                         charge durably, run, store the answer durably, return it

The ledger decides between the three cases inside the transaction that would write the charge. So
one question has one charge, however many processes ask it at once. A crash may waste budget; it
never leaks.

The text that is returned is always the text that the ledger holds. If two processes ran one
charge, the first end in the ledger wins for both, an answer or a failure. One draw of noise is
released.

If questions are not shared, an analyst must not learn that a colleague asked first. An answer that
a colleague paid for then counts in the asker's own account too. It is held back as long as the
first run took, at most LONGEST_HOLD seconds (timing side channel). An asker who stops while
the answer is held back gets the error of a stopped run, and the charge in their account stays.

Guarantee: nothing is run before its charge is durable, and no text leaves before it is stored.
Refuses: what the ledger or the check of the request refuses, before the charge. After the charge every failure raises
EngineFailure with one constant message, and the charge stays.
Law: tests/curator/test_kill.py, tests/curator/test_curator.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from threading import Lock

from ..arithmetic.canonical import digest
from ..engines.base import failure
from ..errors import Cancelled, DiscreetError
from ..frozen import field, frozen
from ..ledger import Entry, Ledger, clock, failpoints
from ..ledger.charge_order import ChargeOrder, Settlement
from ..ledger.clock import read_time

PATIENCE = 1.0
"""Seconds after a charge for which others wait for its answer before they run it themselves.

A longer wait would only save work: all who run one charge return the same answer.
"""
LONGEST_HOLD = 60.0
"""Seconds for which an answer is held back at most. A longer first run was interrupted and resumed."""
_POLL_SECONDS = 0.02
_LOCK_COUNT = 64


def _new_locks() -> tuple[Lock, ...]:
    return tuple(Lock() for _ in range(_LOCK_COUNT))


@frozen
class Locks:
    """One lock for each group of keys: threads that ask the same wait for one answer, others do not."""

    each: tuple[Lock, ...] = field(default_factory=_new_locks)

    def of(self, key: str) -> Lock:
        """Return the lock of a key."""
        number = int(digest(key)[:8], 16)
        return self.each[number % len(self.each)]


def _check_nothing() -> None:
    """Refuse nothing."""


@frozen
class Work:
    """The run that an order pays for.

    `run` makes the text of the answer. `check` refuses, before the charge, what would fail after it.
    `pause` waits some seconds and raises Cancelled if the asker stops meanwhile.
    """

    run: Callable[[], str]
    check: Callable[[], object] = _check_nothing
    pause: Callable[[float], object] = time.sleep


@frozen
class Paid:
    """The charge of an order as its asker may see it, the stored answer, and whether it is an old one."""

    entry: Entry
    body: str
    again: bool = field(default=False, compare=False)


def pay(ledger: Ledger, order: ChargeOrder, work: Work, locks: Locks) -> Paid:
    """Return the charge and the stored answer of an order; charge and run it if there is none.

    If questions are not shared, the returned entry is always one of this asker.

    Refuses: what the ledger refuses, before anything is run; after that EngineFailure.
    """
    # Threads of this process queue here; other processes are kept apart by the ledger's transaction.
    with locks.of(order.key):
        known = ledger.find(order)
        if known is not None and known.body is not None:
            _hold_back(ledger, known, work.pause)
            return Paid(known.entry, known.body, again=True)
        # What only the store can refuse is refused before the charge.
        work.check()
        settled = _settle(ledger, order, known)
        ran_here = False
        while settled.body is None:
            failpoints.passed("run:before")
            body = _run(ledger, settled, work)
            ran_here = True
            failpoints.passed("run:after")
            if body is not None:
                end = ledger.finish(settled.charge, body)
                # Another process may have noted a failure first: that end holds for all.
                if end.kind == "fail":
                    raise failure()
            # Read back what the ledger holds: the first answer that was stored, perhaps not ours.
            settled = _settle(ledger, order, ledger.find(order))
        if not ran_here:
            _hold_back(ledger, settled, work.pause)
        return Paid(settled.entry, settled.body)


def find_paid(
    ledger: Ledger, who: str, key: str, *, apart: bool, pause: Callable[[float], object]
) -> Paid | None:
    """Return the stored answer of a key that this asker has paid for; None if there is none.

    It is the answer that `pay` would return for an order of this key. Nothing is charged or run,
    and no event or plan is needed. `apart` says that questions are not shared: answers that only
    others have paid for are not found then.
    """
    known = ledger.find_paid(who, key, apart=apart)
    if known is None or known.body is None:
        return None
    _hold_back(ledger, known, pause)
    return Paid(known.entry, known.body, again=True)


def _settle(ledger: Ledger, order: ChargeOrder, known: Settlement | None) -> Settlement:
    """Return an order's stored answer, or a charge under which to run it; charge if need be.

    `known` is what the ledger held before. If another process may be running the charge, wait for
    its answer for up to PATIENCE seconds after the charge.
    """
    settled = known
    if settled is None:
        settled = ledger.settle(order)
    if settled.body is not None or settled.fresh:
        return settled
    end = time.monotonic() + _patience(settled.charge)
    while time.monotonic() < end:
        time.sleep(_POLL_SECONDS)
        again = ledger.find(order)
        if again is None:
            # The pending run failed, which used up its charge.
            if settled.own is not None:
                # An asker who pays apart has paid for exactly that failure.
                raise failure()
            return ledger.settle(order)
        if again.body is not None:
            return again
    return settled


def _hold_back(ledger: Ledger, settled: Settlement, pause: Callable[[float], object]) -> None:
    """Wait until this asker has waited as long as the first run took.

    `settled.own` is the asker's entry beside a colleague's charge. It is None if the charge is the
    asker's own or may be known: then nothing is waited for.
    """
    if settled.own is None:
        return
    first_run = read_time(settled.ended) - read_time(settled.charge.time)
    own_wait = clock.now() - read_time(settled.own.time)
    # A clock that was set back must not lengthen the wait.
    waited = max(own_wait.total_seconds(), 0.0)
    remaining = max(first_run.total_seconds() - waited, 0.0)
    seconds = min(remaining, LONGEST_HOLD)
    if not seconds:
        return
    try:
        pause(seconds)
    except Cancelled:
        # Stopping here must look like stopping a run: same message, and the charge is used up.
        problem = failure()
    else:
        return
    _forgo(ledger, settled.own)
    raise problem


def _forgo(ledger: Ledger, own: Entry) -> None:
    """End a charge of an asker who stopped: asking once more costs once more, as after an own run."""
    with suppress(DiscreetError):
        ledger.fail(own)


def _patience(charge: Entry) -> float:
    """Return how many seconds to wait for the answer of a charge; 0 if the charge is old."""
    age = (clock.now() - read_time(charge.time)).total_seconds()
    # Clocks of several machines differ, so an age below 0 counts as 0.
    waited = min(max(age, 0.0), PATIENCE)
    return PATIENCE - waited


def _run(ledger: Ledger, settled: Settlement, work: Work) -> str | None:
    """Return the text of the run; None if it failed here but another process has stored the answer."""
    try:
        return work.run()
    except Exception as raised:  # noqa: BLE001
        # The exception may tell about the data: only one constant message is raised from here on.
        problem = failure()
        stopped = isinstance(raised, Cancelled)
    if stopped and not settled.fresh:
        # Somebody else's charge: an asker who stops does not end it for the others.
        if settled.own is not None:
            _forgo(ledger, settled.own)
        raise problem
    # The charge stays even if the ledger cannot note the failure; the message must not depend on it.
    with suppress(DiscreetError):
        if ledger.fail(settled.charge).kind == "answer":
            return None
    raise problem
