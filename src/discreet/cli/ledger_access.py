"""Ledgers of commands: open one that exists; after Ctrl-C report the charges and how to go on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..connection import is_server
from ..errors import DiscreetError, InvalidArgument
from ..ledger import Entry, Ledger, open_ledger


def open_existing(where: str, name: str = "main") -> Ledger:
    """Open a ledger that must exist; refuses a file that is not there, and creates none."""
    # Checked here: `open_ledger` would take a missing file for a new ledger.
    if not is_server(where) and not Path(where).exists():
        raise InvalidArgument(
            f"{where} is not there; make it by: discreet ledger create {where} --epsilon 3"
        )
    return open_ledger(where, name=name)


@contextmanager
def report_charges_on_interrupt(ledger: Ledger, who: str) -> Iterator[None]:
    """Add to a Ctrl-C inside the context which charges `who` has paid since it began."""
    before = _last_number(ledger)
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_charges_since(ledger, who, before)) from None


def _last_number(ledger: Ledger) -> int:
    return ledger.history(last=1)[-1].number


def _charges_since(ledger: Ledger, who: str, before: int) -> str:
    """Say in a sentence what `who` was charged since entry `before`, and how to go on."""
    try:
        charges, prices = _charges_after(ledger, who, before)
    except DiscreetError:
        # The ledger may be busy or away: the message must come all the same.
        return (
            "whether it was charged, `discreet ledger history` tells; "
            "asking the same again is free if it was"
        )
    if not charges:
        return (
            "nothing was charged by this run; "
            "what was charged for this question before still counts"
        )
    entries = ", ".join(str(charge.number) for charge in charges)
    return (
        f"{' and '.join(prices)} was charged, entry {entries}; "
        "ask the same again: it goes on under that charge, for nothing more"
    )


def _charges_after(ledger: Ledger, who: str, before: int) -> tuple[list[Entry], list[str]]:
    """Return the charges of a person since an entry, and their prices."""
    new = _last_number(ledger) - before
    if new < 1:
        return [], []
    history = ledger.history(last=new)
    charges = [entry for entry in history if entry.who == who and entry.kind == "charge"]
    return charges, [history.prices.get(charge.number, "its price") for charge in charges]
