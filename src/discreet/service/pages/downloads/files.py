"""Files of an answer: its table as CSV and Parquet, its charts, its receipt, and code to ask again."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from ....errors import NotAllowed
from ...jobs.job import Job
from ...state import State
from ..answer_view import answer_csv
from ..answers import find_job
from ..charts.grouping_tables import answer_charts
from ..history import sql_of
from ..page_request import PageRequest, for_analysts
from ..render import HEADERS
from .chart_file import drawing
from .parquet import answer_parquet
from .question_code import python_code, sql_code


def file_routes(state: State) -> list[Route]:
    """Return the routes of everything that can be taken home."""
    room = "/answers/{job}"
    ways = {
        "table.csv": _csv,
        "table.parquet": _parquet,
        "receipt.json": _receipt,
        "question.py": _python,
        "question.sql": _sql,
        "chart-{place:int}.svg": _chart,
    }
    return [
        Route(f"{room}/{name}", for_analysts(state, way), methods=["GET"])
        for name, way in ways.items()
    ]


def _reply(visit: PageRequest) -> tuple[Job, dict[str, Any]]:
    job = find_job(visit, visit.request.path_params["job"])
    finished, seen = visit.state.jobs.view(job)
    reply = seen.get("reply")
    if not finished or job.state != "done" or not isinstance(reply, dict):
        raise NotAllowed("this question has no answer to take home")
    return job, reply


def file_of(job: Job, content: str | bytes, kind: str, ending: str) -> Response:
    """Return what a job came to as a file to keep, named after its data set."""
    heads = HEADERS | {
        "Content-Disposition": f'attachment; filename="{job.dataset}-{job.id[:8]}{ending}"'
    }
    return Response(content, media_type=kind, headers=heads)


def _csv(visit: PageRequest) -> Response:
    job, reply = _reply(visit)
    return file_of(job, answer_csv(reply), "text/csv", ".csv")


def _parquet(visit: PageRequest) -> Response:
    job, reply = _reply(visit)
    return file_of(job, answer_parquet(reply), "application/vnd.apache.parquet", ".parquet")


def _receipt(visit: PageRequest) -> Response:
    """Return the receipt in its one canonical text, byte for byte."""
    job, reply = _reply(visit)
    return file_of(job, str(reply["receipt"]), "application/json", "-receipt.json")


def _python(visit: PageRequest) -> Response:
    job, _ = _reply(visit)
    return file_of(
        job, python_code(visit.state.config.url, job.dataset, job.body), "text/x-python", ".py"
    )


def _sql(visit: PageRequest) -> Response:
    job, _ = _reply(visit)
    return file_of(job, sql_code(job.dataset, job.body), "application/sql", ".sql")


def _chart(visit: PageRequest) -> Response:
    """Return one chart as SVG; the page makes a PNG of it."""
    job, reply = _reply(visit)
    every = visit.request.query_params.get("groups") == "all"
    charts = [one for one in answer_charts(reply, sql_of(job), every=every) if one.picture]
    place: int = visit.request.path_params["place"]
    if not 1 <= place <= len(charts):
        raise NotAllowed(f"this answer has {len(charts)} charts, numbered from 1")
    return file_of(job, drawing(charts[place - 1].picture), "image/svg+xml", f"-{place}.svg")
