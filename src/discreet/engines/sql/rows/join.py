"""A join as SQL that reads both sides, whatever they hold.

A store that finds one side empty need not read the other: whether one person's row passes a condition then decides
whether a large table is read, and the time tells. In a full join no side may be left out; what has no partner is
dropped afterwards, by a test over both sides that no planner can move below the join or turn it into an inner one by.
"""

from __future__ import annotations

from ..dialect import Dialect
from ..select import select_sql

__all__ = ["join_sql"]


def join_sql(left: str, right: str, matched: str, dialect: Dialect, *, keep: bool = False) -> tuple[str, str]:
    """Write a join of `l` and `r` and what follows it; `keep` also keeps rows of the left that have no partner."""
    if not dialect.whole_joins:
        return f"({left}) AS l {'LEFT JOIN' if keep else 'JOIN'} ({right}) AS r ON {matched}", ""
    here, there = (select_sql(["*", f"1 AS {mark}"], f"({sql}) AS t") for mark, sql in (("lm", left), ("rm", right)))
    test = "COALESCE(lm, 0) = 1" if keep else "COALESCE(lm, 0) + COALESCE(rm, 0) = 2"
    return f"({here}) AS l FULL JOIN ({there}) AS r ON {matched}", f"WHERE {test}"
