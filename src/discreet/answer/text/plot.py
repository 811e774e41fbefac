"""A picture of an answer: a line with a band along an ordered key, else bars with whiskers; two keys in small pictures.

Every group is drawn, or a word on the picture says how many are not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...errors import InvalidArgument
from ...frozen import frozen
from ...optional import load
from ..export import plain
from .display_facts import ordered_keys

if TYPE_CHECKING:
    import matplotlib.axes

    from ..answer import Answer, Interval

MOST_LABELS, FEW_LABELS, MOST_BARS, MOST_PARTS = 40, 12, 300, 12
"""So many bars are named, so many in a small picture; so many are drawn, and so many small pictures are."""
FEWEST = 3
"""A line has at least so many points."""


@frozen
class _Mark:
    """One value with its interval, and the keys it belongs to."""

    keys: tuple[object, ...]
    value: float | None
    ends: tuple[float, float] | None


@frozen
class _Drawing:
    """What is drawn: the column, the names of the keys, those with an order, the level, and a title."""

    column: str
    keys: tuple[str, ...]
    ordered: frozenset[str]
    level: float
    title: str


def plot(
    answer: Answer, column: str | None = None, level: float = 0.95, title: str | None = None
) -> matplotlib.axes.Axes:
    """Draw a column of numbers against the exact columns, which name the rows; by default the first noisy one.

    It is a figure of pyplot, so a notebook shows it; `plt.close` it where many are drawn. Of small multiples the first
    axes are returned: `axes.get_figure()` has all.

    Refuses a column that is not there or that holds no numbers.
    """
    plt = load("matplotlib.pyplot", "plot")
    sorts = dict(zip(answer.columns, answer.sorts, strict=True))
    numbers = [name for name in answer.noisy if sorts[name] == "number"]
    name = next(iter(numbers), None) if column is None else column
    if name is None or name not in numbers:
        raise InvalidArgument(
            f"there is no such column of noisy numbers; there are {', '.join(numbers) or 'none'}"
        )
    keys = tuple(one for one in answer.columns if one not in answer.noisy)
    ordered = frozenset() if answer.candidates else ordered_keys(answer.plan.question)
    said = title or (f"{name} by {', '.join(keys)}" if keys else name)
    drawing = _Drawing(name, keys, ordered, level, said)
    marks = [
        _mark(answer, place, name, row[name]) for place, row in enumerate(answer.interval(level))
    ]
    return _multiples(plt, drawing, marks) if len(keys) == 2 else _alone(plt, drawing, marks)


def _mark(answer: Answer, place: int, name: str, ends: Interval) -> _Mark:
    row = zip(answer.columns, answer.sorts, answer.rows[place], strict=True)
    values = {column: plain(value, sort) for column, sort, value in row}
    value = values[name]
    keys = tuple(one for column, one in values.items() if column not in answer.noisy)
    low, high = ends or (None, None)
    known = isinstance(low, int | float) and isinstance(high, int | float)
    box = (float(low), float(high)) if known else None  # type: ignore[arg-type]
    return _Mark(keys, value if isinstance(value, float) and math.isfinite(value) else None, box)


def _alone(plt: Any, drawing: _Drawing, marks: Sequence[_Mark]) -> matplotlib.axes.Axes:  # noqa: ANN401
    wide = (
        7.0
        if _is_line(drawing.keys, drawing, marks)
        else max(4.0, min(12.0, 1.5 + 0.6 * len(marks)))
    )
    axes: matplotlib.axes.Axes = plt.subplots(layout="constrained", figsize=(wide, 3.6))[1]
    left = _draw(axes, drawing.keys, drawing, marks)
    axes.set_title(drawing.title, loc="left")
    axes.set_title(
        "; ".join([f"{100 * drawing.level:g} % intervals", *left]), loc="right", fontsize="small"
    )
    axes.set_ylabel(drawing.column)
    return axes


def _multiples(plt: Any, drawing: _Drawing, marks: Sequence[_Mark]) -> matplotlib.axes.Axes:  # noqa: ANN401
    """Draw one small picture for each value of the key with fewer of them, all to one scale."""
    values = [list(dict.fromkeys(mark.keys[place] for mark in marks)) for place in (0, 1)]
    apart = min(
        (0, 1), key=lambda place: (drawing.keys[place] in drawing.ordered, len(values[place]))
    )
    parts = values[apart][:MOST_PARTS]
    if len(values[apart]) < 2 or len(marks) <= len(values[apart]):
        return _alone(plt, drawing, marks)
    across = min(3, len(parts))
    down = -(-len(parts) // across)
    figure, grid = plt.subplots(
        down,
        across,
        sharex=True,
        sharey=True,
        squeeze=False,
        layout="constrained",
        figsize=(3.4 * across, 2.6 * down),
    )
    for axes in grid.flat[len(parts) :]:
        axes.set_visible(False)
    key, left = drawing.keys[1 - apart], list[str]()
    for axes, part in zip(grid.flat, parts, strict=False):
        some = [
            _Mark((mark.keys[1 - apart],), mark.value, mark.ends)
            for mark in marks
            if mark.keys[apart] == part
        ]
        left += _draw(axes, (key,), drawing, some, FEW_LABELS)
        axes.set_title(f"{drawing.keys[apart]} = {_word(part)}", fontsize="medium")
        axes.set_ylabel(drawing.column if axes in grid[:, 0] else "")
    if len(parts) < len(values[apart]):
        left.append(f"{len(parts)} of {len(values[apart]):,} values of {drawing.keys[apart]} drawn")
    words = "; ".join([f"{100 * drawing.level:g} % intervals", *dict.fromkeys(left)])
    figure.suptitle(f"{drawing.title} ({words})")
    first: matplotlib.axes.Axes = grid[0, 0]
    return first


def _is_line(keys: Sequence[str], drawing: _Drawing, marks: Sequence[_Mark]) -> bool:
    placed = sum(mark.keys[:1] not in {(), (None,)} for mark in marks)
    return len(keys) == 1 and keys[0] in drawing.ordered and placed >= FEWEST


def _draw(
    axes: matplotlib.axes.Axes,
    keys: Sequence[str],
    drawing: _Drawing,
    marks: Sequence[_Mark],
    labels: int = MOST_LABELS,
) -> list[str]:
    """Draw values along their key; return words on what is left out."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel(", ".join(keys))
    return _line(axes, marks) if _is_line(keys, drawing, marks) else _bars(axes, marks, labels)


