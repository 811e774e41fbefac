"""Joins whose sides are always read to the end, as SQL, for stores that skip one side where the other is empty.

That one side is empty may hang on one person's row, and whether a million rows are read can be seen on a clock. So each
side gets one row more, which matches nothing: a flag in the condition is 0 for rows that may match, and differs for the
rows that were added. A row that may match has no NULL among its keys; owners are never NULL. The condition compares
with IS NOT DISTINCT FROM, since the added rows are NULL but for their flag, and must not be dropped for that. Flags are
hidden from statistics, by which an optimizer would find that the added row cannot match.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from ....frozen import frozen
from ..dialect import Dialect
from ..select import select_sql


@frozen
class JoinSide:
    """One side of a join: its SELECT, its letter, the owners to be equal, and the keys, of which none may be NULL."""

    sql: str
    letter: str
    owner: Sequence[str]
    keys: Sequence[str]
    cells: Sequence[str]
    """Names of its columns in the result."""


Kept: TypeAlias = Literal["", "left", "full"]
_VERBS = {"": "JOIN", "left": "LEFT JOIN", "full": "FULL JOIN"}
_LEAST = {"": 2, "left": 1, "full": 0}


def join_sql(left: JoinSide, right: JoinSide, dialect: Dialect, *, keep: Kept = "") -> str:
    """Write a join of two sides on equal owners and keys; `keep` says of which sides rows stay that match nothing."""
    pairs = [*zip(left.owner, right.owner, strict=True), *zip(left.keys, right.keys, strict=True)]
    cells, verb = [*left.cells, *right.cells], _VERBS[keep]
    if dialect.whole_joins:
        return _whole(left, right, cells, pairs, keep=keep)
    if not dialect.guarded:
        matched = " AND ".join(f"{mine} = {yours}" for mine, yours in pairs)
        return select_sql(
            cells,
            f"({left.sql}) AS {left.letter} {verb} ({right.sql}) AS {right.letter} ON {matched}",
        )
    flags = (
        "fl = fr"
        if dialect.hide is None
        else f"{dialect.hide('fl', 'Whole')} = {dialect.hide('fr', 'Whole')}"
    )
    matched = " AND ".join(
        [flags, *(f"{mine} IS NOT DISTINCT FROM {yours}" for mine, yours in pairs)]
    )
    sides = f"({_guard(left, 'fl', 1)}) AS {left.letter} {verb} ({_guard(right, 'fr', 2)}) AS {right.letter}"
    return select_sql(
        cells,
        f"{sides} ON {matched}",
        {"": "", "left": "WHERE fl < 3", "full": "WHERE COALESCE(fl, fr) < 3"}[keep],
    )


def _whole(
    left: JoinSide,
    right: JoinSide,
    cells: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    *,
    keep: Kept,
) -> str:
    """Write a full join, of which no side may be left out; what has no partner is dropped afterwards.

    The test for that is over both sides, so no planner can move it below the join or make an inner one of it.
    """
    keys = [
        (f"lk{place}", f"rk{place}") for place in range(len(pairs))
    ]  # columns: a constant cannot be joined on
    here = select_sql(
        [
            "*",
            "1 AS lm",
            *(f"{mine} AS {k}" for (mine, _), (k, _) in zip(pairs, keys, strict=True)),
        ],
        f"({left.sql}) AS t",
    )
    there = select_sql(
        [
            "*",
            "1 AS rm",
            *(f"{yours} AS {k}" for (_, yours), (_, k) in zip(pairs, keys, strict=True)),
        ],
        f"({right.sql}) AS t",
    )
    matched = " AND ".join(f"{mine} = {yours}" for mine, yours in keys)
    test = f"2 * COALESCE(lm, 0) + COALESCE(rm, 0) > {_LEAST[keep]}"  # 3 matched, 2 has a left side only, 1 a right one
    sides = f"({here}) AS {left.letter} FULL JOIN ({there}) AS {right.letter}"
    return select_sql(cells, f"{sides} ON {matched}", f"WHERE {test}")


def _guard(side: JoinSide, flag: str, number: int) -> str:
    """Add a flag and one row: 0 may match; 1 or 2 holds a NULL among its keys; 3 or 4 is the row that was added."""
    unknown = " OR ".join(f"{key} IS NULL" for key in side.keys)
    test = f"CASE WHEN {unknown} THEN {number} ELSE 0 END" if unknown else "0"
    flagged = select_sql(["*", f"{test} AS {flag}"], f"({side.sql}) AS t")
    return f"{flagged} UNION ALL BY NAME SELECT {number + 2} AS {flag}"
