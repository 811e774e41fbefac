"""Replies that several verbs share, as plain JSON: answers, prices, ledger entries, refusals.

Amounts are exact.

Guarantee: everything in a reply is public or was released privately. The length and shape of a
reply follow from the schema, the question, the ledger and the released numbers, never from a row.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction
from typing import TYPE_CHECKING

from ..answer.export import plain
from ..answer.stored import answer_to_json
from ..answer.text.caption import details_of
from ..answer.text.display_facts import display_facts_of, ordered_keys
from ..arithmetic.canonical import canonical_json, digest
from ..arithmetic.numeral import read_number
from ..engines.base import failure
from ..errors import (
    BudgetExceeded,
    Cancelled,
    ClaimRefuted,
    DiscreetError,
    EngineFailure,
    InvalidArgument,
    LedgerConflict,
    LedgerCorrupt,
    LedgerUnavailable,
    NotAllowed,
    SchemaMismatch,
    ServiceUnavailable,
    TooSlow,
    UnboundedSensitivity,
    UnsupportedQuery,
)
from ..json_shape import (
    FLAG,
    JsonObject,
    Record,
    anything,
    choice,
    listing,
    nullable,
    optional,
    refer,
    text,
)
from ..ledger.entry import Entry, read_line, write_line
from ..plan.asked.terms import DEFAULT_LEVEL
from ..privacy.budget_text import budget_to_table, parse_budget
from ..privacy.filters.remaining import RemainingBudget
from ..privacy.measures import GaussianDP, Measure
from ..show.table import printable
from ..statistics.releases.stream_day import published_by
from .fields import OF
from .verb import ReplyFormat

if TYPE_CHECKING:
    from ..answer.answer import Answer, Interval

BROKEN = (
    "something broke inside the service; "
    "what it said is not shown, since it may tell about the data"
)
# The first class that matches decides: subclasses stand before their base classes.
_STATUS: tuple[tuple[type[DiscreetError], int], ...] = (
    (BudgetExceeded, 409),
    (NotAllowed, 403),
    # LedgerUnavailable is a subclass and has the same status.
    (LedgerConflict, 503),
    (ServiceUnavailable, 503),
    (Cancelled, 409),
    (TooSlow, 409),
    (EngineFailure, 502),
    (LedgerCorrupt, 500),
    (ClaimRefuted, 422),
    (DiscreetError, 422),
)
# Kinds of errors that clients know by name. BudgetExceeded is apart: it has more fields.
_KINDS: dict[str, type[DiscreetError]] = {
    kind.__name__: kind
    for kind in (
        Cancelled,
        ClaimRefuted,
        EngineFailure,
        InvalidArgument,
        LedgerConflict,
        LedgerCorrupt,
        LedgerUnavailable,
        NotAllowed,
        SchemaMismatch,
        ServiceUnavailable,
        TooSlow,
        UnboundedSensitivity,
        UnsupportedQuery,
    )
}


def status_of(refusal: DiscreetError) -> int:
    """Return the HTTP status of a refusal.

    >>> import discreet as dp
    >>> from discreet.wire.reply import status_of
    >>> status_of(dp.InvalidArgument("no")), status_of(dp.NotAllowed("no"))
    (422, 403)
    >>> status_of(dp.LedgerConflict("busy"))
    503

    Law: tests/wire/test_reply.py::test_every_refusal_has_its_status
    """
    return next(status for kind, status in _STATUS if isinstance(refusal, kind))


def refusal_to_json(refusal: DiscreetError | None) -> JsonObject:
    """Return a refusal as JSON: kind and message; of BudgetExceeded also `asked` and `left`.

    None stands for an unexpected error. Messages of failed stores and of unexpected errors are
    replaced by constants, since they may contain data; TooSlow keeps its message.

    Law: tests/wire/test_reply.py::test_a_failure_of_the_store_is_one_constant_word

    >>> import discreet as dp
    >>> from discreet.wire.reply import refusal_to_json
    >>> refusal_to_json(dp.NotAllowed("this is for stewards"))
    {'error': {'kind': 'NotAllowed', 'message': 'this is for stewards'}}
    """
    if refusal is None:
        return {"error": {"kind": "EngineFailure", "message": BROKEN}}
    if isinstance(refusal, EngineFailure) and not isinstance(refusal, TooSlow):
        # The message of a store may contain data: only constants leave the service.
        refusal = Cancelled() if isinstance(refusal, Cancelled) else failure()
    error: JsonObject = {"kind": _kind_of(refusal), "message": str(refusal)}
    if isinstance(refusal, BudgetExceeded):
        error["asked"] = measure_or_text(refusal.asked)
        error["left"] = measure_or_text(refusal.left)
    return {"error": error}


def _kind_of(refusal: DiscreetError) -> str:
    """Return the name of the nearest class that clients know."""
    for cls in type(refusal).__mro__:
        if cls.__name__ in _KINDS or cls is BudgetExceeded:
            return cls.__name__
    return "InvalidArgument"


def refusal_from_json(data: object) -> DiscreetError:
    """Read a refusal back as the library's own error; of an unknown kind as EngineFailure.

    Law: tests/wire/test_reply.py::test_the_same_error_comes_out
    """
    error = data.get("error") if isinstance(data, dict) else None
    if not isinstance(error, dict):
        return EngineFailure("the service answered in words that this client does not know")
    # It is shown in a terminal, and whoever answers may be no service of ours.
    message = printable(str(error.get("message", "")))
    if error.get("kind") == "BudgetExceeded":
        asked = _measure_or_given(error.get("asked"))
        left = _measure_or_given(error.get("left"))
        return BudgetExceeded(message, asked=asked, left=left)
    # A newer service may send kinds that this client does not know.
    kind = _KINDS.get(str(error.get("kind")), EngineFailure)
    return kind(message)


def _measure_or_given(value: object) -> object:
    if isinstance(value, dict):
        return parse_budget(value)
    return value


def measure_or_text(value: object) -> object:
    """Return a measure as a budget in JSON, any other value as text."""
    if isinstance(value, Measure):
        return budget_to_table(value)
    return str(value)


_TEXT = text()
CELL = anything(
    "A value of a table; a time in ISO form.", type=["string", "number", "boolean", "null"]
)
FACTS = anything("Facts as the library writes them.", type="object")
_COLUMN = Record.of(
    name=_TEXT,
    noisy=FLAG,
    sort=nullable(_TEXT),
    # "every" is of older releases: no column keeps more digits than its error leaves.
    digits=choice("error", "whole", "every"),
    ordered=FLAG,
)
_ENDS = listing(CELL, "two ends")
_ANSWER = Record.of(
    "A table with its error bars, its receipt as one canonical text, and the exact parts of it.",
    columns=listing(refer("Column", _COLUMN.shape), "columns"),
    rows=listing(listing(CELL, "values"), "rows"),
    level=_TEXT,
    intervals=listing(listing(nullable(_ENDS), "intervals"), "rows"),
    faint=listing(anything("The place of a row that says nothing.", type="integer"), "places"),
    caption=_TEXT,
    receipt=nullable(_TEXT),
    exact=FACTS,
)
# Services of older versions send no details.
_DETAILS = optional("details", _TEXT)
ANSWER = ReplyFormat(
    "Answer",
    _ANSWER.plus(_DETAILS, OF),
    {"Column": _COLUMN.schema},
)
"""Reply with one answer, which several verbs give."""


def answer_reply(answer: Answer, level: float = DEFAULT_LEVEL) -> JsonObject:
    """Return an answer as JSON: its table, confidence intervals at a level and its receipt.

    `exact` has the exact parts from which a client makes the `Answer` again. `faint` lists the
    positions of rows whose noise is as large as their values.

    Law: tests/wire/test_reply.py::TestAnswers
    """
    seen = display_facts_of(answer, level)
    stream = published_by(answer.estimates)
    ordered = ordered_keys(answer.question)
    columns = []
    for name, sort in zip(answer.columns, answer.sorts, strict=True):
        facts = {"name": name, "noisy": name in answer.noisy, "sort": sort}
        facts["digits"] = seen.digits[name].value
        facts["ordered"] = name in ordered
        columns.append(facts)
    intervals = []
    for row_intervals in seen.intervals:
        ends = [_ends(row_intervals.get(name), answer, name) for name in answer.columns]
        intervals.append(ends)
    return {
        # The receipt comes first: lists of answers read no further.
        "receipt": _receipt(answer.receipt),
        "columns": columns,
        "rows": [_row(row, answer) for row in answer.rows],
        "level": repr(level),
        "of": answer.target,
        "intervals": intervals,
        "faint": sorted(seen.faint),
        "caption": answer.caption,
        "details": details_of(seen),
        # What a stream has published, clients read from its terms and totals.
        "exact": {"stream": stream} if stream else answer_to_json(answer),
    }


def _row(row: Sequence[object], answer: Answer) -> list[object]:
    return [_scalar(plain(value, sort)) for value, sort in zip(row, answer.sorts, strict=True)]


def _ends(interval: Interval, answer: Answer, name: str) -> list[object] | None:
    if interval is None:
        return None
    sort = answer.sorts[answer.columns.index(name)]
    return [_scalar(plain(end, sort)) for end in interval]


def _scalar(value: object) -> object:
    """Return a value for JSON: times in ISO form, an infinite bound as null."""
    if isinstance(value, date | datetime):
        return value.isoformat()
    if isinstance(value, Fraction):
        return float(value)
    # JSON has no infinities and no NaN.
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _receipt(receipt: object) -> object:
    """Return a receipt as its canonical text.

    As JSON it would be parsed and written again, not always to the same bytes.
    """
    if receipt is None:
        return None
    return receipt.to_json()  # type: ignore[attr-defined]


def entry_to_json(entry: Entry) -> JsonObject:
    """Return a ledger entry as JSON, complete, so that its hash can be checked."""
    fields: JsonObject = json.loads(write_line(entry))
    return fields


def entry_from_json(data: object) -> Entry:
    """Read a ledger entry and check its hash.

    An entry that shows no link to the entry before it (`previous` and `books` are empty) has a hash
    that cannot be checked; only its form is.

    >>> import discreet as dp
    >>> from discreet.wire.reply import entry_from_json, entry_to_json
    >>> shown = dp.Entry(7, "charge", "2026-05-01T09:30:00.000000Z", who="bob", hash="f" * 64)
    >>> entry_from_json(entry_to_json(shown)) == shown
    True
    """
    if not isinstance(data, dict) or not _is_outside_chain(data):
        return read_line(canonical_json(data))
    # `read_line` checks the hash: a computed one passes, then the given one takes its place.
    form = {name: value for name, value in data.items() if name != "hash"}
    computed = digest(canonical_json(form))
    entry = read_line(canonical_json({**form, "hash": computed}))
    return replace(entry, hash=str(data.get("hash")))


def _is_outside_chain(fields: Mapping[str, object]) -> bool:
    """Return whether an entry shows no link to the entry before; the first entry has none to show."""
    unlinked = fields.get("previous") == fields.get("books") == ""
    return unlinked and fields.get("number") != 1


def remaining_to_json(room: RemainingBudget) -> JsonObject:
    """Return the largest single charges that fit an (ε, δ) budget as JSON; amounts are exact.

    >>> import discreet as dp
    >>> from discreet.wire.reply import remaining_from_json, remaining_to_json
    >>> room = dp.open_filter(dp.ApproxDP(1, 1e-6)).room()
    >>> remaining_from_json(remaining_to_json(room)) == room
    True
    """
    # μ² is rational where μ is not.
    mu_squared = None
    if room.mu is not None:
        mu_squared = str(room.mu.squared)
    return {
        "epsilon": str(room.epsilon),
        "mu_squared": mu_squared,
        "delta": str(room.delta),
        "tail": str(room.tail),
    }


def remaining_from_json(data: Mapping[str, object]) -> RemainingBudget:
    """Read the output of `remaining_to_json`."""
    epsilon = read_number(data["epsilon"], "epsilon")
    delta = read_number(data["delta"], "delta")
    tail = read_number(data["tail"], "tail")
    mu = None
    if data["mu_squared"] is not None:
        mu = GaussianDP.of_square(read_number(data["mu_squared"], "mu²"))
    return RemainingBudget(epsilon, mu, delta, tail)


def plain_json(value: object) -> object:
    """Convert values of other packages to plain JSON: exact amounts as text, no NaN."""
    if isinstance(value, Mapping):
        return {str(name): plain_json(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain_json(inner) for inner in value]
    if isinstance(value, Measure):
        return budget_to_table(value)
    if isinstance(value, Fraction):
        return str(value)
    return _scalar(value)
