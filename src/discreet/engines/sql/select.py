"""Builder of one SELECT: the only function that puts a query together.

Nothing enters a query but made-up names and quoted parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def named_cells(cells: Iterable[tuple[str, str]]) -> list[str]:
    """Write cells with their names.

    >>> from discreet.engines.sql.select import named_cells
    >>> named_cells([("c0", "1 + 1")])
    ['1 + 1 AS c0']
    """
    return [f"{sql} AS {name}" for name, sql in cells]


def numbered(letter: str, count: int) -> list[str]:
    """List names that differ in their numbers.

    >>> from discreet.engines.sql.select import numbered
    >>> numbered("x", 2)
    ['x0', 'x1']
    """
    return [f"{letter}{number}" for number in range(count)]


def all_equal(pairs: Iterable[tuple[str, str]]) -> str:
    """Write the test that both sides of every pair are equal."""
    return " AND ".join(f"{left} = {right}" for left, right in pairs)


def none_null(names: Iterable[str]) -> str:
    """Write the test that no column is NULL."""
    return " AND ".join(f"{name} IS NOT NULL" for name in names)


def nested(sql: str, letter: str = "t") -> str:
    """Write a query as the source of another.

    >>> from discreet.engines.sql.select import nested
    >>> nested("SELECT 1")
    '(SELECT 1) AS t'
    """
    return f"({sql}) AS {letter}"


def group_by(names: Sequence[str]) -> str:
    """Write the grouping of a SELECT by some columns; "" without columns.

    >>> from discreet.engines.sql.select import group_by
    >>> group_by(["k0", "k1"])
    'GROUP BY k0, k1'
    """
    return f"GROUP BY {', '.join(names)}" if names else ""


def select_sql(cells: Iterable[str], source: str, tail: str = "") -> str:
    """Write a SELECT; a row without any column still counts.

    >>> from discreet.engines.sql.select import select_sql
    >>> select_sql([], '"people" AS t', "WHERE t.a")
    'SELECT 1 AS one FROM "people" AS t WHERE t.a'
    """
    columns = ", ".join(cells) or "1 AS one"
    query = f"SELECT {columns} FROM {source}"  # noqa: S608
    if tail:
        query = f"{query} {tail}"
    return query
