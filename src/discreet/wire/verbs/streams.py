"""Verb of standing reports: stream, which opens one; charged once for all of its days.

A standing report answers one question for every day as the days close. Listing, showing, closing
and stopping have endpoints of their own (`service/api/streams.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import TYPE_CHECKING, Any, cast

from ...curator.verbs.stream import (
    MAX_LATE,
    StreamWords,
    check_ledger,
    price_of,
    read_late,
    stream_state,
)
from ...frozen import field, frozen
from ...json_shape import (
    FLAG,
    NUMBER,
    JsonField,
    JsonObject,
    JsonShape,
    Record,
    anything,
    mapping,
    optional,
    positive_integer,
    refer,
    text,
)
from ...privacy.measures import Measure
from ...streams.caps import Days
from ..fields import MAX_NAME_LENGTH, PAID, SQL, WHY
from ..verb import ReplyFormat, Request, RequestFormat, Verb

if TYPE_CHECKING:
    from ...curator import Curator

_NAME = JsonField("name", text(60, blank=False))
_START = JsonField("start", text(10, blank=False))
_PERIODS = JsonField("periods", positive_integer(36_525))
_LATE: JsonField[int] = optional(
    "late",
    JsonShape(read_late, {"type": "integer", "minimum": 0, "maximum": MAX_LATE}),
)
_ZONE = optional("zone", text(MAX_NAME_LENGTH))
_CAPS = optional(
    "per_person",
    Record(
        (
            JsonField("days", positive_integer(36_525)),
            optional("apart", positive_integer(36_525)),
            optional("rows", positive_integer(2**31)),
        )
    ).shape,
    null=True,
)
_MATTERS = optional(
    "matters",
    mapping(refer("Number", NUMBER), "kinds of sums to weights", most=6, longest=7),
)


@frozen
class StreamRequest(Request):
    """Request to open a standing report of a question; `words` are its start, length and caps."""

    sql: str
    spend: Measure
    name: str
    words: StreamWords = field(hash=False)
    why: str = ""

    def arguments(self) -> JsonObject:
        """Return the arguments, the options as fields of their own."""
        words: dict[str, Any] = dict(self.words)
        caps = words.get("per_person")
        if isinstance(caps, Days):
            words["per_person"] = {"days": caps.days, "apart": caps.apart, "rows": caps.rows}
        if isinstance(words.get("start"), date):
            words["start"] = words["start"].isoformat()
        return {
            "sql": self.sql,
            "spend": self.spend,
            "name": self.name,
            "why": self.why or None,
            **words,
        }


def _make(sql: str, spend: Measure, name: str, why: str = "", **given: Any) -> StreamRequest:  # noqa: ANN401
    caps: Mapping[str, int] | None = given.pop("per_person", None)
    if caps is not None:
        given["per_person"] = Days(**caps)
    return StreamRequest(sql, spend, name, cast("StreamWords", given), why)


STREAM = RequestFormat(
    "StreamRequest",
    Record(
        (SQL, PAID, _NAME, _START, _PERIODS, _LATE, _ZONE, _CAPS, _MATTERS, WHY),
        example={
            "sql": "SELECT day, COUNT(*) AS n FROM visits GROUP BY day",
            "spend": {"rho": "1/8"},
            "name": "visits",
            "start": "2027-01-01",
            "periods": 365,
            "late": 2,
            "zone": "Europe/Berlin",
            "per_person": {"days": 52, "apart": 7, "rows": 1},
            "matters": {"day": "1", "total": "1"},
        },
    ),
    _make,
)


def _check_stream(curator: Curator, asked: StreamRequest, _: int) -> None:
    """Refuse what cannot be a stream; its strategy, which may take a minute, is planned by the job."""
    check_ledger(curator.ledger)
    context = curator.context
    event = price_of(context.planner, asked.sql, asked.spend, asked.name, asked.words)
    curator.ledger.price(event)


def _stream(curator: Curator, asked: StreamRequest) -> JsonObject:
    report = curator.stream(asked.sql, asked.spend, name=asked.name, why=asked.why, **asked.words)
    return stream_state(curator.ledger, asked.name) | {"text": str(report.plan)}


_COUNT = anything("Number of days.", type="integer")
STATE = Record.of(
    "How far a stream is; `due` counts closed days too.",
    stream=text(),
    entry=anything("The number of its charge.", type="integer"),
    start=text(),
    periods=_COUNT,
    late=_COUNT,
    zone=text(),
    closed=_COUNT,
    due=_COUNT,
    stopped=FLAG,
)
VERBS = (
    Verb(
        "stream",
        "open_stream",
        "Open a standing report: one charge, then every day its answer; charged.",
        STREAM,
        ReplyFormat("Stream", STATE.plus(JsonField("text", text()))),
        _check_stream,
        _stream,
        path="streams",
    ),
)
