"""Summary of a fitted model, as text and as HTML, in the columns' own units.

It has one line with the model, the target, the noisy number of rows and the price. A table of
coefficients, effects or centres follows, of at most 40 lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..arithmetic.arrays import Floats
from ..frozen import frozen
from ..privacy.measures import decimal_text
from ..show.table import html_table, text_table
from .effects import Effects

MAX_LINES = 40
"""Lines of a summary: as many as fit on a page."""


@frozen
class Summary:
    """Facts of a fit in one line, then a table of what was learned."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""

    def text(self) -> str:
        """Return the summary as text."""
        lines = [self.title]
        if self.rows:
            lines.append(text_table([self.head, *self.rows]))
        if self.note:
            lines.append(self.note)
        return "\n".join(lines)

    def html(self) -> str:
        """Return the summary as one HTML table."""
        return html_table(self.head, self.rows, caption=self.title, foot=self.note)


def summary_of(model: Any) -> Summary:  # noqa: ANN401 an estimator of any kind
    """Return the summary of a fitted model.

    | model | table |
    |---|---|
    | LinearRegression, LogisticRegression | coefficients and intervals, bias included |
    | AdditiveClassifier, AdditiveRegressor | effects with bars of two deviations (`effects`) |
    | KMeans, NearestCentroid | centres |
    | others | the number of columns |
    """
    title = _title(model)
    if "errors" in model.fitted_ and hasattr(model, "coef_interval"):
        return _coefficients(model, title)
    if hasattr(model, "effects_"):
        return _effects(model.effects_, title)
    for name in ("cluster_centers_", "centroids_"):
        if hasattr(model, name):
            classes = [str(one) for one in getattr(model, "classes_", ())]
            return _centres(title, model.columns_, getattr(model, name), classes)
    return Summary(title, ("columns",), ((str(model.task_.design.width),),))


def _title(model: Any) -> str:  # noqa: ANN401
    """Return the line of facts: the model, its target, about how many rows, and the price."""
    facts = [type(model).__name__]
    if model.target is not None:
        facts.append(f"target {model.target}")
    count = model.fitted_.get("count")
    if count is not None:
        # Three digits are more than the noise leaves of most counts.
        facts.append(f"about {float(f'{float(count[0]):.3g}'):,.0f} rows")
    # A model that was read from a file has no price.
    if hasattr(model, "price_"):
        facts.append(f"cost {decimal_text(model.price_)}")
    return ", ".join(facts)


def _coefficients(model: Any, title: str) -> Summary:  # noqa: ANN401
    """Return the table of coefficients with intervals of 95 %."""
    classes = [str(one) for one in getattr(model, "classes_", ())]
    rows = []
    for place in range(model.fitted_["coefficients"].shape[1]):
        prefix = f"{classes[place]}: " if len(classes) > 2 else ""
        for one in model.coefficients(place=place):
            ends = (f"{one.value:.4g}", f"{one.low:.4g}", f"{one.high:.4g}")
            rows.append((prefix + one.name, *ends))
    note = (
        "intervals hold noise, sampling and bias; a listed value is compared with the mean of all"
    )
    return _cut(Summary(title, ("column", "coefficient", "2.5 %", "97.5 %"), tuple(rows), note))


def _effects(effects: Effects, title: str) -> Summary:
    rows = []
    for effect in effects.columns:
        bins = zip(effect.labels, effect.values, effect.deviations, strict=True)
        for label, value, deviation in bins:
            rows.append((label, f"{value:+.4g}", f"± {2 * deviation:.3g}"))
    return _cut(Summary(title, ("column", "effect", "error"), tuple(rows), f"± {effects.hold}"))


def _centres(
    title: str,
    columns: Sequence[str],
    centres: Floats,
    classes: Sequence[str],
) -> Summary:
    """Return the table of centres, one column for each."""
    heads = classes or [str(place + 1) for place in range(len(centres))]
    rows = []
    for name, values in zip(columns, centres.T, strict=True):
        rows.append((name, *(f"{value:.4g}" for value in values)))
    return _cut(Summary(title, ("column", *heads), tuple(rows), "centres hold noise"))


def _cut(summary: Summary) -> Summary:
    """Return a summary of at most MAX_LINES lines, which says how many it leaves out."""
    left_out = len(summary.rows) - MAX_LINES
    if left_out <= 0:
        return summary
    note = f"{left_out} more lines are left out; {summary.note}"
    return Summary(summary.title, summary.head, summary.rows[:MAX_LINES], note)
