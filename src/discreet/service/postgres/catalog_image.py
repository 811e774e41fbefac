"""Image of PostgreSQL's catalog in DuckDB: built-in facts of a file, and the declared tables.

`catalog.json` has the columns of all tables of pg_catalog and information_schema of PostgreSQL 15, and
the built-in rows of a few. Declared tables are added from the schema alone: sizes are the declared ones
or −1, never counted. `catalog_declared.json` has what their rows have in common, and the one role.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias

import duckdb

from ...data.schema import Schema
from ...query.sql.published import STREAMS
from .column_types import table_columns
from .types import TEXT, size_of

CatalogRow: TypeAlias = dict[str, object]
FIRST_OID = 16_384
"""First number that PostgreSQL gives to what users make."""
OWNER_OID = 10
_STREAMS_OID = 2201
_TEXT_COLLATION = 100
_STORE_TYPES = {
    "oid": "UINTEGER",
    "smallint": "SMALLINT",
    "integer": "INTEGER",
    "bigint": "BIGINT",
    "boolean": "BOOLEAN",
    "real": "FLOAT",
    "double precision": "DOUBLE",
    "timestamp with time zone": "TIMESTAMP",
    "int2vector": "SMALLINT[]",
    "oidvector": "UINTEGER[]",
    "information_schema.cardinal_number": "INTEGER",
}

MACROS = (
    "pg_get_userbyid(o) AS CASE o WHEN 6171 THEN 'pg_database_owner' ELSE 'discreet' END",
    "pg_relation_is_publishable(o) AS false",
    "pg_get_expr(e, o) AS CAST(NULL AS VARCHAR), (e, o, p) AS CAST(NULL AS VARCHAR)",
    "pg_get_constraintdef(o) AS CAST(NULL AS VARCHAR), (o, p) AS CAST(NULL AS VARCHAR)",
    "pg_get_indexdef(o) AS CAST(NULL AS VARCHAR), (o, c, p) AS CAST(NULL AS VARCHAR)",
    "pg_get_viewdef(o) AS CAST(NULL AS VARCHAR), (o, p) AS CAST(NULL AS VARCHAR)",
    "pg_get_partkeydef(o) AS CAST(NULL AS VARCHAR)",
    "pg_get_statisticsobjdef_columns(o) AS CAST(NULL AS VARCHAR)",
    "pg_get_serial_sequence(t, c) AS CAST(NULL AS VARCHAR)",
    "pg_get_function_arguments(o) AS ''",
    "pg_get_function_result(o) AS ''",
    "pg_get_function_identity_arguments(o) AS ''",
    "pg_encoding_to_char(e) AS 'UTF8'",
    "pg_tablespace_location(o) AS ''",
    "getdatabaseencoding() AS 'UTF8'",
    "pg_is_in_recovery() AS false",
    "pg_backend_pid() AS 1",
    "pg_postmaster_start_time() AS CAST('2000-01-01' AS TIMESTAMP)",
    "pg_total_relation_size(o) AS CAST(0 AS BIGINT)",
    "pg_relation_size(o) AS CAST(0 AS BIGINT)",
    "pg_table_size(o) AS CAST(0 AS BIGINT)",
    "pg_database_size(o) AS CAST(0 AS BIGINT)",
    "pg_size_pretty(s) AS '0 bytes'",
    "pg_relation_is_updatable(o, t) AS 0",
    "pg_column_is_updatable(o, a, t) AS false",
    "pg_advisory_unlock_all() AS CAST(NULL AS VARCHAR)",
    "pg_my_temp_schema() AS CAST(0 AS UINTEGER)",
    "pg_is_other_temp_schema(o) AS false",
    "pg_char_to_encoding(e) AS 6",
    "obj_description(o) AS CAST(NULL AS VARCHAR), (o, t) AS CAST(NULL AS VARCHAR)",
    "shobj_description(o, t) AS CAST(NULL AS VARCHAR)",
    "col_description(o, n) AS CAST(NULL AS VARCHAR)",
    "has_schema_privilege(a, b) AS true, (a, b, c) AS true",
    "has_table_privilege(a, b) AS true, (a, b, c) AS true",
    "has_database_privilege(a, b) AS true, (a, b, c) AS true",
    "has_column_privilege(a, b, c) AS true, (a, b, c, d) AS true",
    "has_any_column_privilege(a, b) AS true, (a, b, c) AS true",
    "has_sequence_privilege(a, b) AS true, (a, b, c) AS true",
    "has_function_privilege(a, b) AS true, (a, b, c) AS true",
    "has_type_privilege(a, b) AS true, (a, b, c) AS true",
    "pg_has_role(a, b) AS true, (a, b, c) AS true",
    "current_schemas(i) AS CASE WHEN i THEN ['pg_catalog', 'public'] ELSE ['public'] END",
    "quote_ident(n) AS CASE WHEN regexp_full_match(n, '[a-z_][a-z0-9_$]*') THEN n ELSE concat('\"', n, '\"') END",
    "quote_literal(n) AS concat('''', replace(n, '''', ''''''), '''')",
    "txid_current() AS CAST(1 AS BIGINT)",
    "array_upper(a, d) AS nullif(len(a), 0)",
    "array_lower(a, d) AS CASE WHEN len(a) > 0 THEN 1 END",
    "information_schema_pg_expandarray(a) AS NULL",
    # Tables inside of macros have names that no argument can mean.
    # Names in quotes and with their schema are looked up by their last part.
    "discreet_bare(n) AS replace(regexp_replace(CAST(n AS VARCHAR), '^.*\\.', ''), '\"', '')",
    # A stream may have the name of a table: its own schema stands before it.
    "discreet_regclass(n) AS (SELECT oid FROM pg.pg_class WHERE relname = discreet_bare(n) ORDER BY "
    "(relnamespace = 2201) = regexp_matches(CAST(n AS VARCHAR), '^\"?stream\"?[.]') DESC, oid DESC LIMIT 1)",
    "to_regclass(n) AS discreet_regclass(n)",
    "discreet_relname(o) AS coalesce((SELECT relname FROM pg.pg_class discreet_c WHERE discreet_c.oid = o), "
    "CAST(o AS VARCHAR))",
    "discreet_regtype(n) AS (SELECT oid FROM pg.pg_type WHERE typname = coalesce(map_extract_value(MAP {"
    "'integer': 'int4', 'bigint': 'int8', 'smallint': 'int2', 'boolean': 'bool', 'double precision': 'float8', "
    "'real': 'float4', 'character varying': 'varchar', 'timestamp without time zone': 'timestamp', "
    "'timestamp with time zone': 'timestamptz'}, discreet_bare(n)), discreet_bare(n)) LIMIT 1)",
    "to_regtype(n) AS discreet_regtype(n)",
    "discreet_type_name(t) AS (SELECT coalesce(map_extract_value(MAP {'int4': 'integer', 'int8': 'bigint', "
    "'int2': 'smallint', 'bool': 'boolean', 'float8': 'double precision', 'float4': 'real', "
    "'varchar': 'character varying', 'bpchar': 'character', 'timestamp': 'timestamp without time zone', "
    "'timestamptz': 'timestamp with time zone', 'time': 'time without time zone', "
    "'timetz': 'time with time zone', 'varbit': 'bit varying', 'char': '\"char\"'}, typname), typname) "
    "FROM pg.pg_type discreet_t WHERE discreet_t.oid = t)",
    "discreet_element(t) AS (SELECT typelem FROM pg.pg_type discreet_t WHERE discreet_t.oid = t AND typcategory = 'A')",
    "format_type(t, m) AS CASE WHEN discreet_element(t) > 0 THEN concat(discreet_type_name(discreet_element(t)), '[]') "
    "WHEN t = 0 THEN '-' WHEN t > 0 THEN coalesce(discreet_type_name(t), '???') END",
)  # fmt: skip
"""Functions of PostgreSQL for an empty database of one user, as macros of DuckDB."""

_VIEWS = {
    "information_schema.tables": """SELECT current_name.d AS table_catalog, nspname AS table_schema,
        relname AS table_name, CASE relkind WHEN 'v' THEN 'VIEW' ELSE 'BASE TABLE' END AS table_type,
        NULL, NULL, NULL, NULL, NULL, CASE relkind WHEN 'v' THEN 'NO' ELSE 'YES' END, 'NO', NULL
        FROM pg.pg_class c JOIN pg.pg_namespace n ON n.oid = c.relnamespace, current_name""",
    "information_schema.columns": """SELECT {columns} FROM (SELECT current_name.d AS table_catalog,
        nspname AS table_schema, relname AS table_name, attname AS column_name, attnum AS ordinal_position,
        'YES' AS is_nullable, discreet_type_name(atttypid) AS data_type,
        CASE atttypid WHEN 20 THEN 64 WHEN 701 THEN 53 END AS numeric_precision,
        CASE atttypid WHEN 20 THEN 2 WHEN 701 THEN 2 END AS numeric_precision_radix,
        CASE atttypid WHEN 20 THEN 0 END AS numeric_scale,
        CASE atttypid WHEN 1082 THEN 0 WHEN 1114 THEN 6 END AS datetime_precision,
        CASE atttypid WHEN 25 THEN 1073741824 END AS character_octet_length,
        current_name.d AS udt_catalog, 'pg_catalog' AS udt_schema, typname AS udt_name,
        CAST(attnum AS VARCHAR) AS dtd_identifier, 'NO' AS is_self_referencing, 'NO' AS is_identity,
        'NO' AS identity_cycle, 'NEVER' AS is_generated, 'YES' AS is_updatable
        FROM pg.pg_attribute a JOIN pg.pg_class c ON c.oid = a.attrelid
        JOIN pg.pg_namespace n ON n.oid = c.relnamespace JOIN pg.pg_type t ON t.oid = a.atttypid, current_name)""",
    "information_schema.schemata": """SELECT current_name.d, nspname, 'discreet', NULL, NULL, NULL, NULL
        FROM pg.pg_namespace, current_name""",
    "pg_catalog.pg_tables": """SELECT nspname, relname, 'discreet', NULL, false, false, false, false
        FROM pg.pg_class c JOIN pg.pg_namespace n ON n.oid = c.relnamespace WHERE relkind = 'r'""",
}  # fmt: skip
_VIEW_NEEDS = ("pg_catalog.pg_class", "pg_catalog.pg_namespace")


@cache
def facts(name: str = "catalog") -> dict[str, Any]:
    """Read a file of facts once: the built-in ones, or `catalog_declared`, those of what is declared."""
    found: dict[str, Any] = json.loads((files(__package__) / f"{name}.json").read_text("utf-8"))
    return found


class CatalogImage:
    """Sandboxed DuckDB with the catalog of one data set; tables are made when first asked for."""

    def __init__(self, database: str, schemas: Mapping[str, Schema]) -> None:
        self._schemas = schemas
        self._database = database
        self._made: set[str] = set()
        # No file, no network, no extension; one thread, since many workers run side by side.
        config: dict[str, Any] = {
            "enable_external_access": False,
            "threads": 1,
            "memory_limit": "256MB",
        }
        self.connection = duckdb.connect(":memory:", config=config)
        self.connection.execute("CREATE SCHEMA pg; CREATE TABLE current_name (d VARCHAR)")
        self.connection.execute("INSERT INTO current_name VALUES (?)", [database])
        # Macros read these two, so they are there from the start.
        for table in ("pg_catalog.pg_class", "pg_catalog.pg_type"):
            self.need(table)
        for macro in MACROS:
            self.connection.execute(f"CREATE MACRO {macro}")
        self.connection.execute("SET lock_configuration = true")

    def need(self, table: str) -> None:
        """Make a table of the catalog, given as `schema.name`, if it is not there yet."""
        if table in self._made:
            return
        # Noted first: a view asks for the tables below it.
        self._made.add(table)
        columns = facts()["tables"][table]
        view = _VIEWS.get(table)
        if view is not None:
            for needed in (*_VIEW_NEEDS, "pg_catalog.pg_attribute"):
                self.need(needed)
            self._make_view(table, view, columns)
            return
        declared = ", ".join(f'"{name}" {_store_type(kind)}' for name, kind in columns.items())
        self.connection.execute(f"CREATE TABLE {table_name(table)} ({declared})")
        rows = list(self._rows(table, columns))
        if rows:
            # One statement with a list for each column: a thousand statements take a second.
            lists = ", ".join(
                f"CAST(UNNEST(?) AS {_store_type(kind)})" for kind in columns.values()
            )
            by_column = [list(values) for values in zip(*rows, strict=True)]
            self.connection.execute(f"INSERT INTO {table_name(table)} SELECT {lists}", by_column)

    def _make_view(self, table: str, view: str, columns: Mapping[str, str]) -> None:
        """Make a catalog table that is a view of others, with PostgreSQL's types."""
        casts = ", ".join(
            f'CAST("{name}" AS {_store_type(kind)}) AS "{name}"' for name, kind in columns.items()
        )
        names = ", ".join(f'"{name}"' for name in columns)
        if "{columns}" in view:
            # Columns that the view does not fill are NULL.
            filled = [name if f"AS {name}" in view else f"NULL AS {name}" for name in columns]
            view = view.format(columns=", ".join(filled))
        self.connection.execute(
            f"CREATE VIEW {table_name(table)} AS SELECT {casts} FROM ({view}) AS v({names})"  # noqa: S608 facts of this module
        )

    def _rows(self, table: str, columns: Mapping[str, str]) -> Iterator[list[object]]:
        """Yield the rows of a table in the order of its columns."""
        name = table.removeprefix("pg_catalog.")
        for row in facts()["rows"].get(name, ()):
            yield [_read(value, kind) for value, kind in zip(row, columns.values(), strict=True)]
        makers: dict[str, Callable[[], Iterable[CatalogRow]]] = {
            "pg_class": self._classes,
            "pg_attribute": self._attributes,
            "pg_namespace": self._namespaces,
            "pg_database": self._databases,
            "pg_roles": lambda: [_declared("pg_roles")],
            "pg_authid": lambda: [_declared("pg_roles")],
            "pg_user": lambda: [_declared("pg_user")],
        }
        maker = makers.get(name)
        if maker is not None:
            for fields in maker():
                yield [fields.get(column) for column in columns]

    def _classes(self) -> Iterator[CatalogRow]:
        """Yield the rows of pg_class for the declared tables, and for streams, which are views."""
        for place, (name, schema) in enumerate(self._schemas.items()):
            oid = FIRST_OID + place
            facts_of_table = {
                "oid": oid,
                "relname": schema.name,
                "relfilenode": oid,
                "relnatts": len(table_columns(schema)),
                # The declared size, which is public; a counted one would tell about people.
                "reltuples": -1 if schema.size is None else schema.size,
                "reltype": 0,
            }
            if name.startswith(f"{STREAMS}."):
                view = {"relname": name.removeprefix(f"{STREAMS}.")}
                facts_of_table |= _declared("stream in pg_class") | view
            yield _declared("table in pg_class") | facts_of_table

    def _attributes(self) -> Iterator[CatalogRow]:
        """Yield the rows of pg_attribute for the columns of the declared tables."""
        for place, schema in enumerate(self._schemas.values()):
            for number, (name, oid) in enumerate(table_columns(schema), 1):
                facts_of_column = {
                    "attrelid": FIRST_OID + place,
                    "attname": name,
                    "atttypid": oid,
                    "attlen": size_of(oid),
                    "attnum": number,
                    "attbyval": oid != TEXT.oid,
                    "attstorage": "x" if oid == TEXT.oid else "p",
                    "attcollation": _TEXT_COLLATION if oid == TEXT.oid else 0,
                }
                yield _declared("column in pg_attribute") | facts_of_column

    def _namespaces(self) -> Iterator[CatalogRow]:
        """Yield the row of pg_namespace for the streams, if there are any."""
        if any(name.startswith(f"{STREAMS}.") for name in self._schemas):
            yield {"oid": _STREAMS_OID, "nspname": STREAMS, "nspowner": OWNER_OID}

    def _databases(self) -> Iterator[CatalogRow]:
        """Yield the row of pg_database for the data set."""
        yield _declared("data set in pg_database") | {"datname": self._database}


def _declared(what: str) -> CatalogRow:
    """Return the facts of a kind of row, as PostgreSQL has them for an empty database of one user."""
    row: CatalogRow = facts("catalog_declared")[what]
    return row


def table_name(table: str) -> str:
    """Return the name of a catalog table in the image.

    >>> from discreet.service.postgres.catalog_image import table_name
    >>> table_name("pg_catalog.pg_class"), table_name("information_schema.tables")
    ('pg.pg_class', 'pg.information_schema_tables')
    """
    schema, _, name = table.partition(".")
    if schema == "information_schema":
        return f"pg.information_schema_{name}"
    return f"pg.{name}"


def _store_type(kind: str) -> str:
    if kind.endswith("[]"):
        return _store_type(kind[:-2]) + "[]"
    return _STORE_TYPES.get(kind, "VARCHAR")


def _read(value: str | None, kind: str) -> object:
    """Read a built-in value from its text."""
    if value is None or _store_type(kind).endswith("]"):
        # Lists of built-in rows are access rights and options, which nobody has here.
        return None
    if kind == "boolean":
        return value in ("t", "true")
    return value