def _line(axes: matplotlib.axes.Axes, marks: Sequence[_Mark]) -> list[str]:
    """Draw a line through the values in the order of their key, and their intervals as a band."""
    placed: list[Any] = sorted(
        (m for m in marks if m.keys[0] is not None), key=lambda one: one.keys[0]
    )
    at = [mark.keys[0] for mark in placed]
    lows, highs = (
        [math.nan if mark.ends is None else mark.ends[side] for mark in placed] for side in (0, 1)
    )
    axes.fill_between(at, lows, highs, color="C0", alpha=0.25, linewidth=0)
    values = [math.nan if mark.value is None else mark.value for mark in placed]
    axes.plot(
        at,
        values,
        color="C0",
        linewidth=1.4,
        marker="o" if len(placed) <= MOST_LABELS else "",
        markersize=3,
    )
    if not isinstance(at[0], int | float):
        axes.tick_params(axis="x", labelrotation=30)
    return (
        [f"{len(marks) - len(placed)} group without a place on the axis"]
        if len(placed) < len(marks)
        else []
    )


def _bars(axes: matplotlib.axes.Axes, marks: Sequence[_Mark], most: int) -> list[str]:
    """Draw a bar up to each value, and its interval with caps on top of it."""
    drawn = marks[:MOST_BARS]
    known = [(place, mark.value) for place, mark in enumerate(drawn) if mark.value is not None]
    boxes = [(place, *mark.ends) for place, mark in enumerate(drawn) if mark.ends is not None]
    places, values = [place for place, _ in known], [value for _, value in known]
    axes.bar(places, values, width=0.7, color="C0", alpha=0.3)
    axes.plot(places, values, "o", color="C0", markersize=4)
    middles, halves = (
        [(low + high) / 2 for _, low, high in boxes],
        [(high - low) / 2 for _, low, high in boxes],
    )
    axes.errorbar(
        [place for place, *_ in boxes], middles, yerr=halves, fmt="none", ecolor="C0", capsize=4
    )
    labels = [", ".join(map(_word, mark.keys)) for mark in drawn]
    every = max(1, -(-len(labels) // most))
    turned = max(map(len, labels), default=0) * len(labels[::every]) > 60 * most // MOST_LABELS
    axes.set_xticks(range(0, len(labels), every), labels[::every], rotation=45 if turned else 0)
    axes.set_xlim(-0.6, len(labels) - 0.4)
    return [f"{len(drawn)} of {len(marks):,} groups drawn"] if len(drawn) < len(marks) else []


def _word(key: object) -> str:
    if key is None:
        return "NULL"
    return f"{key:.15g}" if isinstance(key, float) else str(key)
