"""Builder of one SELECT: the only function that puts a query together.

Nothing enters a query but made-up names and quoted parts.
"""

from __future__ import annotations

from collections.abc import Iterable


def named_cells(cells: Iterable[tuple[str, str]]) -> list[str]:
    """Write cells with their names.

    >>> from discreet.engines.sql.select import named_cells
    >>> named_cells([("c0", "1 + 1")])
    ['1 + 1 AS c0']
    """
    return [f"{sql} AS {name}" for name, sql in cells]


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
