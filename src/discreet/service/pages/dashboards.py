"""Pages of dashboards: list, one to read, its editor, the prices of asking again, and one file of it.

All forms work without a script: every button sends the whole form, which is saved and shown again.
"""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import Response
from starlette.routing import Route

from ...errors import InvalidArgument
from ...frozen import replace
from ...streams.calendar import KINDS
from ..dashboards import (
    boards_for,
    change,
    find_board,
    give_back,
    is_open,
    may_share,
    own_board,
    refresh,
    refreshes,
    take_away,
)
from ..state import State
from ..stores.dashboards import Dashboard, DashboardPart, Dashboards
from .answers import find_job, fresh_mark
from .dashboard_view import answer_title, dashboard_file, part_views
from .history import past_of
from .number_text import day_of
from .page_request import PageRequest, for_analysts, for_stewards, table_routes, to
from .render import HEADERS
from .workbench import MAX_MARK_LENGTH, dataset_of

OFFERED = 40
"""Newest answers that the editor offers."""

NEW = "new"


def dashboard_routes(state: State) -> list[Route]:
    """Return the routes of dashboards."""
    path = "/dashboards/{board}"
    return [
        *table_routes(
            state,
            for_analysts,
            ("GET", "/dashboards", _all),
            ("POST", "/dashboards", _make),
            ("GET", path, _show),
            ("GET", f"{path}/edit", _edit),
            ("POST", f"{path}/edit", _save),
            ("GET", f"{path}/refresh", _prices),
            ("POST", f"{path}/refresh", _refresh),
            ("POST", f"{path}/remove", _remove),
            ("GET", f"{path}/dashboard.html", _file),
            ("POST", "/answers/{job}/dashboard", _add_answer),
        ),
        *table_routes(
            state,
            for_stewards,
            ("POST", "/steward/{dataset}/dashboards", _restore),
        ),
    ]


def _log(visit: PageRequest, verb: str, board: Dashboard) -> None:
    visit.state.log.write(verb, who=visit.person.name, dataset=board.dataset, status=200)


def _board(visit: PageRequest) -> Dashboard:
    return find_board(visit.state, visit.person, visit.request.path_params["board"])


def _own(visit: PageRequest) -> Dashboard:
    return own_board(visit.state, visit.person, visit.request.path_params["board"])


def _all(visit: PageRequest) -> Response:
    """List the user's dashboards and the shared ones, with a form for a new one."""
    listed = []
    for board in boards_for(visit.state, visit.person):
        listed.append((board, is_open(visit.state, board), day_of(board.changed)))
    return visit.show(
        "dashboards.html",
        here="Dashboards",
        boards=listed,
        datasets=visit.state.datasets.allowed(visit.person),
    )


def _make(visit: PageRequest) -> Response:
    dataset = visit.form.get("dataset", "")
    board = _new(visit, dataset, visit.form.get("title", ""))
    return to(f"/dashboards/{board.id}/edit")


def _new(visit: PageRequest, dataset: str, title: str) -> Dashboard:
    visit.state.datasets.check(visit.person, dataset)
    board = Dashboards(visit.state.store).add(visit.person.name, dataset, title)
    _log(visit, "make dashboard", board)
    return board


def _show(visit: PageRequest) -> Response:
    board = _board(visit)
    return visit.show(
        "dashboard.html",
        here="Dashboards",
        board=board,
        mine=board.person == visit.person.name,
        open=is_open(visit.state, board),
        parts=part_views(visit.state, board),
        changed=day_of(board.changed),
    )


def _file(visit: PageRequest) -> Response:
    """Hand out the dashboard as one HTML file, which needs neither this service nor a script."""
    board = _board(visit)
    # Whoever takes a page out of the service is named in the log.
    _log(visit, "export dashboard", board)
    headers = HEADERS | {
        "Content-Disposition": f'attachment; filename="{board.dataset}-dashboard.html"'
    }
    return Response(dashboard_file(visit.state, board), media_type="text/html", headers=headers)


def _edit(visit: PageRequest) -> Response:
    """Show the editor of one's own dashboard, with the answers and streams that can be added."""
    board = _own(visit)
    state = visit.state
    # An answer that is on the page already is not offered again.
    on_it = {part.answer for part in board.parts} | {part.fresh for part in board.parts}
    answers = []
    for past in past_of(state, visit.person.name, most=OFFERED, dataset=board.dataset):
        job = state.jobs.job_store.get(past.id)
        if past.state == "done" and job is not None and past.id not in on_it:
            answers.append((past.id, answer_title(state, board, job), past.time))
    curator = state.datasets.curator(board.dataset, visit.person.name)
    return visit.show(
        "dashboard_edit.html",
        here="Dashboards",
        board=board,
        views=part_views(state, board),
        answers=answers,
        streams=list(curator.streams()),
        periods=KINDS,
        may_share=may_share(state, board.dataset),
        open=is_open(state, board),
    )


