"""An engine that does not say where its files are: analysts see what the store is asked, not the machine's folders."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..data.schema import Schema
from ..engines.base import Engine
from ..query.kind import Scalar
from ..query.tally import Tally, Totals
from .config import Source

__all__ = ["Reticent", "reticent"]


@dataclass(frozen=True, slots=True)
class Reticent:
    """The engine inside, with the folders of its files left out of every text."""

    engine: Engine
    folders: tuple[str, ...]

    def tally(self, tally: Tally) -> Totals:
        """Give the exact totals."""
        return self.engine.tally(tally)

    def explain(self, tally: Tally) -> str:
        """Show what would be run; files by their names alone."""
        text = self.engine.explain(tally)
        for folder in self.folders:
            text = text.replace(folder, "")
        return text

    def check(self, schema: Schema) -> None:
        """Refuse a schema that does not fit."""
        self.engine.check(schema)

    def public_values(self, table: Schema, column: str) -> tuple[Scalar, ...]:
        """List the values of a public table's column."""
        return self.engine.public_values(table, column)


def reticent(engine: Engine, source: Source) -> Engine:
    """Put the cover over an engine whose source names files.

    >>> reticent(None, Source("duckdb", {"people": "/srv/data/people.csv"})).folders
    ('/srv/data/',)
    """
    places: Iterable[str] = () if isinstance(source.tables, str) else source.tables.values()
    folders = {str(Path(place).parent).rstrip("/") + "/" for place in places if "/" in place}
    quoted = {folder.replace("'", "''") for folder in folders}
    return Reticent(engine, tuple(sorted(folders | quoted, key=len, reverse=True)))
