"""Worker process for free requests (explain, plan, rehearse); it can be killed on timeout.

The fork server is one process that has imported everything and holds no data. It forks a planning worker
on request and kills one on request. A planning worker opens ledgers by itself, to read. What it needs of
a source (the text of a tally, the values of a public column) it asks of the server process. When
the server process is gone, the workers end too.

Guarantee: a planning worker has no access to private rows.
Law: tests/service/test_faults.py::TestFreeWork
"""

from __future__ import annotations

import os
import resource
import signal
import socket
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any, NoReturn

from ...curator import Curator
from ...curator.curator import served
from ...data.columns.column import Integer
from ...data.schema import Schema
from ...data.unit import Rows
from ...engines.base import PublicKeys, failure
from ...engines.memory.engine import Memory
from ...errors import DiscreetError, LedgerUnavailable, TooSlow
from ...frozen import frozen
from ...ledger import Ledger, open_ledger
from ...privacy.measures import PureDP
from ...query.algebra.tally import Tally, Totals
from ..http.audit_log import place_of
from .messages import BRIEF, Broken, Setup

MEMORY = TooSlow(
    "working this out needs more memory than is allowed; nothing was spent. Ask for less at once"
)


@frozen
class _RemoteEngine:
    """Engine of a planning worker: describes queries through the server process, and returns no rows."""

    line: Connection
    dataset: str
    rows_public: bool

    def tally(self, tally: Tally) -> Totals:  # noqa: ARG002 there is nothing to add up here
        raise failure()

    def explain(self, tally: Tally) -> str:
        return str(self._ask("explain", tally))

    def check(self, schema: Schema) -> None:
        """Check nothing: the server process did when it opened the source."""

    def public_values(self, table: Schema, *columns: str) -> PublicKeys:
        found: PublicKeys = self._ask("public_values", table, *columns)
        return found

    def _ask(self, verb: str, *arguments: object) -> Any:  # noqa: ANN401 whatever the engine returns
        self.line.send((verb, (self.dataset, *arguments)))
        reply = self.line.recv()
        if isinstance(reply, BaseException):
            raise reply
        return reply


def main(handle: int) -> None:
    """Run the fork server: start and kill planning workers until the server process hangs up."""
    # Ctrl-C reaches the whole process group; the server process ends the workers in order.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    workers: set[int] = set()
    _warm_up()
    # The server process may have ended meanwhile, with a command on the way.
    with socket.socket(fileno=handle) as line, suppress(ConnectionError):
        while True:
            command, handles, _, _ = socket.recv_fds(line, 64, 1)
            if not command:
                break
            if command == b"start":
                worker = os.fork()
                if worker == 0:
                    line.close()
                    serve(handles[0])
                os.close(handles[0])
                workers.add(worker)
                line.send(str(worker).encode())
            else:
                _kill(int(command), workers)
                line.send(b"gone")
    for worker in list(workers):
        _kill(worker, workers)


def _warm_up() -> None:
    """Import the service and explain a small question, once instead of in every forked worker."""
    # Tasks are functions of any module of the service, beside their routes.
    import_module("discreet.service.app")
    table = Schema("t", Rows(), {"x": Integer(0, 9)})
    curator = Curator(Memory({"t": []}), [table], open_ledger(":memory:", PureDP(1)))
    curator.explain("SELECT COUNT(*) AS n, AVG(x) AS m, MEDIAN(x) AS q FROM t", PureDP(1))


def _kill(worker: int, workers: set[int]) -> None:
    """Kill a worker of ours and reap it; a number that is not ours is ignored."""
    if worker in workers:
        os.kill(worker, signal.SIGKILL)
        os.waitpid(worker, 0)
        workers.discard(worker)


def serve(handle: int) -> NoReturn:
    """Run the tasks that the server process sends, one at a time, until it hangs up.

    The process gets a limit of memory and a lower priority first, and ends afterwards.
    """
    try:
        with suppress(EOFError, OSError), Connection(handle) as line:
            setups, megabytes = line.recv()
            # Charged questions run in the server process and come first.
            os.nice(10)
            signal.signal(signal.SIGPROF, _lower_priority)
            limit = megabytes << 20
            resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
            _work(line, setups)
    finally:
        # This is a forked copy of the fork server, which must never return into its loop.
        os._exit(0)


def _work(line: Connection, setups: Mapping[str, Setup]) -> NoReturn:
    """Receive tasks, run each with the curator of its data set, and send the results."""
    curators: dict[str, Curator] = {}
    while True:
        dataset, person, work, arguments = line.recv()
        curator = partial(_curator, line, setups[dataset], curators)
        signal.setitimer(signal.ITIMER_PROF, BRIEF)
        result = _attempt(lambda: work(curator().named(person), *arguments))  # noqa: B023 called at once
        signal.setitimer(signal.ITIMER_PROF, 0)
        line.send(("done", result))


def _lower_priority(*_: object) -> None:
    """Continue only while the processor is idle otherwise.

    A thread that waits for the interpreter lock of the server process would also wait for the time
    slices of this process, hundreds of times in one question.
    """
    if hasattr(os, "SCHED_IDLE"):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def _attempt(work: Callable[[], object]) -> object:
    """Return the result of a task, or an object that stands for its failure."""
    try:
        return work()
    except DiscreetError as refusal:
        return refusal
    except MemoryError:
        return MEMORY
    except Exception as broken:  # noqa: BLE001
        # The message of an unexpected exception stays here; only the place in the code is told.
        return Broken(place_of(broken))


def _curator(line: Connection, setup: Setup, made: dict[str, Curator]) -> Curator:
    """Return the curator of a data set, opening its ledger at the first use."""
    if setup.name in made:
        return made[setup.name]
    try:
        ledger: Ledger = open_ledger(setup.ledger, name=setup.name, wait=setup.wait)
    except LedgerUnavailable:
        # Only the steward may know why a server cannot be reached, not an analyst.
        message = "the ledger is out of reach; nothing was spent, ask again"
        raise LedgerUnavailable(message) from None
    engine = _RemoteEngine(line, setup.name, setup.rows_public)
    curator = Curator(
        engine,
        setup.schemas,
        ledger,
        share_questions=setup.share_questions,
        siblings=setup.siblings,
    )
    made[setup.name] = served(curator)
    return made[setup.name]


if __name__ == "__main__":
    main(int(sys.argv[1]))
