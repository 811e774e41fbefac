"""A line to PostgreSQL that waits for nobody without end: a server that is paused or cut off is given up in seconds.

Three things can be silent, and each has its own remedy: a server that cannot be reached (`connect_timeout`), a network
that loses packets (keepalives and `tcp_user_timeout`, by the kernel), and a server that holds the line and says nothing
(a deadline counted here, for every round trip).
"""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any

import psycopg

__all__ = ["connect"]

_PATIENCE: dict[str, object] = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
}
"""Seconds, and milliseconds; a connection string may say others."""
_AGAIN = 1.0
_AWAY: dict[str, float] = {}
"""Servers that let an attempt run into its end, and until when nobody need try again: whoever waits in line for the
same server is told at once."""


class _Prompt(psycopg.Connection[Any]):
    """A connection whose every round trip ends within some seconds; one that does not is closed."""

    seconds = 15.0

    def wait(self, gen: Any, *words: Any, **named: Any) -> Any:  # noqa: ANN401 as the driver has it
        try:
            return super().wait(_within(gen, time.monotonic() + self.seconds), *words, **named)
        except _Silent:
            self.close()
            raise


class _Silent(psycopg.OperationalError):
    """The server holds the line and says nothing."""


def connect(dsn: str, seconds: float) -> psycopg.Connection[Any]:
    """Connect; every statement on the line is answered within so many seconds, or the line is given up."""
    begin = time.monotonic()
    if begin < _AWAY.get(dsn, 0.0):
        raise psycopg.OperationalError("the server did not answer a moment ago")
    asked: dict[str, Any] = _PATIENCE | psycopg.conninfo.conninfo_to_dict(dsn)
    try:
        # nothing is prepared: a pipeline that fails leaves the driver sure of statements that the server never saw
        made = _Prompt.connect(**asked, autocommit=True, prepare_threshold=None)
    except psycopg.OperationalError:
        if time.monotonic() - begin > _AGAIN:
            _AWAY[dsn] = time.monotonic() + _AGAIN
        raise
    made.seconds = seconds
    return made


def _within(gen: Generator[Any, Any, Any], end: float) -> Generator[Any, Any, Any]:
    """Pass a conversation on until its end has come; the driver wakes it ten times a second."""
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if not ready and time.monotonic() > end:
                raise _Silent("the server does not answer")
            wanted = gen.send(ready)
    except StopIteration as ended:
        return ended.value
