"""History of a user: the questions whose jobs the service still keeps, newest first.

Jobs are kept for seven days, a user's newest thousand answers longer.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime

from ...frozen import frozen
from ...show.table import truncate
from ..jobs.job import LISTED, Job, read_job
from ..state import State
from .answer_view import cost_of
from .products.past_products import title_of_job

SHORT = 60
_BEGINNING = 100_000
"""Characters of a reply that are read here: its receipt comes first, and the rest may be long."""
_SELECT = f"SELECT {LISTED}, substr(reply, 1, {_BEGINNING}) FROM discreet_jobs "  # noqa: S608 - constants
_OF_PERSON = (
    _SELECT
    + "WHERE person = ? AND verb = 'sql' AND (dataset = ? OR ? = '') ORDER BY created DESC LIMIT ?"
)


@frozen
class PastQuestions:
    """One past question in a list; `state` is the state of its job as its user may see it by now.

    Before the tick that shows the outcome, it is "running" or "waiting".
    """

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
        return truncate(line, SHORT)


def past_of(
    state: State, who: str, *, most: int, dataset: str | None = None
) -> tuple[PastQuestions, ...]:
    """List the newest `most` questions of the user `who`, of all data sets or of one."""
    rows = state.store.ask(
        _OF_PERSON,
        who,
        dataset or "",
        dataset or "",
        most,
    )
    return tuple(_past(state, read_job(row[:-1]), row[-1]) for row in rows)


def sql_of(job: Job) -> str:
    """Return the question of a job."""
    return str(json.loads(job.body).get("sql", ""))


def asked_of(job: Job) -> str:
    """Describe the request of a job for stewards.

    | job | text |
    |---|---|
    | release | name and SQL of every question |
    | learn, synthesize | the kind of product and its rows |
    | others | the SQL, or the names of table and column |
    """
    body = json.loads(job.body)
    if "questions" in body:
        return "\n".join(f"{name}: {sql}" for name, sql in body["questions"].items())
    if job.verb == "learn":
        return f"{title_of_job(job)}: {body['sql']}"
    if job.verb == "synthesize":
        return f"{title_of_job(job)} of {body['table']}"
    return str(body.get("sql", "")) or ".".join(
        str(body[name]) for name in ("table", "column") if name in body
    )


def _cost(beginning: str) -> str:
    """Return the price in the receipt at the beginning of a reply; "" if the receipt is cut off."""
    _, found, rest = beginning.partition('"receipt":')
    try:
        return cost_of(
            {"receipt": json.JSONDecoder().raw_decode(rest.lstrip())[0] if found else None}
        )
    except ValueError:
        return ""


def _past(state: State, job: Job, beginning: object) -> PastQuestions:
    """Return the list entry of a job; `beginning` is the start of its reply, with the receipt."""
    shown, seen = state.jobs.view(job)
    cost = _cost(str(beginning)) if shown and job.state == "done" else ""
    moment = datetime.fromtimestamp(job.created, UTC).strftime("%Y-%m-%d %H:%M")
    why = str(json.loads(job.body).get("why", ""))
    return PastQuestions(
        job.id, job.dataset, job.person, sql_of(job), str(seen["state"]), moment, cost, why
    )
