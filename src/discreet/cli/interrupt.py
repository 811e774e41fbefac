"""What Ctrl-C leaves behind: whether anything was charged, and how to go on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import DiscreetError
from ..ledger import Entry, Ledger
from ..privacy.events.json import from_json


@contextmanager
def told_of_charges(ledger: Ledger, who: str) -> Iterator[None]:
    """Let a Ctrl-C inside carry in words what was charged to somebody since."""
    before = _last(ledger)
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_words(ledger, who, before)) from None


def _last(ledger: Ledger) -> int:
    return ledger.history(last=1)[-1].number


def _words(ledger: Ledger, who: str, before: int) -> str:
    try:
        new = _last(ledger) - before
        found = (
            []
            if new < 1
            else [
                one for one in ledger.history(last=new) if one.who == who and one.kind == "charge"
            ]
        )
        prices = " and ".join(_price(ledger, one) for one in found)
    except DiscreetError:
        return "whether it was charged, `discreet ledger history` tells; asking the same again is free if it was"
    if not found:
        return "nothing was charged by this run; what was charged for this question before still counts"
    entries = ", ".join(str(one.number) for one in found)
    return f"{prices} was charged, entry {entries}; ask the same again: it goes on under that charge, for nothing more"


def _price(ledger: Ledger, charge: Entry) -> str:
    event, book = from_json(charge.event), ledger.terms.filter
    return str(book.stated(event) if book.adds else ledger.price(event, part=charge.part))
