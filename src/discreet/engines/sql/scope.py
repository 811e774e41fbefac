"""Scope of an expression: the SQL names and domains of the columns that it may read.

The SQL is written so that no optimizer changes how much work a query does because of one row.
An optimizer that knows the greatest value of a column need not run x > 9 at all, and the time of
the query would then tell about that row. `SqlScope.hide_columns` keeps such statistics away.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...errors import UnsupportedQuery
from ...frozen import frozen
from ...query.domains.domain import Domain
from .dialect import Dialect

MAX_TEXT_LENGTH = 200_000
"""Longest SQL text of one expression or relation.

An argument that a function needs twice is written twice, so nesting multiplies the text."""


@frozen
class SqlScope:
    """The columns an expression may read: their SQL names and their domains."""

    names: Mapping[str, str]
    domains: Mapping[str, Domain]
    dialect: Dialect
    hidden: bool = False

    def hide_columns(self) -> SqlScope:
        """Return the scope with its columns hidden from the statistics of the store's optimizer.

        Guarantee: no value changes; a dialect without `hide` needs no hiding.

        Law: tests/engines/test_plans.py::test_one_null_changes_no_plan
        """
        hide = self.dialect.hide
        if hide is None or self.hidden:
            return self
        names = {}
        for name, sql in self.names.items():
            domain = type(self.domains[name]).__name__
            names[name] = hide(sql, domain)
        return SqlScope(names, self.domains, self.dialect, hidden=True)


def check_length(sql: str) -> str:
    """Return a text unchanged; refuse one that has grown too long.

    >>> from discreet.engines.sql.scope import check_length
    >>> check_length("x" * 300_000)
    Traceback (most recent call last):
    ...
    discreet.errors.UnsupportedQuery: an expression is nested too deeply to be written as SQL; ask for it in simpler ...
    """
    if len(sql) > MAX_TEXT_LENGTH:
        raise UnsupportedQuery(
            "an expression is nested too deeply to be written as SQL; ask for it in simpler parts, "
            "with sub-queries that name them"
        )
    return sql
