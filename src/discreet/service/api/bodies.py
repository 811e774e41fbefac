"""Request bodies of stewards: new people, token renewals, allowances.

Each body has one definition, which both the reader and the OpenAPI schema use.
"""

from __future__ import annotations

from ...json_shape import (
    NUMBER,
    JsonField,
    JsonSchema,
    Record,
    choice,
    listing,
    nullable,
    refer,
    text,
)
from ...wire.request import BUDGET
from ..stores.people import NAME

WHO_NAME = JsonField("name", text(pattern=NAME.pattern))
ROLE = JsonField("role", choice("steward", "analyst"), required=False, default="analyst")
DATASETS = JsonField("datasets", listing(text(), "names of data sets"))
DAYS = JsonField("days", refer("Number", NUMBER), required=False, null=True)
# The asterisk stands for everybody who has no allowance of their own.
WHO = JsonField("who", text(pattern=rf"\*|{NAME.pattern}"))
# Null withdraws an allowance, so the field is required and may be null.
BUDGET_SLOT = JsonField("budget", nullable(refer("Budget", BUDGET)))

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
