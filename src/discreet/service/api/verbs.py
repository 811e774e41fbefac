"""Endpoints of verbs and of their jobs.

Free requests are answered at once by worker processes. A charged request becomes a job. Its answer
is sent only at a tick of a timing grid: its time tells between which two ticks the job ended, and
nothing else (timing side channel).
"""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from starlette.concurrency import run_in_threadpool

from ...errors import InvalidArgument
from ...json_shape import JsonObject
from ...wire.json_text import write_json
from ...wire.verb import Request, Verb
from ..http.authentication import MARK
from ..jobs.job import Job
from ..jobs.steady_clock import steady
from ..state import State
from .endpoint import ApiCall, Endpoint, Reply

_MAX_KEY_LENGTH = 200


def verb_endpoint(verb: Verb[Any], path: str) -> Endpoint:
    """Return the endpoint of a verb at a path: a charged one waits for its job, a free one runs."""
    endpoint = partial(
        Endpoint,
        "POST",
        path,
        verb.summary,
        takes=verb.request.name,
        gives=verb.reply.name,
        operation=verb.operation_id,
    )
    if verb.charged:
        return endpoint(waiter=partial(charge, verb=verb), status=(200, 202))
    return endpoint(handler=partial(_answer_free, verb=verb))


def _answer_free(state: State, call: ApiCall, verb: Verb[Any]) -> Reply:
    """Answer a free request by the `free_run` of its verb; no private row is read."""
    asked = verb.request.read(call.json())
    return Reply(_run_free(state, call, verb, asked) or {})


def _run_free(state: State, call: ApiCall, verb: Verb[Any], asked: Request) -> JsonObject | None:
    """Run free work in a worker process, as long as the client keeps its connection open."""
    person = call.person.name
    max_cells = state.config.bounds.cells
    return state.planning_pool.ask(
        person, call.dataset, verb.free_run, asked, max_cells, gone=call.gone
    )


def _submit(state: State, call: ApiCall, verb: Verb[Any]) -> Job:
    """Check a charged request from public facts alone, then queue it as a job.

    Waits for a worker process and the store, so it must not run in the event loop.
    """
    state.datasets.check(call.person, call.dataset)
    key = check_key(call.idempotency_key)
    person = call.person.name
    asked = verb.request.read(call.json())
    # A request sent again under its idempotency key was checked the first time.
    if not key or state.jobs.job_store.marked(person, key) is None:
        _run_free(state, call, verb, asked)
    body = write_json(asked.to_json())
    return state.jobs.put(person, call.dataset, verb.name, body, key)


async def charge(state: State, call: ApiCall, verb: Verb[Any]) -> Reply:
    """Queue a job, wait for its first tick and reply with what may be seen at that tick.

    That is the outcome (200, or the status of a refusal), or 202 while the job runs or waits.

    Guarantee: the time of the reply depends on the start of the job, never on its duration. One
    idempotency key is one job and one charge.

    Law: tests/service/test_questions.py::TestIdempotency
    """
    async with state.jobs.submission(call.person.name, call.idempotency_key):
        job = await state.planning_pool.run(_submit, state, call, verb)
    current, moment = await first_tick(state, call.person.name, job)
    return job_reply(state, current, moment)


async def first_tick(state: State, person: str, job: Job) -> tuple[Job, float]:
    """Wait for the first tick of a job; return the job as it is then, and the tick."""
    grid = state.grid
    now = steady()
    if grid.shows(job.started, job.finished, now):
        # Sent again long after the job ended: there is nothing to wait for.
        return job, now
    # The tick is fixed before the job runs, and at most one period away.
    moment = min(grid.tick(job.started, now), now + grid.seconds)
    await grid.until(moment)
    current = await run_in_threadpool(state.jobs.find, person, job.id)
    if current.started > job.started:
        # An executor has taken the job since. Its first tick is near, ended or not.
        moment = min(grid.tick(current.started, moment), moment + grid.seconds)
        await grid.until(moment)
        current = await run_in_threadpool(state.jobs.find, person, job.id)
    return current, moment


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
    """List the open jobs of all people on this steward's data sets, with their requests."""
    visible = []
    for job in state.jobs.job_store.pending():
        if call.person.may(job.dataset):
            visible.append(_job_to_json(job))
    return Reply({"jobs": visible})


def _job_to_json(job: Job) -> JsonObject:
    """Return a job with its user and its request, as stewards see it."""
    return {
        "id": job.id,
        "who": job.person,
        "dataset": job.dataset,
        "verb": job.verb,
        "state": job.state,
        "asked": json.loads(job.body),
    }


def check_key(key: str) -> str:
    """Return an idempotency key; refuse one that is too long or not printable ASCII."""
    if len(key) > _MAX_KEY_LENGTH or not key.isprintable() or not key.isascii():
        raise InvalidArgument(
            f"{MARK} must be printable ASCII of at most {_MAX_KEY_LENGTH} characters"
        )
    return key
