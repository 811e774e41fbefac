"""Tables with stored types, loaded into any engine: the same rows for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal, localcontext

from discreet.engines import DuckDB, Memory, Postgres, Spark

ARROW = {
    "bigint": "int64",
    "integer": "int32",
    "smallint": "int16",
    "double": "float64",
    "real": "float32",
    "text": "string",
    "boolean": "bool",
    "date": "date32",
    "timestamp": "timestamp[us]",
}
SPARK = {
    "integer": "int",
    "text": "string",
    "real": "float",
    "timestamp": "timestamp_ntz",
    "timestamptz": "timestamp",
}


@dataclass(frozen=True)
class Table:
    """Column types by name, and rows in that order; an empty row list is a table too."""

    types: Mapping[str, str]
    rows: Sequence[Sequence[object]]

    def mappings(self):
        return [dict(zip(self.types, row, strict=True)) for row in self.rows]


def in_memory(tables: Mapping[str, Table]) -> Memory:
    return Memory({name: table.mappings() for name, table in tables.items()})


def arrow(table: Table):
    import pyarrow as pa

    def kind(name):
        special = {"decimal": pa.decimal128(38, 6), "timestamptz": pa.timestamp("us", "UTC")}
        return special.get(name) or pa.type_for_alias(ARROW[name])

    columns = list(zip(*table.rows, strict=True)) or [() for _ in table.types]
    return pa.table(
        {
            name: pa.array([plain(value) for value in column], kind(stored))
            for (name, stored), column in zip(table.types.items(), columns, strict=True)
        }
    )


def plain(value: object) -> object:
    """Decimals in arrow and Spark have six places."""
    if not isinstance(value, Decimal):
        return value
    with localcontext(prec=60):
        return value.quantize(Decimal("0.000001"))


def in_duckdb(tables: Mapping[str, Table]) -> DuckDB:
    return DuckDB({name: arrow(table) for name, table in tables.items()})


def in_postgres(tables: Mapping[str, Table], dsn: str) -> Postgres:
    import psycopg

    with psycopg.connect(dsn, autocommit=True) as connection:
        for name, table in tables.items():
            columns = ", ".join(
                f'"{column}" {pg_type(stored)}' for column, stored in table.types.items()
            )
            connection.execute(f'DROP TABLE IF EXISTS "{name}"')
            connection.execute(f'CREATE TABLE "{name}" ({columns})')
            with connection.cursor().copy(f'COPY "{name}" FROM STDIN') as copy:
                for row in table.rows:
                    copy.write_row(row)
    return Postgres(dsn)


def pg_type(stored: str) -> str:
    return {"double": "double precision", "decimal": "numeric"}.get(stored, stored)


def in_spark(tables: Mapping[str, Table], session) -> Spark:
    return Spark(session, spark_frames(tables, session))


def spark_frames(tables: Mapping[str, Table], session):
    frames = {}
    for name, table in tables.items():
        columns = ", ".join(
            f"`{column}` {'decimal(38,6)' if stored == 'decimal' else SPARK.get(stored, stored)}"
            for column, stored in table.types.items()
        )
        frames[name] = session.createDataFrame(
            [tuple(map(plain, row)) for row in table.rows], columns
        )
    return frames


def same_totals(found, wanted) -> None:
    """Equal keys and totals, and all of them whole numbers of Python."""
    missing, extra = wanted.items() - found.items(), found.items() - wanted.items()
    assert not missing and not extra, f"missing {missing}, extra {extra}"
    assert all(type(total) is int for totals in found.values() for total in totals)


Value = int | float | str | bool | date | datetime | Decimal | None
