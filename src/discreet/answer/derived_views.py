"""Post-processing of answers: one of several grouping sets; ranges, quantiles of running totals.

All of it is computed from the noisy answer, so it costs no budget.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arithmetic.rational import Number, rational
from ..errors import InvalidArgument
from ..plan.plan import Plan
from ..query.algebra.expression import Field
from ..query.meaning.post_processing import Value
from ..statistics.releases.set_totals import SetEstimate, SetsRelease
from ..statistics.releases.total import KeyValues
from ..workloads.project import isotonic
from .answer import read_level

if TYPE_CHECKING:
    from .answer import Answer


class Between(NamedTuple):
    """Count with its confidence interval."""

    value: float
    low: float
    high: float


def one_set(answer: Answer, names: tuple[str, ...]) -> Answer:
    """Return the rows of the grouping set with the keys `names`, without columns of other keys.

    Refuses: with InvalidArgument a set that was not asked.
    """
    question = answer.question
    keys = [key.name for key in question.keys]
    asked: tuple[int, ...] | None = None
    if all(name in keys for name in names):
        asked = tuple(sorted(keys.index(name) for name in names))
    if question.sets is None or asked is None or asked not in question.sets:
        labels = []
        for places in question.sets or ():
            labels.append(", ".join(keys[place] for place in places) or "the total")
        wanted = ", ".join(names) or "the total"
        known = "; ".join(labels) or "one"
        raise InvalidArgument(f"the answer has no table of {wanted}; it has {known}")
    # A key that is summed over is NULL in the rows of a set, so the other keys tell the set of a row.
    rows = [place for place, key in enumerate(answer.keys) if _held(key) == asked]
    summed = {key for place, key in enumerate(keys) if place not in asked}
    columns = []
    for place, (_, expression) in enumerate(question.finish.columns):
        if not (isinstance(expression, Field) and expression.name in summed):
            columns.append(place)
    shown = tuple(question.finish.columns[place] for place in columns)
    finish = replace(question.finish, columns=shown)
    plan = replace(answer.plan, question=replace(question, finish=finish))
    names_shown = tuple(name for name, _ in shown)
    sorts = tuple(answer.sorts[place] for place in columns)
    values = []
    own_keys = []
    estimates = []
    for row in rows:
        values.append(tuple(answer.rows[row][place] for place in columns))
        own_keys.append(answer.keys[row])
        estimates.append(answer.estimates[row])
    return replace(
        answer,
        columns=names_shown,
        rows=tuple(values),
        sorts=sorts,
        plan=plan,
        keys=tuple(own_keys),
        estimates=tuple(estimates),
        every=None,
    )


def _held(key: KeyValues) -> tuple[int, ...]:
    """Return the indices of the keys that are not summed over."""
    return tuple(place for place, value in enumerate(key) if value is not None)


def _running(answer: Answer) -> tuple[list[Fraction], list[SetEstimate]]:
    """Return the values of the key in rising order, and the running total of each.

    Refuses: with InvalidArgument other answers, and running totals of which some were left out.
    """
    question = answer.question
    if not question.running:
        raise InvalidArgument(
            "ranges and quantiles follow from running totals; ask Table(…).cumulative('age')"
        )
    found: list[tuple[Fraction, SetEstimate]] = []
    for key, row in zip(answer.keys, answer.estimates, strict=True):
        made = next(iter(row.values()))
        if isinstance(made, SetEstimate):
            found.append((Fraction(key[0]), made))  # type: ignore[arg-type]
    found.sort()
    if len(found) < len(question.keys[0].values or ()):
        raise InvalidArgument(
            "some running totals were left out by HAVING or LIMIT; ask for all of them"
        )
    values = [value for value, _ in found]
    totals = [made for _, made in found]
    return values, totals


def between(answer: Answer, low: object, high: object, level: float) -> Between:
    """Return the count of a range, the difference of two running totals, with its own interval."""
    values, totals = _running(answer)
    first = rational(low, "low")
    last = rational(high, "high")
    start = sum(value < first for value in values)
    end = sum(value <= last for value in values)
    if end <= start:
        return Between(0.0, 0.0, 0.0)
    difference = totals[end - 1].total
    if start:
        difference -= totals[start - 1].total
    value = float(difference)
    beta = 1 - read_level(level)
    steps = _reach(answer, start, end, len(values), beta)
    reach = steps * float(totals[0].unit)
    lower = value - reach
    upper = value + reach
    # If counts were moved to 0 or above, so are the range and its lower end; the exact count is too.
    if totals[0].low is not None:
        return Between(max(0.0, value), max(0.0, lower), upper)
    return Between(value, lower, upper)


def _reach(answer: Answer, start: int, end: int, size: int, beta: float) -> float:
    """Return half the width of the interval of a range, in steps of the count.

    The range is of the values number `start` to `end` − 1, of `size` in all.
    """
    plan = answer.plan
    if isinstance(plan, Plan) and isinstance(plan.releases[0], SetsRelease):
        # The strategy knows the noise of the difference itself, which is less than that of both ends.
        row = np.zeros((1, size))
        row[0, start:end] = 1
        return float(plan.releases[0].plan.reach_of(row, beta)[0])
    # A stored answer of another release has no strategy: union bound over the intervals of both ends.
    _, totals = _running(answer)
    ends = [totals[end - 1]]
    if start:
        ends.append(totals[start - 1])
    return sum(total.law.reach(beta / len(ends)) for total in ends)


def quantile_of(answer: Answer, at: Number) -> Value:
    """Return the least value up to which a fraction of all rows lies, by isotonic running totals.

    Refuses: with InvalidArgument a fraction outside 0 … 1.
    """
    values, totals = _running(answer)
    fraction = rational(at, "at")
    if not 0 <= fraction <= 1:
        raise InvalidArgument(f"a quantile lies from 0 to 1, got {at}; 0.5 is the median")
    # Noisy running totals may fall; isotonic regression gives the nearest ones that never do.
    rising = isotonic(np.array([float(total.total) for total in totals]))
    wanted = float(fraction) * rising[-1]
    place = int(np.searchsorted(rising, wanted))
    exact = values[min(place, len(values) - 1)]
    if exact.denominator == 1:
        return int(exact)
    return exact
