"""Receipts of charges, kept for good by their entry's number in the ledger, to be fetched again.

A receipt states the number that its asker sees; `EntryNumbers` has the ledger's.

Suggested bounds and caps have no receipt.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from ...curator.history import EntryNumbers
from .store import ServiceStore


class Receipts:
    """Receipts of all data sets in the service's store."""

    def __init__(self, store: ServiceStore) -> None:
        self._store = store

    def keep(self, dataset: str, reply: Mapping[str, object], numbers: EntryNumbers) -> None:
        """Keep the receipt of a reply, if it has one; a charge has one receipt."""
        receipt = _receipt_of(reply)
        if receipt is None:
            return
        facts = json.loads(receipt)
        # A stored answer sent again carries the receipt that is already here.
        self._store.ask(
            "INSERT INTO discreet_receipts (dataset, number, person, receipt) VALUES (?, ?, ?, ?) "
            "ON CONFLICT DO NOTHING",
            dataset,
            numbers.in_ledger(facts["who"], facts["number"]),
            facts["who"],
            receipt,
        )

    def find(self, dataset: str, number: int) -> tuple[str, str] | None:
        """Find by the ledger's number: the user who was charged, and the receipt's canonical text."""
        rows = self._store.ask(
            "SELECT person, receipt FROM discreet_receipts WHERE dataset = ? AND number = ?",
            dataset,
            number,
        )
        if not rows:
            return None
        person, receipt = rows[0]
        return str(person), str(receipt)


def fingerprints(reply: Mapping[str, object]) -> str:
    """Return the fingerprints of the questions in a reply, for the log; "" for a refusal."""
    receipt = _receipt_of(reply)
    if receipt is None:
        return ""
    asked = json.loads(receipt)["asked"]
    return " ".join(str(question["fingerprint"]) for question in asked)


def _receipt_of(reply: Mapping[str, object]) -> str | None:
    """Return the receipt in a reply; None for refusals, and for suggested bounds and caps."""
    # A release of several answers has one receipt, which each of its answers carries.
    answers = reply.get("answers", {"": reply})
    first = next(iter(answers.values()))  # type: ignore[attr-defined]
    receipt = first.get("receipt")
    if receipt is None:
        return None
    return str(receipt)
