"""Private hyperparameter tuning at the cost of one fit: disjoint training sets, then one selection.

Every row is assigned, by a secret draw of its own, to one of K + 1 disjoint subsets, for K
candidate models. Candidate k learns from subset k with the whole budget. On the last subset the
exponential mechanism selects one candidate. The score is the number of rows that a candidate
predicts right, or, for numbers, how near its predictions are to the rows. One row is in one subset
only, so that the cost is the largest of the subsets' costs (parallel composition). An added row
draws its own subset and moves no other row.

Guarantee: the whole of `tune` costs the `Parallel` event that is charged before any row is used.
Law: tests/learn/test_models.py::TestTune
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress, product
from typing import Any, TypeVar, cast

import numpy as np

from ..arithmetic.arrays import Floats, Integers
from ..data.unit import People
from ..errors import InvalidArgument
from ..ledger import Ledger
from ..mechanisms.selection.exponential import Exponential
from ..noise import Bits, uniform
from ..privacy.calibrate import largest
from ..privacy.events import ExponentialSelection, Parallel
from ..privacy.measures import Measure
from ..query.algebra.tree import Scan
from ..query.bounds.relation_facts import columns_of, neighbours_of
from .coding.column_cells import Cells, Listed, Steps
from .coding.feature import UNIT
from .coding.label import Classes, Label
from .estimator import REQUIRED, Estimator, charge
from .frame import read_columns
from .models.classifier import chances_of
from .task import Task
from .training.source import Arrays

MOST = 2 * UNIT
"""Largest distance of a prediction from a number: the width of the declared bounds."""

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
    """Return a fitted model of a grid, the best but for noise, for the cost of one fit.

    `grid` maps parameters of `model` to the values to try; every combination is a candidate.

    Classifiers are scored by rows predicted right. Regressions are scored by their distance from
    rows within the declared bounds, quantile regressions by the pinball loss.

    Refuses: a missing ledger, models that predict nothing, a schema of people, neighbours other
        than add-remove, `at` in the grid, and fewer than 2 or more than 64 models.
    """
    candidates = _candidates(model, grid)
    schema = model.declared()
    if ledger is REQUIRED or isinstance(schema.unit, People):
        raise InvalidArgument(
            "tune needs a ledger (or ledger=None, which warns) and a schema whose unit is a row"
        )
    domains = columns_of(Scan(schema))
    price = model.price(None)
    task = model.task(domains)
    if task.label is None:
        raise InvalidArgument(
            f"{type(model).__name__} predicts nothing; tune needs a target to be near to"
        )
    plans = [candidate.plan() for candidate in candidates]
    sensitivity = 1 if isinstance(task.label, Classes) else MOST
    selection = _choice(price, sensitivity)
    columns = read_columns(task, domains, X, y)
    relation = neighbours_of(Scan(schema))
    if relation != "add-remove":
        raise InvalidArgument(
            "tune divides rows among parts; it needs a schema with add-remove neighbours"
        )
    # Charged before the first draw: rows are used only below.
    events = [plan.event for plan in plans]
    charge(ledger, Parallel([*events, selection.event]), who, "tune a model")
    subsets = np.asarray(uniform(len(candidates) + 1, _count(columns), bits=bits))
    for index, (candidate, plan) in enumerate(zip(candidates, plans, strict=True)):
        own = Arrays(_subset(columns, subsets == index))
        own_task = candidate.task(domains)
        fitted = candidate.recipe().train(own_task, plan, own, bits)
        candidate.keep(own_task, domains, plan, fitted, None)
    held_out = _subset(columns, subsets == len(candidates))
    scores = [_worth(candidate, held_out) for candidate in candidates]
    chosen = selection.release(scores, bits=bits)
    return candidates[int(chosen)]


def _candidates(model: Model, grid: Mapping[str, Sequence[Any]]) -> list[Model]:
    """Return a copy of the model for every combination of the parameters in `grid`.

    Refuses: fewer than 2 or more than 64 models, and `at` in the grid.
    """
    settings = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    if "at" in grid:
        raise InvalidArgument(
            "at says which quantile is asked; models of different ones cannot be compared"
        )
    if not 2 <= len(settings) <= 64:
        raise InvalidArgument(
            f"a grid makes 2 to 64 models to choose from, this one makes {len(settings)}"
        )
    candidates = []
    for changed in settings:
        copy = type(model)(**model.get_params())
        candidates.append(copy.set_params(**changed))
    return candidates


def _choice(spend: Measure, sensitivity: int) -> Exponential:
    epsilon = largest(ExponentialSelection, spend, start=1)
    return Exponential(epsilon, sensitivity)


def _subset(columns: Mapping[str, Cells], kept: Any) -> dict[str, Cells]:  # noqa: ANN401 a mask
    return {name: _part(cells, kept) for name, cells in columns.items()}


def _part(cells: Cells, kept: Any) -> Cells:  # noqa: ANN401 a mask
    if isinstance(cells, Steps):
        return Steps(cells.steps[kept], cells.missing[kept])
    return Listed(list(compress(cells.values, kept.tolist())))


def _count(columns: Mapping[str, Cells]) -> int:
    cells = next(iter(columns.values()))
    if isinstance(cells, Steps):
        return len(cells.steps)
    return len(cells.values)


def _worth(model: Estimator, columns: Mapping[str, Cells]) -> int:
    """Return the score of a model on rows: a row adds 0 or 1 for a class, 0 to MOST for a number."""
    task: Task = model.task_
    label = cast("Label", task.label)
    predicted = _alone(model, task.design.code(columns).dense())
    wanted = label.code(columns[label.name])
    if isinstance(label, Classes):
        return int(np.sum(predicted == wanted))
    error = wanted - predicted
    # Pinball loss; at the median it is half the absolute error.
    at = getattr(model, "at", 0.5)
    loss = np.floor(np.where(error >= 0, at * error, (at - 1) * error)).astype(np.int64)
    # A row without a number is coded below −UNIT and adds nothing.
    return int(np.where(wanted < -UNIT, 0, MOST - loss).sum())


def _alone(model: Estimator, image: Floats) -> Integers:
    """Return the predicted class, or number in −UNIT..UNIT, of each row scored by itself."""
    # One row at a time, in one buffer: in a product over many rows the last bit of a score may
    # depend on the other rows, and so one added row could change the class of another.
    buffer = np.empty((1, image.shape[1]))
    predicted = np.empty(len(image), dtype=np.int64)
    is_classifier = isinstance(model.task_.label, Classes)
    for index, row in enumerate(image):
        buffer[0] = row
        scores = model.scores_of(buffer)
        if is_classifier:
            predicted[index] = chances_of(scores).argmax()
        else:
            score = min(1.0, max(-1.0, scores[0, 0]))
            predicted[index] = int(UNIT * score)
    return predicted
