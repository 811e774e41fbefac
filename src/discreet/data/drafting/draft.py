"""A schema in the making: what is said, what is still open, and what came from the data and needs a word."""

from __future__ import annotations

from ...errors import InvalidArgument
from ...frozen import frozen
from ...privacy.neighbours import Neighbours
from ..columns.column import Column, ColumnType
from ..files.schema_file import table_toml
from ..files.schema_json import FORMAT, SHAPES, column_to_dict, unit_to_dict
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
    """A schema that may still lack facts: a column known only by its kind, a unit known only by its id, or none."""

    name: str
    unit: Unit | str | None
    columns: tuple[tuple[str, Column | ColumnType], ...]
    neighbours: Neighbours
    version: str
    needs_word: tuple[str, ...]
    hints: tuple[tuple[str, str], ...] = ()
    """What cells look like, by the name of their column: a declaration that would read them, a step that fits them."""

    @property
    def open(self) -> dict[str, str]:
        """What the steward has still to say, by the path of the fact."""
        said = {}
        if self.unit is None:
            said["unit"] = WHO
        elif isinstance(self.unit, str):
            said["unit"] = "say max_rows, the most rows of one person that may count"
        for name, column in self.columns:
            if isinstance(column, str):
                hint = dict(self.hints).get(name)
                said[f"columns.{name}"] = (
                    "say " + " and ".join(SHAPES[column].needs) + (f"; {hint}" if hint else "")
                )
        return said

    def schema(self) -> Schema:
        """Return the schema if nothing is open; what came from the data still needs the steward's word."""
        if self.open:
            raise InvalidArgument(
                f"the draft of {self.name} lacks {', '.join(self.open)}; fill them in first"
            )
        columns = {name: column for name, column in self.columns if not isinstance(column, str)}
        unit = None if isinstance(self.unit, str) else self.unit
        options = {
            "neighbours": self.neighbours,
            "version": self.version,
            "needs_word": self.needs_word,
        }
        return Schema(self.name, unit, columns, **options)  # type: ignore[arg-type]

    def to_toml(self) -> str:
        """Write the draft as a schema file; what is open stands there as a comment, and the file does not load yet."""
        facts: dict[str, object] = {"version": self.version, "neighbours": self.neighbours}
        if self.unit is not None:
            known = (
                {"kind": "people", "id": self.unit}
                if isinstance(self.unit, str)
                else unit_to_dict(self.unit)
            )
            facts["unit"] = known | self._mark("unit")
        facts["columns"] = {
            name: (
                ({"type": c} if isinstance(c, str) else column_to_dict(c))
                | self._mark(f"columns.{name}")
            )
            for name, c in self.columns
        }
        remarks = dict.fromkeys(self.needs_word, FROM_DATA) | self.open
        return f"{HEAD}format = {FORMAT}\n\n{table_toml(self.name, facts, remarks)}"

    def _mark(self, path: str) -> dict[str, object]:
        return {"needs_word": True} if path in self.needs_word else {}
