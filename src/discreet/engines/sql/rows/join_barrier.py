"""Joins whose sides are always read to the end, as SQL: a barrier against a timing side channel.

A store may skip one side of a join where the other is empty. Whether one side is empty may depend
on one person's row, and whether a million rows are read can be seen on a clock.

PostgreSQL and Spark get a FULL JOIN, and a test above it that drops the rows without a match.

For DuckDB each side gets one more row, which matches nothing. A flag in the condition is 0 for rows
that may match, and differs for the rows that were added. A row that may match has no NULL among its
keys; owners are never NULL. The condition compares with IS NOT DISTINCT FROM: the added rows are
NULL but for their flag, and must not be dropped for that. Flags are compared by a function, so that
no optimizer finds by their range that the added row cannot match.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from ....frozen import frozen
from ..dialect import Dialect
from ..select import all_equal, nested, numbered, select_sql


@frozen
class JoinSide:
    """One side of a join.

    `sql` is its SELECT and `letter` its alias. In a match the `owner` columns of both sides have to
    be equal, and the `keys` equal and not NULL.
    """

    sql: str
    letter: str
    owner: Sequence[str]
    keys: Sequence[str]
    cells: Sequence[str]
    """Names of its columns in the result."""


Kept: TypeAlias = Literal["", "left", "full"]
_VERBS = {"": "JOIN", "left": "LEFT JOIN", "full": "FULL JOIN"}
_MIN_MATCH = {"": 2, "left": 1, "full": 0}
"""A row stays if 2·(left side is there) + (right side is there) is above this number."""
_GUARDS_DROPPED = {"": "", "left": "WHERE fl < 3", "full": "WHERE COALESCE(fl, fr) < 3"}
"""Test that drops the added rows, where rows without a match stay."""


def join_sql(left: JoinSide, right: JoinSide, dialect: Dialect, *, keep: Kept = "") -> str:
    """Write a join of two sides on equal owners and keys.

    `keep` says which sides keep their rows that match nothing.

    Guarantee: both sides are read whatever the other one holds.

    Law: tests/engines/test_plans.py::test_one_null_changes_no_plan
    """
    owners = zip(left.owner, right.owner, strict=True)
    keys = zip(left.keys, right.keys, strict=True)
    pairs = [*owners, *keys]
    cells = [*left.cells, *right.cells]
    if dialect.whole_joins:
        return _full_join(left, right, cells, pairs, keep=keep)
    verb = _VERBS[keep]
    if not dialect.guarded:
        sides = f"({left.sql}) AS {left.letter} {verb} ({right.sql}) AS {right.letter}"
        return select_sql(cells, f"{sides} ON {all_equal(pairs)}")
    tests = ["xor(fl, 0) = xor(fr, 0)"]
    for mine, yours in pairs:
        tests.append(f"{mine} IS NOT DISTINCT FROM {yours}")
    guarded_left = nested(_guard(left, "fl", 1), left.letter)
    guarded_right = nested(_guard(right, "fr", 2), right.letter)
    joined = f"{guarded_left} {verb} {guarded_right} ON {' AND '.join(tests)}"
    return select_sql(cells, joined, _GUARDS_DROPPED[keep])


def _full_join(
    left: JoinSide,
    right: JoinSide,
    cells: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    *,
    keep: Kept,
) -> str:
    """Write a join as a FULL JOIN, no side of which may be skipped; `pairs` have to be equal.

    Rows without a match are dropped after it, but for the sides that `keep` names.

    The test for that reads both sides. So no planner can move it below the join, nor turn the join
    into an inner one.
    """
    # Keys are joined on as columns, since a constant cannot be joined on.
    left_keys = numbered("lk", len(pairs))
    right_keys = numbered("rk", len(pairs))
    left_cells = ["*", "1 AS lm"]
    right_cells = ["*", "1 AS rm"]
    for (mine, yours), left_key, right_key in zip(pairs, left_keys, right_keys, strict=True):
        left_cells.append(f"{mine} AS {left_key}")
        right_cells.append(f"{yours} AS {right_key}")
    marked_left = select_sql(left_cells, nested(left.sql))
    marked_right = select_sql(right_cells, nested(right.sql))
    matched = all_equal(zip(left_keys, right_keys, strict=True))
    # 3: both sides are there; 2: the left one only; 1: the right one only.
    test = f"2 * COALESCE(lm, 0) + COALESCE(rm, 0) > {_MIN_MATCH[keep]}"
    sides = f"({marked_left}) AS {left.letter} FULL JOIN ({marked_right}) AS {right.letter}"
    return select_sql(cells, f"{sides} ON {matched}", f"WHERE {test}")


def _guard(side: JoinSide, flag: str, number: int) -> str:
    """Add a flag and one row.

    The flag is 0 for rows that may match, 1 or 2 for rows with a NULL among their keys, and 3 or 4
    for the added row. So the flags of two sides are equal only for rows that may match.
    """
    has_null = " OR ".join(f"{key} IS NULL" for key in side.keys)
    value = f"CASE WHEN {has_null} THEN {number} ELSE 0 END" if has_null else "0"
    flagged = select_sql(["*", f"{value} AS {flag}"], nested(side.sql))
    return f"{flagged} UNION ALL BY NAME SELECT {number + 2} AS {flag}"
