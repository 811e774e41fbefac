"""Messages between a server process and its planning workers."""

from __future__ import annotations

from ...data.schema import Schema
from ...frozen import field, frozen

BRIEF = 2.0
"""Seconds of processor time after which a free task continues only while the processor is idle.

Its worker process has lowered its own priority then, which cannot be undone, so it is replaced.
"""


@frozen
class Setup:
    """Facts about one data set for a planning worker.

    `ledger` is its path or connection string, "" if the ledger is in the server process's memory;
    `wait` is the time in seconds to wait for a busy ledger. `rows_public` says that the engine
    declares to hold every record that it was given.
    """

    name: str
    schemas: tuple[Schema, ...]
    ledger: str = field(repr=False)  # a connection string may hold a password
    wait: float
    share_questions: bool
    rows_public: bool = False
    siblings: bool = True


@frozen
class Broken:
    """Report of an unexpected exception: its place in the code, never its message."""

    place: str
