"""Page of a synthetic table or model: running, with a button to cancel; then its view and files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup
from starlette.responses import Response
from starlette.routing import Route

from ....errors import DiscreetError, NotAllowed
from ....frozen import frozen
from ...jobs.job import Job
from ...state import State
from ..answer_view import AnswerSet, cost_of, set_of
from ..answers import cancel_job, job_fragment
from ..charts.grouping_tables import AnswerPart
from ..charts.series import Chart, charts_of
from ..downloads.files import FileKind, Reply, download_routes, finished_reply, write_receipt
from ..downloads.question_code import model_code, synthesis_code
from ..number_text import percent
from ..page_request import PageRequest, for_analysts, table_routes, to
from ..render import html
from .past_products import find_made, title_of_job
from .product_view import LEVEL, count_tables, learned_tables, records_csv, tables_json

FILES = {
    "synthesize": (
        ("records.csv", "Records as CSV"),
        ("tables.json", "Tables as JSON"),
        ("use.py", "Python"),
        ("receipt.json", "Receipt"),
    ),
    "learn": (("model.json", "Model as JSON"), ("use.py", "Python"), ("receipt.json", "Receipt")),
}
"""Files of each kind of product, and the words of their links."""


@frozen
class ProductView:
    """Values of the fragment that shows a finished product."""

    text: str
    cost: str
    tables: tuple[AnswerSet, ...]
    charts: tuple[Chart, ...]
    files: tuple[tuple[str, str], ...]


def made_routes(state: State) -> list[Route]:
    """Return the routes of products and their files."""
    path = "/made/{job}"
    return [
        *table_routes(
            state, for_analysts, ("GET", path, _show), ("POST", f"{path}/cancel", _cancel)
        ),
        *download_routes(state, path, _KINDS, _find_product),
    ]


def _job(visit: PageRequest) -> Job:
    return find_made(visit, visit.request.path_params["job"])


def _show(visit: PageRequest) -> Response:
    """Show the page of a product, or its fragment alone if a script asks."""
    job = _job(visit)
    part = _part(visit, job)
    if visit.wants_part:
        return visit.part("piece_plain.html", shown=part)
    form = "/model" if job.verb == "learn" else "/synthesize"
    return visit.show(
        "made.html",
        here="Ask",
        title=title_of_job(job),
        dataset=job.dataset,
        form=f"{form}/{job.dataset}",
        python=_code(visit, job),
        shown=part,
    )


def _cancel(visit: PageRequest) -> Response:
    job = cancel_job(visit, _job(visit).id)
    if visit.wants_part:
        return visit.part("piece_plain.html", shown=_part(visit, job))
    return to(f"/made/{job.id}")


def _part(visit: PageRequest, job: Job) -> Markup:
    """Return the fragment of a product's job."""

    def show_product(reply: Mapping[str, Any], common: Mapping[str, Any]) -> Markup:
        made = _view(visit, job, reply)
        return html("piece_made.html", made=made, level=percent(LEVEL), **common)

    return job_fragment(visit, job, "/made", show_product)


def _view(visit: PageRequest, job: Job, reply: Mapping[str, Any]) -> ProductView:
    """Lay out the tables and charts of a finished product."""
    parts = _parts(visit, job, reply)
    charts: list[Chart] = []
    for part in parts:
        # A table of one key and one noisy column has a chart; others are tables only.
        if len(part.reply["columns"]) == 2:
            charts += charts_of(part.reply, LEVEL)
    text = reply["text"] if job.verb == "synthesize" else ""
    tables = tuple(set_of(part) for part in parts)
    return ProductView(text, cost_of(reply), tables, tuple(charts), FILES[job.verb])


def _parts(visit: PageRequest, job: Job, reply: Mapping[str, Any]) -> tuple[AnswerPart, ...]:
    """Return the tables of a product; none where that takes too long for a page, the files still have them."""
    if job.verb == "learn":
        return learned_tables(reply["trained"])
    try:
        return visit.state.planning_pool.ask(
            visit.person.name, job.dataset, count_tables, reply["released"]
        )
    except DiscreetError:
        return ()


def _find_product(visit: PageRequest, kind: FileKind) -> tuple[Job, Reply]:
    """Return the job in the path with its reply; refuse a kind of file that it does not have."""
    job = _job(visit)
    reply = finished_reply(visit, job)
    if reply is None or kind.verb not in ("", job.verb):
        raise NotAllowed("there is nothing of that kind to take home here")
    return job, reply


def _write_records(visit: PageRequest, job: Job, reply: Reply) -> str:
    """Sample records anew: every download has others, and none costs anything."""
    return visit.state.planning_pool.ask(
        visit.person.name, job.dataset, records_csv, reply["released"]
    )


def _write_tables(visit: PageRequest, job: Job, reply: Reply) -> str:
    return visit.state.planning_pool.ask(
        visit.person.name, job.dataset, tables_json, reply["released"]
    )


def _write_model(_visit: PageRequest, _job: Job, reply: Reply) -> str:
    return json.dumps(reply["trained"])


def _write_code(visit: PageRequest, job: Job, _reply: Reply) -> str:
    return _code(visit, job)


def _code(visit: PageRequest, job: Job) -> str:
    write = model_code if job.verb == "learn" else synthesis_code
    return write(visit.state.config.url, job.dataset, job.body)


_KINDS = {
    "records.csv": FileKind("text/csv", "-records.csv", _write_records, "synthesize"),
    "tables.json": FileKind("application/json", "-tables.json", _write_tables, "synthesize"),
    "model.json": FileKind("application/json", "-model.json", _write_model, "learn"),
    "use.py": FileKind("text/x-python", ".py", _write_code),
    "receipt.json": FileKind("application/json", "-receipt.json", write_receipt),
}
