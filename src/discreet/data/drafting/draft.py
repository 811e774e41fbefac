"""Draft of a schema: stated facts, missing facts, and facts from the data to be confirmed.

Guarantee: bounds and units that were read from the data are marked `needs_word`. A schema with such
a mark answers no question until the steward removes the mark. How cells are read, as proposed from
the data, is listed under `looked_at`; that does not keep a schema from use.

Law: tests/data/test_infer.py::TestDraft
"""

from __future__ import annotations

from ...errors import InvalidArgument
from ...frozen import frozen
from ...privacy.measures import Neighbours
from ..columns.column import Column, ColumnType
from ..files.schema_file import table_toml
from ..files.schema_json import COLUMN_SHAPES, FORMAT, Facts, column_to_dict, marks_of, unit_to_dict
from ..schema import Schema
from ..unit import Unit
from .proposals import Proposal

WHO = 'who is protected? Write unit = { kind = "rows" }, or { kind = "people", id = "user_id", max_rows = 10 }'
SIZE = "how many are there, about? Say a public number, which shows relative errors: size = 20000"
FROM_DATA = "read from the data"
HEAD = """\
# A draft. The names were read from the header and the types guessed from values: check them.
# A bound is public: state what anyone may know without looking at the data. Where needs_word = true stands the fact was
# read from the data: put in what is known without looking, then remove the mark; until then the file does not load.
# looked_at lists how cells are read, as proposed from the forms of the first rows: strike out what is not so.
"""


@frozen
class Draft:
    """Schema that may lack facts: a column may be only its type, the unit only its id or None."""

    name: str
    unit: Unit | str | None
    columns: tuple[tuple[str, Column | ColumnType], ...]
    neighbours: Neighbours
    version: str
    needs_word: tuple[str, ...]
    hints: tuple[tuple[str, str], ...] = ()
    """By column: a declaration that would read its cells, or a step that fits them."""
    size: int | None = None
    """A public number of units."""
    proposals: tuple[Proposal, ...] = ()
    """Declarations that were made from the forms of cells, with their effects on the first rows."""

    @property
    def open(self) -> dict[str, str]:
        """Facts that the steward has still to state, by their paths."""
        missing = {}
        if self.unit is None:
            missing["unit"] = WHO
        elif isinstance(self.unit, str):
            missing["unit"] = "say max_rows, the most rows of one person that may count"
        hints = dict(self.hints)
        for name, column in self.columns:
            if isinstance(column, str):
                request = "say " + " and ".join(COLUMN_SHAPES[column].needs)
                if hints.get(name):
                    request += f"; {hints[name]}"
                missing[f"columns.{name}"] = request
        return missing

    def schema(self) -> Schema:
        """Return the schema if no fact is missing; facts from the data keep their mark in it."""
        missing = self.open
        if missing:
            raise InvalidArgument(
                f"the draft of {self.name} lacks {', '.join(missing)}; fill them in first"
            )
        columns = {name: column for name, column in self.columns if not isinstance(column, str)}
        unit = None if isinstance(self.unit, str) else self.unit
        return Schema(
            self.name,
            unit,
            columns,
            neighbours=self.neighbours,
            version=self.version,
            size=self.size,
            needs_word=self.needs_word,
            looked_at=self.looked_at,
        )

    @property
    def looked_at(self) -> tuple[str, ...]:
        """Paths of the facts about how cells are read that were proposed from the data."""
        paths: dict[str, None] = {}
        for proposal in self.proposals:
            paths |= dict.fromkeys(proposal.facts)
        return tuple(paths)

    def to_toml(self) -> str:
        """Write the draft as a schema file; missing facts are comments, so it does not load."""
        facts: Facts = {"version": self.version, "neighbours": self.neighbours}
        if isinstance(self.unit, str):
            facts["unit"] = {"kind": "people", "id": self.unit} | self._mark("unit")
        elif self.unit is not None:
            facts["unit"] = unit_to_dict(self.unit) | self._mark("unit")
        columns: Facts = {}
        for name, column in self.columns:
            if isinstance(column, str):
                stated = {"type": column} | self._proposed(name)
            else:
                stated = column_to_dict(column)
            columns[name] = stated | self._mark(f"columns.{name}")
        facts["columns"] = columns
        if self.size is not None:
            facts["size"] = self.size
        # A missing fact has the more important comment, so it replaces the other.
        remarks = dict.fromkeys(self.needs_word, FROM_DATA) | self.open
        if self.size is None:
            remarks["size"] = SIZE
        table = table_toml(self.name, facts, remarks)
        return f"{HEAD}format = {FORMAT}\n\n{table}"

    def _proposed(self, name: str) -> Facts:
        """Return how cells are read, as proposed for a column whose bounds are still missing."""
        stated: Facts = {}
        for proposal in self.proposals:
            if proposal.column == name:
                stated |= proposal.options
        return stated

    def _mark(self, path: str) -> Facts:
        return marks_of(path, self.needs_word, self.looked_at)
