"""Fan-out of joins: how many rows one unit may have after joins, bounded by public facts.

The run time depends on the number of rows, so the bound also limits a timing side channel.

    relation        rows of one unit
    Scan            `max_rows` of a person, as declared; 1 where the unit is a row
    Where, Select   no more
    JoinPublic      × the public rows that one row can match: 1 on a declared key, else
                    `max_rows` of a column
    JoinPeople      the product of both sides; of a FULL JOIN on columns too at least the sum
    Union           the sum
    PerPerson       1, or as many as rows if there are further keys

A store may hold more rows of a person than the declared bound k. The engines enforce it before a
join multiplies rows: of a person with n > k rows they keep k (truncation). These k are evenly
spread over the person's rows, sorted by all columns of the relation. So which rows are kept
follows from that person's rows alone, and all engines keep the same. Where no join multiplies
rows, nothing is truncated: shares bound the totals (`algebra.tally`), and the time grows no faster
than the stored rows.

Guarantee: the joins of a relation that multiply rows make at most `MAX_JOINED_ROWS` rows of one
unit, all together.

Refuses: with `UnboundedSensitivity` a join with a public table whose matches nothing bounds; with
`UnsupportedQuery` joins that could make more rows.

Law: tests/query/test_fanout.py::TestAJoinOfPeople
Proved: proofs/Totals.v::joins
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from ...data.unit import People
from ..algebra.refusal import refusal, unbounded_refusal
from ..algebra.tree import (
    JoinPeople,
    JoinPublic,
    PerPerson,
    Relation,
    Scan,
    Select,
    Union,
    Where,
    inputs_of,
)

MAX_JOINED_ROWS = 10_000
"""Most rows that all joins of a question make of one unit: milliseconds, below any time grid."""


def max_matches(join: JoinPublic) -> int:
    """Return how many public rows one row can match: the schema states it, the store checks it.

    >>> from discreet.query.algebra.tree import JoinPublic, Scan
    >>> from discreet.query.bounds.fanout import max_matches
    >>> from discreet.data import Integer, Rows, Schema
    >>> from discreet.query.algebra.expression import Field
    >>> people = Scan(Schema("people", Rows(), {"ward": Integer(1, 40)}))
    >>> columns = {"ward": Integer(1, 40), "park": Integer(1, 99)}
    >>> parks = Schema.public_table("parks", columns, max_rows={"ward": 7})
    >>> max_matches(JoinPublic(people, parks, ((Field("ward"), "ward"),), ()))
    7

    Refuses: with `UnboundedSensitivity` a join on columns with neither a key nor `max_rows`.
    """
    columns = list(dict.fromkeys(column for _, column in join.on))
    matches = join.table.max_matches(columns)
    if matches is None:
        on = ", ".join(columns)
        declarations = f'key="{on}" or max_rows={{"{columns[0]}": …}}'
        raise unbounded_refusal(
            f"JOIN with {join.table.name} ON {on}",
            "nothing says how many of its rows one row can match",
            f"join on its declared key, or let its schema state {declarations}",
        )
    return matches


def person_rows(rows: Relation) -> int:
    """Return the number of rows to which one person's contribution is bounded, by declared bounds.

    A join on the person alone pairs every row with every other. A join on a further column, such
    as an order's number, is supposed to pair each row with one; if it is outer, rows without a
    match count too. Rows beyond this number are truncated or scaled down; so no privacy promise
    depends on whether the supposition holds.

    >>> import discreet as dp
    >>> from discreet.query.algebra.tree import JoinPeople, Scan, Union
    >>> from discreet.query.bounds.fanout import person_rows
    >>> from discreet.data import Boolean, Schema
    >>> visits = Scan(Schema("visits", dp.People("id", max_rows=3), {"paid": Boolean()}))
    >>> person_rows(Union((visits, visits))), person_rows(JoinPeople(visits, visits))
    (6, 9)
    """
    return _count(rows, _declared_rows, _expected_pairs)


def person_groups(rows: Relation) -> int:
    """Return the number of a person's keys that count, combined as `person_rows` combines."""
    return _count(rows, _declared_groups, _expected_pairs)


def person_group_rows(rows: Relation) -> int | None:
    """Return the number of a person's rows in one key that count; None if no table declares it.

    It combines as `person_rows` combines: a join on the person pairs the rows of a key on one side
    with those of a key on the other. A table without `max_rows_per_group` counts with its
    `max_rows`.

    Guarantee: never more than `person_rows`, since each table declares at most its `max_rows`, and
    sums, products and maxima are monotone.
    """
    if not _any_declares(rows):
        return None
    return _count(rows, _declared_group_rows, _expected_pairs)


def _any_declares(rows: Relation) -> bool:
    if isinstance(rows, Scan):
        unit = rows.schema.unit
        return isinstance(unit, People) and unit.max_rows_per_group is not None
    return any(map(_any_declares, inputs_of(rows)))


def _declared_group_rows(unit: People) -> int:
    return unit.max_rows_per_group or unit.max_rows


def _declared_rows(unit: People) -> int:
    return unit.max_rows


def _declared_groups(unit: People) -> int:
    return unit.max_groups or unit.max_rows


def _expected_pairs(join: JoinPeople, left: int, right: int) -> int:
    if not join.on:
        return left * right
    # Pairs of one side, and the rows that the other side keeps alone.
    return left + right if join.outer else max(left, right)


