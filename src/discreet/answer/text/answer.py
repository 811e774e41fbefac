"""How an answer shows itself: a table with ± in the terminal, and with error bars in a notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from ...plan.plan import Plan
from ...query.domains.type_of import ValueType
from ...show.bar import error_bar
from ...show.markup import Html, element, join
from ...show.scale import ChartScale
from ...show.table import html_table, text_table
from ..export import plain

if TYPE_CHECKING:
    from ..answer import Answer, Interval

__all__ = ["answer_html", "answer_text", "cell"]

Ends: TypeAlias = tuple[float, float]


def cell(value: object, interval: Interval, sort: ValueType | None) -> str:
    """Write one noisy value with how far off it may be, or with the ends of its interval.

    >>> from discreet.answer.text.answer import cell
    >>> cell(1234.5, (1200.0, 1260.0), "number"), cell(None, (0.0, 120.0), "number"), cell(3.0, None, "number")
    ('1234.5 ± 34.5', 'NULL (0 to 120)', '3')
    """
    if interval is None:
        return _word(value, sort)
    low, high = interval
    if isinstance(value, float) and isinstance(low, float) and isinstance(high, float):
        return f"{_word(value, sort)} ± {_word(max(value - low, high - value), sort)}"
    return f"{_word(value, sort)} ({_word(low, sort)} to {_word(high, sort)})"


def _word(value: object, sort: ValueType | None) -> str:
    shown = plain(value, sort)
    if shown is None:
        return "NULL"
    return f"{shown:.6g}" if isinstance(shown, float) else str(shown)


def _intervals(answer: Answer) -> tuple[dict[str, Interval], ...]:
    """Return the intervals that are shown: at the level that was asked for."""
    return answer.interval(float(answer.plan.level))


def _below(answer: Answer) -> str:
    """Return what stands below the table: the caption, the level if it is not the usual one, how rows were picked."""
    level = answer.plan.level
    said = "" if level == Fraction(95, 100) or not answer.noisy else f"intervals at level {float(level):g}"
    if answer.candidates:
        keys = "1 key" if answer.candidates == 1 else f"{answer.candidates:,} keys"
        picked = f"rows were picked by noisy values: intervals hold at once for all {keys} they were picked from"
        said = f"{said}; {picked}" if said else picked
    return "; ".join(part for part in (answer.caption, said, _beyond_plan(answer)) if part)


def _beyond_plan(answer: Answer) -> str:
    """Return a word on intervals that are wider than was predicted for a number of rows that somebody vouched for."""
    plan = answer.plan
    if not isinstance(plan, Plan) or answer.candidates or plan.size_from == "assumed":
        return ""
    intervals, errors = _intervals(answer), plan.statistic_errors()
    wide = [name for name in plan.supposing if any(_half(row.get(name)) > 1.5 * errors[name] for row in intervals)]
    return f"{', '.join(wide)} wider than planned, which supposed {plan.supposed}" if wide else ""


def _half(ends: Interval) -> float:
    """Return half the width of an interval of floats; 0 where there is none."""
    low, high = ends or (None, None)
    return (high - low) / 2 if isinstance(low, float) and isinstance(high, float) else 0.0


def _words(answer: Answer) -> Iterator[tuple[str, list[str]]]:
    """List the columns by name, their values in words."""
    intervals = _intervals(answer)
    for name, sort in zip(answer.columns, answer.sorts, strict=True):
        ends = (row.get(name) for row in intervals)
        yield name, [cell(value, box, sort) for value, box in zip(answer.column(name), ends, strict=True)]


def _bars(answer: Answer, name: str, draw: Callable[[Sequence[float], Ends], str]) -> list[str]:
    """Draw value and interval of every row of a column of numbers, all to one scale; nothing where there are none."""
    ends = (row[name] or () for row in _intervals(answer))
    boxes = [(value, *box) for value, box in zip(answer.column(name), ends, strict=True)]
    known = [[x for x in box if isinstance(x, float)] for box in boxes]
    whole = [bar for bar in known if len(bar) == 3]
    span = min((bar[1] for bar in whole), default=0.0), max((bar[2] for bar in whole), default=0.0)
    return [draw(bar, span) if len(bar) == 3 else "" for bar in known]


def answer_text(answer: Answer) -> str:
    """Lay the table out in columns; one column of numbers is drawn with bars below each other."""
    columns: list[list[str]] = []
    for name, words in _words(answer):
        columns.append([name, *words])
        if name == next(iter(answer.noisy), None) and len(answer) > 1:
            bars = _bars(answer, name, lambda bar, span: error_bar((bar[1], bar[2]), bar[0], span))
            columns += [["", *bars]] if any(bars) else []
    table, below = text_table(list(zip(*columns, strict=True))), _below(answer)
    return f"{table}\n{below}" if below else table


def answer_html(answer: Answer) -> Html:
    """Write the table for a notebook, numbers with an error bar each."""
    columns = [
        map(join, zip(words, _bars(answer, name, _svg), strict=True)) if name in answer.noisy else words
        for name, words in _words(answer)
    ]
    return html_table(answer.columns, zip(*columns, strict=True), caption=_below(answer), side="bottom")


def _svg(bar: Sequence[float], span: Ends) -> Html:
    x = ChartScale(*span, 2, 118)
    dot, low, high = map(x.place, bar)
    line = element("line", x1=low, x2=high, y1=6, y2=6, stroke="currentColor")
    mark = element("circle", cx=dot, cy=6, r=2.5, fill="currentColor")
    return join([element("br"), element("svg", line, mark, width=120, height=12, role="img")])
