"""Rules of dashboards: who may see one, what may stand on it, and what asking again costs.

Guarantee: a dashboard shows answers that its author paid for and was shown, and standing reports
of its data set, which all who may ask about it see anyway. Others see it only where the
configuration shares dashboards, the author shared it, and no steward took it back.

Law: tests/service/test_dashboards.py
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..curator import Curator
from ..curator.verbs.stream import find_stream
from ..errors import DiscreetError, InvalidArgument, NotAllowed
from ..frozen import frozen, replace
from ..streams.calendar import KINDS
from ..wire.verbs.question import read_ask
from .jobs.job import Job
from .jobs.job_store import UNKNOWN as UNKNOWN_JOB
from .pages.explanation_view import price_again
from .state import State
from .stores.dashboards import UNKNOWN, Dashboard, DashboardPart, Dashboards
from .stores.people import Member

LAST_PERIODS = 60
"""Periods of a standing report that a dashboard shows."""


def may_share(state: State, dataset: str) -> bool:
    """Return whether the configuration lets authors share dashboards of a data set."""
    return state.config.datasets[dataset].share_dashboards


def is_open(state: State, board: Dashboard) -> bool:
    """Return whether a dashboard is shared at the moment."""
    return board.shared and not board.withdrawn and may_share(state, board.dataset)


def find_board(state: State, person: Member, name: str) -> Dashboard:
    """Find a dashboard that a user may see: their own, or one that is shared.

    Refuses: any other in the same way as one that never was, with NotAllowed.
    """
    board = Dashboards(state.store).get(name)
    if board is not None and board.dataset in state.datasets.allowed(person):
        if board.person == person.name or is_open(state, board):
            return board
    raise NotAllowed(UNKNOWN)


def own_board(state: State, person: Member, name: str) -> Dashboard:
    """Find a user's own dashboard; refuses one of another author, with NotAllowed."""
    board = find_board(state, person, name)
    if board.person != person.name:
        raise NotAllowed("only its author can change a dashboard; make one of your own")
    return board


def boards_for(state: State, person: Member, dataset: str = "") -> tuple[Dashboard, ...]:
    """List the dashboards that a user may see, their own first; all, or those of one data set."""
    allowed = [name for name in state.datasets.allowed(person) if dataset in ("", name)]
    store = Dashboards(state.store)
    # Somebody who may no longer ask about a data set does not see it here either.
    seen = [board for board in store.of(person.name) if board.dataset in allowed]
    for name in allowed:
        for board in store.shared(name):
            if board.person != person.name and is_open(state, board):
                seen.append(board)
    return tuple(seen)


def take_away(state: State, person: Member, name: str) -> Dashboard:
    """Delete a user's own dashboard; of a colleague's, as a steward, take back its sharing.

    Refuses: a shared one of a colleague, unless by a steward; one of a colleague that is not
    shared, as if it never was.
    """
    board = find_board(state, person, name)
    store = Dashboards(state.store)
    # Its answers stay where they are: only the page is gone.
    if board.person == person.name:
        store.delete(board)
    elif person.role == "steward":
        store.withdraw(board, withdrawn=True)
    else:
        raise NotAllowed("only its author, or a steward, can take a dashboard away")
    return board


def give_back(state: State, dataset: str, name: str) -> None:
    """Let a dashboard be seen again that a steward took back."""
    board = Dashboards(state.store).get(name)
    if board is None or board.dataset != dataset or not board.withdrawn:
        raise NotAllowed(UNKNOWN)
    Dashboards(state.store).withdraw(board, withdrawn=False)


def change(
    state: State,
    board: Dashboard,
    *,
    title: str | None = None,
    parts: Sequence[DashboardPart] | None = None,
    shared: bool | None = None,
) -> Dashboard:
    """Save changes of an author; what is None stays.

    Refuses: sharing that the configuration does not allow, and answers that are not the author's
    own. A dashboard that a steward took back is seen by its author alone, whatever `shared` says.
    """
    # Changes are made to a copy, which the store compares with what is there.
    after = board
    if title is not None:
        after = replace(after, title=title.strip())
    if parts is not None:
        for part in parts:
            _check_part(state, board, part)
        after = replace(after, parts=tuple(parts))
    if shared is not None:
        if shared and not may_share(state, board.dataset):
            raise NotAllowed(
                f"dashboards of {board.dataset} are not shared: the steward has not allowed it; "
                "set share_dashboards in the configuration"
            )
        after = replace(after, shared=shared)
    return Dashboards(state.store).save(board, after)


