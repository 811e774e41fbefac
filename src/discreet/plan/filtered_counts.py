"""Many filtered counts at once: COUNT(*) FILTER (WHERE …) of public conditions as one workload.

SUM(CASE WHEN … THEN 1 ELSE 0 END) is the same count in another form.

The store is asked in one GROUP BY for the number of rows of each combination of conditions that
public facts allow; each count is a sum of these cells. The planner compares this plan with that of
the counts by themselves, by predicted error, or by price where an error is asked for (`choose`).

Counts that are planned so: 4 to 40, without keys, of equal weights and errors, with at most 1,024
possible combinations of conditions.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from .. import workloads
from ..errors import InvalidArgument, UnsupportedQuery
from ..query.algebra.expression import Call, Constant, Expression, Function
from ..query.algebra.statistic import Count, CountOf, Statistic, Sum
from ..query.algebra.tally import Tally, Term
from ..query.algebra.tree import Question
from ..query.bounds.contribution_bounds import row_share, weight_of
from ..query.bounds.keys import public_keys
from ..query.bounds.public_cells import Cells, list_cells
from ..query.bounds.relation_facts import columns_of
from ..query.bounds.sensitivity import influence
from ..query.meaning.breakpoints import breakpoint_values
from ..statistics.catalogue import recipe_of
from ..statistics.releases.basis import basis_of, present
from ..statistics.releases.set_totals import CellsNeed
from .asked import QuestionOptions
from .plan import Plan
from .workload_plan import plan_one

MIN_COUNTS = 4
"""Fewer counts are planned one by one."""
MAX_COUNTS = 40
"""Conditions are bits of one whole number, so that their number is limited."""
# As many cells as a workload of counts may have (`workloads.Counts`).
_MAX_CELLS = 1024


def plan_counts(question: Question, asked: QuestionOptions) -> Plan | None:
    """Return the plan of many counts without keys as one workload; None if there is no such plan.

    None for fewer than 4 or more than 40 counts, other statistics, unequal weights or errors, a
    condition that no row can meet, and combinations of conditions that are too many or not public.

    Law: tests/workloads/test_questions.py::TestPlans
    """
    statistics = [statistic for _, statistic in question.statistics]
    if not MIN_COUNTS <= len(statistics) <= MAX_COUNTS:
        return None
    conditions: list[Expression] = []
    for statistic in statistics:
        condition = _condition(statistic, question)
        if condition is not None:
            conditions.append(condition)
    if len(conditions) < len(statistics):
        return None
    # A strategy treats all counts alike, so weights and errors must be equal.
    if len(set(asked.weights)) > 1 or len(set(asked.errors or ())) > 1:
        return None
    code = _bit_code(conditions)
    values = public_keys(code, question.rows, _MAX_CELLS, asked.public_values)
    if values is None:
        # A column of many values: the conditions may cut it into few pieces.
        values = breakpoint_values(code, columns_of(question.rows), 4 * _MAX_CELLS)
    # Code 0 means that no condition holds; such rows are in no count.
    codes = []
    for value in values or ():
        if isinstance(value, int) and value:
            codes.append(value)
    bits = []
    for place in range(len(conditions)):
        bits.append([code_value >> place & 1 for code_value in codes])
    matrix = np.array(bits, dtype=np.int64)
    # Combinations that were tried may have more values than a workload of counts tells apart.
    if len(codes) > _MAX_CELLS or not codes or not matrix.any(axis=1).all():
        return None
    return _best(question, asked, list_cells(code, codes), workloads.Counts(matrix))


def _condition(statistic: Statistic, question: Question) -> Expression | None:
    """Return the condition under which a statistic counts a row; None for other statistics."""
    match statistic:
        case Count():
            return Constant(True)
        case CountOf(of=of):
            return present(of, question.rows)
        case Sum(
            of=Call(
                function=Function.CASE,
                arguments=(condition, Constant(value=1), Constant(value=0 | None)),
            )
        ):
            return condition
        case _:
            return None


def _bit_code(conditions: list[Expression]) -> Expression:
    """Return an expression for a whole number whose bit i says whether condition i holds."""
    total: Expression = Constant(0)
    for place, condition in enumerate(conditions):
        bit = Call(Function.CASE, (condition, Constant(1 << place), Constant(0)))
        total = bit if not place else Call(Function.ADD, (total, bit))
    return total


def _best(
    question: Question,
    asked: QuestionOptions,
    cells: Cells,
    shape: workloads.Counts,
) -> Plan | None:
    """Plan the counts from these cells; None if no plan meets the errors or can be priced."""
    share = row_share(question.rows)
    weight = weight_of(1, share)
    presence = Term(Constant(True), weight, 0, weight)
    tally = Tally(question.rows, cells.expressions, (presence,), share)
    sensitivity = influence(tally, 0, len(cells.places))
    need = CellsNeed(tally, cells, Fraction(1, weight), sensitivity)
    basis = basis_of(question, share, 1, asked.public_values)
    recipes = tuple(recipe_of(statistic, basis) for _, statistic in question.statistics)
    try:
        return plan_one(question, asked, need, shape, recipes=recipes)
    except (InvalidArgument, UnsupportedQuery):
        # No such error can be met, or no way can be priced: the counts are planned apart.
        return None
