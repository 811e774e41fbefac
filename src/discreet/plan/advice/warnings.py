"""Warnings about a planned question, with better alternatives, from public facts alone.

    warned of                                     because
    a condition that no row can meet              the answer is noise around 0
    more cells than rows or people are declared   most cells are empty, and each gets noise
    a count whose error reaches the average       the answer says little about a cell
    number of rows or people in a cell
    a quantile or mode whose error reaches a      likewise
    quarter of the rows in a cell
    a mean, sum or variance whose error reaches   the answer says little, even on the most
    a quarter of its possible range               favourable data that the prediction supposes
    a cap on a person's rows (truncation)         rows beyond the cap are in no number
    rows without a listed key, under such a cap   they count towards the cap, and are in no cell

Most warnings offer what would work better: coarser keys, a larger spend (at most 100 times as
much), another statistic, or tighter caps.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING

from ...arithmetic.rounding import shown
from ...privacy.measures import ZCDP
from ...query.algebra.expression import Field
from ...query.algebra.statistic import CountPeople, CountPeopleIf, Mean, Statistic, Sum, Variance
from ...query.algebra.tally import RowShare
from ...query.algebra.tree import Question, Relation, Scan
from ...query.bounds.missing_keys import absent_keys
from ...query.bounds.relation_facts import columns_of
from ...query.domains.domain import Day, Second, Whole
from ...query.domains.domain_of import domain_of
from ...query.text.keys_condition import keys_condition
from ...query.text.labels import column_behind
from ...show.number import plain_number
from ...statistics.releases.choice import ChosenRelease
from ...statistics.releases.quantile_release import PlaceRelease
from ..text.plan import truncation_text
from .impossible_conditions import impossible_conditions

if TYPE_CHECKING:
    from ..plan import Plan

# Nobody is advised to spend more than this many times as much.
_MAX_TIMES = 100


def warnings_of(plan: Plan) -> tuple[str, ...]:
    """List the warnings about a plan as texts; none of them depends on data.

    >>> import discreet as dp
    >>> from discreet.plan.advice.warnings import warnings_of
    >>> people = dp.Schema("people", dp.Rows(), {"age": dp.Integer(0, 120)}, size=100)
    >>> sql = "SELECT age, COUNT(*) AS n FROM people GROUP BY age"
    >>> asked = dp.parse_sql(sql, {"people": people})
    >>> for warning in warnings_of(dp.plan_question(asked, dp.PureDP("1/5"))):
    ...     print(warning)
    121 cells for 100 rows: most of them are empty, and each gets noise; FLOOR(age / 10) * 10 has fewer keys
    n is off by ± 15 where a cell holds 0.83 rows on average; FLOOR(age / 10) * 10 has fewer keys

    Law: tests/plan/test_advice.py::TestWarnings
    """
    impossible = impossible_conditions(plan.question)
    warnings = []
    for one in impossible:
        hint = _label_hint(plan.question, one)
        warnings.append(f"no row can meet {one}: the answer is noise around 0{hint}")
    warnings += _cell_warnings(plan)
    warnings += _error_warnings(plan)
    cut = truncation_text(plan)
    if cut:
        helps = (
            "suggest_caps says privately how many rows people have, "
            "estimate_truncation says what is cut off"
        )
        warnings.append(f"{cut}; {helps}")
        warnings += _key_warnings(plan.question)
    return tuple(warnings)


def _label_hint(question: Question, condition: str) -> str:
    """Return the value to write where a condition names its label; "" if it names none."""
    for name in columns_of(question.rows):
        column = column_behind(question.rows, name)
        for value, label in getattr(column, "labels", None) or ():
            if name in condition and f"'{label}'" in condition:
                return f"; write {value!r}, whose label it is"
    return ""


def _key_warnings(question: Question) -> Iterator[str]:
    """Warn of rows without a listed key, which count towards a person's cap; offer their WHERE."""
    where = keys_condition(question)
    of_people = CountPeople | CountPeopleIf
    if where and any(not isinstance(one, of_people) for _, one in question.statistics):
        names = " or ".join(absent_keys(question, None))
        yield (
            f"rows without a listed value of {names} are in no cell, "
            f"but count towards the cap of a person; {where} leaves them out before the cap"
        )


def most_units(rows: Relation) -> int | None:
    """Return the declared number of units of the one private table that is read.

    None if several tables are read, or none is declared. Conditions leave at most that many.
    """
    sizes = [scan.schema.size for scan in _scans(rows)]
    if len(sizes) != 1:
        return None
    return sizes[0]


def _scans(node: object) -> Iterator[Scan]:
    """List the private tables inside a relation, also those of relations inside it."""
    if isinstance(node, Scan):
        yield node
    elif isinstance(node, tuple):
        for child in node:
            yield from _scans(child)
    elif is_dataclass(node):
        for field in fields(node):
            yield from _scans(getattr(node, field.name))


def _cell_warnings(plan: Plan) -> Iterator[str]:
    """Warn of more cells than units."""
    size = most_units(plan.question.rows)
    cells = len(plan.keys or ())
    if size is not None and cells > size:
        units = _unit_name(plan.question.rows)
        fact = f"{cells:,} cells for {size:,} {units}: most of them are empty, and each gets noise"
        yield "; ".join([fact, *_coarser(plan.question)])


def _unit_name(rows: Relation) -> str:
    first = next(_scans(rows))
    unit = first.schema.unit
    if unit is not None and unit.kind == "people":
        return "people"
    return "rows"


