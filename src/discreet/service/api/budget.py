"""Endpoints of the ledger: remaining budget, spending, history, receipts.

Stewards can also set allowances, verify the hash chain and export it.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from ...errors import NotAllowed
from ...json_shape import JsonObject
from ...privacy.budget_text import budget_to_table
from ...wire.history import history_reply
from ...wire.reply import entry_to_json, remaining_to_json
from ..state import State
from ..stores.people import NAME
from .endpoint import ApiCall, Reply
from .schemas import ALLOWANCE, BUDGET_FIELD, WHO

_MAX_ENTRIES = 1000
_DEFAULT_ENTRIES = 100


def get_left(state: State, call: ApiCall) -> Reply:
    """Return what is left for this person, and for stewards what is left for all together.

    Analysts who do not share questions are told their own budget in both places: what is left for
    all tells when a colleague has asked something.
    """
    ledger = state.datasets.ledger(call.dataset)
    own = ledger.left(call.person.name)
    everybody = own
    if _sees_all(state, call):
        everybody = ledger.left()
    remaining = None
    if ledger.terms.filter.adds:
        # The largest single charges are defined for an (ε, δ) budget under a sum of prices.
        remaining = remaining_to_json(ledger.room(call.person.name))
    facts: JsonObject = {
        "left": budget_to_table(own),
        "left_for_all": budget_to_table(everybody),
        "budget": budget_to_table(ledger.promise()),
        "text": str(own),
        "room": remaining,
    }
    if ledger.terms.blocks is not None:
        blocks = ledger.left_by_block(call.person.name)
        facts["blocks"] = [{"part": part, "left": budget_to_table(left)} for part, left in blocks]
    return Reply(facts)


def get_spent(state: State, call: ApiCall) -> Reply:
    """Return the spending of this person, and for stewards of all together; see `get_left`."""
    ledger = state.datasets.ledger(call.dataset)
    own = ledger.spent(call.person.name)
    everybody = own
    if _sees_all(state, call):
        everybody = ledger.spent()
    return Reply(
        {
            "spent": budget_to_table(own),
            "spent_by_all": budget_to_table(everybody),
            "text": str(own),
        }
    )


def _sees_all(state: State, call: ApiCall) -> bool:
    """Return whether a person may know of the spending of others."""
    shared = state.config.datasets[call.dataset].share_questions
    return shared or call.person.role == "steward"


def list_history(state: State, call: ApiCall) -> Reply:
    """List the last ledger entries: one's own charges and allowances; for stewards all entries.

    The entry of a stored answer has the time at which the query of the data was done, to the
    microsecond. No analyst sees it (timing side channel). `asked` of the reply maps entry numbers
    to the texts of the questions.
    """
    person = call.person.name
    last = call.number("last", _MAX_ENTRIES) or _DEFAULT_ENTRIES
    whose: str | None = person
    if call.person.role == "steward":
        whose = None
    # A long ledger takes long to read: it is read in the worker processes for free requests.
    return Reply(
        state.planning_pool.ask(person, call.dataset, history_reply, whose, last, gone=call.gone)
    )


def get_receipt(state: State, call: ApiCall) -> Reply:
    """Return the receipt of a charge by the number of its entry as the caller sees it.

    | caller | number |
    |---|---|
    | an analyst | the analyst's own; else the ledger's, as receipts from before own numbers have it |
    | a steward | the ledger's; or the own number of a person, after the name: `ana:2` |

    Refuses: a missing receipt and another person's receipt in the same words.
    """
    who, _, digits = call.path["number"].rpartition(":")
    number = -1
    # Short digit strings only: int() is slow for very long ones, and no ledger is that long.
    if len(digits) < 16 and digits.isdecimal():
        number = int(digits)
    steward = call.person.role == "steward"
    if not steward:
        if who not in ("", call.person.name):
            number = -1
        who = call.person.name
    if not who:
        stored = state.receipts.find(call.dataset, number)
    else:
        numbers = state.datasets.curator(call.dataset, call.person.name).context.numbers
        stored = state.receipts.find(call.dataset, numbers.in_ledger(who, number))
    if stored is None and not steward:
        stored = state.receipts.find(call.dataset, number)
        # Else an analyst could try out which numbers the ledger has given to the own entries.
        if stored is not None and json.loads(stored[1])["number"] != number:
            stored = None
    # One message for a missing and a foreign receipt, so that it does not tell which exist.
    if stored is None or (stored[0] != call.person.name and not steward):
        raise NotAllowed("there is no receipt of yours under this number")
    return Reply(stored[1])


def set_allowance(state: State, call: ApiCall) -> Reply:
    """Set a person's allowance, a limit under the budget of all, or withdraw it with null."""
    fields = ALLOWANCE.read(call.json())
    who = WHO.of(fields)
    allowance = BUDGET_FIELD.of(fields)
    if not (who == "*" or NAME.fullmatch(who)):
        raise NotAllowed("who must be the name of a person, or * for everyone who is not named")
    entry = state.datasets.ledger(call.dataset).allow(who, allowance)
    return Reply({"entry": entry_to_json(entry)}, 201)


def verify_ledger(state: State, call: ApiCall) -> Reply:
    """Verify the ledger: check every hash of its chain and price every charge again."""
    verdict = state.datasets.ledger(call.dataset).verify()
    return Reply({"verified": True, "text": str(verdict)})


def export_ledger(state: State, call: ApiCall) -> Reply:
    """Return the chain as lines of JSON, which a reviewer can check without this service."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.jsonl"
        state.datasets.ledger(call.dataset).export(path)
        return Reply(path.read_text(encoding="utf-8"), kind="application/x-ndjson")
