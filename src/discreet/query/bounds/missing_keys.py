"""Rows without a key: which rows each set of keys counts, from schema and question alone.

A row counts in a table GROUP BY a, b if it has a public value of a and one of b. A NULL, unlisted
or unreadable value is none, so such a row is in no cell of this table. In a table that does not
group by the missing key (a margin, a total) the row does count. Why a row may be in no cell of a
key is stated as causes:

    key                                                      the key is absent where
    COALESCE(…, 'none'), CASE … ELSE 'x' END, a column that  never: no cause
      declares a default, `x IS NULL`
    a column, or a function of columns that only NULL turns  one of these columns is NULL: their
      into NULL, whose public values are all listed          names are the causes
    any other key, as one with a shorter list of values      unknown: the key itself is the cause
    levels of a listed hierarchy                             a row is in none of its combinations:
                                                             the narrowest key's causes if it
                                                             determines the others, else the
                                                             hierarchy is one cause

All sets of keys of a question are sums of the same finest cells. Where their causes differ, a key
has one more value in the finest cells, "none of the public keys" (`marked_question`). Sets without
this key sum over it, so they lose no row.

Where rows are capped by group (`People.max_rows_per_group`), each set of keys weighs them by its
own groups. No table is then a sum of another's cells: the set itself is one more cause.

Guarantee: two sets of keys with the same causes count exactly the same rows with the same weights,
whatever the data are. A row counts in a set if and only if none of the set's causes applies to it.

Law: tests/end_to_end/test_one_meaning.py::test_alone_in_a_release_and_in_grouping_sets
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from ...errors import UnsupportedQuery
from ...frozen import frozen, replace
from ..algebra.chain import chain
from ..algebra.expression import Constant, Expression, Function, call_of, fields_of
from ..algebra.refusal import refusal
from ..algebra.tree import Key, KeySets, Nest, Question, Where
from ..domains.domain import Day, Scalar, Second, Values
from ..domains.domain_of import domain_of
from .fanout import person_group_rows
from .grouping_sets import is_wide
from .keys import MAX_KEYS, PublicValues, public_keys
from .nested import (
    MAX_LEAVES,
    ColumnValues,
    count_cells,
    in_order,
    leaf_question,
    pick,
    with_nest,
)
from .relation_facts import columns_of, null_columns

Cause: TypeAlias = str | Key | Nest | frozenset[Expression]
Causes: TypeAlias = frozenset[Cause]
Constants: TypeAlias = list[Constant]
MAX_PLACES_BY_GROUP = 1000
"""Most listed places whose levels are written as conditions: a store's texts have a limit."""


@frozen
class TablePart:
    """Sets of keys that count the same rows, by position, and the question for these alone."""

    places: tuple[int, ...]
    question: Question


def marked_question(question: Question, public_values: PublicValues | None) -> Question | None:
    """Return the question to the store by which all sets of keys are sums of one table.

    A row without a value of a key that some set does not name has NULL as that key's last value:
    the mark "none of the public keys". No such question has NULL among its listed values, so the
    mark is unambiguous. Keys that no row can be without have no mark, nor keys without which a row
    is in no set at all.

    The result is None where one table cannot hold all sets: rows that are capped by the groups of
    each set; and a hierarchy with a mark that has more than 200,000 cells, whose narrowest level
    does not determine the others, or of whose levels a row may be in some and not in others.

    >>> import discreet as dp
    >>> from discreet.query.bounds.missing_keys import marked_question
    >>> columns = {"age": dp.Integer(0, 1), "sex": dp.Category(["f", "m"], default="f")}
    >>> people = {"people": dp.Schema("people", dp.Rows(), columns)}
    >>> sql = "SELECT age, sex, COUNT(*) AS n FROM people GROUP BY CUBE (age, sex)"
    >>> marked = marked_question(dp.parse_sql(sql, people), None)
    >>> [key.values for key in marked.keys]
    [(0, 1, None), ('f', 'm')]

    Guarantee: a row that counts in some set is in exactly one cell of the finest keys.

    Law: tests/end_to_end/test_one_meaning.py::test_alone_in_a_release_and_in_grouping_sets
    """
    known = _known_values(question, public_values)
    causes_of_keys, _ = _causes_of_keys(question, known)
    causes_of_sets = _causes_of_sets(question, causes_of_keys)
    common = frozenset[Cause].intersection(*causes_of_sets)
    if all(causes == common for causes in causes_of_sets):
        return question
    if person_group_rows(question.rows) is not None:
        return None
    marked_places = [place for place, causes in enumerate(causes_of_keys) if causes - common]
    nest = question.nested
    if nest is None:
        marked = _with_marks(question, marked_places, known)
        if not is_wide(marked):
            return marked
        # Wide sets are counted as several tables, which must all count the same rows: every key
        # that a row may be without has a mark there.
        absent_places = [place for place, causes in enumerate(causes_of_keys) if causes]
        return _with_marks(question, absent_places, known)
    if nest.places[-1] not in marked_places:
        return _with_marks(question, marked_places, known)
    # All levels of a hierarchy share one mark, so a row must lack all of them or none.
    causes_of_levels = set(pick(causes_of_keys, nest.places))
    leaf = leaf_question(question)
    if len(causes_of_levels) > 1 or leaf is question:
        return None
    marked = _with_marks(question, marked_places, known)
    mark = (None,) * len(nest.places)
    marked = replace(marked, nested=Nest(nest.places, (*nest.rows, mark)))
    return marked if count_cells(marked) <= MAX_LEAVES else None


