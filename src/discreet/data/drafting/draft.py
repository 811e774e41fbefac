"""Draft of a schema: stated facts, missing facts, and facts from the data to be confirmed.

Guarantee: a fact that was read from the data is marked `needs_word`, and a schema with such a mark
does not load until the steward removes it.

Law: tests/data/test_infer.py::TestDraft
"""

from __future__ import annotations

from ...errors import InvalidArgument
from ...frozen import frozen
from ...privacy.measures import Neighbours
from ..columns.column import Column, ColumnType
from ..files.schema_file import table_toml
from ..files.schema_json import COLUMN_SHAPES, FORMAT, column_to_dict, unit_to_dict
from ..schema import Schema
from ..unit import Unit

WHO = 'who is protected? Write unit = { kind = "rows" }, or { kind = "people", id = "user_id", max_rows = 10 }'
FROM_DATA = "read from the data"
HEAD = """\
# A draft. The names were read from the header and the types guessed from values: check them.
# A bound is public: state what anyone may know without looking at the data. Where needs_word = true stands the fact was
# read from the data: put in what is known without looking, then remove the mark; until then the file does not load.
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
            needs_word=self.needs_word,
        )

    def to_toml(self) -> str:
        """Write the draft as a schema file; missing facts are comments, so it does not load."""
        facts: dict[str, object] = {"version": self.version, "neighbours": self.neighbours}
        if isinstance(self.unit, str):
            facts["unit"] = {"kind": "people", "id": self.unit} | self._mark("unit")
        elif self.unit is not None:
            facts["unit"] = unit_to_dict(self.unit) | self._mark("unit")
        columns: dict[str, object] = {}
        for name, column in self.columns:
            stated = {"type": column} if isinstance(column, str) else column_to_dict(column)
            columns[name] = stated | self._mark(f"columns.{name}")
        facts["columns"] = columns
        # A missing fact has the more important comment, so it replaces the other.
        remarks = dict.fromkeys(self.needs_word, FROM_DATA) | self.open
        table = table_toml(self.name, facts, remarks)
        return f"{HEAD}format = {FORMAT}\n\n{table}"

    def _mark(self, path: str) -> dict[str, object]:
        if path in self.needs_word:
            return {"needs_word": True}
        return {}
