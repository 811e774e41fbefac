"""A clerk: a process of its own in which what is free is worked out, since only a process can be ended at any moment.

The office is one process that has imported everything and holds nothing; it forks a clerk when asked, and ends one when
told to. A clerk opens ledgers by itself, to read; what it needs of a store (the text of a tally, the values of a public
column) it asks of the worker, so that no private row is ever within its reach. When the worker is gone, so are they.
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
from multiprocessing.connection import Connection
from typing import Any, NoReturn

from ...curator import Curator
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
    """The store as a clerk sees it: it can be asked what it would do, not for a row."""

    line: Connection
    dataset: str
    rows_public: bool

    def tally(self, tally: Tally) -> Totals:  # noqa: ARG002 there is nothing to add up here
        raise failure()

    def explain(self, tally: Tally) -> str:
        return str(self._ask("explain", tally))

    def check(self, schema: Schema) -> None:
        """Check nothing: the worker did when it opened the store."""

    def public_values(self, table: Schema, *columns: str) -> PublicKeys:
        found: PublicKeys = self._ask("public_values", table, *columns)
        return found

    def _ask(self, verb: str, *words: object) -> Any:  # noqa: ANN401 whatever the engine says
        self.line.send((verb, (self.dataset, *words)))
        found = self.line.recv()
        if isinstance(found, BaseException):
            raise found
        return found


def main(handle: int) -> None:
    """Run the office: hire and dismiss clerks until the worker hangs up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    clerks: set[int] = set()
    _warm_up()
    with socket.socket(fileno=handle) as line:
        while True:
            word, handles, _, _ = socket.recv_fds(line, 64, 1)
            if not word:
                break
            if word == b"hire":
                clerk = os.fork()
                if clerk == 0:
                    line.close()
                    serve(handles[0])
                os.close(handles[0])
                clerks.add(clerk)
                line.send(str(clerk).encode())
            else:
                _dismiss(int(word), clerks)
                line.send(b"gone")
    for clerk in list(clerks):
        _dismiss(clerk, clerks)


def _warm_up() -> None:
    """Explain something small, so that whatever is imported on the way is there for every clerk."""
    table = Schema("t", Rows(), {"x": Integer(0, 9)})
    curator = Curator(Memory({"t": []}), [table], open_ledger(":memory:", PureDP(1)))
    curator.explain("SELECT COUNT(*) AS n, AVG(x) AS m, MEDIAN(x) AS q FROM t", PureDP(1))


def _dismiss(clerk: int, clerks: set[int]) -> None:
    if clerk in clerks:
        os.kill(clerk, signal.SIGKILL)
        os.waitpid(clerk, 0)
        clerks.discard(clerk)


def serve(handle: int) -> NoReturn:
    """Work out what the worker sends, one thing at a time, until it hangs up."""
    try:
        with suppress(EOFError, OSError), Connection(handle) as line:
            setups, megabytes = line.recv()
            os.nice(10)
            signal.signal(signal.SIGPROF, _stand_back)
            resource.setrlimit(resource.RLIMIT_DATA, (megabytes << 20, megabytes << 20))
            _work(line, setups)
    finally:
        os._exit(0)  # whatever it was: this is a copy of the office, which must not go on as one


def _work(line: Connection, setups: Mapping[str, Setup]) -> NoReturn:
    curators: dict[str, Curator] = {}
    while True:
        dataset, person, work, words = line.recv()
        curator = partial(_curator, line, setups[dataset], curators)
        signal.setitimer(signal.ITIMER_PROF, BRIEF)
        done = _attempt(lambda: work(curator().named(person), *words))  # noqa: B023 done at once
        signal.setitimer(signal.ITIMER_PROF, 0)
        line.send(("done", done))


def _stand_back(*_: object) -> None:
    """Go on only while nothing else wants the processor: a thread that waits for its worker's interpreter would wait
    for the slices of this process too, hundreds of times in one question.
    """
    if hasattr(os, "SCHED_IDLE"):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def _attempt(work: Callable[[], object]) -> object:
    try:
        return work()
    except DiscreetError as refusal:
        return refusal
    except MemoryError:
        return MEMORY
    except Exception as broken:  # noqa: BLE001 whatever it says stays here
        return Broken(place_of(broken))


def _curator(line: Connection, setup: Setup, made: dict[str, Curator]) -> Curator:
    if setup.name not in made:
        try:
            ledger: Ledger = open_ledger(setup.ledger, name=setup.name, wait=setup.wait)
        except (
            LedgerUnavailable
        ):  # why a server cannot be reached is the steward's to know, not an analyst's
            raise LedgerUnavailable(
                "the ledger is out of reach; nothing was spent, ask again"
            ) from None
        engine, share = _RemoteEngine(line, setup.name, setup.rows_public), setup.share_questions
        made[setup.name] = Curator(engine, setup.schemas, ledger, share_questions=share)
    return made[setup.name]


if __name__ == "__main__":
    main(int(sys.argv[1]))
