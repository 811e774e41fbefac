"""Streams through the ledger: one charge at the opening, then days that close by the calendar.

    open    read the question ─► plan ─► charge and store terms and strategy ─► (pure ε) draw all
            noise and store it encrypted
    find    terms from the ledger ─► read the same SQL again ─► refuse if its tables, versions
            or public keys have changed

Guarantee: a stream is charged once; the same call again returns it and costs nothing.
Refuses: before the charge, what the planner, the ledger or the engine would refuse.
Law: tests/streams/test_stream.py::TestAStream
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import date, datetime, time, timedelta, tzinfo
from functools import lru_cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, TypedDict

from ...answer.answer import Answer
from ...arithmetic.canonical import canonical_json
from ...arithmetic.rational import Number, whole
from ...engines.memory.engine import Memory
from ...errors import InvalidArgument, SchemaMismatch, UnsupportedQuery
from ...frozen import replace
from ...ledger import Ledger, open_ledger
from ...ledger.charge_order import ChargeOrder
from ...ledger.stream_entries import StreamLines, body_terms, check_same_terms, stream_key
from ...mechanisms.reading.value import read_budget
from ...plan.asked.terms import Terms
from ...plan.planner import Planner
from ...privacy.events import Event
from ...privacy.events.json import Json, measure_from_json, measure_to_json
from ...privacy.measures import Measure, PureDP
from ...query.algebra.expression import fields_of
from ...query.sql.published import stream_in
from ...query.text.question import describe
from ...streams.calendar import ALIKE, read_day, read_matters, read_zone
from ...streams.caps import Days
from ...streams.closing import check_engine
from ...streams.plan import StreamPlan, plan_stream, quick_noise
from ...streams.published import days_due
from ...streams.question import StreamQuestion, read_question
from ...streams.report import StreamReport
from ...streams.seal import Seal
from ...streams.select import select
from ...workloads.stream_noise import StreamNoise, noise_from_json
from ...workloads.triangular import MAX_DAYS
from ..context import CuratorContext
from .rehearse import make_up

FORMAT = 1
"""Format of the stored terms of a stream."""
_FINE = 2**20
"""Fractions of a row, or of a sum's step, to which estimates of days are kept (Gaussian noise)."""
MAX_LATE = 366
"""Most days after its end at which a day may close."""


class StreamWords(TypedDict, total=False):
    """The keyword arguments of a stream beside its SQL, spend and name.

    `start`        the first day, such as "2027-01-01"
    `periods`      the number of days
    `late`         days after its end at which a day closes, 0 by default
    `zone`         the time zone in which days end, such as "Europe/Berlin"; UTC by default
    `per_person`   `dp.Days(k, apart=b, rows=m)`, where the unit is a person
    `matters`      weights of the errors by day, week, month, quarter, year and running total;
                   by default 1 each, and 0 for quarters
    """

    start: str | date
    periods: int
    late: int
    zone: str
    per_person: Days | None
    matters: Mapping[str, Number]


class ReportWords(TypedDict):
    """Terms by which an open stream closes its days.

    `late` are the days after the end of a day at which it closes, in the time zone `zone`.
    Estimates are kept in multiples of 1/`fine` of a step.
    """

    late: int
    fine: int
    zone: tzinfo


def read_late(value: object, name: str) -> int:
    """Read the days after its end at which a day closes."""
    return whole(value, name, least=0, most=MAX_LATE)


def plan_of(planner: Planner, sql: str, spend: Measure, words: StreamWords) -> StreamPlan:
    """Plan a stream; nothing is touched or spent."""
    question = _question(planner, sql, words)
    start, periods = _days(words)
    return plan_stream(
        question,
        read_budget(spend),
        planner.filter,
        start=start,
        periods=periods,
        weights=read_matters(words.get("matters", ALIKE)),
    )


def price_of(planner: Planner, sql: str, spend: Measure, name: str, words: StreamWords) -> Event:
    """Return an event that costs what a stream costs, and refuse what its planning would refuse.

    Every strategy for one spend has the same price. So the price is taken from the strategy that is
    quickest to plan: the best one may take a minute.
    """
    question = _question(planner, sql, words)
    _terms(sql, read_budget(spend), name, question, words)
    _, periods = _days(words)
    return quick_noise(question, spend, planner.filter, periods).event


def rehearse_stream(
    context: CuratorContext, sql: str, spend: Measure, words: StreamWords, rows: int
) -> StreamReport:
    """Return a stream of made-up rows, all of its days closed, in a ledger that nobody keeps.

    The days of the rows are drawn among those of the stream. No private row is read, nothing is
    spent; noise and intervals are those of the stream itself.
    """
    start, periods = _days(words)
    question = _question(context.planner, sql, words)
    random = Random("discreet rehearsal of a stream")
    store = make_up(context.schemas.values(), rows, context.public_values)
    tables = {}
    for name, made in store.tables.items():
        tables[name] = [_within(row, question, start, random.randrange(periods)) for row in made]
    ledger = open_ledger(":memory:", context.ledger.terms.budget)
    rehearsal = replace(context, engine=Memory(tables), ledger=ledger)
    with TemporaryDirectory() as folder:
        seal = Seal.create(Path(folder) / "rehearsal.key")
        report = open_stream(
            rehearsal, sql, spend, "rehearsal", words, seal=seal, who="rehearsal", why=""
        )
        report.close_all()
    return report