def _with_marks(question: Question, places: Sequence[int], known: ColumnValues) -> Question:
    """Return the question with one more value, NULL, of the keys at some places.

    A row that has none of the listed values of such a key has this value.
    """
    keys = list(question.keys)
    nest = question.nested
    for place in places:
        key = keys[place]
        values = key.values or ()
        if nest is not None and place == nest.places[-1]:
            # The list may name fewer of the narrowest places than the key has values.
            values = tuple(row[-1] for row in nest.rows)
        expression = _null_if_unlisted(key.expression, values, known)
        keys[place] = replace(key, expression=expression, values=(*values, None))
    return replace(question, keys=tuple(keys))


def _null_if_unlisted(expression: Expression, values: Values, known: ColumnValues) -> Expression:
    """Return an expression that is NULL wherever a key has none of its listed values."""
    possible = _possible_values(expression, known)
    if possible is not None and possible.difference([None]) <= set(values):
        return expression
    is_listed = call_of(Function.AMONG, expression, *_constants(expression, values, known))
    return call_of(Function.CASE, is_listed, expression, Constant(None))


def _constants(expression: Expression, values: Iterable[Scalar], known: ColumnValues) -> Constants:
    """Return values of a key as constants; whole numbers of days or seconds are marked as times."""
    domain = domain_of(expression, columns_of(known.rows))
    time = None
    if isinstance(domain, Day):
        time = "day"
    elif isinstance(domain, Second):
        time = "second"
    return [Constant(value, time) for value in values]


def table_parts(question: Question, public_values: PublicValues | None) -> tuple[TablePart, ...]:
    """Split a question's sets of keys into parts that count the same rows each.

    Parts are in the order of their first sets. A question whose sets all count the same rows is
    the one part.
    """
    sets = _sets_of(question)
    known = _known_values(question, public_values)
    causes_of_keys, listed = _causes_of_keys(question, known)
    causes_of_sets = _causes_of_sets(question, causes_of_keys)
    positions_of_causes: dict[Causes, list[int]] = {}
    for position, causes in enumerate(causes_of_sets):
        positions_of_causes.setdefault(causes, []).append(position)
    if len(positions_of_causes) == 1:
        return (TablePart(tuple(range(len(sets))), question),)
    nest = question.nested
    if nest is not None and listed and person_group_rows(question.rows) is not None:
        # The groups of each set are its own. So levels are keys that a store can group by, each by
        # itself, and not the narrowest level, which would be finer groups.
        question = _with_keys_of_places(question, nest, known)
        listed = False
    parts = []
    for positions in positions_of_causes.values():
        part = _only(question, pick(sets, positions), listed=listed)
        parts.append(TablePart(tuple(positions), part))
    return tuple(parts)


def _with_keys_of_places(question: Question, nest: Nest, known: ColumnValues) -> Question:
    """Return the question with the levels of a row's listed place as keys; NULL if it has no place.

    A row is in a place if it has its narrowest value, where that tells the places apart, else all of
    its values.

    Refuses: more than 1,000 places (UnsupportedQuery).

    Law: tests/end_to_end/test_nested_meaning.py::test_listed_hierarchies
    """
    if len(nest.rows) > MAX_PLACES_BY_GROUP:
        raise refusal(
            "hierarchy",
            f"with max_rows_per_group at most {MAX_PLACES_BY_GROUP:,} places are listed",
            'let the levels follow from one column, as col("tract") // 100 does, or list fewer',
        )
    levels = [question.keys[position].expression for position in nest.places]
    constants = []
    for level, values in zip(levels, zip(*nest.rows, strict=True), strict=True):
        constants.append(_constants(level, values, known))
    places = list(zip(*constants, strict=True))
    # The wider levels decide too, where the narrowest does not tell places apart.
    wider = range(len(levels) - 1) if leaf_question(question) is question else range(0)
    keys = list(question.keys)
    # A narrowest level that tells places apart is a key as it is: its values are those listed.
    written = nest.places if wider else nest.places[:-1]
    for depth, position in enumerate(written):
        places_of_value: dict[Constant, list[Sequence[Constant]]] = {}
        for place in places:
            places_of_value.setdefault(place[depth], []).append(place)
        arms: list[Expression] = []
        for value, own in places_of_value.items():
            arms += [_is_in_places(levels, own, wider), value]
        expression = call_of(Function.CASE, *arms, Constant(None))
        keys[position] = replace(keys[position], expression=expression)
    return replace(question, keys=tuple(keys))


