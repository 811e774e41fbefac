"""The analyst's workbench: write a question, see what it costs and misses, run it, or rehearse it for nothing."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup
from starlette.responses import Response
from starlette.routing import Route

from ...data.display import facts, heading
from ...errors import DiscreetError, NotAllowed
from ...wire.json_text import write_json
from ...wire.reply import status_of
from ...wire.request import Ask
from ..api.handlers import rehearse
from ..state import State
from ..stores.saved import SavedQuestions
from .answer_view import answer_view
from .answers import find_job, fresh_mark, job_part
from .ask_form import AskFields, BudgetUnit, ask_of, examples_of, read_fields, unit_of
from .explanation_view import check_run, explain_refusal, explanation
from .forms.builder import builders
from .history import past_of
from .page_request import PageRequest, for_analysts, to
from .refusal_view import word_refusal
from .render import html

RECENT = 6
COMPLETED = (
    *(
        "SELECT",
        "FROM",
        "WHERE",
        "GROUP",
        "BY",
        "HAVING",
        "ORDER",
        "LIMIT",
        "JOIN",
        "USING",
        "AND",
        "OR",
        "NOT",
        "IN",
    ),
    *(
        "BETWEEN",
        "IS",
        "NULL",
        "AS",
        "ASC",
        "DESC",
        "CASE",
        "WHEN",
        "THEN",
        "ELSE",
        "END",
        "DISTINCT",
        "CUBE",
        "DATE",
    ),
    *(
        "COUNT",
        "SUM",
        "AVG",
        "MEDIAN",
        "MIN",
        "MAX",
        "STDDEV",
        "VARIANCE",
        "QUANTILE",
        "MODE",
        "CORR",
        "DATE_TRUNC",
    ),
)
"""Words of SQL that the editor completes and colours."""


def workbench_routes(state: State) -> list[Route]:
    """Return the routes of the workbench."""
    room = "/workbench/{dataset}"
    return [
        Route("/workbench", for_analysts(state, _first), methods=["GET"]),
        Route(room, for_analysts(state, _show), methods=["GET", "POST"]),
        Route(f"{room}/explain", for_analysts(state, _explain), methods=["POST"]),
        Route(f"{room}/rehearse", for_analysts(state, _rehearse), methods=["POST"]),
        Route(f"{room}/run", for_analysts(state, _run), methods=["POST"]),
    ]


def dataset_of(visit: PageRequest) -> str:
    """Read which data set is meant; refuses what is not the visitor's."""
    name: str = visit.request.path_params["dataset"]
    visit.state.datasets.check(visit.person, name)
    return name


def _first(visit: PageRequest) -> Response:
    mine = visit.state.datasets.allowed(visit.person)
    return to(f"/workbench/{mine[0]}") if mine else visit.show("empty.html", here="Workbench")


def _show(visit: PageRequest) -> Response:
    """Show the room; a form sent here without a script is explained on the page."""
    dataset = dataset_of(visit)
    schemas = visit.state.datasets.schemas(dataset)
    examples, unit = examples_of(schemas), _unit(visit, dataset)
    fields = read_fields(visit.form or dict(visit.request.query_params), unit, examples[0][1])
    tables = [
        {"name": one.name, "unit": heading(one).partition(": ")[2], "columns": _columns(facts(one))}
        for one in schemas
    ]
    return visit.show(
        "workbench.html",
        here="Workbench",
        dataset=dataset,
        datasets=visit.state.datasets.allowed(visit.person),
        fields=fields,
        unit=unit,
        mark=fresh_mark(),
        tables=tables,
        examples=examples,
        builders=builders(schemas),
        past=past_of(visit.state, visit.person.name, most=RECENT, dataset=dataset),
        saved=SavedQuestions(visit.state.store).of(visit.person.name, dataset),
        names=_names(tables),
        shown=_answer(visit),
        **_explanation(visit, dataset, fields, unit),
    )


