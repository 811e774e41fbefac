"""What is asked of a curator, as a ledger knows it: an event, a key, a name, a part."""

from __future__ import annotations

from collections.abc import Mapping

from ..data.columns.keys import Key
from ..errors import InvalidArgument
from ..ledger import Parts
from ..plan.asked.terms import Terms
from ..plan.plan import Plan
from ..plan.text.plan import share_text
from ..privacy.events import Batch, Event
from ..privacy.events.json import to_json
from ..query.text.question import fingerprint
from .part import part_of
from .receipt import hash_json

__all__ = ["event_of", "key_of", "part_of_all", "question_of"]

FORMAT = 1
"""Of the text behind a key; ledgers keep keys, so it changes only with a new number."""


def event_of(plans: Mapping[str, Plan]) -> Event:
    """Give all that will be done as one event, to be charged at once.

    Refuses plans that release nothing: whatever is shown must have been paid for.
    """
    events = [event for plan in plans.values() for event in plan.events]
    if not events:
        raise InvalidArgument("there is nothing to release, so there is nothing to pay for; ask for an aggregate")
    return events[0] if len(events) == 1 else Batch(events)


def key_of(plans: Mapping[str, Plan], terms: Terms) -> str:
    """Name what will come out: equal questions about equal versions, with equal noise, have equal keys."""
    asked = [
        {
            "name": name,
            "fingerprint": fingerprint(plan.question),
            "events": [to_json(event) for event in plan.events],
            "shares": [share_text(release.want.tally.share) for release in plan.releases],
        }
        for name, plan in plans.items()
    ]
    return hash_json({"key": FORMAT, "asked": asked, "level": repr(terms.level), "nonnegative": terms.nonnegative})


def question_of(plans: Mapping[str, Plan]) -> str:
    """Name what was asked, as the ledger notes it: a question's fingerprint, or one for several by name."""
    prints = {name: fingerprint(plan.question) for name, plan in plans.items()}
    return prints[""] if list(prints) == [""] else hash_json(prints)


def part_of_all(plans: Mapping[str, Plan], parts: Parts | None) -> Key | None:
    """Say which part all the questions touch and no other; None if there is no such part."""
    found = [part_of(plan.question, parts) for plan in plans.values()]
    same = all(part == found[0] and type(part) is type(found[0]) for part in found)
    return found[0] if found and same else None
