"""Streams through the ledger: one charge at the opening, then days that close by the calendar.

    open    read the question ─► plan ─► charge with terms and strategy ─► (pure ε) noise, sealed
    find    terms from the ledger ─► the same SQL read again ─► refused if its meaning has changed

Guarantee: a stream is charged once; the same call again returns it and costs nothing.
Refuses: before the charge, what the planner, the ledger or the engine would refuse.
Law: tests/streams/test_stream.py::TestAStream
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import TypedDict

from ...arithmetic.canonical import canonical_json
from ...arithmetic.rational import Number, whole
from ...errors import InvalidArgument, SchemaMismatch, UnsupportedQuery
from ...ledger.charge_order import ChargeOrder
from ...ledger.stream_entries import StreamLines, body_terms, stream_key
from ...mechanisms.reading.value import read_budget
from ...privacy.events.json import Json, measure_to_json
from ...privacy.measures import Measure
from ...query.text.question import describe
from ...streams.calendar import ALIKE, read_day, read_matters
from ...streams.caps import Days
from ...streams.closing import check_engine
from ...streams.plan import StreamPlan, plan_stream
from ...streams.question import StreamQuestion, read_question
from ...streams.report import StreamReport
from ...streams.seal import Seal
from ...workloads.stream_noise import noise_from_json
from ...workloads.triangular import MAX_DAYS
from ..context import CuratorContext
from .learn import Learner

FORMAT = 1
_FINE = 2**20
_MAX_LATE = 366


class StreamWords(TypedDict, total=False):
    """The keyword arguments of a stream beside its SQL, spend and name.

    `start`        the first day, such as "2027-01-01"
    `periods`      the number of days
    `late`         days after its end at which a day closes, 0 by default
    `per_person`   `dp.Days(k, apart=b, rows=m)`, where the unit is a person
    `matters`      weights of day, week, month, quarter, year and total; five alike by default
    """

    start: str | date
    periods: int
    late: int
    per_person: Days | None
    matters: Mapping[str, Number]


def plan_of(context: CuratorContext, sql: str, spend: Measure, words: StreamWords) -> StreamPlan:
    """Plan a stream; nothing is touched or spent."""
    question = _question(context, sql, words.get("per_person"))
    if "start" not in words or "periods" not in words:
        raise InvalidArgument(
            'a stream needs its first day and its length: start="2027-01-01", periods=365'
        )
    return plan_stream(
        question,
        read_budget(spend),
        context.ledger.terms.filter,
        start=read_day(words["start"], "start"),
        periods=whole(words["periods"], "periods", least=1, most=MAX_DAYS),
        weights=read_matters(words.get("matters", ALIKE)),
    )


def open_stream(
    asker: Learner,
    sql: str,
    spend: Measure,
    name: str,
    words: StreamWords,
    *,
    seal: Seal | None,
    why: str,
) -> StreamReport:
    """Charge a stream and return it; one that is open with the same terms is returned for free."""
    context = asker.context
    ledger = context.ledger
    stream_name = _read_name(name)
    if not isinstance(seal, Seal):
        raise InvalidArgument(
            "a stream keeps its exact totals encrypted, so that days can be closed for years: "
            f"give seal=dp.Seal.create('{stream_name}.key'), and dp.Seal.load(…) from then on"
        )
    if ledger.terms.window is not None:
        raise UnsupportedQuery(
            "a ledger with windows renews its budget, and the price of a stream would fall due in "
            "each window; open the stream on a ledger without windows"
        )
    plan = plan_of(context, sql, spend, words)
    late = whole(words.get("late", 0), "late", least=0, most=_MAX_LATE)
    caps = words.get("per_person")
    terms = _terms(sql, spend, stream_name, plan, caps=caps, late=late)
    check_engine(context.engine, plan.question)
    event = plan.noise.event
    shown = ledger.shown_price(event, spend)
    asked = f"stream {stream_name}: {terms['asked']}"
    body = canonical_json({"asked": asked, "price": shown.to_json(), "stream": terms})
    order = ChargeOrder(
        asker.who,
        why,
        str(terms["question"]),
        stream_key(stream_name),
        event,
        None,
        text=asked,
        apart=False,
        price=shown,
    )
    lines = ledger.open_stream(stream_name, order, body)
    report = _report(context, lines, plan.question, seal)
    if report.plan.noise.sealed:
        # The first seal wins: a second opening, or one after a death, keeps the noise that is there.
        report.draw_all()
    return report


def find_stream(context: CuratorContext, name: str, seal: Seal | None = None) -> StreamReport:
    """Return an open or stopped stream of the ledger.

    Refuses: a name that no stream has (InvalidArgument), and a stream whose tables, versions or
    public keys were declared anew since it was opened (SchemaMismatch).
    """
    lines = context.ledger.stream(_read_name(name))
    if lines is None:
        known = ", ".join(context.ledger.streams()) or "none"
        raise InvalidArgument(f"there is no stream {name!r} in this ledger; there are {known}")
    terms = body_terms(lines.body)
    if terms["format"] != FORMAT:
        raise InvalidArgument(f"the stream {name} was opened by a newer release; use that one")
    caps = terms["per_person"]
    per_person = None if caps is None else Days(caps[0], apart=caps[1], rows=caps[2])
    question = _question(context, str(terms["sql"]), per_person)
    return _report(context, lines, question, seal)


def find_streams(context: CuratorContext, seal: Seal | None) -> dict[str, StreamReport]:
    """Return all streams of a ledger by name."""
    names = context.ledger.streams()
    return {name: find_stream(context, name, seal) for name in names}


def _report(
    context: CuratorContext, lines: StreamLines, question: StreamQuestion, seal: Seal | None
) -> StreamReport:
    """Return a stream as its stored terms say; the question must mean what it meant then."""
    terms = body_terms(lines.body)
    if terms["question"] != question.identity:
        raise SchemaMismatch(
            f"the stream {lines.name} was opened under another schema, version or list of keys; "
            "stop it and open one of another name"
        )
    noise = noise_from_json(terms["noise"])
    start = read_day(terms["start"], "start")
    plan = StreamPlan(question, start, int(terms["periods"]), read_matters(terms["matters"]), noise)
    return StreamReport(
        context.ledger,
        context.engine,
        lines,
        plan,
        late=int(terms["late"]),
        fine=int(terms["fine"]),
        seal=seal,
        bits=context.bits,
    )


def _question(context: CuratorContext, sql: object, per_person: object) -> StreamQuestion:
    if not isinstance(sql, str):
        raise InvalidArgument(f"a stream takes SQL, got {type(sql).__name__}")
    if per_person is not None and not isinstance(per_person, Days):
        raise InvalidArgument(f"per_person is dp.Days(…), got {type(per_person).__name__}")
    return read_question(context.planner.question(sql).question, per_person)


def _terms(
    sql: str, spend: Measure, name: str, plan: StreamPlan, *, caps: Days | None, late: int
) -> Json:
    """Return the terms that are stored with the charge; their names are a stored format."""
    asked = plan.question.asked
    per_person = None if caps is None else [caps.days, caps.apart, caps.rows]
    weight = int(plan.question.step / plan.question.unit)
    # Estimates of days are kept to a millionth of a row, or of a step of a sum.
    fine = 1 if plan.noise.sealed else max(1, _FINE // weight)
    return {
        "format": FORMAT,
        "name": name,
        "sql": sql,
        "asked": describe(asked),
        "question": plan.question.identity,
        "spend": measure_to_json(spend),
        "start": plan.start.isoformat(),
        "periods": plan.periods,
        "late": late,
        "per_person": per_person,
        "matters": {kind: str(weight) for kind, weight in plan.weights.items()},
        "fine": fine,
        "noise": plan.noise.to_json(),
    }


def _read_name(name: object) -> str:
    if not isinstance(name, str) or not name.isidentifier() or len(name) > 60:
        raise InvalidArgument(
            f"the name of a stream is an identifier such as visits, of at most 60 letters; got {name!r}"
        )
    return name
