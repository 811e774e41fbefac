"""The desk for what is free: explaining, planning, rehearsing. Each piece of work has an end, and people take turns.

What is free costs no budget, so only time and memory limit it: a piece of work runs in a clerk's process, which is
ended when its seconds are over; one person's work fills half of the clerks at most, and the rest of it waits in line.
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
from .fork_server import PlanningWorker, the_office
from .messages import BRIEF, Broken

if TYPE_CHECKING:
    from ..stores.datasets import DataSets

T = TypeVar("T")
WAITING = 4
"""How often the seconds of one piece of work it may wait for its turn."""
OPENING = 30
"""Seconds more, in which the office may open."""
THREADS = 64
LISTENING = 0.25
"""Seconds between two looks whether whoever asked is still there."""


class ClientGone(Exception):
    """Whoever asked is not there any more."""


class WorkerFailed(Exception):
    """A clerk met something that is no refusal; `place` says where."""

    def __init__(self, place: str) -> None:
        super().__init__(BROKEN)
        self.place = place


@frozen
class _Task:
    """A piece of work on its way, and where its result is waited for."""

    dataset: str
    person: str
    work: Callable[..., Any]
    words: tuple[object, ...]
    gone: threading.Event
    future: Future[Any] = field(default_factory=Future)


class PlanningPool:
    """The clerks of one worker; they come when the first free question does."""

    def __init__(self, config: Config, datasets: DataSets, log: Log) -> None:
        self._bounds, self._datasets, self._log = config.bounds, datasets, log
        self._line: FairQueue[_Task] = FairQueue(max(1, config.bounds.free_processes // 2))
        self._office = the_office()
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
        """Let a clerk do `work(curator, *words)` for a person, and wait for what comes of it.

        `gone` is set when the person hangs up: nothing is worked out for nobody. Refuses what takes more than its
        seconds or memory, and a person who has too much waiting here already.
        """
        if not self._datasets.setups[
            dataset
        ].ledger:  # a ledger in this process's own memory: no other can read it
            return work(self._datasets.curator(dataset, person), *words)
        if self._line.load(person) >= self._bounds.jobs_per_person:
            raise TooMany(1.0)
        self._begin()
        sheet = _Task(dataset, person, work, words, gone or threading.Event())
        self._line.put(person, sheet)
        end = time.monotonic() + OPENING + WAITING * self._bounds.free_seconds
        while time.monotonic() < end:
            try:
                found: T = sheet.future.result(LISTENING)
            except NotInTime:
                if (
                    sheet.gone.is_set() and sheet.future.cancel()
                ):  # one that is in work is broken off by its attendant
                    raise Cancelled from None
            else:
                return found
        sheet.future.cancel()
        raise self._late()

    async def run(self, work: Callable[..., T], *words: object, **named: object) -> T:
        """Run what may wait here in threads of its own, so that other requests find theirs."""
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(THREADS)
        return await anyio.to_thread.run_sync(partial(work, *words, **named), limiter=self._limiter)

    def well(self) -> bool:
        """Return whether every hand at the desk goes on."""
        return all(thread.is_alive() for thread in self._threads)

    def close(self) -> None:
        """Send the clerks home, each when it is done."""
        self._line.close()

    def _begin(self) -> None:
        with self._lock:
            while len(self._threads) < self._bounds.free_processes:
                self._threads.append(threading.Thread(target=self._attend, daemon=True))
                self._threads[-1].start()

    def _attend(self) -> None:
        """Give one clerk one sheet after the other; a clerk who is gone is replaced by a new one."""
        clerk: PlanningWorker | None = None
        while (found := self._line.take()) is not None:
            person, sheet = found
            try:
                if sheet.future.set_running_or_notify_cancel():
                    clerk = self._serve(clerk, sheet)
            finally:
                self._line.done(person)
        if clerk is not None:
            self._office.dismiss(clerk)

    def _serve(self, clerk: PlanningWorker | None, sheet: _Task) -> PlanningWorker | None:
        """Have a sheet worked on; return the clerk, unless it had to be dismissed or took long (see `BRIEF`)."""
        begin, fit = 0.0, False
        try:
            clerk, begin = clerk or self._hire(), time.monotonic()
            sheet.future.set_result(self._follow(clerk, sheet))
            fit = True
        except (DiscreetError, WorkerFailed) as refusal:
            sheet.future.set_exception(refusal)
            fit = True
        except ClientGone:
            sheet.future.set_exception(Cancelled())
        except TimeoutError:
            sheet.future.set_exception(self._late())
        except Exception:  # noqa: BLE001 the clerk or the office is gone, or what it said makes no sense
            sheet.future.set_exception(
                ServiceUnavailable("this could not be worked out just now; ask again")
            )
        if clerk is None or (fit and time.monotonic() - begin < BRIEF):
            return clerk
        self._office.dismiss(clerk)
        return None

    def _hire(self) -> PlanningWorker:
        clerk = self._office.hire()
        clerk.line.send((self._datasets.setups, self._bounds.free_megabytes))
        return clerk

    def _follow(self, clerk: PlanningWorker, sheet: _Task) -> object:
        """Send a sheet and answer what the clerk asks of the store, until it is done or its time is over."""
        end = time.monotonic() + self._bounds.free_seconds
        clerk.line.send((sheet.dataset, sheet.person, sheet.work, sheet.words))
        while (left := end - time.monotonic()) > 0:
            if sheet.gone.is_set():
                raise ClientGone
            if not clerk.line.poll(min(LISTENING, left)):
                continue
            verb, found = clerk.line.recv()
            if verb == "done":
                return _open(found)
            clerk.line.send(self._look_up(verb, *found))
        raise TimeoutError

    def _look_up(self, verb: str, dataset: str, *words: object) -> object:
        engine: Any = self._datasets.engine(dataset)
        try:
            return {"explain": engine.explain, "public_values": engine.public_values}[verb](*words)
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
