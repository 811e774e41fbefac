"""An answer as a chart: a dot for each value, a bar for where the exact value lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....show.markup import Html
from ....show.scale import ChartScale, linear
from ....show.table import cut
from .chart import WIDTH, ChartFrame, along, circle, label, path, picture

__all__ = ["Bar", "answer_chart"]

MOST, ROOM = 40, 22


@dataclass(frozen=True, slots=True)
class Bar:
    """One value with its interval, and the key it belongs to."""

    key: str
    value: float
    low: float
    high: float


def answer_chart(name: str, bars: Sequence[Bar], level: float) -> Html:
    """Draw the first forty values of one column below each other."""
    drawn = bars[:MOST]
    bottom = ROOM * len(drawn) + 14
    wide = min(120, max(30, 12 + 6.4 * max(len(cut(bar.key, 16)) for bar in drawn)))
    x = linear(min(bar.low for bar in drawn), max(bar.high for bar in drawn), wide, WIDTH - 14)
    frame = ChartFrame(x, ChartScale(0, len(drawn), 8, bottom - 6))
    parts = [path(frame, [(v, 0), (v, len(drawn))], "grid") for v in x.ticks(4)]
    for place, bar in enumerate(drawn):
        at = place + 0.5
        parts += [
            label(frame, (x.low, at), cut(bar.key, 16), kind="row-name", anchor="end", dx=-8, dy=4),
            path(frame, [(bar.low, at), (bar.high, at)], "bar"),
            *(path(frame, [(end, at - 0.22), (end, at + 0.22)], "cap") for end in (bar.low, bar.high)),
            circle(frame, (bar.value, at), "dot", 3.5),
        ]
    parts.append(along(x, bottom, ticks=4))
    words = f"{len(drawn)} values of {name} with bars that hold with {100 * level:g} % each."
    return picture(name, words, parts, height=bottom + 24, kind="answer")
