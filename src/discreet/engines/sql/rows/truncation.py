"""Truncation of a person's rows as SQL, before a join multiplies them: k of n rows are kept.

The kept rows are evenly spread in the order of their columns. Row r of n (from 1) is kept if
(r·k + ⌊n/2⌋) mod n < k. That holds for exactly k of any n > k rows in a row, and for the middle one
if k = 1. Rows that are equal in all columns that are read may change places: nothing shows that.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ....query.domains.domain import Texts
from ..dialect import Dialect
from ..select import nested, select_sql
from .frame import SqlFrame


def truncate_frame(
    frame: SqlFrame, max_rows: int | None, columns: Iterable[str], dialect: Dialect
) -> SqlFrame:
    """Keep at most so many rows of each person (None: all), by the order of these columns.

    Guarantee: which rows of a person are kept depends on the rows of that person alone.

    Law: tests/engines/test_fanout.py::TestAPersonIsCutBeforeRowsMultiply
    """
    if max_rows is None:
        return frame
    person = frame.owner[0]
    owner = ", ".join(frame.owner)
    order = list(frame.owner)
    order += [f"{_order_key(name, frame, dialect)} NULLS FIRST" for name in columns]
    rank = f"row_number() OVER (PARTITION BY {owner} ORDER BY {', '.join(order)}) AS a"
    size = f"count(*) OVER (PARTITION BY {owner}) AS b"
    spread = f"(a * {max_rows} + {dialect.divide('b', '2')}) % b < {max_rows}"
    rows = frame.sql
    test = f"(b <= {max_rows} OR {spread})"
    if dialect.guarded:
        # The store skips a window over no rows. A row of nobody's keeps that from showing; it is
        # dropped again by the test.
        rows = f"{rows} UNION ALL BY NAME SELECT NULL AS {person}"
        test = f"{test} AND {person} IS NOT NULL"
    ranked = select_sql(["*", rank, size], nested(rows))
    cells = [*frame.owner, *frame.names.values()]
    return replace(frame, sql=select_sql(cells, nested(ranked), f"WHERE {test}"))


def _order_key(name: str, frame: SqlFrame, dialect: Dialect) -> str:
    """Write a column to sort by; text is compared letter by letter, whatever the collation."""
    column = frame.names[name]
    if isinstance(frame.domains[name], Texts):
        return dialect.as_text(column)
    return column