def _save(visit: PageRequest) -> Response:
    """Save the form, and do what its button says: move, remove or add a part, share or not."""
    board = _own(visit)
    form = visit.form
    # Buttons name parts by their place, which another window may have changed.
    if form.get("version") != board.version:
        raise InvalidArgument("this dashboard changed meanwhile; load it again, then change it")
    parts = []
    for place, part in enumerate(board.parts):
        words = form.get(f"text {place}", part.text).replace("\r\n", "\n").strip()
        # Only texts have a field: a part of another kind keeps what it is.
        parts.append(replace(part, text=words) if part.text else part)
    action, _, rest = form.get("action", "save").partition(" ")
    shared: bool | None = None
    if action in ("up", "down", "remove"):
        _move(parts, action, int(rest) if rest.isdecimal() and len(rest) < 4 else -1)
    elif action == "add":
        parts.append(_new_part(form, rest))
    elif action in ("share", "unshare"):
        shared = action == "share"
    # A text that was emptied is a part no more.
    kept = [part for part in parts if part != DashboardPart()]
    saved = change(
        visit.state, board, title=form.get("title", board.title), parts=kept, shared=shared
    )
    _log(visit, f"{action} dashboard" if shared is not None else "change dashboard", saved)
    if action == "save" or shared is not None:
        return to(f"/dashboards/{board.id}")
    return to(f"/dashboards/{board.id}/edit")


def _move(parts: list[DashboardPart], action: str, place: int) -> None:
    """Move a part by one place, or remove it; what is at an end stays there."""
    if not 0 <= place < len(parts):
        raise InvalidArgument("there is no such part; load the page again")
    part = parts.pop(place)
    if action == "up":
        parts.insert(max(0, place - 1), part)
    elif action == "down":
        parts.insert(place + 1, part)


def _new_part(form: Mapping[str, str], kind: str) -> DashboardPart:
    if kind == "answer":
        return DashboardPart(answer=form.get("answer", ""))
    if kind == "stream":
        return DashboardPart(stream=form.get("stream", ""), by=form.get("by", "week"))
    return DashboardPart(text=form.get("new_text", "").replace("\r\n", "\n").strip())


def _add_answer(visit: PageRequest) -> Response:
    """Put an answer on a dashboard of its asker, from the page of the answer."""
    job = find_job(visit, visit.request.path_params["job"])
    name = visit.form.get("board", NEW)
    # The page of an answer can start a dashboard, which needs a title of its own.
    if name == NEW:
        board = _new(visit, job.dataset, visit.form.get("title", "") or "My dashboard")
    else:
        board = own_board(visit.state, visit.person, name)
    change(visit.state, board, parts=(*board.parts, DashboardPart(answer=job.id)))
    return to(f"/dashboards/{board.id}")


def _prices(visit: PageRequest) -> Response:
    """Say what asking each answer again would cost; nothing is asked or spent."""
    board = _own(visit)
    views = part_views(visit.state, board)
    priced = [(one, views[one.place].title) for one in refreshes(visit.state, board)]
    # Prices are beside what is left, so that nobody has to look it up.
    left = visit.state.datasets.curator(board.dataset, visit.person.name).left()
    return visit.show(
        "dashboard_refresh.html",
        here="Dashboards",
        board=board,
        priced=priced,
        left=left,
        mark=fresh_mark(),
    )


def _refresh(visit: PageRequest) -> Response:
    """Ask the ticked answers again; a form that is sent twice is charged once."""
    board = _own(visit)
    places = []
    # Parts that are not ticked keep their answer.
    for place in range(len(board.parts)):
        if visit.form.get(f"part {place}"):
            places.append(place)
    mark = visit.form.get("mark", "")[:MAX_MARK_LENGTH]
    if not mark:
        raise InvalidArgument("load the page again; its form was sent without its key")
    _log(visit, "refresh dashboard", refresh(visit.state, board, places, mark))
    return to(f"/dashboards/{board.id}")


def _remove(visit: PageRequest) -> Response:
    """Delete one's own dashboard; as a steward, take back one that is shared."""
    board = take_away(visit.state, visit.person, visit.request.path_params["board"])
    mine = board.person == visit.person.name
    _log(visit, "delete dashboard" if mine else "take back dashboard", board)
    return to("/dashboards" if mine else f"/steward/{board.dataset}")


def _restore(visit: PageRequest) -> Response:
    """Let a dashboard be seen again that was taken back."""
    dataset = dataset_of(visit)
    name = visit.form.get("board", "")
    give_back(visit.state, dataset, name)
    visit.state.log.write("give back dashboard", who=visit.person.name, dataset=dataset, status=200)
    return to(f"/steward/{dataset}")
