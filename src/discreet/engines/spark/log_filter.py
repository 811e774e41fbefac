"""What PySpark logs of an error in a query may hold a private value: it is dropped while one of ours runs.

PySpark writes the message of a failed query to stderr by loggers of its own, whatever the log level of the session.
What Java logs is set by the cluster: see `docs/engines.md`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ...optional import load

_LOGGERS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger", "pyspark.sql.connect.logging")
_ASKING: ContextVar[bool] = ContextVar("asking", default=False)


def _is_told(_: logging.LogRecord) -> bool:
    return not _ASKING.get()


@contextmanager
def quiet() -> Iterator[None]:
    """Drop what PySpark's loggers say in this thread, while others go on being told."""
    known = load("pyspark.logger", "spark").PySparkLogger
    for name in _LOGGERS:
        known.getLogger(name).addFilter(_is_told)  # nothing happens where it is there already
    before = _ASKING.set(True)
    try:
        yield
    finally:
        _ASKING.reset(before)
