"""The grammar that questions are written in: DuckDB's, with what other dialects write in the same places.

Its meaning is our own, the same on every store.
"""

from __future__ import annotations

from sqlglot import TokenType, exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.parsers.duckdb import DuckDBParser

_SETS: dict[TokenType, type[exp.Cube | exp.Rollup]] = {
    TokenType.CUBE: exp.Cube,
    TokenType.ROLLUP: exp.Rollup,
}


def _decode(args: list[exp.Expr]) -> exp.Expr:
    """Read DECODE(x, a, then, …, else) as Oracle and Snowflake do; two arguments name an encoding."""
    if len(args) < 3:
        return exp.Anonymous(this="DECODE", expressions=args)
    return exp.DecodeCase(expressions=args)


class Grammar(DuckDB):
    """DuckDB's grammar.

    CUBE and ROLLUP take any expression as a key, comparisons too, and DECODE is that of Oracle and Snowflake.

    >>> import sqlglot
    >>> from discreet.query.sql.lexical.grammar import Grammar
    >>> sqlglot.parse_one("SELECT 1 FROM t GROUP BY CUBE (a, x >= 5)", dialect=Grammar).sql()
    'SELECT 1 FROM t GROUP BY CUBE (a, x >= 5)'
    """

    class Parser(DuckDBParser):
        """How text becomes a tree."""

        FUNCTIONS = {**DuckDBParser.FUNCTIONS, "DECODE": _decode}  # noqa: RUF012 as the grammar has it

        def _parse_cube_or_rollup(self, with_prefix: bool = False) -> exp.Cube | exp.Rollup | None:
            kind = next((made for word, made in _SETS.items() if self._match(word)), None)
            if kind is None:
                return None
            keys = [] if with_prefix else self._parse_wrapped_csv(self._parse_disjunction)
            return self.expression(kind(expressions=keys))

        def _parse_grouping_set(self) -> exp.Expr | None:
            return (
                self._parse_grouping_sets()
                or self._parse_cube_or_rollup()
                or self._parse_disjunction()
            )
