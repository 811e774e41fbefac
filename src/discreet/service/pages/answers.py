"""A job as its person sees it: running, with a way to stop it; then the answer, on a page of its own that stays."""

from __future__ import annotations

import secrets
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.responses import Response
from starlette.routing import Route

from ...errors import NotAllowed
from ..jobs.job import Job
from ..jobs.job_store import UNKNOWN
from ..state import State
from ..stores.saved import SavedQuestions
from .answer_view import answer_view
from .downloads.question_code import fields_of, python_code, sql_code
from .downloads.title import title_of
from .history import past_of, sql_of
from .page_request import PageRequest, for_analysts, to
from .products.past_products import made_before
from .refusal_view import word_refusal
from .render import html

PAST = 100


def answer_routes(state: State) -> list[Route]:
    """Return the routes of answers and of the history."""
    room = "/answers/{job}"
    return [
        Route(room, for_analysts(state, _show), methods=["GET"]),
        Route(f"{room}/cancel", for_analysts(state, _cancel), methods=["POST"]),
        Route("/history", for_analysts(state, _history), methods=["GET"]),
    ]


def fresh_mark() -> str:
    """Make the mark of the next run: sent twice, it is charged once."""
    return secrets.token_urlsafe(16)


def find_job(visit: PageRequest, name: str) -> Job:
    """Find one's own job, or a colleague's answer where the steward lets analysts know of each other's questions.

    Refuses what is somebody else's like what never was.
    """
    job = visit.state.jobs.shelf.get(name)
    if (
        job is not None
        and job.verb == "sql"
        and (job.person == visit.person.name or _shared(visit, job))
    ):
        return job
    raise NotAllowed(UNKNOWN)


def _shared(visit: PageRequest, job: Job) -> bool:
    given = visit.state.config.datasets.get(job.dataset)
    if given is None or not given.share_questions or not visit.person.may(job.dataset):
        return False
    shown, _ = visit.state.jobs.view(job)
    return shown and job.state == "done"


def _show(visit: PageRequest) -> Response:
    return _show_job(visit, find_job(visit, visit.request.path_params["job"]))


def _cancel(visit: PageRequest) -> Response:
    """Stop a job; what was charged stays charged."""
    job = visit.state.jobs.cancel(visit.person.name, visit.request.path_params["job"])
    visit.state.log.write("cancel", who=visit.person.name, dataset=job.dataset, status=200)
    return _show_job(visit, job) if visit.wants_part else to(f"/answers/{job.id}")


def _show_job(visit: PageRequest, job: Job) -> Response:
    """Show a job; to a script the part that changes, else a page with its title, its question and code to repeat it."""
    part = job_part(visit, job)
    if visit.wants_part:
        return visit.part("piece_plain.html", shown=part)
    mine, sql = job.person == visit.person.name, sql_of(job)
    name = SavedQuestions(visit.state.store).name_of(visit.person.name, job.id)
    return visit.show(
        "answer.html",
        here="Workbench",
        job=job,
        dataset=job.dataset,
        title=name or title_of(sql),
        name=name,
        mine=mine,
        sql=sql,
        link=f"/workbench/{job.dataset}?{urlencode(fields_of(job.body))}",
        python=python_code(visit.state.config.url, job.dataset, job.body),
        terms=sql_code(job.dataset, job.body).partition("\n")[0].removeprefix("-- "),
        shown=part,
    )


def job_part(visit: PageRequest, job: Job) -> Markup:
    """Return what there is to see of a job by now."""
    finished, seen = visit.state.jobs.view(job)
    words: dict[str, Any] = {"job": job, "mark": fresh_mark(), "csrf": visit.signed.csrf}
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
        every = visit.request.query_params.get("groups") == "all"
        return html(
            "piece_answer.html", answer=answer_view(reply, sql_of(job), every=every), **words
        )
    error = reply["error"]
    if job.state == "cancelled":
        return html("piece_cancelled.html", **words)
    return html(
        "piece_refusal.html",
        refusal=word_refusal(error["kind"], error["message"], sql_of(job)),
        **words,
    )


def _history(visit: PageRequest) -> Response:
    mine = past_of(visit.state, visit.person.name, most=PAST)
    saved = SavedQuestions(visit.state.store).of(visit.person.name)
    made = made_before(visit.state, visit.person.name)
    return visit.show("history.html", here="History", past=mine, saved=saved, made=made)
