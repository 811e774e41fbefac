"""Daily allowance of one person, as the steward sets it under `[wire]`.

Dashboards that refresh by themselves write dates out as literals, so every day brings new questions.
The allowance stops that; the ledger's budget and allowances hold in any case.
"""

from __future__ import annotations

from datetime import UTC, datetime

from ...curator import Curator
from ...curator.explanation import after
from ...errors import BudgetExceeded
from ...privacy.events.json import from_json
from ...privacy.measures import Measure

_MAX_ENTRIES = 10_000
"""Entries of a person that are read, newest first; a day with more has no allowance left."""


def check_day(curator: Curator, per_day: Measure, price: Measure) -> None:
    """Refuse a question that exceeds what its person may spend today (UTC), with all paid today.

    Two questions at the same moment may both pass: this is a brake, not the guarantee.
    """
    today = datetime.now(UTC).date().isoformat()
    left: Measure | None = per_day
    entries = list(curator.history(last=_MAX_ENTRIES))
    if len(entries) == _MAX_ENTRIES and entries[0].time >= today:
        # The oldest entry that was read is of today too: there may be more that were not read.
        left = None
    for entry in entries:
        charged = entry.kind in ("charge", "again") and entry.event is not None
        if charged and entry.time >= today and left is not None:
            left = after(left, curator.ledger.price(from_json(entry.event), part=entry.part))
    rest = None if left is None else after(left, price)
    if rest is None:
        raise BudgetExceeded(
            f"it costs {price}, and of the {per_day} of a day {left or 'nothing'} is left; "
            "ask tomorrow, or what was answered before, which is free",
            asked=price,
            left=left or "nothing",
        )
