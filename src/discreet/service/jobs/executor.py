"""Job executor: runs a charged request in the calling thread and turns every end into an outcome.

end of the run                                  outcome
answer                                          done
refusal, or the ledger is busy                  refused: nothing was spent, it may be sent again
the source failed before a charge               refused: nothing was spent; TooSlow after a timeout
the source failed after a charge                failed: the charge stays
timeout after a charge                          failed, with TooSlow: the charge stays
cancelled by its user                           cancelled: a charge that was made stays
unexpected error                                refused before a charge, failed after it; HTTP 500

Other threads stop the running job of a thread on cancellation or timeout.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping

from ...engines.base import failure
from ...errors import (
    Cancelled,
    DiscreetError,
    EngineFailure,
    LedgerConflict,
    ServiceUnavailable,
    TooSlow,
)
from ...frozen import frozen
from ...wire.reply import refusal_to_json, status_of
from ...wire.verbs.table import VERBS
from ..http.audit_log import Log, place_of
from ..stores.datasets import DataSets, ThreadCurator
from ..stores.receipts import Receipts
from ..stores.store import RETRY_SECONDS
from .job import Job

GRACE = 5.0
"""Seconds for which a source may go on after it was told to stop; then its connection is cut."""


class RunningJob:
    """Run of one job; `why` it was stopped: `cancelled` by its user, `late` on timeout, "" if not stopped."""

    def __init__(self, thread_curator: ThreadCurator) -> None:
        self.thread_curator = thread_curator
        self.since = time.monotonic()
        self.why = ""
        self._told: float | None = None
        self._over = False
        self._lock = threading.Lock()
        thread_curator.begin()

    @property
    def charged(self) -> bool:
        """Whether the source was queried, which happens only after the charge."""
        return self.thread_curator.touched.is_set()

    def stop(self, why: str) -> None:
        """Stop the query, unless it is over or being stopped; may wait for a silent source."""
        if not self._lock.acquire(blocking=False):
            return
        try:
            if self._over:
                return
            self.why = self.why or why
            self._told = self._told or time.monotonic()
            if time.monotonic() - self._told > GRACE:
                self.thread_curator.hang_up()
            else:
                self.thread_curator.interrupt()
        finally:
            self._lock.release()

    def end(self) -> None:
        """Mark the run as over: the engine goes on to the next job, which must not be stopped."""
        with self._lock:
            self._over = True


@frozen
class Outcome:
    """Outcome of a job: its final state, and the HTTP status and body of its reply.

    `charged` is set in outcomes of state `done` only.
    """

    state: str
    status: int
    reply: Mapping[str, object]
    charged: bool = False
    """Whether the source was queried, after the charge; False if the answer was stored before."""


CANCELLED = Outcome("cancelled", status_of(Cancelled()), refusal_to_json(Cancelled()))
_TIMED_OUT = Outcome("failed", status_of(TooSlow()), refusal_to_json(TooSlow()))
_TIMED_OUT_UNCHARGED = TooSlow(
    "the store did not say in time how it would answer; nothing was spent, ask again"
)
_RETRY_SECONDS = 0.2


class JobExecutor:
    """Runs the jobs of one worker process, each in the thread that calls `answer`."""

    def __init__(
        self, datasets: DataSets, receipts: Receipts, log: Log, *, stopping: threading.Event
    ) -> None:
        self._datasets = datasets
        self._receipts = receipts
        self._log = log
        self._stopping = stopping
        self._runs: dict[str, RunningJob] = {}
        self._lock = threading.Lock()

    @property
    def busy(self) -> bool:
        """True while any job runs."""
        return bool(self._runs)

    def stop(self, job_id: str, why: str) -> None:
        """Stop a run of this process, if there is one; returns at once."""
        with self._lock:
            run = self._runs.get(job_id)
        if run is not None:
            # A source that does not respond is waited for, so the caller must not do the waiting.
            threading.Thread(target=run.stop, args=(why,), daemon=True).start()

    def stop_late(self, seconds: float) -> None:
        """Stop every run that has taken longer than its timeout in seconds."""
        timed_out = []
        with self._lock:
            for job_id, run in self._runs.items():
                if time.monotonic() - run.since > seconds:
                    timed_out.append(job_id)
        # After the lock is released: `stop` takes the same lock.
        for job_id in timed_out:
            self.stop(job_id, "late")

    def answer(self, job: Job) -> Outcome:
        """Run a job to its end; every error becomes an outcome."""
        try:
            run = RunningJob(self._datasets.thread_curator(job.dataset))
        except DiscreetError:
            # The source went away before this thread had opened it; nothing was charged.
            return _outcome("refused", failure())
        with self._lock:
            self._runs[job.id] = run
        try:
            return self._ask(job, run)
        except EngineFailure as failed:
            return _failure_outcome(run, failed)
        except DiscreetError as refusal:
            return _outcome("refused", refusal)
        except Exception as broken:  # noqa: BLE001 its message may tell about data
            self._log.write(
                f"error {place_of(broken)}", who=job.person, dataset=job.dataset, status=500
            )
            state = "failed" if run.charged else "refused"
            return Outcome(state, 500, refusal_to_json(None))
        finally:
            # Removed first, so that no new stop begins; `end` then waits for one under way.
            with self._lock:
                del self._runs[job.id]
            run.end()

    def _ask(self, job: Job, run: RunningJob) -> Outcome:
        """Run the verb of a job as its user, and keep the receipt of the reply."""
        verb = VERBS[job.verb]
        body = json.loads(job.body)

        curator = run.thread_curator.curator.named(job.person)

        def ask() -> Mapping[str, object]:
            return verb.run_job(curator, body)

        reply = retry_while_busy(ask, self._stopping)
        # The numbers of this asker's entries are known since the receipt was made: nothing can fail.
        self._receipts.keep(job.dataset, reply, curator.context.numbers)
        return Outcome("done", 200, reply, run.charged)


def _outcome(state: str, refusal: DiscreetError) -> Outcome:
    return Outcome(state, status_of(refusal), refusal_to_json(refusal))


def _failure_outcome(run: RunningJob, failed: EngineFailure) -> Outcome:
    """Return the outcome of a run whose source failed, or was interrupted by a cancellation or timeout."""
    if run.why == "cancelled":
        return CANCELLED
    if run.why == "late":
        return _TIMED_OUT if run.charged else _outcome("refused", _TIMED_OUT_UNCHARGED)
    # Before its charge a job has spent nothing, so it may be sent again.
    return _outcome("failed" if run.charged else "refused", failed)


def retry_while_busy(
    run: Callable[[], Mapping[str, object]], stopping: threading.Event
) -> Mapping[str, object]:
    """Return the result of `run`, called again for RETRY_SECONDS while the ledger is busy or away.

    The ledger's refusal says that nothing was spent, so a retry is safe.
    """
    end = time.monotonic() + RETRY_SECONDS
    while True:
        try:
            return run()
        except (LedgerConflict, ServiceUnavailable):
            if time.monotonic() > end or stopping.is_set():
                raise
            # Waits for the event, so that shutting down ends the retries at once.
            stopping.wait(_RETRY_SECONDS)
