"""What a workload released before anything was moved, with its covariance: for whoever wants to compute on.

Tidy tables have no negative numbers and are whole; a regression on them is biased and its errors are not known. This is
the other half of a publication: the unbiased estimates, and the covariance of any two of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import InvalidArgument
from ..plan.plan import Plan
from ..query.algebra.tree import Question
from ..query.domains.domain import Scalar
from ..statistics.releases.sets import SetEstimate, SetsRelease
from ..workloads.matrix import MatrixStrategy
from ..workloads.residual import ResidualStrategy
from ..workloads.weighted import TableStrategy
from ..workloads.workload import Counts

if TYPE_CHECKING:
    from .answer import Answer

__all__ = ["COVARIANCE", "measurements"]

COVARIANCE = (
    "unit² · Σ over components A within both sets, S of cell a and T of cell b, of variance_A · Π over keys of A of "
    "(1 if a and b have the same value else 0, minus 1/size) · Π over other keys of S of 1/size · the same for T"
)


def measurements(answer: Answer) -> dict[str, object]:
    """Return the estimates before they were moved, and their covariance, as plain values for JSON.

    Of sets of keys the covariance follows from the variances of components, by the formula that stands beside them; of
    running totals and of counts it is written out. Errors are normal under Gaussian noise; under Laplace noise these
    are the exact second moments all the same.

    Refuses an answer that is no workload, or that an older release planned.
    """
    plan = answer.plan
    if not isinstance(plan, Plan) or plan.gap is None:
        raise InvalidArgument("only several sets of keys, running totals and many counts have measurements to publish")
    found: dict[str, object] = {"measurements": 1, "spend": str(plan.spend)}
    for place, release in enumerate(plan.releases):
        if isinstance(release, SetsRelease):
            for name in [name for name, places in plan.uses if places[0] == place]:
                found[name] = _one(answer, name, release, plan.question)
    return found


def _plain(value: Scalar) -> object:
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def _one(answer: Answer, name: str, release: SetsRelease, question: Question) -> dict[str, object]:
    strategy, made = release.plan.strategy, release.plan
    rows = [
        [*map(_plain, key), float(row[name].total)]  # type: ignore[attr-defined]
        for key, row in zip(answer.keys, answer.estimates, strict=True)
        if isinstance(row[name], SetEstimate)
    ]
    told = {"strategy": strategy.name, "noise": made.noise, "unit": float(release.unit)}
    told |= {"columns": [*(key.name for key in question.keys), name], "rows": rows}
    if isinstance(strategy, ResidualStrategy | TableStrategy):
        variances = strategy.component_variances([one.variance for one in made.measured])
        names = [key.name for key in question.keys]
        parts = [{"keys": [names[i] for i in part], "variance": v} for part, v in variances.items()]
        sizes = {key.name: len(key.values or ()) for key in question.keys}
        return told | {"sizes": sizes, "components": parts, "covariance": COVARIANCE}
    if not isinstance(strategy, MatrixStrategy):
        raise InvalidArgument("levels of a tree have no covariance that is written out")
    shape = strategy.workload
    sums = shape.matrix.astype(np.float64) if isinstance(shape, Counts) else np.tri(shape.size)
    weights = sums @ strategy.solver
    matrix = weights @ weights.T * made.measured[0].variance * float(release.unit) ** 2
    return told | {"covariance": matrix.tolist()}
