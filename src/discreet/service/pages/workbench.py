"""Workbench of analysts: write a question, see its cost and error, then run it, or rehearse it for free."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup
from starlette.responses import Response
from starlette.routing import Route

from ...data.display import column_rows
from ...data.schema import Schema
from ...data.unit import People
from ...errors import DiscreetError, NotAllowed
from ...plan.asked.terms import DEFAULT_LEVEL
from ...wire.json_text import write_json
from ...wire.reply import status_of
from ...wire.verbs.question import Ask, rehearse
from ..state import State
from ..stores.saved import SavedQuestions
from .answer_view import answer_view
from .answers import find_job, fresh_mark, job_part
from .ask_form import AskFields, BudgetUnit, ask_of, examples_of, unit_of
from .explanation_view import check_run, explain_refusal, explanation
from .forms.builder import asked_fields, builder_of
from .history import past_of
from .number_text import percent
from .page_request import PageRequest, for_analysts, table_routes, to
from .refusal_view import refusal_of
from .render import html

RECENT = 6
"""Past questions listed beside the editor."""

MAX_MARK_LENGTH = 64
POLL_MILLISECONDS = 30
"""Wait of the page before its first poll of a new job."""

COMPLETED = (
    "SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT JOIN USING AND OR NOT IN "
    "BETWEEN IS NULL AS ASC DESC CASE WHEN THEN ELSE END DISTINCT CUBE DATE "
    "COUNT SUM AVG MEDIAN MIN MAX STDDEV VARIANCE QUANTILE MODE CORR DATE_TRUNC"
)
"""Keywords and functions of SQL that the editor completes and colours."""


def workbench_routes(state: State) -> list[Route]:
    """Return the routes of the workbench."""
    path = "/workbench/{dataset}"
    return table_routes(
        state,
        for_analysts,
        ("GET", "/workbench", _first),
        ("GET POST", path, _show),
        ("POST", f"{path}/explain", _explain),
        ("POST", f"{path}/rehearse", _rehearse),
        ("POST", f"{path}/run", _run),
    )


def dataset_of(visit: PageRequest) -> str:
    """Return the data set that the path names; refuses one that the user may not ask about."""
    name: str = visit.request.path_params["dataset"]
    visit.state.datasets.check(visit.person, name)
    return name


def _first(visit: PageRequest) -> Response:
    allowed = visit.state.datasets.allowed(visit.person)
    if not allowed:
        return visit.show("empty.html", here="Ask")
    return to(f"/workbench/{allowed[0]}")


def _show(visit: PageRequest) -> Response:
    """Show the workbench; a form sent here without a script is explained on the page."""
    dataset = dataset_of(visit)
    schemas = visit.state.datasets.schemas(dataset)
    examples = examples_of(schemas)
    unit = _unit(visit, dataset)
    given = visit.form or dict(visit.request.query_params)
    fields, said = asked_fields(given, schemas, unit)
    tables = [_table(schema) for schema in schemas]
    person = visit.person.name
    return visit.show(
        "workbench.html",
        here="Ask",
        dataset=dataset,
        datasets=visit.state.datasets.allowed(visit.person),
        fields=fields,
        unit=unit,
        level=percent(DEFAULT_LEVEL),
        mark=fresh_mark(),
        tables=tables,
        examples=examples,
        form=builder_of(given, schemas, delta=bool(unit.delta)),
        past=past_of(visit.state, person, most=RECENT, dataset=dataset),
        saved=SavedQuestions(visit.state.store).of(person, dataset),
        names=_names(tables),
        shown=_answer(visit),
        **_explanation(visit, dataset, fields, unit, said),
    )


def _table(schema: Schema) -> dict[str, Any]:
    """Return name, unit and columns of a table for the list beside the editor."""
    columns = []
    for name, kind, values, _ in column_rows(schema):
        label = schema.columns[name].label
        columns.append({"name": name, "label": label, "kind": kind, "values": values})
    return {
        "name": schema.name,
        "label": schema.label,
        "unit": _protected(schema),
        "columns": columns,
    }


def _protected(schema: Schema) -> str:
    """Return the sentence that says who is protected: each person, each row, or nobody (public)."""
    unit = schema.unit
    if unit is None:
        return "This table is public."
    if isinstance(unit, People):
        return f"Each person is protected. At most {unit.max_rows} rows of a person count."
    return "Each row is protected."


def _answer(visit: PageRequest) -> Markup:
    """Show the answer that the address names, so that a reloaded page still has it."""
    name = visit.request.query_params.get("answer")
    if not name:
        return Markup()
    try:
        return job_part(visit, find_job(visit, name))
    except NotAllowed:
        # An old address must not keep the workbench from opening.
        return Markup()


def _names(tables: list[dict[str, Any]]) -> str:
    """Return the names that the editor completes: tables, columns, and keywords of SQL."""
    names = []
    for table in tables:
        names.append(table["name"])
        names += [column["name"] for column in table["columns"]]
    names += COMPLETED.split()
    return " ".join(dict.fromkeys(names))


def _unit(visit: PageRequest, dataset: str) -> BudgetUnit:
    return unit_of(visit.state.datasets.ledger(dataset).promise())


def _read(visit: PageRequest) -> tuple[str, BudgetUnit, AskFields, dict[str, Any]]:
    """Return data set, unit, fields and what is said of the SQL of a form that was sent."""
    dataset = dataset_of(visit)
    unit = _unit(visit, dataset)
    fields, said = asked_fields(visit.form, visit.state.datasets.schemas(dataset), unit)
    return dataset, unit, fields, said


def _explain(visit: PageRequest) -> Response:
    dataset, unit, fields, said = _read(visit)
    return visit.part("piece_explained.html", **_explanation(visit, dataset, fields, unit, said))


def _explanation(
    visit: PageRequest, dataset: str, fields: AskFields, unit: BudgetUnit, said: dict[str, Any]
) -> dict[str, Any]:
    """Return the values of an explanation, computed in a planning worker, or of its refusal."""
    problem = said["problem"]
    if problem is not None:
        return explain_refusal(problem, fields) | said
    try:
        pool = visit.state.planning_pool
        return pool.ask(visit.person.name, dataset, explanation, fields, unit) | said
    except DiscreetError as refusal:
        return explain_refusal(refusal, fields) | said


def _rehearse(visit: PageRequest) -> Response:
    """Answer from made-up rows: free, since no private row is touched."""
    dataset, unit, fields, said = _read(visit)
    try:
        ask = _ask(fields, unit, said)
        cells = visit.state.config.bounds.cells
        reply = visit.state.planning_pool.ask(visit.person.name, dataset, rehearse, ask, cells)
    except DiscreetError as refusal:
        return _show_refusal(visit, dataset, refusal, fields.sql)
    view = answer_view(reply, fields.sql, visit.state.datasets.schemas(dataset), rehearsal=True)
    return _show_piece(visit, dataset, "piece_answer.html", answer=view, job=None)


def _ask(fields: AskFields, unit: BudgetUnit, said: dict[str, Any]) -> Ask:
    """Read the question with its terms; refuses choices that give none."""
    if said["problem"] is not None:
        raise said["problem"]
    return ask_of(fields, unit)


def _run(visit: PageRequest) -> Response:
    """Submit the question as a job, unless it can be refused now; `mark` is its idempotency key."""
    dataset, unit, fields, said = _read(visit)
    try:
        ask = _ask(fields, unit, said)
        # A refusal that needs no data is shown at once, without a job.
        cells = visit.state.config.bounds.cells
        visit.state.planning_pool.ask(visit.person.name, dataset, check_run, ask, cells)
        body = write_json(ask.to_json())
        mark = visit.form.get("mark", "")[:MAX_MARK_LENGTH]
        job = visit.state.jobs.put(visit.person.name, dataset, "sql", body, mark)
    except DiscreetError as refusal:
        return _show_refusal(visit, dataset, refusal, fields.sql)
    visit.state.log.write("sql", who=visit.person.name, dataset=dataset, status=202)
    if not visit.wants_part:
        return to(f"/answers/{job.id}")
    _, view = visit.state.jobs.view(job)
    return visit.part(
        "piece_job.html",
        job=job,
        wait=POLL_MILLISECONDS,
        seconds=view.get("seconds", 0),
        mark=fresh_mark(),
    )


def _show_refusal(visit: PageRequest, dataset: str, refusal: DiscreetError, sql: str) -> Response:
    view = refusal_of(refusal, sql)
    status = status_of(refusal)
    return _show_piece(visit, dataset, "piece_refusal.html", status=status, refusal=view)


def _show_piece(
    visit: PageRequest, dataset: str, template: str, *, status: int = 200, **words: object
) -> Response:
    """Respond with a fragment to the script of the page, else with a page around it."""
    if visit.wants_part:
        return visit.part(template, status=status, mark=fresh_mark(), **words)
    shown: Markup = html(template, mark="", csrf="", **words)
    return visit.show("answer_piece.html", status=status, here="Ask", dataset=dataset, shown=shown)
