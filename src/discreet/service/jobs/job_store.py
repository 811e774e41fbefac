"""The shelf of jobs: every change of a job is one statement, and running it twice is harmless.

A worker holds a job by a lease that it renews; a job whose lease ran out is anybody's. Taking it over is safe because
the ledger, not the job, says what was charged: the second run finds the charge pending, or its answer stored. A lease
has run out by its date, or when nobody has renewed it for as long as it lasts, by the clock of whoever looks: workers
whose clocks disagree still find each other's lost jobs.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from ...errors import InvalidArgument, NotAllowed
from ..stores.store import ServiceStore
from .job import COLUMNS, Job, read_job
from .steady_clock import steady

KEPT_SECONDS = 7 * 86_400.0
KEPT_ANSWERS = 1_000
"""So many answers of a person keep their page, however old: a link to one does not end after a week."""
UNKNOWN = "you have no such job; jobs are kept for seven days, answers as long as they are among the last thousand"
_SELECT = "SELECT " + COLUMNS + " FROM discreet_jobs "  # noqa: S608 all texts here are constants
_INSERT = (
    "INSERT INTO discreet_jobs (" + COLUMNS + ") "
    "VALUES (?, ?, ?, ?, ?, ?, 'waiting', 0, ?, ?, ?, ?, NULL, NULL, NULL) ON CONFLICT DO NOTHING"
)
_TAKE = (
    "UPDATE discreet_jobs SET state = 'waiting', owner = ?, lease = ?, started = ?, finished = NULL, "  # noqa: S608
    "status = NULL, reply = NULL WHERE id = ? AND (state = 'refused' OR (state IN ('waiting', 'running') "
    "AND (lease < ? OR lease = ? OR owner = ?))) RETURNING " + COLUMNS
)
_FORGET = (
    "DELETE FROM discreet_jobs WHERE finished IS NOT NULL AND finished < ? "
    "AND id NOT IN (SELECT job FROM discreet_saved) AND id NOT IN (SELECT id FROM (SELECT id, ROW_NUMBER() OVER "
    "(PARTITION BY person ORDER BY created DESC) AS place FROM discreet_jobs WHERE state = 'done') "
    "AS newest WHERE place <= ?)"
)


class JobStore:
    """The jobs of a service as one worker, the owner, sees them."""

    def __init__(self, store: ServiceStore, owner: str, lease: float) -> None:
        self._store = store
        self._owner = owner
        self._lease = lease
        self._seen: dict[str, tuple[float, float]] = {}

    def put(self, fresh: Job) -> tuple[Job, bool]:
        """Put up a job, or find the one with the same mark of the same person; tell whether it is the new one.

        Refuses a mark that was used for another request.
        """
        self._store.ask(
            _INSERT,
            fresh.id,
            fresh.person,
            fresh.mark,
            fresh.dataset,
            fresh.verb,
            fresh.body,
            self._owner,
            self._end(),
            fresh.created,
            fresh.created,
        )
        found = self.marked(fresh.person, fresh.mark) or fresh
        if (found.dataset, found.verb, found.body) != (fresh.dataset, fresh.verb, fresh.body):
            raise InvalidArgument(
                "this Idempotency-Key was used for another request; use a new one for a new request"
            )
        return found, found.id == fresh.id

    def take(self, job: Job) -> Job | None:
        """Take over a job that was refused or whose lease ran out; None if somebody else was faster."""
        now = steady()
        rows = self._store.ask(
            _TAKE, self._owner, self._end(), now, job.id, now, job.lease, self._owner
        )
        return read_job(rows[0]) if rows else None

    def begin(self, job: Job, started: float) -> bool:
        """Mark a job of ours as running, unless it was cancelled or somebody else has taken it over."""
        sql = (
            "UPDATE discreet_jobs SET state = 'running', started = ? WHERE id = ? AND owner = ? AND cancel = 0 "
            "AND state IN ('waiting', 'running') RETURNING id"
        )
        return bool(self._store.ask(sql, started, job.id, self._owner))

    def end(self, job: Job, state: str, status: int, reply: str, started: float) -> float:
        """Write down what came of a job that a hand took then, and return when it ended; the first word stands."""
        now = steady()
        sql = (
            "UPDATE discreet_jobs SET state = ?, status = ?, reply = ?, started = ?, finished = ? "
            "WHERE id = ? AND state IN ('waiting', 'running')"
        )
        self._store.ask(sql, state, status, reply, started, now, job.id)
        return now

    def cancel(self, job: Job) -> None:
        """Ask whoever runs a job to stop."""
        self._store.ask(
            "UPDATE discreet_jobs SET cancel = 1 WHERE id = ? AND state IN ('waiting', 'running')",
            job.id,
        )

    def marked(self, person: str, mark: str) -> Job | None:
        """Find the job of a person's mark."""
        rows = self._store.ask(_SELECT + "WHERE person = ? AND mark = ?", person, mark)
        return read_job(rows[0]) if rows else None

    def find(self, job_id: str, person: str) -> Job:
        """Find a job of a person; somebody else's is as unknown as one that never was."""
        rows = self._store.ask(_SELECT + "WHERE id = ? AND person = ?", job_id, person)
        if not rows:
            raise NotAllowed(UNKNOWN)
        return read_job(rows[0])

    def get(self, job_id: str) -> Job | None:
        """Find a job by its id alone."""
        rows = self._store.ask(_SELECT + "WHERE id = ?", job_id)
        return read_job(rows[0]) if rows else None

    def renew(self, mine: Sequence[str]) -> tuple[str, ...]:
        """Renew the leases of open jobs that are in hand here, but for those given up; list what is to be cancelled."""
        cancelled: list[str] = []
        for start in range(0, len(mine), 500):
            some = mine[start : start + 500]
            rows = self._store.ask(
                "UPDATE discreet_jobs SET lease = ? WHERE owner = ? AND lease > 0 AND state IN ('waiting', 'running') "  # noqa: S608
                f"AND id IN ({', '.join('?' * len(some))}) RETURNING id, cancel",
                self._end(),
                self._owner,
                *some,
            )
            cancelled += [str(job) for job, cancel in rows if cancel]
        return tuple(cancelled)

    def probe(self) -> None:
        """Write nothing, in a way that a store which cannot be written refuses."""
        self._store.ask("UPDATE discreet_jobs SET cancel = 1 WHERE id = ''")

    def lost(self) -> tuple[Job, ...]:
        """List open jobs whose worker is gone: the lease is over by its date, or nobody has renewed it since."""
        seen, now, found = self._seen, time.monotonic(), []
        self._seen = {}
        sql = (
            _SELECT
            + "WHERE state IN ('waiting', 'running') AND (lease < ? OR owner <> ?) ORDER BY created LIMIT 500"
        )
        for job in map(read_job, self._store.ask(sql, steady(), self._owner)):
            lease, since = seen.get(job.id, (job.lease, now))
            self._seen[job.id] = (job.lease, since if lease == job.lease else now)
            if job.lease < steady() or now - self._seen[job.id][1] > max(self._lease, 0.0):
                found.append(job)
        return tuple(found[:8])

    def release(self) -> None:
        """Give up all our leases: the next worker goes on at once."""
        self._store.ask(
            "UPDATE discreet_jobs SET lease = 0 WHERE owner = ? AND state IN ('waiting', 'running')",
            self._owner,
        )

    def pending(self) -> tuple[Job, ...]:
        """List all open jobs, oldest first."""
        sql = _SELECT + "WHERE state IN ('waiting', 'running') ORDER BY created LIMIT 200"
        return tuple(read_job(row) for row in self._store.ask(sql))

    def count(self, person: str) -> int:
        """Count the open jobs of a person."""
        sql = "SELECT COUNT(*) FROM discreet_jobs WHERE person = ? AND state IN ('waiting', 'running')"
        return int(str(self._store.ask(sql, person)[0][0]))

    def forget(self) -> None:
        """Drop jobs that ended long ago, but for the last answers of each person and those that have a name."""
        self._store.ask(_FORGET, steady() - KEPT_SECONDS, KEPT_ANSWERS)

    def _end(self) -> float:
        return steady() + self._lease
