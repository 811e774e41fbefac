"""Choosing between models at the price of one: each learns from people of its own, and one private choice follows.

Every row goes, by a secret draw of its own, to one of K + 1 parts: candidate k learns from part k with the whole spend,
and the last part decides by an exponential choice over how many of its rows each candidate gets right. One row is in
one part only, so the price is the largest of the parts' (two of them under replace neighbours); one row more draws its
own part and moves no other. The choice alone would not pay for the training: the parts do.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, TypeVar

import numpy as np

from ..data.unit import People
from ..errors import InvalidArgument
from ..ledger import Ledger
from ..mechanisms.selection.exponential import Exponential
from ..noise import Bits, uniform
from ..privacy.calibrate import largest
from ..privacy.events import Event, ExponentialSelection, Parallel
from ..privacy.measures import Measure
from ..query.algebra.tree import Scan
from ..query.bounds.rows import columns_of, neighbours_of
from .coding.cells import Cells, Listed, Steps
from .coding.label import Classes
from .estimator import REQUIRED, Estimator
from .frame import read_columns
from .models.classifier import chances_of
from .training.source import Arrays

__all__ = ["tune"]

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

    Refuses models that do not classify, a schema of people, and grids of more than 64 models.
    """
    candidates = _candidates(model, grid)
    schema = model.declared()
    if ledger is REQUIRED or isinstance(schema.unit, People):
        raise InvalidArgument("tune needs a ledger (or ledger=None, which warns) and a schema whose unit is a row")
    domains, price = columns_of(Scan(schema)), model.price(None)
    task = model.task(domains)
    if not isinstance(task.label, Classes):
        raise InvalidArgument(f"{type(model).__name__} does not classify; tune counts the rows that are found right")
    plans, choice = [one.plan() for one in candidates], _choice(price)
    columns = read_columns(task, domains, X, y)
    relation = neighbours_of(Scan(schema))
    if relation != "add-remove":
        raise InvalidArgument("tune divides rows among parts; it needs a schema with add-remove neighbours")
    _charge(ledger, Parallel([*(plan.event for plan in plans), choice.event]), who)
    parts = np.asarray(uniform(len(candidates) + 1, _count(columns), bits=bits))
    for place, (one, plan) in enumerate(zip(candidates, plans, strict=True)):
        own = Arrays({name: _part(cells, parts == place) for name, cells in columns.items()})
        one.keep(one.task(domains), domains, plan, one.recipe().train(one.task(domains), plan, own, bits), None)
    last = {name: _part(cells, parts == len(candidates)) for name, cells in columns.items()}
    chosen = choice.release([_right(one, last) for one in candidates], bits=bits)
    return candidates[int(chosen)]


def _candidates(model: Model, grid: Mapping[str, Sequence[Any]]) -> list[Model]:
    words = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    if not 2 <= len(words) <= 64:
        raise InvalidArgument(f"a grid makes 2 to 64 models to choose from, this one makes {len(words)}")
    return [type(model)(**model.get_params()).set_params(**said) for said in words]


def _choice(spend: Measure) -> Exponential:
    epsilon = largest(ExponentialSelection, spend, start=1)
    return Exponential(epsilon, 1)


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


def _right(model: Estimator, columns: Mapping[str, Cells]) -> int:
    """Count the rows whose class a model finds: one row moves it by 1."""
    task = model.task_
    found = chances_of(model.scores_of(task.design.code(columns).dense()))
    wanted = task.label.code(columns[task.label.name]) if task.label is not None else None
    return int(np.sum(found.argmax(axis=1) == wanted))
