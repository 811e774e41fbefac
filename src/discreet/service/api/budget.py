"""Ways to the books: what is left and spent, who did what, receipts; for stewards also allowances and proofs."""

from __future__ import annotations

import tempfile
from pathlib import Path

from ...errors import NotAllowed
from ...privacy.budget_text import budget_to_words
from ...wire.reply import entry_to_json, remaining_to_json
from ..state import State
from ..stores.people import NAME
from .bodies import ALLOWANCE, BUDGET_SLOT, WHO
from .endpoint import ApiCall, Reply
from .handlers import history

MOST_ENTRIES = 1000


def get_left(state: State, call: ApiCall) -> Reply:
    """Return what this person may still spend, and what is left for all; never more than that."""
    state.datasets.check(call.person, call.dataset)
    ledger = state.datasets.ledger(call.dataset)
    return Reply(
        {
            "left": budget_to_words(ledger.left(call.person.name)),
            "left_for_all": budget_to_words(ledger.left()),
            "budget": budget_to_words(ledger.promise()),
            "text": str(ledger.left(call.person.name)),
            "room": remaining_to_json(ledger.room(call.person.name))
            if ledger.terms.filter.adds
            else None,
        }
    )


def get_spent(state: State, call: ApiCall) -> Reply:
    """Return what this person has spent, and all together."""
    state.datasets.check(call.person, call.dataset)
    ledger = state.datasets.ledger(call.dataset)
    mine, everybody = ledger.spent(call.person.name), ledger.spent()
    return Reply(
        {
            "spent": budget_to_words(mine),
            "spent_by_all": budget_to_words(everybody),
            "text": str(mine),
        }
    )


def list_history(state: State, call: ApiCall) -> Reply:
    """List the last entries of the ledger: one's own charges and allowances; a steward sees everything.

    An answer's entry says when the store was done, to the microsecond: no analyst is shown that. `asked` has the texts
    of what was asked, by the numbers of the entries.
    """
    state.datasets.check(call.person, call.dataset)
    last = call.number("last", MOST_ENTRIES) or 100
    whose = None if call.person.role == "steward" else call.person.name
    return Reply(
        state.desk.ask(call.person.name, call.dataset, history, whose, last, gone=call.gone)
    )


def get_receipt(state: State, call: ApiCall) -> Reply:
    """Return the receipt of a charge, by its number in the ledger: to whoever was charged, and to stewards."""
    state.datasets.check(call.person, call.dataset)
    number = (
        int(call.path["number"])
        if len(call.path["number"]) < 16 and call.path["number"].isdecimal()
        else -1
    )
    found = state.receipts.find(call.dataset, number)
    if found is None or (found[0] != call.person.name and call.person.role != "steward"):
        raise NotAllowed("there is no receipt of yours under this number")
    return Reply(found[1])


def set_allowance(state: State, call: ApiCall) -> Reply:
    """Return somebody an allowance under the budget, or withdraw it with null."""
    state.datasets.check(call.person, call.dataset)
    found = ALLOWANCE.read(call.json())
    who, share = WHO.of(found), BUDGET_SLOT.of(found)
    if not (who == "*" or NAME.fullmatch(who)):
        raise NotAllowed("who must be the name of a person, or * for everyone who is not named")
    return Reply(
        {"entry": entry_to_json(state.datasets.ledger(call.dataset).allow(who, share))}, 201
    )


def verify_ledger(state: State, call: ApiCall) -> Reply:
    """Walk the ledger's chain, check every hash and price every charge again."""
    state.datasets.check(call.person, call.dataset)
    verdict = state.datasets.ledger(call.dataset).verify()
    return Reply({"verified": True, "text": str(verdict)})


def export_ledger(state: State, call: ApiCall) -> Reply:
    """Return the whole chain as lines of JSON, which a reviewer can check without this service."""
    state.datasets.check(call.person, call.dataset)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.jsonl"
        state.datasets.ledger(call.dataset).export(path)
        return Reply(path.read_text(encoding="utf-8"), kind="application/x-ndjson")
