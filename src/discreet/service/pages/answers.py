"""Pages of questions that were submitted, and of a user's history.

The page of a question shows its job with a button to cancel, then the answer under the same
address.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.responses import Response
from starlette.routing import Route

from ...data.schema import Schema
from ...errors import NotAllowed
from ..jobs.job import Job
from ..jobs.job_store import UNKNOWN
from ..state import State
from ..stores.dashboards import Dashboards
from ..stores.saved import SavedQuestions
from .answer_view import answer_view
from .downloads.question_code import fields_of, plain_terms, python_code
from .downloads.title import title_of
from .history import past_of, sql_of
from .page_request import PageRequest, for_analysts, table_routes, to
from .products.past_products import made_before
from .refusal_view import word_refusal
from .render import html

PAST = 100
"""Past questions that the history lists."""

MIN_POLL_MILLISECONDS = 50
POLL_MARGIN_MILLISECONDS = 20
"""Added to a job's next tick, so that a poll does not come just before it."""


ShowDone: TypeAlias = Callable[[Mapping[str, Any], Mapping[str, Any]], Markup]
"""Function that shows the reply of a job; the second mapping has the values that all fragments need."""


def answer_routes(state: State) -> list[Route]:
    """Return the routes of answers and of the history."""
    path = "/answers/{job}"
    return table_routes(
        state,
        for_analysts,
        ("GET", path, _show),
        ("POST", f"{path}/cancel", _cancel),
        ("GET", "/history", _history),
    )


def fresh_mark() -> str:
    """Return a new idempotency key for the next run: a run sent twice is charged once."""
    return secrets.token_urlsafe(16)


def find_job(visit: PageRequest, name: str) -> Job:
    """Find a question of the user, or the answer of somebody else that the user may open.

    Refuses: any other job in the same way as one that never was, with NotAllowed.
    """
    job = visit.state.jobs.job_store.get(name)
    if job is not None and job.verb == "sql":
        if job.person == visit.person.name:
            return job
        if _may_open(visit, job):
            # Whoever opens an answer of somebody else is named in the log.
            opener = visit.person.name
            visit.state.log.write("open answer", who=opener, dataset=job.dataset, status=200)
            return job
    raise NotAllowed(UNKNOWN)


def _may_open(visit: PageRequest, job: Job) -> bool:
    """Return whether a user may open an answer of somebody else, which its asker was shown.

    Stewards of the data set may, since its ledger lists the question; colleagues where questions
    are shared.

    Law: tests/service/test_answer_pages.py::TestLinks
    """
    dataset = visit.state.config.datasets.get(job.dataset)
    if dataset is None or not visit.person.may(job.dataset):
        return False
    if visit.person.role != "steward" and not dataset.share_questions:
        return False
    # Its tick on the timing grid must have shown the answer to its own user first.
    shown, _ = visit.state.jobs.view(job)
    return shown and job.state == "done"


def _show(visit: PageRequest) -> Response:
    return _show_job(visit, find_job(visit, visit.request.path_params["job"]))


def _cancel(visit: PageRequest) -> Response:
    job = cancel_job(visit, visit.request.path_params["job"])
    if visit.wants_part:
        return _show_job(visit, job)
    return to(f"/answers/{job.id}")


def cancel_job(visit: PageRequest, name: str) -> Job:
    """Cancel a job of the user; its charge stays."""
    job = visit.state.jobs.cancel(visit.person.name, name)
    visit.state.log.write("cancel", who=visit.person.name, dataset=job.dataset, status=200)
    return job


def _show_job(visit: PageRequest, job: Job) -> Response:
    """Show a job: the fragment that changes to a script, else a page with question and code to repeat it."""
    part = job_part(visit, job)
    if visit.wants_part:
        return visit.part("piece_plain.html", shown=part)
    sql = sql_of(job)
    name = SavedQuestions(visit.state.store).name_of(visit.person.name, job.id)
    fields = urlencode(fields_of(job.body))
    dataset = visit.state.config.datasets.get(job.dataset)
    return visit.show(
        "answer.html",
        here="Ask",
        job=job,
        dataset=job.dataset,
        title=name or title_of(sql),
        name=name,
        mine=job.person == visit.person.name,
        shared=dataset is not None and dataset.share_questions,
        done=job.state == "done" and visit.state.jobs.view(job)[0],
        boards=[
            board
            for board in Dashboards(visit.state.store).of(visit.person.name)
            if board.dataset == job.dataset
        ],
        sql=sql,
        link=f"/workbench/{job.dataset}?{fields}",
        python=python_code(visit.state.config.url, job.dataset, job.body),
        terms=plain_terms(job.dataset, job.body),
        shown=part,
    )


def job_part(visit: PageRequest, job: Job) -> Markup:
    """Return the fragment of a question's job: its progress, answer, refusal or cancellation."""

    def show_answer(reply: Mapping[str, Any], common: Mapping[str, Any]) -> Markup:
        every = visit.request.query_params.get("groups") == "all"
        answer = answer_view(reply, sql_of(job), schemas_of(visit, job), every=every)
        return html("piece_answer.html", answer=answer, **common)

    return job_fragment(visit, job, "/answers", show_answer, sql_of(job))


def schemas_of(visit: PageRequest, job: Job) -> tuple[Schema, ...]:
    """Return the schemas of a job's data set; none if the service has it no more."""
    known = job.dataset in visit.state.config.datasets
    return visit.state.datasets.schemas(job.dataset) if known else ()


def job_fragment(
    visit: PageRequest, job: Job, address: str, show_done: ShowDone, sql: str = ""
) -> Markup:
    """Return the fragment of any job: progress, refusal or cancellation; `show_done` shows its reply."""
    finished, view = visit.state.jobs.view(job)
    common: dict[str, Any] = {"job": job, "mark": fresh_mark(), "csrf": visit.signed.csrf}
    reply: Any = view.get("reply")
    if not finished or reply is None:
        seconds = f"{float(str(view.get('seconds', 0))):.1f}"
        wait = _poll_after(view)
        return html("piece_job.html", wait=wait, seconds=seconds, address=address, **common)
    if job.state == "done":
        return show_done(reply, common)
    if job.state == "cancelled":
        return html("piece_cancelled.html", **common)
    error = reply["error"]
    refusal = word_refusal(error["kind"], error["message"], sql)
    return html("piece_refusal.html", refusal=refusal, **common)


def _poll_after(view: Mapping[str, object]) -> int:
    """Return the milliseconds until the page asks again."""
    seconds = float(str(view.get("again_in", 0.25)))
    milliseconds = round(1000 * seconds) + POLL_MARGIN_MILLISECONDS
    return max(MIN_POLL_MILLISECONDS, milliseconds)


def _history(visit: PageRequest) -> Response:
    mine = past_of(visit.state, visit.person.name, most=PAST)
    saved = SavedQuestions(visit.state.store).of(visit.person.name)
    made = made_before(visit.state, visit.person.name)
    return visit.show("history.html", here="History", past=mine, saved=saved, made=made)
