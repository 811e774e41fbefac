"""What is said back: answers, plans, prices and refusals as plain JSON; amounts are exact text.

Everything in a reply is public already or was released privately: a reply's length and shape follow from the schema,
the question, the ledger and the released numbers, never from a row.
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
from ..answer.text.display_facts import ordered_keys, see
from ..arithmetic.canonical import canonical_json as line_of
from ..arithmetic.canonical import digest
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
from ..ledger.entry import Entry, read_line, write_line
from ..privacy.budget_text import budget_from_words, budget_to_words
from ..privacy.filters.remaining import RemainingBudget
from ..privacy.measures import GaussianDP, Measure

if TYPE_CHECKING:
    from ..answer.answer import Answer, Interval
    from ..curator.explanation import Explanation

BROKEN = "something broke inside the service; what it said is not shown, since it may tell about the data"
_STATUS: tuple[tuple[type[DiscreetError], int], ...] = (
    (BudgetExceeded, 409),
    (NotAllowed, 403),
    (LedgerConflict, 503),  # LedgerUnavailable too
    (ServiceUnavailable, 503),
    (Cancelled, 409),
    (TooSlow, 409),
    (EngineFailure, 502),
    (LedgerCorrupt, 500),
    (ClaimRefuted, 422),
    (DiscreetError, 422),
)
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
    >>> status_of(dp.InvalidArgument("no")), status_of(dp.NotAllowed("no")), status_of(dp.LedgerConflict("busy"))
    (422, 403, 503)
    """
    return next(status for kind, status in _STATUS if isinstance(refusal, kind))


def refusal_to_json(refusal: DiscreetError | None) -> dict[str, object]:
    """Write a refusal: its kind, its words, and for a budget what was asked and what is left; None: something broke.

    >>> import discreet as dp
    >>> from discreet.wire.reply import refusal_to_json
    >>> refusal_to_json(dp.NotAllowed("this is for stewards"))
    {'error': {'kind': 'NotAllowed', 'message': 'this is for stewards'}}
    """
    if refusal is None:
        return {"error": {"kind": "EngineFailure", "message": BROKEN}}
    if isinstance(refusal, EngineFailure) and not isinstance(
        refusal, TooSlow
    ):  # one constant message of any store
        refusal = Cancelled() if isinstance(refusal, Cancelled) else failure()
    kinds = (
        cls.__name__
        for cls in type(refusal).__mro__
        if cls.__name__ in _KINDS or cls is BudgetExceeded
    )
    kind = next(kinds, "InvalidArgument")
    error: dict[str, object] = {"kind": kind, "message": str(refusal)}
    if isinstance(refusal, BudgetExceeded):
        error |= {"asked": measure_or_text(refusal.asked), "left": measure_or_text(refusal.left)}
    return {"error": error}


def refusal_from_json(data: object) -> DiscreetError:
    """Read a refusal back as the library's own error."""
    error = data.get("error") if isinstance(data, dict) else None
    if not isinstance(error, dict):
        return EngineFailure("the service answered in words that this client does not know")
    message = str(error.get("message", ""))
    if error.get("kind") == "BudgetExceeded":
        asked, left = (
            budget_from_words(found) if isinstance(found := error.get(name), dict) else found
            for name in ("asked", "left")
        )
        return BudgetExceeded(message, asked=asked, left=left)
    return _KINDS.get(str(error.get("kind")), EngineFailure)(message)


def measure_or_text(value: object) -> object:
    """Write a measure in words, anything else as text."""
    return budget_to_words(value) if isinstance(value, Measure) else str(value)


def answer_reply(answer: Answer, level: float = 0.95) -> dict[str, object]:
    """Write an answer: a table, intervals at a level, the receipt, and the exact parts to make an `Answer` of again."""
    seen, ordered = see(answer, level), ordered_keys(answer.plan.question)
    intervals = seen.intervals
    return {
        "receipt": _receipt(answer.receipt),  # first: lists of answers read no further
        "columns": [
            {"name": name, "noisy": name in answer.noisy, "sort": sort}
            | {"digits": seen.digits[name].value, "ordered": name in ordered}
            for name, sort in zip(answer.columns, answer.sorts, strict=True)
        ],
        "rows": [_row(row, answer) for row in answer.rows],
        "level": repr(level),
        "intervals": [
            [_ends(found.get(name), answer, name) for name in answer.columns] for found in intervals
        ],
        "faint": sorted(seen.faint),
        "caption": answer.caption,
        "exact": answer_to_json(answer),
    }