def _is_in_places(
    levels: Sequence[Expression], places: Iterable[Sequence[Constant]], wider: Sequence[int]
) -> Expression:
    """Return the condition that a row lies in one of some places, by the narrowest and wider levels."""
    narrowest_values: dict[tuple[Constant, ...], Constants] = {}
    for place in places:
        narrowest_values.setdefault(pick(place, wider), []).append(place[-1])
    conditions = []
    for wider_values, listed in narrowest_values.items():
        tests = [call_of(Function.AMONG, levels[-1], *listed)]
        for depth, value in zip(wider, wider_values, strict=True):
            tests.append(call_of(Function.EQUAL, levels[depth], value))
        conditions.append(chain(Function.AND, tests))
    return chain(Function.OR, conditions)


def absent_keys(question: Question, public_values: PublicValues | None) -> tuple[str, ...]:
    """Return the names of the keys that a row may be without, in order."""
    known = _known_values(question, public_values)
    causes_of_keys, _ = _causes_of_keys(question, known)
    names = []
    for key, causes in zip(question.keys, causes_of_keys, strict=True):
        if causes and not _lists_all_and_null(key, known):
            names.append(key.name)
    return tuple(names)


def _lists_all_and_null(key: Key, known: ColumnValues) -> bool:
    """Return whether every value that a key may have is listed, and NULL is, too (`null_key=`)."""
    values = set(key.values or ())
    possible = _possible_values(key.expression, known)
    return None in values and possible is not None and possible <= values


def keyed_question(question: Question, public_values: PublicValues | None) -> Question | None:
    """Return the question with a WHERE that keeps the rows in which every key has a listed value.

    The result is None where that WHERE would keep all rows: no row can be without a key, keys are
    selected privately, or a join with chosen keys has left the others out already.

    >>> import discreet as dp
    >>> from discreet.query import describe
    >>> from discreet.query.bounds.missing_keys import keyed_question
    >>> people = {"people": dp.Schema("people", dp.Rows(), {"sex": dp.Category(["f", "m"])})}
    >>> asked = dp.parse_sql("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", people)
    >>> print(describe(keyed_question(asked, None)))
    SELECT sex, COUNT(*) AS n
    FROM people
    WHERE sex IS NOT NULL
    GROUP BY sex

    Law: tests/query/test_missing_keys.py::test_where_keeps_the_rows_in_all_cells
    """
    nest = question.nested
    joined = nest is not None and question.sets is None
    if joined or any(key.values is None for key in question.keys):
        return None
    known = _known_values(question, public_values)
    causes_of_keys, _ = _causes_of_keys(question, known)
    # The narrowest level of a hierarchy decides for all of them.
    wider = () if nest is None else nest.places[:-1]
    conditions = []
    for place, key in enumerate(question.keys):
        is_absent = causes_of_keys[place] and not _lists_all_and_null(key, known)
        if is_absent and place not in wider:
            listed = key.values or ()
            if nest is not None and place == nest.places[-1]:
                listed = tuple(row[-1] for row in nest.rows)
            conditions.append(_has_listed_value(key.expression, listed, known))
    if not conditions:
        return None
    rows = question.rows
    if isinstance(rows, Where):
        conditions.insert(0, rows.condition)
        rows = rows.rows
    return replace(question, rows=Where(rows, chain(Function.AND, conditions)))


def _has_listed_value(expression: Expression, values: Values, known: ColumnValues) -> Expression:
    """Return the condition that a key has one of its listed values; NULL may be one of them."""
    is_null = call_of(Function.IS_NULL, expression)
    possible = _possible_values(expression, known)
    if possible is not None and possible.difference([None]) <= set(values):
        return call_of(Function.NOT, is_null)
    present = [value for value in values if value is not None]
    is_listed = call_of(Function.AMONG, expression, *_constants(expression, present, known))
    return call_of(Function.OR, is_listed, is_null) if None in values else is_listed


def _sets_of(question: Question) -> KeySets:
    if question.sets is not None:
        return question.sets
    return (tuple(range(len(question.keys))),)


