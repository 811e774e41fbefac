"""Export of a PostgreSQL table to a private CSV file, for `prepare`.

PostgreSQL itself reads every cell by the schema, in the same SQL as for questions.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ...data.schema import Schema
from ..sql.dialect import StoredColumn, StoredTable, cast_sql
from ..sql.rows.cell_table import read_cells_sql
from ..sql.rows.person import id_sql
from ..sql.select import nested, select_sql
from .dialect import POSTGRES

FIRST = "z"
"""The first column of the file is never NULL, so that no line of it is empty."""


def export_sql(schema: Schema, table: StoredTable) -> str:
    """Write a COPY of the cells of a table as CSV: missing cells are empty, empty text has quotes."""
    rows = read_cells_sql(schema, table, POSTGRES, _id)
    cells = select_sql([f"0 AS {FIRST}", "*"], nested(rows))
    return f"COPY ({cells}) TO STDOUT (FORMAT csv)"


def _id(x: StoredColumn) -> str:
    """Write an id as text: two ids are equal if and only if their texts are."""
    match x.stored:
        case "text":
            return id_sql(x, POSTGRES)
        case "decimal":
            return f"CAST(trim_scale({x.sql}) AS text)"
        case "float":
            # Adding 0 turns -0 into 0, which equals it.
            return f"CAST(CAST({x.sql} AS double precision) + 0 AS text)"
        case _:
            return cast_sql(x.sql, "text")


def save_blocks(blocks: Iterable[bytes | bytearray | memoryview], path: Path) -> None:
    """Write the blocks of a server into a new file that only this user can read."""
    with path.open("xb") as file:
        # Before the first block is written: the file holds private rows.
        path.chmod(0o600)
        for block in blocks:
            file.write(block)
