"""The office that clerks come from: one for a process, started when the first is needed, and again if it is gone."""

from __future__ import annotations

import atexit
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path

from ...frozen import frozen

ROOT = Path(__file__).parents[3]
PATIENCE = 2.0
"""Seconds in which an office that is told to end does so by itself."""


@frozen
class PlanningWorker:
    """One clerk: the line to it, and its number."""

    line: Connection
    number: int


class ForkServer:
    """One process that hires and dismisses for all threads of a worker; it ends when the worker does."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._line: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def hire(self) -> PlanningWorker:
        """Return a new clerk; raises OSError if there is no room for one."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                number = int(self._say(b"hire", theirs.fileno()))
            except BaseException:
                ours.close()
                raise
        return PlanningWorker(Connection(ours.detach()), number)

    def dismiss(self, clerk: PlanningWorker) -> None:
        """End a clerk, whatever it does."""
        clerk.line.close()
        with suppress(OSError):
            self._say(str(clerk.number).encode())

    def close(self) -> None:
        """Let the office end, and with it whoever still works there; nobody waits long for one that does not answer."""
        if self._lock.acquire(timeout=PATIENCE):
            try:
                self._shut()
            finally:
                self._lock.release()

    def _say(self, word: bytes, *handles: int) -> bytes:
        with self._lock:
            line = self._line or self._open()
            try:
                socket.send_fds(line, [word], handles)
                heard = line.recv(64)
            except OSError:
                heard = b""
            if not heard:
                self._shut()
                raise OSError("the office of clerks is gone; it is opened again when it is needed")
            return heard

    def _open(self) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        single = {
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": path,
        }  # no thread lives on in a fork
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 our own interpreter and module
                [
                    sys.executable,
                    "-m",
                    "discreet.service.jobs.planning_worker",
                    str(theirs.fileno()),
                ],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                env=os.environ | single,
                process_group=0,  # not a session: the kernel weighs sessions alike, however nice their processes are
            )
        self._line = ours
        return ours

    def _shut(self) -> None:
        if self._line is not None:
            self._line.close()
            self._line = None
        if self._process is not None:
            try:
                self._process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
            self._process = None


@cache
def the_office() -> ForkServer:
    """Return the office of this process, which ends before the process does."""
    office = ForkServer()
    atexit.register(office.close)
    return office
