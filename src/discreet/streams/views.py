"""Views of a stream: tables of its published sums by day, week, month, year, total or range.

All are computed from the stored running totals and cost nothing. Running totals are rounded to the
step of what is counted (1 for a count); every shown sum is a difference of two rounded totals, so
all views add up. Confidence intervals are around the numbers before this rounding. They cover the
sums over the rows that counted when their day closed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..answer.answer import read_level
from ..arithmetic.rounding import down, up
from ..errors import InvalidArgument
from ..frozen import field, frozen
from ..optional import load
from ..show.table import html_table, text_table
from ..statistics.releases.stream_day import inner_multiples
from ..workloads.stream_noise import StreamNoise
from .calendar import Kind
from .question import StreamQuestion

if TYPE_CHECKING:
    import matplotlib.axes


@frozen(eq=False, repr=False)
class StreamTable:
    """Published sums of a stream: a row for each sum and key.

    `sums` are ranges (first, end) of day numbers from 0, without the end. `totals` has by number
    of days the stored running totals of all cells, in 1/`fine` of a step.

    Guarantee: `interval` covers each sum with probability `level` at least; with `joint` all at
    once.
    Law: tests/streams/test_stream.py::TestIntervals
    """

    name: str
    kind: Kind | str
    start: date
    question: StreamQuestion
    noise: StreamNoise
    fine: int
    sums: tuple[tuple[int, int], ...]
    totals: Mapping[int, Sequence[int]] = field(repr=False)
    note: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns: first and last day, keys, the number and its interval."""
        return ("from", "to", *self.question.names, self.question.column, "low", "high")

    def __len__(self) -> int:
        return len(self.sums) * len(self.question.cells)

    def rows(self, level: float = 0.95, *, joint: bool = False) -> list[tuple[Any, ...]]:
        """List the rows: days, keys, number, and the ends of its interval."""
        found = []
        ends = iter(self.interval(level, joint=joint))
        for start, end in self.sums:
            first = self.start + timedelta(days=start)
            last = self.start + timedelta(days=end - 1)
            for place, cell in enumerate(self.question.cells):
                value = self.shown(end, place) - self.shown(start, place)
                low, high = next(ends)
                found.append((first, last, *cell, _number(value), low, high))
        return found

    def column(self, name: str) -> list[Any]:
        """Return one column of the rows."""
        if name not in self.columns:
            raise InvalidArgument(
                f"there is no column {name!r}; there are {', '.join(self.columns)}"
            )
        place = self.columns.index(name)
        return [row[place] for row in self.rows()]

    def interval(self, level: float = 0.95, *, joint: bool = False) -> list[tuple[float, float]]:
        """Return the confidence interval of each row.

        With `joint` all rows of this table hold at once with the level: by Šidák's inequality for
        Gaussian noise, which holds for any correlation, else by the union bound.
        """
        beta = 1 - read_level(level)
        count = max(1, len(self))
        if joint and self.noise.sealed:
            beta /= count
        elif joint:
            # Rounded down: a smaller β has wider intervals.
            beta = down(-math.expm1(math.log1p(-beta) / count))
        if not self.sums:
            return []
        starts = [start for start, _ in self.sums]
        ends = [end for _, end in self.sums]
        reaches = self.noise.reaches(starts, ends, beta)
        found = []
        for start, end, reach in zip(starts, ends, reaches.tolist(), strict=True):
            # Estimates of days are rounded by half of 1/fine each.
            rounding = 0.0 if self.noise.sealed else (end + start) / self.fine
            half = Fraction(reach + rounding) * self.question.unit
            for place in range(len(self.question.cells)):
                value = self.exact(end, place) - self.exact(start, place)
                found.append(self._ends(value - half, value + half))
        return found

    def _ends(self, low: Fraction, high: Fraction) -> tuple[float, float]:
        if self.question.whole:
            low, high = inner_multiples(low, high, self.question.step)
        return down(float(low)) if low.denominator > 1 else float(low), (
            up(float(high)) if high.denominator > 1 else float(high)
        )

    def exact(self, end: int, place: int) -> Fraction:
        """Return the published running total of the first `end` days, before it is rounded."""
        if not end:
            return Fraction()
        return Fraction(self.totals[end][place], self.fine) * self.question.unit

    def shown(self, end: int, place: int) -> Fraction:
        """Return the running total of the first `end` days, rounded half up to the shown step."""
        step = self.question.step
        return (self.exact(end, place) / step + Fraction(1, 2)) // 1 * step

    def to_json(self, level: float = 0.95, *, joint: bool = False) -> dict[str, Any]:
        """Return the table as plain values."""
        rows = []
        for first, last, *others in self.rows(level, joint=joint):
            rows.append([first.isoformat(), last.isoformat(), *others])
        return {
            "stream": self.name,
            "by": self.kind,
            "columns": list(self.columns),
            "rows": rows,
            "level": level,
            "joint": joint,
            "note": self.note,
        }

    def to_polars(self, level: float = 0.95, *, joint: bool = False) -> Any:  # noqa: ANN401
        """Return the table as a Polars data frame."""
        rows = self.rows(level, joint=joint)
        return load("polars", "polars").DataFrame(rows, schema=list(self.columns), orient="row")

    def plot(self, level: float = 0.95) -> matplotlib.axes.Axes:
        """Draw the sums along time with their intervals as bands, a line for each key (needs matplotlib)."""
        plt = load("matplotlib.pyplot", "plot")
        _, made = plt.subplots(layout="constrained", figsize=(7.0, 3.6))
        axes: matplotlib.axes.Axes = made
        lines: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
        for first, _last, *keys, value, low, high in self.rows(level):
            lines.setdefault(tuple(keys), []).append((first, value, low, high))
        for key, points in lines.items():
            days, values, lows, highs = zip(*points, strict=True)
            [drawn] = axes.plot(
                days, values, marker="o", markersize=3, label=", ".join(map(str, key))
            )
            axes.fill_between(days, lows, highs, color=drawn.get_color(), alpha=0.25, linewidth=0)
        # A single line needs no legend: the axis has its name.
        if len(lines) > 1:
            axes.legend(title=", ".join(self.question.names))
        axes.set_title(self._foot(level), loc="left", fontsize="small")
        axes.set_ylabel(self.question.column)
        axes.tick_params(axis="x", labelrotation=30)
        return axes

    def to_text(self, level: float = 0.95, *, joint: bool = False) -> str:
        """Return the table as text, with the level of its intervals below."""
        body = [tuple(map(_text, row)) for row in self.rows(level, joint=joint)]
        shown = text_table([self.columns, *body])
        return f"{shown}\n{self._foot(level, joint=joint)}"

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        body = [tuple(map(_text, row)) for row in self.rows()]
        return html_table(self.columns, body, foot=self._foot())

    def _foot(self, level: float = 0.95, *, joint: bool = False) -> str:
        each = "of all numbers at once" if joint else "of each number by itself"
        foot = f"stream {self.name} by {self.kind}; {level:.4g} intervals {each}"
        return f"{foot}; {self.note}" if self.note else foot


def _number(value: Fraction) -> int | float:
    if value.denominator == 1:
        return int(value)
    return float(value)


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.10g}"
    return "" if value is None else str(value)
