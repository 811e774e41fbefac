"""Files of an answer: its table as CSV and Parquet, its charts as SVG, its receipt, and code to ask again.

A kind of file is a row of a table: media type, end of the file's name, and the function that writes it. The files of
synthetic tables and models are served in the same way.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import duckdb
from starlette.responses import Response
from starlette.routing import Route

from ....errors import NotAllowed
from ....frozen import frozen
from ...jobs.job import Job
from ...state import State
from ..answer_view import answer_csv, answer_table
from ..answer_words import labelled, question_of_answer
from ..answers import find_job, schemas_of
from ..charts.drawing import drawing
from ..charts.grouping_tables import answer_charts
from ..history import sql_of
from ..page_request import PageRequest, for_analysts
from ..render import HEADERS
from .question_code import python_code, sql_code

Reply: TypeAlias = dict[str, Any]


@frozen
class FileKind:
    """Kind of file: media type, end of the file's name, and the function that writes it.

    `verb` names the only verb whose jobs have such a file; "" if all have.
    """

    media_type: str
    ending: str
    write: Callable[[PageRequest, Job, Reply], str | bytes]
    verb: str = ""


FindReply: TypeAlias = Callable[[PageRequest, FileKind], tuple[Job, Reply]]


def download_routes(
    state: State, address: str, kinds: Mapping[str, FileKind], find: FindReply
) -> list[Route]:
    """Return a route for each kind of file below an address; `find` returns the job with its reply."""
    routes = []
    for name, kind in kinds.items():
        endpoint = for_analysts(state, partial(_download, kind, find))
        routes.append(Route(f"{address}/{name}", endpoint, methods=["GET"]))
    return routes


def _download(kind: FileKind, find: FindReply, visit: PageRequest) -> Response:
    """Respond with a file that is named after its data set and job."""
    job, reply = find(visit, kind)
    content = kind.write(visit, job, reply)
    name = f"{job.dataset}-{job.id[:8]}{_ending(kind, visit)}"
    headers = HEADERS | {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=kind.media_type, headers=headers)


def _ending(kind: FileKind, visit: PageRequest) -> str:
    """Return the end of a file's name; that of a chart has the number of the chart."""
    return kind.ending.format(**visit.request.path_params)


def finished_reply(visit: PageRequest, job: Job) -> Reply | None:
    """Return the reply of a job that is done; None until its user may see it, and after any other end."""
    finished, view = visit.state.jobs.view(job)
    reply = view.get("reply")
    if finished and job.state == "done" and isinstance(reply, dict):
        return reply
    return None


def write_receipt(_visit: PageRequest, _job: Job, reply: Reply) -> str:
    """Return the receipt in its one canonical text, byte for byte."""
    return str(reply["receipt"])


def file_routes(state: State) -> list[Route]:
    """Return the routes of the files of answers."""
    return download_routes(state, "/answers/{job}", _KINDS, _find_answer)


def _find_answer(visit: PageRequest, _kind: FileKind) -> tuple[Job, Reply]:
    """Return the job in the path with its reply; refuse one without an answer."""
    job = find_job(visit, visit.request.path_params["job"])
    reply = finished_reply(visit, job)
    if reply is None:
        raise NotAllowed("this question has no answer to take home")
    return job, reply


def _write_csv(_visit: PageRequest, _job: Job, reply: Reply) -> str:
    return answer_csv(reply)


def _write_parquet(_visit: PageRequest, _job: Job, reply: Reply) -> bytes:
    return answer_parquet(reply)


def _write_python(visit: PageRequest, job: Job, _reply: Reply) -> str:
    return python_code(visit.state.config.url, job.dataset, job.body)


def _write_sql(_visit: PageRequest, job: Job, _reply: Reply) -> str:
    return sql_code(job.dataset, job.body)


def _write_chart(visit: PageRequest, job: Job, reply: Reply) -> str:
    """Return one chart as SVG, from which the page makes a PNG."""
    every = visit.request.query_params.get("groups") == "all"
    sql = sql_of(job)
    shown = labelled(reply, question_of_answer(sql, schemas_of(visit, job)))
    charts = [chart for chart in answer_charts(shown, sql, every=every) if chart.picture]
    place: int = visit.request.path_params["place"]
    if not 1 <= place <= len(charts):
        raise NotAllowed(f"this answer has {len(charts)} charts, numbered from 1")
    return drawing(charts[place - 1].picture)


_KINDS = {
    "table.csv": FileKind("text/csv", ".csv", _write_csv),
    "table.parquet": FileKind("application/vnd.apache.parquet", ".parquet", _write_parquet),
    "receipt.json": FileKind("application/json", "-receipt.json", write_receipt),
    "question.py": FileKind("text/x-python", ".py", _write_python),
    "question.sql": FileKind("application/sql", ".sql", _write_sql),
    "chart-{place:int}.svg": FileKind("image/svg+xml", "-{place}.svg", _write_chart),
}

MAX_BIGINT = 2**63


def answer_parquet(reply: Mapping[str, Any]) -> bytes:
    """Write the table as Parquet, every noisy column followed by the ends of its interval.

    The columns are those of the CSV, with types. DuckDB writes the file, so no other package is needed.

    >>> from discreet.service.pages.downloads.files import answer_parquet
    >>> reply = {"columns": [{"name": "n", "noisy": True}], "rows": [[3.0]], "intervals": [[[1.0, 5.0]]]}
    >>> answer_parquet(reply)[:4]
    b'PAR1'
    """
    names, *rows = answer_table(reply, None)
    # Columns go by number until they are renamed: two names of an answer may differ in case only.
    lines = [json.dumps({f"c{index}": value for index, value in enumerate(row)}) for row in rows]
    types = []
    columns = []
    for index, name in enumerate(_distinct(names)):
        types.append(f"c{index}: '{_type([row[index] for row in rows])}'")
        columns.append(f'c{index} AS "{name}"')
    with TemporaryDirectory() as folder, duckdb.connect() as store:
        source = Path(folder, "rows.json")
        target = Path(folder, "answer.parquet")
        source.write_text("".join(f"{line}\n" for line in lines))
        options = f"format = 'newline_delimited', columns = {{{', '.join(types)}}}"
        select = f"SELECT {', '.join(columns)} FROM read_json('{source}', {options})"  # noqa: S608 - names are quoted
        store.execute(f"COPY ({select}) TO '{target}' (FORMAT PARQUET)")
        return target.read_bytes()


def _distinct(names: Sequence[object]) -> list[str]:
    """Quote names for SQL; one that was there before, whatever its case, gets a number."""
    used: set[str] = set()
    quoted = []
    for name in names:
        column = str(name)
        count = 2
        while column.lower() in used:
            column = f"{name}_{count}"
            count += 1
        used.add(column.lower())
        quoted.append(column.replace('"', '""'))
    return quoted


def _type(values: Sequence[object]) -> str:
    """Return the SQL type that holds all values of a column."""
    present = [value for value in values if value is not None]
    kinds = {type(value) for value in present}
    if kinds == {bool}:
        return "BOOLEAN"
    if kinds == {int} and all(
        -MAX_BIGINT <= value < MAX_BIGINT for value in present if isinstance(value, int)
    ):
        return "BIGINT"
    if kinds and kinds <= {int, float}:
        return "DOUBLE"
    return "VARCHAR"
