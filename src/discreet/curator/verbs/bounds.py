"""Private suggestions of clipping and contribution bounds, charged, run and stored as questions are.

Guarantee: the charge is durable before a row is read, and the same request costs nothing again.
Refuses: before the charge, what the planner, the ledger or the engine would refuse.
Law: tests/curator/test_curator.py, tests/answer/test_suggest.py
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from fractions import Fraction

from ...answer.body import Body, made_by, read_body, write_body
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
from ...ledger.stores.store import SECOND_FORMAT
from ...mechanisms.reading.value import read_budget
from ...plan.planner import Planner
from ...privacy.events import Batch, Event
from ...privacy.events.json import Json, measure_to_json, to_json
from ...privacy.measures import Measure
from ...query.algebra.tally import RowShare
from ...query.algebra.tree import Question, Scan
from ...query.python.table import Table
from ...query.python.truncation import truncation_question
from ..answer_key import MEANING
from ..charge_request import fits_price
from ..explain import check_rows
from ..pay import Work, pay
from .learn import Learner


@frozen
class Wanted:
    """Planned request for a suggestion of bounds or caps.

    `asked` is the fingerprint of the request, `text` its description for the history. `per_group`
    says that a person's rows in one group are to be capped, not all of them.
    """

    plan: BoundsPlan
    spend: Measure
    asked: str
    text: str
    per_group: bool = False

    @property
    def event(self) -> Event:
        """The event that a ledger is charged with."""
        return Batch(self.plan.events)


def table_of(planner: Planner, name: object) -> Table:
    """Return a declared table by its name, in any case, to build questions on.

    Refuses: names of no table, and public tables.
    """
    return Table(_schema(planner, name), planner.public_values)


def _schema(planner: Planner, name: object) -> Schema:
    for schema in planner.schemas.values():
        if isinstance(name, str) and schema.name.casefold() == name.casefold():
            return schema
    known = ", ".join(planner.schemas)
    raise InvalidArgument(f"there is no table {name!r} here; there are {known}")


def plan_suggested_bounds(
    planner: Planner, table: str, column: str, spend: Measure, tail: Number | None
) -> Wanted:
    """Plan the suggestion of bounds for a column; no row is read and nothing spent.

    `tail` is the fraction of rows that may lie beyond each bound. If it is None, it follows from
    the declared size and the spend.
    """
    # Table(…) refuses public tables, whose bounds need no noise.
    table_of(planner, table)
    schema = _schema(planner, table)
    name, _ = schema.column(column)
    plan = plan_bounds(name, Scan(schema), spend=spend, tail=tail)
    # The fingerprint holds the tail that is used; without a size it is 1/100, as release 0.1.0 wrote it.
    used_tail: object = tail
    if tail is None:
        used_tail = plan.releases[0].need.at
    asked = hash_json({"bounds": schema.to_dict(), "column": name, "tail": str(used_tail)})
    return Wanted(plan, spend, asked, f"bounds of {name} in {schema.name}")


def plan_suggested_caps(
    planner: Planner, table: str, spend: Measure, by: str | Sequence[str] = ()
) -> Wanted:
    """Plan the suggestion of a cap on a person's rows, or on those in a group of the columns `by`.

    No row is read and nothing is spent.

    Refuses: public tables, what `plan_caps` refuses, and `by` that is not columns of the table,
    each once.
    """
    table_of(planner, table)
    schema = _schema(planner, table)
    given: object = (by,) if isinstance(by, str) else by
    if not isinstance(given, list | tuple) or not all(isinstance(name, str) for name in given):
        raise InvalidArgument(f"by names columns, such as 'ward' or ['ward', 'year'], got {by!r}")
    names = tuple(schema.column(name)[0] for name in given)
    if len(set(names)) < len(names):
        raise InvalidArgument(f"by names {', '.join(names)}: name each column of the groups once")
    plan = plan_caps(Scan(schema), spend=spend, by=names)
    text = f"caps on the rows of one person in {schema.name}"
    facts: Json = {"caps": schema.to_dict()}
    if names:
        facts["by"] = list(names)
        text += f" by {', '.join(names)}"
    return Wanted(plan, spend, hash_json(facts), text, per_group=bool(names))


def truncation_question_of(planner: Planner, table: str, up_to: int, of: str | None) -> Question:
    """Return the question that estimates how many rows a table's cap on rows of a person cuts off.

    It supposes that nobody has more than `up_to` rows. `of` names a column of whose sum the same
    is estimated, too.
    """
    table_of(planner, table)
    return truncation_question(_schema(planner, table), up_to=up_to, of=of)


def bounds_of(asker: Learner, wanted: Wanted, why: str) -> SuggestedBounds:
    """Suggest bounds of a column; the same request about the same version costs nothing."""
    low, high = _suggest(asker, wanted, why)
    return SuggestedBounds(low, high, wanted.plan.events)


def caps_of(asker: Learner, wanted: Wanted, why: str) -> SuggestedCaps:
    """Suggest a cap on a person's rows; the same request about the same version costs nothing."""
    _, high = _suggest(asker, wanted, why)
    # A cap of 0 would count nobody.
    return suggested_caps(wanted, max(1, int(high)))


