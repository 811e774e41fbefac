"""How an answer shows itself: a table with ± in the terminal, and with error bars in a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from ...query.domains.type_of import ValueType
from ...query.meaning.finish import Value
from ...show.bar import error_bar
from ...show.element import Html, element, join
from ...show.scale import ChartScale
from ...show.table import html_table, text_table
from ..export import plain

if TYPE_CHECKING:
    from ..answer import Answer, Interval

__all__ = ["answer_html", "answer_text", "cell"]


def cell(value: Value, interval: Interval, sort: ValueType | None) -> str:
    """Write one noisy value with how far off it may be, or with the ends of its interval.

    >>> cell(1234.5, (1200.0, 1260.0), "number"), cell(None, (0.0, 120.0), "number"), cell(3.0, None, "number")
    ('1234.5 ± 34.5', 'NULL (0 to 120)', '3')
    """
    if interval is None:
        return _word(value, sort)
    low, high = interval
    if isinstance(value, float) and isinstance(low, float) and isinstance(high, float):
        return f"{_word(value, sort)} ± {_word(max(value - low, high - value), sort)}"
    return f"{_word(value, sort)} ({_word(low, sort)} to {_word(high, sort)})"


def _word(value: Value, sort: ValueType | None) -> str:
    shown = plain(value, sort)
    if shown is None:
        return "NULL"
    return f"{shown:.6g}" if isinstance(shown, float) else str(shown)


def _intervals(answer: Answer) -> tuple[dict[str, Interval], ...]:
    """Return the intervals that are shown: at the level that was asked for."""
    return answer.interval(float(answer.plan.level))


def _below(answer: Answer) -> str:
    """Return what stands below the table: the caption, and the level if it is not the usual one."""
    level = answer.plan.level
    said = "" if level == Fraction(95, 100) or not answer.noisy else f"intervals at level {float(level):g}"
    return "; ".join(part for part in (answer.caption, said) if part)


def _bars(answer: Answer, name: str) -> list[tuple[float, float, float] | None]:
    """List value and interval of a column of numbers."""
    found: list[tuple[float, float, float] | None] = []
    for value, row in zip(answer.column(name), _intervals(answer), strict=True):
        box = row[name]
        if isinstance(value, float) and box is not None and isinstance(box[0], float) and isinstance(box[1], float):
            found.append((value, box[0], box[1]))
        else:
            found.append(None)
    return found


def _span(bars: Sequence[tuple[float, float, float] | None]) -> tuple[float, float]:
    known = [one for one in bars if one is not None]
    return min(one[1] for one in known), max(one[2] for one in known)


def answer_text(answer: Answer) -> str:
    """Lay the table out in columns; one column of numbers is drawn with bars below each other."""
    intervals = _intervals(answer)
    columns: list[list[str]] = []
    for name, sort in zip(answer.columns, answer.sorts, strict=True):
        ends = [row.get(name) for row in intervals]
        words = [cell(value, box, sort) for value, box in zip(answer.column(name), ends, strict=True)]
        columns.append([name, *words])
        if name == next(iter(answer.noisy), None) and len(answer) > 1:
            bars = _bars(answer, name)
            if any(bars):
                columns.append(["", *(_drawn(one, _span(bars)) for one in bars)])
    table = text_table(list(zip(*columns, strict=True)))
    return f"{table}\n{_below(answer)}" if _below(answer) else table


def _drawn(one: tuple[float, float, float] | None, span: tuple[float, float]) -> str:
    return "" if one is None else error_bar(one[1:], one[0], span)


def answer_html(answer: Answer) -> Html:
    """Write the table for a notebook, numbers with an error bar each."""
    intervals = _intervals(answer)
    bars = {name: _bars(answer, name) for name in answer.noisy}
    body = []
    for place, row in enumerate(answer.rows):
        cells = []
        for name, sort, value in zip(answer.columns, answer.sorts, row, strict=True):
            one = bars.get(name, [None] * len(answer))[place]
            words = cell(value, intervals[place].get(name), sort)
            cells.append(words if one is None else join([words, _svg(one, _span(bars[name]))]))
        body.append(cells)
    return html_table(answer.columns, body, caption=_below(answer), side="bottom")


def _svg(one: tuple[float, float, float], span: tuple[float, float]) -> Html:
    x = ChartScale(*span, 2, 118)
    dot, low, high = map(x.place, one)
    line = element("line", x1=low, x2=high, y1=6, y2=6, stroke="currentColor")
    mark = element("circle", cx=dot, cy=6, r=2.5, fill="currentColor")
    return join([element("br"), element("svg", line, mark, width=120, height=12, role="img")])
