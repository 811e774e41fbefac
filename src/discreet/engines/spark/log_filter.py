"""Filter of PySpark's log: a message about a failed query may hold a private value.

PySpark writes the message of a failed query to stderr by loggers of its own, whatever the log level
of the session. `quiet` drops these messages while a thread runs a query. Logs of Java are set by the cluster:
see `docs/explanation/engines.md`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ...optional import load

_LOGGERS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger", "pyspark.sql.connect.logging")
_ASKING: ContextVar[bool] = ContextVar("asking", default=False)


def _is_logged(_: logging.LogRecord) -> bool:
    return not _ASKING.get()


@contextmanager
def quiet() -> Iterator[None]:
    """Drop the messages of PySpark's loggers in this thread; those of other threads are logged."""
    loggers = load("pyspark.logger", "spark").PySparkLogger
    for name in _LOGGERS:
        # A filter that a logger has already is not added again.
        loggers.getLogger(name).addFilter(_is_logged)
    before = _ASKING.set(True)
    try:
        yield
    finally:
        _ASKING.reset(before)
