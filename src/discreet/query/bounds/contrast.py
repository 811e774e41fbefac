"""Contrast: a count under a condition, from the count without it and a count of +1 and −1.

    asked       SELECT COUNT(*) FROM flights WHERE delay > 60
    total t     SELECT COUNT(*) FROM flights
    signed u    SELECT SUM(CASE WHEN delay > 60 THEN 1 ELSE -1 END) FROM flights

The asked count is (t + u)/2: a row that meets the condition adds 1 + 1, any other 1 − 1. Adding or
removing one row changes u by 1, as it changes a count. So with noise of variances s² for t and τ²
for u the asked count has the variance (s² + τ²)/4. Where t is known with s² = v, a count of
variance v needs τ² = 3v only: a third of its price under Gaussian noise.

A charge without a known total measures both sides of the condition (`split`), the rows that meet
it and the others, for the price of one count: a row is on one side. The sum of both is a total of
variance 2v, with which the next count costs half.

A count has a contrast if its unit is a row, its keys are public, and WHERE stands directly over the
table, with conditions that read columns, but none that a key reads. Where a condition is NULL a row
counts as one that does not meet it.

Guarantee: with the exact totals t and u, (t + u)/2 is the exact asked count; t is the sum of both
sides.
Law: tests/query/test_contrast.py::test_half_the_sum_is_the_asked_count
"""

from __future__ import annotations

from ...frozen import frozen, replace
from ..algebra.chain import balance
from ..algebra.expression import Call, Constant, Expression, Field, Function, fields_of
from ..algebra.statistic import Count, Sum
from ..algebra.tree import Finish, Key, Question, names_of, unused_name
from .siblings import is_plain, table_and_conditions


@frozen
class Contrast:
    """Questions that make up a count under conditions: its total, the signed count, and both sides.

    The last key of `split` says whether the conditions hold.
    """

    total: Question
    signed: Question
    split: Question


def contrast_of(question: Question) -> Contrast | None:
    """Return the contrast of a count under conditions; None for questions without one.

    >>> import discreet as dp
    >>> from discreet.query import describe
    >>> from discreet.query.bounds.contrast import contrast_of
    >>> columns = {"origin": dp.Category(["EWR", "JFK"]), "late": dp.Boolean()}
    >>> flights = {"flights": dp.Schema("flights", dp.Rows(), columns)}
    >>> sql = "SELECT origin, COUNT(*) AS n FROM flights WHERE late GROUP BY origin"
    >>> print(describe(contrast_of(dp.parse_sql(sql, flights)).signed))
    SELECT SUM(CASE WHEN late THEN 1 ELSE (-1) END) AS n
    FROM flights
    GROUP BY origin
    """
    table, stated = table_and_conditions(question.rows)
    conditions = list(dict.fromkeys(stated))
    if table is None or not conditions or not is_plain(question):
        return None
    if [statistic for _, statistic in question.statistics] != [Count()]:
        return None
    of_keys: set[str] = set()
    for key in question.keys:
        of_keys |= fields_of(key.expression)
    for condition in conditions:
        read = fields_of(condition)
        # Such a condition narrows the public keys, and the total would have others.
        if not read or read & of_keys:
            return None
    holds = balance(Function.AND, conditions)
    [name] = names_of(question.statistics)
    total = replace(question, rows=table, finish=Finish(((name, Field(name)),)))
    signed = replace(total, statistics=((name, Sum(_choose(holds, 1, -1))),))
    taken = [name, *(key.name for key in question.keys)]
    side = Key(unused_name("holds", "key", taken), _choose(holds, True, False), (False, True))
    return Contrast(total, signed, replace(total, keys=(*question.keys, side)))


def _choose(condition: Expression, yes: int, no: int) -> Expression:
    """Return CASE WHEN condition THEN yes ELSE no END."""
    return Call(Function.CASE, (condition, Constant(yes), Constant(no)))