def _max_rows(rows: Relation) -> int:
    """Bound the rows of one unit, however rows match, if every side of a join is truncated."""
    return _count(rows, _declared_rows, _max_pairs)


def _max_pairs(join: JoinPeople, left: int, right: int) -> int:
    pairs = left * right
    # Unmatched rows exceed all pairs only where both sides keep them and a column must match.
    if join.outer == "full" and join.on:
        return max(pairs, left + right)
    return pairs


def _count(
    rows: Relation,
    declared: Callable[[People], int],
    pairs: Callable[[JoinPeople, int, int], int],
) -> int:
    """Combine the declared bounds of tables along a relation, by the table above."""
    match rows:
        case Scan(schema=schema):
            if isinstance(schema.unit, People):
                return declared(schema.unit)
            return 1
        case Where(rows=inner) | Select(rows=inner):
            return _count(inner, declared, pairs)
        case JoinPublic(rows=inner):
            return _count(inner, declared, pairs) * max_matches(rows)
        case JoinPeople(left=left, right=right):
            left_count = _count(left, declared, pairs)
            right_count = _count(right, declared, pairs)
            return pairs(rows, left_count, right_count)
        case Union(parts=parts):
            return sum(_count(part, declared, pairs) for part in parts)
        case PerPerson(rows=inner, keys=keys):
            if keys:
                return _count(inner, declared, pairs)
            return 1
        case _:
            assert_never(rows)


def _is_bounded(rows: Relation) -> bool:
    """Return whether one unit has at most `_max_rows` rows, whatever the store holds."""
    match rows:
        case Scan(schema=schema):
            # A person's declared max_rows is a wish; the store may hold more.
            return not isinstance(schema.unit, People)
        case Where(rows=inner) | Select(rows=inner):
            return _is_bounded(inner)
        case JoinPublic(rows=inner):
            # A join that multiplies truncates its rows first.
            return max_matches(rows) > 1 or _is_bounded(inner)
        case JoinPeople(left=left, right=right):
            left_rows = _max_rows(left)
            right_rows = _max_rows(right)
            if min(left_rows, right_rows) > 1:
                return True
            # The side of one row is truncated; the other side alone decides.
            return _is_bounded(left if right_rows == 1 else right)
        case Union(parts=parts):
            return all(map(_is_bounded, parts))
        case PerPerson(rows=inner, keys=keys):
            return not keys or _is_bounded(inner)
        case _:
            assert_never(rows)


def _cut(rows: Relation) -> int | None:
    return None if _is_bounded(rows) else _max_rows(rows)


def find_cut(join: JoinPublic) -> int | None:
    """Return the number of rows to which a person is truncated before a join with a public table.

    It is None if nothing has to be truncated: no row can match several public rows, or the rows of
    a person are bounded already.
    """
    if max_matches(join) > 1:
        return _cut(join.rows)
    return None


def find_cuts(join: JoinPeople) -> tuple[int | None, int | None]:
    """Return the number of rows to which a person is truncated on each side of a join of people.

    None for a side that is not truncated: its rows are bounded already, or the other side has one
    row per person and so cannot multiply them.

    >>> import discreet as dp
    >>> from discreet.query.algebra.tree import JoinPeople, Scan
    >>> from discreet.query.bounds.fanout import find_cuts
    >>> from discreet.data import Boolean, Schema
    >>> visits = Scan(Schema("visits", dp.People("id", max_rows=3), {"paid": Boolean()}))
    >>> users = Scan(Schema("users", dp.People("id", max_rows=1), {"old": Boolean()}))
    >>> find_cuts(JoinPeople(visits, visits)), find_cuts(JoinPeople(visits, users))
    ((3, 3), (None, 1))
    """
    if _max_rows(join.right) == 1:
        return None, _cut(join.right)
    if _max_rows(join.left) == 1:
        return _cut(join.left), None
    return _cut(join.left), _cut(join.right)


def check_joins(rows: Relation) -> None:
    """Refuse joins that together could make more than `MAX_JOINED_ROWS` rows of one unit."""
    _joined_rows(rows)


def _joined_rows(rows: Relation) -> int:
    """Bound the rows that multiplying joins make of one unit, over all joins of a relation."""
    joined = sum(map(_joined_rows, inputs_of(rows)))
    match rows:
        case JoinPublic(table=table):
            if max_matches(rows) > 1:
                joined += _max_rows(rows)
            return _require_few(joined, f"JOIN with {table.name}")
        case JoinPeople(left=left, right=right):
            # A side of one row per person multiplies nothing.
            if min(_max_rows(left), _max_rows(right)) > 1:
                joined += _max_rows(rows)
            return _require_few(joined, "JOIN of private tables")
        case Union():
            return _require_few(joined, "UNION ALL of joins")
    # Tables, conditions and columns multiply nothing.
    return joined


def _require_few(joined: int, clause: str) -> int:
    if joined > MAX_JOINED_ROWS:
        raise refusal(
            clause,
            f"the joins could make {joined:,} rows of one unit, and the time they take would tell "
            f"about it: {MAX_JOINED_ROWS:,} are allowed",
            "join on a declared key, GROUP BY the person in a sub-query first, "
            "or declare a smaller max_rows",
        )
    return joined
