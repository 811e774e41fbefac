"""An answer as the page shows it, made from the reply that programs get too: a table with ±, and charts with bars."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...privacy.events.json import measure_from_json
from ...show.markup import Html
from ...wire.text import read_json
from .charts.answer import Bar, answer_chart
from .words import error_words, percent, value_words

__all__ = ["AnswerColumn", "AnswerView", "Cell", "Chart", "answer_csv", "answer_view", "cost_of"]

MOST_ROWS, MOST_CHARTS = 200, 4


@dataclass(frozen=True, slots=True)
class Cell:
    """One value in words, and how far off it may be."""

    value: str
    error: str
    noisy: bool


@dataclass(frozen=True, slots=True)
class AnswerColumn:
    """A column's name, and whether its values carry noise."""

    name: str
    noisy: bool


@dataclass(frozen=True, slots=True)
class Chart:
    """The chart of one column."""

    name: str
    picture: Html


@dataclass(frozen=True, slots=True)
class AnswerView:
    """Everything the piece shows; `more` counts the rows that are not, `links` says whether there is a receipt."""

    title: str
    remark: str
    columns: tuple[AnswerColumn, ...]
    rows: tuple[tuple[Cell, ...], ...]
    more: int
    charts: tuple[Chart, ...]
    level: str
    cost: str
    sql: str
    links: bool


def answer_view(reply: Mapping[str, Any], sql: str, *, rehearsal: bool = False) -> AnswerView:
    """Lay out a reply of the verbs `sql` and `rehearse`."""
    level = float(reply["level"])
    columns = tuple(AnswerColumn(one["name"], one["noisy"]) for one in reply["columns"])
    rows = [
        tuple(_cell(*given) for given in zip(columns, row, ends, strict=True))
        for row, ends in zip(reply["rows"], reply["intervals"], strict=True)
    ]
    return AnswerView(
        title="Rehearsal" if rehearsal else "Answer",
        remark="made-up data, nothing was spent" if rehearsal else "",
        columns=columns,
        rows=tuple(rows[:MOST_ROWS]),
        more=max(0, len(rows) - MOST_ROWS),
        charts=tuple(_charts(columns, reply["rows"], reply["intervals"], level)),
        level=percent(level),
        cost="" if rehearsal else cost_of(reply),
        sql=sql,
        links=not rehearsal,
    )


def cost_of(reply: Mapping[str, Any]) -> str:
    """Return what the receipt says it cost; nothing if there is none."""
    receipt = reply.get("receipt")
    return "" if receipt is None else str(measure_from_json(_receipt(receipt)["price"]))


def _receipt(text: str) -> dict[str, Any]:
    found = read_json(text.encode())
    return found if isinstance(found, dict) else {}


def _cell(column: AnswerColumn, value: object, ends: Sequence[object] | None) -> Cell:
    if not column.noisy or ends is None:
        return Cell(value_words(value), "", column.noisy)
    low, high = ends
    numbers = [one for one in (value, low, high) if isinstance(one, int | float) and not isinstance(one, bool)]
    if len(numbers) == 3:
        return Cell(value_words(value), error_words(max(numbers[0] - numbers[1], numbers[2] - numbers[0])), noisy=True)
    return Cell(value_words(value), f"({value_words(low)} to {value_words(high)})", noisy=True)


def _charts(
    columns: Sequence[AnswerColumn], rows: Sequence[Sequence[Any]], intervals: Sequence[Sequence[Any]], level: float
) -> Iterator[Chart]:
    """Draw the noisy columns of numbers, the first four of them."""
    keys = [", ".join(value_words(v) for v, c in zip(row, columns, strict=True) if not c.noisy) for row in rows]
    drawn = 0
    for place, column in enumerate(columns):
        bars = [
            Bar(key, float(row[place]), float(ends[place][0]), float(ends[place][1]))
            for key, row, ends in zip(keys, rows, intervals, strict=True)
            if ends[place] is not None and all(_number(x) for x in (row[place], *ends[place]))
        ]
        if column.noisy and bars and drawn < MOST_CHARTS:
            drawn += 1
            yield Chart(column.name, answer_chart(column.name, bars, level))


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def answer_csv(reply: Mapping[str, Any]) -> str:
    """Write the table as CSV, every noisy column followed by the ends of its interval; NULL is empty.

    >>> from discreet.service.pages.answer_view import answer_csv
    >>> reply = {"columns": [{"name": "n", "noisy": True}], "rows": [[3.0]], "intervals": [[[1.0, 5.0]]]}
    >>> answer_csv(reply).splitlines()
    ['n,n_low,n_high', '3.0,1.0,5.0']
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    columns = reply["columns"]
    writer.writerow([name for one in columns for name in _names(one)])
    for row, ends in zip(reply["rows"], reply["intervals"], strict=True):
        cells: list[object] = []
        for one, value, box in zip(columns, row, ends, strict=True):
            cells += [_safe(value), *map(_safe, box or ("", ""))] if one["noisy"] else [_safe(value)]
        writer.writerow(cells)
    return text.getvalue()


def _names(column: Mapping[str, Any]) -> tuple[str, ...]:
    name = _safe(column["name"])
    return (name, f"{name}_low", f"{name}_high") if column["noisy"] else (name,)


def _safe(value: Any) -> Any:  # noqa: ANN401 - any value of JSON
    """Keep text from being read as a formula by a spreadsheet."""
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@\t\r" and value else value
