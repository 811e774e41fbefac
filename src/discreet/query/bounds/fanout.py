"""How many rows joins may make of one unit: bounded by public facts, since rows take time, and time is seen.

    Scan                     `max_rows` of a person, as declared; 1 where a row is its own unit
    Where, Select            no more
    JoinPublic               × the public rows that one row can match: 1 on a declared key, else `max_rows` of a column
    JoinPeople               the product of both sides; what an outer join keeps of a side is no more
    Union                    the sum
    PerPerson                1, or as many as rows if there are further keys

A declared bound of a person is no fact about the store, so the engines make it one before rows are multiplied: of a
person with n > k rows they keep k, evenly spread over the rows in the order of the columns that the question reads. One
person's rows decide which; all engines agree. Where nothing multiplies, nothing is cut: shares keep the total in bounds
(`algebra.tally`), and the time grows with the rows that are stored, no faster.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from ...data.unit import People
from ..algebra.refusal import refusal, unbounded
from ..algebra.tree import JoinPeople, JoinPublic, PerPerson, Relation, Scan, Select, Union, Where

MOST_JOINED = 10_000
"""All joins of a question together make at most so many rows of one unit: milliseconds, below any grid of times."""


def most_matches(join: JoinPublic) -> int:
    """Return how many public rows one row can match at most: a fact that the schema states and the store checks.

    >>> from discreet.query.algebra.tree import JoinPublic, Scan
    >>> from discreet.query.bounds.fanout import most_matches
    >>> from discreet.data import Integer, Rows, Schema
    >>> from discreet.query.algebra.expression import Field
    >>> people = Scan(Schema("people", Rows(), {"ward": Integer(1, 40)}))
    >>> parks = Schema.public_table("parks", {"ward": Integer(1, 40), "park": Integer(1, 99)}, max_rows={"ward": 7})
    >>> most_matches(JoinPublic(people, parks, ((Field("ward"), "ward"),), ()))
    7

    Refuses a join on columns of which neither is stated.
    """
    columns = list(dict.fromkeys(column for _, column in join.on))
    found = join.table.most_matches(columns)
    if found is None:
        on = ", ".join(columns)
        raise unbounded(
            f"JOIN with {join.table.name} ON {on}", "nothing says how many of its rows one row can match",
            f'join on its declared key, or let its schema state key="{on}" or max_rows={{"{columns[0]}": …}}',
        )  # fmt: skip
    return found


def person_rows(rows: Relation) -> int:
    """Return how many rows of one person are expected at most, for shares: a join on the person and more adds none.

    A join on the person alone pairs every row with every other; one on a further column, such as an order's number, is
    taken to pair each with one. This only chooses where totals are clipped and shares begin; no promise rests on it.

    >>> import discreet as dp
    >>> from discreet.query.algebra.tree import JoinPeople, Scan, Union
    >>> from discreet.query.bounds.fanout import person_rows
    >>> from discreet.data import Boolean, Schema
    >>> visits = Scan(Schema("visits", dp.People("id", max_rows=3), {"paid": Boolean()}))
    >>> person_rows(Union((visits, visits))), person_rows(JoinPeople(visits, visits))
    (6, 9)
    """
    return _count(rows, lambda unit: unit.max_rows, _expected_pairs)


def person_groups(rows: Relation) -> int:
    """Return in how many keys one person is expected at most, counted as rows are: as declared, or as many as rows."""
    return _count(rows, lambda unit: unit.max_groups or unit.max_rows, _expected_pairs)


def _expected_pairs(join: JoinPeople, left: int, right: int) -> int:
    if not join.on:
        return left * right
    return (
        left + right if join.outer else max(left, right)
    )  # pairs of one side, and what the other keeps alone


def _most_rows(rows: Relation) -> int:
    """Bound the rows of one unit whatever a join matches, if every side is cut to its bound."""
    return _count(rows, lambda unit: unit.max_rows, _most_pairs)


def _most_pairs(join: JoinPeople, left: int, right: int) -> int:
    """Return all pairs; rows that match nothing are fewer, but where both sides keep them and a column must match."""
    return max(left * right, left + right) if join.outer == "full" and join.on else left * right


def _count(
    rows: Relation, most: Callable[[People], int], pairs: Callable[[JoinPeople, int, int], int]
) -> int:
    match rows:
        case Scan(schema=schema):
            return most(schema.unit) if isinstance(schema.unit, People) else 1
        case Where(rows=inner) | Select(rows=inner):
            return _count(inner, most, pairs)
        case JoinPublic(rows=inner):
            return _count(inner, most, pairs) * most_matches(rows)
        case JoinPeople(left=left, right=right):
            return pairs(rows, _count(left, most, pairs), _count(right, most, pairs))
        case Union(parts=parts):
            return sum(_count(part, most, pairs) for part in parts)
        case PerPerson(rows=inner, keys=keys):
            return _count(inner, most, pairs) if keys else 1
        case _:
            assert_never(rows)


def _settled(rows: Relation) -> bool:
    """Return whether one unit has at most `_most_rows` rows whatever is stored."""
    match rows:
        case Scan(schema=schema):
            return not isinstance(schema.unit, People)
        case Where(rows=inner) | Select(rows=inner):
            return _settled(inner)
        case JoinPublic(rows=inner):
            return most_matches(rows) > 1 or _settled(inner)
        case JoinPeople(left=left, right=right):
            most = _most_rows(left), _most_rows(right)
            return min(most) > 1 or _settled(left if most[1] == 1 else right)
        case Union(parts=parts):
            return all(map(_settled, parts))
        case PerPerson(rows=inner, keys=keys):
            return not keys or _settled(inner)
        case _:
            assert_never(rows)


def _cut(rows: Relation) -> int | None:
    return None if _settled(rows) else _most_rows(rows)


def find_cut(join: JoinPublic) -> int | None:
    """Return to how many rows a person is cut before a join with a public table; None if no row can become several."""
    return _cut(join.rows) if most_matches(join) > 1 else None


def find_cuts(join: JoinPeople) -> tuple[int | None, int | None]:
    """Return to how many rows a person is cut on each side before a join on the person.

    A side that is cut to one row cannot multiply the other, which then needs no cut.

    >>> import discreet as dp
    >>> from discreet.query.algebra.tree import JoinPeople, Scan
    >>> from discreet.query.bounds.fanout import find_cuts
    >>> from discreet.data import Boolean, Schema
    >>> visits = Scan(Schema("visits", dp.People("id", max_rows=3), {"paid": Boolean()}))
    >>> users = Scan(Schema("users", dp.People("id", max_rows=1), {"old": Boolean()}))
    >>> find_cuts(JoinPeople(visits, visits)), find_cuts(JoinPeople(visits, users))
    ((3, 3), (None, 1))
    """
    if _most_rows(join.right) == 1:
        return None, _cut(join.right)
    if _most_rows(join.left) == 1:
        return _cut(join.left), None
    return _cut(join.left), _cut(join.right)


def check_joins(rows: Relation) -> None:
    """Refuse joins that could make more than `MOST_JOINED` rows of one unit, all of them together."""
    _join_rows(rows)


def _join_rows(rows: Relation) -> int:
    """Bound how many rows joins that multiply make of one unit."""
    match rows:
        case Scan():
            return 0
        case Where(rows=inner) | Select(rows=inner) | PerPerson(rows=inner):
            return _join_rows(inner)
        case JoinPublic(rows=inner, table=table):
            made = _join_rows(inner) + (_most_rows(rows) if most_matches(rows) > 1 else 0)
            return _few(made, f"JOIN with {table.name}")
        case JoinPeople(left=left, right=right):
            multiplied = min(_most_rows(left), _most_rows(right)) > 1
            made = _join_rows(left) + _join_rows(right) + (_most_rows(rows) if multiplied else 0)
            return _few(made, "JOIN of private tables")
        case Union(parts=parts):
            return _few(sum(map(_join_rows, parts)), "UNION ALL of joins")
        case _:
            assert_never(rows)


def _few(made: int, clause: str) -> int:
    if made > MOST_JOINED:
        raise refusal(
            clause, f"the joins could make {made:,} rows of one unit, and the time they take would tell about it: "
            f"{MOST_JOINED:,} are allowed",
            "join on a declared key, GROUP BY the person in a sub-query first, or declare a smaller max_rows",
        )  # fmt: skip
    return made
