"""Measurements of a workload: unbiased estimates before post-processing, and their covariance.

A workload is several sets of keys, running totals, or many counts that were planned together. Its
published counts may have been moved to 0 or above and to whole numbers (`nonnegative`, `whole`).
A regression on moved counts is biased, with unknown errors. For such analyses these measurements
are published beside them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..arithmetic.canonical import canonical_json
from ..errors import InvalidArgument
from ..plan.plan import Plan
from ..plan.text.plan import set_labels
from ..privacy.events.json import Json
from ..query.algebra.tree import Question
from ..query.domains.domain import Scalar
from ..query.text.measured_part import MeasuredPart
from ..statistics.recipe import NoisyValue
from ..statistics.releases.set_totals import SetEstimate, SetsRelease
from ..statistics.releases.total import KeyValues
from ..workloads.budget_shares import Floats
from ..workloads.matrix import MatrixStrategy, SumsStrategy, asked_weights
from ..workloads.nested import NestedStrategy
from ..workloads.residual import ResidualStrategy
from ..workloads.weighted_tables import TableStrategy
from ..workloads.workload import Counts

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
MEASUREMENTS_NOTE = (
    "Estimates before anything was moved: unbiased, with known covariance, and consistent. Each table has `columns` "
    "and `rows` (null: summed over), the noise, and `covariance`: a matrix in the order of the rows, or the formula by "
    "which that of any two cells follows from `components`; `covariance_with` has that with each count of the table. "
    "Tables that name the same `strategy_of` were estimated at once: the formula holds between their cells too; other "
    "tables are independent. For a regression use generalised least squares with this covariance; the CSV files are "
    "for reading, since moved numbers are biased."
)
"""Explanation that is written into the file of measurements."""


def measurements(answer: Answer) -> dict[str, object]:
    """Return the unbiased estimates of a workload and their covariance, as plain values for JSON.

    For sets of keys the covariance follows from the variances of components, by the formula that is
    written beside them. For running totals and counts it is written out as a matrix. Errors are normal
    under Gaussian noise. Under Laplace noise these are the exact second moments all the same.

    Refuses: with InvalidArgument an answer that is no workload, or that an older release planned.
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
    # Sets that count different rows: each table by itself, with noise of its own.
    for _, table in plan.tables:
        held = plan.key_places(table)
        own: list[Cell] = []
        for key, row in _of_sets(plan, table, cells):
            own.append((tuple(key[place] for place in held), row))
        labels = " and ".join(set_labels(table.question))
        for name, statistic in _of_plan(table, own).items():
            found[f"{name} by {labels}"] = statistic
    return found


