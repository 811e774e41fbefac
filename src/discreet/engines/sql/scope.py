"""Where an expression stands: which SQL columns its fields are, of which domains, in which dialect."""

from __future__ import annotations

from collections.abc import Mapping

from ...errors import UnsupportedQuery
from ...frozen import frozen
from ...query.domains.domain import Domain
from .dialect import Dialect

LONGEST = 200_000
"""Text longer than this is refused: what a function needs twice is written twice, so nesting multiplies."""


@frozen
class SqlScope:
    """The columns an expression may read: their SQL names and their domains."""

    names: Mapping[str, str]
    domains: Mapping[str, Domain]
    dialect: Dialect
    veiled: bool = False

    def veil(self) -> SqlScope:
        """Return the same place with columns behind what the store's optimizer knows nothing about.

        An optimizer that knows the greatest value of a column need not run x > 9 at all; one row decides about that.
        """
        hide = self.dialect.hide
        if hide is None or self.veiled:
            return self
        names = {
            name: hide(sql, type(self.domains[name]).__name__) for name, sql in self.names.items()
        }
        return SqlScope(names, self.domains, self.dialect, veiled=True)


def short(sql: str) -> str:
    """Refuse text that has grown too long.

    >>> from discreet.engines.sql.scope import short
    >>> short("x" * 300_000)
    Traceback (most recent call last):
    ...
    discreet.errors.UnsupportedQuery: an expression is nested too deeply to be written as SQL; ask for it in simpler ...
    """
    if len(sql) > LONGEST:
        raise UnsupportedQuery(
            "an expression is nested too deeply to be written as SQL; ask for it in simpler parts, "
            "with sub-queries that name them"
        )
    return sql
