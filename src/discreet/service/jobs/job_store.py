"""Job store: the table of jobs. Every change is one statement, and running it twice is harmless.

A worker holds a job by a lease that it renews. Any worker may take over a job whose lease has expired.
That is safe because the ledger, not the job, knows what was charged: the second run finds the charge
pending, or its answer stored. A lease has expired by its date, or when nobody has renewed it for its
length by the clock of the observer. So workers whose clocks disagree still find each other's lost jobs.
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
"""Newest answers of a user that are kept however old they are, so that links to them work."""
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
    "AND id NOT IN (SELECT job FROM discreet_saved) "
    "AND NOT EXISTS (SELECT 1 FROM discreet_dashboards AS board "
    "WHERE REPLACE(board.parts, discreet_jobs.id, '') <> board.parts) "
    "AND id NOT IN (SELECT id FROM (SELECT id, ROW_NUMBER() OVER (PARTITION BY person "
    "ORDER BY created DESC) AS place FROM discreet_jobs WHERE state = 'done') AS newest WHERE place <= ?)"
)


class JobStore:
    """Job table of a service, seen by one worker process, the owner."""

    def __init__(self, store: ServiceStore, owner: str, lease: float) -> None:
        self._store = store
        self._owner = owner
        self._lease = lease
        self._seen: dict[str, tuple[float, float]] = {}

    def put(self, fresh: Job) -> tuple[Job, bool]:
        """Insert a job, or find the one with the same idempotency key; return whether it is new.

        Refuses: a key that was used for another request.
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
        """Take over a job that was refused or whose lease expired; None if another worker was faster."""
        now = steady()
        rows = self._store.ask(
            _TAKE, self._owner, self._end(), now, job.id, now, job.lease, self._owner
        )
        return read_job(rows[0]) if rows else None

    def begin(self, job: Job, started: float) -> bool:
        """Mark a job of this worker as running, unless it was cancelled or taken over."""
        sql = (
            "UPDATE discreet_jobs SET state = 'running', started = ? WHERE id = ? AND owner = ? AND cancel = 0 "
            "AND state IN ('waiting', 'running') RETURNING id"
        )
        return bool(self._store.ask(sql, started, job.id, self._owner))

    def end(self, job: Job, state: str, status: int, reply: str, started: float) -> float:
        """Store the outcome of a job and return when it ended; the first outcome stands."""
        now = steady()
        sql = (
            "UPDATE discreet_jobs SET state = ?, status = ?, reply = ?, started = ?, finished = ? "
            "WHERE id = ? AND state IN ('waiting', 'running')"
        )
        self._store.ask(sql, state, status, reply, started, now, job.id)
        return now

    def cancel(self, job: Job) -> None:
        """Ask the worker that runs a job to stop."""
        self._store.ask(
            "UPDATE discreet_jobs SET cancel = 1 WHERE id = ? AND state IN ('waiting', 'running')",
            job.id,
        )

    def marked(self, person: str, mark: str) -> Job | None:
        """Find a job by its user and idempotency key."""
        rows = self._store.ask(_SELECT + "WHERE person = ? AND mark = ?", person, mark)
        return read_job(rows[0]) if rows else None

    def open_marked(self, prefix: str) -> tuple[Job, ...]:
        """List the open jobs whose idempotency keys begin with a prefix, of whichever user."""
        sql = _SELECT + "WHERE state IN ('waiting', 'running') AND SUBSTR(mark, 1, ?) = ?"
        return tuple(read_job(row) for row in self._store.ask(sql, len(prefix), prefix))

    def find(self, job_id: str, person: str) -> Job:
        """Find a job of a user; a job of another user is as unknown as one that never existed."""
        rows = self._store.ask(_SELECT + "WHERE id = ? AND person = ?", job_id, person)
        if not rows:
            raise NotAllowed(UNKNOWN)
        return read_job(rows[0])

    def get(self, job_id: str) -> Job | None:
        """Find a job by its id alone, of whichever user; None if there is none."""
        rows = self._store.ask(_SELECT + "WHERE id = ?", job_id)
        return read_job(rows[0]) if rows else None

    def renew(self, mine: Sequence[str]) -> tuple[str, ...]:
        """Renew the leases of this worker's open jobs; return the ids of those to be cancelled."""
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
        """Run an update that changes nothing, which a read-only or full store refuses."""
        self._store.ask("UPDATE discreet_jobs SET cancel = 1 WHERE id = ''")

    def lost(self) -> tuple[Job, ...]:
        """List open jobs whose worker is gone, the oldest first, at most eight.

        Their lease expired by its date, or nobody renews it.
        """
        seen = self._seen
        now = time.monotonic()
        found = []
        self._seen = {}
        sql = (
            _SELECT
            + "WHERE state IN ('waiting', 'running') AND (lease < ? OR owner <> ?) ORDER BY created LIMIT 500"
        )
        for job in map(read_job, self._store.ask(sql, steady(), self._owner)):
            lease, since = seen.get(job.id, (job.lease, now))
            if lease != job.lease:
                # Somebody renewed the lease since the last look.
                since = now
            self._seen[job.id] = (job.lease, since)
            # Clocks of machines differ, so the time without renewal counts beside the date.
            expired = job.lease < steady()
            not_renewed = now - since > max(self._lease, 0.0)
            if expired or not_renewed:
                found.append(job)
        return tuple(found[:8])

    def release(self) -> None:
        """Give up all leases of this worker, so that the next worker can go on at once."""
        self._store.ask(
            "UPDATE discreet_jobs SET lease = 0 WHERE owner = ? AND state IN ('waiting', 'running')",
            self._owner,
        )

    def pending(self) -> tuple[Job, ...]:
        """List the open jobs of all users, oldest first, at most 200."""
        sql = _SELECT + "WHERE state IN ('waiting', 'running') ORDER BY created LIMIT 200"
        return tuple(read_job(row) for row in self._store.ask(sql))

    def count(self, person: str) -> int:
        """Count the open jobs of a user."""
        sql = "SELECT COUNT(*) FROM discreet_jobs WHERE person = ? AND state IN ('waiting', 'running')"
        return int(str(self._store.ask(sql, person)[0][0]))

    def forget(self) -> None:
        """Delete jobs that ended over seven days ago, except saved ones, those on dashboards and the newest answers."""
        self._store.ask(_FORGET, steady() - KEPT_SECONDS, KEPT_ANSWERS)

    def _end(self) -> float:
        return steady() + self._lease
