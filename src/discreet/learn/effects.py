"""The effects of an additive model: what each value of each column adds, with the error that noise leaves in it."""

from __future__ import annotations

from typing import Any, Self

from ..frozen import frozen
from ..optional import load
from ..show.table import text_table
from .coding.feature import Bins
from .task import Fitted, Task


@frozen
class Effect:
    """What one column adds: a value for each of its bins, and how far each is off (one deviation).

    The mean of a column's effects is moved to the constant: only differences between bins mean anything.
    """

    name: str
    labels: tuple[str, ...]
    values: tuple[float, ...]
    deviations: tuple[float, ...]
    ordered: bool


@frozen
class Effects:
    """The effects of every column; `print` them, or `plot` them."""

    columns: tuple[Effect, ...]

    @classmethod
    def of(cls, task: Task, fitted: Fitted, unit: float = 1.0, place: int = 0) -> Self:
        """Read the effects off the coefficients; `place` is which class's."""
        values, spread = fitted["coefficients"][:, place] * unit, fitted["deviations"][:, 0] * unit
        found = []
        for feature, start in zip(task.design.features, task.design.starts, strict=True):
            part = slice(start, start + feature.width)
            mean = float(values[part].mean())
            numbers = tuple(float(value) - mean for value in values[part])
            deviations = tuple(map(float, spread[part]))
            found.append(
                Effect(feature.name, feature.labels, numbers, deviations, isinstance(feature, Bins))
            )
        return cls(tuple(found))

    def __str__(self) -> str:
        lines = [
            (label, f"{value:+.3f}", f"± {2 * deviation:.3f}")
            for effect in self.columns
            for label, value, deviation in zip(
                effect.labels, effect.values, effect.deviations, strict=True
            )
        ]
        return text_table([("column", "effect", "about 95 %"), *lines])

    def plot(self) -> Any:  # noqa: ANN401 matplotlib's own type
        """Draw one panel for each column: a stepped line with a band for numbers, bars with whiskers for values."""
        pyplot = load("matplotlib.pyplot", "plot")
        rows = -(-len(self.columns) // 3)
        figure, axes = pyplot.subplots(
            rows, 3, figsize=(11, 2.6 * rows), squeeze=False, sharey=True
        )
        for axis, effect in zip(axes.flat, self.columns, strict=False):
            _draw(axis, effect)
        for axis in axes.flat[len(self.columns) :]:
            axis.set_visible(False)
        figure.tight_layout()
        return figure


def _draw(axis: Any, effect: Effect) -> None:  # noqa: ANN401 matplotlib's own type
    places, reach = range(len(effect.values)), [2 * deviation for deviation in effect.deviations]
    if effect.ordered:
        low = [value - wide for value, wide in zip(effect.values, reach, strict=True)]
        high = [value + wide for value, wide in zip(effect.values, reach, strict=True)]
        axis.step(places, effect.values, where="mid")
        axis.fill_between(places, low, high, step="mid", alpha=0.25)
    else:
        axis.bar(places, effect.values, yerr=reach)
    shown = list(places)[:: max(1, len(effect.labels) // 6)]
    axis.set_xticks(
        shown,
        [effect.labels[place].removeprefix(effect.name) for place in shown],
        fontsize=6,
        rotation=30,
    )
    axis.set_title(effect.name, fontsize=9)
    axis.axhline(0, linewidth=0.5)
