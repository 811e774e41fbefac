"""The audit log: who did what to which data set and what came of it, one JSON line each.

Never a value, a number of rows, a literal of SQL or a token: a question appears as its fingerprint only. A log that
cannot be written stops nothing: its lines go to the standard error, and /health says so until it can be written again.
"""

from __future__ import annotations

import os
import sys
import threading
import traceback
from contextlib import suppress
from datetime import UTC, datetime

from ...wire.json_text import write_json


class Log:
    """Append lines to a file, or to the standard error if none is named; one write a line, so workers may share it."""

    def __init__(self, path: str = "") -> None:
        self._path = path
        self._lock = threading.Lock()
        self._well = True

    @property
    def well(self) -> bool:
        """Whether the last line could be written where it belongs."""
        return self._well

    def write(
        self, verb: str, *, who: str = "", dataset: str = "", question: str = "", status: int = 0
    ) -> None:
        """Write one line; never raises, since whoever writes has something better to do than to fail here."""
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        fields = {
            "time": time,
            "who": who,
            "verb": verb,
            "dataset": dataset,
            "question": question,
            "status": status,
        }
        line = write_json({name: value for name, value in fields.items() if value != ""}) + "\n"
        with self._lock:
            try:
                self._append(line)
                self._well = True
            except (OSError, ValueError):  # ValueError: the standard error is closed
                self._well = False
                with suppress(OSError, ValueError):
                    sys.stderr.write(line)

    def _append(self, line: str) -> None:
        if not self._path:
            sys.stderr.write(line)
            sys.stderr.flush()
            return
        handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(handle, line.encode())
        finally:
            os.close(handle)


def place_of(problem: BaseException) -> str:
    """Return what broke and where in the program, never what it said: `KeyError at plan.py:12 < ask.py:40`.

    >>> from discreet.service.http.audit_log import place_of
    >>> try:
    ...     {}["secret"]
    ... except KeyError as problem:
    ...     place_of(problem).startswith("KeyError at ")
    True
    """
    steps = traceback.extract_tb(problem.__traceback__)[-6:]
    where = " < ".join(
        f"{os.path.basename(step.filename)}:{step.lineno}" for step in reversed(steps)
    )
    return f"{type(problem).__name__} at {where}"
