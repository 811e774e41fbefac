"""A SQL text in lines, for people: the very same words, only the blanks between them change."""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|[A-Za-z_][A-Za-z_0-9]*|[()]|\s+|.", re.DOTALL
)
_BREAKS = {"FROM", "WHERE", "GROUP", "JOIN", "SELECT", "UNION", "HAVING", "ORDER", "LEFT"}


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
    words = [match[0] for match in _TOKEN.finditer(sql)]
    selects = [True]  # for every open bracket: whether a SELECT stands in it
    lines = [""]
    for place, word in enumerate(words):
        if word == ")" and len(selects) > 1:
            selects.pop()
        if (
            word in _BREAKS
            and selects[-1]
            and lines[-1].strip()
            and not lines[-1].endswith(" LEFT ")
        ):
            lines[-1] = lines[-1].rstrip()
            lines.append("  " * (sum(selects) - 1))
        lines[-1] += " " if word.isspace() else word
        if word == "(":
            selects.append(words[place + 1 : place + 2] == ["SELECT"])
    return "\n".join(lines)
