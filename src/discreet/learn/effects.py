"""Effects of an additive model (GAM): one curve for each column, with its noise.

An effect is what one bin or listed value of a column adds to the prediction. It can be printed as a
table or drawn, with bars of two standard deviations of the noise alone.
"""

from __future__ import annotations

from typing import Any, Self

from ..frozen import frozen
from ..optional import load
from ..show.table import text_table
from .coding.feature import Bins
from .task import Fitted, Task


@frozen
class Effect:
    """Effect of one column: a value for each of its bins, with the deviation of the noise alone.

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
        """Return the effects that the coefficients hold.

        `unit` is what a coefficient of 1 is worth in the target's own unit. `place` is the index of
        the class.
        """
        values = fitted["coefficients"][:, place] * unit
        spread = fitted["deviations"][:, 0] * unit
        effects = []
        for feature, start in zip(task.design.features, task.design.starts, strict=True):
            block = slice(start, start + feature.width)
            # The constant absorbs the mean: only differences are identified.
            mean = float(values[block].mean())
            centred = tuple(float(value) - mean for value in values[block])
            deviations = tuple(map(float, spread[block]))
            ordered = isinstance(feature, Bins)
            effects.append(Effect(feature.name, feature.labels, centred, deviations, ordered))
        return cls(tuple(effects))

    def __str__(self) -> str:
        lines = []
        for effect in self.columns:
            bins = zip(effect.labels, effect.values, effect.deviations, strict=True)
            for label, value, deviation in bins:
                # Two deviations hold about 95 % of the noise; bias and sampling come on top.
                lines.append((label, f"{value:+.3f}", f"± {2 * deviation:.3f}"))
        return text_table([("column", "effect", "noise alone"), *lines])

    def plot(self) -> Any:  # noqa: ANN401 matplotlib's own type
        """Draw one panel for each column: a step curve with a band, or bars with whiskers."""
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
    """Draw the effect of one column into a panel, with bars of two deviations of its noise."""
    positions = range(len(effect.values))
    reach = [2 * deviation for deviation in effect.deviations]
    if effect.ordered:
        low = [value - wide for value, wide in zip(effect.values, reach, strict=True)]
        high = [value + wide for value, wide in zip(effect.values, reach, strict=True)]
        axis.step(positions, effect.values, where="mid")
        axis.fill_between(positions, low, high, step="mid", alpha=0.25)
    else:
        axis.bar(positions, effect.values, yerr=reach)
    # About six labels fit under a panel.
    stride = max(1, len(effect.labels) // 6)
    shown = list(positions)[::stride]
    labels = [effect.labels[index].removeprefix(effect.name) for index in shown]
    axis.set_xticks(shown, labels, fontsize=6, rotation=30)
    axis.set_title(effect.name, fontsize=9)
    axis.axhline(0, linewidth=0.5)
