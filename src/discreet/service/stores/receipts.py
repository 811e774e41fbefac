"""Receipts that were given out, kept for good under their number in the ledger, so that they can be fetched again."""

from __future__ import annotations

import json
from collections.abc import Mapping

from .store import ServiceStore


class Receipts:
    """The receipts of all data sets, in the service's store."""

    def __init__(self, store: ServiceStore) -> None:
        self._store = store

    def keep(self, dataset: str, reply: Mapping[str, object]) -> None:
        """Keep the receipt of a reply, if it has one; one charge has one receipt."""
        text = _text(reply)
        if text is None:
            return
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
            "SELECT person, receipt FROM discreet_receipts WHERE dataset = ? AND number = ?",
            dataset,
            number,
        )
        return (str(rows[0][0]), str(rows[0][1])) if rows else None


def fingerprints(reply: Mapping[str, object]) -> str:
    """Name what was asked without its words, for the log; nothing for a refusal."""
    text = _text(reply)
    return (
        ""
        if text is None
        else " ".join(str(one["fingerprint"]) for one in json.loads(text)["asked"])
    )


def _text(reply: Mapping[str, object]) -> str | None:
    """Find the receipt in a reply; the answers of one release share it. Refusals and suggested bounds have none."""
    answers = reply.get("answers", {"": reply})
    found = next(iter(answers.values())).get("receipt")  # type: ignore[attr-defined]
    return None if found is None else str(found)