def _answer(visit: PageRequest) -> Markup:
    """Show the answer that the address names, so that a page that is loaded again has it still."""
    name = visit.request.query_params.get("answer")
    try:
        return job_part(visit, find_job(visit, name)) if name else Markup()
    except NotAllowed:
        return Markup()


def _names(tables: list[dict[str, Any]]) -> str:
    """Write the names that the editor completes: those of tables and columns, and the words of SQL that are read."""
    declared = [
        name
        for one in tables
        for name in (one["name"], *(column["name"] for column in one["columns"]))
    ]
    return " ".join(dict.fromkeys((*declared, *COMPLETED)))


def _columns(lines: list[tuple[str, str, str, str]]) -> list[dict[str, str]]:
    return [{"name": name, "kind": kind, "values": values} for name, kind, values, _ in lines]


def _unit(visit: PageRequest, dataset: str) -> BudgetUnit:
    return unit_of(visit.state.datasets.ledger(dataset).promise())


def _explain(visit: PageRequest) -> Response:
    dataset = dataset_of(visit)
    unit = _unit(visit, dataset)
    return visit.part(
        "piece_explained.html", **_explanation(visit, dataset, read_fields(visit.form, unit), unit)
    )


def _explanation(
    visit: PageRequest, dataset: str, fields: AskFields, unit: BudgetUnit
) -> dict[str, Any]:
    try:
        return visit.state.desk.ask(visit.person.name, dataset, explanation, fields, unit)
    except DiscreetError as refusal:
        return explain_refusal(refusal, fields)


def _rehearse(visit: PageRequest) -> Response:
    """Answer from made-up rows: free, and it says nothing about the data."""
    dataset = dataset_of(visit)
    unit = _unit(visit, dataset)
    fields = read_fields(visit.form, unit)
    try:
        cells = visit.state.config.bounds.cells
        reply = visit.state.desk.ask(
            visit.person.name, dataset, rehearse, ask_of(fields, unit), cells
        )
    except DiscreetError as refusal:
        return _show_refusal(visit, dataset, refusal, fields.sql)
    view = answer_view(reply, fields.sql, rehearsal=True)
    return _show_piece(visit, dataset, "piece_answer.html", answer=view, job=None)


def _run(visit: PageRequest) -> Response:
    """Put the question up as a job, unless it can be refused now; sent twice with one mark it is one job."""
    dataset = dataset_of(visit)
    unit = _unit(visit, dataset)
    fields = read_fields(visit.form, unit)
    try:
        ask = ask_of(fields, unit)
        _check(visit, dataset, ask)
        body = write_json(ask.to_json())
        job = visit.state.jobs.put(
            visit.person.name, dataset, "sql", body, visit.form.get("mark", "")[:64]
        )
    except DiscreetError as refusal:
        return _show_refusal(visit, dataset, refusal, fields.sql)
    visit.state.log.write("sql", who=visit.person.name, dataset=dataset, status=202)
    if not visit.wants_part:
        return to(f"/answers/{job.id}")
    wait, seen = 30, visit.state.jobs.view(job)[1]
    return visit.part(
        "piece_job.html", job=job, wait=wait, seconds=seen.get("seconds", 0), mark=fresh_mark()
    )


def _check(visit: PageRequest, dataset: str, ask: Ask) -> None:
    visit.state.desk.ask(
        visit.person.name, dataset, check_run, ask, visit.state.config.bounds.cells
    )


def _show_refusal(visit: PageRequest, dataset: str, refusal: DiscreetError, sql: str) -> Response:
    words = word_refusal(type(refusal).__name__, str(refusal), sql)
    return _show_piece(
        visit, dataset, "piece_refusal.html", status=status_of(refusal), refusal=words
    )


def _show_piece(
    visit: PageRequest, dataset: str, template: str, *, status: int = 200, **words: object
) -> Response:
    """Return a part to the script of the page, or a page around it."""
    if visit.wants_part:
        return visit.part(template, status=status, mark=fresh_mark(), **words)
    shown: Markup = html(template, mark="", csrf="", **words)
    return visit.show(
        "answer_piece.html", status=status, here="Workbench", dataset=dataset, shown=shown
    )
