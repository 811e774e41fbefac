"""SQL text as one statement of a known depth; nothing of it is understood here."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import SqlglotError

from ....errors import UnsupportedQuery
from ...algebra.refusal import refusal
from .dialects import translate
from .grammar import Grammar
from .quote import SOURCE
from .spelling import double_quoted, without_top

LONGEST = 100_000
DEEPEST = 64


def read_statement(sql: str) -> exp.Expr:
    """Parse the text; there must be one statement, and it must be a SELECT."""
    if not isinstance(sql, str) or len(sql) > LONGEST:
        raise UnsupportedQuery(f"a question is text of at most {LONGEST} characters")
    text = double_quoted(sql)
    try:
        grammar = Grammar()
        tokens = grammar.tokenize(text)
        _check_start([token.text.upper() for token in tokens])
        text, top = without_top(text, tokens)
        tokens = tokens if top is None else grammar.tokenize(text)
        statements = [
            statement for statement in grammar.parser().parse(tokens, text) if statement is not None
        ]
    except SqlglotError as error:
        raise _unreadable(error) from None
    if len(statements) != 1:
        raise refusal(";", "one question is one statement", "ask them one by one")
    _check_depth(statements[0])
    statement = translate(statements[0])
    statement.meta[SOURCE] = sql
    return statement if top is None else _limit(statement, top)


def _limit(node: exp.Expr, top: int) -> exp.Expr:
    """Read SELECT TOP 5 … as … LIMIT 5."""
    if not isinstance(node, exp.Select) or node.args.get("limit") is not None:
        raise refusal(
            "TOP",
            "it stands beside LIMIT, or not in the outermost SELECT",
            "write LIMIT at the end",
        )
    node.set("limit", exp.Limit(expression=exp.Literal.number(top)))
    return node


def _check_start(words: list[str]) -> None:
    first = next((word for word in words if word != "("), "")
    if first not in ("SELECT", "WITH"):
        raise refusal(first or "nothing", "only SELECT asks a question", "write SELECT … FROM …")


def _unreadable(error: Exception) -> UnsupportedQuery:
    """Return where the text cannot be read, without quoting it."""
    details = getattr(error, "errors", None) or [{}]
    line, column = details[0].get("line"), details[0].get("col")
    where = "" if line is None else f" near line {line}, column {column}"
    return UnsupportedQuery(
        f"this SQL cannot be read{where}; check its commas, quotes and brackets"
    )


def _check_depth(root: exp.Expr) -> None:
    """Refuse deep nesting before anything walks it; a long chain of AND, OR or UNION ALL is not deep."""
    stack = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        if depth > DEEPEST:
            raise too_deep()
        chain = isinstance(node, exp.And | exp.Or | exp.Union)
        children = node.iter_expressions()
        stack += [
            (child, depth if chain and type(child) is type(node) else depth + 1)
            for child in children
        ]


def too_deep() -> UnsupportedQuery:
    """Word the refusal of a question that is nested too deeply."""
    return refusal(
        "nesting",
        f"the question is nested more than {DEEPEST} deep",
        "write it flatter, or use WITH",
    )
