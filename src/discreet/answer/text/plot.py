"""A picture of an answer: one noisy column, with its error bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import InvalidArgument
from ...optional import load
from ..export import plain

if TYPE_CHECKING:
    import matplotlib.axes

    from ..answer import Answer, Interval

__all__ = ["plot"]

MOST_LABELS = 40
"""As many rows are named; of more, every so many."""


def plot(answer: Answer, column: str | None = None, level: float = 0.95) -> matplotlib.axes.Axes:
    """Draw a column of numbers against the exact columns, which name the rows; by default the first noisy one.

    It is a figure of pyplot, so a notebook shows it; `plt.close` it where many are drawn.

    Refuses a column that is not there or that holds no numbers.
    """
    plt = load("matplotlib.pyplot", "plot")
    sorts = dict(zip(answer.columns, answer.sorts, strict=True))
    numbers = [name for name in answer.noisy if sorts[name] == "number"]
    name = next(iter(numbers), None) if column is None else column
    if name is None or name not in numbers:
        raise InvalidArgument(f"there is no such column of noisy numbers; there are {', '.join(numbers) or 'none'}")
    axes: matplotlib.axes.Axes = plt.subplots(
        layout="constrained", figsize=(max(4.0, min(12.0, 1.5 + 0.6 * len(answer))), 3.6)
    )[1]
    for place, (value, row) in enumerate(zip(answer.column(name), answer.interval(level), strict=True)):
        _mark(axes, place, value, row[name])
    labels = [_label(answer, place) for place in range(len(answer))]
    every = -(-len(labels) // MOST_LABELS)
    turned = max(map(len, labels), default=0) * len(labels[::every]) > 60
    axes.set_xticks(range(0, len(labels), every), labels[::every], rotation=45 if turned else 0)
    axes.set_xlim(-0.6, len(labels) - 0.4)
    axes.set_ylabel(name)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(f"{100 * level:g} % intervals", loc="right", fontsize="small")
    return axes


def _mark(axes: matplotlib.axes.Axes, place: int, value: object, ends: Interval) -> None:
    """Draw a bar up to the value, and the interval with caps on top of it."""
    if isinstance(value, float):
        axes.bar([place], [value], width=0.7, color="C0", alpha=0.3)
        axes.plot([place], [value], "o", color="C0", markersize=4)
    if ends is not None:
        low, high = (float(end) for end in ends)  # type: ignore[arg-type]
        middle = (low + high) / 2
        axes.errorbar([place], [middle], yerr=[(high - low) / 2], fmt="none", ecolor="C0", capsize=4)


def _label(answer: Answer, place: int) -> str:
    row = zip(answer.columns, answer.sorts, answer.rows[place], strict=True)
    return ", ".join(str(plain(value, sort)) for name, sort, value in row if name not in answer.noisy)
