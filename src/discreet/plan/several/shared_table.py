"""Questions of one release that ask sums of the same rows are one workload: one charge, and all their answers agree.

Two questions join if they count or add up the same things of the same rows by public keys: their sets of keys become
sets of one question, as GROUPING SETS would ask them. The same rows must count in both, whatever the data are: where a
row may be without a key of one of them, the questions stay apart (`query.bounds.missing_keys`), unless both leave out the
rows without that very key. Four counts or more under WHERE, of rows that are units, become
counts under FILTER of one question. What the planner makes of it is cut into one plan a question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...data.unit import Rows
from ...errors import InvalidArgument, UnsupportedQuery
from ...frozen import frozen, replace
from ...query.algebra.expression import Call, Constant, Expression, Field, Function
from ...query.algebra.names import fresh
from ...query.algebra.tree import (
    Count,
    CountOf,
    Finish,
    Key,
    Question,
    Relation,
    Statistic,
    Sum,
    Where,
)
from ...query.bounds.missing_keys import same_rows
from ...query.bounds.relation_facts import unit_of
from ...query.bounds.wide_sets import is_wide
from ...statistics.releases.set_totals import SetsRelease
from ..asked.checked_question import CheckedQuestion, check_question
from ..filtered_counts import LEAST_COUNTS, MOST_COUNTS
from ..plan import Plan, public_tuples


@frozen
class SharedTable:
    """Questions by name that are planned as one, `checked`; a question that stays alone is planned as it is."""

    names: tuple[str, ...]
    checked: CheckedQuestion


def join_questions(questions: Mapping[str, CheckedQuestion]) -> list[SharedTable]:
    """Return the questions, those that can be planned together as one; in the order of their first names."""
    found: list[SharedTable] = []
    for name, one in questions.items():
        for place, other in enumerate(found):
            both = _join([questions[known] for known in other.names], one)
            if both is not None:
                found[place] = SharedTable((*other.names, name), both)
                break
        else:
            found.append(SharedTable((name,), one))
    return [part for one in found for part in _worth(one, questions)]


def _worth(joined: SharedTable, questions: Mapping[str, CheckedQuestion]) -> list[SharedTable]:
    """Return few counts apart: they are planned one by one anyway."""
    if joined.checked.question.keys or len(joined.names) >= LEAST_COUNTS:
        return [joined]
    return [SharedTable((name,), questions[name]) for name in joined.names]


def _join(known: Sequence[CheckedQuestion], more: CheckedQuestion) -> CheckedQuestion | None:
    """Return all as one question; None where they are no sums of the same cells, or too many."""
    every = [*known, more]
    first = every[0].question
    counts = [filtered_count(one.question) for one in every]
    if all(count is not None for count in counts):
        return _counts([count for count in counts if count is not None], more)
    if not all(_additive(one.question) and one.question.rows == first.rows for one in every):
        return None
    statistics = [frozenset(statistic for _, statistic in one.question.statistics) for one in every]
    if len(set(statistics)) > 1:
        return None
    causes = {same_rows(one.question, one.public_values) for one in every}
    if len(causes) > 1 or None in causes:
        return None
    question = _united([one.question for one in every])
    if question is None:
        return None
    try:
        joined = check_question(question, more.public_values)
    except (
        InvalidArgument,
        UnsupportedQuery,
    ):  # too many cells, or bins that overlap: each stays by itself
        return None
    if is_wide(joined.question) or any(_crosses(one.question, joined.question) for one in every):
        return None
    return replace(joined, rows_public=more.rows_public)


def _crosses(question: Question, joined: Question) -> bool:
    """Return whether a table is by two keys of one nest: it shows cells that cannot be, which the nest leaves out."""
    if joined.nested is None:
        return False
    within = {joined.keys[place].expression for place in joined.nested.places}
    return any(
        sum(question.keys[i].expression in within for i in one) > 1 for one in _asked_sets(question)
    )


def _asked_sets(question: Question) -> Sequence[Sequence[int]]:
    return question.sets or (tuple(range(len(question.keys))),)


def filtered_count(question: Question) -> tuple[Relation, Statistic] | None:
    """Return a count of units under WHERE as a count under FILTER of the rows before; None for other questions."""
    plain = (
        not question.keys
        and question.sets is None
        and [one for _, one in question.statistics] == [Count()]
    )
    if (
        not plain
        or not isinstance(question.rows, Where)
        or not isinstance(unit_of(question.rows), Rows)
    ):
        return None
    return question.rows.rows, CountOf(
        Call(Function.CASE, (question.rows.condition, Constant(1), Constant(None)))
    )


def _counts(
    counts: Sequence[tuple[Relation, Statistic]], more: CheckedQuestion
) -> CheckedQuestion | None:
    """Return counts of the same rows as one question, each thing counted once."""
    if len({rows for rows, _ in counts}) > 1 or len({one for _, one in counts}) > MOST_COUNTS:
        return None
    named = tuple(
        (f"count_{place}", one) for place, one in enumerate(dict.fromkeys(one for _, one in counts))
    )
    question = Question(
        counts[0][0], (), named, Finish(tuple((name, Field(name)) for name, _ in named))
    )
    try:
        return replace(check_question(question, more.public_values), rows_public=more.rows_public)
    except (InvalidArgument, UnsupportedQuery):
        return None


def _additive(question: Question) -> bool:
    linear = all(
        isinstance(statistic, Count | CountOf | Sum) for _, statistic in question.statistics
    )
    public = all(key.values is not None and None not in key.values for key in question.keys)
    return linear and public and not question.running and question.nested is None


def _united(questions: Sequence[Question]) -> Question | None:
    keys: dict[Expression, Key] = {}
    sets: dict[tuple[int, ...], None] = {}
    for question in questions:
        for key in question.keys:
            name = fresh(key.name, "key", [known.name for known in keys.values()])
            if keys.setdefault(key.expression, replace(key, name=name)).values != key.values:
                return None
        sets |= dict.fromkeys(_sets_of(question, list(keys)))
    names = [key.name for key in keys.values()]
    statistics: list[tuple[str, Statistic]] = []
    for name, statistic in questions[0].statistics:
        statistics.append(
            (fresh(name, "statistic", (*names, *(n for n, _ in statistics))), statistic)
        )
    shown = tuple((name, Field(name)) for name in (*names, *(name for name, _ in statistics)))
    made = Question(
        questions[0].rows, tuple(keys.values()), tuple(statistics), Finish(shown), tuple(sets)
    )
    return made if keys else None


def _sets_of(question: Question, keys: list[Expression]) -> list[tuple[int, ...]]:
    """Return the sets that a question asks, by the places of its keys among all."""
    places = [keys.index(key.expression) for key in question.keys]
    return [tuple(sorted(places[i] for i in one)) for one in _asked_sets(question)]


def cut_plans(
    joined: SharedTable, plan: Plan, questions: Mapping[str, CheckedQuestion]
) -> list[tuple[str, Plan]]:
    """Return a plan for each question, all of one; the first of them is charged for all."""
    if len(joined.names) == 1:
        return [(joined.names[0], plan)]
    why = f"planned as one with {{}}: {plan.spend} pays for all {len(joined.names)}"
    made = []
    for name in joined.names:
        others = ", ".join(other for other in joined.names if other != name)
        own = _cut(questions[name].question, plan)
        made.append((name, replace(own, why=why.format(others), paid=name != joined.names[0])))
    return made


def _cut(question: Question, whole: Plan) -> Plan:
    keys, sets = [key.expression for key in whole.question.keys], whole.question.sets
    asked = None if sets is None else tuple(sets.index(one) for one in _sets_of(question, keys))
    known = {statistic: place for place, (_, statistic) in enumerate(whole.question.statistics)}
    count = filtered_count(question) if sets is None else None
    places = [
        known[statistic if count is None else count[1]] for _, statistic in question.statistics
    ]
    if not all(isinstance(one, SetsRelease) for one in whole.releases):
        raise UnsupportedQuery("these counts are better by themselves; ask for each")
    return replace(
        whole,
        question=question,
        keys=public_tuples(question),
        releases=tuple(
            replace(one, asked=asked) for one in whole.releases if isinstance(one, SetsRelease)
        ),
        uses=tuple(
            (name, whole.uses[at][1])
            for (name, _), at in zip(question.statistics, places, strict=True)
        ),
        recipes=tuple(whole.recipes[at] for at in places),
        within=whole,
    )
