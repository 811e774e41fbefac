"""A store that answers our questions, and plain SQL beside them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import sqlglot

from discreet.engines import Spark
from engines.tables import arrow, in_duckdb, in_memory, in_postgres, spark_frames

EPOCH = datetime(1970, 1, 1)


@dataclass(frozen=True)
class Beside:
    """An engine, its name in sqlglot, and its own way to run plain SQL."""

    name: str
    engine: Any
    run: Callable[[str], Sequence[Sequence[object]]]
    closers: tuple[Callable[[], object], ...] = ()

    def close(self) -> None:
        for close in self.closers:
            close()

    def plain(self, sql: str) -> list[tuple[object, ...]]:
        return [tuple(map(number, row)) for row in self.run(sql)]


def number(value: object) -> object:
    """Give days and seconds since 1970, and floats for all numbers, so that stores and answers can be compared."""
    if isinstance(value, datetime):
        return (value.replace(tzinfo=None) - EPOCH).total_seconds()
    if isinstance(value, date):
        return float((value - EPOCH.date()).days)
    return (
        float(value)
        if isinstance(value, int | float | Decimal) and not isinstance(value, bool)
        else value
    )


def translated(sql: str, store: str) -> str:
    """Write DuckDB's SQL in a store's own dialect."""
    return sql if store == "duckdb" else sqlglot.transpile(sql, read="duckdb", write=store)[0]


def duckdb_beside(tables) -> Beside:
    import duckdb

    connection = duckdb.connect()
    for name, table in tables.items():
        connection.register(name, arrow(table))
    engine = in_duckdb(tables)
    return Beside(
        "duckdb",
        engine,
        lambda sql: connection.execute(sql).fetchall(),
        (connection.close, engine.close),
    )


def memory_beside(tables) -> Beside:
    store = duckdb_beside(tables)
    return Beside("duckdb", in_memory(tables), store.run, store.closers)


def postgres_beside(tables, dsn) -> Beside:
    import psycopg

    engine = in_postgres(tables, dsn)
    connection = psycopg.connect(dsn, autocommit=True)
    return Beside(
        "postgres",
        engine,
        lambda sql: connection.execute(sql.encode()).fetchall(),
        (connection.close, engine.close),
    )


QUICK = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
}
"""Spark without the compiling that pays off on large data only: four times as fast on ours."""


def spark_beside(tables, session) -> Beside:
    before = {name: session.conf.get(name) for name in QUICK}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, frame in spark_frames(tables, session).items():
            frame.coalesce(1).cache().createOrReplaceTempView(name)

    def settle(settings):
        for name, value in settings.items():
            session.conf.set(name, value)

    settle(QUICK)
    return Beside(
        "spark",
        Spark(session),
        lambda sql: [tuple(row) for row in session.sql(sql).collect()],
        (lambda: settle(before),),
    )
