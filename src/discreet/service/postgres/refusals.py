"""Refusals as PostgreSQL's errors: an SQLSTATE, a message and a HINT.

The part of a refusal after its last "; " says what would work: it becomes the HINT. Errors after a
charge are constants, as over HTTP, since the words of a store may tell about data.
"""

from __future__ import annotations

from ...errors import (
    BudgetExceeded,
    Cancelled,
    DiscreetError,
    EngineFailure,
    InvalidArgument,
    LedgerConflict,
    NotAllowed,
    SchemaMismatch,
    ServiceUnavailable,
    TooSlow,
    UnsupportedQuery,
)
from ...wire.reply import BROKEN, refusal_from_json, refusal_to_json
from ..http.rate_limit import TooMany
from ..jobs.planning_pool import WorkerFailed
from .messages import report

FEATURE = "0A000"
READ_ONLY = "25006"
FAILED_TRANSACTION = "25P02"
PROTOCOL = "08P01"
WRONG_TOKEN = "28P01"  # noqa: S105 a code, no secret
SYNTAX = "42601"
UNKNOWN_TABLE = "42P01"


class WireError(Exception):
    """A refusal with an SQLSTATE of its own."""

    def __init__(self, sqlstate: str, words: str, hint: str = "") -> None:
        super().__init__(sqlstate, words, hint)
        self.sqlstate = sqlstate
        self.words = words
        self.hint = hint


# The first class that matches decides: subclasses stand before their base classes.
_SQLSTATES: tuple[tuple[type[DiscreetError], str], ...] = (
    (BudgetExceeded, "53400"),
    (NotAllowed, "42501"),
    # Drivers retry a serialization failure: nothing was spent.
    (LedgerConflict, "40001"),
    (ServiceUnavailable, "40001"),
    (TooSlow, "57014"),
    (Cancelled, "57014"),
    (EngineFailure, "58000"),
    (UnsupportedQuery, FEATURE),
    (SchemaMismatch, "42703"),
    (InvalidArgument, "22023"),
    (DiscreetError, FEATURE),
)


def wire_error(problem: Exception) -> WireError:
    """Return any error as an error of the protocol; unexpected ones as one constant message.

    >>> import discreet as dp
    >>> from discreet.service.postgres.refusals import wire_error
    >>> error = wire_error(dp.UnsupportedQuery("SELECT *: it shows rows; ask for COUNT(*)"))
    >>> error.sqlstate, error.words, error.hint
    ('0A000', 'SELECT *: it shows rows', 'ask for COUNT(*)')

    Law: tests/service/postgres/test_refusals.py::test_every_error_has_its_sqlstate
    """
    if isinstance(problem, WireError):
        return problem
    if isinstance(problem, TooMany):
        return WireError("53300", str(problem), "ask more slowly")
    if isinstance(problem, WorkerFailed) or not isinstance(problem, DiscreetError):
        return WireError("XX000", BROKEN)
    # Through the words of HTTP, so that constants stand for what a store says here too.
    shown = refusal_from_json(refusal_to_json(problem))
    words, _, hint = str(shown).rpartition("; ")
    if not words:
        words, hint = hint, ""
    sqlstate = next(code for kind, code in _SQLSTATES if isinstance(shown, kind))
    if isinstance(shown, SchemaMismatch) and words.startswith("there is no table"):
        sqlstate = UNKNOWN_TABLE
    return WireError(sqlstate, words, hint)


def error_message(error: WireError, severity: str = "ERROR") -> bytes:
    """Return the message of an error."""
    return report(b"E", severity, error.sqlstate, error.words, error.hint)


def notice(words: str, severity: str = "NOTICE") -> bytes:
    """Return the message of a notice or warning."""
    sqlstate = "01000" if severity == "WARNING" else "00000"
    return report(b"N", severity, sqlstate, words)
