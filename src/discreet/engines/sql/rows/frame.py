"""Frame: a relation as SQL while it is being written, and the writer that names its columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import count

from ....frozen import field, frozen
from ....query.domains.domain import Domain
from ...column_pruning import ColumnNames
from ..dialect import Dialect, StoredTable


@frozen
class SqlFrame:
    """A SELECT: the SQL names of its columns, their domains, and the names of its owner."""

    sql: str
    names: dict[str, str]
    domains: dict[str, Domain]
    owner: tuple[str, ...]


@frozen
class Writer:
    """Context for writing one SQL text: the dialect, the stored tables and a supply of names.

    `deferred` lists the columns of a table that are left as they are stored, to be read later.
    """

    dialect: Dialect
    table: Callable[[str], StoredTable]
    numbers: Iterator[int] = field(default_factory=count)
    deferred: ColumnNames = frozenset()
    count: str = ""
    """The stored column that holds the number of rows of a person, if it is wanted."""

    def fresh(self, letter: str) -> str:
        """Return a name that is not yet used in this text."""
        return f"{letter}{next(self.numbers)}"

    def named(self, names: Iterable[str]) -> dict[str, str]:
        """Return a fresh name for each column."""
        return {name: self.fresh("c") for name in names}
