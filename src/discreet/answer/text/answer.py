"""How an answer shows itself: a table with ± in the terminal, and with error bars in a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING

from ...query.domains.type_of import ValueType
from ...query.meaning.finish import Value
from ..export import plain

if TYPE_CHECKING:
    from ..answer import Answer, Interval

__all__ = ["answer_html", "answer_text", "bar", "cell"]

WIDE = 24


def cell(value: Value, interval: Interval, sort: ValueType | None) -> str:
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


def _word(value: Value, sort: ValueType | None) -> str:
    shown = plain(value, sort)
    if shown is None:
        return "NULL"
    return f"{shown:.6g}" if isinstance(shown, float) else str(shown)


def bar(interval: tuple[float, float], value: float, span: tuple[float, float], width: int = WIDE) -> str:
    """Draw an interval to scale, the value as a dot.

    >>> from discreet.answer.text.answer import bar
    >>> bar((2.0, 6.0), 4.0, (0.0, 8.0), width=9)
    '  ├─●─┤  '
    """
    scale = (width - 1) / ((span[1] - span[0]) or 1.0)
    low, dot, high = (min(width - 1, max(0, round((x - span[0]) * scale))) for x in (interval[0], value, interval[1]))
    line = [" "] * width
    line[low : high + 1] = ["─"] * (high - low + 1)
    line[low], line[high] = "├", "┤"
    line[dot] = "●"
    return "".join(line)


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
    wide = [max(map(len, column)) for column in columns]
    lines = ["  ".join(word.ljust(w) for word, w in zip(row, wide, strict=True)) for row in zip(*columns, strict=True)]
    return "\n".join([*(line.rstrip() for line in lines), *([_below(answer)] if _below(answer) else [])])


def _drawn(one: tuple[float, float, float] | None, span: tuple[float, float]) -> str:
    return "" if one is None else bar(one[1:], one[0], span)


def answer_html(answer: Answer) -> str:
    """Write the table for a notebook, numbers with an error bar each."""
    intervals = _intervals(answer)
    head = "".join(f"<th>{escape(name)}</th>" for name in answer.columns)
    bars = {name: _bars(answer, name) for name in answer.noisy}
    body = []
    for place, row in enumerate(answer.rows):
        cells = []
        for name, sort, value in zip(answer.columns, answer.sorts, row, strict=True):
            one = bars.get(name, [None] * len(answer))[place]
            picture = "" if one is None else _svg(one, _span(bars[name]))
            cells.append(f"<td>{escape(cell(value, intervals[place].get(name), sort))}{picture}</td>")
        body.append(f"<tr>{''.join(cells)}</tr>")
    below = f"<caption style='caption-side:bottom'>{escape(_below(answer))}</caption>" if _below(answer) else ""
    return f"<table>{below}<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def _svg(one: tuple[float, float, float], span: tuple[float, float]) -> str:
    scale = 116 / ((span[1] - span[0]) or 1.0)
    dot, low, high = (2 + (x - span[0]) * scale for x in one)
    line = f'<line x1="{low:.1f}" x2="{high:.1f}" y1="6" y2="6" stroke="currentColor"/>'
    mark = f'<circle cx="{dot:.1f}" cy="6" r="2.5" fill="currentColor"/>'
    return f'<br><svg width="120" height="12" role="img">{line}{mark}</svg>'
