"""Audit log, one JSON line for each API request, ended job, sign-in to the pages and failure.

Most changes made on pages have a line too. Of PostgreSQL's clients there are failed sign-ins and
ended jobs. A line has the time, and where they are known user, verb, data set and status. Requests
above the rate limit, open endpoints such as /health, refusals on pages, and pages that only show
something have no line.
It never holds a value, a row count, a literal of SQL or a token: a question appears as its fingerprint only.
A log that cannot be written stops nothing: its lines go to the standard error, and /health reports the failure
until the log can be written again.
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
    """Log that appends lines to a file, or to the standard error if no file is named.

    Every line is one write, so several workers may share the file.
    """

    def __init__(self, path: str = "") -> None:
        self._path = path
        self._lock = threading.Lock()
        self._well = True

    @property
    def well(self) -> bool:
        """True if the last line could be written to its file."""
        return self._well

    def write(
        self, verb: str, *, who: str = "", dataset: str = "", question: str = "", status: int = 0
    ) -> None:
        """Write one line; never raises, since a full disk must not fail a request."""
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        fields = {
            "time": time,
            "who": who,
            "verb": verb,
            "dataset": dataset,
            "question": question,
            "status": status,
        }
        present = {name: value for name, value in fields.items() if value != ""}
        line = write_json(present) + "\n"
        # The lock keeps `well` true to the last line, and lines on the standard error whole.
        with self._lock:
            try:
                self._append(line)
                self._well = True
            except (OSError, ValueError):
                # A closed standard error raises ValueError.
                self._well = False
                with suppress(OSError, ValueError):
                    sys.stderr.write(line)

    def _append(self, line: str) -> None:
        """Append a line to the file in one write, or write it to the standard error."""
        if not self._path:
            sys.stderr.write(line)
            sys.stderr.flush()
            return
        # Opened for every line, so that log rotation needs no signal. O_APPEND: the kernel puts the
        # lines of several workers one after the other. 0o600: the log names users.
        handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(handle, line.encode())
        finally:
            os.close(handle)


def place_of(problem: BaseException) -> str:
    """Return the type of an error and its place in the code, never its message, which may quote data.

    The form is `KeyError at plan.py:12 < ask.py:40`, innermost call first.

    >>> from discreet.service.http.audit_log import place_of
    >>> try:
    ...     {}["secret"]
    ... except KeyError as problem:
    ...     place_of(problem).startswith("KeyError at ")
    True
    """
    innermost = traceback.extract_tb(problem.__traceback__)[-6:]
    calls = []
    for frame in reversed(innermost):
        file = os.path.basename(frame.filename)
        calls.append(f"{file}:{frame.lineno}")
    return f"{type(problem).__name__} at {' < '.join(calls)}"
