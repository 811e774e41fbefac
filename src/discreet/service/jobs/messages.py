"""What a worker and its clerks send each other, beside questions and answers."""

from __future__ import annotations

from ...data.schema import Schema
from ...frozen import field, frozen

BRIEF = 2.0
"""Seconds of processor time after which a piece of free work goes on only while nothing else wants the processor.
Whoever did it is too low in rank for the next, and is replaced."""


@frozen
class Setup:
    """What a clerk must know of one data set; no ledger if it is in the worker's own memory."""

    name: str
    schemas: tuple[Schema, ...]
    ledger: str = field(repr=False)  # a connection string may hold a password
    wait: float
    share_questions: bool
    rows_public: bool = False


@frozen
class Broken:
    """Something that is no refusal went wrong, and where; never what it said."""

    place: str
