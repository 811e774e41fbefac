"""A table with every cell read, as SQL: for a store that takes it in once, and for the steward's report on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ....data.schema import Schema
from ....data.unit import People
from ..dialect import Dialect, StoredColumn, StoredTable
from ..reading.outcome import outcome_sql
from ..reading.value import prepare, read
from ..select import named_cells, select_sql
from .person import present_sql
from .relation import person_column, stored_column


def read_cells_sql(
    schema: Schema,
    part: StoredTable,
    dialect: Dialect,
    id_sql: Callable[[StoredColumn], str],
    *,
    seen: bool = True,
) -> str:
    """Write the cells of column i as ki, whose row it is as p, NULL for nobody's, and if `seen` what became of each
    cell as oi: that is most of the text.
    """
    inner: dict[str, str] = {}
    middle: dict[str, str] = {}
    outer: dict[str, str] = {}
    for place, (name, column) in enumerate(schema.columns.items()):
        raw, q, k = (f"{letter}{place}" for letter in "rqk")
        stored = stored_column(name, part)
        x = prepare(column, stored, dialect)
        inner[q], middle[k], outer[k] = x.sql, read(column, replace(x, sql=q), dialect), k
        if seen and stored.seen:
            inner[f"o{place}"], middle[f"o{place}"], outer[f"o{place}"] = (
                f"t.{stored.seen}",
                f"o{place}",
                f"o{place}",
            )
        elif seen:
            inner[raw], middle[raw], middle[q] = stored.sql, raw, q
            outer[f"o{place}"] = outcome_sql(
                column, replace(stored, sql=raw), replace(x, sql=q), k, dialect
            )
    if isinstance(schema.unit, People):
        person = person_column(schema.unit.id, part)
        inner["p"] = f"CASE WHEN {present_sql(person, dialect)} THEN {id_sql(person)} END"
        middle["p"] = outer["p"] = "p"
    source = select_sql(named_cells(inner.items()), f"{part.sql} AS t")
    cells = select_sql(named_cells(middle.items()), f"({source}) AS t")
    return select_sql(named_cells(outer.items()), f"({cells}) AS t") if seen else cells
