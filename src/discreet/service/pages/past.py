"""What somebody asked before: their jobs of the last days, newest first."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime

from ...show.table import cut
from ..jobs.job import COLUMNS, Job, read_job
from ..state import State
from .answer_view import cost_of

__all__ = ["Past", "asked_of", "past_of", "sql_of"]

SHORT = 60
_SELECT = "SELECT " + COLUMNS + " FROM discreet_jobs "  # noqa: S608 - the columns are a constant
_OF_PERSON = _SELECT + "WHERE person = ? AND verb = 'sql' AND (dataset = ? OR ? = '') ORDER BY created DESC LIMIT ?"


@dataclass(frozen=True, slots=True)
class Past:
    """One job in a list; `state` is what its person may see by now."""

    id: str
    dataset: str
    who: str
    sql: str
    state: str
    time: str
    cost: str
    why: str

    @property
    def short(self) -> str:
        """The question on one line, cut if it is long."""
        line = " ".join(self.sql.split())
        return cut(line, SHORT)


def past_of(state: State, who: str, *, most: int, dataset: str | None = None) -> tuple[Past, ...]:
    """List the jobs of a person, all or those of one data set."""
    rows = state.store.ask(
        _OF_PERSON,
        who,
        dataset or "",
        dataset or "",
        most,
    )
    return tuple(_past(state, read_job(row)) for row in rows)


def sql_of(job: Job) -> str:
    """Return the question of a job."""
    return str(json.loads(job.body).get("sql", ""))


def asked_of(job: Job) -> str:
    """Return what a job asks, in words, for stewards: its SQL, or that of every question of a release."""
    body = json.loads(job.body)
    several = body.get("questions", {})
    return str(body.get("sql", "")) or "\n".join(f"{name}: {sql}" for name, sql in several.items())


def _past(state: State, job: Job) -> Past:
    shown, seen = state.jobs.view(job)
    reply = seen.get("reply")
    cost = cost_of(reply) if shown and job.state == "done" and isinstance(reply, dict) else ""
    moment = datetime.fromtimestamp(job.created, UTC).strftime("%Y-%m-%d %H:%M")
    why = str(json.loads(job.body).get("why", ""))
    return Past(job.id, job.dataset, job.person, sql_of(job), str(seen["state"]), moment, cost, why)
