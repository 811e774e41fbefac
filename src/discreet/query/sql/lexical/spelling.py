"""Other dialects' spelling: names in backticks or square brackets, and SELECT TOP n, place for place."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import Token, TokenType

from ...algebra.refusal import refusal

_PIECES = re.compile(
    r"""'(?:[^']|'')*'                    # text
      | "(?:[^"]|"")*"                    # a name
      | --[^\n]*                          # a comment
      | /\*.*?\*/
      | `(?P<tick>[^`"]+)`                # a name of MySQL, BigQuery and Spark
      | (?<![\w\])"'])\[(?P<square>[A-Za-z_][^\]\["]*)\]  # a name of SQL Server; after a word it is a place in a list
    """,
    re.VERBOSE | re.DOTALL,
)


def double_quoted(sql: str) -> str:
    r"""Write names in backticks or square brackets in double quotes; every place in the text stays where it is.

    >>> from discreet.query.sql.lexical.spelling import double_quoted
    >>> double_quoted("SELECT `a b`, [c] FROM t WHERE x = '`' -- [d]")
    'SELECT "a b", "c" FROM t WHERE x = \'`\' -- [d]'
    """

    def written(piece: re.Match[str]) -> str:
        name = piece["tick"] or piece["square"]
        return piece[0] if name is None else f'"{name}"'

    return _PIECES.sub(written, sql)


def without_top(sql: str, tokens: Sequence[Token]) -> tuple[str, int | None]:
    """Take TOP 5 out of the outermost SELECT, leaving blanks, and return its number.

    >>> import sqlglot
    >>> from discreet.query.sql.lexical.spelling import without_top
    >>> without_top("SELECT TOP 5 x", sqlglot.tokenize("SELECT TOP 5 x"))
    ('SELECT       x', 5)
    """
    depth = 0
    for place, token in enumerate(tokens):
        depth += {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}.get(token.token_type, 0)
        if depth == 0 and token.token_type is TokenType.SELECT:
            rest = [
                t for t in tokens[place + 1 : place + 6] if t.token_type is not TokenType.DISTINCT
            ]
            return _cut(sql, rest)
    return sql, None


def _cut(sql: str, rest: Sequence[Token]) -> tuple[str, int | None]:
    if not rest or rest[0].text.upper() != "TOP" or len(rest) < 2:
        return sql, None
    bracket = rest[1].token_type is TokenType.L_PAREN and len(rest) > 3
    number, last = (rest[2], rest[3]) if bracket else (rest[1], rest[1])
    if (
        number.token_type is not TokenType.NUMBER
        or not number.text.isdigit()
        or len(number.text) > 18
    ):
        return sql, None
    following = rest[rest.index(last) + 1 :]
    if following and following[0].text.upper() == "PERCENT":
        raise refusal(
            f"TOP {number.text} PERCENT",
            "it takes a number of rows, no percentage",
            "write LIMIT 10",
        )
    blank = " " * (last.end + 1 - rest[0].start)
    return sql[: rest[0].start] + blank + sql[last.end + 1 :], int(number.text)
