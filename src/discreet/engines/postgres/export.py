"""A table of PostgreSQL taken out of the server: every cell is read there, as it is where questions are answered."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ...data.schema import Schema
from ..sql.dialect import StoredColumn, StoredTable
from ..sql.rows.cell_table import read_cells_sql
from ..sql.rows.person import id_sql
from ..sql.select import select_sql
from .dialect import POSTGRES

FIRST = "z"
"""A column that is never NULL stands first: no line of what is taken out is empty."""


def export_sql(schema: Schema, table: StoredTable) -> str:
    """Write a COPY of the cells of a table, as CSV whose missing cells are empty and whose empty text has quotes."""
    cells = select_sql(
        [f"0 AS {FIRST}", "*"], f"({read_cells_sql(schema, table, POSTGRES, _id)}) AS t"
    )
    return f"COPY ({cells}) TO STDOUT (FORMAT csv)"


def _id(x: StoredColumn) -> str:
    """An id that is equal to another if and only if its text is."""
    match x.stored:
        case "text":
            return id_sql(x, POSTGRES)
        case "decimal":
            return f"CAST(trim_scale({x.sql}) AS text)"
        case "float":
            return f"CAST(CAST({x.sql} AS double precision) + 0 AS text)"  # -0 is 0
        case _:
            return f"CAST({x.sql} AS text)"


def save_blocks(blocks: Iterable[bytes | bytearray | memoryview], place: Path) -> None:
    """Write what a server sends into a file that only this user can read."""
    with place.open("xb") as file:
        place.chmod(0o600)
        for block in blocks:
            file.write(block)
