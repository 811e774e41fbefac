"""What follows from an answer with several sets or running totals, for nothing: one set, ranges, quantiles."""

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
from ..workloads.project import isotonic
from .confidence import read_level

if TYPE_CHECKING:
    from .answer import Answer


class Between(NamedTuple):
    """A count with the interval that holds the exact one."""

    value: float
    low: float
    high: float


def one_set(answer: Answer, names: tuple[str, ...]) -> Answer:
    """Return the rows of one set, without the columns of keys that are summed over."""
    question = answer.plan.question
    keys = [key.name for key in question.keys]
    unknown = [name for name in names if name not in keys]
    asked = None if unknown else tuple(sorted(keys.index(name) for name in names))
    if question.sets is None or asked not in question.sets:
        known = "; ".join(
            ", ".join(keys[i] for i in one) or "the total" for one in question.sets or ()
        )
        raise InvalidArgument(
            f"the answer has no table of {', '.join(names) or 'the total'}; it has {known or 'one'}"
        )
    there = [
        place
        for place, key in enumerate(answer.keys)
        if tuple(i for i, v in enumerate(key) if v is not None) == asked
    ]
    gone = {key for place, key in enumerate(keys) if place not in asked}
    shown = [not (isinstance(e, Field) and e.name in gone) for _, e in question.finish.columns]
    finish = replace(
        question.finish,
        columns=tuple(c for c, kept in zip(question.finish.columns, shown, strict=True) if kept),
    )
    plan = replace(answer.plan, question=replace(question, finish=finish))
    return replace(
        answer,
        columns=tuple(name for name, _ in finish.columns),
        rows=tuple(
            tuple(v for v, kept in zip(answer.rows[p], shown, strict=True) if kept) for p in there
        ),
        sorts=tuple(sort for sort, kept in zip(answer.sorts, shown, strict=True) if kept),
        plan=plan,
        keys=tuple(answer.keys[place] for place in there),
        estimates=tuple(answer.estimates[place] for place in there),
        every=None,
    )


def _running(answer: Answer) -> tuple[list[Fraction], list[SetEstimate]]:
    """Return the values of the key in order, with the running totals."""
    question = answer.plan.question
    if not question.running:
        raise InvalidArgument(
            "ranges and quantiles follow from running totals; ask Table(…).cumulative('age')"
        )
    pairs = [
        (key[0], next(iter(row.values())))
        for key, row in zip(answer.keys, answer.estimates, strict=True)
    ]
    found = sorted(
        (Fraction(value), made)  # type: ignore[arg-type]
        for value, made in pairs
        if isinstance(made, SetEstimate)
    )
    if len(found) < len(question.keys[0].values or ()):
        raise InvalidArgument(
            "some running totals were left out by HAVING or LIMIT; ask for all of them"
        )
    return [value for value, _ in found], [made for _, made in found]


def between(answer: Answer, low: object, high: object, level: float) -> Between:
    """Return a range of running totals: the difference of two, with the interval of the difference itself."""
    values, totals = _running(answer)
    first, last = rational(low, "low"), rational(high, "high")
    start = sum(value < first for value in values)
    end = sum(value <= last for value in values)
    if end <= start:
        return Between(0.0, 0.0, 0.0)
    value = totals[end - 1].total - (totals[start - 1].total if start else 0)
    reach = _reach(answer, start, end, len(values), 1 - read_level(level)) * float(totals[0].unit)
    floor = totals[0].low is not None
    found = max(0.0, float(value)) if floor else float(value)
    return Between(
        found,
        max(0.0, float(value) - reach) if floor else float(value) - reach,
        float(value) + reach,
    )


def _reach(answer: Answer, start: int, end: int, size: int, beta: float) -> float:
    """Return half the width of a range's interval: by the strategy, or by the intervals of both its ends."""
    plan = answer.plan
    if isinstance(plan, Plan) and isinstance(plan.releases[0], SetsRelease):
        row = np.zeros((1, size))
        row[0, start:end] = 1
        return float(plan.releases[0].plan.reach_of(row, beta)[0])
    _, totals = _running(answer)
    ends = [totals[end - 1], *([totals[start - 1]] if start else [])]
    return sum(one.law.reach(beta / len(ends)) for one in ends)


def quantile_of(answer: Answer, at: Number) -> Value:
    """Return the least value up to which a share of all rows lies, by running totals that never fall."""
    values, totals = _running(answer)
    share = rational(at, "at")
    if not 0 <= share <= 1:
        raise InvalidArgument(f"a quantile lies from 0 to 1, got {at}; 0.5 is the median")
    rising = isotonic(np.array([float(one.total) for one in totals]))
    place = min(int(np.searchsorted(rising, float(share) * rising[-1])), len(values) - 1)
    exact = values[place]
    return int(exact) if exact.denominator == 1 else exact
