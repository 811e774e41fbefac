"""Endpoints of questions and jobs.

Free requests are answered at once by worker processes. A charged request becomes a job; its answer
is sent only at ticks of a timing grid, so that its time tells nothing (timing side channel).
"""

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

_MAX_KEY_LENGTH = 200
T = TypeVar("T")
Reader = Callable[[State, ApiCall, bool], Mapping[str, object]]
"""Reads a charged request, checks it unless it was checked before, returns it as it is stored."""


def explain_question(state: State, call: ApiCall) -> Reply:
    """Explain a question: its releases, its price and its error; free, reads no rows."""
    state.datasets.check(call.person, call.dataset)
    ask = read_ask(call.json())
    return Reply(run_free(state, call, handlers.explain, ask))


def plan_question(state: State, call: ApiCall) -> Reply:
    """Plan one question or several, or find the third of spend, error and queries."""
    state.datasets.check(call.person, call.dataset)
    planned = read_plan(call.json())
    return Reply(run_free(state, call, handlers.plan, planned))


def rehearse_question(state: State, call: ApiCall) -> Reply:
    """Answer from made-up rows; free."""
    state.datasets.check(call.person, call.dataset)
    ask = read_ask(call.json(), rehearsal=True)
    max_cells = state.config.bounds.cells
    return Reply(run_free(state, call, handlers.rehearse, ask, max_cells))


def run_free(state: State, call: ApiCall, work: Callable[..., T], *arguments: object) -> T:
    """Run free work in a worker process, as long as the client keeps its connection open."""
    return state.desk.ask(call.person.name, call.dataset, work, *arguments, gone=call.gone)


async def ask_sql(state: State, call: ApiCall) -> Reply:
    """Answer one question, charged once for each Idempotency-Key."""
    checked = checked_reader(read_ask, handlers.check_ask)
    return await charge(state, call, "sql", checked)


async def ask_release(state: State, call: ApiCall) -> Reply:
    """Answer several questions with one charge."""
    checked = checked_reader(read_release, handlers.check_release)
    return await charge(state, call, "release", checked)


class Request(Protocol):
    """Charged request that can be stored."""

    def to_json(self) -> Mapping[str, object]:
        """Return the request as plain JSON."""


def checked_reader(
    read: Callable[[object], Request], check: Callable[..., None], *, limited: bool = True
) -> Reader:
    """Return a reader that lets a worker process check the request, unless its key is known."""

    def read_checked(state: State, call: ApiCall, known: bool) -> Mapping[str, object]:
        asked = read(call.json())
        if not known:
            limits: tuple[int, ...] = ()
            if limited:
                limits = (state.config.bounds.cells,)
            state.desk.ask(call.person.name, call.dataset, check, asked, *limits)
        return asked.to_json()

    return read_checked


def _submit(state: State, call: ApiCall, verb: str, read: Reader) -> Job:
    """Check a charged request from public facts alone, then queue it as a job; blocks."""
    state.datasets.check(call.person, call.dataset)
    key = _check_key(call.mark)
    person = call.person.name
    # A request sent again under its idempotency key was checked the first time.
    known = bool(key) and state.jobs.shelf.marked(person, key) is not None
    body = write_json(read(state, call, known))
    return state.jobs.put(person, call.dataset, verb, body, key)


async def charge(state: State, call: ApiCall, verb: str, read: Reader) -> Reply:
    """Queue a job, wait for its first tick and reply with what may be seen at that tick.

    Guarantee: the time of the reply depends on the start of the job, never on its duration. One
    idempotency key is one job and one charge.

    Law: tests/service/test_questions.py::TestIdempotency
    """
    grid = state.grid
    job = await state.desk.run(_submit, state, call, verb, read)
    now = steady()
    if grid.shows(job.started, job.finished, now):
        # Sent again long after the job ended: there is nothing to wait for.
        return job_reply(state, job, now)
    # The tick is fixed before the job runs, and at most one period away.
    moment = min(grid.tick(job.started, now), now + grid.seconds)
    await grid.until(moment)
    current = await run_in_threadpool(state.jobs.find, call.person.name, job.id)
    if current.started > job.started:
        # An executor has taken the job since. Its first tick is near, ended or not.
        moment = min(grid.tick(current.started, moment), moment + grid.seconds)
        await grid.until(moment)
        current = await run_in_threadpool(state.jobs.find, call.person.name, job.id)
    return job_reply(state, current, moment)


def job_reply(state: State, job: Job, now: float | None = None) -> Reply:
    """Return the outcome of a job as the reply to its request, or 202 and when to ask again."""
    shown, view = state.jobs.view(job, now)
    headers = {"Location": f"/api/v1/jobs/{job.id}"}
    if not shown:
        headers["Retry-After"] = "1"
        return Reply(view, 202, headers, pad=True)
    status = int(str(view["status"]))
    if status == 503:
        headers["Retry-After"] = "1"
    return Reply(view["reply"], status, headers, pad=True)  # type: ignore[arg-type]


def get_job(state: State, call: ApiCall) -> Reply:
    """Return the state of a job; once it is done, its outcome is under `reply`."""
    job = state.jobs.find(call.person.name, call.path["job"])
    _, view = state.jobs.view(job)
    return Reply(view, pad=True)


def cancel_job(state: State, call: ApiCall) -> Reply:
    """Stop a job; what was charged stays charged."""
    job = state.jobs.cancel(call.person.name, call.path["job"])
    _, view = state.jobs.view(job)
    return Reply(view, 202, pad=True)


def list_jobs(state: State, call: ApiCall) -> Reply:
    """List the open jobs of all people with their requests; for stewards."""
    visible = [job for job in state.jobs.shelf.pending() if call.person.may(job.dataset)]
    return Reply({"jobs": [_job_to_json(job) for job in visible]})


def _job_to_json(job: Job) -> dict[str, object]:
    return {
        "id": job.id,
        "who": job.person,
        "dataset": job.dataset,
        "verb": job.verb,
        "state": job.state,
        "asked": json.loads(job.body),
    }


def _check_key(key: str) -> str:
    if len(key) > _MAX_KEY_LENGTH or not key.isprintable() or not key.isascii():
        raise InvalidArgument(
            f"{MARK} must be printable ASCII of at most {_MAX_KEY_LENGTH} characters"
        )
    return key