def _error_warnings(plan: Plan) -> Iterator[str]:
    """Warn of statistics whose error is as large as their possible values."""
    errors = plan.statistic_errors()
    least = plan.least_errors()
    statistics = dict(plan.question.statistics)
    rows = _rows_per_cell(plan)
    for (name, places), recipe in zip(plan.uses, plan.recipes, strict=True):
        error = errors[name]
        is_ranked = isinstance(plan.releases[places[0]], ChosenRelease | PlaceRelease)
        if recipe.noise_model.counts or is_ranked:
            yield from _row_warning(plan, name, error, rows, ranked=is_ranked)
        else:
            # An error counts as too large only if it is so on the best data that are supposed.
            best = least.get(name, error)
            yield from _range_warning(plan, name, best, rows, statistics[name])


def _row_warning(
    plan: Plan, name: str, error: float, rows: float | None, *, ranked: bool
) -> Iterator[str]:
    """Warn of an error, in rows, that reaches the rows of a cell; of ranks, a quarter of them."""
    if rows is None or error < (rows / 4 if ranked else rows):
        return
    unit = " rows" if ranked else ""
    content = f"a cell holds {_brief(rows)} {_unit_name(plan.question.rows)} on average"
    fact = f"{name} is off by ± {_brief(error)}{unit} where {content}"
    # A tenth of a cell's rows is the error to aim at; an empty cell would divide by 0.
    times = error / max(rows / 10, 1e-300)
    yield f"{fact}; {_offers(plan, times, None)}"


def _range_warning(
    plan: Plan, name: str, error: float, rows: float | None, statistic: Statistic
) -> Iterator[str]:
    """Warn of an error that reaches a quarter of the range of a statistic."""
    width = _width(statistic, plan.question, rows)
    if width is None or error < width / 4:
        return
    # A clipped error does not tell how much more spend would suffice.
    times = 20 * error / width if error < width else math.inf
    # The least error is rounded down, since more is said of it.
    least = plain_number(float(shown(error, 2, upward=False)))
    fact = f"{name} is off by ± {least} or more, {_percent(error, width)} of all it can be"
    most_rows = plan.size_range(name)[1]
    supposed = plan.supposed
    if most_rows > plan.size:
        supposed = f"up to {most_rows:,} rows per key (none declared)"
    yield f"{fact}, for {supposed}; {_offers(plan, times, statistic)}"


def _brief(number: float) -> str:
    return plain_number(float(shown(number, 2)))


def _percent(error: float, width: float) -> str:
    percent = round(100 * 2 * error / width)
    return f"{min(100, percent)} %"


def _rows_per_cell(plan: Plan) -> float | None:
    """Return the given number of rows per key, or the declared units over the number of keys.

    None if neither is known. Conditions may leave fewer.
    """
    if plan.size_from == "given":
        return float(plan.size)
    size = most_units(plan.question.rows)
    if size is None or plan.keys is None:
        return None
    return size / max(1, len(plan.keys))


def _width(statistic: Statistic, question: Question, rows: float | None) -> float | None:
    """Return the width of the range of a mean or variance, or the largest size of a sum.

    For a sum the number of rows must be known. None for other statistics and other types.
    """
    if not isinstance(statistic, Mean | Sum | Variance):
        return None
    domain = domain_of(statistic.of, columns_of(question.rows))
    if not isinstance(domain, Whole):
        return None
    width = float((domain.high - domain.low) * domain.step)
    if isinstance(statistic, Variance):
        # Popoviciu: a deviation is at most half of the range, a variance a quarter of its square.
        return width / 2 if statistic.root else width**2 / 4
    if isinstance(statistic, Mean):
        return width
    if rows is None:
        return None
    largest = max(abs(domain.low), abs(domain.high))
    return rows * float(largest * domain.step)


def _offers(plan: Plan, times: float, statistic: Statistic | None) -> str:
    """Return better alternatives: coarser keys, caps, more spend, another statistic or range.

    `times` is the factor by which the error should fall; more than 100 times the spend is not
    offered. `statistic` is the one that was asked, None for counts and ranks.
    """
    if isinstance(plan.spend, ZCDP):
        # Errors fall as 1/√ρ, so ρ grows with the square of the factor.
        times = times**2
    offers = _coarser(plan.question) + _cap_offers(plan)
    if times <= _MAX_TIMES:
        offers.append(f"spend {_brief(times)} times as much")
    offers += _other(statistic)
    return ", or ".join(offers) or "ask of more rows at once"


def _cap_offers(plan: Plan) -> list[str]:
    """Name caps that would lower the noise, where only a person's rows in all are capped."""
    if not plan.keys or not plan.question.keys:
        return []
    shares = [release.need.tally.share for release in plan.releases]
    if not any(isinstance(share, RowShare) and share.rows > 1 for share in shares):
        return []
    return ["declare max_rows_per_group, and max_groups, where people have few rows in few keys"]


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
    expression = key.expression
    domain = domain_of(expression, columns_of(question.rows))
    if not isinstance(expression, Field):
        return [f"leave out {key.name}, which has {len(key.values or ()):,} values"]
    column = expression.name
    if isinstance(domain, Day | Second):
        return [f"YEAR({column}) or MONTH({column}) has fewer keys"]
    if isinstance(domain, Whole) and domain.keys is None:
        width = _bin_width(domain)
        return [f"FLOOR({column} / {width}) * {width} has fewer keys"]
    return [f"leave out {column}, which has {len(key.values or ()):,} values"]


def _bin_width(domain: Whole) -> int:
    """Return the least of 10, 100, … with which the range of a domain is at most 20 bins wide."""
    width = 10
    while (domain.high - domain.low) * domain.step / width > 20:
        width *= 10
    return width
