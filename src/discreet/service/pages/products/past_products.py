"""Past synthetic tables and models of a user; nobody sees those of another."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from ....errors import NotAllowed
from ....frozen import frozen
from ....show.table import truncate
from ...jobs.job import LISTED, Job, read_job
from ...jobs.job_store import UNKNOWN
from ...state import State
from ..page_request import PageRequest

VERBS = ("synthesize", "learn")
MOST = 12
LONGEST = 60
_OF_PERSON = (
    "SELECT " + LISTED + " FROM discreet_jobs "  # noqa: S608 - the columns are a constant
    "WHERE person = ? AND (dataset = ? OR ? = '') AND verb IN (?, ?) ORDER BY created DESC LIMIT ?"
)


@frozen
class PastProduct:
    """One line of the list; `state` is the state of the job as its user may see it by now."""

    id: str
    dataset: str
    title: str
    state: str
    time: str


def made_before(
    state: State, who: str, dataset: str = "", verb: str = ""
) -> tuple[PastProduct, ...]:
    """List the last MOST synthetic tables and models of a user, perhaps of one data set or verb."""
    verbs = (verb, verb) if verb else VERBS
    rows = state.store.ask(_OF_PERSON, who, dataset, dataset, *verbs, MOST)
    return tuple(_line(state, read_job(row)) for row in rows)


def _line(state: State, job: Job) -> PastProduct:
    """Return the list entry of a job."""
    _, seen = state.jobs.view(job)
    moment = datetime.fromtimestamp(job.created, UTC).strftime("%Y-%m-%d %H:%M")
    return PastProduct(
        job.id, job.dataset, truncate(title_of_job(job), LONGEST), str(seen["state"]), moment
    )


def title_of_job(job: Job) -> str:
    """Say in a few words what a job makes."""
    body = json.loads(job.body)
    if job.verb == "learn":
        target = body["model"].get("target")
        return f"{body['model']['kind']}{f' of {target}' if target else ''}"
    return f"Synthetic {', '.join(body.get('columns') or ['rows'])}"


def find_made(visit: PageRequest, name: str) -> Job:
    """Find the job of a synthetic table or model of the user.

    Refuses: another user's job in the same words as one that never was, with NotAllowed.
    """
    job = visit.state.jobs.job_store.get(name)
    if job is not None and job.verb in VERBS and job.person == visit.person.name:
        return job
    raise NotAllowed(UNKNOWN)
