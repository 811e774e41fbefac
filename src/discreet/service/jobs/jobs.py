"""Jobs at work: a few threads answer charged requests, one engine each; a keeper renews leases and takes over.

put ─► waiting ─► running ─► done | refused | failed | cancelled
                     └── worker gone: lease runs out ─► another worker runs it again, under the same charge
"""

from __future__ import annotations

import json
import queue
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from ...engines.base import failure
from ...errors import Cancelled, DiscreetError, EngineFailure, LedgerConflict
from ...wire.reply import refusal_to_json, status_of
from ...wire.text import write_json
from ..api.verbs import CHARGED
from ..config import Config
from ..http.limits import TooMany
from ..http.log import Log, place_of
from ..stores.datasets import DataSets, Hired
from ..stores.receipts import Receipts, fingerprints
from ..stores.store import PATIENCE, ServiceStore
from .grid import Grid
from .job import Job
from .shelf import Shelf

__all__ = ["Jobs", "Outcome"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a job."""

    state: str
    status: int
    reply: Mapping[str, object]


_CANCELLED = Outcome("cancelled", status_of(Cancelled()), refusal_to_json(Cancelled()))


@dataclass(frozen=True, slots=True)
class _Run:
    hired: Hired
    since: float


class Jobs:
    """The jobs of one worker; `start` sets its threads going, `stop` finishes or releases what it holds."""

    def __init__(
        self, store: ServiceStore, config: Config, *, datasets: DataSets, grid: Grid, log: Log, receipts: Receipts
    ) -> None:
        self.owner = secrets.token_hex(8)
        self.shelf = Shelf(store, self.owner, config.lease)
        self._datasets, self._grid, self._log, self._receipts, self._config = datasets, grid, log, receipts, config
        self._queue: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._running: dict[str, _Run] = {}
        self._mine: set[str] = set()
        self._cancelled: set[str] = set()
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Set the threads going."""
        for work in [self._work] * self._config.bounds.threads + [self._keep]:
            # daemons: a query that outlives the drain must not keep the process, its charge is pending in the ledger
            self._threads.append(threading.Thread(target=work, daemon=True))
            self._threads[-1].start()

    def put(self, person: str, dataset: str, verb: str, body: str, mark: str = "") -> Job:
        """Put up a request; the same mark of the same person is the same job.

        Refuses a person with too many open jobs, and a mark that was used for something else.
        """
        if self.shelf.count(person) >= self._config.bounds.jobs_per_person:
            raise TooMany(self._config.grid)
        job_id, now = secrets.token_urlsafe(16), time.time()
        fresh = Job(
            job_id,
            person,
            mark or job_id,
            dataset,
            verb,
            body,
            "waiting",
            0,
            self.owner,
            0.0,
            now,
            now,
            None,
            None,
            None,
        )
        job, new = self.shelf.put(fresh)
        taken = job if new else self._take_again(job)
        if taken is not None:
            self._enqueue(taken)
        return taken or job

    def _take_again(self, job: Job) -> Job | None:
        return self.shelf.take(job) if self._again(job) else None

    def _again(self, job: Job) -> bool:
        """Return whether a request that is sent again is run again: if its worker is gone, or if it was refused.

        A refusal spent nothing, and the budget may have changed; but first its own tick must have shown it.
        """
        now = time.time()
        return (job.open and job.lease < now) or (job.state == "refused" and self._shows(job, now))

    def _shows(self, job: Job, now: float) -> bool:
        return self._grid.shows(job.started, job.finished, now)

    def find(self, person: str, job_id: str) -> Job:
        """Find a job of a person."""
        return self.shelf.find(job_id, person)

    def view(self, job: Job, now: float | None = None) -> tuple[bool, dict[str, object]]:
        """Return what may be seen of a job by now, and whether that is its outcome."""
        moment = time.time() if now is None else now
        shown = self._grid.shows(job.started, job.finished, moment)
        tick = self._grid.tick(job.started, max(moment, job.started) + 1e-6)
        return shown, job.to_json(shown=shown, next_tick=tick, now=moment)

    def cancel(self, person: str, job_id: str) -> Job:
        """Stop a job of a person; what was charged stays charged."""
        job = self.shelf.find(job_id, person)
        self.shelf.cancel(job)
        self._interrupt(job.id)
        return self.shelf.find(job_id, person)

    def stop(self, seconds: float) -> None:
        """Let running jobs finish for some seconds, then give up the leases of the rest."""
        self._stopping.set()
        for _ in self._threads:
            self._queue.put(None)
        end = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))
        self.shelf.release()

    def _enqueue(self, job: Job) -> None:
        with self._lock:
            if job.id in self._mine:
                return
            self._mine.add(job.id)
        self._queue.put(job)

    def _work(self) -> None:
        while (job := self._queue.get()) is not None and not self._stopping.is_set():
            try:
                self._run(job)
            except LedgerConflict:
                pass  # the service's store is away: the lease runs out, and the job is taken up again
            except Exception as broken:  # noqa: BLE001 whatever it is, this thread goes on to the next job
                self._log.write(f"error {place_of(broken)}", who=job.person, dataset=job.dataset, status=500)
            finally:
                with self._lock:
                    self._mine.discard(job.id)
                    self._cancelled.discard(job.id)

    def _run(self, job: Job) -> None:
        outcome = self._answer(job) if self.shelf.begin(job) else _CANCELLED
        self.shelf.end(job, outcome.state, outcome.status, write_json(outcome.reply))
        self._log.write(
            f"{job.verb} {outcome.state}",
            who=job.person,
            dataset=job.dataset,
            question=fingerprints(outcome.reply),
            status=outcome.status,
        )

    def _answer(self, job: Job) -> Outcome:
        try:
            hired = self._datasets.hire(job.dataset)
        except DiscreetError:  # the store went away before this thread had opened it; nothing was charged
            return Outcome("failed", status_of(failure()), refusal_to_json(failure()))
        with self._lock:
            self._running[job.id] = _Run(hired, time.monotonic())
        try:
            verb = CHARGED[job.verb]
            body = json.loads(job.body)
            reply = _patiently(lambda: verb(hired.curator.named(job.person), body), self._stopping)
            self._receipts.keep(job.dataset, reply)
            return Outcome("done", 200, reply)
        except EngineFailure as failed:
            return self._fail(job, failed)
        except DiscreetError as refusal:
            return Outcome("refused", status_of(refusal), refusal_to_json(refusal))
        except Exception as broken:  # noqa: BLE001 whatever it says may tell about data
            self._log.write(f"error {place_of(broken)}", who=job.person, dataset=job.dataset, status=500)
            return Outcome("failed", 500, refusal_to_json(None))
        finally:
            with self._lock:  # from here on nobody may interrupt: the engine goes on to the next job
                del self._running[job.id]

    def _fail(self, job: Job, failed: EngineFailure) -> Outcome:
        with self._lock:
            cancelled = job.id in self._cancelled
        if cancelled:
            return _CANCELLED
        return Outcome("failed", status_of(failed), refusal_to_json(failed))

    def _interrupt(self, job_id: str) -> None:
        with self._lock:
            run = self._running.get(job_id)
            if run is not None:
                self._cancelled.add(job_id)
                run.hired.interrupt()

    def _keep(self) -> None:
        """Renew, stop what is cancelled or too long, take over what was lost; until the worker ends."""
        pause, rounds = min(1.0, self._config.lease / 3), 0
        while True:
            if self._stopping.wait(pause):
                time.sleep(0.05)
                if not self._running:
                    return
            with suppress(LedgerConflict):  # the store is away; leases are long enough to live through a restart
                self._round(forget=rounds % 3600 == 0)
            rounds += 1

    def _round(self, *, forget: bool) -> None:
        for job_id in self.shelf.renew() if self._mine else ():
            self._interrupt(job_id)
        with self._lock:
            limit = time.monotonic() - self._config.bounds.query_seconds
            late = [job_id for job_id, run in self._running.items() if run.since < limit]
        for job_id in late:
            self._interrupt(job_id)
        if not self._stopping.is_set():
            for job in self.shelf.lost():
                taken = self.shelf.take(job)
                if taken is not None:
                    self._enqueue(taken)
        if forget:
            self.shelf.forget()


def _patiently(
    run: Callable[[], Mapping[str, object]], stopping: threading.Event, patience: float = PATIENCE
) -> Mapping[str, object]:
    """Run again while the ledger cannot be reached, for some seconds: it says that nothing was lost by asking again."""
    end = time.monotonic() + patience
    while True:
        try:
            return run()
        except LedgerConflict:
            if time.monotonic() > end or stopping.is_set():
                raise
            stopping.wait(0.2)
