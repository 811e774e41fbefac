"""Process pool for free requests (explain, plan, rehearse), with limits of time and memory.

Free requests cost no budget, so only time and memory limit them. A task runs in a planning worker,
a process that is killed after `limits.free_seconds`. The tasks of one user fill at most half of the
pool (at least one process); the rest waits in the fair queue.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotInTime
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import anyio.to_thread

from ...errors import Cancelled, DiscreetError, ServiceUnavailable, TooSlow
from ...frozen import field, frozen
from ...wire.reply import BROKEN
from ..config import Config
from ..http.audit_log import Log
from ..http.rate_limit import TooMany
from .fair_queue import FairQueue
from .fork_server import PlanningWorker, shared_fork_server
from .messages import BRIEF, Broken

if TYPE_CHECKING:
    from ..stores.datasets import DataSets

T = TypeVar("T")
WAITING = 4
"""Times the longest run of a task: its caller waits that long, and OPENING seconds more."""
OPENING = 30
"""Additional seconds in which the fork server may start."""
THREADS = 64
LISTENING = 0.25
"""Seconds between two checks whether the client is still connected."""


class ClientGone(Exception):
    """The client has disconnected."""


class WorkerFailed(Exception):
    """A planning worker raised something other than a refusal; `place` is the place in the code."""

    def __init__(self, place: str) -> None:
        super().__init__(BROKEN)
        self.place = place


@frozen
class _Task:
    """A task of a user, and the future of its result."""

    dataset: str
    person: str
    work: Callable[..., Any]
    words: tuple[object, ...]
    gone: threading.Event
    future: Future[Any] = field(default_factory=Future)


class PlanningPool:
    """Planning workers of one server process; they start with the first free request."""

    def __init__(self, config: Config, datasets: DataSets, log: Log) -> None:
        self._bounds = config.bounds
        self._datasets = datasets
        self._log = log
        most = max(1, config.bounds.free_processes // 2)
        self._line: FairQueue[_Task] = FairQueue(most)
        self._fork_server = shared_fork_server()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._limiter: anyio.CapacityLimiter | None = None

    def ask(
        self,
        person: str,
        dataset: str,
        work: Callable[..., T],
        *words: object,
        gone: threading.Event | None = None,
    ) -> T:
        """Run `work(curator, *words)` for a user in a planning worker and wait for the result.

        The work runs in this process, without limits, if the data set's ledger is in its memory.
        `gone` is set when the client disconnects; then the task is dropped (Cancelled).

        Refuses: tasks that need too much time or memory (TooSlow), users with too many tasks
        (TooMany), and all tasks while a worker cannot be started or dies (ServiceUnavailable).
        """
        if not self._datasets.setups[dataset].ledger:
            # A ledger in this process's memory cannot be read by another process.
            return work(self._datasets.curator(dataset, person), *words)
        if self._line.load(person) >= self._bounds.jobs_per_person:
            raise TooMany(1.0)
        self._begin()
        task = _Task(dataset, person, work, words, gone or threading.Event())
        self._line.put(person, task)
        end = time.monotonic() + OPENING + WAITING * self._bounds.free_seconds
        while time.monotonic() < end:
            try:
                result: T = task.future.result(LISTENING)
            except NotInTime:
                # Only a waiting task can be cancelled here; a running one is ended by its thread.
                if task.gone.is_set() and task.future.cancel():
                    raise Cancelled from None
            else:
                return result
        task.future.cancel()
        raise self._late()

    async def run(self, work: Callable[..., T], *words: object, **named: object) -> T:
        """Run a blocking call in a thread pool of its own, so that other requests find threads."""
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(THREADS)
        call = partial(work, *words, **named)
        return await anyio.to_thread.run_sync(call, limiter=self._limiter)

    def well(self) -> bool:
        """Return whether all threads of the pool are alive."""
        return all(thread.is_alive() for thread in self._threads)

    def close(self) -> None:
        """End each planning worker after its present task."""
        self._line.close()

    def _begin(self) -> None:
        with self._lock:
            while len(self._threads) < self._bounds.free_processes:
                self._threads.append(threading.Thread(target=self._attend, daemon=True))
                self._threads[-1].start()

    def _attend(self) -> None:
        """Loop of one thread: hand one planning worker one task after the other."""
        worker: PlanningWorker | None = None
        while True:
            taken = self._line.take()
            if taken is None:
                break
            person, task = taken
            try:
                if task.future.set_running_or_notify_cancel():
                    worker = self._serve(worker, task)
            finally:
                self._line.done(person)
        if worker is not None:
            self._fork_server.stop_worker(worker)

    def _serve(self, worker: PlanningWorker | None, task: _Task) -> PlanningWorker | None:
        """Run a task; return the worker, unless it was killed or has run too long (see `BRIEF`)."""
        started = 0.0
        usable = False
        try:
            if worker is None:
                worker = self._start_worker()
            started = time.monotonic()
            result = self._follow(worker, task)
            task.future.set_result(result)
            usable = True
        except (DiscreetError, WorkerFailed) as refusal:
            task.future.set_exception(refusal)
            usable = True
        except ClientGone:
            task.future.set_exception(Cancelled())
        except TimeoutError:
            task.future.set_exception(self._late())
        except Exception:  # noqa: BLE001
            # The worker or the fork server died, or sent something unreadable.
            message = "this could not be worked out just now; ask again"
            task.future.set_exception(ServiceUnavailable(message))
        if worker is None:
            return None
        # A worker that ran longer than BRIEF has lowered its own priority for good.
        brief = time.monotonic() - started < BRIEF
        if usable and brief:
            return worker
        self._fork_server.stop_worker(worker)
        return None

    def _start_worker(self) -> PlanningWorker:
        worker = self._fork_server.start_worker()
        worker.line.send((self._datasets.setups, self._bounds.free_megabytes))
        return worker

    def _follow(self, worker: PlanningWorker, task: _Task) -> object:
        """Send a task and answer the worker's requests until it is done or its time is over."""
        end = time.monotonic() + self._bounds.free_seconds
        worker.line.send((task.dataset, task.person, task.work, task.words))
        while True:
            left = end - time.monotonic()
            if left <= 0:
                raise TimeoutError
            if task.gone.is_set():
                raise ClientGone
            if not worker.line.poll(min(LISTENING, left)):
                continue
            verb, payload = worker.line.recv()
            if verb == "done":
                return _open(payload)
            worker.line.send(self._look_up(verb, *payload))

    def _look_up(self, verb: str, dataset: str, *words: object) -> object:
        """Answer a request of a planning worker: a query text or public values, never a row."""
        engine: Any = self._datasets.engine(dataset)
        methods = {"explain": engine.explain, "public_values": engine.public_values}
        try:
            return methods[verb](*words)
        except DiscreetError as refusal:
            return refusal

    def _late(self) -> TooSlow:
        return TooSlow(
            f"working this out takes longer than {self._bounds.free_seconds} s, which is the most that is given; "
            "nothing was spent. Ask for less at once: fewer groups, statistics or made-up rows"
        )


def _open(found: object) -> object:
    """Return a result, or raise what came instead of one."""
    if isinstance(found, DiscreetError):
        raise found
    if isinstance(found, Broken):
        raise WorkerFailed(found.place)
    return found
