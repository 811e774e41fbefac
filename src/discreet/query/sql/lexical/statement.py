"""SQL text to one parsed statement of a bounded depth; its meaning is read elsewhere.

The grammar is DuckDB's, with spellings of other dialects: names in backticks or square brackets,
SELECT TOP n, DECODE, CUBE and ROLLUP. The meaning is our own, the same on every store.

Guarantee: one SELECT of at most `MAX_LENGTH` characters and `MAX_DEPTH` levels.

Refuses: with `UnsupportedQuery` every other text; a text that cannot be parsed is not quoted.

Law: tests/query/test_sql_refusals.py::test_only_text_is_a_question
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from sqlglot import Token, TokenType, exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import SqlglotError
from sqlglot.parsers.duckdb import DuckDBParser

from ....errors import UnsupportedQuery
from ....show.nearest import did_you_mean
from ...algebra.refusal import refusal
from .dialects import translate
from .quote import SOURCE

MAX_LENGTH = 100_000
MAX_DEPTH = 64
"""Levels of nesting: readers recurse, and Python's stack must hold all of them."""

_KEYWORDS = (
    *("SELECT", "FROM", "WHERE", "GROUP", "BY", "HAVING", "ORDER", "LIMIT", "OFFSET", "JOIN"),
    *("LEFT", "RIGHT", "FULL", "INNER", "NATURAL", "ON", "USING", "AND", "OR", "NOT", "BETWEEN"),
    *("LIKE", "CASE", "WHEN", "THEN", "ELSE", "END", "DISTINCT", "UNION", "WITH", "FILTER", "OVER"),
    *("PARTITION", "ASC", "DESC", "IS", "NULL", "EXISTS", "INTERVAL"),
)
"""Words of the grammar that are suggested for misspelt ones."""

_PIECES = re.compile(
    r"""'(?:[^']|'')*'                    # text
      | "(?:[^"]|"")*"                    # a name
      | --[^\n]*                          # a comment
      | /\*.*?\*/
      | `(?P<tick>[^`"]+)`                # a name of MySQL, BigQuery and Spark
      # a name of SQL Server; after a word it is an index of a list
      | (?<![\w\])"'])\[(?P<square>[A-Za-z_][^\]\["]*)\]
    """,
    re.VERBOSE | re.DOTALL,
)


def _decode(args: list[exp.Expr]) -> exp.Expr:
    """Read DECODE(x, a, then, …, else) as Oracle and Snowflake do."""
    # With two arguments it is DuckDB's, and the second one names an encoding.
    if len(args) < 3:
        return exp.Anonymous(this="DECODE", expressions=args)
    return exp.DecodeCase(expressions=args)


class Grammar(DuckDB):
    """DuckDB's grammar with two changes.

    CUBE and ROLLUP take any expression as a key, comparisons too. DECODE is that of Oracle and
    Snowflake.

    >>> import sqlglot
    >>> from discreet.query.sql.lexical.statement import Grammar
    >>> sqlglot.parse_one("SELECT 1 FROM t GROUP BY CUBE (a, x >= 5)", dialect=Grammar).sql()
    'SELECT 1 FROM t GROUP BY CUBE (a, x >= 5)'
    """

    class Parser(DuckDBParser):
        """Parser of the changed grammar; it overrides private hooks of sqlglot."""

        FUNCTIONS = {**DuckDBParser.FUNCTIONS, "DECODE": _decode}  # noqa: RUF012 as the grammar has it

        def _parse_cube_or_rollup(self, with_prefix: bool = False) -> exp.Cube | exp.Rollup | None:
            kind: type[exp.Cube | exp.Rollup]
            if self._match(TokenType.CUBE):
                kind = exp.Cube
            elif self._match(TokenType.ROLLUP):
                kind = exp.Rollup
            else:
                return None
            # GROUP BY a, b WITH ROLLUP has no list of its own.
            keys = [] if with_prefix else self._parse_wrapped_csv(self._parse_disjunction)
            return self.expression(kind(expressions=keys))

        def _parse_grouping_set(self) -> exp.Expr | None:
            return (
                self._parse_grouping_sets()
                or self._parse_cube_or_rollup()
                or self._parse_disjunction()
            )


def read_statement(sql: str) -> exp.Expr:
    """Parse the text; there must be one statement, and it must be a SELECT."""
    if not isinstance(sql, str) or len(sql) > MAX_LENGTH:
        raise UnsupportedQuery(f"a question is text of at most {MAX_LENGTH} characters")
    text = double_quoted(sql)
    try:
        grammar = Grammar()
        tokens = grammar.tokenize(text)
        _check_start(tokens)
        text, top = without_top(text, tokens)
        if top is not None:
            tokens = grammar.tokenize(text)
        parsed = grammar.parser().parse(tokens, text)
    except SqlglotError as error:
        raise _unreadable(error) from None
    statements = [statement for statement in parsed if statement is not None]
    if len(statements) != 1:
        raise refusal(";", "one question is one statement", "ask them one by one")
    # Depth comes first: the translation of dialects visits the whole tree.
    _check_depth(statements[0])
    statement = translate(statements[0])
    statement.meta[SOURCE] = sql
    if top is not None:
        return _with_limit(statement, top)
    return statement


