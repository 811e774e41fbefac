"""Views of products: tables of synthetic data with records sampled from them, and what a model has learned.

The functions of synthetic data run in a planning worker. Post-processing is free.

| model | table |
|---|---|
| linear, logistic of two classes | coefficients with confidence intervals |
| logistic of several classes | coefficients by class |
| sum of effects | the effects of the first 12 columns with their errors |
| groups, directions, centres | one column for each |
| quantile, naive Bayes | none |
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np

from ....curator import Curator
from ....learn.stored import model_from_json
from ....plan.asked.terms import DEFAULT_LEVEL
from ....show.spreadsheet import safe_csv
from ....synthetic.stored import measured_from_json
from ....synthetic.synthetic import Synthetic
from ....wire.models import KINDS
from ..charts.grouping_tables import AnswerPart

LEVEL = DEFAULT_LEVEL
NORMAL_REACH = NormalDist().inv_cdf((1 + LEVEL) / 2)
"""Half width of a confidence interval at LEVEL, in standard deviations of normal noise."""
MAX_TABLES = 6
MAX_RECORDS = 200_000
MAX_EFFECTS = 12
CENTRES = {
    "cluster_centers_": "Centres of the groups",
    "components_": "Directions",
    "centroids_": "Centres",
}
"""Attributes of models with one row for each group, direction or class, and the titles of their tables."""


def _synthetic(released: object) -> Synthetic:
    return Synthetic(measured_from_json(released))


def count_tables(_curator: Curator, released: object) -> tuple[AnswerPart, ...]:
    """Return the tables of the first MAX_TABLES columns with error bars, as parts of an answer."""
    made = _synthetic(released)
    return tuple(_count_table(made, name) for name in made.columns[:MAX_TABLES])


def _count_table(made: Synthetic, name: str) -> AnswerPart:
    """Lay out one table: the best estimates, with error bars where they were measured."""
    table = made.table(name)
    keys = table.labels[0]
    rows = [[key, float(value)] for key, value in zip(keys, table.values, strict=True)]
    ends = table.interval(LEVEL)
    bars: list[list[float] | None] = [None] * len(keys)
    if ends is not None:
        bars = [[float(low), float(high)] for low, high in zip(*ends, strict=True)]
    return _part(f"By {name}", (name, "n"), rows, [[None, bar] for bar in bars])


def records_csv(_curator: Curator, released: object) -> str:
    """Sample records and write them as CSV: as many as the noisy count of rows, at most MAX_RECORDS."""
    made = _synthetic(released)
    columns = made.records(min(made.rows, MAX_RECORDS))
    return safe_csv([list(columns), *zip(*columns.values(), strict=True)])


def tables_json(_curator: Curator, released: object) -> str:
    """Write every table of one column with its error bars, and the release, from which more can be made."""
    made = _synthetic(released)
    tables = []
    for name in made.columns:
        table = made.table(name).to_dict(LEVEL)
        tables.append({"by": [name], "level": str(LEVEL), "table": table})
    return json.dumps({"rows": made.rows, "tables": tables, "released": released}, default=str)


def learned_tables(trained: object) -> tuple[AnswerPart, ...]:
    """Return the tables of a trained model (see the module); none for any other kind of model."""
    model: Any = model_from_json(json.dumps(trained), {kind.__name__: kind for kind in KINDS})
    # Several classes have a column of coefficients each; models of earlier releases no intervals.
    is_number = not hasattr(model, "classes_")
    if hasattr(model, "coef_interval") and (is_number or _has_intervals(model)):
        return (_coefficients(model),)
    if hasattr(model, "effects_"):
        return tuple(_effect(column) for column in model.effects_.columns[:MAX_EFFECTS])
    if hasattr(model, "coef_"):
        return (_columns("Coefficients", model.columns_, model.coef_, _class_names(model)),)
    for attribute, title in CENTRES.items():
        if hasattr(model, attribute):
            centres = getattr(model, attribute)
            numbers = [str(place + 1) for place in range(len(centres))]
            heads = [str(name) for name in getattr(model, "classes_", ())] or numbers
            return (_columns(title, model.columns_, centres, heads),)
    return ()


def _part(
    title: str, names: Sequence[str], rows: list[list[Any]], intervals: list[list[Any]]
) -> AnswerPart:
    """Lay out a table whose first column names its rows; all others are noisy."""
    columns = [{"name": name, "noisy": place > 0} for place, name in enumerate(names)]
    reply = {"columns": columns, "rows": rows, "intervals": intervals, "level": str(LEVEL)}
    return AnswerPart(title, reply)


def _has_intervals(model: Any) -> bool:  # noqa: ANN401 a logistic regression
    return len(model.classes_) == 2 and "errors" in model.fitted_


def _coefficients(model: Any) -> AnswerPart:  # noqa: ANN401 a linear model
    """Lay out the coefficients of a linear model with confidence intervals, and the intercept."""
    ends = model.coef_interval(LEVEL)
    rows: list[list[Any]] = []
    intervals: list[list[Any]] = []
    for name, value in zip(model.columns_, model.coef_.ravel(), strict=True):
        rows.append([name, float(value)])
        intervals.append([None, list(ends[name])])
    # The intercept has no interval.
    rows.append(["intercept", float(np.ravel(model.intercept_)[0])])
    intervals.append([None, None])
    return _part("Coefficients", ("column", "coefficient"), rows, intervals)


def _effect(column: Any) -> AnswerPart:  # noqa: ANN401 the effects of one column's values
    """Lay out the effects of one column's values, with normal confidence intervals."""
    rows: list[list[Any]] = []
    intervals: list[list[Any]] = []
    for label, value, deviation in zip(
        column.labels, column.values, column.deviations, strict=True
    ):
        rows.append([label.removeprefix(column.name).strip(" =") or label, value])
        reach = NORMAL_REACH * deviation
        intervals.append([None, [value - reach, value + reach]])
    return _part(f"What {column.name} adds", (column.name, "effect"), rows, intervals)


def _class_names(model: Any) -> list[str]:  # noqa: ANN401
    """Return the headings of the coefficients: one for each class, or one alone."""
    names = [str(name) for name in getattr(model, "classes_", ())]
    if len(names) == len(model.coef_):
        return names
    # Of two classes only the second one has coefficients.
    return names[-1:] or ["coefficient"]


def _columns(
    title: str, names: Sequence[str], columns: Iterable[Sequence[float]], heads: Sequence[str]
) -> AnswerPart:
    """Lay out columns of numbers without intervals, a row for each name."""
    rows: list[list[Any]] = []
    for name, *values in zip(names, *columns, strict=False):
        rows.append([name, *(float(f"{value:.4g}") for value in values)])
    intervals: list[list[Any]] = [[None] * (len(heads) + 1) for _ in rows]
    return _part(title, ("column", *heads), rows, intervals)
