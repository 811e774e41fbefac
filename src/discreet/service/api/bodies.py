"""Request bodies of stewards: new people, token renewals, allowances.

Each body has one definition, which both the reader and the OpenAPI schema use.
"""

from __future__ import annotations

from ...wire.record import Record, Slot
from ...wire.request import BUDGET
from ...wire.shape import NUMBER, JsonSchema, choice, listing, nullable, refer, text
from ..stores.people import NAME

WHO_NAME = Slot("name", text(pattern=NAME.pattern))
ROLE = Slot("role", choice("steward", "analyst"), required=False, default="analyst")
DATASETS = Slot("datasets", listing(text(), "names of data sets"))
DAYS = Slot("days", refer("Number", NUMBER), required=False, null=True)
# The asterisk stands for everybody who has no allowance of their own.
WHO = Slot("who", text(pattern=rf"\*|{NAME.pattern}"))
# Null withdraws an allowance, so the field is required and may be null.
BUDGET_SLOT = Slot("budget", nullable(refer("Budget", BUDGET)))

NEWCOMER = Record(
    (WHO_NAME, ROLE, DATASETS, DAYS), example={"name": "ana", "datasets": ["people"], "days": 90}
)
RENEWAL = Record((DAYS,), example={"days": 30})
ALLOWANCE = Record((WHO, BUDGET_SLOT), example={"who": "ana", "budget": {"epsilon": "1/2"}})

BODIES: dict[str, JsonSchema] = {
    "PersonRequest": NEWCOMER.schema,
    "TokenRequest": RENEWAL.schema,
    "AllowanceRequest": ALLOWANCE.schema,
}
