"""Roll-up: finer questions whose cells add up to the cells of a question.

`GROUP BY month` is the sum of the cells of `GROUP BY month, origin` over the origins.

    asked                                    finer                          summed over
    GROUP BY month                           GROUP BY month, origin         every origin
    WHERE hour = 9 GROUP BY month            GROUP BY month, hour, origin   all origins, of one hour
    WHERE month > 6 GROUP BY month           GROUP BY month                 nothing; six are shown
    GROUP BY month, at another spend         GROUP BY month                 nothing

A condition on a further key that holds for several of its values, but not all (`WHERE hour < 9`),
gives no roll-up: who has seen the cells could have chosen the condition by their noise.

The rows of an asked cell are the rows of the finer cells that are summed, each in one of them:

- a condition is taken over by a key only if it reads that column alone, and is not true of NULL: a
  row without a listed value is in no cell, and the condition drops it too;
- a key without a condition is summed over only if no row can be without one of its values.

Only counts and sums of rows add up so, and only where the unit is a row (`Rows`): a person's cap
counts the rows that pass WHERE. A finer question has at most 2 further keys and 10,000 cells.

Guarantee: an exact asked total is the sum of the exact totals of the finer cells.
Law: tests/query/test_finer_questions.py::test_cells_add_up_to_the_asked_ones
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from math import prod

from ...data.unit import Rows
from ...frozen import frozen, replace
from ..algebra.chain import balance, leaves
from ..algebra.expression import Expression, Field, Function, fields_of
from ..algebra.statistic import Count, CountOf, Sum
from ..algebra.tree import Finish, Key, Question, Relation, Where, unused_name
from ..domains.domain import Columns, Scalar, Values
from ..meaning.evaluate import evaluate
from .keys import PublicValues, public_keys
from .missing_keys import absent_keys
from .relation_facts import columns_of, unit_of

MAX_CELLS = 10_000
"""Most cells of a finer table that is looked for."""
MAX_ADDED = 2
"""Most keys that a finer table has beyond those that are asked for."""


@frozen
class FinerQuestion:
    """A finer question, and which of its cells are summed.

    The finer question has the asked keys first, then further keys. `kept` has the shown values of
    each asked key, `summed` the values over which each further key is summed, both in the order of
    the keys.
    """

    question: Question
    kept: tuple[Values, ...]
    summed: tuple[Values, ...]


def finer_questions(
    question: Question, public_values: PublicValues | None
) -> Iterator[FinerQuestion]:
    """List questions whose cells add up to those of a question, the question itself first.

    The list is empty where cells do not add up: for other statistics than counts and sums, a person
    as the unit, keys that are not public, and several sets of keys.

    >>> import discreet as dp
    >>> from discreet.query.bounds.finer_questions import finer_questions
    >>> columns = {"origin": dp.Category(["EWR", "JFK"], default="EWR"), "hour": dp.Integer(0, 3)}
    >>> flights = {"flights": dp.Schema("flights", dp.Rows(), columns)}
    >>> asked = dp.parse_sql("SELECT COUNT(*) AS n FROM flights WHERE hour = 1", flights)
    >>> for finer in finer_questions(asked, None):
    ...     print([key.name for key in finer.question.keys], finer.summed)
    [] ()
    ['origin'] (('EWR', 'JFK'),)
    ['hour'] ((1,),)
    ['origin', 'hour'] (('EWR', 'JFK'), (1,))
    """
    table, conditions = _conditions(question.rows)
    if not _adds_up(question):
        return
    columns = list(columns_of(table))
    # A column that a key reads already is no further key: its cells would be cut twice.
    taken = _columns_of_keys(question.keys)
    free = [name for name in columns if name not in taken]
    values = {}
    for name in free:
        listed = public_keys(Field(name), table, MAX_CELLS, public_values)
        if listed:
            values[name] = listed
    # Further keys multiply the cells, and a table beyond the limit cannot have been measured.
    asked_cells = prod(len(key.values or ()) for key in question.keys)
    for asked in _with_all_values(question, table, conditions, public_values):
        addable = list(values)
        for size in range(MAX_ADDED + 1):
            fitting: set[str] = set()
            for names in combinations(addable, size):
                added = {name: values[name] for name in names}
                if asked_cells * prod(map(len, added.values())) > MAX_CELLS:
                    continue
                finer = _finer(asked, added)
                if finer is not None and _holds_all_rows(finer, conditions, public_values):
                    fitting.update(names)
                    yield finer
            if size:
                # What does not fit alone fits beside no other key: tables of many columns have
                # thousands of pairs.
                addable = [name for name in addable if name in fitting]


def _conditions(rows: Relation) -> tuple[Relation, list[Expression]]:
    """Return the rows below the outermost WHERE, and its conditions, each once."""
    conditions: list[Expression] = []
    while isinstance(rows, Where):
        conditions += leaves(Function.AND, rows.condition)
        rows = rows.rows
    return rows, list(dict.fromkeys(conditions))


def _adds_up(question: Question) -> bool:
    """Return whether a question is one table of public keys, of counts and sums of rows."""
    # Cells of several sets, running totals and hierarchies share their noise, so variances do not add.
    if question.sets is not None or question.running or question.nested is not None:
        return False
    if not isinstance(unit_of(question.rows), Rows) or not question.statistics:
        return False
    if any(key.values is None for key in question.keys):
        return False
    return all(isinstance(one, Count | CountOf | Sum) for _, one in question.statistics)


@frozen
class _Asked:
    """A question, the rows below its conditions, the conditions that a finer question must keep,
    and the keys that it has in place of the asked ones.
    """

    question: Question
    table: Relation
    conditions: tuple[Expression, ...]
    keys: tuple[Key, ...]


def _with_all_values(
    question: Question,
    table: Relation,
    conditions: Sequence[Expression],
    public_values: PublicValues | None,
) -> Iterator[_Asked]:
    """List the question as it is, and without the conditions that choose values of its own keys.

    In the second form these keys have all their public values.
    """
    yield _Asked(question, table, tuple(conditions), question.keys)
    columns = columns_of(table)
    left = list(conditions)
    keys = []
    for key in question.keys:
        narrowing = [one for one in conditions if fields_of(one) == fields_of(key.expression)]
        listed = key.values or ()
        if isinstance(key.expression, Field) and narrowing:
            name = key.expression.name
            # A listed value that a condition drops has no rows here, but may have some in the table.
            pairs = product(narrowing, listed)
            if not all(_holds(one, name, value, columns) for one, value in pairs):
                return
            all_values = public_keys(key.expression, table, MAX_CELLS, public_values)
            if all_values is None or not set(listed) <= set(all_values):
                return
            left = [one for one in left if one not in narrowing]
            keys.append(replace(key, values=all_values))
        else:
            keys.append(key)
    if len(left) < len(conditions):
        yield _Asked(question, table, tuple(left), tuple(keys))


def _columns_of_keys(keys: Sequence[Key]) -> set[str]:
    read: set[str] = set()
    for key in keys:
        read |= fields_of(key.expression)
    return read


def _finer(asked: _Asked, added: dict[str, Values]) -> FinerQuestion | None:
    """Return the question with further keys, which take over the conditions on their columns."""
    columns = columns_of(asked.table)
    kept_conditions = []
    summed = dict(added)
    for condition in asked.conditions:
        read = fields_of(condition)
        if len(read) != 1 or not read <= added.keys():
            kept_conditions.append(condition)
            continue
        [name] = read
        # A row whose value is NULL is in no cell, so the condition must drop it as well.
        if _holds(condition, name, None, columns):
            return None
        left = [value for value in summed[name] if _holds(condition, name, value, columns)]
        summed[name] = tuple(left)
    for name, values in summed.items():
        # A union of some cells may have been chosen by looking at their noise, and its interval would
        # then not hold. All cells, or one, are no such union.
        if len(values) not in (1, len(added[name])):
            return None
    # Conditions that no key took over must be those of the stored question too.
    rows = asked.table
    if kept_conditions:
        rows = Where(asked.table, balance(Function.AND, kept_conditions))
    question = asked.question
    keys = list(asked.keys)
    statistics = [name for name, _ in question.statistics]
    for name, listed in added.items():
        names = [key.name for key in keys] + statistics
        keys.append(Key(unused_name(name, "key", names), Field(name), listed))
    finer = replace(question, rows=rows, keys=tuple(keys), finish=Finish(()))
    kept = tuple(key.values or () for key in question.keys)
    return FinerQuestion(finer, kept, tuple(summed.values()))


def _holds(condition: Expression, name: str, value: Scalar, columns: Columns) -> bool:
    """Return whether a condition on one column is true of a value."""
    return evaluate(condition, {name: value}, columns) is True


def _holds_all_rows(
    finer: FinerQuestion, conditions: Sequence[Expression], public_values: PublicValues | None
) -> bool:
    """Return whether the sums over the further keys have every row of the asked cells.

    A further key may lack a value only in rows that a condition on its column drops.
    """
    absent = set(absent_keys(finer.question, public_values))
    taken_over: set[str] = set()
    for condition in conditions:
        read = fields_of(condition)
        # `late OR age = 3` keeps rows without `late`: only a condition on one column was taken over.
        if len(read) == 1:
            taken_over |= read
    added = finer.question.keys[len(finer.kept) :]
    return all(key.name not in absent or _column(key) in taken_over for key in added)


def _column(key: Key) -> str:
    [name] = fields_of(key.expression)
    return name
