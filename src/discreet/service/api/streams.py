"""Endpoints of standing reports: list, show, stored totals for clients; stewards close and stop.

`POST /datasets/{name}/streams` opens one: a verb like all others (`wire/verbs/streams.py`). Who may
ask about a data set sees all of its streams: they are published reports. Only closing reads private
rows, in the thread of `jobs/stream_closer.py`.
"""

from __future__ import annotations

from ...arithmetic.rational import rational
from ...curator.verbs.stream import find_stream, stream_state
from ...errors import InvalidArgument
from ...json_shape import JsonObject
from ...plan.asked.terms import DEFAULT_LEVEL
from ...streams.report import StreamReport
from ...wire.verb import check_count
from ..state import State
from .endpoint import ApiCall, Reply
from .schemas import STOP

_MOST = 36_525
_FLAGS = {"true": True, "false": False}


def list_streams(state: State, call: ApiCall) -> Reply:
    """List the streams of a data set and how far they are."""
    ledger = state.datasets.ledger(call.dataset)
    return Reply({"streams": [stream_state(ledger, name) for name in ledger.streams()]})


def show_stream(state: State, call: ApiCall) -> Reply:
    """Return the sums of a stream: by day, week, month, quarter or year, running totals, or a range."""
    report = find_report(state, call)
    level = float(rational(call.query.get("level", str(DEFAULT_LEVEL)), "level"))
    joint = call.query.get("joint", "false")
    if joint not in _FLAGS:
        raise InvalidArgument("joint must be true or false")
    first, last = call.query.get("from"), call.query.get("to")
    if first is None and last is None:
        sums = report.by(call.query.get("by", "day"), call.number("last", _MOST))
    elif first is None or last is None:
        raise InvalidArgument("a range has two ends: give from and to")
    else:
        sums = report.between(first, last)
    check_count(len(sums), state.config.bounds.cells)
    table = sums.to_json(level, joint=_FLAGS[joint])
    text = sums.to_text(level, joint=_FLAGS[joint])
    return Reply({"state": _state_of(state, call), "table": table, "text": text})


def get_terms(state: State, call: ApiCall) -> Reply:
    """Return the terms of a stream as they are stored: question, strategy and noise."""
    return Reply({"terms": find_report(state, call).terms})


def get_totals(state: State, call: ApiCall) -> Reply:
    """Return stored running totals after `first` days (by default 1), and after each later day.

    They end at the last closed day, or where the service's limit on numbers in a reply is reached.
    """
    report = find_report(state, call)
    first = call.number("first", _MOST) or 1
    most = max(1, state.config.bounds.cells // len(report.plan.question.cells))
    found = report.totals(range(first, min(report.closed, first + most - 1) + 1))
    totals = [found[day] for day in sorted(found)]
    return Reply({"state": _state_of(state, call), "totals": totals})


def close_stream(state: State, call: ApiCall) -> Reply:
    """Close the days of a stream that are due, and return their sums; for stewards.

    The service also closes them by its clock.
    """
    if find_report(state, call).stopped:
        raise InvalidArgument("this stream was stopped for good; open one of another name")
    seconds = state.config.bounds.query_seconds
    closed = state.streams.close(call.dataset, call.path["stream"], seconds)
    check_count(len(closed), state.config.bounds.cells)
    text = closed.to_text() if len(closed) else "nothing is due"
    return Reply({"state": _state_of(state, call), "table": closed.to_json(), "text": text})


def stop_stream(state: State, call: ApiCall) -> Reply:
    """Stop a stream for good; for stewards. What it published stays, nothing is paid back."""
    why = str(STOP.read(call.json()).get("why", ""))
    # By the ledger alone: a stream whose schema was changed since is stopped too.
    state.datasets.ledger(call.dataset).stop_stream(call.path["stream"], why=why)
    return Reply(_state_of(state, call))


def _state_of(state: State, call: ApiCall) -> JsonObject:
    return stream_state(state.datasets.ledger(call.dataset), call.path["stream"])


def find_report(state: State, call: ApiCall) -> StreamReport:
    """Return the stream of the path, for somebody who may ask about its data set."""
    curator = state.datasets.curator(call.dataset, call.person.name)
    return find_stream(curator.context, call.path["stream"])
