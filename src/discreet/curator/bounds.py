"""Suggested bounds through the ledger: charged, run and stored like any question."""

from __future__ import annotations

from fractions import Fraction

from ..answer.suggest import SuggestedBounds, plan_bounds, run_bounds
from ..arithmetic.rational import Number
from ..data.schema import Schema
from ..privacy.events import Batch
from ..privacy.events.json import to_json
from ..privacy.measures import Measure
from ..query.algebra.tree import Scan
from .paid import Locks, Order, paid
from .receipt import hash_json
from .stand import Stand
from .write import body_of, opened

__all__ = ["bounds_of"]


def bounds_of(
    stand: Stand, schema: Schema, column: str, spend: Measure, *, tail: Number, who: str, why: str, locks: Locks
) -> SuggestedBounds:
    """Suggest bounds of a column; the same request about the same version costs nothing."""
    name, _ = schema.column(column)
    plan = plan_bounds(name, Scan(schema), spend=spend, tail=tail)
    asked = hash_json({"bounds": schema.to_dict(), "column": name, "tail": str(tail)})
    key = hash_json({"asked": asked, "events": [to_json(event) for event in plan.events]})

    def run(price: Measure) -> str:
        found = run_bounds(plan, stand.engine)
        return body_of(price, {"low": str(found.low), "high": str(found.high)})

    order = Order(who, why, asked, key, Batch(plan.events), None)
    _, ends = opened(paid(stand.ledger, order, run, locks)[1])
    return SuggestedBounds(Fraction(str(ends["low"])), Fraction(str(ends["high"])), plan.events)
