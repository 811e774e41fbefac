"""Effects of an additive model (GAM): one curve for each column, with its errors.

An effect is what one bin or listed value of a column adds to the prediction. It can be printed as a
table or drawn, with bars of two standard deviations:

model                bars hold
AdditiveClassifier   the noise alone
AdditiveRegressor    noise, the sampling of rows, and what the ridge penalty took away
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Self

import numpy as np

from ..answer.export import plain
from ..frozen import frozen
from ..optional import load
from ..query.domains.domain import Day, Domain, Second, Whole
from ..query.domains.type_of import ValueType
from ..show.table import text_table
from .coding.feature import Bins
from .task import Fitted, Task

NOISE_ONLY = "the noise alone, without bias and sampling"
ALL_ERRORS = "noise, sampling and shrinkage"


@frozen
class Effect:
    """Effect of one column: a value for each of its bins, with its standard deviation.

    The mean of a column's effects is moved to the constant: only differences between bins mean
    anything. `ordered` says that `labels` are bins in order, not listed values.
    """

    name: str
    labels: tuple[str, ...]
    values: tuple[float, ...]
    deviations: tuple[float, ...]
    ordered: bool


@frozen
class Effects:
    """The effects of every column; `print` them, or `plot` them. `hold` says what the bars hold."""

    columns: tuple[Effect, ...]
    hold: str = NOISE_ONLY

    @classmethod
    def of(
        cls, task: Task, fitted: Fitted, domains: Mapping[str, Domain], unit: float = 1.0
    ) -> Self:
        """Return the effects that the coefficients hold, of several classes those of the first.

        `unit` is what a coefficient of 1 is worth in the target's own unit.
        """
        values = fitted["coefficients"][:, 0] * unit
        # Models of classes, and those of earlier releases, know nothing of their bias.
        shrinkage = fitted.get("shrinkage")
        missed = 0.0 if shrinkage is None else shrinkage
        spread = np.hypot(fitted["deviations"][:, 0], missed) * unit
        # Models of numbers, and those of earlier releases, know no rows of single bins.
        weights = fitted.get("seen", np.ones(len(values))) + 1e-9
        effects = []
        for feature, start in zip(task.design.features, task.design.starts, strict=True):
            block = slice(start, start + feature.width)
            # The constant absorbs the mean: only differences are identified. Bins that hardly
            # occur are mostly noise, and would move all others.
            mean = float(np.average(values[block], weights=weights[block]))
            centred = tuple(float(value) - mean for value in values[block])
            deviations = tuple(map(float, spread[block]))
            labels = feature.labels
            ordered = isinstance(feature, Bins)
            if isinstance(feature, Bins):
                labels = _bin_labels(feature, domains[feature.name])
            effects.append(Effect(feature.name, labels, centred, deviations, ordered))
        return cls(tuple(effects), NOISE_ONLY if shrinkage is None else ALL_ERRORS)

    def __str__(self) -> str:
        lines = []
        for effect in self.columns:
            bins = zip(effect.labels, effect.values, effect.deviations, strict=True)
            for label, value, deviation in bins:
                # Two deviations hold about 95 % of what `hold` says.
                lines.append((label, f"{value:+.3f}", f"± {2 * deviation:.3f}"))
        head = "noise alone" if self.hold == NOISE_ONLY else "± 2 deviations"
        return text_table([("column", "effect", head), *lines])

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


def _bin_labels(feature: Bins, domain: Domain) -> tuple[str, ...]:
    """Return the names of bins with their ends in the column's own unit, days and times as such."""
    kind: ValueType | None = None
    if isinstance(domain, Day | Second):
        kind = "day" if isinstance(domain, Day) else "second"
    texts = []
    for edge in (feature.low, *feature.edges, feature.high):
        whole = kind is not None or (isinstance(domain, Whole) and domain.step == 1)
        value = plain(edge if whole else edge * domain.step, kind)  # type: ignore[union-attr]
        texts.append(f"{value:.6g}" if isinstance(value, float) else str(value))
    bins = [f"{feature.name}[{first},{end})" for first, end in pairwise(texts)]
    return (*bins, f"{feature.name}=NULL")


def _draw(axis: Any, effect: Effect) -> None:  # noqa: ANN401 matplotlib's own type
    """Draw the effect of one column into a panel, with bars of two deviations."""
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