def _with_limit(node: exp.Expr, top: int) -> exp.Expr:
    """Read SELECT TOP 5 … as … LIMIT 5."""
    if not isinstance(node, exp.Select) or node.args.get("limit") is not None:
        raise refusal(
            "TOP",
            "it stands beside LIMIT, or not in the outermost SELECT",
            "write LIMIT at the end",
        )
    node.set("limit", exp.Limit(expression=exp.Literal.number(top)))
    return node


def _check_start(tokens: Sequence[Token]) -> None:
    first = ""
    for token in tokens:
        if token.text != "(":
            first = token.text.upper()
            break
    if first not in ("SELECT", "WITH"):
        instead = did_you_mean(first, ("SELECT", "WITH")) or "write SELECT … FROM …"
        raise refusal(first or "nothing", "only SELECT asks a question", instead)


def _unreadable(error: Exception) -> UnsupportedQuery:
    """Return the position where the text cannot be read, without quoting it."""
    details = getattr(error, "errors", None) or [{}]
    line = details[0].get("line")
    where = ""
    if line is not None:
        where = f" near line {line}, column {details[0].get('col')}"
    hint = _keyword_hint(details[0]) or "check its commas, quotes and brackets"
    return UnsupportedQuery(f"this SQL cannot be read{where}; {hint}")


def _keyword_hint(details: Mapping[str, object]) -> str:
    """Return the keyword that a word at the position, or just before it, nearly is.

    A misspelt keyword is read as a name, and the error comes one word later.
    """
    before = str(details.get("start_context") or "").split()
    for word in (*before[-1:], str(details.get("highlight") or "")):
        # A single letter is near to every short word.
        if len(word) > 1 and word.isalpha() and word.upper() not in _KEYWORDS:
            hint = did_you_mean(word, _KEYWORDS)
            if hint:
                return hint
    return ""


def _check_depth(root: exp.Expr) -> None:
    """Refuse deep nesting; a long chain of AND, OR or UNION ALL is not deep."""
    # A stack instead of recursion: the depth is not known to be small yet.
    stack = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        if depth > MAX_DEPTH:
            raise too_deep()
        is_chain = isinstance(node, exp.And | exp.Or | exp.Union)
        for child in node.iter_expressions():
            # The parser nests a AND b AND c, though it is one flat list.
            same_chain = is_chain and type(child) is type(node)
            stack.append((child, depth if same_chain else depth + 1))


def too_deep() -> UnsupportedQuery:
    """Return the refusal of a question that is nested too deeply."""
    return refusal(
        "nesting",
        f"the question is nested more than {MAX_DEPTH} deep",
        "write it flatter, or use WITH",
    )


def double_quoted(sql: str) -> str:
    r"""Write names in backticks or square brackets in double quotes.

    Every position in the text stays the same, so that refusals can quote it.

    >>> from discreet.query.sql.lexical.statement import double_quoted
    >>> double_quoted("SELECT `a b`, [c] FROM t WHERE x = '`' -- [d]")
    'SELECT "a b", "c" FROM t WHERE x = \'`\' -- [d]'
    """
    return _PIECES.sub(_double_quoted_piece, sql)


def _double_quoted_piece(piece: re.Match[str]) -> str:
    name = piece["tick"] or piece["square"]
    return piece[0] if name is None else f'"{name}"'


def without_top(sql: str, tokens: Sequence[Token]) -> tuple[str, int | None]:
    """Take TOP 5 out of the outermost SELECT, leaving blanks, and return its number.

    >>> import sqlglot
    >>> from discreet.query.sql.lexical.statement import without_top
    >>> without_top("SELECT TOP 5 x", sqlglot.tokenize("SELECT TOP 5 x"))
    ('SELECT       x', 5)
    """
    depth = 0
    for position, token in enumerate(tokens):
        if token.token_type is TokenType.L_PAREN:
            depth += 1
        elif token.token_type is TokenType.R_PAREN:
            depth -= 1
        elif depth == 0 and token.token_type is TokenType.SELECT:
            # Five tokens hold the longest form: DISTINCT TOP ( 5 ).
            following = tokens[position + 1 : position + 6]
            return _cut_top(sql, [t for t in following if t.token_type is not TokenType.DISTINCT])
    return sql, None


def _cut_top(sql: str, tokens: Sequence[Token]) -> tuple[str, int | None]:
    """Blank out TOP n or TOP (n) at the start of the tokens; without one change nothing."""
    if len(tokens) < 2 or tokens[0].text.upper() != "TOP":
        return sql, None
    in_brackets = tokens[1].token_type is TokenType.L_PAREN and len(tokens) > 3
    number = tokens[1]
    end = 2
    if in_brackets:
        number = tokens[2]
        end = 4
    # 18 digits fit into 64 bits. Without such a number TOP is the name of a column.
    is_number = number.token_type is TokenType.NUMBER and number.text.isdigit()
    if not is_number or len(number.text) > 18:
        return sql, None
    if len(tokens) > end and tokens[end].text.upper() == "PERCENT":
        raise refusal(
            f"TOP {number.text} PERCENT",
            "it takes a number of rows, no percentage",
            "write LIMIT 10",
        )
    start = tokens[0].start
    stop = tokens[end - 1].end + 1
    blank = " " * (stop - start)
    return sql[:start] + blank + sql[stop:], int(number.text)
