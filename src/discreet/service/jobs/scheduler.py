"""Jobs at work: a few threads answer charged requests, one engine each; a keeper renews leases and takes over.

put ─► waiting ─► running ─► done | refused | failed | cancelled
                     └── worker gone: lease runs out ─► another worker runs it again, under the same charge

No thread here ends before the worker does, whatever store, disk or log are up to: what cannot be written down now is
kept, and written down when it can be.
"""

from __future__ import annotations

import secrets
import threading
import time

from ...errors import LedgerConflict, ServiceUnavailable
from ...frozen import frozen
from ...wire.json_text import write_json
from ..config import Config
from ..http.audit_log import Log, place_of
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


@frozen
class _Held:
    """A job in hand here, with what came of it if that could not be written down yet."""

    job: Job
    outcome: Outcome | None = None


class JobScheduler:
    """The jobs of one worker; `start` sets its threads going, `stop` finishes or releases what it holds."""

    def __init__(
        self,
        store: ServiceStore,
        config: Config,
        *,
        datasets: DataSets,
        grid: TimingGrid,
        log: Log,
        receipts: Receipts,
    ) -> None:
        self.owner = secrets.token_hex(8)
        self.shelf = JobStore(store, self.owner, config.lease)
        self.pulse = Heartbeat(pause=min(1.0, config.lease / 3))
        self._grid, self._log, self._config = grid, log, config
        self._stopping = threading.Event()
        self._answering = JobExecutor(datasets, receipts, log, stopping=self._stopping)
        self._line: FairQueue[_Held] = FairQueue(fair_share(config.bounds.threads))
        self._mine: set[str] = set()
        self._later: list[_Held] = []
        self._first: dict[tuple[str, float], float] = {}
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Set the threads going."""
        for work in [self._work] * self._config.bounds.threads + [self._keep]:
            # daemons: a query that outlives the drain must not keep the process, its charge is pending in the ledger
            self._threads.append(threading.Thread(target=work, daemon=True))
            self._threads[-1].start()

    def well(self) -> dict[str, bool]:
        """Return whether all threads go on, and whether the store could be read and written a moment ago."""
        alive = all(thread.is_alive() for thread in self._threads)
        return {"threads": alive and self.pulse.turning, "store": self.pulse.reaching}

    def put(self, person: str, dataset: str, verb: str, body: str, mark: str = "") -> Job:
        """Put up a request; the same mark of the same person is the same job.

        Refuses a person with too many open jobs, unless this is one of them or was answered before; and a mark that was
        used for something else.
        """
        known = bool(mark) and self.shelf.marked(person, mark) is not None
        if not known and self.shelf.count(person) >= self._config.bounds.jobs_per_person:
            raise TooMany(self._config.grid)
        fresh = new_job(person, dataset, verb, body, mark=mark, owner=self.owner)
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
        now = self._moment(job)
        return (job.open and job.lease < now) or (
            job.state == "refused" and self._grid.shows(job.started, job.finished, now)
        )

    def _moment(self, job: Job) -> float:
        """Return what time it is for a job: by this worker's clock, unless that is behind the one that started it.

        Then it is the job's start and the time since the job was first seen here: its ticks come late, never early.
        """
        now = steady()
        if job.started <= now:
            return now
        with self._lock:
            if len(self._first) > 10_000:
                self._first.clear()
            return job.started + now - self._first.setdefault((job.id, job.started), now)

    def find(self, person: str, job_id: str) -> Job:
        """Find a job of a person."""
        return self.shelf.find(job_id, person)

    def view(self, job: Job, now: float | None = None) -> tuple[bool, dict[str, object]]:
        """Return what may be seen of a job by now, and whether that is its outcome."""
        moment = self._moment(job) if now is None else now
        shown = self._grid.shows(job.started, job.finished, moment)
        tick = self._grid.tick(job.started, max(moment, job.started) + 1e-6)
        if job.state == "waiting":  # its ticks begin when a hand takes it, which may be soon
            tick = min(tick, moment + max(1.0, self._grid.seconds))
        return shown, job.to_json(shown=shown, next_tick=tick, now=moment)

    def cancel(self, person: str, job_id: str) -> Job:
        """Stop a job of a person; what was charged stays charged."""
        job = self.shelf.find(job_id, person)
        self.shelf.cancel(job)
        self._answering.stop(job.id, "cancelled")
        return self.shelf.find(job_id, person)

    def stop(self, seconds: float) -> bool:
        """Let running jobs finish for some seconds, then give up the leases of the rest; return whether all did."""
        self._stopping.set()
        self._line.close()
        end = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))
        self.shelf.release()
        return not any(thread.is_alive() for thread in self._threads)

    def _enqueue(self, job: Job) -> None:
        with self._lock:
            if job.id in self._mine:
                return
            self._mine.add(job.id)
        self._line.put(job.person, _Held(job))

    def _work(self) -> None:
        while (found := self._line.take()) is not None:
            (person, held), begin = found, steady()
            try:
                ended = self._handle(held, begin)
                # a hand that took the next job before the tick that shows this one would tell when it ended
                self._stopping.wait(max(0.0, self._grid.tick(begin, ended) - steady()))
            finally:
                self._line.done(person, steady() - begin)

    def _handle(self, held: _Held, begin: float) -> float:
        """Run a job, write down what came of it and when, and return when; while the store is away all is put off."""
        job, outcome, ended = held.job, held.outcome, None
        try:
            outcome = outcome or self._outcome(job, begin)
            if outcome is not None:
                ended = self.shelf.end(
                    job, outcome.state, outcome.status, write_json(outcome.reply), begin
                )
                self._note(job, outcome)
        except (LedgerConflict, ServiceUnavailable):
            with self._lock:
                self._later.append(_Held(job, outcome))
            return steady()
        except Exception as broken:  # noqa: BLE001 whatever it is, this thread goes on to the next job
            self._log.write(
                f"error {place_of(broken)}", who=job.person, dataset=job.dataset, status=500
            )
        with self._lock:
            self._mine.discard(job.id)
        return ended or steady()

    def _outcome(self, job: Job, begin: float) -> Outcome | None:
        """Run a job; None if it is no longer ours to run."""
        if self.shelf.begin(job, begin):
            return self._answering.answer(job)
        found = self.shelf.get(job.id)
        return CANCELLED if found is not None and found.open and found.owner == self.owner else None

    def _note(self, job: Job, outcome: Outcome) -> None:
        self._log.write(
            f"{job.verb} {outcome.state}",
            who=job.person,
            dataset=job.dataset,
            question=fingerprints(outcome.reply),
            status=outcome.status,
        )

    def _keep(self) -> None:
        """Renew, stop what is cancelled or too long, take over what was lost; until the worker ends."""
        rounds = 0
        while True:
            if self._stopping.wait(self.pulse.pause):
                time.sleep(0.05)
                if not self._answering.busy:
                    return
            self.pulse.turn()
            try:
                self._round(forget=rounds % 3600 == 0)
                self.pulse.reached()
            except (LedgerConflict, ServiceUnavailable):
                pass  # the store is away, which the pulse shows; leases are long enough to live through a restart
            except Exception as broken:  # noqa: BLE001 whatever it is, the keeper keeps on
                self._log.write(f"error {place_of(broken)}", status=500)
            rounds += 1

    def _round(self, *, forget: bool) -> None:
        self._answering.stop_late(self._config.bounds.query_seconds)
        with self._lock:
            mine, later = list(self._mine), self._later
            self._later = []
        for held in later:
            self._line.put(held.job.person, held)
        for job_id in self.shelf.renew(mine):
            self._answering.stop(job_id, "cancelled")
        self.shelf.probe()
        for job in () if self._stopping.is_set() else self.shelf.lost():
            taken = self.shelf.take(job)
            if taken is not None:
                self._enqueue(taken)
        if forget:
            self.shelf.forget()


def fair_share(threads: int) -> int:
    """Return how many of so many hands one person may hold: half, so that whoever comes next finds one free.

    >>> from discreet.service.jobs.scheduler import fair_share
    >>> fair_share(4), fair_share(1)
    (2, 1)
    """
    return max(1, threads // 2)
