"""What a worker and its clerks send each other, beside questions and answers."""

from __future__ import annotations

from dataclasses import dataclass

from ...data.schema import Schema

BRIEF = 2.0
"""Seconds of processor time after which a piece of free work goes on only while nothing else wants the processor.
Whoever did it is too low in rank for the next, and is replaced."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What a clerk must know of one data set; no ledger if it is in the worker's own memory."""

    name: str
    schemas: tuple[Schema, ...]
    ledger: str
    wait: float
    share_questions: bool
    rows_public: bool = False


@dataclass(frozen=True, slots=True)
class Broken:
    """Something that is no refusal went wrong, and where; never what it said."""

    place: str
