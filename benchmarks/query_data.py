"""The events of `queries.py`: 50 states, incomes of which 1 % are NULL, ten rows a person on average.

Four in five of a person's rows are in their home state. Ids are 0, 1, 2, … as most tables have them, and once scattered
over 64 bits. This file is read in the peers' environments too, so it imports nothing but DuckDB.
"""

from __future__ import annotations

from pathlib import Path

STATES = [f"S{place:02d}" for place in range(50)]
PLAIN = "SELECT state, count(*), sum(income), avg(income) FROM {} GROUP BY state"


def generate(home: Path, rows: int, people: int) -> None:
    """Write the events in random order, sorted by person, with scattered ids, and parts of them."""
    import duckdb

    with duckdb.connect() as connection:
        connection.execute("SELECT setseed(0.5)")
        connection.execute(
            f"""COPY (SELECT who AS user_id, 'S' || lpad(CAST(CASE WHEN random() < 0.8 THEN hash(who) % 50
            ELSE CAST(floor(random() * 50) AS BIGINT) END AS VARCHAR), 2, '0') AS state,
            CASE WHEN random() < 0.01 THEN NULL ELSE random() * 200000 END AS income
            FROM (SELECT CAST(floor(random() * {people}) AS INTEGER) AS who FROM range({rows})))
            TO '{home}/random.parquet'"""
        )
        connection.execute(
            f"COPY (FROM '{home}/random.parquet' ORDER BY user_id) TO '{home}/sorted.parquet'"
        )
        scattered = "CAST(hash(user_id) >> 1 AS BIGINT) AS user_id, state, income"
        source = f"'{home}/random.parquet'"
        connection.execute(f"COPY (SELECT {scattered} FROM {source}) TO '{home}/scattered.parquet'")
        connection.execute(f"COPY (FROM {source} LIMIT {rows // 10}) TO '{home}/tenth.parquet'")
        connection.execute(
            f"COPY (FROM {source} LIMIT {rows // 100}) TO '{home}/hundredth.parquet'"
        )


def fill(server, rows: int, people: int) -> None:
    """Create the table of events in PostgreSQL."""
    server.execute("DROP TABLE IF EXISTS events")
    server.execute(
        f"""CREATE TABLE events AS SELECT CAST(who AS integer) AS user_id, 'S' || lpad(CAST(CASE WHEN random() < 0.8
        THEN CAST(who AS integer) % 50 ELSE CAST(floor(random() * 50) AS integer) END AS text), 2, '0') AS state,
        CASE WHEN random() < 0.01 THEN NULL ELSE random() * 200000 END AS income
        FROM (SELECT floor(random() * {people}) AS who FROM generate_series(1, {rows})) AS t"""
    )
    server.execute("VACUUM ANALYZE events")


def plain_duckdb(source):
    """Make ready the plain query over a Parquet file, or an Arrow table."""
    import duckdb

    connection = duckdb.connect()
    if not isinstance(source, str):
        connection.register("held", source)
    text = PLAIN.format(f"read_parquet('{source}')" if isinstance(source, str) else "held")
    return lambda: connection.execute(text).fetchall()


def plain_postgres(dsn: str):
    """Make ready the plain query over the table of events in PostgreSQL."""
    import psycopg

    server = psycopg.connect(dsn, autocommit=True)
    server.execute("SET jit = off")
    return lambda: server.execute(PLAIN.format("events")).fetchall()
