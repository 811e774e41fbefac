"""SQL text in lines, for people: the same tokens, only the blanks between them change."""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|[A-Za-z_][A-Za-z_0-9]*|[()]|\s+|.", re.DOTALL
)
_CLAUSES = {"FROM", "WHERE", "GROUP", "JOIN", "SELECT", "UNION", "HAVING", "ORDER", "LEFT"}


def in_lines(sql: str) -> str:
    """Begin a line at every clause of every SELECT, deeper for those inside.

    >>> from discreet.engines.sql.pretty import in_lines
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
