"""Fork server of planning workers: one for a process, started when first needed, restarted if it dies."""

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
STOP_SECONDS = 2.0
"""Seconds in which a fork server that is told to end may do so by itself."""


@frozen
class PlanningWorker:
    """Connection to one worker process, and its process id."""

    line: Connection
    number: int


class ForkServer:
    """Client of the fork server, shared by all threads; the fork server ends with this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._line: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def start_worker(self) -> PlanningWorker:
        """Start a planning worker; raises OSError if no process can be started."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                number = int(self._say(b"start", theirs.fileno()))
            except BaseException:
                ours.close()
                raise
        return PlanningWorker(Connection(ours.detach()), number)

    def stop_worker(self, worker: PlanningWorker) -> None:
        """Kill a planning worker, whatever it does."""
        worker.line.close()
        with suppress(OSError):
            self._say(str(worker.number).encode())

    def close(self) -> None:
        """End the fork server and its workers; one that does not answer is killed after STOP_SECONDS."""
        if self._lock.acquire(timeout=STOP_SECONDS):
            try:
                self._shut()
            finally:
                self._lock.release()

    def _say(self, word: bytes, *handles: int) -> bytes:
        """Send a command and file handles to the fork server, started if needed; return its reply."""
        with self._lock:
            line = self._line or self._open()
            try:
                socket.send_fds(line, [word], handles)
                heard = line.recv(64)
            except OSError:
                heard = b""
            if not heard:
                self._shut()
                raise OSError("the fork server is gone; it is started again when it is needed")
            return heard

    def _open(self) -> socket.socket:
        """Start the fork server as a process, with a socket to it."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        paths = [str(ROOT)]
        inherited = os.environ.get("PYTHONPATH")
        if inherited:
            paths.append(inherited)
        # Threads do not survive a fork, so numerical libraries must not start any.
        environment = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        environment["PYTHONPATH"] = os.pathsep.join(paths)
        handle = theirs.fileno()
        module = "discreet.service.jobs.planning_worker"
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 our own interpreter and module
                [sys.executable, "-m", module, str(handle)],
                pass_fds=[handle],
                stdin=subprocess.DEVNULL,
                env=os.environ | environment,
                # A process group, not a session: the kernel shares time equally between sessions,
                # however low the priority of their processes is.
                process_group=0,
            )
        self._line = ours
        return ours

    def _shut(self) -> None:
        """Hang up, wait for the fork server to end, and kill it after STOP_SECONDS."""
        if self._line is not None:
            self._line.close()
            self._line = None
        if self._process is not None:
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
            self._process = None


@cache
def shared_fork_server() -> ForkServer:
    """Return the fork server of this process, which ends before the process does."""
    server = ForkServer()
    atexit.register(server.close)
    return server
