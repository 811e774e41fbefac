"""Proposals for the columns of a source, each counted in SQL over all of its cells.

The cells of one column are grouped once into a temporary table, text by text. Candidates are chosen
by a sample of every form; the effect of a chosen one is counted over all cells before it is given.

Guarantee: a proposal mends more cells of the source than it loses and changes together.

Law: tests/intake/test_messy.py::TestCounts
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from itertools import compress
from pathlib import Path

import duckdb

from ...data.columns.categorical import Category, Text
from ...data.columns.column import Column
from ...data.columns.numeric import Integer
from ...data.columns.outcome import MISSING, UNLISTED
from ...data.drafting.forms import MAX_FORM_LENGTH
from ...data.drafting.known import MISSING_DAYS, MISSING_NUMBERS
from ...data.drafting.proposals import (
    MIN_ROWS_OF_ALIAS,
    Cells,
    Proposal,
    ReadingChange,
    accept_all,
    is_mended,
    propose,
)
from ...data.schema import Schema
from ...data.unit import Rows
from ...frozen import frozen
from ..sql.dialect import StoredColumn, StoredTable
from ..sql.rows.cell_table import read_cells_sql
from ..sql.rows.relation import stored_column
from ..sql.select import nested, select_sql
from .dialect import DUCKDB
from .parts import open_parts
from .session import StoreLimits, open_session
from .sources import TableSource, open_source

_CELLS = '"\\cells"'
"""Temporary table of the texts of one column, and how many cells have each."""
MAX_SAMPLED = 600
MAX_SAMPLED_OF_FORM = 25
"""Cells by which candidates are chosen: the commonest of each form, the commonest forms first."""
_TEXT = Text(200)
_COUNT = Integer(0, 2**60)


@frozen
class ColumnProposals:
    """Proposals for one column, and spellings that stay unlisted with them, with their rows."""

    name: str
    proposals: tuple[Proposal, ...]
    unlisted: tuple[tuple[str, int], ...]


def form_sql(text: str) -> str:
    """Write the form of a text: 9 for a digit, a for a letter, as `forms.form_of` does."""
    digits = f"regexp_replace(left(trim({text}), {MAX_FORM_LENGTH}), '[0-9]', '9', 'g')"
    return f"regexp_replace({digits}, '[\\p{{L}}]', 'a', 'g')"


def find_proposals(
    source: TableSource, schema: Schema, accept: Callable[[Proposal], bool] = accept_all
) -> tuple[ColumnProposals, ...]:
    """Return accepted proposals for the columns of a source that is read by a schema.

    Private: the cells of the source decide them. Only columns that are stored as text have any.
    `accept` is called with each proposal.

    Refuses: a source that lacks a declared column or cannot be read.
    """
    with tempfile.TemporaryDirectory() as folder:
        opened = open_source(source, schema.name, Path(folder))
        with (
            open_session(":memory:", StoreLimits()) as connection,
            open_parts(opened, schema, connection) as parts,
        ):
            found = []
            for name, column in schema.columns.items():
                given = propose_cells(connection, name, column, parts, accept)
                declared = given[-1].declared if given else column
                unlisted = _unlisted(connection, name, declared, parts)
                found.append(ColumnProposals(name, given, unlisted))
    return tuple(found)


def propose_cells(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    column: Column,
    parts: Sequence[StoredTable],
    accept: Callable[[Proposal], bool] = accept_all,
) -> tuple[Proposal, ...]:
    """Return proposals for one column, counted over all cells that are stored as text.

    `parts` are those of its source. `accept` decides about each proposal; an accepted one is the
    ground for those after it.
    """
    if isinstance(column, Text) or not _group_cells(connection, name, parts):
        return ()

    def sample(now: Column) -> Cells:
        return _sample(connection, now)

    def count(before: Column, after: Column) -> ReadingChange:
        return _effect(connection, before, after)

    try:
        return propose(name, column, sample, count, accept)
    finally:
        connection.execute(f"DROP TABLE {_CELLS}")


def missing_in(
    connection: duckdb.DuckDBPyConnection, names: Sequence[str], parts: Sequence[StoredTable]
) -> frozenset[str]:
    """Return which columns have a number or day that usually means a missing value.

    One scan for all of them: where cells were only clipped, nothing else is proposed, and values
    beyond the bounds are no reason to read a clean file again for each column.
    """
    marks = ", ".join(map(DUCKDB.literal, sorted(MISSING_NUMBERS | MISSING_DAYS)))
    found: set[str] = set()
    for part in parts:
        tests = []
        for name in names:
            stored = stored_column(name, part)
            is_text = stored.stored == "text" and stored.kept is None
            tests.append(f"bool_or({stored.sql} IN ({marks}))" if is_text else "bool_or(FALSE)")
        if tests:
            (row,) = connection.execute(select_sql(tests, f"{part.sql} AS t")).fetchall()
            found.update(compress(names, row))
    return frozenset(found)


def _group_cells(
    connection: duckdb.DuckDBPyConnection, name: str, parts: Sequence[StoredTable]
) -> bool:
    """Make the temporary table of a column's texts; False if no part stores it as text."""
    texts = []
    for part in parts:
        stored = stored_column(name, part)
        if stored.stored == "text" and stored.kept is None:
            cells = [f"{DUCKDB.as_text(stored.sql)} AS r", "count(*) AS n"]
            texts.append(select_sql(cells, f"{part.sql} AS t", "GROUP BY 1"))
    if not texts:
        return False
    every = select_sql(
        ["r", "CAST(sum(n) AS BIGINT) AS n"],
        nested(" UNION ALL ".join(texts)),
        "WHERE r IS NOT NULL GROUP BY 1",
    )
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {_CELLS} AS {every}")
    return True


