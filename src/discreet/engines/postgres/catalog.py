"""Catalogue of PostgreSQL: the columns of a table and their types, and whether reading it can fail.

A cast of text or a division inside a view raises on some rows. A question about one person would
then tell that person's value by failing. A view passes if its stored tree is made of columns,
constants and conditions, and every function in it is marked LEAKPROOF. By that mark PostgreSQL
states that nothing but the result tells about the arguments, errors included. Foreign tables,
policies of row-level security and virtual generated columns can fail too, so they do not pass.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from ..sql.dialect import AnswerRows, StoredColumn, StoredTable
from ..sql.rows.prepared import FIRST, MARK, prepared_table
from .dialect import POSTGRES, stored_class

AskServer: TypeAlias = Callable[[str, tuple[object, ...]], AnswerRows]

_COLUMNS = """
WITH RECURSIVE base(own, oid) AS (
  SELECT oid, typbasetype FROM pg_type WHERE typtype = 'd' UNION ALL
  SELECT b.own, t.typbasetype FROM base AS b JOIN pg_type AS t ON t.oid = b.oid WHERE t.typtype = 'd'),
made(own, oid) AS (SELECT b.own, b.oid FROM base AS b JOIN pg_type AS t ON t.oid = b.oid WHERE t.typtype <> 'd')
SELECT n.nspname, a.attname, format_type(t.oid, NULL), CASE WHEN EXISTS (
  SELECT 1 FROM pg_cast AS k JOIN pg_proc AS f ON f.oid = k.castfunc WHERE k.castsource = t.oid
  AND k.casttarget = CAST('text' AS regtype) AND f.pronamespace <> CAST('pg_catalog' AS regnamespace)
) THEN '' ELSE t.typcategory END
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_attribute AS a ON a.attrelid = c.oid LEFT JOIN made AS m ON m.own = a.atttypid
JOIN pg_type AS t ON t.oid = COALESCE(m.oid, a.atttypid)
CROSS JOIN (SELECT COALESCE(CAST(%s AS name[]), CAST(current_setting('discreet.schemas') AS name[])) AS names) AS s
WHERE c.relname = %s AND n.nspname = ANY (s.names) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
AND has_schema_privilege(n.oid, 'USAGE') AND has_column_privilege(c.oid, a.attnum, 'SELECT')
AND a.attnum > 0 AND NOT a.attisdropped ORDER BY array_position(s.names, n.nspname), a.attnum
"""
"""Columns of every table of a name that may be read, in the order of the schemas in the path.

A domain counts as the type that it is made of. An enumeration whose owner made a cast to text is no
text."""
_TREES = """
SELECT c.oid,
  c.relkind = 'f' OR (c.relrowsecurity AND EXISTS (SELECT 1 FROM pg_policy AS p WHERE p.polrelid = c.oid))
  OR EXISTS (SELECT 1 FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attgenerated = 'v'),
  CASE WHEN c.relkind = 'v' THEN CAST(r.ev_action AS text) END
FROM pg_class AS c LEFT JOIN pg_rewrite AS r ON r.ev_class = c.oid AND r.rulename = '_RETURN' WHERE c.oid = ANY (%s)
"""
_PARTS = "SELECT inhrelid FROM pg_inherits WHERE inhparent = ANY (%s)"
_OPEN = """
SELECT count(*) FROM pg_proc WHERE NOT proleakproof AND (oid = ANY (%s)
  OR oid IN (SELECT oprcode FROM pg_operator WHERE oid = ANY (%s)))
"""
_OID = """
SELECT c.oid FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE (n.nspname, c.relname) = (%s, %s)
"""
_MARK = """
SELECT COALESCE(obj_description(c.oid, 'pg_class'), '')
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE (n.nspname, c.relname) = (%s, %s)
"""
# Nodes of a stored tree that compute nothing but columns, constants and conditions. Functions and
# operators among them are looked up by `_OPEN`.
_NODES = frozenset({
    "QUERY", "RTE", "RANGETBLENTRY", "RTEPERMISSIONINFO", "RANGETBLREF", "JOINEXPR", "FROMEXPR", "TARGETENTRY",
    "ALIAS", "VAR", "CONST", "OPEXPR", "BOOLEXPR", "NULLTEST", "BOOLEANTEST", "CASEEXPR", "CASE", "CASEWHEN",
    "WHEN", "CASETESTEXPR", "COALESCEEXPR", "COALESCE", "RELABELTYPE", "FUNCEXPR", "DISTINCTEXPR",
    "SCALARARRAYOPEXPR", "ARRAYEXPR", "ARRAY", "SETOPERATIONSTMT",
})  # fmt: skip


def find_table(ask: AskServer, schema: str | None, table: str) -> tuple[str, StoredTable] | None:
    """Find a table, in a schema or by the path of the connection.

    Returns its schema and its columns; None if there is none.
    """
    schemas = None if schema is None else [schema]
    rows = ask(_COLUMNS, (schemas, table))
    if not rows:
        return None
    # The first schema of the path that has the table; others are hidden by it.
    home = str(rows[0][0])
    columns = {}
    for row in rows:
        if row[0] == home:
            name, type_name, category = map(str, row[1:])
            stored = stored_class(type_name, category)
            columns[name] = StoredColumn(POSTGRES.quote(name), type_name, stored)
    sql = f"{POSTGRES.quote(home)}.{POSTGRES.quote(table)}"
    if FIRST in columns:
        mark = find_mark(ask, home, table)
        if mark is not None and mark.startswith(MARK):
            return home, prepared_table(table, sql, mark, POSTGRES)
    return home, StoredTable(sql, columns)


def find_mark(ask: AskServer, schema: str, table: str) -> str | None:
    """Return the comment on a table, "" without one; None if there is no such table."""
    rows = ask(_MARK, (schema, table))
    return str(rows[0][0]) if rows else None


def is_total(ask: AskServer, schema: str, table: str) -> bool:
    """Return whether no row can make a table or view fail, as far as the catalogue tells.

    Law: tests/engines/test_postgres.py::TestWhatCouldFail
    """
    unchecked = [row[0] for row in ask(_OID, (schema, table))]
    seen: set[object] = set()
    # Views and partitions are followed down to tables; `seen` ends the loop on any cycle.
    while unchecked:
        seen |= set(unchecked)
        below: set[object] = set()
        for _, can_fail, tree in ask(_TREES, (unchecked,)):
            if can_fail:
                return False
            if tree is not None:
                if not _is_safe(str(tree), ask):
                    return False
                below |= set(_object_ids("relid", str(tree)))
        below |= {row[0] for row in ask(_PARTS, (unchecked,))}
        unchecked = list(below - seen)
    return True


def _is_safe(tree: str, ask: AskServer) -> bool:
    nodes = set(re.findall(r"(?<!\\)\{([A-Z_0-9]+)", tree))
    if not nodes <= _NODES:
        return False
    functions = _object_ids("funcid", tree)
    operators = _object_ids("opno", tree)
    unsafe = ask(_OPEN, (functions, operators))[0][0]
    return unsafe == 0


def _object_ids(label: str, tree: str) -> list[int]:
    """List the object ids that follow a label in a stored tree."""
    return [int(oid) for oid in re.findall(rf":{label} (\d+)", tree)]
