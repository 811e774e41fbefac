"""Plan of a question whose answer is public: declared keys alone, or no rows at all (LIMIT 0).

    question                               answer
    SELECT DISTINCT region FROM people     the declared regions, whether any row has them or not
    SELECT region … GROUP BY region        the same, if no statistic is asked for
    SELECT region, COUNT(*) … LIMIT 0      no row; the names and types of the columns
    SELECT … FROM (…) WHERE 1 = 0          likewise, for a condition of constants that does not hold

Nothing is released, so there is nothing to pay for. The ledger notes the answer as a promise of ε
= 0.

Guarantee: such a plan reads no private row and has no release.
Law: tests/curator/test_public_answers.py::TestAPublicAnswer
"""

from __future__ import annotations

from ..arithmetic.rational import rational
from ..privacy.measures import PureDP
from ..query.algebra.tally import Free
from ..query.algebra.tree import Question
from ..query.bounds.nested import set_cells
from ..query.meaning.post_processing import leaves_no_key, never_holds
from .asked.terms import GIVEN_SIZE, Terms
from .plan import Plan


def is_public(question: Question) -> bool:
    """Return whether the answer to a question follows from declarations alone.

    >>> import discreet as dp
    >>> from discreet.plan.public_answer import is_public
    >>> people = {"people": dp.Schema("people", dp.Rows(), {"sex": dp.Category(["f", "m"])})}
    >>> texts = "SELECT DISTINCT sex FROM people", "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
    >>> [is_public(dp.parse_sql(sql, people)) for sql in texts]
    [True, False]
    """
    if any(key.values is None for key in question.keys):
        # Which of these keys occur is private, and is asked even if nothing is counted.
        return False
    return not question.statistics or shows_no_row(question)


def shows_no_row(question: Question) -> bool:
    """Return whether an answer has no row whatever the data are.

    That is so for LIMIT 0, and for a HAVING, QUALIFY or WHERE with a condition of constants that
    does not hold, such as `1 = 0`. A WHERE counts only with GROUP BY: it leaves no public key
    then. Without keys, and in ROLLUP and other sets of keys, there is a row of totals in any case.
    """
    finish = question.finish
    # A total over all keys has a row whatever WHERE says: a sum over the released table.
    no_keys = finish.qualify is None and leaves_no_key(question)
    return finish.limit == 0 or no_keys or never_holds(finish.having) or never_holds(finish.qualify)


def public_terms(question: Question, terms: Terms) -> Terms:
    """Return the terms of a question; for a public one the level alone, without spend and error."""
    if is_public(question):
        return Terms(level=terms.level)
    return terms


def is_planned_public(question: Question, terms: Terms) -> bool:
    """Return whether a question on these terms gets a plan without releases.

    A question with LIMIT 0 that is released together with others has a spend. It is then measured
    like the question without LIMIT: stored answers of both have one key, since LIMIT is
    post-processing.
    """
    if question.statistics and (terms.spend is not None or terms.error is not None):
        return False
    return is_public(question)


def plan_public(question: Question, terms: Terms) -> Plan:
    """Return the plan without releases of a question that `is_public`."""
    keys: list[tuple[object, ...]] = []
    if not shows_no_row(question):
        keys.extend(set_cells(question))
    return Plan(
        question,
        spend=PureDP(0),
        share=Free(),
        keys=tuple(keys),  # type: ignore[arg-type]
        selection=None,
        releases=(),
        uses=(),
        recipes=(),
        parts=(),
        size=1,
        size_from=GIVEN_SIZE,
        level=rational(terms.level, "level"),
        why="the answer is public; nothing is released",
        public=True,
    )
