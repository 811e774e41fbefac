"""Plan one question from its terms; no data is read and nothing is spent."""

from __future__ import annotations

from typing import Unpack

from ..errors import InvalidArgument, UnsupportedQuery
from ..privacy.filters.filter import Filter
from ..privacy.measures import Measure
from ..query.algebra.tree import Question
from ..query.bounds.keys import PublicValues
from ..query.bounds.missing_keys import absent_keys, table_parts
from ..query.bounds.wide_sets import MAX_FINEST_CELLS, is_wide
from .asked.checked_question import CheckedQuestion, check_question
from .asked.options import QuestionOptions, read_asked
from .asked.terms import TermOptions, Terms, read_terms
from .choose import choose
from .plan import Plan


def plan_question(
    question: Question,
    spend: Measure | None = None,
    *,
    under: Filter | None = None,
    public_values: PublicValues | None = None,
    **terms: Unpack[TermOptions],
) -> Plan:
    """Plan the answer of least predicted error for a spend, or of least price for an error.

    `error` is one number for every statistic or one for each, by name, in the statistic's own unit
    (quantiles and modes in rows), exceeded in one key with probability at most 1 − level. `weights`
    says how a spend is divided among statistics, 1 each by default. `size` is the number of rows
    per key for which errors of means and the like are predicted; by default the schema's size over
    the number of keys, else 1,000. `under` is the filter that will be charged: only events that it
    can price are considered. `choose` has the decision table.

    >>> import discreet as dp
    >>> people = dp.Schema("people", dp.Rows(), {"region": dp.Category(["N", "S"])})
    >>> question = dp.Table(people).count(by="region")
    >>> dp.plan_question(question, dp.PureDP(1)).statistic_errors()
    {'count': 3.0}
    >>> dp.plan_question(question, error={"count": 30}).spend <= dp.PureDP("1/10")
    True

    Guarantee: the plan reads no data. Its events fit the spend, or its predicted errors are at most
    those asked.

    Refuses: questions without a bound (UnsupportedQuery). Unknown keys without a δ, names of no
    statistic, errors that are not above 0 or that need no answer, and both or neither of spend and
    error (InvalidArgument).

    Law: tests/plan/test_plan.py::TestPrice
    """
    read = read_terms(spend, **terms)
    checked = check_question(question, public_values)
    return check_whole(plan_checked(checked, read, under=under), read)


def plan_checked(checked: CheckedQuestion, terms: Terms, *, under: Filter | None) -> Plan:
    """Plan a question that was checked; see `plan_question`."""
    return choose(checked.question, check_terms(checked, terms, under=under))


def check_terms(checked: CheckedQuestion, terms: Terms, *, under: Filter | None) -> QuestionOptions:
    """Read the terms of a question for its statistics; nothing is planned.

    Refuses: terms that do not belong to the question, and post-processing that cannot be computed.
    """
    if terms.whole or terms.nonnegative:
        _check_post_processing(checked, terms)
    return read_asked(checked, terms, under=under)


def _check_post_processing(checked: CheckedQuestion, terms: Terms) -> None:
    """Refuse post-processing to whole or nonnegative numbers where it cannot be computed.

    Refuses: tables whose finest cells are not counted, unless they are pairs, which their margins
    alone determine; and whole numbers that add up for sets that count different rows
    (UnsupportedQuery).
    """
    question = checked.question
    if question.sets is None:
        return
    parts = table_parts(question, checked.public_values)
    if terms.whole and len(parts) > 1:
        names = absent_keys(question, checked.public_values)
        raise UnsupportedQuery(
            "whole: its tables count different rows, "
            f"since a row may be without {' or '.join(names)}, so they do not add up; "
            f"group by COALESCE({names[0]}, …), declare default= for its column, "
            "or leave whole out"
        )
    if any(_is_wide_beyond_pairs(part.question) for part in parts):
        raise UnsupportedQuery(
            "GROUPING SETS: tables of three keys or more are made whole or nonnegative from their "
            f"finest cells, and these have more than {MAX_FINEST_CELLS:,} combinations; ask for sets "
            "of at most two keys, for fewer keys or wider bins, or leave it out"
        )


def _is_wide_beyond_pairs(question: Question) -> bool:
    """Return whether the finest cells are not counted and some set has three keys or more."""
    if not is_wide(question):
        return False
    return max(map(len, question.sets or ((),))) > 2


def check_whole(plan: Plan, terms: Terms) -> Plan:
    """Return the plan if `whole` applies to it: only questions that have a strategy.

    Refuses: `whole` for other questions (InvalidArgument).
    """
    if terms.whole and plan.gap is None:
        raise InvalidArgument(
            "whole= is for several sets of keys, running totals or many counts at once; "
            "one count is whole already"
        )
    return plan