def _within(
    row: Mapping[str, object], question: StreamQuestion, start: date, number: int
) -> dict[str, object]:
    """Return a made-up row with another time, on the day of this number of the stream."""
    moment = datetime.combine(start + timedelta(number), time())
    moved = dict(row)
    for column in fields_of(question.time) & row.keys():
        moved[column] = moment if question.seconds else moment.date()
    return moved


def open_stream(
    context: CuratorContext,
    sql: str,
    spend: Measure,
    name: str,
    words: StreamWords,
    *,
    seal: Seal | None,
    who: str,
    why: str,
) -> StreamReport:
    """Charge a stream and return it; one of that name with the same terms is returned for free.

    `seal` is the key file, by default that of the curator.

    Refuses: no key file, a ledger with windows, an engine or question that cannot have a stream,
    and a stream of that name with other terms.
    """
    ledger = context.ledger
    key = seal or context.seal
    if not isinstance(key, Seal):
        raise InvalidArgument(
            "a stream keeps its exact totals encrypted, so that days can be closed for years: "
            "give seal=dp.Seal.create('visits.key'), and dp.Seal.load(…) from then on"
        )
    check_ledger(ledger)
    question = _question(context.planner, sql, words)
    terms = _terms(sql, read_budget(spend), name, question, words)
    check_engine(context.engine, question)
    lines = ledger.stream(name)
    if lines is None:
        plan = plan_of(context.planner, sql, spend, words)
        lines = _charge(ledger, who, plan, terms, why)
    else:
        check_same_terms(name, lines.body, canonical_json({"stream": terms}))
    report = _report(context, lines, key)
    if report.plan.noise.sealed:
        # The first seal wins: a second opening, or one after a death, keeps the noise that is there.
        report.draw_all()
    return report


def check_ledger(ledger: Ledger) -> None:
    """Refuse a ledger that renews its budget."""
    if ledger.terms.window is not None:
        raise UnsupportedQuery(
            "a ledger with windows renews its budget, and the price of a stream would fall due in "
            "each window; open the stream on a ledger without windows"
        )


def _charge(ledger: Ledger, who: str, plan: StreamPlan, terms: Json, why: str) -> StreamLines:
    """Charge a stream; of two openings at the same time the first one wins."""
    event = plan.noise.event
    shown = ledger.shown_price(event, measure_from_json(terms["spend"]))
    name = str(terms["name"])
    asked = f"stream {name}: {terms['asked']}"
    stored = terms | {"noise": plan.noise.to_json()}
    body = canonical_json({"asked": asked, "price": shown.to_json(), "stream": stored})
    order = ChargeOrder(
        who,
        why,
        str(terms["question"]),
        stream_key(name),
        event,
        None,
        text=asked,
        apart=False,
        price=shown,
    )
    return ledger.open_stream(name, order, body)


def find_stream(context: CuratorContext, name: str, seal: Seal | None = None) -> StreamReport:
    """Return an open or stopped stream of the ledger.

    Refuses: a name that no stream has (InvalidArgument), and a stream whose tables, versions or
    public keys were declared anew since it was opened (SchemaMismatch).
    """
    lines = context.ledger.known_stream(_read_name(name))
    return _report(context, lines, seal or context.seal)


def find_streams(context: CuratorContext, seal: Seal | None) -> dict[str, StreamReport]:
    """Return the streams of a ledger by name, those of the tables as they are declared now."""
    found = {}
    for name in context.ledger.streams():
        # One that was opened under another schema does not hide the others; asked for by name, it
        # says why it is closed no more.
        with suppress(SchemaMismatch):
            found[name] = find_stream(context, name, seal)
    return found


def stream_state(ledger: Ledger, name: str) -> dict[str, Any]:
    """Return how far a stream is, as its ledger has it; also of one that its schema no longer fits.

    `due` counts closed days too.

    Refuses: a name that no stream has (InvalidArgument).
    """
    lines = ledger.known_stream(name)
    terms = body_terms(lines.body)
    zone = terms.get("zone", "UTC")
    start, periods, late = terms["start"], int(terms["periods"]), int(terms["late"])
    return {
        "stream": name,
        "entry": lines.charge.number,
        "start": start,
        "periods": periods,
        "late": late,
        "zone": zone,
        "closed": ledger.closed_periods(lines),
        "due": days_due(read_day(start, "start"), periods, late, read_zone(zone)),
        "stopped": lines.stop is not None,
    }


def stream_read_by(sql: str) -> str | None:
    """Return the name of the stream that a SELECT reads; None if it reads none."""
    return stream_in(sql)


