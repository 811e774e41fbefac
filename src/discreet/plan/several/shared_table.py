"""Shared table: questions about sums of the same rows become one workload with one charge.

    questions                                                      joined as
    the same counts and sums of the same rows, by public keys      one question with GROUPING SETS
    4 to 40 COUNT(*) under WHERE without keys, where the unit is   one question with counts under
    a row                                                          FILTER

Answers of joined questions are consistent: totals that two of them have in common are equal. A row
without a key of one question counts in the others, in a cell that is never shown
(`query.bounds.missing_keys`). The plan of the joined question is cut into one plan for each
question; the first of these is charged for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...data.unit import Rows
from ...errors import InvalidArgument, UnsupportedQuery
from ...frozen import frozen, replace
from ...privacy.measures import decimal_text
from ...query.algebra.expression import Call, Constant, Expression, Field, Function
from ...query.algebra.statistic import Count, CountOf, Statistic, Sum
from ...query.algebra.tree import Finish, Key, Question, Relation, Where, unused_name
from ...query.bounds.check import CheckedQuestion, check_question
from ...query.bounds.grouping_sets import is_wide
from ...query.bounds.relation_facts import unit_of
from ...statistics.releases.set_totals import SetsRelease
from ..filtered_counts import MAX_COUNTS, MIN_COUNTS
from ..plan import Plan, public_tuples


@frozen
class SharedTable:
    """Names of questions that are planned as one, and the one question that stands for them."""

    names: tuple[str, ...]
    checked: CheckedQuestion


def join_questions(questions: Mapping[str, CheckedQuestion]) -> list[SharedTable]:
    """Return the questions in groups that are planned together, in the order of their first names.

    Law: tests/workloads/test_together.py::TestTogether
    """
    joined: list[SharedTable] = []
    for name, question in questions.items():
        for number, table in enumerate(joined):
            members = [questions[member] for member in table.names]
            both = _join(members, question)
            if both is not None:
                joined[number] = SharedTable((*table.names, name), both)
                break
        else:
            joined.append(SharedTable((name,), question))
    tables: list[SharedTable] = []
    for table in joined:
        tables += _few_counts_apart(table, questions)
    return tables


def _few_counts_apart(
    table: SharedTable, questions: Mapping[str, CheckedQuestion]
) -> list[SharedTable]:
    """Split a group of fewer than 4 counts without keys; return any other group as it is."""
    if table.checked.question.keys or len(table.names) >= MIN_COUNTS:
        return [table]
    return [SharedTable((name,), questions[name]) for name in table.names]


def _join(members: Sequence[CheckedQuestion], more: CheckedQuestion) -> CheckedQuestion | None:
    """Return `members` and `more` as one question; None if they cannot be planned as one.

    They cannot if they do not ask for the same sums, have too many cells, need more than one
    table, or cross the levels of a hierarchy of keys.
    """
    every = [*members, more]
    counts = [filtered_count(one.question) for one in every]
    if all(count is not None for count in counts):
        return _join_counts([count for count in counts if count is not None], more)
    if not _asks_same_sums(every):
        return None
    question = _united([one.question for one in every])
    if question is None:
        return None
    try:
        joined = check_question(question, more.public_values)
    except (InvalidArgument, UnsupportedQuery):
        # Too many cells, or bins that overlap: each question stays by itself.
        return None
    # A row without a key of one of them counts in the others, which one table must be able to hold.
    marked = joined.marked
    if marked is None or is_wide(marked):
        return None
    if any(_crosses_nest(one.question, joined.question) for one in every):
        return None
    return replace(joined, rows_public=more.rows_public)


def _asks_same_sums(every: Sequence[CheckedQuestion]) -> bool:
    """Return whether all questions ask for equal sums of equal rows by public keys."""
    first = every[0].question
    first_statistics = {statistic for _, statistic in first.statistics}
    for one in every:
        question = one.question
        if not _is_additive(question) or question.rows != first.rows:
            return False
        if {statistic for _, statistic in question.statistics} != first_statistics:
            return False
    return True


def _crosses_nest(question: Question, joined: Question) -> bool:
    """Return whether a question groups by two keys that the joined question nests in a hierarchy.

    Its table has a cell for every pair of their values; the hierarchy leaves impossible pairs out.
    """
    if joined.nested is None:
        return False
    nested_keys = set()
    for place in joined.nested.places:
        nested_keys.add(joined.keys[place].expression)
    for key_set in _asked_sets(question):
        if sum(question.keys[place].expression in nested_keys for place in key_set) > 1:
            return True
    return False


def _asked_sets(question: Question) -> Sequence[Sequence[int]]:
    return question.sets or (tuple(range(len(question.keys))),)


def filtered_count(question: Question) -> tuple[Relation, Statistic] | None:
    """Return a count of units under WHERE as a count under FILTER; None for other questions."""
    if question.keys or question.sets is not None:
        return None
    if [statistic for _, statistic in question.statistics] != [Count()]:
        return None
    rows = question.rows
    if not isinstance(rows, Where) or not isinstance(unit_of(rows), Rows):
        return None
    kept = Call(Function.CASE, (rows.condition, Constant(1), Constant(None)))
    return rows.rows, CountOf(kept)


def _join_counts(
    counts: Sequence[tuple[Relation, Statistic]], more: CheckedQuestion
) -> CheckedQuestion | None:
    """Return counts of the same rows as one question; equal counts become one statistic."""
    relations = {rows for rows, _ in counts}
    # `dict.fromkeys` keeps each count once, in the order of the questions.
    statistics = dict.fromkeys(statistic for _, statistic in counts)
    if len(relations) > 1 or len(statistics) > MAX_COUNTS:
        return None
    named = tuple((f"count_{number}", statistic) for number, statistic in enumerate(statistics))
    columns = tuple((name, Field(name)) for name, _ in named)
    question = Question(counts[0][0], (), named, Finish(columns))
    try:
        checked = check_question(question, more.public_values)
    except (InvalidArgument, UnsupportedQuery):
        return None
    return replace(checked, rows_public=more.rows_public)


def _is_additive(question: Question) -> bool:
    """Return whether a question asks for counts and sums by public keys.

    False for keys with NULL among their values, nested keys and running totals.
    """
    for _, statistic in question.statistics:
        if not isinstance(statistic, Count | CountOf | Sum):
            return False
    for key in question.keys:
        if key.values is None or None in key.values:
            return False
    return not question.running and question.nested is None


def _united(questions: Sequence[Question]) -> Question | None:
    """Return one question with the sets of all; None without keys or with unequal key values."""
    keys: dict[Expression, Key] = {}
    sets: dict[tuple[int, ...], None] = {}
    for question in questions:
        for key in question.keys:
            name = unused_name(key.name, "key", [known.name for known in keys.values()])
            known_key = keys.setdefault(key.expression, replace(key, name=name))
            if known_key.values != key.values:
                return None
        sets |= dict.fromkeys(_sets_of(question, list(keys)))
    if not keys:
        return None
    names = [key.name for key in keys.values()]
    statistics: list[tuple[str, Statistic]] = []
    for name, statistic in questions[0].statistics:
        own_name = unused_name(name, "statistic", tuple(names))
        names.append(own_name)
        statistics.append((own_name, statistic))
    columns = tuple((name, Field(name)) for name in names)
    return Question(
        questions[0].rows, tuple(keys.values()), tuple(statistics), Finish(columns), tuple(sets)
    )


def _sets_of(question: Question, keys: list[Expression]) -> list[tuple[int, ...]]:
    """Return the sets that a question asks, by the places of its keys among all keys."""
    places = []
    for key in question.keys:
        places.append(keys.index(key.expression))
    asked = _asked_sets(question)
    return [tuple(sorted(places[place] for place in key_set)) for key_set in asked]


def cut_plans(
    joined: SharedTable, plan: Plan, questions: Mapping[str, CheckedQuestion]
) -> list[tuple[str, Plan]]:
    """Return a plan for each question, cut from one; the first of them is charged for all.

    Guarantee: the events of the plans together are those of the one plan, charged once.

    Law: tests/workloads/test_together.py::TestTogether
    """
    first_name = joined.names[0]
    if len(joined.names) == 1:
        return [(first_name, plan)]
    price = decimal_text(plan.shown_price())
    plans: list[tuple[str, Plan]] = []
    for name in joined.names:
        others = ", ".join(other for other in joined.names if other != name)
        why = f"planned as one with {others}: {price} pays for all {len(joined.names)}"
        if plan.why:
            why += f"; {plan.why}"
        own = _cut(questions[name].question, plan)
        plans.append((name, replace(own, why=why, paid=name != first_name)))
    return plans


def _cut(question: Question, joined: Plan) -> Plan:
    """Return the plan of one question, cut from the plan of several."""
    all_sets = joined.question.sets
    asked: tuple[int, ...] | None = None
    statistics = [statistic for _, statistic in question.statistics]
    if all_sets is not None:
        keys = [key.expression for key in joined.question.keys]
        asked = tuple(all_sets.index(key_set) for key_set in _sets_of(question, keys))
    else:
        count = filtered_count(question)
        if count is not None:
            statistics = [count[1] for _ in statistics]
    pairs = enumerate(joined.question.statistics)
    known = {statistic: place for place, (_, statistic) in pairs}
    places = [known[statistic] for statistic in statistics]
    releases: list[SetsRelease] = []
    for release in joined.releases:
        if not isinstance(release, SetsRelease):
            raise UnsupportedQuery("these counts are better by themselves; ask for each")
        releases.append(replace(release, asked=asked))
    uses: list[tuple[str, tuple[int, ...]]] = []
    for (name, _), place in zip(question.statistics, places, strict=True):
        uses.append((name, joined.uses[place][1]))
    return replace(
        joined,
        question=question,
        keys=public_tuples(question),
        releases=tuple(releases),
        uses=tuple(uses),
        recipes=tuple(joined.recipes[place] for place in places),
        within=joined,
    )
