"""Charge, run, finish: the only place where a question has effects, in this order.

    an answer is stored under the key           it is given again; nothing is charged, no store is touched
    a charge is pending (the process died)      it is run again under that charge: nothing has gone out yet
    otherwise                                   charge, durably; then run; then store the answer, durably; then give it

So a crash may waste budget and never leaks. What is given is always what the ledger holds: if two processes ran the
same charge, the first answer that was stored is the one that both give, and one draw of noise is all that goes out.
A failure after the charge is one constant message, whatever happened, and the charge stays.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock

from ..data.columns.keys import KeyValue as Key
from ..engines.base import failure
from ..errors import DiscreetError
from ..ledger import Entry, Ledger, steps
from ..privacy.events import Event
from ..privacy.measures import Measure

__all__ = ["Locks", "Order", "paid"]


@dataclass(frozen=True, slots=True)
class Locks:
    """One lock for each of 64 groups of keys: threads that ask the same wait for one answer, others do not wait."""

    each: tuple[Lock, ...] = field(default_factory=lambda: tuple(Lock() for _ in range(64)))

    def of(self, key: str) -> Lock:
        """Give the lock of a key, which is hexadecimal text."""
        return self.each[int(key[:8], 16) % len(self.each)]


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be charged: to whom, for which event, and the key under which the answer is stored."""

    who: str
    why: str
    question: str
    key: str
    event: Event
    part: Key | None


def paid(ledger: Ledger, order: Order, run: Callable[[Measure], str], locks: Locks) -> tuple[Entry, str]:
    """Give the charge and the stored answer of an order, running it if it was never answered.

    `run` makes the answer's text, once it is paid for; it is told the price in the ledger's measure.

    Raises what the ledger refuses before anything is run; after that, EngineFailure with one constant message.
    """
    with locks.of(order.key):
        found = ledger.answer(order.key)
        if found is not None:
            ledger.left(order.who)  # whoever has no allowance is refused also what was paid for by others
            return found
        price = ledger.price(order.event, part=order.part)
        charge = ledger.pending(order.key, order.who) or _charged(ledger, order)
        steps.passed("run:before")
        body = _run(ledger, charge, lambda: run(price))
        steps.passed("run:after")
        ledger.finish(charge, body)
        kept = ledger.answer(order.key)
    if kept is None:  # pragma: no cover - it has just been stored; what a ledger does not hold is never shown
        raise failure()
    return kept


def _charged(ledger: Ledger, order: Order) -> Entry:
    return ledger.charge(
        order.event, who=order.who, why=order.why, question=order.question, key=order.key, part=order.part
    )


def _run(ledger: Ledger, charge: Entry, run: Callable[[], str]) -> str:
    try:
        return run()
    except Exception:  # noqa: BLE001 whatever it was may tell about the data
        problem = failure()
    with suppress(DiscreetError):  # the charge stays all the same; the message must not depend on why
        ledger.fail(charge)
    raise problem
