"""Receipts that were given out, kept for good under their number in the ledger, so that they can be fetched again."""

from __future__ import annotations

import json
from collections.abc import Mapping

from .store import ServiceStore

__all__ = ["Receipts", "fingerprints"]


class Receipts:
    """The receipts of all data sets, in the service's store."""

    def __init__(self, store: ServiceStore) -> None:
        self._store = store

    def keep(self, dataset: str, reply: Mapping[str, object]) -> None:
        """Keep the receipt of a reply to `sql` or `release`; one charge has one receipt."""
        text = _text(reply)
        facts = json.loads(text)
        self._store.ask(
            "INSERT INTO discreet_receipts (dataset, number, person, receipt) VALUES (?, ?, ?, ?) "
            "ON CONFLICT DO NOTHING",
            dataset,
            facts["number"],
            facts["who"],
            text,
        )

    def find(self, dataset: str, number: int) -> tuple[str, str] | None:
        """Find who was charged, and the receipt's canonical text."""
        rows = self._store.ask(
            "SELECT person, receipt FROM discreet_receipts WHERE dataset = ? AND number = ?", dataset, number
        )
        return (str(rows[0][0]), str(rows[0][1])) if rows else None


def fingerprints(reply: Mapping[str, object]) -> str:
    """Name what was asked without its words, for the log; nothing for a refusal."""
    if "error" in reply:
        return ""
    return " ".join(str(one["fingerprint"]) for one in json.loads(_text(reply))["asked"])


def _text(reply: Mapping[str, object]) -> str:
    """Find the receipt in a reply to `sql` or `release`; the answers of one release share it."""
    answers = reply.get("answers", {"": reply})
    return str(next(iter(answers.values()))["receipt"])  # type: ignore[attr-defined]