def suggested_caps(wanted: Wanted, rows: int) -> SuggestedCaps:
    """Return the suggested caps of a request; `rows` is the noisy quantile of a person's rows."""
    plan = wanted.plan
    if not wanted.per_group:
        return SuggestedCaps(rows, plan.events)
    # Counts of one person were clipped to the declared cap, where the last octave ends.
    _, max_rows = plan.ends[-1]
    return SuggestedCaps(int(max_rows), plan.events, rows)


def _suggest(asker: Learner, wanted: Wanted, why: str) -> tuple[Fraction, Fraction]:
    """Charge for a request, run it and store its two bounds, or return the stored ones."""
    context = asker.context
    plan = wanted.plan
    spend = wanted.spend
    event = wanted.event
    # Key of release 0.2: what is asked and the spend, not the plan, which may improve.
    spend_json = measure_to_json(read_budget(spend))
    facts: Json = {"key": 2, "bounds": wanted.asked, "spend": spend_json}
    share = plan.releases[0].need.tally.share
    counts_anew = isinstance(share, RowShare) and share.rows > 1
    if counts_anew:
        # Rows without a value came to count among those of their person.
        facts["meaning"] = MEANING
    key = SECOND_FORMAT + hash_json(facts)
    price = context.ledger.price(event)
    shown = context.ledger.shown_price(event, spend)

    def run() -> str:
        bounds = run_bounds(plan, context.engine, bits=context.bits)
        ends: Json = {"low": str(bounds.low), "high": str(bounds.high)}
        return write_body(Body(price, ends, shown=shown, made=made_by(context.engine)))

    def fits(charge: Entry, body: str) -> bool:
        """Return whether an answer of release 0.1.0 was asked on the same terms."""
        if counts_anew:
            return False
        if charge.event == to_json(event):
            return True
        return fits_price(read_body(body).price, spend, price)

    def check() -> None:
        check_rows(plan.releases[0].need.tally.rows, context.engine)

    apart = not context.share_questions
    order = ChargeOrder(
        asker.who,
        why,
        wanted.asked,
        key,
        event,
        fits=fits,
        text=wanted.text,
        apart=apart,
        price=shown,
    )
    work = Work(run, check, context.pause)
    paid = pay(context.ledger, order, work, asker.locks)
    ends = read_body(paid.body).answers
    low = Fraction(str(ends["low"]))
    high = Fraction(str(ends["high"]))
    return low, high


def warn_estimate_cut() -> None:
    """Warn the caller of a method `estimate_cut` that its name has changed."""
    warnings.warn(
        "estimate_cut is now estimate_truncation; version 0.3 drops it",
        DeprecationWarning,
        # The caller of the caller: the line that uses the former name.
        stacklevel=3,
    )
