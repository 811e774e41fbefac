"""Endpoints of dashboards: list, make, show, change, take away, and ask their answers again.

The rules are in `service/dashboards.py`; pages use the same ones.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from ...errors import DiscreetError, NotAllowed
from ...json_shape import (
    FLAG,
    JsonField,
    JsonObject,
    Record,
    choice,
    listing,
    optional,
    positive_integer,
    text,
)
from ...streams.calendar import KINDS
from ..dashboards import (
    boards_for,
    change,
    current_answer,
    find_board,
    is_open,
    own_board,
    refresh,
    refreshes,
    stream_sums,
    take_away,
)
from ..state import State
from ..stores.dashboards import (
    MAX_PARTS,
    MAX_TEXT_LENGTH,
    MAX_TITLE_LENGTH,
    UNKNOWN,
    Dashboard,
    DashboardPart,
    Dashboards,
)
from ..stores.people import iso_time
from .endpoint import ApiCall, Reply
from .verbs import check_key

_PART = Record(
    (
        optional("text", text(MAX_TEXT_LENGTH)),
        optional("answer", text(64)),
        optional("stream", text(60)),
        optional("by", choice(*KINDS)),
    )
)
DASHBOARD = Record(
    (
        JsonField("title", text(MAX_TITLE_LENGTH, blank=False)),
        optional("parts", listing(_PART.shape, "parts")),
        optional("shared", FLAG),
    ),
    example={
        "title": "Who lives here",
        "parts": [{"text": "Counted **once a week**."}, {"stream": "visits", "by": "week"}],
        "shared": True,
    },
)


_PLACES = listing(positive_integer(MAX_PARTS), "parts")
REFRESH = Record((JsonField("parts", _PLACES),), example={"parts": [2, 3]})
"""Parts to ask again, the first one is 1."""

_SHOWN = ("columns", "rows", "intervals", "level", "caption", "details", "faint")
"""Parts of an answer that a dashboard shows; its receipt is its author's."""


def list_dashboards(state: State, call: ApiCall) -> Reply:
    """List one's own dashboards of a data set, and those that colleagues share."""
    boards = boards_for(state, call.person, call.dataset)
    return Reply({"dashboards": [_facts(state, board) for board in boards]})


def make_dashboard(state: State, call: ApiCall) -> Reply:
    """Make a dashboard of one's own answers, texts and standing reports."""
    given = DASHBOARD.read(call.json())
    made = Dashboards(state.store).add(call.person.name, call.dataset, str(given["title"]))
    try:
        return Reply(_facts(state, _change(state, made, given)), 201)
    except DiscreetError:
        # All or nothing: no empty dashboard is left of a request that was refused.
        Dashboards(state.store).delete(made)
        raise


def show_dashboard(state: State, call: ApiCall) -> Reply:
    """Return a dashboard with the answers and sums that it shows."""
    board = _found(state, call)
    parts = []
    for part in board.parts:
        shown = _part(state, board, part)
        if board.person != call.person.name:
            # Its address is its author's alone.
            shown.pop("answer", None)
        parts.append(shown)
    return Reply(_facts(state, board) | {"parts": parts}, pad=True)


def change_dashboard(state: State, call: ApiCall) -> Reply:
    """Replace title, parts and sharing of one's own dashboard."""
    board = _own(state, call)
    return Reply(_facts(state, _change(state, board, DASHBOARD.read(call.json()))))


def remove_dashboard(state: State, call: ApiCall) -> Reply:
    """Delete one's own dashboard; a steward takes a shared one back."""
    _found(state, call)
    return Reply(_facts(state, take_away(state, call.person, call.path["dashboard"])))


def price_refresh(state: State, call: ApiCall) -> Reply:
    """Price each answer of one's own dashboard as if it were asked again; nothing is spent."""
    board = _own(state, call)
    prices = []
    for one in refreshes(state, board):
        facts = {"part": one.place + 1, "sql": one.sql, "price": one.price}
        prices.append(facts | {"free": one.free, "refusal": one.refusal})
    return Reply({"prices": prices})


def refresh_dashboard(state: State, call: ApiCall) -> Reply:
    """Ask answers of one's own dashboard again; a request that is sent twice is charged once."""
    board = _own(state, call)
    given: dict[str, Any] = REFRESH.read(call.json())
    places = [number - 1 for number in given["parts"]]
    mark = check_key(call.idempotency_key) or secrets.token_urlsafe(16)
    after = refresh(state, board, places, mark)
    return Reply({"jobs": [after.parts[place].fresh for place in places]})


def _own(state: State, call: ApiCall) -> Dashboard:
    _found(state, call)
    return own_board(state, call.person, call.path["dashboard"])


def _found(state: State, call: ApiCall) -> Dashboard:
    # The path names the data set too: another one is as unknown as another dashboard.
    board = find_board(state, call.person, call.path["dashboard"])
    if board.dataset != call.dataset:
        raise NotAllowed(UNKNOWN)
    return board


def _change(state: State, board: Dashboard, given: Mapping[str, Any]) -> Dashboard:
    parts = [DashboardPart(**part) for part in given.get("parts", ())]
    shared = given.get("shared", False)
    return change(state, board, title=given["title"], parts=parts, shared=shared)


def _facts(state: State, board: Dashboard) -> JsonObject:
    return {
        "id": board.id,
        "title": board.title,
        "author": board.person,
        "dataset": board.dataset,
        "shared": is_open(state, board),
        "changed": iso_time(board.changed),
    }


def _part(state: State, board: Dashboard, part: DashboardPart) -> JsonObject:
    """Return a part with what it shows; `missing` says why another one shows nothing."""
    if part.text:
        return {"text": part.text}
    try:
        if part.answer:
            job, reply = current_answer(state, board, part)
            shown = {name: reply[name] for name in _SHOWN if name in reply}
            return {"answer": job.id, "reply": shown}
        return {
            "stream": part.stream,
            "by": part.by,
            "table": stream_sums(state, board, part).to_json(),
        }
    except DiscreetError as refusal:
        # The other parts of the dashboard are shown all the same.
        return {"missing": str(refusal)}
