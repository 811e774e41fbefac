"""Explanation of a planned fit: its releases, privacy cost and expected loss, before any charge.

It lists the releases with their noise relative to what one row changes, the price, and a predicted
log loss or R² under stated assumptions about the data. No row is read.
"""

from __future__ import annotations

import math
from typing import Self

from ..frozen import frozen
from ..privacy.events import Event
from ..privacy.measures import Measure, decimal_text
from ..show.table import text_table
from .coding.feature import UNIT
from .coding.label import Amount, Classes
from .recipes.moments import label_unit
from .recipes.steps import CURVATURE, widest_clip
from .task import Task, Training

_CLIP = 0.3
_GAIN = 0.25
"""Share of the log loss of equal chances that a model without noise is supposed to save."""
_EXPLAINED = 0.5
"""R² that a model without noise is supposed to have."""
_COLUMN_VARIANCE = 0.2
"""Variance that a column is supposed to have between bounds of −1 and 1; evenly spread it is ⅓."""
_TARGET_VARIANCE = 0.1
"""Variance that the target is supposed to have between bounds of −1 and 1."""


@frozen
class Prediction:
    """Predicted log loss or R² of a fit, and what it supposes of the data."""

    measure: str
    value: float
    without_noise: float
    worthless: float
    supposes: str

    @property
    def lost(self) -> float:
        """Share of what a model without noise would gain that noise takes away."""
        return (self.without_noise - self.value) / (self.without_noise - self.worthless)

    def __str__(self) -> str:
        return (
            f"predicted {self.measure}: {self.value:.3g}, without noise {self.without_noise:.3g}, "
            f"knowing nothing {self.worthless:.3g}\n  supposes {self.supposes}"
        )


@frozen
class TrainingExplanation:
    """Plan of a training in readable form; `print` it.

    `signal` is the signal-to-noise ratio n/(z·√d). Here d is the number of coded columns, and z the
    least σ/(Δ·√times) of the releases. Below 1 the noise exceeds what could be learned.
    `releases` are name, uses, and noise over sensitivity of each release. `predicted` is the log
    loss or R² to expect; None if neither can be predicted.
    """

    model: str
    columns: int
    rows: int
    event: Event
    releases: tuple[tuple[str, int, float], ...]
    signal: float
    price: Measure
    predicted: Prediction | None = None

    @classmethod
    def of(cls, model: str, task: Task, training: Training, rows: int) -> Self:
        """Return the explanation of a fit on so many rows."""
        releases = []
        for name, release in zip(_names(task, training), training.releases, strict=True):
            relative = release.noise.scale / release.noise.sensitivity  # type: ignore[operator]
            releases.append((name, release.times, float(relative)))
        # Averaging `times` independent draws divides the deviation by √times.
        averaged = min(relative / math.sqrt(times) for _, times, relative in releases)
        width = task.design.width
        signal = rows / (averaged * math.sqrt(width))
        price = training.shown_price()
        predicted = _predicted(task, training, releases, rows)
        return cls(model, width, rows, training.event, tuple(releases), signal, price, predicted)

    @property
    def worth(self) -> str:
        """A verdict in one sentence."""
        lost = self.predicted.lost if self.predicted else 0.0
        if self.signal < 1 or lost > 0.9:
            return (
                "noise drowns what these rows could teach: nothing is worth training; "
                "use more rows or a larger spend"
            )
        if self.signal < 10 or lost > 0.1:
            return (
                "expect a clear loss against a model without noise; "
                "fewer columns or coarser bins would help"
            )
        return "expect little loss against a model without noise"

    def __str__(self) -> str:
        header = ("released", "times", "noise / what one unit moves")
        lines = [(name, str(times), f"{relative:.3g}") for name, times, relative in self.releases]
        table = text_table([header, *lines])
        predicted = f"{self.predicted}\n" if self.predicted else ""
        return (
            f"{self.model}: {self.columns} columns, about {self.rows:,} rows\n{table}\n"
            f"{predicted}rows against noise: {self.signal:.3g}; {self.worth}\n"
            f"costs {decimal_text(self.price)}"
        )


def _names(task: Task, training: Training) -> tuple[str, ...]:
    count = len(training.releases)
    if count == 1:
        return ("sums",)
    if task.label is None:
        return ("second moments", "grid", "rounds")
    return ("second moments", "gradient steps", "recalibration", "correction")[:count]


def _predicted(
    task: Task, training: Training, releases: list[tuple[str, int, float]], rows: int
) -> Prediction | None:
    """Predict the log loss of a classifier or the R² of a regression; None for other models.

    `releases` are name, uses, and noise over sensitivity of each release.
    """
    width = task.design.width
    match task.label:
        case Classes(values=values):
            worthless = math.log(len(values))
            without_noise = (1 - _GAIN) * worthless
            columns = 1 if len(values) == 2 else len(values)
            margin = _margin_error(training, rows, width) if len(releases) > 1 else None
            if margin is None:
                # A mean of n/K rows with noise z·R in each of d columns moves a score by this much.
                norm = math.sqrt(task.design.squared_norm) / UNIT
                margin = releases[0][2] * norm * len(values) * math.sqrt(width) / rows
            excess = CURVATURE * margin**2 * columns / 2
            # Recalibration holds a model that is all noise near the chances of the classes.
            gain = worthless - without_noise
            value = without_noise + gain * excess / (excess + gain)
            supposes = (
                f"{len(values)} classes as common as each other, and {_GAIN:.0%} of their log loss "
                "saved without noise"
            )
            return Prediction("log loss", value, without_noise, worthless, supposes)
        case Amount() if len(releases) == 1:
            value = _EXPLAINED - _squared_error(task, releases[0][2], rows)
            supposes = (
                f"R² {_EXPLAINED} without noise, columns and target spread over half their bounds"
            )
            return Prediction("R²", max(value, -9.0), _EXPLAINED, 0.0, supposes)
        case _:
            return None


def _margin_error(training: Training, rows: int, width: int) -> float:
    """Return the deviation that the noise of the steps leaves in a margin."""
    steps = training.releases[1]
    clip = max(_CLIP, widest_clip(steps, float(rows), width))
    multiple = float(steps.noise.scale / steps.noise.sensitivity)  # type: ignore[operator]
    return clip * multiple * math.sqrt(2 / steps.times) * width / (rows * CURVATURE)


def _squared_error(task: Task, multiple: float, rows: int) -> float:
    """Return the R² that the noise of the moments and the ridge penalty cost."""
    width = task.design.width
    label = label_unit(task) / UNIT
    moved = task.design.squared_norm / UNIT**2 + label**2
    own = rows * _COLUMN_VARIANCE
    noise = width * (multiple * moved / label) ** 2 / (2 * rows * own)
    penalty = multiple * moved * math.sqrt(2 * width)
    shrunk = (penalty / (own + penalty)) ** 2
    # The penalty also keeps noise small where it is larger than the data's own moments.
    kept = (own / (own + penalty)) ** 2
    return _EXPLAINED * shrunk + kept * noise / _TARGET_VARIANCE
