"""What speaks against asking a question as it is, and what would work better: from public facts alone, before paying.

    a condition that no row can meet        the answer is noise around 0
    more cells than people                  most cells are empty, and all of them get noise
    an error that swallows the number       it is as large as what a cell can hold, or as a quarter of the range
    a cap that may cut                      what people have beyond it is in no number

Each line says what, why, and offers coarser keys, a larger spend or another statistic.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING

from ...arithmetic.rounding import shown
from ...privacy.measures import ZCDP
from ...query.algebra.expression import Expression, Field
from ...query.algebra.tree import Key, Mean, Question, Relation, Scan, Statistic, Sum, Variance
from ...query.bounds.relation_facts import columns_of
from ...query.domains.domain import Day, Second, Whole
from ...query.domains.domain_of import domain_of
from ...show.number import plain_number
from ...statistics.releases.choice import ChosenRelease
from ...statistics.releases.quantile_release import PlaceRelease
from ..text.plan import cut_text
from .impossible_conditions import impossible_conditions

if TYPE_CHECKING:
    from ..plan import Plan

_MOST_TIMES = 100
"""Nobody is advised to spend more than so many times as much."""


def warnings_of(plan: Plan) -> tuple[str, ...]:
    """List what speaks against a plan; nothing of it depends on data.

    >>> import discreet as dp
    >>> from discreet.plan.advice.warnings import warnings_of
    >>> people = dp.Schema("people", dp.Rows(), {"age": dp.Integer(0, 120)}, size=100)
    >>> asked = dp.parse_sql("SELECT age, COUNT(*) AS n FROM people GROUP BY age", {"people": people})
    >>> for warning in warnings_of(dp.plan_question(asked, dp.PureDP("1/5"))):
    ...     print(warning)
    121 cells for 100 rows: most of them are empty, and each gets noise; FLOOR(age / 10) * 10 has fewer keys
    n is off by ± 15 where a cell holds 0.83 rows on average; FLOOR(age / 10) * 10 has fewer keys
    """
    never = [
        f"no row can meet {one}: the answer is noise around 0"
        for one in impossible_conditions(plan.question)
    ]
    cut = cut_text(plan)
    helps = "suggest_caps tells privately how many rows people have, estimate_cut what is cut off"
    return (*never, *_cells(plan), *_errors(plan), *([f"{cut}; {helps}"] if cut else []))


def most_units(rows: Relation) -> int | None:
    """Return the declared number of units of the one private table that is read; a condition only leaves fewer."""
    sizes = [scan.schema.size for scan in _scans(rows)]
    return sizes[0] if len(sizes) == 1 else None


def _scans(node: object) -> Iterator[Scan]:
    if isinstance(node, Scan):
        yield node
    elif isinstance(node, tuple):
        for one in node:
            yield from _scans(one)
    elif is_dataclass(node):
        for one in fields(node):
            yield from _scans(getattr(node, one.name))


def _cells(plan: Plan) -> Iterator[str]:
    size, cells = most_units(plan.question.rows), len(plan.keys or ())
    if size is not None and cells > size:
        who = _who(plan.question.rows)
        said = f"{cells:,} cells for {size:,} {who}: most of them are empty, and each gets noise"
        yield "; ".join([said, *_coarser(plan.question)])


def _who(rows: Relation) -> str:
    return next(("people" if scan.schema.unit is not None and scan.schema.unit.kind == "people" else "rows")
                for scan in _scans(rows))  # fmt: skip


def _errors(plan: Plan) -> Iterator[str]:
    """Warn of statistics whose error is as large as what they could be."""
    errors, statistics = plan.statistic_errors(), dict(plan.question.statistics)
    for (name, places), recipe in zip(plan.uses, plan.recipes, strict=True):
        error, statistic = errors[name], statistics[name]
        rows = _rows_per_cell(plan)
        ranked = isinstance(plan.releases[places[0]], ChosenRelease | PlaceRelease)
        if recipe.noise_model.counts or ranked:
            if rows is not None and error >= (rows / 4 if ranked else rows):
                unit = " rows" if ranked else ""
                many = f"a cell holds {_brief(rows)} {_who(plan.question.rows)} on average"
                said = f"{name} is off by ± {_brief(error)}{unit} where {many}"
                yield f"{said}; {_offers(plan, error / max(rows / 10, 1e-300), None)}"
            continue
        width = _width(statistic, plan.question, rows)
        if width is not None and error >= width / 4:
            said = f"{name} is off by ± {_brief(error)}, {_part(error, width)} of all it can be"
            times = (
                20 * error / width if error < width else math.inf
            )  # a clipped error does not tell how much would do
            yield f"{said}, for {plan.supposed}; {_offers(plan, times, statistic)}"


def _brief(number: float) -> str:
    return plain_number(float(shown(number, 2)))


def _part(error: float, width: float) -> str:
    return f"{min(100, round(100 * 2 * error / width))} %"


def _rows_per_cell(plan: Plan) -> float | None:
    """Return how many units a cell holds on average, at most, if anybody said so."""
    size = most_units(plan.question.rows)
    if plan.size_from == "given":
        return float(plan.size)
    return None if size is None or plan.keys is None else size / max(1, len(plan.keys))


def _width(statistic: Statistic, question: Question, rows: float | None) -> float | None:
    """Return the width of what a statistic can be; of a sum, if the number of rows is known."""
    if not isinstance(statistic, Mean | Sum | Variance):
        return None
    domain = domain_of(statistic.of, columns_of(question.rows))
    if not isinstance(domain, Whole):
        return None
    wide = float((domain.high - domain.low) * domain.step)
    if isinstance(statistic, Variance):
        return wide / 2 if statistic.root else wide**2 / 4
    if isinstance(statistic, Mean):
        return wide
    return (
        None if rows is None else rows * float(max(abs(domain.low), abs(domain.high)) * domain.step)
    )


def _offers(plan: Plan, times: float, statistic: Statistic | None) -> str:
    """Return what would help: coarser keys, so many times the spend, another statistic."""
    times = times**2 if isinstance(plan.spend, ZCDP) else times
    more = [f"spend {_brief(times)} times as much"] if times <= _MOST_TIMES else []
    offers = [*_coarser(plan.question), *more, *_other(statistic)]
    return ", or ".join(offers) or "ask of more rows at once"


def _other(statistic: Statistic | None) -> list[str]:
    match statistic:
        case Mean():
            return [
                "ask MEDIAN, which a wide range does not blur",
                "narrow the range, AVG(LEAST(x, most))",
            ]
        case Sum():
            return ["narrow the range, SUM(LEAST(x, most))"]
        case Variance():
            return ["ask two quantiles instead"]
        case _:
            return []


def _coarser(question: Question) -> list[str]:
    """Offer coarser keys: wider bins of the key with the most values, or to leave it out."""
    keys = [key for key in question.keys if key.values is not None and len(key.values) > 1]
    if not keys:
        return []
    key = max(keys, key=lambda one: len(one.values or ()))
    domain = domain_of(key.expression, columns_of(question.rows))
    if isinstance(domain, Day | Second) and isinstance(key.expression, Field):
        return [f"YEAR({key.expression.name}) or MONTH({key.expression.name}) has fewer keys"]
    if isinstance(domain, Whole) and isinstance(key.expression, Field) and domain.keys is None:
        wide = _bin(domain)
        return [f"FLOOR({key.expression.name} / {wide}) * {wide} has fewer keys"]
    return [f"leave out {_name(key)}, which has {len(key.values or ()):,} values"]


def _bin(domain: Whole) -> int:
    """Return 10, 100, …: the least that leaves at most twenty bins."""
    wide = 10
    while (domain.high - domain.low) * domain.step / wide > 20:
        wide *= 10
    return wide


def _name(key: Key) -> str:
    expression: Expression = key.expression
    return expression.name if isinstance(expression, Field) else key.name
