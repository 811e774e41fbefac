"""Chart of an answer: a line with a band along an ordered key, else a dot with a bar for each group.

A note below the picture states the groups that are not drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ....frozen import frozen
from ....show.markup import Html
from ....show.scale import ChartScale, linear
from ....show.table import truncate
from .chart import HEIGHT, WIDTH, ChartFrame, along, axes, band, circle, label, path, paths, picture

MOST, ROOM = 40, 22
FEWEST = 3
"""A line has at least so many points."""


@frozen
class Bar:
    """One value with its interval, the key it belongs to, and where that stands on an axis, if it has an order."""

    key: str
    value: float
    low: float
    high: float
    at: float | None = None

    @classmethod
    def of(
        cls, key: object, words: str, numbers: tuple[float, float, float], *, ordered: bool
    ) -> Bar:
        """Place a value: numbers and times in ISO form have an order."""
        return cls(words, *numbers, _place(key) if ordered else None)


def _place(key: object) -> float | None:
    if isinstance(key, str):
        return datetime.fromisoformat(
            f"{key}+00:00" if "T" in key else f"{key}T00:00+00:00"
        ).timestamp()
    return float(key) if isinstance(key, int | float) and not isinstance(key, bool) else None


def drawn_words(bars: Sequence[Bar], most: int = MOST) -> str:
    """Say what a chart of these values leaves out; nothing if it draws them all.

    >>> from discreet.service.pages.charts.answer import Bar, drawn_words
    >>> drawn_words([Bar(str(k), 1, 0, 2) for k in range(121)])
    '40 of 121 groups are drawn; the table has all of them'
    """
    if _line(bars):
        left = sum(bar.at is None for bar in bars)
        return (
            f"{left} of {len(bars):,} groups have no place on the axis: see the table"
            if left
            else ""
        )
    return (
        f"{most} of {len(bars):,} groups are drawn; the table has all of them"
        if len(bars) > most
        else ""
    )


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
    """Draw one column: along the key named `axis` if it has an order, else below each other; `span` is shared."""
    ends = span or (min(bar.low for bar in bars), max(bar.high for bar in bars))
    return (
        line_chart(name, bars, level, axis, ends)
        if _line(bars)
        else _rows(name, bars[:most], level, ends)
    )


def line_chart(
    name: str, bars: Sequence[Bar], level: float, axis: str, span: tuple[float, float]
) -> Html:
    """Draw values along an axis as a line, their intervals as a band."""
    points = sorted(((bar.at, bar) for bar in bars if bar.at is not None), key=lambda one: one[0])
    first, last = points[0], points[-1]
    x, y = ChartScale(first[0], last[0], 56, WIDTH - 14), linear(*span, HEIGHT - 44, 24)
    frame = ChartFrame(x, y)
    timed = not _is_number(first[1].key)
    parts = [
        axes(
            ChartFrame(ChartScale(0, 1, x.start, x.end) if timed else x, y),
            axis,
            name,
            x_ticks=0 if timed else 6,
        ),
        band(frame, [(at, bar.low) for at, bar in points], [(at, bar.high) for at, bar in points]),
        path(frame, [(at, bar.value) for at, bar in points]),
    ]
    if timed:
        middle = points[len(points) // 2]
        ends = ((first, "start"), (middle, "middle"), (last, "end"))
        parts += [
            label(frame, (p[0], y.low), p[1].key, kind="tick", anchor=side, dy=17)
            for p, side in ends
        ]
    words = f"{len(points)} values of {name} along {axis}, in a band whose points hold with {100 * level:g} % each."
    return picture(name, words, parts, kind="answer")


def _is_number(text: str) -> bool:
    return text.lstrip("-−").replace(".", "", 1).isdigit()


def _rows(name: str, drawn: Sequence[Bar], level: float, span: tuple[float, float]) -> Html:
    """Draw values below each other; a path for all bars and one for all their ends, since there may be hundreds."""
    bottom = ROOM * len(drawn) + 14
    wide = min(120, max(30, 12 + 6.4 * max(len(truncate(bar.key, 16)) for bar in drawn)))
    x = linear(*span, wide, WIDTH - 14)
    frame = ChartFrame(x, ChartScale(0, len(drawn), 8, bottom - 6))
    placed = [(place + 0.5, bar) for place, bar in enumerate(drawn)]
    ends = [(end, at) for at, bar in placed for end in (bar.low, bar.high)]
    parts = [path(frame, [(v, 0), (v, len(drawn))], "grid") for v in x.ticks(4)]
    parts += [
        paths(frame, [[(bar.low, at), (bar.high, at)] for at, bar in placed], "bar"),
        paths(frame, [[(end, at - 0.22), (end, at + 0.22)] for end, at in ends], "cap"),
    ]
    for at, bar in placed:
        parts += [
            label(
                frame,
                (x.low, at),
                truncate(bar.key, 16),
                kind="row-name",
                anchor="end",
                dx=-8,
                dy=4,
            ),
            circle(frame, (bar.value, at), "dot", 3.5),
        ]
    parts.append(along(x, bottom, name, ticks=4))
    words = f"{len(drawn)} values of {name} with bars that hold with {100 * level:g} % each."
    return picture(name, words, parts, height=bottom + 40, kind="answer")
