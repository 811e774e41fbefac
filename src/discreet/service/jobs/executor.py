"""Answering a job in the thread that holds it: the curator is asked, and whatever happens becomes an outcome.

the answer came                         done
a refusal, or the ledger is busy        refused: nothing was spent, the same request may be sent again
the store failed before it was asked    refused: nothing is charged before it is asked; too slow, if it was silent
the store failed                        failed: what was charged stays charged
its time was over                       failed, and called too slow
its person stopped it                   cancelled
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
from ..api.handlers import CHARGED
from ..http.audit_log import Log, place_of
from ..stores.datasets import DataSets
from ..stores.receipts import Receipts
from ..stores.store import PATIENCE
from .job import Job
from .running_job import RunningJob


@frozen
class Outcome:
    """What came of a job."""

    state: str
    status: int
    reply: Mapping[str, object]


CANCELLED = Outcome("cancelled", status_of(Cancelled()), refusal_to_json(Cancelled()))
_UNASKED = TooSlow(
    "the store did not say in time how it would answer; nothing was spent, ask again"
)
_LATE = Outcome("failed", status_of(TooSlow()), refusal_to_json(TooSlow()))


class JobExecutor:
    """The runs of one worker."""

    def __init__(
        self, datasets: DataSets, receipts: Receipts, log: Log, *, stopping: threading.Event
    ) -> None:
        self._datasets, self._receipts, self._log, self._stopping = (
            datasets,
            receipts,
            log,
            stopping,
        )
        self._runs: dict[str, RunningJob] = {}
        self._lock = threading.Lock()

    @property
    def busy(self) -> bool:
        """Whether any job runs."""
        return bool(self._runs)

    def stop(self, job_id: str, why: str) -> None:
        """Stop a run, if it is here; returns at once."""
        with self._lock:
            run = self._runs.get(job_id)
        if run is not None:  # in a thread of its own, since a silent store is waited for
            threading.Thread(target=run.stop, args=(why,), daemon=True).start()

    def stop_late(self, seconds: float) -> None:
        """Stop every run that has taken longer than so many seconds."""
        with self._lock:
            late = [
                job_id
                for job_id, run in self._runs.items()
                if time.monotonic() - run.since > seconds
            ]
        for job_id in late:
            self.stop(job_id, "late")

    def answer(self, job: Job) -> Outcome:
        """Run a job to its end."""
        try:
            run = RunningJob(self._datasets.hire(job.dataset))
        except (
            DiscreetError
        ):  # the store went away before this thread had opened it; nothing was charged
            return _outcome("refused", failure())
        with self._lock:
            self._runs[job.id] = run
        try:
            return self._ask(job, run)
        except EngineFailure as failed:
            return _fail(run, failed)
        except DiscreetError as refusal:
            return _outcome("refused", refusal)
        except Exception as broken:  # noqa: BLE001 whatever it says may tell about data
            self._log.write(
                f"error {place_of(broken)}", who=job.person, dataset=job.dataset, status=500
            )
            return Outcome("failed" if run.charged else "refused", 500, refusal_to_json(None))
        finally:
            with self._lock:
                del self._runs[job.id]
            run.end()

    def _ask(self, job: Job, run: RunningJob) -> Outcome:
        verb, body = CHARGED[job.verb], json.loads(job.body)
        reply = patiently(lambda: verb(run.hired.curator.named(job.person), body), self._stopping)
        self._receipts.keep(job.dataset, reply)
        return Outcome("done", 200, reply)


def _outcome(state: str, refusal: DiscreetError) -> Outcome:
    return Outcome(state, status_of(refusal), refusal_to_json(refusal))


def _fail(run: RunningJob, failed: EngineFailure) -> Outcome:
    if not run.charged and run.why != "cancelled":
        return _outcome("refused", _UNASKED if run.why == "late" else failed)
    return {"cancelled": CANCELLED, "late": _LATE}.get(run.why) or _outcome("failed", failed)


def patiently(
    run: Callable[[], Mapping[str, object]], stopping: threading.Event
) -> Mapping[str, object]:
    """Run again while the ledger cannot be reached, for some seconds: it says that nothing was lost by asking again."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return run()
        except (LedgerConflict, ServiceUnavailable):
            if time.monotonic() > end or stopping.is_set():
                raise
            stopping.wait(0.2)
