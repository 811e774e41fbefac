"""Ways to ask: free ones answer at once; charged ones become jobs, whose answers leave on the grid."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

from starlette.concurrency import run_in_threadpool

from ...errors import InvalidArgument
from ...wire.json_text import write_json
from ...wire.request import read_ask, read_plan, read_release
from ..http.authentication import MARK
from ..jobs.job import Job
from ..jobs.steady_clock import steady
from ..state import State
from . import handlers
from .endpoint import ApiCall, Reply

LONGEST_MARK = 200
T = TypeVar("T")
Reader = Callable[[State, ApiCall, bool], Mapping[str, object]]
"""Checks a charged request, unless it is known from before, and gives it as it is kept."""


def explain_question(state: State, call: ApiCall) -> Reply:
    """Show what a question would do, cost and miss; nothing is touched or spent."""
    state.datasets.check(call.person, call.dataset)
    ask = read_ask(call.json())
    return Reply(work_out(state, call, handlers.explain, ask))


def plan_question(state: State, call: ApiCall) -> Reply:
    """Plan one question or several, or find the third of spend, error and queries."""
    state.datasets.check(call.person, call.dataset)
    planned = read_plan(call.json())
    return Reply(work_out(state, call, handlers.plan, planned))


def rehearse_question(state: State, call: ApiCall) -> Reply:
    """Answer from made-up rows; free."""
    state.datasets.check(call.person, call.dataset)
    ask = read_ask(call.json(), rehearsal=True)
    return Reply(work_out(state, call, handlers.rehearse, ask, state.config.bounds.cells))


def work_out(state: State, call: ApiCall, work: Callable[..., T], *words: object) -> T:
    """Let a clerk work out something free, for as long as whoever asked is there."""
    return state.desk.ask(call.person.name, call.dataset, work, *words, gone=call.gone)


async def ask_sql(state: State, call: ApiCall) -> Reply:
    """Answer one question, charged once for each Idempotency-Key."""
    return await charge(state, call, "sql", check_in_planning_pool(read_ask, handlers.check_ask))


async def ask_release(state: State, call: ApiCall) -> Reply:
    """Answer several questions with one charge."""
    return await charge(
        state, call, "release", check_in_planning_pool(read_release, handlers.check_release)
    )


class Request(Protocol):
    """What was asked, as it is written down."""

    def to_json(self) -> Mapping[str, object]:
        """Return it as plain JSON."""


def check_in_planning_pool(
    read: Callable[[object], Request], check: Callable[..., None], *, limited: bool = True
) -> Reader:
    """Return how a charged request is read, and checked by a clerk unless its mark was checked before."""

    def checking(state: State, call: ApiCall, known: bool) -> Mapping[str, object]:
        asked = read(call.json())
        if not known:
            limits = (state.config.bounds.cells,) if limited else ()
            state.desk.ask(call.person.name, call.dataset, check, asked, *limits)
        return asked.to_json()

    return checking


def put_job(state: State, call: ApiCall, verb: str, read: Reader) -> Job:
    """Check a charged request by public facts alone, then put it up; blocks."""
    state.datasets.check(call.person, call.dataset)
    mark = _mark(call.mark)
    known = bool(mark) and state.jobs.shelf.marked(call.person.name, mark) is not None
    body = write_json(read(state, call, known))
    return state.jobs.put(call.person.name, call.dataset, verb, body, mark)


async def charge(state: State, call: ApiCall, verb: str, read: Reader) -> Reply:
    """Put up a job, wait for its first tick, which is fixed before it runs, and say what may be seen by then."""
    job = await state.desk.run(put_job, state, call, verb, read)
    now = steady()
    if state.grid.shows(
        job.started, job.finished, now
    ):  # sent again long after: there is nothing to wait for
        return job_reply(state, job, now)
    moment = min(state.grid.tick(job.started, now), now + state.grid.seconds)
    await state.grid.until(moment)
    found = await run_in_threadpool(state.jobs.find, call.person.name, job.id)
    if (
        found.started > job.started
    ):  # a hand has taken it since: its first tick is near, whether it has ended or not
        moment = min(state.grid.tick(found.started, moment), moment + state.grid.seconds)
        await state.grid.until(moment)
        found = await run_in_threadpool(state.jobs.find, call.person.name, job.id)
    return job_reply(state, found, moment)


def job_reply(state: State, job: Job, now: float | None = None) -> Reply:
    """Return the outcome of a job as the reply to its request, or 202 and when to ask again."""
    shown, seen = state.jobs.view(job, now)
    place = {"Location": f"/api/v1/jobs/{job.id}"}
    if not shown:
        return Reply(seen, 202, place | {"Retry-After": "1"}, pad=True)
    status, reply = seen["status"], seen["reply"]
    again = {"Retry-After": "1"} if status == 503 else {}
    return Reply(reply, int(str(status)), place | again, pad=True)  # type: ignore[arg-type]


def get_job(state: State, call: ApiCall) -> Reply:
    """Return how far a job is; when it is done, what came of it stands under `reply`."""
    job = state.jobs.find(call.person.name, call.path["job"])
    return Reply(state.jobs.view(job)[1], pad=True)


def cancel_job(state: State, call: ApiCall) -> Reply:
    """Stop a job; what was charged stays charged."""
    job = state.jobs.cancel(call.person.name, call.path["job"])
    return Reply(state.jobs.view(job)[1], 202, pad=True)


def list_jobs(state: State, call: ApiCall) -> Reply:
    """List all open jobs of all people, with what they ask; for stewards."""
    mine = [job for job in state.jobs.shelf.pending() if call.person.may(job.dataset)]
    return Reply({"jobs": [_listing(job) for job in mine]})


def _listing(job: Job) -> dict[str, object]:
    known = {
        "id": job.id,
        "who": job.person,
        "dataset": job.dataset,
        "verb": job.verb,
        "state": job.state,
    }
    return {**known, "asked": json.loads(job.body)}


def _mark(given: str) -> str:
    if len(given) > LONGEST_MARK or not given.isprintable() or not given.isascii():
        raise InvalidArgument(
            f"{MARK} must be printable ASCII of at most {LONGEST_MARK} characters"
        )
    return given
