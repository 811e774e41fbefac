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
back for as long as it took: that it was asked before is not told. Who stops it meanwhile is told what one who stops a
run is told, and has paid, as that one has. A failure after the charge is one constant message, whatever happened, and
the charge stays.
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
"""Seconds after a charge for which others wait for its answer before they run it themselves. A longer wait would only
save work: all who run one charge give the same answer."""
LONGEST_HOLD = 60.0
"""Seconds for which an answer is held back at most: a first run that took longer was broken off and taken up again."""
_PAUSE = 0.02


@frozen
class Locks:
    """One lock for each of 64 groups of keys: threads that ask the same wait for one answer, others do not wait."""

    each: tuple[Lock, ...] = field(default_factory=lambda: tuple(Lock() for _ in range(64)))

    def of(self, key: str) -> Lock:
        """Return the lock of a key."""
        return self.each[int(digest(key)[:8], 16) % len(self.each)]


def _nothing() -> None:
    """Refuse nothing."""


@frozen
class Work:
    """What an order pays for: `run` makes the answer's text; `check` refuses, before the charge, what would fail.

    `pause` waits some seconds, and raises Cancelled if whoever asked says meanwhile that it is to stop.
    """

    run: Callable[[], str]
    check: Callable[[], object] = _nothing
    pause: Callable[[float], object] = time.sleep


@frozen
class Paid:
    """The charge of an order as its asker may see it, the stored answer, and whether the asker had it before."""

    entry: Entry
    body: str
    again: bool = field(default=False, compare=False)


def pay(ledger: Ledger, order: ChargeOrder, work: Work, locks: Locks) -> Paid:
    """Return the charge and the stored answer of an order, running it if it was never answered.

    If questions are not shared, the entry is never somebody else's.

    Raises what the ledger refuses before anything is run; after that, EngineFailure with one constant message.
    """
    with locks.of(order.key):
        known = ledger.find(order)
        if known is not None and known.body is not None:
            _hold(ledger, known, work)
            return Paid(known.entry, known.body, again=True)
        work.check()
        found, ran = _settle(ledger, order, known), False
        while found.body is None:
            failpoints.passed("run:before")
            body = _run(ledger, found, work)
            ran = True
            failpoints.passed("run:after")
            # What is given is what the ledger then finds: the first that was stored.
            if body is not None and ledger.finish(found.charge, body).kind == "fail":
                raise failure()
            found = _settle(ledger, order, ledger.find(order))
        if not ran:
            _hold(ledger, found, work)
        return Paid(found.entry, found.body)


def _settle(ledger: Ledger, order: ChargeOrder, known: Settlement | None) -> Settlement:
    """Find the answer or a charge to run under, waiting for the answer if somebody else may be running it."""
    found = ledger.settle(order) if known is None else known
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


def _hold(ledger: Ledger, found: Settlement, work: Work) -> None:
    """Wait as long as the first asker did, if the asker must not know that there was one."""
    if found.own is None:
        return
    took = (read_time(found.ended) - read_time(found.charge.time)).total_seconds()
    age = (clock.now() - read_time(found.own.time)).total_seconds()
    left = min(max(took - max(age, 0.0), 0.0), LONGEST_HOLD)
    if not left:
        return
    try:
        work.pause(left)
    except Cancelled:
        problem = failure()
    else:
        return
    _forgo(ledger, found.own)
    raise problem


def _forgo(ledger: Ledger, own: Entry) -> None:
    """End what somebody asked apart and stopped: who asks it once more pays once more, as after a run of one's own."""
    with suppress(DiscreetError):
        ledger.fail(own)


def _patience(charge: Entry) -> float:
    """Return how many seconds to wait for the answer of a charge; none if it was made long ago."""
    age = (clock.now() - read_time(charge.time)).total_seconds()
    return PATIENCE - min(max(age, 0.0), PATIENCE)


def _run(ledger: Ledger, found: Settlement, work: Work) -> str | None:
    """Return what was run; None if it failed here, but another process has stored the answer."""
    try:
        return work.run()
    except Exception as raised:  # noqa: BLE001 whatever it was may tell about the data
        problem, stopped = failure(), isinstance(raised, Cancelled)
    if (
        stopped and not found.fresh
    ):  # somebody else's charge: who stops asking does not end it for the others
        if found.own is not None:
            _forgo(ledger, found.own)
        raise problem
    with suppress(
        DiscreetError
    ):  # the charge stays all the same; the message must not depend on why
        if ledger.fail(found.charge).kind == "answer":
            return None
    raise problem
