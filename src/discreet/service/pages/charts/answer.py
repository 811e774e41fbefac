"""Chart of an answer: a line with a band along an ordered key, else a dot with a bar for each group.

A note below the picture states the groups that are not drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby

from ....frozen import frozen
from ....show.markup import Html
from ....show.scale import ChartScale, linear
from ....show.table import truncate
from .chart import (
    HEIGHT,
    WIDTH,
    ChartFrame,
    along,
    axes,
    bands,
    circle,
    label,
    path,
    paths,
    picture,
)

MOST = 40
"""Groups that are drawn below each other, unless all are asked for."""

ROW_HEIGHT = 22
FEWEST = 3
"""A line has at least so many points."""


@frozen
class Bar:
    """One value with its interval and key; `at` is the key's position on an axis, if it has an order.

    `faint`: noise hides the value, so it says nothing.
    """

    key: str
    value: float
    low: float
    high: float
    at: float | None = None
    faint: bool = False

    @classmethod
    def of(
        cls,
        key: object,
        words: str,
        numbers: tuple[float, float, float],
        *,
        ordered: bool,
        faint: bool = False,
    ) -> Bar:
        """Make a bar of value and interval ends (`numbers`), with `words` for its key.

        If `ordered`, a number or a time in ISO form as key has a place on the axis.
        """
        at = _place(key) if ordered else None
        return cls(words, *numbers, at, faint)


def _place(key: object) -> float | None:
    """Return the position of a key on an axis: its number, or seconds since 1970; else None."""
    if isinstance(key, str):
        moment = key if "T" in key else f"{key}T00:00"
        return datetime.fromisoformat(f"{moment}+00:00").timestamp()
    if isinstance(key, int | float) and not isinstance(key, bool):
        return float(key)
    return None


def drawn_words(bars: Sequence[Bar], most: int = MOST) -> str:
    """Return the note on groups that a chart leaves out; "" if it draws them all.

    >>> from discreet.service.pages.charts.answer import Bar, drawn_words
    >>> drawn_words([Bar(str(k), 1, 0, 2) for k in range(121)])
    '40 of 121 groups are drawn; the table has all of them'
    """
    if _line(bars):
        left = sum(bar.at is None for bar in bars)
        hidden = sum(bar.faint for bar in bars)
        if hidden and not left:
            return f"Gaps: noise hides {hidden} of {len(bars):,} values"
        if left:
            return f"{left} of {len(bars):,} groups have no place on the axis: see the table"
    elif len(bars) > most:
        return f"{most} of {len(bars):,} groups are drawn; the table has all of them"
    return ""


def _line(bars: Sequence[Bar]) -> bool:
    return sum(bar.at is not None for bar in bars) >= FEWEST


def answer_chart(
    name: str,
    bars: Sequence[Bar],
    level: float,
    axis: str = "",
    span: tuple[float, float] | None = None,
    *,
    most: int = MOST,
) -> Html:
    """Draw one column: along the key named `axis` if it has an order, else groups below each other.

    `span` has the ends of the value axis, where several charts share one. `most` groups are drawn
    below each other.
    """
    ends = span or value_span(bars)
    if _line(bars):
        return line_chart(name, bars, level, axis, ends)
    return _rows(name, bars[:most], level, ends)


def value_span(bars: Sequence[Bar]) -> tuple[float, float]:
    """Return the ends of the value axis: of the bars that say something, if there are any."""
    telling = [bar for bar in bars if not bar.faint] or bars
    return min(bar.low for bar in telling), max(bar.high for bar in telling)


def line_chart(
    name: str, bars: Sequence[Bar], level: float, axis: str, span: tuple[float, float]
) -> Html:
    """Draw values along an axis as a line, their intervals as a band."""
    points = sorted(((bar.at, bar) for bar in bars if bar.at is not None), key=lambda one: one[0])
    first, last = points[0], points[-1]
    x = ChartScale(first[0], last[0], 56, WIDTH - 14)
    y = linear(*span, HEIGHT - 44, 24)
    frame = ChartFrame(x, y)
    timed = not _is_number(first[1].key)
    # Times are named at three points below; their seconds since 1970 are no ticks to show.
    parts = [axes(frame, axis, name, x_ticks=0 if timed else 6)]
    runs = _runs(points)
    ends = [
        ([(at, bar.low) for at, bar in run], [(at, bar.high) for at, bar in run]) for run in runs
    ]
    parts.append(bands(frame, ends))
    parts.append(paths(frame, [[(at, bar.value) for at, bar in run] for run in runs]))
    # A point between two gaps has no line, so it is drawn as a dot with a bar.
    for run, (lows, highs) in zip(runs, ends, strict=True):
        if len(run) == 1:
            parts.append(path(frame, [*lows, *highs], "bar"))
            parts.append(circle(frame, (run[0][0], run[0][1].value), "dot", 2.5))
    if timed:
        middle = points[len(points) // 2]
        for (at, bar), side in ((first, "start"), (middle, "middle"), (last, "end")):
            parts.append(label(frame, (at, y.low), bar.key, kind="tick", anchor=side, dy=17))
    words = (
        f"{len(points)} values of {name} along {axis}, "
        f"in a band whose points hold with {100 * level:g} % each."
    )
    hidden = len(points) - sum(map(len, runs))
    if hidden:
        words += f" {hidden} of them say nothing and are left out."
    return picture(name, words, parts, kind="answer")


def _runs(points: Sequence[tuple[float, Bar]]) -> list[list[tuple[float, Bar]]]:
    """Cut a line where noise hides a point: it would join what is known through pure noise."""
    runs = []
    for hidden, run in groupby(points, key=lambda point: point[1].faint):
        if not hidden:
            runs.append(list(run))
    return runs


def _is_number(text: str) -> bool:
    return text.lstrip("-−").replace(".", "", 1).isdigit()


def _rows(name: str, drawn: Sequence[Bar], level: float, span: tuple[float, float]) -> Html:
    """Draw values below each other, a row for each group."""
    bottom = ROW_HEIGHT * len(drawn) + 14
    names = [truncate(bar.key, 16) for bar in drawn]
    widest = 12 + 6.4 * max(map(len, names))
    left = min(120, max(30, widest))
    x = linear(*span, left, WIDTH - 14)
    frame = ChartFrame(x, ChartScale(0, len(drawn), 8, bottom - 6))
    bars = []
    caps = []
    dots = []
    for place, (row_name, bar) in enumerate(zip(names, drawn, strict=True)):
        at = place + 0.5
        bars.append([(bar.low, at), (bar.high, at)])
        for end in (bar.low, bar.high):
            caps.append([(end, at - 0.22), (end, at + 0.22)])
        dots.append(label(frame, (x.low, at), row_name, kind="row-name", anchor="end", dx=-8, dy=4))
        dots.append(circle(frame, (bar.value, at), "dot", 3.5))
    # One element for all bars and one for all their ends: there may be hundreds of groups.
    parts = [
        *(path(frame, [(tick, 0), (tick, len(drawn))], "grid") for tick in x.ticks(4)),
        paths(frame, bars, "bar"),
        paths(frame, caps, "cap"),
        *dots,
        along(x, bottom, name, ticks=4),
    ]
    words = f"{len(drawn)} values of {name} with bars that hold with {100 * level:g} % each."
    return picture(name, words, parts, height=bottom + 40, kind="answer")
