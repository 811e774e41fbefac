"""Forms of synthetic tables and models: choose, see cost and error, then submit a charged job."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from ....errors import DiscreetError
from ....frozen import frozen
from ....wire.json_text import write_json
from ....wire.reply import status_of
from ....wire.verbs.synthesis import read_synthesis
from ....wire.verbs.training import read_learn
from ...state import State
from ..answers import fresh_mark
from ..ask_form import BudgetUnit, unit_of
from ..charts.amount import left_bar
from ..page_request import PageRequest, for_analysts, to
from ..refusal_view import word_refusal
from ..workbench import dataset_of
from .form import (
    KINDS,
    UNAIMED,
    ProductFields,
    model_words,
    read_make,
    synthesis_words,
    usable_columns,
)
from .past_products import made_before
from .preview import Preview, weigh_model, weigh_synthesis


@frozen
class ProductForms:
    """One room: its address, the verb it pays for, how its fields become a request, and how that is weighed."""

    path: str
    verb: str
    template: str
    words: Callable[[ProductFields, BudgetUnit], dict[str, object]]
    weigh: Callable[[PageRequest, str, Mapping[str, object], ProductFields], Preview]
    read: Callable[[object], Any]


def _weigh_synthesis(
    visit: PageRequest, dataset: str, words: Mapping[str, object], _fields: ProductFields
) -> Preview:
    cells = visit.state.config.bounds.cells
    return visit.state.desk.ask(
        visit.person.name, dataset, weigh_synthesis, read_synthesis(words), cells
    )


def _weigh_model(
    visit: PageRequest, dataset: str, words: Mapping[str, object], fields: ProductFields
) -> Preview:
    cells, rows = visit.state.config.bounds.cells, int(fields.size)
    return visit.state.desk.ask(
        visit.person.name, dataset, weigh_model, read_learn(words), rows, cells
    )


ROOMS = (
    ProductForms(
        "/synthesize",
        "synthesize",
        "synthesize.html",
        synthesis_words,
        _weigh_synthesis,
        read_synthesis,
    ),
    ProductForms("/model", "learn", "model.html", model_words, _weigh_model, read_learn),
)


def make_routes(state: State) -> list[Route]:
    """Return the routes of both rooms."""
    found = []
    for room in ROOMS:
        ways = {
            "": (_show, ["GET", "POST"]),
            "/weigh": (_weigh, ["POST"]),
            "/run": (_run, ["POST"]),
        }
        for end, (way, methods) in ways.items():
            path, handler = f"{room.path}/{{dataset}}{end}", partial(way, room)
            found.append(Route(path, for_analysts(state, handler), methods=methods))
    return found


def _fields(visit: PageRequest, dataset: str) -> tuple[ProductFields, BudgetUnit]:
    budget = visit.state.datasets.ledger(dataset).promise()
    form = visit.form or dict(visit.request.query_params)
    return read_make(form, visit.state.datasets.schemas(dataset), budget), unit_of(budget)


def _show(room: ProductForms, visit: PageRequest) -> Response:
    """Show the form with what it would cost; a form sent here without a script is weighed on the page."""
    dataset = dataset_of(visit)
    return _page(room, visit, dataset, _scales(room, visit, dataset))


def _weigh(room: ProductForms, visit: PageRequest) -> Response:
    return visit.part("piece_weighed.html", **_scales(room, visit, dataset_of(visit)))


def _scales(room: ProductForms, visit: PageRequest, dataset: str) -> dict[str, Any]:
    """Weigh what stands in the form, or say what is wrong with it."""
    fields, unit = _fields(visit, dataset)
    try:
        found = room.weigh(visit, dataset, room.words(fields, unit), fields)
        found.check()
    except DiscreetError as refusal:
        return {
            "refusal": word_refusal(type(refusal).__name__, str(refusal), fields.select),
            "weighed": None,
            "bar": "",
        }
    return {"refusal": None, "weighed": found, "bar": left_bar(found.purse)}


def _page(
    room: ProductForms, visit: PageRequest, dataset: str, scales: dict[str, Any], status: int = 200
) -> Response:
    fields, unit = _fields(visit, dataset)
    schemas = tuple(one for one in visit.state.datasets.schemas(dataset) if not one.public)
    return visit.show(
        room.template,
        status=status,
        here="Workbench",
        dataset=dataset,
        room=room.path,
        fields=fields,
        unit=unit,
        mark=fresh_mark(),
        tables=[one.name for one in schemas],
        usable=next(usable_columns(one) for one in schemas if one.name == fields.table),
        kinds=KINDS,
        unaimed=UNAIMED,
        past=made_before(visit.state, visit.person.name, dataset, room.verb),
        **scales,
    )


def _run(room: ProductForms, visit: PageRequest) -> Response:
    """Put it up as a job, unless it can be refused now; sent twice with one mark it is one job, charged once."""
    dataset = dataset_of(visit)
    fields, unit = _fields(visit, dataset)
    mark = visit.form.get("mark", "")[:64]
    try:
        words = room.words(fields, unit)
        if not mark or visit.state.jobs.shelf.marked(visit.person.name, mark) is None:
            room.weigh(visit, dataset, words, fields).check()
        body = write_json(room.read(words).to_json())
        job = visit.state.jobs.put(visit.person.name, dataset, room.verb, body, mark)
    except DiscreetError as refusal:
        said = word_refusal(type(refusal).__name__, str(refusal), fields.select)
        scales = {"refusal": said, "weighed": None, "bar": ""}
        return _page(room, visit, dataset, scales, status_of(refusal))
    visit.state.log.write(room.verb, who=visit.person.name, dataset=dataset, status=202)
    return to(f"/made/{job.id}")
