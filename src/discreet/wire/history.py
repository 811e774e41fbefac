"""Ledger history as a reply: all entries for stewards, only their own entries for analysts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..curator.history import history_of
from ..json_shape import JsonObject
from ..ledger.review.history import OWN_KINDS
from .reply import entry_to_json

if TYPE_CHECKING:
    from ..curator import Curator


def history_reply(curator: Curator, whose: str | None, last: int) -> JsonObject:
    """List the `last` newest ledger entries: of everybody if `whose` is None, else of one analyst.

    An analyst sees entries of OWN_KINDS only.
    """
    if whose is None:
        entries = curator.ledger.history(None, last)
    else:
        entries = history_of(curator.context, whose, last, OWN_KINDS)
    # Names of a JSON object are texts.
    asked = {str(number): text for number, text in entries.asked.items()}
    prices = {str(number): text for number, text in entries.prices.items()}
    return {
        "entries": list(map(entry_to_json, entries)),
        "filter": entries.filter.to_json(),
        "asked": asked,
        "prices": prices,
    }