def _row(row: Sequence[object], answer: Answer) -> list[object]:
    return [_word(plain(value, sort)) for value, sort in zip(row, answer.sorts, strict=True)]


def _ends(interval: Interval, answer: Answer, name: str) -> list[object] | None:
    sort = answer.sorts[answer.columns.index(name)]
    return None if interval is None else [_word(plain(end, sort)) for end in interval]


def _word(value: object) -> object:
    """Write a value for JSON: times in ISO form, no bound as null."""
    if isinstance(value, date | datetime):
        return value.isoformat()
    if isinstance(value, Fraction):
        return float(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _receipt(receipt: object) -> object:
    """Return a receipt as its one canonical text; JSON that is read and written again would not be the same bytes."""
    return None if receipt is None else receipt.to_json()  # type: ignore[attr-defined]


def explanation_reply(explanation: Explanation) -> dict[str, object]:
    """Write what a question would do, cost and miss."""
    return {
        "question": explanation.question,
        "plan": plain_json(explanation.plan.to_dict()),
        "price": budget_to_words(explanation.price),
        "left": budget_to_words(explanation.left),
        "after": None if explanation.after is None else budget_to_words(explanation.after),
        "fits": explanation.fits,
        "stored": explanation.stored,
        "part": explanation.part,
        "texts": list(explanation.texts),
        "warnings": list(explanation.warnings),
        "text": str(explanation),
    }


def entry_to_json(entry: Entry) -> dict[str, object]:
    """Write one line of the ledger, whole: whoever reads it can check its hash."""
    line: dict[str, object] = json.loads(write_line(entry))
    return line


def entry_from_json(data: object) -> Entry:
    """Read a line of the ledger and check its hash; one that is shown without its place in the chain has only its form.

    >>> import discreet as dp
    >>> from discreet.wire.reply import entry_from_json, entry_to_json
    >>> shown = dp.Entry(7, "charge", "2026-05-01T09:30:00.000000Z", who="bob", hash="f" * 64)
    >>> entry_from_json(entry_to_json(shown)) == shown
    True
    """
    if (
        isinstance(data, dict)
        and data.get("previous") == data.get("books") == ""
        and data.get("number") != 1
    ):
        form = {name: value for name, value in data.items() if name != "hash"}
        read = read_line(line_of({**form, "hash": digest(line_of(form))}))
        return replace(read, hash=str(data.get("hash")))
    return read_line(line_of(data))


def remaining_to_json(room: RemainingBudget) -> dict[str, object]:
    """Write what fits into an (ε, δ) budget at once; amounts are exact.

    >>> import discreet as dp
    >>> from discreet.wire.reply import remaining_from_json, remaining_to_json
    >>> room = dp.open_filter(dp.ApproxDP(1, 1e-6)).room()
    >>> remaining_from_json(remaining_to_json(room)) == room
    True
    """
    squared = None if room.mu is None else str(room.mu.squared)
    return {
        "epsilon": str(room.epsilon),
        "mu_squared": squared,
        "delta": str(room.delta),
        "tail": str(room.tail),
    }


def remaining_from_json(data: Mapping[str, object]) -> RemainingBudget:
    """Read what `remaining_to_json` wrote."""
    epsilon, delta, tail = (read_number(data[name], name) for name in ("epsilon", "delta", "tail"))
    squared = data["mu_squared"]
    return RemainingBudget(
        epsilon,
        None if squared is None else GaussianDP.of_square(read_number(squared, "mu²")),
        delta,
        tail,
    )


def plain_json(value: object) -> object:
    """Make sure that what a room wrote is plain JSON: exact amounts as text, no NaN."""
    if isinstance(value, Mapping):
        return {str(name): plain_json(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain_json(one) for one in value]
    if isinstance(value, Measure):
        return budget_to_words(value)
    return str(value) if isinstance(value, Fraction) else _word(value)


def plan_reply(plan: object) -> dict[str, object]:
    """Write a plan, a workload or what was found of three: its facts and its table."""
    return {"plan": plain_json(plan.to_dict()), "text": str(plan)}  # type: ignore[attr-defined]
