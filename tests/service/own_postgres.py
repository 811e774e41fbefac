"""A PostgreSQL server of a test's own, which may be paused, made read-only and cut off without harm to other tests."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from support.stores import SETUP, WATCH


@dataclass
class OwnPostgres:
    """A server in a folder."""

    home: str

    @property
    def dsn(self) -> str:
        return f"host={self.home} user=tester dbname=postgres"

    def say(self, sql):
        with psycopg.connect(self.dsn, autocommit=True) as line:
            line.execute("SET default_transaction_read_only = off")
            return line.execute(sql).fetchall() if sql.startswith("SELECT") else line.execute(sql)

    def processes(self):
        """The server and everybody it has started."""
        main = int(Path(self.home, "data/postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{main}/task/{main}/children").read_text().split()
        return [main, *map(int, children)]

    @contextmanager
    def paused(self):
        """Stop every process of the server: it holds all lines and says nothing."""
        stopped = self.processes()
        for process in stopped:
            os.kill(process, signal.SIGSTOP)
        try:
            yield
        finally:
            for process in reversed(stopped):
                os.kill(process, signal.SIGCONT)

    @contextmanager
    def read_only(self):
        """Make the server refuse to write, as one does that was fallen over from."""
        self._set("on")
        try:
            yield
        finally:
            self._set("off")

    def _set(self, word):
        self.say(f"ALTER SYSTEM SET default_transaction_read_only = {word}")
        self.say("SELECT pg_reload_conf()")

    def cut(self):
        """End all connections of others."""
        self.say(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'tester' AND pid <> pg_backend_pid()"
        )


@contextmanager
def own_postgres():
    """Start a server and stop it at the end, also when we are killed."""
    home = tempfile.mkdtemp(prefix="pg")
    os.mkfifo(f"{home}/line")
    held = os.open(f"{home}/line", os.O_RDWR)
    subprocess.run(["/bin/sh", "-c", WATCH, SETUP, home], check=True, start_new_session=True)
    subprocess.run([SETUP, "start", home], capture_output=True, check=True)
    try:
        yield OwnPostgres(home)
    finally:
        os.close(held)
