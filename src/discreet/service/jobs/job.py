"""Job: one charged request of one user, with its idempotency key, state and reply.

Ended jobs are kept for seven days, answers longer (`job_store`), so a reply can be fetched again.
"""

from __future__ import annotations

import json
import secrets
from typing import Any, Literal, cast

from ...frozen import frozen
from ...json_shape import JsonObject
from .steady_clock import steady

State = Literal["waiting", "running", "done", "refused", "failed", "cancelled"]
"""`refused` spent nothing and may be tried again; `failed` was charged and has no answer;
`cancelled` may have been charged."""

OPEN = ("waiting", "running")
COLUMNS = (
    "id, person, mark, dataset, verb, body, state, cancel, owner, lease, created, started, finished, "
    "status, reply"
)
LISTED = COLUMNS.replace(", reply", ", NULL")
"""The columns without the reply, which may be long: for lists of jobs."""


@frozen
class Job:
    """Row of the job table; times are seconds since 1970, UTC.

    | field | holds |
    |---|---|
    | `mark` | the idempotency key; the id if the request had none |
    | `body` | the request as JSON |
    | `cancel` | 1 if its user asked to stop it |
    | `owner`, `lease` | the worker process that has the job, and until when |
    | `started` | the time of submission, and again the time when a thread takes the job |
    | `status`, `reply` | HTTP status and JSON of the outcome |
    """

    id: str
    person: str
    mark: str
    dataset: str
    verb: str
    body: str
    state: State
    cancel: int
    owner: str
    lease: float
    created: float
    started: float
    finished: float | None = None
    status: int | None = None
    reply: str | None = None

    @property
    def open(self) -> bool:
        """Whether the job is still to be answered."""
        return self.state in OPEN

    def to_json(self, *, shown: bool, next_tick: float, now: float) -> JsonObject:
        """Return the user's view of the job.

        `shown` says that its outcome may be seen: a tick of the timing grid has passed. Before that
        tick a finished job looks like a running one, with the seconds until `next_tick`.
        """
        state = "running"
        if shown or self.state == "waiting":
            state = self.state
        seen: JsonObject = {
            "id": self.id,
            "dataset": self.dataset,
            "verb": self.verb,
            "state": state,
        }
        if shown and self.reply is not None:
            return seen | {"status": self.status, "reply": json.loads(self.reply)}
        return seen | {
            "seconds": round(max(0.0, now - self.started), 3),
            "again_in": round(next_tick - now, 3),
        }


def new_job(person: str, dataset: str, verb: str, body: str, *, mark: str, owner: str) -> Job:
    """Make a job of a new request; without an idempotency key its id serves as one."""
    name = secrets.token_urlsafe(16)
    now = steady()
    return Job(
        id=name,
        person=person,
        mark=mark or name,
        dataset=dataset,
        verb=verb,
        body=body,
        state="waiting",
        cancel=0,
        owner=owner,
        lease=0.0,
        created=now,
        started=now,
    )


def read_job(row: tuple[object, ...]) -> Job:
    """Read a job from its row, in the order of `COLUMNS`."""
    return Job(*cast("tuple[Any, ...]", row))