def _read_sql(**columns: Column) -> str:
    """Write the grouped cells read by some columns (k0, o0, k1, …) and their numbers, the last."""
    schema = Schema("cells", Rows(), {**columns, "n": _COUNT})
    text = StoredColumn("r", "VARCHAR", "text")
    stored = dict.fromkeys(columns, text)
    stored["n"] = StoredColumn("n", "BIGINT", "integer")
    return nested(read_cells_sql(schema, StoredTable(_CELLS, stored), DUCKDB, str))


def _sample(connection: duckdb.DuckDBPyConnection, column: Column) -> Cells:
    """Return the commonest cells of each form; unread cells come before those that are read."""
    is_bad = f"coalesce(o0 <> {MISSING}, FALSE)"
    cells = select_sql(
        ["k1 AS r", "k2 AS n", f"{is_bad} AS bad", f"{form_sql('k1')} AS f"],
        _read_sql(now=column, text=_TEXT),
    )
    ranked = select_sql(
        [
            "*",
            "row_number() OVER (PARTITION BY bad, f ORDER BY n DESC, r) AS place",
            "sum(n) OVER (PARTITION BY bad, f) AS total",
        ],
        nested(cells),
    )
    order = f"ORDER BY bad DESC, total DESC, f, n DESC, r LIMIT {MAX_SAMPLED}"
    chosen = f"WHERE place <= {MAX_SAMPLED_OF_FORM} {order}"
    rows = connection.execute(select_sql(["r", "n"], nested(ranked), chosen)).fetchall()
    return dict(rows)


def _effect(connection: duckdb.DuckDBPyConnection, before: Column, after: Column) -> ReadingChange:
    """Count what a change of the declaration does to all cells."""
    differs = "k0 IS DISTINCT FROM k1"
    text = select_sql(
        ["o0", "o1", differs, "CAST(sum(k2) AS BIGINT)"],
        _read_sql(before=before, after=after),
        f"GROUP BY o0, o1, {differs}",
    )
    mended = lost = changed = 0
    for was, now, is_other, count in connection.execute(text).fetchall():
        if is_mended(was, now):
            mended += count
        elif was is None and now is not None:
            lost += count
        elif was is None and is_other:
            changed += count
    return ReadingChange(mended, lost, changed)


def _unlisted(
    connection: duckdb.DuckDBPyConnection, name: str, column: Column, parts: Sequence[StoredTable]
) -> tuple[tuple[str, int], ...]:
    """List spellings of at least 20 rows that are no key, the commonest first."""
    is_text_key = isinstance(column, Category) and column.of == "text"
    if not is_text_key or not _group_cells(connection, name, parts):
        return ()
    rare = f"WHERE o0 = {UNLISTED} AND k2 >= {MIN_ROWS_OF_ALIAS}"
    tail = f"{rare} ORDER BY k2 DESC, k1 LIMIT {MAX_SAMPLED}"
    text = select_sql(["k1", "k2"], _read_sql(now=column, text=_TEXT), tail)
    return tuple(connection.execute(text).fetchall())
