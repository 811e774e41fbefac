"""A job as its person sees it: running, with a way to stop it; then the answer, to look at and to take home."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup
from starlette.responses import Response
from starlette.routing import Route

from ...errors import NotAllowed
from ..jobs.job import Job
from ..state import State
from .answer_view import answer_csv, answer_view
from .clause import word_refusal
from .past import past_of, sql_of
from .render import HEADERS, html
from .visit import Visit, for_analysts, to
from .workbench import fresh_mark

__all__ = ["answer_routes"]

PAST = 100


def answer_routes(state: State) -> list[Route]:
    """Return the routes of answers and of the history."""
    room = "/answers/{job}"
    return [
        Route(room, for_analysts(state, _show), methods=["GET"]),
        Route(f"{room}/cancel", for_analysts(state, _cancel), methods=["POST"]),
        Route(f"{room}/table.csv", for_analysts(state, _table), methods=["GET"]),
        Route(f"{room}/receipt.json", for_analysts(state, _receipt), methods=["GET"]),
        Route("/history", for_analysts(state, _history), methods=["GET"]),
    ]


def _job(visit: Visit) -> Job:
    return visit.state.jobs.find(visit.person.name, visit.request.path_params["job"])


def _show(visit: Visit) -> Response:
    return _show_job(visit, _job(visit))


def _cancel(visit: Visit) -> Response:
    """Stop a job; what was charged stays charged."""
    job = visit.state.jobs.cancel(visit.person.name, visit.request.path_params["job"])
    visit.state.log.write("cancel", who=visit.person.name, dataset=job.dataset, status=200)
    return _show_job(visit, job) if visit.wants_part else to(f"/answers/{job.id}")


def _show_job(visit: Visit, job: Job) -> Response:
    part = _part(visit, job)
    if visit.wants_part:
        return visit.part("piece_plain.html", shown=part)
    return visit.show("answer.html", here="Workbench", dataset=job.dataset, shown=part)


def _part(visit: Visit, job: Job) -> Markup:
    finished, seen = visit.state.jobs.view(job)
    words: dict[str, Any] = {"job": job, "mark": fresh_mark(), "csrf": visit.signed.csrf}
    reply: Any = seen.get("reply")
    if not finished or reply is None:
        wait = max(50, round(1000 * float(str(seen.get("again_in", 0.25)))) + 20)
        return html("piece_job.html", wait=wait, seconds=f"{float(str(seen.get('seconds', 0))):.1f}", **words)
    if job.state == "done":
        return html("piece_answer.html", answer=answer_view(reply, sql_of(job)), **words)
    error = reply["error"]
    if job.state == "cancelled":
        return html("piece_cancelled.html", **words)
    return html("piece_refusal.html", refusal=word_refusal(error["kind"], error["message"], sql_of(job)), **words)


def _reply(visit: Visit) -> tuple[Job, dict[str, Any]]:
    job = _job(visit)
    finished, seen = visit.state.jobs.view(job)
    reply = seen.get("reply")
    if not finished or job.state != "done" or not isinstance(reply, dict):
        raise NotAllowed("this question has no answer to take home")
    return job, reply


def _table(visit: Visit) -> Response:
    job, reply = _reply(visit)
    return _file(answer_csv(reply), "text/csv", f"{job.dataset}-{job.id[:8]}.csv")


def _receipt(visit: Visit) -> Response:
    """Return the receipt in its one canonical text, byte for byte."""
    job, reply = _reply(visit)
    return _file(str(reply["receipt"]), "application/json", f"{job.dataset}-{job.id[:8]}-receipt.json")


def _file(text: str, kind: str, name: str) -> Response:
    heads = HEADERS | {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type=kind, headers=heads)


def _history(visit: Visit) -> Response:
    mine = past_of(visit.state, visit.person.name, most=PAST)
    return visit.show("history.html", here="History", past=mine)
