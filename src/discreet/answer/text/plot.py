"""Plot of an answer: a line with a band along an ordered key, else bars with whiskers.

Two keys give small multiples. Every group is drawn, or a note on the plot says how many are not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...errors import InvalidArgument
from ...frozen import frozen
from ...optional import load
from ...plan.asked.terms import DEFAULT_LEVEL
from ...query.text.labels import declared_heads, value_labels
from ..export import plain
from .display_facts import ordered_keys

if TYPE_CHECKING:
    import matplotlib.axes

    from ..answer import Answer, Interval

MAX_LABELS = 40
"""Bars that have a label, at most; more would overlap."""
MAX_PANEL_LABELS = 12
"""Bars that have a label in one panel of small multiples, at most."""
MAX_BARS = 300
"""Bars that are drawn, at most."""
MAX_PANELS = 12
"""Panels of small multiples, at most."""
MIN_LINE_POINTS = 3
"""Points of a line, at least; fewer are drawn as bars."""
_MAX_LABEL_CHARACTERS = 60
"""Characters of all labels together that fit side by side; more are turned."""


@frozen
class _Mark:
    """One value with its interval, and its keys."""

    keys: tuple[object, ...]
    value: float | None
    ends: tuple[float, float] | None


@frozen
class _Drawing:
    """Description of a plot: the column, its keys, those with an order, the level, and a title.

    `heads` has the labels of keys.
    """

    column: str
    keys: tuple[str, ...]
    heads: Mapping[str, str]
    ordered: frozenset[str]
    level: float
    title: str


def plot(
    answer: Answer,
    column: str | None = None,
    level: float = DEFAULT_LEVEL,
    title: str | None = None,
) -> matplotlib.axes.Axes:
    """Draw a column of numbers against the exact columns; by default the first noisy one.

    It is a figure of pyplot, so a notebook shows it; `plt.close` it where many are drawn. Of small
    multiples the first axes are returned: `axes.get_figure()` has all.

    Refuses: with InvalidArgument a column that is not there or that holds no numbers.
    """
    plt = load("matplotlib.pyplot", "plot")
    sorts = dict(zip(answer.columns, answer.sorts, strict=True))
    numbers = [name for name in answer.noisy if sorts[name] == "number"]
    name = column
    if name is None:
        name = next(iter(numbers), None)
    if name is None or name not in numbers:
        if not numbers:
            raise InvalidArgument("this answer has no noisy numbers to draw; print it as a table")
        known = ", ".join(numbers)
        raise InvalidArgument(f"there is no such column of noisy numbers; there are {known}")
    keys = tuple(one for one in answer.columns if one not in answer.noisy)
    ordered: frozenset[str] = frozenset()
    # A line through rows that noise picked would suggest values of the keys between them.
    if not answer.candidates:
        ordered = ordered_keys(answer.question)
    heads = declared_heads(answer.question)
    shown = [heads.get(key, key) for key in keys]
    default_title = f"{name} by {', '.join(shown)}" if keys else name
    drawing = _Drawing(name, keys, heads, ordered, level, title or default_title)
    marks = []
    words = value_labels(answer.question)
    for place, row in enumerate(answer.interval(level, of=answer.target)):
        marks.append(_mark(answer, place, name, row[name], words))
    if len(keys) == 2:
        return _multiples(plt, drawing, marks)
    return _alone(plt, drawing, marks)


def _mark(
    answer: Answer,
    place: int,
    name: str,
    ends: Interval,
    words: Mapping[str, Mapping[object, str]],
) -> _Mark:
    """Return the mark of row number `place`: its keys by their labels, its value, and its interval."""
    values: dict[str, object] = {}
    for column, sort, shown in zip(answer.columns, answer.sorts, answer.rows[place], strict=True):
        known = words.get(column, {})
        values[column] = known.get(shown, plain(shown, sort))
    keys = tuple(one for column, one in values.items() if column not in answer.noisy)
    number = values[name]
    value = number if isinstance(number, float) and math.isfinite(number) else None
    low, high = ends or (None, None)
    box = None
    if isinstance(low, int | float) and isinstance(high, int | float):
        box = (float(low), float(high))
    return _Mark(keys, value, box)


def _alone(plt: Any, drawing: _Drawing, marks: Sequence[_Mark]) -> matplotlib.axes.Axes:  # noqa: ANN401
    """Draw all marks in one panel."""
    # Inches: a line has a fixed width, bars need some for each.
    width = 7.0
    if not _is_line(drawing.keys, drawing, marks):
        width = max(4.0, min(12.0, 1.5 + 0.6 * len(marks)))
    _, made = plt.subplots(layout="constrained", figsize=(width, 3.6))
    axes: matplotlib.axes.Axes = made
    left_out = _draw(axes, drawing.keys, drawing, marks)
    axes.set_title(drawing.title, loc="left")
    axes.set_title(_notes(drawing, left_out), loc="right", fontsize="small")
    axes.set_ylabel(drawing.column)
    return axes


def _notes(drawing: _Drawing, left_out: Sequence[str]) -> str:
    """Return the confidence level, and notes on the marks that were left out, each once."""
    return "; ".join([f"{100 * drawing.level:g} % intervals", *dict.fromkeys(left_out)])


def _multiples(plt: Any, drawing: _Drawing, marks: Sequence[_Mark]) -> matplotlib.axes.Axes:  # noqa: ANN401
    """Draw one panel for each value of one key, all to one scale (small multiples).

    That is the key without an order; of two alike the one with fewer values.
    """
    values: list[list[object]] = []
    for place in (0, 1):
        distinct = dict.fromkeys(mark.keys[place] for mark in marks)
        values.append(list(distinct))

    def unsuitable(place: int) -> tuple[bool, int]:
        # An ordered key is better as an axis; else the key with fewer values makes the panels.
        return drawing.keys[place] in drawing.ordered, len(values[place])

    panel_key = min((0, 1), key=unsuitable)
    axis_key = 1 - panel_key
    panel_values = values[panel_key]
    if len(panel_values) < 2 or len(marks) <= len(panel_values):
        return _alone(plt, drawing, marks)
    drawn = panel_values[:MAX_PANELS]
    across = min(3, len(drawn))
    # Rounded up, so that the last row may be incomplete.
    down = -(-len(drawn) // across)
    figure, grid = plt.subplots(
        down,
        across,
        sharex=True,
        sharey=True,
        squeeze=False,
        layout="constrained",
        figsize=(3.4 * across, 2.6 * down),
    )
    for axes in grid.flat[len(drawn) :]:
        axes.set_visible(False)
    panel = drawing.keys[panel_key]
    panel_name = drawing.heads.get(panel, panel)
    left_out: list[str] = []
    for axes, panel_value in zip(grid.flat, drawn, strict=False):
        own = []
        for mark in marks:
            if mark.keys[panel_key] == panel_value:
                own.append(_Mark((mark.keys[axis_key],), mark.value, mark.ends))
        left_out += _draw(axes, (drawing.keys[axis_key],), drawing, own, MAX_PANEL_LABELS)
        axes.set_title(f"{panel_name} = {_label(panel_value)}", fontsize="medium")
        # The axis is shared by a row of panels: only its first panel names it.
        axes.set_ylabel(drawing.column if axes in grid[:, 0] else "")
    if len(drawn) < len(panel_values):
        left_out.append(f"{len(drawn)} of {len(panel_values):,} values of {panel_name} drawn")
    figure.suptitle(f"{drawing.title} ({_notes(drawing, left_out)})")
    first: matplotlib.axes.Axes = grid[0, 0]
    return first


def _is_line(keys: Sequence[str], drawing: _Drawing, marks: Sequence[_Mark]) -> bool:
    """Return whether marks are drawn as a line: one ordered key, with enough values that are not NULL."""
    if len(keys) != 1 or keys[0] not in drawing.ordered:
        return False
    placed = sum(mark.keys[0] is not None for mark in marks)
    return placed >= MIN_LINE_POINTS


def _draw(
    axes: matplotlib.axes.Axes,
    keys: Sequence[str],
    drawing: _Drawing,
    marks: Sequence[_Mark],
    max_labels: int = MAX_LABELS,
) -> list[str]:
    """Draw values along their key; return notes on marks that are left out."""
    axes.spines[["top", "right"]].set_visible(False)
    heads = [drawing.heads.get(key, key) for key in keys]
    axes.set_xlabel(", ".join(heads))
    if _is_line(keys, drawing, marks):
        return _line(axes, marks)
    return _bars(axes, marks, max_labels)


def _first_key(mark: _Mark) -> Any:  # noqa: ANN401 numbers, days or times, which have an order
    return mark.keys[0]


def _line(axes: matplotlib.axes.Axes, marks: Sequence[_Mark]) -> list[str]:
    """Draw a line through the values in the order of their key, and their intervals as a band."""
    placed = sorted((mark for mark in marks if mark.keys[0] is not None), key=_first_key)
    at = [_first_key(mark) for mark in placed]
    # NaN makes a gap in the line and in the band.
    lows = []
    highs = []
    values = []
    for mark in placed:
        low, high = mark.ends or (math.nan, math.nan)
        lows.append(low)
        highs.append(high)
        values.append(math.nan if mark.value is None else mark.value)
    axes.fill_between(at, lows, highs, color="C0", alpha=0.25, linewidth=0)
    marker = "o" if len(placed) <= MAX_LABELS else ""
    axes.plot(at, values, color="C0", linewidth=1.4, marker=marker, markersize=3)
    if not isinstance(at[0], int | float):
        # Dates are long labels.
        axes.tick_params(axis="x", labelrotation=30)
    unplaced = len(marks) - len(placed)
    if not unplaced:
        return []
    return [f"{unplaced} group without a place on the axis"]


def _bars(axes: matplotlib.axes.Axes, marks: Sequence[_Mark], max_labels: int) -> list[str]:
    """Draw a bar up to each value, and its interval with caps on top of it."""
    drawn = marks[:MAX_BARS]
    places = []
    values = []
    bounded = []
    middles = []
    halves = []
    for place, mark in enumerate(drawn):
        if mark.value is not None:
            places.append(place)
            values.append(mark.value)
        if mark.ends is not None:
            low, high = mark.ends
            bounded.append(place)
            middles.append((low + high) / 2)
            halves.append((high - low) / 2)
    axes.bar(places, values, width=0.7, color="C0", alpha=0.3)
    axes.plot(places, values, "o", color="C0", markersize=4)
    # Around the middle of the interval, which need not be the value.
    axes.errorbar(bounded, middles, yerr=halves, fmt="none", ecolor="C0", capsize=4)
    labels = [", ".join(map(_label, mark.keys)) for mark in drawn]
    # Label each n-th bar only; n is rounded up, so that at most max_labels are shown.
    every = max(1, -(-len(labels) // max_labels))
    shown = labels[::every]
    longest = max(map(len, labels), default=0)
    turned = longest * len(shown) > _MAX_LABEL_CHARACTERS * max_labels // MAX_LABELS
    axes.set_xticks(range(0, len(labels), every), shown, rotation=45 if turned else 0)
    axes.set_xlim(-0.6, len(labels) - 0.4)
    if len(drawn) == len(marks):
        return []
    return [f"{len(drawn)} of {len(marks):,} groups drawn"]


def _label(key: object) -> str:
    if key is None:
        return "NULL"
    if isinstance(key, float):
        return f"{key:.15g}"
    return str(key)
