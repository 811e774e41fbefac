"""Suggested bounds and caps through the ledger: charged, run and stored like any question."""

from __future__ import annotations

from fractions import Fraction

from ...answer.suggest import (
    BoundsPlan,
    SuggestedBounds,
    SuggestedCaps,
    plan_bounds,
    plan_caps,
    run_bounds,
)
from ...arithmetic.canonical import hash_json
from ...arithmetic.rational import Number
from ...data.schema import Schema
from ...errors import InvalidArgument
from ...frozen import frozen
from ...ledger import Entry
from ...ledger.charge_order import ChargeOrder
from ...ledger.stores.store import SECOND
from ...mechanisms.reading.budget import read_budget
from ...plan.planner import Planner
from ...privacy.events import Batch, Event
from ...privacy.events.json import measure_to_json, to_json
from ...privacy.measures import Measure
from ...query.algebra.tree import Question, Scan
from ...query.python.table import Table
from ...query.python.truncation import truncation_question
from ..explain import check_rows
from ..legacy_answers import fits_price
from ..pay import Work, pay
from ..stored_answer import Body, read_body, write_body
from .learn import Learner


@frozen
class Wanted:
    """What is to be suggested: the plan, its price, the fingerprint of the request and its words."""

    plan: BoundsPlan
    spend: Measure
    asked: str
    text: str

    @property
    def event(self) -> Event:
        """What a ledger is charged with."""
        return Batch(self.plan.events)


def table_of(planner: Planner, name: object) -> Table:
    """Return a declared table by its name, in any case, to build questions on; refuses others, and public ones."""
    return Table(_schema(planner, name), planner.public_values)


def _schema(planner: Planner, name: object) -> Schema:
    for schema in planner.schemas.values():
        if isinstance(name, str) and schema.name.casefold() == name.casefold():
            return schema
    raise InvalidArgument(
        f"there is no table {name!r} here; there are {', '.join(planner.schemas)}"
    )


def wanted_bounds(
    planner: Planner, table: str, column: str, spend: Measure, tail: Number | None
) -> Wanted:
    """Return what suggesting bounds of a column would do; nothing is touched or spent."""
    table_of(planner, table)
    schema = _schema(planner, table)
    name, _ = schema.column(column)
    plan = plan_bounds(name, Scan(schema), spend=spend, tail=tail)
    said = (
        plan.releases[0].need.at if tail is None else tail
    )  # 1/100 without a size, as 0.1.0 wrote it
    asked = hash_json({"bounds": schema.to_dict(), "column": name, "tail": str(said)})
    return Wanted(plan, spend, asked, f"bounds of {name} in {schema.name}")


def wanted_caps(planner: Planner, table: str, spend: Measure) -> Wanted:
    """Return what suggesting a cap on a person's rows would do; nothing is touched or spent."""
    table_of(planner, table)
    schema = _schema(planner, table)
    plan, asked = plan_caps(Scan(schema), spend=spend), hash_json({"caps": schema.to_dict()})
    return Wanted(plan, spend, asked, f"caps on the rows of one person in {schema.name}")


def cut_of(planner: Planner, table: str, up_to: int, of: str | None) -> Question:
    """Return the question of what a declared table's cap on a person's rows cuts off."""
    table_of(planner, table)
    return truncation_question(_schema(planner, table), up_to=up_to, of=of)


def bounds_of(asker: Learner, wanted: Wanted, why: str) -> SuggestedBounds:
    """Suggest bounds of a column; the same request about the same version costs nothing."""
    low, high = _find(asker, wanted, why)
    return SuggestedBounds(low, high, wanted.plan.events)


def caps_of(asker: Learner, wanted: Wanted, why: str) -> SuggestedCaps:
    """Suggest a cap on a person's rows; the same request about the same version costs nothing."""
    _, high = _find(asker, wanted, why)
    return SuggestedCaps(max(1, int(high)), wanted.plan.events)


def _find(asker: Learner, wanted: Wanted, why: str) -> tuple[Fraction, Fraction]:
    stand, plan, spend, event = asker.stand, wanted.plan, wanted.spend, wanted.event
    key = SECOND + hash_json(
        {"key": 2, "bounds": wanted.asked, "spend": measure_to_json(read_budget(spend))}
    )
    price = stand.ledger.price(event)

    def run() -> str:
        found = run_bounds(plan, stand.engine, bits=stand.bits)
        return write_body(Body(price, {"low": str(found.low), "high": str(found.high)}))

    def fits(charge: Entry, body: str) -> bool:
        return charge.event == to_json(event) or fits_price(read_body(body).price, spend, price)

    apart = not stand.share_questions
    order = ChargeOrder(
        asker.who, why, wanted.asked, key, event, fits=fits, text=wanted.text, apart=apart
    )
    work = Work(
        run, lambda: check_rows(plan.releases[0].need.tally.rows, stand.engine), stand.pause
    )
    ends = read_body(pay(stand.ledger, order, work, asker.locks).body).answers
    return Fraction(str(ends["low"])), Fraction(str(ends["high"]))
