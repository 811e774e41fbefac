"""A person's rows cut as SQL, before a join multiplies them: k of n, evenly spread in the order of their columns.

Row r of n (from 1) is kept if (r·k + ⌊n/2⌋) mod n < k: that is so for exactly k of any n > k rows in a row, and for the
middle one if k = 1. Rows that are alike in all columns that are read may change places: nobody can tell.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ....query.domains.domain import Texts
from ..dialect import Dialect
from ..select import select_sql
from .frame import SqlFrame


def cut_frame(
    frame: SqlFrame, most: int | None, columns: Iterable[str], dialect: Dialect
) -> SqlFrame:
    """Keep at most so many rows of each person (None: all), by the order of these columns."""
    if most is None:
        return frame
    owner = ", ".join(frame.owner)
    order = ", ".join(
        [*frame.owner, *(f"{_order(name, frame, dialect)} NULLS FIRST" for name in columns)]
    )
    place = f"row_number() OVER (PARTITION BY {owner} ORDER BY {order}) AS a"
    spread = f"(a * {most} + {dialect.divide('b', '2')}) % b < {most}"
    # A row of nobody's, so that it is never the first row for which a window is made.
    rows = (
        f"{frame.sql} UNION ALL BY NAME SELECT NULL AS {frame.owner[0]}"
        if dialect.guarded
        else frame.sql
    )
    counted = select_sql(
        ["*", place, f"count(*) OVER (PARTITION BY {owner}) AS b"], f"({rows}) AS t"
    )
    cells = [*frame.owner, *frame.names.values()]
    real = f" AND {frame.owner[0]} IS NOT NULL" if dialect.guarded else ""
    return replace(
        frame, sql=select_sql(cells, f"({counted}) AS t", f"WHERE (b <= {most} OR {spread}){real}")
    )


def _order(name: str, frame: SqlFrame, dialect: Dialect) -> str:
    """Text is ordered letter by letter, whatever the store's collation."""
    column = frame.names[name]
    return dialect.as_text(column) if isinstance(frame.domains[name], Texts) else column
