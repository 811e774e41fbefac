"""Handlers of saved questions.

They save the workbench's form under a name, name an existing answer, and delete a saved question.
A named answer is kept until its name is deleted.
"""

from __future__ import annotations

from dataclasses import asdict

from starlette.responses import Response
from starlette.routing import Route

from ....errors import InvalidArgument
from ....wire.fields import MAX_SQL_LENGTH
from ...state import State
from ...stores.saved import SavedQuestions
from ..answers import find_job
from ..ask_form import unit_of
from ..downloads.question_code import fields_of
from ..page_request import PageRequest, for_analysts, local_path, table_routes, to
from .builder import asked_fields


def saved_routes(state: State) -> list[Route]:
    """Return the routes that save and forget."""
    return table_routes(
        state,
        for_analysts,
        ("POST", "/workbench/{dataset}/save", _save),
        ("POST", "/answers/{job}/save", _save_answer),
        ("POST", "/saved/{saved}/forget", _forget),
    )


def _save(visit: PageRequest) -> Response:
    """Save what stands in the form; a question need not be right to be kept."""
    dataset: str = visit.request.path_params["dataset"]
    visit.state.datasets.check(visit.person, dataset)
    datasets = visit.state.datasets
    unit = unit_of(datasets.ledger(dataset).promise())
    asked, _ = asked_fields(visit.form, datasets.schemas(dataset), unit)
    found = asdict(asked)
    fields = {}
    for name, value in found.items():
        # A tick is "1", or not there.
        if not isinstance(value, bool):
            fields[name] = str(value)
        elif value:
            fields[name] = "1"
    if sum(map(len, fields.values())) > MAX_SQL_LENGTH:
        raise InvalidArgument(
            f"a question has at most {MAX_SQL_LENGTH} characters; make it shorter"
        )
    SavedQuestions(visit.state.store).save(
        visit.person.name, dataset, visit.form.get("name", ""), fields
    )
    return to(f"/workbench/{dataset}", **fields)


def _save_answer(visit: PageRequest) -> Response:
    """Name an answer: its page has that title from now on, and stays for good."""
    job = find_job(visit, visit.request.path_params["job"])
    name = visit.form.get("name", "")
    SavedQuestions(visit.state.store).save(
        visit.person.name, job.dataset, name, fields_of(job.body), job.id
    )
    return to(f"/answers/{job.id}")


def _forget(visit: PageRequest) -> Response:
    SavedQuestions(visit.state.store).forget(visit.person.name, visit.request.path_params["saved"])
    return to(local_path(visit.form.get("back")))
