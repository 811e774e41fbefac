"""View of a dashboard: each part laid out for the page, and the whole as one file that needs no server."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ...errors import DiscreetError
from ...frozen import frozen
from ...show.markup import Html, element
from ...show.printed_page import printed_page
from ...show.prose import prose
from ..dashboards import current_answer, stream_sums
from ..jobs.job import Job
from ..state import State
from ..stores.dashboards import Dashboard, DashboardPart
from ..stores.saved import SavedQuestions
from .answer_view import AnswerSet, AnswerView, answer_view
from .charts.drawing import drawing
from .downloads.title import title_of
from .history import sql_of
from .number_text import day_of

_STYLE = """
main > section { break-inside: avoid; margin: 1.2rem 0 } svg { max-width: 100%; height: auto }
td.number, th.number { text-align: right; white-space: nowrap } .error, .soft, caption { color: #555 }
figure { margin: 0; display: inline-block; max-width: 100% } caption { text-align: left }
"""


@frozen
class PartView:
    """Part of a dashboard, laid out; `missing` says why there is nothing to show.

    `waiting`: it is being asked again. `refused` is the job of a refresh that gave no answer.
    """

    words: Html = Html("")
    title: str = ""
    answer: AnswerView | None = None
    job: str = ""
    day: str = ""
    waiting: bool = False
    refused: str = ""
    missing: str = ""


def part_views(state: State, board: Dashboard) -> tuple[PartView, ...]:
    """Lay out all parts of a dashboard; one that cannot be shown says so and keeps its place."""
    return tuple(_part(state, board, part) for part in board.parts)


def _part(state: State, board: Dashboard, part: DashboardPart) -> PartView:
    """Lay out a text, a standing report, or an answer with the state of its refresh."""
    if part.text:
        return PartView(prose(part.text))
    try:
        if part.stream:
            sums = stream_sums(state, board, part)
            title = f"{part.stream} by {part.by}"
            return PartView(title=title, answer=answer_view(_sums_reply(sums.to_json()), ""))
        job, reply = current_answer(state, board, part)
    except DiscreetError as refusal:
        # A part that cannot be shown must not close the page to the others.
        return PartView(missing=str(refusal))
    day = day_of(job.created)
    pending = part.fresh if job.id != part.fresh else ""
    waiting = bool(pending) and _runs(state, pending)
    return PartView(
        title=answer_title(state, board, job),
        answer=answer_view(reply, sql_of(job), state.datasets.schemas(board.dataset)),
        job=job.id,
        day=day,
        waiting=waiting,
        refused="" if waiting else pending,
    )


def _runs(state: State, name: str) -> bool:
    """Return whether a refresh has still no outcome that may be seen."""
    job = state.jobs.job_store.get(name)
    if job is None:
        return False
    shown, _ = state.jobs.view(job)
    return not shown


def answer_title(state: State, board: Dashboard, job: Job) -> str:
    """Return the name that the author gave an answer, else a title written from its question."""
    # The name that the author gave it is part of what was shared.
    name = SavedQuestions(state.store).name_of(board.person, job.id)
    return name or title_of(sql_of(job))


def _sums_reply(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the sums of a standing report in the form of an answer, without the last days of periods."""
    names = table["columns"]
    # Columns: from, to, keys, number, low, high.
    kept = [0, *range(2, len(names) - 3)]
    columns = [{"name": names[place], "noisy": False, "ordered": place == 0} for place in kept]
    columns.append({"name": names[-3], "noisy": True})
    rows = []
    intervals = []
    for row in table["rows"]:
        rows.append([*(row[place] for place in kept), row[-3]])
        intervals.append([*(None for _ in kept), [row[-2], row[-1]]])
    level = float(table["level"])
    return {
        "columns": columns,
        "rows": rows,
        "intervals": intervals,
        "level": level,
        "caption": f"± holds for each number with {100 * level:g} %; published as the days close",
    }


def dashboard_file(state: State, board: Dashboard) -> str:
    """Return a dashboard as one HTML file: no script, nothing from another host, fit for paper."""
    parts: list[Html] = []
    for view in part_views(state, board):
        # Parts without anything to show are left out of what is published.
        if view.answer is not None:
            parts.append(_answer_section(view, view.answer))
        elif view.words:
            parts.append(element("section", view.words))
    day = datetime.now(UTC).strftime("%Y-%m-%d")
    foot = (
        f"Written {day}. Every number carries noise, which protects the people it is about "
        "(differential privacy); ± says how much."
    )
    body = element("main", element("h1", board.title), *parts, element("p", foot, class_="soft"))
    return printed_page(board.title, body, _STYLE)


def _answer_section(view: PartView, answer: AnswerView) -> Html:
    """Return an answer for the file: title, sentence, charts, tables, and the day it was asked."""
    parts: list[Html] = [element("h2", view.title)]
    if answer.sentence:
        parts.append(element("p", answer.sentence))
    for chart in answer.charts:
        if chart.picture:
            # Colours are written into the picture: the file has no style sheet of ours.
            parts.append(
                element("figure", Html(drawing(chart.picture)), element("figcaption", chart.name))
            )
    for table in answer.tables:
        if table.title:
            parts.append(element("h3", table.title))
        parts.append(_table(table, answer.caption))
    if answer.more:
        parts.append(element("p", f"{answer.more} more rows are not shown.", class_="soft"))
    if view.day:
        parts.append(element("p", f"Asked {view.day}.", class_="soft"))
    return element("section", *parts)


def _table(table: AnswerSet, caption: str) -> Html:
    """Return a table with each error beside its value."""
    names = []
    for column in table.columns:
        kind = "number" if column.noisy else "key"
        names.append(element("th", column.name, scope="col", class_=kind))
    rows = []
    for row in table.rows:
        cells = []
        for cell in row.cells:
            kind = "number" if cell.noisy else "key"
            error = element("span", f" {cell.error}", class_="error") if cell.error else ""
            cells.append(element("td", cell.value, error, class_=kind))
        rows.append(element("tr", *cells))
    return element(
        "table",
        element("caption", caption),
        element("thead", element("tr", *names)),
        element("tbody", *rows),
    )
