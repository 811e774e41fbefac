"""Builder of a SELECT and of its small parts, and the layout of a query in lines.

Names in a query are generated or quoted, and texts are quoted constants. The layout (pretty
printing) is for people: it keeps all tokens and changes only the blanks between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_TOKEN = re.compile(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|[A-Za-z_][A-Za-z_0-9]*|[()]|\s+|.", re.DOTALL
)
_CLAUSES = {"FROM", "WHERE", "GROUP", "JOIN", "SELECT", "UNION", "HAVING", "ORDER", "LEFT"}


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


def in_lines(sql: str) -> str:
    """Begin a line at every clause of every SELECT, deeper for those inside.

    >>> from discreet.engines.sql.select import in_lines
    >>> print(in_lines("SELECT a, sum(b) FROM (SELECT a, 'FROM x' AS b FROM t WHERE a IN (1, 2)) AS t GROUP BY a"))
    SELECT a, sum(b)
    FROM (
      SELECT a, 'FROM x' AS b
      FROM t
      WHERE a IN (1, 2)) AS t
    GROUP BY a
    """
    pieces = _TOKEN.findall(sql)
    # For every open bracket: whether it holds a SELECT. The whole text counts as the first one.
    selects = [True]
    lines = [""]
    for index, piece in enumerate(pieces):
        if piece == ")" and len(selects) > 1:
            selects.pop()
        if piece in _CLAUSES and selects[-1] and _breaks_before(lines[-1]):
            lines[-1] = lines[-1].rstrip()
            depth = sum(selects) - 1
            lines.append("  " * depth)
        lines[-1] += " " if piece.isspace() else piece
        if piece == "(":
            selects.append(pieces[index + 1 : index + 2] == ["SELECT"])
    return "\n".join(lines)


def _breaks_before(line: str) -> bool:
    """Return whether a clause begins a new line: not in an empty line, nor between LEFT and JOIN."""
    return bool(line.strip()) and not line.endswith(" LEFT ")