def _known_values(question: Question, public_values: PublicValues | None) -> ColumnValues:
    # Levels of a hierarchy have longer lists of values than single keys.
    most = MAX_KEYS if question.nested is None else MAX_LEAVES
    return ColumnValues(question.rows, most, public_values)


def _causes_of_keys(question: Question, known: ColumnValues) -> tuple[list[Causes], bool]:
    """Return for each key the causes by which a row may be in none of its cells.

    Also return whether the question has a hierarchy that was listed, not found from one column.
    """
    nest = question.nested
    causes_of_keys = [_causes_of(key, known) for key in question.keys]
    listed = _has_listed_nest(question, known)
    if nest is not None and listed:
        nest_causes = _causes_of_nest(question, nest, causes_of_keys)
        for position in nest.places:
            causes_of_keys[position] = nest_causes
    return causes_of_keys, listed


def _causes_of_sets(question: Question, causes_of_keys: Sequence[Causes]) -> list[Causes]:
    """Return the causes by which a row is absent from the table of each set of keys."""
    by_group = person_group_rows(question.rows) is not None
    causes_of_sets: list[Causes] = []
    for one_set in _sets_of(question):
        of_keys = pick(causes_of_keys, one_set)
        causes = frozenset[Cause]().union(*of_keys)
        if by_group:
            set_of_keys = frozenset(key.expression for key in pick(question.keys, one_set))
            causes |= {set_of_keys}
        causes_of_sets.append(causes)
    return causes_of_sets


def _causes_of(key: Key, known: ColumnValues) -> Causes:
    """Return the causes by which a row is absent from the cells of one key."""
    columns = null_columns(key.expression, known.rows)
    if columns is None:
        return frozenset({key})
    possible = _possible_values(key.expression, known)
    # A value that may occur and is not listed makes a row absent, whatever is NULL.
    if possible is None or not possible.difference([None]) <= set(key.values or ()):
        return frozenset({key})
    return columns


def _possible_values(expression: Expression, known: ColumnValues) -> set[Scalar] | None:
    """Return all values that a key may have, perhaps NULL; None if they are not public."""
    names = fields_of(expression)
    if len(names) == 1:
        [name] = names
        # Faster than below: the levels of sixty thousand tracts are divided at once.
        if known.listed(name) is not None:
            return {*known.of(expression, name), known.at_null(expression, name)}
    values = public_keys(expression, known.rows, known.most, known.public_values)
    return None if values is None else set(values)


def _has_listed_nest(question: Question, known: ColumnValues) -> bool:
    """Return whether a hierarchy is listed, not found from the one column that its keys read."""
    if question.nested is None:
        return False
    unlisted = replace(question, nested=None, sets=_sets_of(question))
    try:
        found = with_nest(unlisted, known)
    except UnsupportedQuery:
        # The levels overlap by themselves, so only a list can have nested them.
        return True
    return found.nested != question.nested


def _causes_of_nest(question: Question, nest: Nest, causes_of_keys: Sequence[Causes]) -> Causes:
    """Return the causes by which a row is absent from all levels of a listed hierarchy.

    They are those of the narrowest key where that determines the combination, else the hierarchy.
    """
    leaf = leaf_question(question)
    listed = {row[-1] for row in nest.rows}
    narrowest = nest.places[-1]
    if leaf is question or listed != set(question.keys[narrowest].values or ()):
        return frozenset({nest})
    return causes_of_keys[narrowest]


def _only(question: Question, sets: Sequence[tuple[int, ...]], *, listed: bool) -> Question:
    """Return the question for some of its sets, by the keys that they name."""
    used: set[int] = set()
    for one_set in sets:
        used.update(one_set)
    nest = question.nested
    # A tract lies where the list says, so all levels are kept whichever is asked.
    if nest is not None and listed and used.intersection(nest.places):
        used.update(nest.places)
    kept = sorted(used)
    new_position = {position: number for number, position in enumerate(kept)}
    new_sets = []
    for one_set in sets:
        new_sets.append(tuple(new_position[position] for position in one_set))
    return replace(
        question,
        keys=pick(question.keys, kept),
        sets=tuple(new_sets),
        nested=None if nest is None else _kept_levels(nest, new_position),
    )


def _kept_levels(nest: Nest, new_position: dict[int, int]) -> Nest | None:
    """Return the levels that are kept, at their new positions; None if fewer than two are."""
    depths = [depth for depth, position in enumerate(nest.places) if position in new_position]
    if len(depths) < 2:
        return None
    positions = tuple(new_position[place] for place in pick(nest.places, depths))
    rows = dict.fromkeys(pick(row, depths) for row in nest.rows)
    return Nest(positions, in_order(rows))
