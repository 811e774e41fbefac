"""Job scheduler: threads of a worker process that run charged requests as jobs.

| thread | work |
|---|---|
| `limits.threads` worker threads | take a job, run it, wait for the tick that shows it |
| maintenance | renews leases, stops late and cancelled jobs, takes over lost ones, shares metrics |
| ledger watch | reads from every ledger, for the health check |

put ─► waiting ─► running ─► done | refused | failed | cancelled
                     └── worker gone: lease runs out ─► another worker runs it again, under the same charge

No thread ends before it is told to, whatever store, disk or log do: an outcome that cannot be
stored now is kept in memory and stored later.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from weakref import WeakValueDictionary

from ...errors import DiscreetError, LedgerConflict, ServiceUnavailable
from ...frozen import frozen
from ...json_shape import JsonObject
from ...wire.json_text import write_json
from ..config import Config
from ..http.audit_log import Log, place_of
from ..http.metrics import Metrics
from ..http.rate_limit import TooMany
from ..stores.datasets import DataSets
from ..stores.receipts import Receipts, fingerprints
from ..stores.store import ServiceStore
from .executor import CANCELLED, JobExecutor, Outcome
from .fair_queue import FairQueue
from .heartbeat import Heartbeat
from .job import Job, new_job
from .job_store import JobStore
from .steady_clock import steady
from .timing_grid import TimingGrid

_LEDGER_PAUSE = 2.0
"""Seconds between two looks at the ledgers."""


@frozen
class _Held:
    """A job of this process, with its outcome if that could not be stored yet."""

    job: Job
    outcome: Outcome | None = None


class JobScheduler:
    """Jobs of one process; `start` starts its threads, `stop` finishes or releases its jobs."""

    def __init__(
        self,
        store: ServiceStore,
        config: Config,
        *,
        datasets: DataSets,
        grid: TimingGrid,
        log: Log,
        receipts: Receipts,
        metrics: Metrics,
    ) -> None:
        self.owner = secrets.token_hex(8)
        self.job_store = JobStore(store, self.owner, config.lease)
        self.heartbeat = Heartbeat(pause=min(1.0, config.lease / 3))
        self.ledgers = Heartbeat(pause=_LEDGER_PAUSE)
        self._store = store
        self._datasets = datasets
        self._metrics = metrics
        self._grid = grid
        self._log = log
        self._config = config
        self._stopping = threading.Event()
        self._answering = JobExecutor(datasets, receipts, log, stopping=self._stopping)
        self._line: FairQueue[_Held] = FairQueue(fair_share(config.bounds.threads))
        self._mine: set[str] = set()
        self._later: list[_Held] = []
        self._first: dict[tuple[str, float], float] = {}
        # A lock is kept as long as a request holds it or waits for it.
        self._submissions: WeakValueDictionary[tuple[str, str], asyncio.Lock]
        self._submissions = WeakValueDictionary()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Start the worker threads and the maintenance thread."""
        loops = [self._work] * self._config.bounds.threads
        loops += [self._keep, self._watch_ledgers]
        for loop in loops:
            # Daemon threads: a query that outlives the drain must not keep the process alive. Its
            # charge is pending in the ledger.
            thread = threading.Thread(target=loop, daemon=True)
            self._threads.append(thread)
            thread.start()

    def well(self) -> dict[str, bool]:
        """Return whether all threads live, and whether store and ledgers could be used a moment ago."""
        alive = all(thread.is_alive() for thread in self._threads)
        return {
            "threads": alive and self.heartbeat.turning,
            "store": self.heartbeat.reaching,
            "ledger": self.ledgers.reaching,
        }

    def submission(self, person: str, mark: str) -> AbstractAsyncContextManager[None]:
        """Return the lock under which requests of one idempotency key are submitted one by one.

        All but the first then find its job and need no check of their own, which could be refused for
        their number. Used by the event loop alone; waiting takes no thread.
        """
        if not mark:
            return nullcontext()
        lock = self._submissions.get((person, mark)) or asyncio.Lock()
        self._submissions[person, mark] = lock
        return lock

    def put(self, person: str, dataset: str, verb: str, body: str, mark: str = "") -> Job:
        """Submit a request; the same idempotency key of the same user is the same job.

        Refuses: a user with too many open jobs, unless this is one of them or was answered before; and a
        key that was used for something else.
        """
        known = bool(mark) and self.job_store.marked(person, mark) is not None
        if not known and self.job_store.count(person) >= self._config.bounds.jobs_per_person:
            raise TooMany(self._config.grid)
        fresh = new_job(person, dataset, verb, body, mark=mark, owner=self.owner)
        job, new = self.job_store.put(fresh)
        taken: Job | None = job
        if not new:
            taken = self._take_again(job)
        if taken is None:
            return job
        self._enqueue(taken)
        return taken

    def _take_again(self, job: Job) -> Job | None:
        """Take over a request that is sent again, if it may run again: its worker died, or it was refused."""
        now = self._moment(job)
        abandoned = job.open and job.lease < now
        # A refusal spent nothing, and the budget may have changed. But its own tick must have shown it
        # first, else a retry would tell when it ended.
        refused = job.state == "refused" and self._grid.shows(job.started, job.finished, now)
        if abandoned or refused:
            return self.job_store.take(job)
        return None

    def _moment(self, job: Job) -> float:
        """Return the present time for a job: by this process's clock, unless it is behind the starter's.

        Then it is the job's start plus the time since the job was first seen here: its ticks come late,
        never early.
        """
        now = steady()
        if job.started <= now:
            return now
        with self._lock:
            if len(self._first) > 10_000:
                self._first.clear()
            first_seen = self._first.setdefault((job.id, job.started), now)
        return job.started + now - first_seen

    def find(self, person: str, job_id: str) -> Job:
        """Find a job of a user."""
        return self.job_store.find(job_id, person)

    def view(self, job: Job, now: float | None = None) -> tuple[bool, JsonObject]:
        """Return whether a job's outcome may be seen by its user, and the job as the user sees it.

        `now` is a moment for which that is asked, such as a tick; the present if it is None.
        """
        moment = now
        if moment is None:
            moment = self._moment(job)
        shown = self._grid.shows(job.started, job.finished, moment)
        tick = self._grid.tick(job.started, max(moment, job.started) + 1e-6)
        if job.state == "waiting":
            # The ticks begin when a thread takes the job, which may be soon.
            tick = min(tick, moment + max(1.0, self._grid.seconds))
        return shown, job.to_json(shown=shown, next_tick=tick, now=moment)

    def cancel(self, person: str, job_id: str) -> Job:
        """Stop a job of a user; its charge stays."""
        job = self.job_store.find(job_id, person)
        self.job_store.cancel(job)
        self._answering.stop(job.id, "cancelled")
        return self.job_store.find(job_id, person)

    def stop(self, seconds: float) -> bool:
        """Let running jobs finish for some seconds, then release the rest; return whether all finished."""
        self._stopping.set()
        self._line.close()
        end = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))
        self.job_store.release()
        return not any(thread.is_alive() for thread in self._threads)

    def _enqueue(self, job: Job) -> None:
        """Put a job into the queue of its user, unless this process has it already."""
        with self._lock:
            if job.id in self._mine:
                return
            self._mine.add(job.id)
        self._line.put(job.person, _Held(job))

    def _work(self) -> None:
        """Loop of one worker thread: take a job, run it, wait for its tick."""
        while True:
            taken = self._line.take()
            if taken is None:
                return
            person, held = taken
            begin = steady()
            try:
                ended, outcome = self._handle(held, begin)
                # Taking the next job before the tick that shows this one would tell when it ended;
                # so would a count.
                tick = self._grid.tick(begin, ended)
                self._stopping.wait(max(0.0, tick - steady()))
                if outcome is not None:
                    self._count(held.job, outcome)
            finally:
                self._line.done(person, steady() - begin)

    def _count(self, job: Job, outcome: Outcome) -> None:
        error = outcome.reply.get("error")
        kind = str(error.get("kind", "")) if isinstance(error, Mapping) else ""
        charged = outcome.charged or outcome.state == "failed"
        self._metrics.count_job(job.verb, outcome.state, charged=charged, refusal=kind)

    def _watch_ledgers(self) -> None:
        """Loop of the thread that reads from every ledger, in which a silent server is waited for."""
        while not self._stopping.wait(self.ledgers.pause):
            self.ledgers.turn()
            with suppress(DiscreetError):
                for name in self._datasets.names:
                    self._datasets.ledger(name).history(last=1)
                self.ledgers.reached()

    def _handle(self, held: _Held, begin: float) -> tuple[float, Outcome | None]:
        """Run a job and store its outcome; return when it ended and how.

        The outcome is None while the service's store is away (it is kept, to be stored later), and
        for a job that belongs to another process by now.
        """
        job = held.job
        outcome = held.outcome
        ended = None
        try:
            if outcome is None:
                outcome = self._outcome(job, begin)
            if outcome is not None:
                reply = write_json(outcome.reply)
                ended = self.job_store.end(job, outcome.state, outcome.status, reply, begin)
                self._note(job, outcome)
        except (LedgerConflict, ServiceUnavailable):
            with self._lock:
                self._later.append(_Held(job, outcome))
            return steady(), None
        except Exception as broken:  # noqa: BLE001 this thread must go on to the next job
            self._log.write(
                f"error {place_of(broken)}", who=job.person, dataset=job.dataset, status=500
            )
        with self._lock:
            self._mine.discard(job.id)
        return ended or steady(), outcome

    def _outcome(self, job: Job, begin: float) -> Outcome | None:
        """Run a job; None if it belongs to another process by now."""
        if self.job_store.begin(job, begin):
            return self._answering.answer(job)
        found = self.job_store.get(job.id)
        if found is not None and found.open and found.owner == self.owner:
            # Still ours and open, but it could not begin: its user cancelled it.
            return CANCELLED
        return None

    def _note(self, job: Job, outcome: Outcome) -> None:
        """Write the end of a job to the audit log, with the fingerprints of its questions."""
        self._log.write(
            f"{job.verb} {outcome.state}",
            who=job.person,
            dataset=job.dataset,
            question=fingerprints(outcome.reply),
            status=outcome.status,
        )

    def _keep(self) -> None:
        """Loop of the maintenance thread: renew leases, stop jobs, take over lost ones."""
        rounds = 0
        while True:
            if self._stopping.wait(self.heartbeat.pause):
                time.sleep(0.05)
                if not self._answering.busy:
                    return
            self.heartbeat.turn()
            try:
                self._round(forget=rounds % 3600 == 0)
                self.heartbeat.reached()
            except (LedgerConflict, ServiceUnavailable):
                # The store is away, which the heartbeat shows. Leases outlast a restart of the store.
                pass
            except Exception as broken:  # noqa: BLE001 this thread must not end
                self._log.write(f"error {place_of(broken)}", status=500)
            rounds += 1

    def _round(self, *, forget: bool) -> None:
        """Do the work of one round of the maintenance thread; `forget` deletes old jobs too."""
        self._answering.stop_late(self._config.bounds.query_seconds)
        with self._lock:
            mine, later = list(self._mine), self._later
            self._later = []
        for held in later:
            self._line.put(held.job.person, held)
        for job_id in self.job_store.renew(mine):
            self._answering.stop(job_id, "cancelled")
        self.job_store.probe()
        self._metrics.share(self._store, self.owner)
        if not self._stopping.is_set():
            for job in self.job_store.lost():
                taken = self.job_store.take(job)
                if taken is not None:
                    self._enqueue(taken)
        if forget:
            self.job_store.forget()


def fair_share(threads: int) -> int:
    """Return how many of a worker's threads one user may hold: half, rounded down, at least one.

    So the next user finds a free one.

    >>> from discreet.service.jobs.scheduler import fair_share
    >>> fair_share(4), fair_share(1)
    (2, 1)
    """
    return max(1, threads // 2)