def _of_sets(plan: Plan, table: Plan, cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells of one of several tables: the keys that are not summed over tell the set."""
    held = plan.key_places(table)
    sets = set()
    for places in table.question.sets or ():
        sets.add(tuple(held[place] for place in places))
    own = []
    for key, row in cells:
        present = tuple(place for place, value in enumerate(key) if value is not None)
        if present in sets:
            own.append((key, row))
    return own


def _of_plan(plan: Plan, cells: Sequence[Cell]) -> dict[str, object]:
    """Return every statistic of one strategy, by name."""
    found: dict[str, object] = {}
    for place, release in enumerate(plan.releases):
        if not isinstance(release, SetsRelease):
            continue
        for name, places in plan.uses:
            if places[0] == place:
                found[name] = _one_statistic(cells, name, release, plan)
    return found


def plain_value(value: Scalar) -> object:
    """Return the value of a key as JSON has it; fractions, days and times as text."""
    if value is None or isinstance(value, bool | int | str):
        return value
    return str(value)


def _named(plan: Plan) -> tuple[Question, list[str]]:
    """Return the question that was planned, and its names of this question's keys."""
    planned = plan.question
    if plan.within is not None:
        planned = plan.within.question
    known = {key.expression: key.name for key in planned.keys}
    return planned, [known[key.expression] for key in plan.question.keys]


def _one_statistic(
    cells: Sequence[Cell], name: str, release: SetsRelease, plan: Plan
) -> dict[str, object]:
    """Return the estimates of one statistic with the facts that give their covariance."""
    made = release.plan
    strategy = made.strategy
    rows = []
    for key, row in cells:
        estimate = row[name]
        if isinstance(estimate, SetEstimate):
            rows.append([*map(plain_value, key), float(estimate.total)])
    question, columns = _named(plan)
    told: dict[str, object] = {
        "strategy": strategy.name,
        "noise": made.noise,
        "unit": float(release.unit),
        "columns": [*columns, name],
        "rows": rows,
    }
    variances = [measured.variance for measured in made.measured]
    names = [key.name for key in question.keys]
    if isinstance(strategy, ResidualStrategy | TableStrategy):
        components: list[dict[str, object]] = []
        for places, variance in strategy.component_variances(variances).items():
            own_names = [names[place] for place in places]
            components.append({"keys": own_names, "variance": variance})
        # A key that rows may be without has one more value than it shows.
        sizes = dict(zip(names, strategy.workload.sizes, strict=True))
        return told | {"sizes": sizes, "components": components, "covariance": COVARIANCE}
    if isinstance(strategy, NestedStrategy):
        return told | _levels(strategy, variances, question)
    if not isinstance(strategy, MatrixStrategy | SumsStrategy):
        raise InvalidArgument("levels of a tree have no covariance that is written out")
    # Each estimate is a weighted sum of independent noise of one variance σ²: covariance W·Wᵀ·σ².
    weights = np.concatenate(list(asked_weights(strategy)))
    variance = made.measured[0].variance
    matrix = weights @ weights.T * variance * float(release.unit) ** 2
    if isinstance(strategy.workload, Counts):
        # Many counts without keys: a matrix over the counts, of which this statistic is one.
        counts = [count for count, _ in plan.question.statistics]
        own = matrix[counts.index(name)]
        told["covariance_with"] = dict(zip(counts, own.tolist(), strict=True))
        matrix = own[counts.index(name)].reshape(1, 1)
    return told | {"covariance": matrix.tolist()}


def _levels(
    strategy: NestedStrategy, variances: list[float], question: Question
) -> dict[str, object]:
    """Return the facts from which the covariance of any two cells of nested levels follows."""
    nested: Sequence[int] = ()
    if question.nested is not None:
        nested = question.nested.places
    others = []
    for place, key in enumerate(question.keys):
        if place not in nested:
            others.append(key.name)
    components = []
    for places, facts in strategy.tree_facts(variances).items():
        levels = []
        for level in facts:
            levels.append({name: _short(values) for name, values in level.items()})
        own_names = [others[place] for place in places]
        components.append({"keys": own_names, "levels": levels})
    return {
        "levels": [question.keys[place].name for place in nested],
        "sizes": dict(zip(others, strategy.workload.sizes, strict=True)),
        "components": components,
        "covariance": LEVELS,
    }


def _short(values: Floats) -> object:
    """Return one number if those of all nodes of a level are equal up to rounding; else a list."""
    spread = float(np.ptp(values))
    largest = float(np.abs(values).max())
    if spread <= 1e-12 * largest:
        return float(values[0])
    return values.tolist()


MAX_STORED = 400_000
"""Characters of the largest covariance that is stored with an answer; a larger one is left out."""


def known_covariances(
    answers: Mapping[str, Answer], parts: Mapping[str, MeasuredPart]
) -> dict[str, Json]:
    """Return the covariance of every workload among answers by name, as it is stored."""
    known = {}
    for name, answer in answers.items():
        facts = covariance_facts(answer, parts[name])
        # Tables with independent noise need none: their estimates have it.
        if facts:
            known[name] = facts
    return known


def covariance_facts(answer: Answer, part: MeasuredPart) -> Json:
    """Return the covariance of a workload's estimates as it is stored, by statistic; empty without one.

    Names and order are those of the measured part, so nothing tells which spelling was asked
    (`answer.measured_table`). Tables that share one strategy with others have none of their own.

    Law: tests/record/test_bodies.py::test_a_body_keeps_the_covariance_of_a_workload
    """
    plan = answer.plan
    if not isinstance(plan, Plan) or plan.gap is None or plan.tables or plan.within is not None:
        return {}
    try:
        found = measurements(answer)
    except InvalidArgument:
        # Levels of a tree have no covariance that is written out.
        return {}
    places = {}
    for key, place in zip(answer.question.keys, part.places, strict=True):
        places[key.name] = f"k{place}"
    facts: Json = {}
    for name, canonical in part.names.items():
        one: Any = found.get(name)
        if one is not None:
            facts[canonical] = _in_canonical_order(one, places, part)
    return facts


def _in_canonical_order(one: Json, places: Mapping[str, str], part: MeasuredPart) -> Json:
    """Return the facts of one statistic without its estimates, by the names of the measured part."""
    kept: Json = {name: one[name] for name in ("strategy", "noise", "unit")}
    covariance: Any = one["covariance"]
    if isinstance(covariance, str):
        kept["formula"] = "levels" if covariance == LEVELS else "sets"
        kept |= _named_components(one, places)
    else:
        kept |= _canonical_matrix(one["rows"], covariance, part)
        counts: Any = one.get("covariance_with")
        if counts is not None:
            kept["with"] = {part.names[count]: number for count, number in counts.items()}
    if len(canonical_json(kept)) > MAX_STORED:
        return {"formula": "not recorded"}
    return kept


def _named_components(one: Any, places: Mapping[str, str]) -> Json:  # noqa: ANN401 JSON
    """Return sizes and components under the canonical names of keys, in a canonical order."""
    sizes = {}
    for name, size in one["sizes"].items():
        sizes[places[name]] = size
    components = []
    for component in one["components"]:
        keys = sorted(map(places.__getitem__, component["keys"]))
        components.append(component | {"keys": keys})
    named: Json = {"sizes": dict(sorted(sizes.items()))}
    # In an order of their own: that of the keys would tell the spelling.
    named["components"] = sorted(components, key=canonical_json)
    if "levels" in one:
        named["levels"] = list(map(places.__getitem__, one["levels"]))
    return named


def _canonical_matrix(rows: Any, covariance: Any, part: MeasuredPart) -> Json:  # noqa: ANN401 JSON
    """Return a matrix in the order of the stored rows, with the keys that this order has."""
    if len(rows) ** 2 * 8 > MAX_STORED:
        return {"formula": "not recorded"}
    width = range(len(part.places))
    keys = {}
    # By the text of the canonical key, as rows are put in order in the stored table.
    for at, row in enumerate(rows):
        key = [row[part.places.index(place)] for place in width]
        keys[canonical_json(key)] = (at, key)
    order = [keys[text][0] for text in sorted(keys)]
    told = [keys[text][1] for text in sorted(keys)]
    matrix = np.array(covariance)[np.ix_(order, order)]
    return {"formula": "matrix", "keys": told, "matrix": matrix.tolist()}
