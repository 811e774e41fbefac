"""Rows without a key: which rows a set of keys counts, from schema and question alone.

A row counts in a table GROUP BY a, b if it has a public value of a and one of b. A NULL, unlisted or unreadable value
is none, so that row is in no cell of this table. Summed over b alone (a margin, a total) it does count. So tables can
be made from the same finest cells only if they count the same rows. This module decides that by causes:

    key                                                        is absent where
    COALESCE(…, 'none'), CASE … ELSE 'x' END, a column that    never: no cause
      declares a default, `x IS NULL`
    a column, or a function of columns that only NULL turns    one of these columns is NULL: their names
      into NULL, whose public values are all listed
    any other key, as one with a shorter list of values        nobody can say: the key itself is the cause
    levels of listed places (`hierarchy`)                      a row is in none of the places: they are one cause

Guarantee: two sets of keys with the same causes count exactly the same rows, whatever the data are. A row counts in a
set if and only if none of the set's causes strikes it.

Law: tests/end_to_end/test_one_meaning.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from ...errors import UnsupportedQuery
from ...frozen import frozen, replace
from ..algebra.expression import Expression, Field, fields_of
from ..algebra.tree import Key, Nest, Question, Relation
from ..domains.domain import Scalar
from ..meaning.evaluate import meaning_of
from .keys import MOST_KEYS, PublicValues, public_keys
from .nested import MOST_LEAVES, in_order, leaf_question, values_of, with_nest
from .not_null import null_columns
from .relation_facts import columns_of

Cause: TypeAlias = str | Key | Nest
Causes: TypeAlias = frozenset[Cause]


@frozen
class TablePart:
    """Sets of keys that count the same rows, by their places among all, and the question that asks only for them."""

    places: tuple[int, ...]
    question: Question


def same_rows(question: Question, public_values: PublicValues | None) -> Causes | None:
    """Return the causes of all tables that a question asks; None if they count different rows.

    >>> import discreet as dp
    >>> from discreet.query.bounds.missing_keys import same_rows
    >>> columns = {"age": dp.Integer(0, 99), "sex": dp.Category(["f", "m"], default="f")}
    >>> people = {"people": dp.Schema("people", dp.Rows(), columns)}
    >>> sql = "SELECT {0}, COUNT(*) AS n FROM people GROUP BY CUBE ({0})"
    >>> [same_rows(dp.parse_sql(sql.format(name), people), None) for name in ("sex", "age")]
    [frozenset(), None]
    """
    found = set(_causes_of_sets(question, public_values))
    return found.pop() if len(found) == 1 else None


def table_parts(question: Question, public_values: PublicValues | None) -> tuple[TablePart, ...]:
    """Return a question's sets of keys in parts that count the same rows each, in order of their first sets.

    A question whose sets all count the same rows is the one part.
    """
    sets = _sets_of(question)
    parts: dict[Causes, list[int]] = {}
    for place, causes in enumerate(_causes_of_sets(question, public_values)):
        parts.setdefault(causes, []).append(place)
    if len(parts) == 1:
        return (TablePart(tuple(range(len(sets))), question),)
    listed = _lists_places(question, public_values)
    return tuple(
        TablePart(tuple(places), _only(question, [sets[place] for place in places], listed=listed))
        for places in parts.values()
    )


def absent_keys(question: Question, public_values: PublicValues | None) -> tuple[str, ...]:
    """Return the names of the keys that a row may be without, in order."""
    sets = tuple((place,) for place in range(len(question.keys)))
    found = _causes_of_sets(replace(question, sets=sets), public_values)
    return tuple(key.name for key, causes in zip(question.keys, found, strict=True) if causes)


def _sets_of(question: Question) -> tuple[tuple[int, ...], ...]:
    return (tuple(range(len(question.keys))),) if question.sets is None else question.sets


def _causes_of_sets(question: Question, public_values: PublicValues | None) -> list[Causes]:
    """Return for every set of keys what makes a row absent from its table."""
    most = MOST_KEYS if question.nested is None else MOST_LEAVES  # lists of levels are longer
    each = [_causes_of(key, question.rows, public_values, most) for key in question.keys]
    nest = question.nested
    if nest is not None and _lists_places(question, public_values):
        own = _causes_of_places(question, nest, each)
        each = [own if place in nest.places else causes for place, causes in enumerate(each)]
    return [frozenset[Cause]().union(*(each[place] for place in one)) for one in _sets_of(question)]


def _causes_of(key: Key, rows: Relation, public_values: PublicValues | None, most: int) -> Causes:
    """Return what makes a row absent from the cells of one key."""
    columns = null_columns(key.expression, rows)
    if columns is None:
        return frozenset({key})
    possible = _possible_values(key.expression, rows, public_values, most)
    if possible is None or not possible.difference([None]) <= set(key.values or ()):
        return frozenset({key})
    return columns


def _possible_values(
    expression: Expression, rows: Relation, public_values: PublicValues | None, most: int
) -> set[Scalar] | None:
    """Return all values that a key may have, NULL perhaps among them; None if they are not public."""
    names = fields_of(expression)
    if len(names) == 1:
        [name] = names
        of_column = public_keys(Field(name), rows, most, public_values)
        if (
            of_column is not None
        ):  # faster than below: levels of sixty thousand tracts are counted off
            null = meaning_of(expression, columns_of(rows))({name: None})
            return {*values_of(expression, name, of_column, columns_of(rows)), null}
    found = public_keys(expression, rows, most, public_values)
    return None if found is None else set(found)


def _lists_places(question: Question, public_values: PublicValues | None) -> bool:
    """Return whether nested keys are listed as places, not found from the one column that they all read."""
    if question.nested is None:
        return False
    try:
        found = with_nest(replace(question, nested=None, sets=_sets_of(question)), public_values)
    except UnsupportedQuery:  # levels that overlap by themselves
        return True
    return found.nested != question.nested


def _causes_of_places(question: Question, nest: Nest, each: Sequence[Causes]) -> Causes:
    """Return what makes a row absent from all levels: its narrowest key where that says the place, else the places."""
    leaf = leaf_question(question)
    listed = {row[-1] for row in nest.rows}
    narrowest = nest.places[-1]
    if leaf is question or listed != set(question.keys[narrowest].values or ()):
        return frozenset({nest})
    return each[narrowest]


def _only(question: Question, sets: Sequence[tuple[int, ...]], *, listed: bool) -> Question:
    """Return the question that asks only for some of its sets, by the keys that they name."""
    used = {place for one in sets for place in one}
    nest = question.nested
    if nest is not None and listed and used.intersection(nest.places):
        used.update(nest.places)  # a tract lies where the places say, whichever level is asked
    kept = sorted(used)
    now = {place: at for at, place in enumerate(kept)}
    return replace(
        question,
        keys=tuple(question.keys[place] for place in kept),
        sets=tuple(tuple(now[place] for place in one) for one in sets),
        nested=None if nest is None else _levels(nest, now),
    )


def _levels(nest: Nest, now: dict[int, int]) -> Nest | None:
    """Return the levels that are kept, at their new places; None if fewer than two are."""
    held = [at for at, place in enumerate(nest.places) if place in now]
    if len(held) < 2:
        return None
    rows = dict.fromkeys(tuple(row[at] for at in held) for row in nest.rows)
    return Nest(tuple(now[nest.places[at]] for at in held), in_order(rows))
