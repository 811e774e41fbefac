"""A table that a server prepared of one of its own: every cell read once, each person's rows counted beside them.

Columns are kept_0, kept_1, … in the order of the schema, `person` is whose row it is, and rows_0, … are counts. What
they mean is in a mark that the server keeps beside the table.
"""

from __future__ import annotations

import json

from ....data.columns.column import Boolean, Category, Column, Text
from ....data.schema import Schema
from ....data.unit import People
from ....errors import SchemaMismatch
from ....intake.compatibility import misfit
from ..dialect import Dialect, Stored, StoredColumn, StoredTable
from ..select import named_cells, select_sql
from .cell_table import read_cells_sql
from .person import id_sql
from .relation import person_column

FORMAT = 1
MARK = "discreet prepared "
FIRST = "kept_0"
"""The first column of every such table."""
MOST_COUNTS = 16
_INTEGERS = (("SMALLINT", 15), ("INTEGER", 31), ("BIGINT", 63))


def prepared_sql(schema: Schema, table: StoredTable, dialect: Dialect) -> str:
    """Write the rows of a table as they are kept; those of nobody, which count nowhere, are left out."""
    cells = {
        f"kept_{place}": _cell(f"k{place}", column, dialect)
        for place, column in enumerate(schema.columns.values())
    }
    rows = f"({read_cells_sql(schema, table, dialect, lambda x: id_sql(x, dialect))}) AS t"
    if not isinstance(schema.unit, People):
        return select_sql(named_cells(cells.items()), rows)
    places = {name: f"k{place}" for place, name in enumerate(schema.columns)}
    for place, name in enumerate(_counted_by(schema)):
        cells[f"rows_{place}"] = (
            f"CAST(count({places[name] if name else '*'}) OVER (PARTITION BY p) AS BIGINT)"
        )
    # By person: what is added up for each of them lies in one place.
    return select_sql(
        named_cells((cells | {"person": "p"}).items()), rows, "WHERE p IS NOT NULL ORDER BY p"
    )


def _cell(cell: str, column: Column, dialect: Dialect) -> str:
    if isinstance(column, Text) or (isinstance(column, Category) and column.of == "text"):
        return dialect.as_text(cell)
    return f"CAST({cell} AS {_type(column)})"


def _type(column: Column) -> str:
    match column:
        case Text():
            return "text"
        case Boolean():
            return "BOOLEAN"
        case Category(of="integer"):
            keys = [int(key) for key in (*column.values, column.other) if key is not None]
            ends = min(keys), max(keys)
        case Category():
            return "BOOLEAN" if column.of == "boolean" else "text"
        case _:
            ends = column.ends
    return next(name for name, bits in _INTEGERS if -(2**bits) <= ends[0] and ends[1] < 2**bits)


def _counted_by(schema: Schema) -> tuple[str, ...]:
    """List what a person's rows are counted by: all of them (""), and those with a value in a listed key."""
    if not isinstance(schema.unit, People) or schema.unit.window is not None:
        return ()
    listed = [
        n
        for n, c in schema.columns.items()
        if isinstance(c, Category | Boolean) and c.default is None
    ]
    return ("", *listed[:MOST_COUNTS])


def mark_of(schema: Schema, table: StoredTable) -> str:
    """Write what a server keeps beside a prepared table, in letters that need no quotes."""
    facts: dict[str, object] = {"format": FORMAT, "schema": schema.to_dict()}
    if isinstance(schema.unit, People):
        person = person_column(schema.unit.id, table)
        facts["person"] = {"type": person.type, "stored": person.stored}
    return MARK + json.dumps(facts).encode().hex()


def prepared_table(name: str, place: str, mark: str, dialect: Dialect) -> StoredTable:
    """Describe a prepared table by its mark.

    Refuses a mark of another version.
    """
    facts = json.loads(bytes.fromhex(mark.removeprefix(MARK)))
    if facts.get("format") != FORMAT:
        raise SchemaMismatch(
            f"{name} was prepared by another version, which this one cannot read; prepare it again"
        )
    schema = Schema.from_dict(facts["schema"])
    columns = {
        label: StoredColumn(
            dialect.quote(f"kept_{number}"), _type(column), _class(column), kept=column
        )
        for number, (label, column) in enumerate(schema.columns.items())
    }
    if not isinstance(schema.unit, People):
        return StoredTable(place, columns, read_by=schema)
    person = StoredColumn(
        dialect.quote("person"), facts["person"]["type"], facts["person"]["stored"]
    )
    columns.setdefault(schema.unit.id, person)
    counts = {
        label: dialect.quote(f"rows_{number}") for number, label in enumerate(_counted_by(schema))
    }
    return StoredTable(place, columns, person, counts, read_by=schema)


def _class(column: Column) -> Stored:
    return "text" if isinstance(column, Category) and column.of == "text" else "other"


def require_fit(schema: Schema, table: StoredTable) -> None:
    """Refuse a schema that is neither the one by which a table was prepared nor narrower."""
    why = None if table.read_by is None else misfit(schema, table.read_by)
    if why is not None:
        raise SchemaMismatch(
            f"the prepared table {schema.name} does not fit its schema: {why}; prepare it again"
        )
