"""Questions whose sampling error is known: what `of="population"` refuses, before anything is paid.

Refusals follow from the question and the schema. Each says what would work.

Refuses: with InvalidArgument units that are no independent draws, keys that were selected
privately, statistics without a known sampling error, a number of units that is public, scalar
sub-queries, windows over several sets of keys, and sums of numbers of both signs without a count
beside them.

Law: tests/answer/test_population.py
"""

from __future__ import annotations

from ..data.unit import People
from ..errors import InvalidArgument
from ..privacy.measures import REPLACE
from ..query.algebra.expression import Expression, Field, fields_of, windows_of
from ..query.algebra.statistic import Count, CountPeople, Overall, Statistic, Sum
from ..query.algebra.tree import Question, Relation, Scan, Select
from ..query.bounds.relation_facts import columns_of, neighbours_of, unit_of
from ..query.domains.domain_of import domain_of
from ..statistics.releases.basis import range_of
from .computed.first_order import has_derivatives
from .population import SAMPLED, counts_rows


def read_target(of: object, question: Question) -> str:
    """Check what intervals are of: the data, or the population that its units were drawn from.

    Refuses: with InvalidArgument other words, and a population that the question's columns do not tell.
    """
    if of not in ("data", "population"):
        raise InvalidArgument(f'of must be "data" or "population", got {of!r}')
    if of == "population":
        check_sampled(question)
    return str(of)


def check_sampled(question: Question) -> None:
    """Refuse a question whose columns have no known sampling error, by public facts alone.

    Refuses: see the top of this file.

    >>> import discreet as dp
    >>> from discreet.answer.sampled_columns import check_sampled
    >>> people = {"people": dp.Schema("people", dp.Rows(), {"age": dp.Integer(0, 120)})}
    >>> check_sampled(dp.parse_sql("SELECT MEDIAN(age) AS age FROM people", people))
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: of="population": age has no known sampling error; ask for \
COUNT, SUM or AVG and + − × / of them, or take of="data" for the noise alone
    """
    unit = unit_of(question.rows)
    if isinstance(unit, People) and unit.window is not None:
        raise _refusal(
            "the unit is a person within a window of time, and windows of one person are no "
            "independent draws; declare People without window"
        )
    if any(key.values is None for key in question.keys):
        raise _refusal(
            "the keys were selected privately, so the rare ones are missing; list them in the schema"
        )
    statistics = dict(question.statistics)
    for name, expression in question.finish.columns:
        read = fields_of(expression) & statistics.keys()
        if not read:
            continue
        if any(isinstance(statistics[one], Overall) for one in read):
            raise _refusal(
                f"{name} reads a sub-query with rows of its own; write a share of the same rows "
                "as COUNT(*) FILTER (WHERE …) / COUNT(*)"
            )
        known = all(isinstance(statistics[one], SAMPLED) for one in read)
        if not known or not has_derivatives(expression):
            raise _refusal(
                f"{name} has no known sampling error; ask for COUNT, SUM or AVG and + − × / of them"
            )
        if windows_of(expression) and (question.sets is not None or question.running):
            raise _refusal(f"{name} reads rows of several sets; ask for one GROUP BY")
        for one in read:
            _check_statistic(question, name, statistics[one], expression)


def _check_statistic(
    question: Question, name: str, statistic: Statistic, expression: Expression
) -> None:
    """Refuse a number of units that is public, and sums whose squares nothing bounds."""
    counted = CountPeople if isinstance(unit_of(question.rows), People) else Count
    alone = isinstance(expression, Field) and not question.keys
    if alone and isinstance(statistic, counted) and _is_whole_table(question.rows):
        if neighbours_of(question.rows) == REPLACE:
            raise _refusal(f"{name} is the size of the sample, which is public; ask for a share")
    if not isinstance(statistic, Sum):
        return
    low, high = range_of(domain_of(statistic.of, columns_of(question.rows)))
    counted_rows = any(counts_rows(other, statistic.of) for _, other in question.statistics)
    if low < 0 < high and not counted_rows:
        raise _refusal(
            f"{name} sums numbers of both signs, which cancel out; ask for COUNT(*) beside it"
        )


def _is_whole_table(rows: Relation) -> bool:
    """Return whether all rows of one table are read: none is filtered, joined or united."""
    if isinstance(rows, Select):
        return _is_whole_table(rows.rows)
    return isinstance(rows, Scan)


def _refusal(why: str) -> InvalidArgument:
    return InvalidArgument(f'of="population": {why}, or take of="data" for the noise alone')
