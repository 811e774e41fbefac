"""View of a trained model: coefficients with intervals, effects with errors, or centres and directions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from ....learn.stored import model_from_json
from ....wire.models import KINDS
from ..charts.grouping_tables import AnswerPart

LEVEL = 0.95
MAX_EFFECTS = 12
ROWS_OF = ("cluster_centers_", "components_", "centroids_")


def learned_tables(trained: object) -> tuple[AnswerPart, ...]:
    """Return tables of what was learned; none for a model that has no such numbers."""
    model: Any = model_from_json(json.dumps(trained), {kind.__name__: kind for kind in KINDS})
    if hasattr(model, "coef_interval"):
        return (_coefficients(model),)
    if hasattr(model, "effects_"):
        return tuple(_effect(one) for one in model.effects_.columns[:MAX_EFFECTS])
    if hasattr(model, "coef_"):
        return (
            _plain("Coefficients", model.columns_, zip(*model.coef_, strict=True), _classes(model)),
        )
    found = next((name for name in ROWS_OF if hasattr(model, name)), None)
    return () if found is None else (_centres(model, found),)


def _part(
    title: str, names: Sequence[str], rows: list[list[Any]], boxes: list[list[Any]]
) -> AnswerPart:
    columns = [{"name": name, "noisy": place > 0} for place, name in enumerate(names)]
    return AnswerPart(
        title, {"columns": columns, "rows": rows, "intervals": boxes, "level": str(LEVEL)}
    )


def _coefficients(model: Any) -> AnswerPart:  # noqa: ANN401 a linear model
    ends = model.coef_interval(LEVEL)
    rows = [[name, float(value)] for name, value in zip(model.columns_, model.coef_, strict=True)]
    boxes = [[None, list(ends[name])] for name in model.columns_]
    rows.append(["intercept", float(model.intercept_)])
    return _part("Coefficients", ("column", "coefficient"), rows, [*boxes, [None, None]])


def _effect(one: Any) -> AnswerPart:  # noqa: ANN401 what one column adds
    names = [label.removeprefix(one.name).strip(" =") or label for label in one.labels]
    rows: list[list[Any]] = [[name, value] for name, value in zip(names, one.values, strict=True)]
    pairs = zip(one.values, one.deviations, strict=True)
    boxes = [[None, [value - 2 * deviation, value + 2 * deviation]] for value, deviation in pairs]
    return _part(f"What {one.name} adds", (one.name, "effect"), rows, boxes)


def _classes(model: Any) -> list[str]:  # noqa: ANN401
    names = [str(one) for one in getattr(model, "classes_", ())]
    return names if len(names) == len(model.coef_) else names[-1:] or ["coefficient"]


def _centres(model: Any, name: str) -> AnswerPart:  # noqa: ANN401
    titles = {
        "cluster_centers_": "Centres of the groups",
        "components_": "Directions",
        "centroids_": "Centres",
    }
    found = getattr(model, name)
    heads = [str(one) for one in getattr(model, "classes_", ())] or [
        str(place + 1) for place in range(len(found))
    ]
    return _plain(titles[name], model.columns_, zip(*found, strict=True), heads)


def _plain(
    title: str, names: Sequence[str], values: Iterable[Sequence[float]], heads: Sequence[str]
) -> AnswerPart:
    """Lay out numbers without intervals."""
    rows: list[list[Any]] = [
        [name, *map(_short, row)] for name, row in zip(names, values, strict=False)
    ]
    return _part(title, ("column", *heads), rows, [[None] * (len(heads) + 1) for _ in rows])


def _short(value: float) -> float:
    return float(f"{value:.4g}")
