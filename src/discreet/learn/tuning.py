"""Choosing between models at the price of one: each learns from people of its own, and one private choice follows.

Every row goes, by a secret draw of its own, to one of K + 1 parts: candidate k learns from part k with the whole spend,
and the last part decides by an exponential choice over how many of its rows each candidate gets right, or how near to
them it comes. One row is in one part only, so the price is the largest of the parts'; one row more draws its own part
and moves no other. The choice alone would not pay for the training: the parts do.

Each row of the last part is scored by itself, in one and the same place of memory: a product over many rows may change
a row's last bit with its company, and so the class of another row than the one that was added.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from ..data.unit import People
from ..errors import InvalidArgument
from ..ledger import Ledger
from ..mechanisms.selection.exponential import Exponential
from ..noise import Bits, uniform
from ..privacy.calibrate import largest
from ..privacy.events import Event, ExponentialSelection, Parallel
from ..privacy.measures import Measure
from ..query.algebra.tree import Scan
from ..query.bounds.relation_facts import columns_of, neighbours_of
from .coding.column_cells import Cells, Listed, Steps
from .coding.feature import UNIT
from .coding.label import Classes, Label
from .estimator import REQUIRED, Estimator
from .frame import read_columns
from .models.classifier import chances_of
from .task import Floats, Task
from .training.source import Arrays

MOST = 2 * UNIT
"""As far as a prediction may be from a number: the width of the declared bounds."""

Model = TypeVar("Model", bound=Estimator)


def tune(
    model: Model,
    grid: Mapping[str, Sequence[Any]],
    X: Any,  # noqa: ANN401 scikit-learn's manner
    y: Any = None,  # noqa: ANN401
    *,
    ledger: Ledger | None = REQUIRED,
    who: str = "analyst",
    bits: Bits | None = None,
) -> Model:
    """Return the best of the models that a grid of parameters makes, fitted, for the price of one fit.

    Classifiers are chosen by the rows they find right, regressions by their distance from rows, within the declared
    bounds (a quantile's by its own loss). Refuses models that predict nothing, a schema of people, and grids of more
    than 64 models.
    """
    candidates = _candidates(model, grid)
    schema = model.declared()
    if ledger is REQUIRED or isinstance(schema.unit, People):
        raise InvalidArgument(
            "tune needs a ledger (or ledger=None, which warns) and a schema whose unit is a row"
        )
    domains, price = columns_of(Scan(schema)), model.price(None)
    task = model.task(domains)
    if task.label is None:
        raise InvalidArgument(
            f"{type(model).__name__} predicts nothing; tune needs a target to be near to"
        )
    plans, choice = (
        [one.plan() for one in candidates],
        _choice(price, 1 if isinstance(task.label, Classes) else MOST),
    )
    columns = read_columns(task, domains, X, y)
    relation = neighbours_of(Scan(schema))
    if relation != "add-remove":
        raise InvalidArgument(
            "tune divides rows among parts; it needs a schema with add-remove neighbours"
        )
    _charge(ledger, Parallel([*(plan.event for plan in plans), choice.event]), who)
    parts = np.asarray(uniform(len(candidates) + 1, _count(columns), bits=bits))
    for place, (one, plan) in enumerate(zip(candidates, plans, strict=True)):
        own = Arrays({name: _part(cells, parts == place) for name, cells in columns.items()})
        one.keep(
            one.task(domains),
            domains,
            plan,
            one.recipe().train(one.task(domains), plan, own, bits),
            None,
        )
    last = {name: _part(cells, parts == len(candidates)) for name, cells in columns.items()}
    chosen = choice.release([_worth(one, last) for one in candidates], bits=bits)
    return candidates[int(chosen)]


def _candidates(model: Model, grid: Mapping[str, Sequence[Any]]) -> list[Model]:
    words = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    if "at" in grid:
        raise InvalidArgument(
            "at says which quantile is asked; models of different ones cannot be compared"
        )
    if not 2 <= len(words) <= 64:
        raise InvalidArgument(
            f"a grid makes 2 to 64 models to choose from, this one makes {len(words)}"
        )
    return [type(model)(**model.get_params()).set_params(**said) for said in words]


def _choice(spend: Measure, sensitivity: int) -> Exponential:
    epsilon = largest(ExponentialSelection, spend, start=1)
    return Exponential(epsilon, sensitivity)


def _charge(ledger: Ledger | None, event: Event, who: str) -> None:
    if ledger is None:
        warnings.warn("nothing is recorded: this fit is not in any ledger", stacklevel=3)
    else:
        ledger.charge(event, who=who, why="tune a model")


def _part(cells: Cells, kept: Any) -> Cells:  # noqa: ANN401 a mask
    if isinstance(cells, Steps):
        return Steps(cells.steps[kept], cells.missing[kept])
    return Listed([value for value, keep in zip(cells.values, kept.tolist(), strict=True) if keep])


def _count(columns: Mapping[str, Cells]) -> int:
    cells = next(iter(columns.values()))
    return len(cells.steps if isinstance(cells, Steps) else cells.values)


def _worth(model: Estimator, columns: Mapping[str, Cells]) -> int:
    """Return how good a model is for rows, in whole numbers: a row adds 0 or 1 for a class, 0 to MOST for a number."""
    task: Task = model.task_
    label, found = cast("Label", task.label), _alone(model, task.design.code(columns).dense())
    wanted = label.code(columns[label.name])
    if isinstance(label, Classes):
        return int(np.sum(found == wanted))
    apart = wanted - found
    at = getattr(model, "at", 0.5)
    far = np.floor(np.where(apart >= 0, at * apart, (at - 1) * apart)).astype(np.int64)
    return int(np.where(wanted < -UNIT, 0, MOST - far).sum())


def _alone(model: Estimator, image: Floats) -> NDArray[np.int64]:
    """Return the class, or the number in −UNIT..UNIT, that a model says of each row, as if there were no other."""
    one = np.empty((1, image.shape[1]))
    found = np.empty(len(image), dtype=np.int64)
    classes = isinstance(model.task_.label, Classes)
    for place, row in enumerate(image):
        one[0] = row
        scores = model.scores_of(one)
        found[place] = (
            chances_of(scores).argmax()
            if classes
            else int(UNIT * min(1.0, max(-1.0, scores[0, 0])))
        )
    return found