def select_stream(context: CuratorContext, sql: str, terms: Terms) -> Answer | None:
    """Answer a SELECT over what a stream has published, for nothing; None if it reads no stream.

    Of the terms only the level counts: nothing is spent, and errors are those of the stream.

    Refuses: a stream that is not there (InvalidArgument), and what `streams.select` refuses.
    """
    name = stream_in(sql)
    if name is None:
        return None
    return select(find_stream(context, name), context.planner, sql, terms.level)


def check_free_target(of: str) -> None:
    """Refuse intervals of a population: the days of a person are no independent draws."""
    if of != "data":
        raise InvalidArgument(
            'intervals of what a stream has published are of the data: take of="data"'
        )


def read_terms(
    planner: Planner, name: str, terms: dict[str, Any]
) -> tuple[StreamPlan, ReportWords]:
    """Return the plan of a stream from its stored terms, and the terms by which its days close.

    Refuses: terms of a newer release (InvalidArgument), and a question whose tables, versions or
    public keys are not those of the opening (SchemaMismatch).
    """
    if terms["format"] != FORMAT:
        raise InvalidArgument(f"the stream {name} was opened by a newer release; use that one")
    caps = terms["per_person"]
    words = StreamWords(zone=terms.get("zone", "UTC"))
    if caps is not None:
        words["per_person"] = Days(caps[0], apart=caps[1], rows=caps[2])
    question = _question(planner, terms["sql"], words)
    if terms["question"] != question.identity:
        raise SchemaMismatch(
            f"the stream {name} was opened under another schema, version or list of keys, with "
            "which its answers are read; stop it and open one of another name"
        )
    start = read_day(terms["start"], "start")
    noise = _noise_of(canonical_json(terms["noise"]))
    plan = StreamPlan(question, start, int(terms["periods"]), read_matters(terms["matters"]), noise)
    closing = ReportWords(
        late=int(terms["late"]), fine=int(terms["fine"]), zone=read_zone(words["zone"])
    )
    return plan, closing


@lru_cache(maxsize=16)
def _noise_of(stored: str) -> StreamNoise:
    """Read the noise of a stream once: a service shows it many times, and it never changes."""
    return noise_from_json(json.loads(stored))


def _report(context: CuratorContext, lines: StreamLines, seal: Seal | None) -> StreamReport:
    plan, closing = read_terms(context.planner, lines.name, body_terms(lines.body))
    return StreamReport(
        context.ledger,
        context.engine,
        lines,
        plan,
        seal=seal,
        bits=context.bits,
        held=context.held,
        **closing,
    )


def _question(planner: Planner, sql: object, words: StreamWords) -> StreamQuestion:
    """Read what a stream counts; refuse caps of another type, and timestamps in a zone but UTC."""
    per_person = words.get("per_person")
    if not isinstance(sql, str):
        raise InvalidArgument(f"a stream takes SQL, got {type(sql).__name__}")
    if per_person is not None and not isinstance(per_person, Days):
        raise InvalidArgument(f"per_person is dp.Days(…), got {type(per_person).__name__}")
    question = read_question(planner.question(sql).question, per_person)
    if question.seconds and words.get("zone", "UTC") != "UTC":
        raise UnsupportedQuery(
            f"timestamps are of UTC, and days of {words['zone']} end at other times; declare a "
            "Date column that the source fills with the day there, or leave zone out"
        )
    return question


def _days(words: StreamWords) -> tuple[date, int]:
    if "start" not in words or "periods" not in words:
        raise InvalidArgument(
            'a stream needs its first day and its length: start="2027-01-01", periods=365'
        )
    periods = whole(words["periods"], "periods", least=1, most=MAX_DAYS)
    return read_day(words["start"], "start"), periods


def _terms(
    sql: str, spend: Measure, name: str, question: StreamQuestion, words: StreamWords
) -> Json:
    """Return the terms that are stored with the charge; their names are a stored format."""
    start, periods = _days(words)
    caps = words.get("per_person")
    per_person = None if caps is None else [caps.days, caps.apart, caps.rows]
    weights = read_matters(words.get("matters", ALIKE))
    weight = int(question.step / question.unit)
    # Estimates of days are kept to a millionth of a row, or of a step of a sum.
    fine = 1 if isinstance(spend, PureDP) else max(1, _FINE // weight)
    zone = words.get("zone", "UTC")
    read_zone(zone)
    terms: Json = {
        "format": FORMAT,
        "name": _read_name(name),
        "sql": sql,
        "asked": describe(question.asked),
        "question": question.identity,
        "spend": measure_to_json(spend),
        "start": start.isoformat(),
        "periods": periods,
        "late": read_late(words.get("late", 0), "late"),
        "per_person": per_person,
        "matters": {kind: str(weight) for kind, weight in weights.items()},
        "fine": fine,
    }
    # Written only where it is asked for: releases before zones read days of UTC.
    return terms if zone == "UTC" else terms | {"zone": zone}


def _read_name(name: object) -> str:
    if not isinstance(name, str) or not name.isidentifier() or len(name) > 60:
        raise InvalidArgument(
            f"the name of a stream is an identifier such as visits, of at most 60 letters; got {name!r}"
        )
    return name
