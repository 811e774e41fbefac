"""What a workload released before anything was moved, with its covariance: for whoever wants to compute on.

Tidy tables have no negative numbers and are whole; a regression on them is biased and its errors are not known. This is
the other half of a publication: the unbiased estimates, and the covariance of any two of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ..errors import InvalidArgument
from ..plan.plan import Plan
from ..plan.text.strategy import set_labels
from ..query.algebra.tree import Question
from ..query.domains.domain import Scalar
from ..statistics.recipe import NoisyValue
from ..statistics.releases.set_totals import SetEstimate, SetsRelease
from ..statistics.releases.total import KeyValues
from ..workloads.budget_shares import Floats
from ..workloads.matrix import MatrixStrategy, SumsStrategy, asked_weights
from ..workloads.nested import NestedStrategy
from ..workloads.residual import ResidualStrategy
from ..workloads.weighted_tables import TableStrategy

if TYPE_CHECKING:
    from .answer import Answer

Cell: TypeAlias = tuple[KeyValues, dict[str, NoisyValue]]
"""The keys of a cell, and its estimates by statistic."""
COVARIANCE = (
    "unit² · Σ over components A within both sets, S of cell a and T of cell b, of variance_A · Π over keys of A of "
    "(1 if a and b have the same value else 0, minus 1/size) · Π over other keys of S of 1/size · the same for T"
)
LEVELS = (
    "as for keys: unit² · Σ over components A of v_A(a, b) · Π over keys of A of (1 if a and b have the same value "
    "else 0, minus 1/size) · Π over other keys of 1/size, with v_A by the nodes of a and b: let c be the lowest node "
    "that holds both, w(a) the product of `share` over the nodes from below c down to a; v_A = w(a)·w(b)·(variance of "
    "c, minus `pooled` of c if both a and b lie below c). Numbers are by level, the root first; a list has one for "
    "each node, in order of the rows"
)
HOW = (
    "Estimates before anything was moved: unbiased, with known covariance, and consistent. Each table has `columns` "
    "and `rows` (null: summed over), the noise, and `covariance`: a matrix in the order of the rows, or the formula by "
    "which that of any two cells follows from `components`. Tables that name the same `strategy_of` were estimated at "
    "once: the formula holds between their cells too; other tables are independent. For a regression use generalised "
    "least squares with this covariance; the CSV files are for reading, since moved numbers are biased."
)
"""What the one file of a release says of itself."""


def measurements(answer: Answer) -> dict[str, object]:
    """Return the estimates before they were moved, and their covariance, as plain values for JSON.

    Of sets of keys the covariance follows from the variances of components, by the formula that stands beside them; of
    running totals and of counts it is written out. Errors are normal under Gaussian noise; under Laplace noise these
    are the exact second moments all the same.

    Refuses an answer that is no workload, or that an older release planned.
    """
    plan = answer.plan
    if not isinstance(plan, Plan) or plan.gap is None:
        raise InvalidArgument(
            "only several sets of keys, running totals and many counts have measurements to publish"
        )
    found: dict[str, object] = {"measurements": 1, "spend": str(plan.spend)}
    cells = list(zip(answer.keys, answer.estimates, strict=True))
    if not plan.tables:
        return found | _of_plan(plan, cells)
    for (
        _,
        table,
    ) in plan.tables:  # sets that count different rows: each table by itself, with noise of its own
        held = [plan.question.keys.index(key) for key in table.question.keys]
        own = [(tuple(key[at] for at in held), row) for key, row in _of_sets(plan, table, cells)]
        labels = " and ".join(set_labels(table.question))
        found |= {f"{name} by {labels}": one for name, one in _of_plan(table, own).items()}
    return found


def _of_sets(plan: Plan, table: Plan, cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells of one of several tables: those of its sets, by which keys are not summed over."""
    held = [plan.question.keys.index(key) for key in table.question.keys]
    sets = {tuple(held[place] for place in one) for one in table.question.sets or ()}
    return [
        (key, row)
        for key, row in cells
        if tuple(at for at, value in enumerate(key) if value is not None) in sets
    ]


def _of_plan(plan: Plan, cells: Sequence[Cell]) -> dict[str, object]:
    """Return every statistic of one strategy."""
    found: dict[str, object] = {}
    for place, release in enumerate(plan.releases):
        if isinstance(release, SetsRelease):
            for name in [name for name, places in plan.uses if places[0] == place]:
                found[name] = _one(cells, name, release, plan)
    return found


def _plain(value: Scalar) -> object:
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def _named(plan: Plan) -> tuple[Question, list[str]]:
    """Return the question that was planned, and what it calls the keys of this one."""
    whole = plan.question if plan.within is None else plan.within.question
    known = {key.expression: key.name for key in whole.keys}
    return whole, [known[key.expression] for key in plan.question.keys]


def _one(cells: Sequence[Cell], name: str, release: SetsRelease, plan: Plan) -> dict[str, object]:
    strategy, made = release.plan.strategy, release.plan
    rows = [
        [*map(_plain, key), float(row[name].total)]  # type: ignore[attr-defined]
        for key, row in cells
        if isinstance(row[name], SetEstimate)
    ]
    question, columns = _named(plan)
    told: dict[str, object] = {
        "strategy": strategy.name,
        "noise": made.noise,
        "unit": float(release.unit),
    }
    told |= {"columns": [*columns, name], "rows": rows}
    variances = [one.variance for one in made.measured]
    names = [key.name for key in question.keys]
    if isinstance(strategy, ResidualStrategy | TableStrategy):
        known = strategy.component_variances(variances)
        parts: list[dict[str, object]] = [
            {"keys": [names[i] for i in part], "variance": v} for part, v in known.items()
        ]
        sizes = {key.name: len(key.values or ()) for key in question.keys}
        return told | {"sizes": sizes, "components": parts, "covariance": COVARIANCE}
    if isinstance(strategy, NestedStrategy):
        return told | _levels(strategy, variances, question)
    if not isinstance(strategy, MatrixStrategy | SumsStrategy):
        raise InvalidArgument("levels of a tree have no covariance that is written out")
    weights = np.concatenate(list(asked_weights(strategy)))
    matrix = weights @ weights.T * made.measured[0].variance * float(release.unit) ** 2
    return told | {"covariance": matrix.tolist()}


def _levels(
    strategy: NestedStrategy, variances: list[float], question: Question
) -> dict[str, object]:
    """Return what the covariance of any two cells of nested levels follows from."""
    nested = question.nested.places if question.nested is not None else ()
    others = [key.name for place, key in enumerate(question.keys) if place not in nested]
    parts = [
        {
            "keys": [others[i] for i in part],
            "levels": [{n: _short(v) for n, v in level.items()} for level in facts],
        }
        for part, facts in strategy.tree_facts(variances).items()
    ]
    sizes = dict(zip(others, strategy.workload.sizes, strict=True))
    told: dict[str, object] = {
        "levels": [question.keys[place].name for place in nested],
        "sizes": sizes,
    }
    return told | {"components": parts, "covariance": LEVELS}


def _short(values: Floats) -> object:
    """Return one number for all nodes of a level where they are equal."""
    same = float(np.ptp(values)) <= 1e-12 * float(np.abs(values).max())
    return float(values[0]) if same else values.tolist()
