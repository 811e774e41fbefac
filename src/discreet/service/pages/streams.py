"""Pages of standing reports: a line with its band by day, week, month, quarter, year or running total.

Who may ask about a data set sees its streams; its stewards close what is due and stop a stream.
While days are overdue, the page asks again for its numbers; without a script it is complete too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from ...curator.verbs.stream import find_stream
from ...errors import DiscreetError
from ...plan.asked.terms import DEFAULT_LEVEL
from ...streams.calendar import KINDS
from ...streams.report import StreamReport
from ...streams.views import StreamTable
from ..state import State
from .charts.series import charts_of
from .number_text import percent
from .page_request import PageRequest, for_analysts, for_stewards, table_routes, to
from .workbench import dataset_of

MOST_SUMS = 365
"""Sums along a line; streams of several keys show fewer, so that a page stays light."""
MOST_POINTS = 730
MOST_ROWS = 30
"""Rows of the table: the newest."""
WAIT = 5000
"""Milliseconds after which a page asks for new numbers while days are overdue."""


def stream_routes(state: State) -> list[Route]:
    """Return the routes of standing reports."""
    path = "/streams/{dataset}"
    return [
        *table_routes(
            state,
            for_analysts,
            ("GET", "/streams", _first),
            ("GET", path, _show),
        ),
        *table_routes(
            state,
            for_stewards,
            ("POST", f"{path}/{{stream}}/close", _close),
            ("POST", f"{path}/{{stream}}/stop", _stop),
        ),
    ]


def _first(visit: PageRequest) -> Response:
    """Go to the first data set with a stream, or say that there is none."""
    known = _with_streams(visit)
    if known:
        return to(f"/streams/{known[0]}")
    return visit.show("streams.html", here="Streams", dataset="", **_nothing())


def _with_streams(visit: PageRequest) -> list[str]:
    datasets = visit.state.datasets
    return [name for name in datasets.allowed(visit.person) if datasets.ledger(name).streams()]


def _nothing() -> dict[str, Any]:
    return {
        "datasets": [],
        "names": [],
        "chosen": "",
        "shown": None,
        "refusal": "",
        "steward": False,
    }


def _show(visit: PageRequest) -> Response:
    """Show one stream of a data set, or a fragment of it that a script asks for."""
    dataset = dataset_of(visit)
    query = visit.request.query_params
    names = visit.state.datasets.ledger(dataset).streams()
    words = _nothing() | {"datasets": _with_streams(visit), "names": names}
    words["steward"] = visit.person.role == "steward"
    chosen = query.get("stream") or (names[0] if names else "")
    words["chosen"] = chosen
    if chosen:
        try:
            report = _report(visit, dataset, chosen)
            words["shown"] = view_of(report, query.get("by", "day"))
        except DiscreetError as refusal:
            if visit.wants_part or chosen not in names:
                raise
            # Other streams of the data set stay within reach.
            words["refusal"] = str(refusal)
    if visit.wants_part:
        return visit.part("piece_stream.html", dataset=dataset, **words)
    return visit.show("streams.html", here="Streams", dataset=dataset, **words)


def _report(visit: PageRequest, dataset: str, name: str) -> StreamReport:
    curator = visit.state.datasets.curator(dataset, visit.person.name)
    return find_stream(curator.context, name)


def view_of(report: StreamReport, by: str) -> Mapping[str, Any]:
    """Return what a page shows of a stream: how far it is, its charts, and its newest rows."""
    cells = len(report.plan.question.cells)
    table = report.by(by, max(1, min(MOST_SUMS, MOST_POINTS // cells)))
    level = DEFAULT_LEVEL
    rows = table.rows(level)
    closed, due = report.closed, report.due
    return {
        "by": by,
        "kinds": KINDS,
        "asked": report.terms["asked"],
        "entry": report.number,
        "start": report.plan.start.isoformat(),
        "periods": report.plan.periods,
        "closed": closed,
        "overdue": max(0, due - closed),
        "stopped": report.stopped,
        "zone": str(report.zone),
        "late": report.late,
        "note": table.note,
        "level": percent(level),
        "charts": list(charts_of(_chart_reply(table, rows), level)) if rows else [],
        "columns": table.columns,
        "rows": rows[::-1][:MOST_ROWS],
        "left_out": max(0, len(rows) - MOST_ROWS),
        "wait": WAIT,
    }


def _chart_reply(table: StreamTable, rows: list[tuple[Any, ...]]) -> dict[str, Any]:
    """Return a table of sums in the form of an answer, of which charts are drawn."""
    keys = table.question.names
    columns = [{"name": "day", "noisy": False, "ordered": True}]
    columns += [{"name": name, "noisy": False, "ordered": False} for name in keys]
    columns.append({"name": table.question.column, "noisy": True, "ordered": False})
    drawn = []
    intervals = []
    for first, last, *cell, value, low, high in rows:
        # A running total is of its last day, all others begin with their first.
        day = last if table.kind == "total" else first
        drawn.append([day.isoformat(), *cell, value])
        intervals.append([*[None] * (1 + len(cell)), [low, high]])
    return {"columns": columns, "rows": drawn, "intervals": intervals}


def _close(visit: PageRequest) -> Response:
    """Close the days that are due, and show the stream again."""
    dataset = dataset_of(visit)
    name: str = visit.request.path_params["stream"]
    visit.state.streams.close(dataset, name, visit.state.config.bounds.query_seconds)
    return to(f"/streams/{dataset}", stream=name)


def _stop(visit: PageRequest) -> Response:
    """Stop a stream for good, with a reason that the ledger keeps."""
    dataset = dataset_of(visit)
    name: str = visit.request.path_params["stream"]
    # By the ledger alone: a stream whose schema was changed since is stopped too.
    ledger = visit.state.datasets.ledger(dataset)
    ledger.stop_stream(name, why=visit.form.get("why", ""))
    return to(f"/streams/{dataset}", stream=name)