def _check_part(state: State, board: Dashboard, part: DashboardPart) -> None:
    """Refuse a part that is not exactly one of text, own answer, and standing report."""
    if sum(map(bool, (part.text, part.answer, part.stream))) != 1:
        raise InvalidArgument("a part of a dashboard is one of text, answer and stream")
    # A part that was there before stays, also if its answer is no longer kept.
    if part.answer and part not in board.parts:
        shown_answer(state, board, part.answer)
    if part.stream:
        if part.by not in KINDS:
            raise InvalidArgument(f"by is one of {', '.join(KINDS)}")
        find_stream(_curator(state, board).context, part.stream)


def _curator(state: State, board: Dashboard) -> Curator:
    return state.datasets.curator(board.dataset, board.person)


def shown_answer(state: State, board: Dashboard, name: str) -> tuple[Job, Mapping[str, Any]]:
    """Return an answer of the author with its reply, once its tick on the timing grid has shown it.

    Refuses: another person's answer, another data set's, and one that is not there yet, as one that
    never was: a dashboard must not tell which of these it is.
    """
    job = state.jobs.job_store.get(name)
    if job is not None and job.verb == "sql":
        if (job.person, job.dataset) == (board.person, board.dataset):
            finished, view = state.jobs.view(job)
            reply = view.get("reply")
            if finished and job.state == "done" and isinstance(reply, dict):
                return job, reply
    raise NotAllowed(UNKNOWN_JOB)


def current_answer(
    state: State, board: Dashboard, part: DashboardPart
) -> tuple[Job, Mapping[str, Any]]:
    """Return the newest answer of a part: that of a refresh once it is there, else the one before."""
    if part.fresh:
        try:
            return shown_answer(state, board, part.fresh)
        except NotAllowed:
            # It runs, or was refused: what stood there before still holds.
            pass
    return shown_answer(state, board, part.answer)


def stream_sums(state: State, board: Dashboard, part: DashboardPart) -> Any:  # noqa: ANN401
    """Return the newest published sums of a standing report, at most LAST_PERIODS, by `part.by`."""
    report = find_stream(_curator(state, board).context, part.stream)
    return report.by(part.by, LAST_PERIODS)


@frozen
class Refresh:
    """Price of asking one answer again, as text; "" if it could not be found.

    `refusal` says why asking would be refused, such as a price above what is left; "" if not.
    """

    place: int
    sql: str
    price: str
    free: bool
    refusal: str = ""


def refreshes(state: State, board: Dashboard) -> tuple[Refresh, ...]:
    """Price every answer of a dashboard as if its author asked again; nothing is touched or spent."""
    found = []
    for place, part in enumerate(board.parts):
        if part.answer:
            found.append(_priced(state, board, place, part))
    return tuple(found)


def _priced(state: State, board: Dashboard, place: int, part: DashboardPart) -> Refresh:
    """Price one answer as if its author asked it again; a refusal becomes part of the result."""
    sql = ""
    # Worked out by a worker process on public facts, as when a question is typed.
    try:
        job, _ = current_answer(state, board, part)
        ask = read_ask(json.loads(job.body))
        sql = ask.sql
        cells = state.config.bounds.cells
        price, free, fits = state.planning_pool.ask(
            board.person, board.dataset, price_again, ask, cells
        )
    except DiscreetError as refusal:
        return Refresh(place, sql, "", free=False, refusal=str(refusal))
    too_much = "" if fits else f"it costs {price}, which is more than is left"
    return Refresh(place, sql, price, free, too_much)


def refresh(state: State, board: Dashboard, places: Sequence[int], mark: str) -> Dashboard:
    """Ask the answers at these places again, in the author's name and at their price.

    `mark` makes the idempotency keys: a form that is sent twice is charged once. Colleagues see
    what was there before until the new answers are.

    Refuses: a choice of parts that are no answers, or of none; and one of which any answer would
    be refused or costs more than is left. Nothing is asked then.
    """
    parts = list(board.parts)
    asked = sorted(set(places))
    if not asked or not all(place < len(parts) and parts[place].answer for place in asked):
        raise InvalidArgument("choose at least one part, and only answers, to ask again")
    keys = {place: f"{board.id} {place} {mark}" for place in asked}
    # All are checked before the first is asked: a refusal of the last one spends nothing.
    for place in asked:
        refused = _priced(state, board, place, parts[place]).refusal
        if refused and state.jobs.job_store.marked(board.person, keys[place]) is None:
            raise InvalidArgument(f"{refused}; nothing was asked")
    for place in asked:
        job, _ = current_answer(state, board, parts[place])
        fresh = state.jobs.put(board.person, board.dataset, "sql", job.body, keys[place])
        parts[place] = replace(parts[place], answer=job.id, fresh=fresh.id)
    return Dashboards(state.store).save(board, replace(board, parts=tuple(parts)))
