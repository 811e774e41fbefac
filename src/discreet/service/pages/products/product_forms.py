"""Pages with the forms of synthetic tables and models: choose, see cost and error, then submit a charged job."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from ....errors import DiscreetError
from ....frozen import frozen
from ....privacy.measures import PureDP
from ....wire.json_text import write_json
from ....wire.reply import status_of
from ....wire.verbs.synthesis import read_synthesis
from ....wire.verbs.training import read_learn
from ...state import State
from ..answers import fresh_mark
from ..ask_form import BudgetUnit, unit_of
from ..charts.amount import left_bar
from ..page_request import PageRequest, for_analysts, table_routes, to
from ..refusal_view import refusal_of
from ..workbench import MAX_MARK_LENGTH, dataset_of
from .form import (
    CLASS_KINDS,
    GROUP_KINDS,
    KINDS,
    NUMBER_KINDS,
    Preview,
    ProductFields,
    model_words,
    read_make,
    synthesis_words,
    target_columns,
    usable_columns,
    weigh_model,
    weigh_synthesis,
)
from .past_products import made_before


@frozen
class ProductForm:
    """Form of one kind of product: its address, its charged verb and its template.

    `words` turns its fields into a request in JSON, `read` checks that, and `weigh` previews it.
    """

    address: str
    verb: str
    template: str
    words: Callable[[ProductFields, BudgetUnit], dict[str, object]]
    read: Callable[[object], Any]
    weigh: Callable[..., Preview]

    def preview(
        self, visit: PageRequest, dataset: str, words: Mapping[str, object], fields: ProductFields
    ) -> Preview:
        """Return the preview of a request, computed in a planning worker."""
        return visit.state.planning_pool.ask(
            visit.person.name,
            dataset,
            self.weigh,
            self.read(words),
            int(fields.size),
            visit.state.config.bounds.cells,
        )


FORMS = (
    ProductForm(
        "/synthesize",
        "synthesize",
        "synthesize.html",
        synthesis_words,
        read_synthesis,
        weigh_synthesis,
    ),
    ProductForm("/model", "learn", "model.html", model_words, read_learn, weigh_model),
)


def make_routes(state: State) -> list[Route]:
    """Return the routes of both forms."""
    routes: list[Route] = []
    for form in FORMS:
        path = f"{form.address}/{{dataset}}"
        routes += table_routes(
            state,
            for_analysts,
            ("GET POST", path, partial(_show, form)),
            ("POST", f"{path}/weigh", partial(_weigh, form)),
            ("POST", f"{path}/run", partial(_run, form)),
        )
    return routes


def _fields(visit: PageRequest, dataset: str) -> tuple[ProductFields, BudgetUnit]:
    budget = visit.state.datasets.ledger(dataset).promise()
    given = visit.form or dict(visit.request.query_params)
    fields = read_make(given, visit.state.datasets.schemas(dataset), budget)
    return fields, unit_of(budget)


def _show(form: ProductForm, visit: PageRequest) -> Response:
    """Show the form with a preview of its cost; also where it is sent without a script."""
    dataset = dataset_of(visit)
    return _page(form, visit, dataset, _weighed(form, visit, dataset))


def _weigh(form: ProductForm, visit: PageRequest) -> Response:
    return visit.part("piece_weighed.html", **_weighed(form, visit, dataset_of(visit)))


def _weighed(form: ProductForm, visit: PageRequest, dataset: str) -> dict[str, Any]:
    """Return the preview of the form's request, or the reason why there is none."""
    fields, unit = _fields(visit, dataset)
    try:
        preview = form.preview(visit, dataset, form.words(fields, unit), fields)
        preview.check()
    except DiscreetError as refusal:
        return _refused(refusal, fields)
    return {"refusal": None, "weighed": preview, "bar": left_bar(preview.purse)}


def _refused(refusal: DiscreetError, fields: ProductFields) -> dict[str, Any]:
    return {"refusal": refusal_of(refusal, fields.select), "weighed": None, "bar": ""}


def _page(
    form: ProductForm,
    visit: PageRequest,
    dataset: str,
    weighed: Mapping[str, Any],
    status: int = 200,
) -> Response:
    """Show the page of a form with its fields, its preview and earlier products."""
    fields, unit = _fields(visit, dataset)
    private = [schema for schema in visit.state.datasets.schemas(dataset) if not schema.public]
    chosen = next(schema for schema in private if schema.name == fields.table)
    return visit.show(
        form.template,
        status=status,
        here="Ask",
        dataset=dataset,
        address=form.address,
        fields=fields,
        unit=unit,
        mark=fresh_mark(),
        tables=[schema.name for schema in private],
        usable=usable_columns(chosen),
        targets=target_columns(chosen),
        kinds=KINDS,
        number_kinds=NUMBER_KINDS,
        class_kinds=CLASS_KINDS,
        group_kinds=GROUP_KINDS,
        pure=isinstance(visit.state.datasets.ledger(dataset).promise(), PureDP),
        past=made_before(visit.state, visit.person.name, dataset, form.verb),
        **weighed,
    )


def _run(form: ProductForm, visit: PageRequest) -> Response:
    """Submit the request as a job, unless it can be refused now; `mark` is its idempotency key."""
    dataset = dataset_of(visit)
    fields, unit = _fields(visit, dataset)
    mark = visit.form.get("mark", "")[:MAX_MARK_LENGTH]
    jobs = visit.state.jobs
    try:
        words = form.words(fields, unit)
        # A job that was sent before is charged once: it need not fit into the budget again.
        if not mark or jobs.job_store.marked(visit.person.name, mark) is None:
            form.preview(visit, dataset, words, fields).check()
        body = write_json(form.read(words).to_json())
        job = jobs.put(visit.person.name, dataset, form.verb, body, mark)
    except DiscreetError as refusal:
        return _page(form, visit, dataset, _refused(refusal, fields), status_of(refusal))
    visit.state.log.write(form.verb, who=visit.person.name, dataset=dataset, status=202)
    return to(f"/made/{job.id}")
