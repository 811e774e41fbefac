"""Page of a synthetic table or model: running, with a button to cancel; then its view and files."""

from __future__ import annotations

import json
from typing import Any

from markupsafe import Markup
from starlette.responses import Response
from starlette.routing import Route

from ....errors import DiscreetError, NotAllowed
from ....frozen import frozen
from ...jobs.job import Job
from ...state import State
from ..answer_view import AnswerSet, cost_of, set_of
from ..answers import fresh_mark
from ..charts.grouping_tables import AnswerPart
from ..charts.series import Chart, charts_of
from ..downloads.files import file_of
from ..page_request import PageRequest, for_analysts, to
from ..refusal_view import word_refusal
from ..render import html
from .model_view import learned_tables
from .past_products import find_made, title_of_job
from .product_code import model_code, synthesis_code
from .synthetic_view import count_tables, records_csv, tables_json

FILES = {
    "synthesize": (
        ("records.csv", "Records as CSV"),
        ("tables.json", "Tables as JSON"),
        ("use.py", "Python"),
        ("receipt.json", "Receipt"),
    ),
    "learn": (("model.json", "Model as JSON"), ("use.py", "Python"), ("receipt.json", "Receipt")),
}


@frozen
class ProductView:
    """Everything the piece shows of what was made."""

    text: str
    cost: str
    tables: tuple[AnswerSet, ...]
    charts: tuple[Chart, ...]
    files: tuple[tuple[str, str], ...]


def made_routes(state: State) -> list[Route]:
    """Return the routes of everything that was made."""
    ways = {
        "records.csv": _records,
        "tables.json": _tables,
        "model.json": _model,
        "use.py": _python,
        "receipt.json": _receipt,
    }
    room = "/made/{job}"
    return [
        Route(room, for_analysts(state, _show), methods=["GET"]),
        Route(f"{room}/cancel", for_analysts(state, _cancel), methods=["POST"]),
        *(
            Route(f"{room}/{name}", for_analysts(state, way), methods=["GET"])
            for name, way in ways.items()
        ),
    ]


def _job(visit: PageRequest) -> Job:
    return find_made(visit, visit.request.path_params["job"])


def _show(visit: PageRequest) -> Response:
    job = _job(visit)
    part = _part(visit, job)
    if visit.wants_part:
        return visit.part("piece_plain.html", shown=part)
    form = {"learn": "/model", "synthesize": "/synthesize"}[job.verb]
    return visit.show(
        "made.html",
        here="Workbench",
        title=title_of_job(job),
        dataset=job.dataset,
        form=f"{form}/{job.dataset}",
        python=_code(visit, job),
        shown=part,
    )


def _cancel(visit: PageRequest) -> Response:
    """Stop a job; what was charged stays charged."""
    job = visit.state.jobs.cancel(visit.person.name, _job(visit).id)
    visit.state.log.write("cancel", who=visit.person.name, dataset=job.dataset, status=200)
    return (
        visit.part("piece_plain.html", shown=_part(visit, job))
        if visit.wants_part
        else to(f"/made/{job.id}")
    )


def _part(visit: PageRequest, job: Job) -> Markup:
    """Return what there is to see of a job by now."""
    finished, seen = visit.state.jobs.view(job)
    words: dict[str, Any] = {
        "job": job,
        "mark": fresh_mark(),
        "csrf": visit.signed.csrf,
        "room": "/made",
    }
    reply: Any = seen.get("reply")
    if not finished or reply is None:
        wait = max(50, round(1000 * float(str(seen.get("again_in", 0.25)))) + 20)
        return html(
            "piece_job.html",
            wait=wait,
            seconds=f"{float(str(seen.get('seconds', 0))):.1f}",
            **words,
        )
    if job.state == "done":
        return html("piece_made.html", made=_view(visit, job, reply), **words)
    if job.state == "cancelled":
        return html("piece_cancelled.html", **words)
    error = reply["error"]
    return html(
        "piece_refusal.html", refusal=word_refusal(error["kind"], error["message"]), **words
    )


def _view(visit: PageRequest, job: Job, reply: dict[str, Any]) -> ProductView:
    parts = _parts(visit, job, reply)
    charts = [
        chart
        for part in parts
        for chart in charts_of(part.reply, 0.95)
        if len(part.reply["columns"]) == 2
    ]
    text = reply["text"] if job.verb == "synthesize" else ""
    return ProductView(
        text, cost_of(reply), tuple(map(set_of, parts)), tuple(charts), FILES[job.verb]
    )


def _parts(visit: PageRequest, job: Job, reply: dict[str, Any]) -> tuple[AnswerPart, ...]:
    """Lay out what was released; where that takes too long for a page, the files still have it."""
    if job.verb == "learn":
        return learned_tables(reply["trained"])
    try:
        return visit.state.desk.ask(visit.person.name, job.dataset, count_tables, reply["released"])
    except DiscreetError:
        return ()


def _done(visit: PageRequest, verb: str = "") -> tuple[Job, dict[str, Any]]:
    job = _job(visit)
    finished, seen = visit.state.jobs.view(job)
    reply = seen.get("reply")
    if (
        not finished
        or job.state != "done"
        or not isinstance(reply, dict)
        or verb not in ("", job.verb)
    ):
        raise NotAllowed("there is nothing of that kind to take home here")
    return job, reply


def _records(visit: PageRequest) -> Response:
    """Make records anew: every download has others, all cost nothing."""
    job, reply = _done(visit, "synthesize")
    made = visit.state.desk.ask(visit.person.name, job.dataset, records_csv, reply["released"])
    return file_of(job, made, "text/csv", "-records.csv")


def _tables(visit: PageRequest) -> Response:
    job, reply = _done(visit, "synthesize")
    made = visit.state.desk.ask(visit.person.name, job.dataset, tables_json, reply["released"])
    return file_of(job, made, "application/json", "-tables.json")


def _model(visit: PageRequest) -> Response:
    job, reply = _done(visit, "learn")
    return file_of(job, json.dumps(reply["trained"]), "application/json", "-model.json")


def _python(visit: PageRequest) -> Response:
    job, _ = _done(visit)
    return file_of(job, _code(visit, job), "text/x-python", ".py")


def _code(visit: PageRequest, job: Job) -> str:
    write = model_code if job.verb == "learn" else synthesis_code
    return write(visit.state.config.url, job.dataset, job.body)


def _receipt(visit: PageRequest) -> Response:
    """Return the receipt in its one canonical text, byte for byte."""
    job, reply = _done(visit)
    return file_of(job, str(reply["receipt"]), "application/json", "-receipt.json")
