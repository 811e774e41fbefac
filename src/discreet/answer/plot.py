"""A picture of an answer: one noisy column, with its error bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import InvalidArgument
from .export import plain

if TYPE_CHECKING:
    import matplotlib.axes

    from .answer import Answer

__all__ = ["plot"]


def plot(answer: Answer, column: str | None = None, level: float = 0.95) -> matplotlib.axes.Axes:
    """Draw a column of numbers against the exact columns, which name the rows; the first noisy one unless said.

    It is a figure of pyplot, so a notebook shows it; `plt.close` it where many are drawn.

    Refuses a column that is not there or that holds no numbers.
    """
    import matplotlib.pyplot as plt

    sorts = dict(zip(answer.columns, answer.sorts, strict=True))
    numbers = [name for name in answer.noisy if sorts[name] == "number"]
    name = next(iter(numbers), None) if column is None else column
    if name is None or name not in numbers:
        raise InvalidArgument(f"there is no such column of noisy numbers; there are {', '.join(numbers) or 'none'}")
    axes = plt.subplots(layout="constrained")[1]
    points = [
        (place, value, row[name])
        for place, (value, row) in enumerate(zip(answer.column(name), answer.interval(level), strict=True))
    ]
    for place, value, ends in points:
        if ends is not None:
            axes.plot([place, place], [float(end) for end in ends], color="C0")  # type: ignore[arg-type]
        if isinstance(value, float):
            axes.plot([place], [value], "o", color="C0")
    axes.set_xticks(range(len(answer)), [_label(answer, place) for place in range(len(answer))])
    axes.set_ylabel(name)
    return axes


def _label(answer: Answer, place: int) -> str:
    row = zip(answer.columns, answer.sorts, answer.rows[place], strict=True)
    return ", ".join(str(plain(value, sort)) for name, sort, value in row if name not in answer.noisy)
