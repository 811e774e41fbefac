"""Many counts of one table at once: COUNT(*) FILTER (WHERE …) of public conditions, planned as one workload.

SUM(CASE WHEN … THEN 1 ELSE 0 END) is the same count in other words.

The store is asked how many rows there are of each combination of conditions that public facts allow, in one GROUP BY;
each count is a sum of these. Whether that is better than each count by itself, the predicted errors say.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from .. import workloads
from ..errors import InvalidArgument, UnsupportedQuery
from ..privacy.measures import Measure
from ..query.algebra.expression import Call, Constant, Expression, Function
from ..query.algebra.tally import Free, Tally, Term
from ..query.algebra.tree import Count, CountOf, Question, Statistic, Sum
from ..query.bounds.contribution_bounds import row_share, weight_of
from ..query.bounds.keys import public_keys
from ..query.bounds.public_cells import Cells, list_cells
from ..query.bounds.relation_facts import columns_of
from ..query.bounds.sensitivity import influence
from ..query.meaning.breakpoints import cut_values
from ..statistics.catalogue import recipe_of
from ..statistics.releases.addend import present
from ..statistics.releases.basis import basis_of
from ..statistics.releases.set_totals import CellsNeed
from .asked import QuestionOptions
from .plan import Plan
from .workload_plan import plan_one

LEAST_COUNTS = 4
"""Fewer counts are planned one by one."""
MOST_COUNTS = 40
_MOST_CELLS = 1024


def plan_counts(
    question: Question, asked: QuestionOptions, amount_of: Callable[[Measure], Fraction]
) -> Plan | None:
    """Return the plan of many counts as one workload; None where the question is no such thing."""
    statistics = [statistic for _, statistic in question.statistics]
    if question.keys or not LEAST_COUNTS <= len(statistics) <= MOST_COUNTS:
        return None
    truths = [truth for truth in (_truth(s, question) for s in statistics) if truth is not None]
    if (
        len(truths) < len(statistics)
        or len(set(asked.weights)) > 1
        or len(set(asked.errors or ())) > 1
    ):
        return None
    code = _code(truths)
    found = public_keys(code, question.rows, _MOST_CELLS, asked.public_values)
    if found is None:  # a column of many values, which the conditions may only cut in pieces
        found = cut_values(code, columns_of(question.rows), 4 * _MOST_CELLS)
    codes = [value for value in found or () if isinstance(value, int) and value]
    matrix = np.array(
        [[value >> place & 1 for value in codes] for place in range(len(truths))], dtype=np.int64
    )
    if not codes or not matrix.any(axis=1).all():
        return None
    return _best(question, asked, list_cells(code, codes), workloads.Counts(matrix), amount_of)


def _truth(statistic: Statistic, question: Question) -> Expression | None:
    """Return the condition under which a statistic counts a row; None if it does something else."""
    match statistic:
        case Count():
            return Constant(True)
        case CountOf(of=of):
            return present(of, question.rows)
        case Sum(
            of=Call(
                function=Function.CASE,
                arguments=(truth, Constant(value=1), Constant(value=0 | None)),
            )
        ):
            return truth
        case _:
            return None


def _code(truths: list[Expression]) -> Expression:
    """Return one whole number that says which conditions hold: a bit for each."""
    total: Expression = Constant(0)
    for place, truth in enumerate(truths):
        bit = Call(Function.CASE, (truth, Constant(1 << place), Constant(0)))
        total = bit if not place else Call(Function.ADD, (total, bit))
    return total


def _best(
    question: Question,
    asked: QuestionOptions,
    cells: Cells,
    shape: workloads.Counts,
    amount_of: Callable[[Measure], Fraction],
) -> Plan | None:
    share = row_share(question.rows)
    weight = weight_of(1, share)
    # a row for which no condition holds is in no cell, but it is one of its person's rows, as where counts stand alone
    every = None if isinstance(share, Free) else ((0,), *cells.places)
    tally = Tally(
        question.rows,
        cells.expressions,
        (Term(Constant(True), weight, 0, weight),),
        share,
        only=every,
    )
    need = CellsNeed(tally, cells, Fraction(1, weight), influence(tally, 0, len(cells.places)))
    basis = basis_of(question, share, 1, asked.public_values)
    recipes = tuple(recipe_of(statistic, basis) for _, statistic in question.statistics)
    try:
        return plan_one(question, asked, need, shape, recipes=recipes, amount_of=amount_of)
    except (InvalidArgument, UnsupportedQuery):  # no error can be met so, or no way can be priced
        return None


def better(
    one: Plan, other: Plan | None, asked: QuestionOptions, amount_of: Callable[[Measure], Fraction]
) -> Plan:
    """Return the plan of less error, or of the lower price where an error was given."""
    if other is None:
        return one
    if asked.spend is None:
        return min(one, other, key=lambda plan: amount_of(plan.spend))
    return min(one, other, key=lambda plan: plan.loss(asked.weights))
