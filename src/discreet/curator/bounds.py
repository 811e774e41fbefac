"""Suggested bounds through the ledger: charged, run and stored like any question."""

from __future__ import annotations

from fractions import Fraction

from ..answer.suggest import SuggestedBounds, plan_bounds, run_bounds
from ..arithmetic.canonical import hash_json
from ..arithmetic.rational import Number
from ..data.schema import Schema
from ..ledger import Entry
from ..ledger.order import Order
from ..ledger.stores.store import SECOND
from ..mechanisms.reading.budget import read_budget
from ..privacy.events import Batch
from ..privacy.events.json import measure_to_json, to_json
from ..privacy.measures import Measure
from ..query.algebra.tree import Scan
from .body import Body, read_body, write_body
from .old import fits_price
from .pay import Locks, pay
from .stand import Stand

__all__ = ["bounds_of"]


def bounds_of(
    stand: Stand, schema: Schema, column: str, spend: Measure, *, tail: Number, who: str, why: str, locks: Locks
) -> SuggestedBounds:
    """Suggest bounds of a column; the same request about the same version costs nothing."""
    name, _ = schema.column(column)
    plan = plan_bounds(name, Scan(schema), spend=spend, tail=tail)
    asked = hash_json({"bounds": schema.to_dict(), "column": name, "tail": str(tail)})
    key = SECOND + hash_json({"key": 2, "bounds": asked, "spend": measure_to_json(read_budget(spend))})
    event = Batch(plan.events)
    price = stand.ledger.price(event)

    def run() -> str:
        found = run_bounds(plan, stand.engine)
        return write_body(Body(price, {"low": str(found.low), "high": str(found.high)}))

    def fits(charge: Entry, body: str) -> bool:
        return charge.event == to_json(event) or fits_price(read_body(body).price, spend, price)

    order = Order(who, why, asked, key, event, fits=fits)
    ends = read_body(pay(stand.ledger, order, run, locks)[1]).answers
    return SuggestedBounds(Fraction(str(ends["low"])), Fraction(str(ends["high"])), plan.events)
