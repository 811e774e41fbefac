"""Suggested bounds and caps through the ledger: charged, run and stored like any question."""

from __future__ import annotations

from fractions import Fraction

from ...answer.suggest import BoundsPlan, SuggestedBounds, SuggestedCaps, plan_bounds, plan_caps, run_bounds
from ...arithmetic.canonical import hash_json
from ...arithmetic.rational import Number
from ...data.schema import Schema
from ...ledger import Entry
from ...ledger.order import Order
from ...ledger.stores.store import SECOND
from ...mechanisms.reading.budget import read_budget
from ...privacy.events import Batch
from ...privacy.events.json import measure_to_json, to_json
from ...privacy.measures import Measure
from ...query.algebra.tree import Scan
from ..body import Body, read_body, write_body
from ..explain import check_rows
from ..old import fits_price
from ..pay import Locks, Work, pay
from ..stand import Stand

__all__ = ["bounds_of", "caps_of"]


def bounds_of(
    stand: Stand, schema: Schema, column: str, spend: Measure, *, tail: Number | None, who: str, why: str, locks: Locks
) -> SuggestedBounds:
    """Suggest bounds of a column; the same request about the same version costs nothing."""
    name, _ = schema.column(column)
    plan = plan_bounds(name, Scan(schema), spend=spend, tail=tail)
    said = plan.releases[0].need.at if tail is None else tail  # 1/100 without a size, as 0.1.0 wrote it
    asked = hash_json({"bounds": schema.to_dict(), "column": name, "tail": str(said)})
    text = f"bounds of {name} in {schema.name}"
    low, high = _found(stand, plan, asked, spend, text=text, who=who, why=why, locks=locks)
    return SuggestedBounds(low, high, plan.events)


def caps_of(stand: Stand, schema: Schema, spend: Measure, *, who: str, why: str, locks: Locks) -> SuggestedCaps:
    """Suggest a cap on a person's rows; the same request about the same version costs nothing."""
    plan = plan_caps(Scan(schema), spend=spend)
    asked = hash_json({"caps": schema.to_dict()})
    text = f"caps on the rows of one person in {schema.name}"
    _, high = _found(stand, plan, asked, spend, text=text, who=who, why=why, locks=locks)
    return SuggestedCaps(max(1, int(high)), plan.events)


def _found(
    stand: Stand, plan: BoundsPlan, asked: str, spend: Measure, *, text: str, who: str, why: str, locks: Locks
) -> tuple[Fraction, Fraction]:
    key = SECOND + hash_json({"key": 2, "bounds": asked, "spend": measure_to_json(read_budget(spend))})
    event = Batch(plan.events)
    price = stand.ledger.price(event)

    def run() -> str:
        found = run_bounds(plan, stand.engine, bits=stand.bits)
        return write_body(Body(price, {"low": str(found.low), "high": str(found.high)}))

    def fits(charge: Entry, body: str) -> bool:
        return charge.event == to_json(event) or fits_price(read_body(body).price, spend, price)

    order = Order(who, why, asked, key, event, fits=fits, text=text, apart=not stand.share_questions)
    work = Work(run, lambda: check_rows(plan.releases[0].need.tally.rows, stand.engine), stand.pause)
    ends = read_body(pay(stand.ledger, order, work, locks).body).answers
    return Fraction(str(ends["low"])), Fraction(str(ends["high"]))
