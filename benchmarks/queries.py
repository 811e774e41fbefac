"""Exact totals under a person bound: count, sum and mean of income by state, beside the plain query on the same store.

    python benchmarks/queries.py                     DuckDB, 10 million rows of 1 million people
    python benchmarks/queries.py --postgres DSN      also PostgreSQL, 2 million rows
    python benchmarks/queries.py --spark             also Spark, local, 2 million rows

Every number is a ratio to the plain query, interleaved with it in one process: CPU time of that process (wall time for
the servers), the least of several runs. Peak memory is of a fresh process that runs only that query. Four in five of a
person's rows are in their home state. The data lies in a temporary directory, made anew for each run.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from discreet.data import Category, People, Real, Rows, Schema
from discreet.query.expression import Call, Constant, Field, Function
from discreet.query.tally import Free, GroupShare, RowShare, Tally, Term
from discreet.query.tree import Scan

STATES = [f"S{place:02d}" for place in range(50)]
COLUMNS = {"state": Category(STATES), "income": Real(0, 250_000)}
EVENTS = Schema("events", Rows(), COLUMNS)
PERSONS = Schema("events", People("user_id", max_rows=10, max_groups=2), COLUMNS)
PLAIN = "SELECT state, count(*), sum(income), avg(income) FROM {} GROUP BY state"
MOST = 250_000 * 2**13
METHODS = {
    "no person bound": (EVENTS, Free(), 1),
    "10 rows a person": (PERSONS, RowShare(10), 2**20),
    "2 states × 5 rows a person": (PERSONS, GroupShare(2, 5), 2**20),
}


def tally(method: str) -> Tally:
    schema, share, weight = METHODS[method]
    known = Call(Function.NOT, (Call(Function.IS_NULL, (Field("income"),)),))
    terms = (Term(Constant(True), weight, 0, weight), Term(Field("income"), 1, 0, MOST), Term(known, weight, 0, weight))
    return Tally(Scan(schema), (Field("state"),), terms, share, only=tuple((state,) for state in STATES))


def generate(home: Path, rows: int, people: int) -> None:
    """Write the events in random order, and sorted by person."""
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
        connection.execute(f"COPY (FROM '{home}/random.parquet' ORDER BY user_id) TO '{home}/sorted.parquet'")


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def least(run, clock, times: int) -> float:
    best = float("inf")
    for _ in range(times):
        start = clock()
        run()
        best = min(best, clock() - start)
    return best


def ratio(ours, plain, clock, rounds: int = 4) -> tuple[float, float]:
    """Time ours against the plain query, in turns."""
    pairs = [(least(plain, clock, 2), least(ours, clock, 1)) for _ in range(rounds)]
    base, mine = (min(times) for times in zip(*pairs, strict=True))
    return mine / base, base


def peak() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) // 1024


def duckdb_once(method: str, path: str) -> dict[str, float]:
    """Measure one method in this process: memory first, before the plain query has run."""
    import duckdb

    from discreet.engines import DuckDB

    duckdb.connect().execute("SELECT 1").fetchall()
    engine, asked = DuckDB({"events": path}), tally(method)
    engine.check(PERSONS)
    before = peak()
    engine.tally(asked)
    memory = peak() - before
    connection = duckdb.connect()
    text = PLAIN.format(f"read_parquet('{path}')")
    times, base = ratio(lambda: engine.tally(asked), lambda: connection.execute(text).fetchall(), cpu)
    return {"times": times, "base": base, "memory": memory}


def on_duckdb(rows: int, people: int) -> None:
    print(f"DuckDB, {rows:,} rows of {people:,} people, Parquet; CPU as a multiple of the plain query")
    with tempfile.TemporaryDirectory() as place:
        generate(Path(place), rows, people)
        for order in ("random", "sorted"):
            for method in METHODS:
                command = [sys.executable, __file__, "--once", method, "--path", f"{place}/{order}.parquet"]
                found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
                line = f"{found['times']:5.1f} × {found['base']:.2f} s   peak + {found['memory']:4.0f} MB"
                print(f"  {method:28s} {order:7s} {line}", flush=True)


def on_postgres(dsn: str, rows: int, people: int) -> None:
    import psycopg

    from discreet.engines import Postgres

    with psycopg.connect(dsn, autocommit=True) as server:
        server.execute("DROP TABLE IF EXISTS events")
        server.execute(
            f"""CREATE TABLE events AS SELECT CAST(who AS integer) AS user_id, 'S' || lpad(CAST(CASE WHEN random() < 0.8
            THEN CAST(who AS integer) % 50 ELSE CAST(floor(random() * 50) AS integer) END AS text), 2, '0') AS state,
            CASE WHEN random() < 0.01 THEN NULL ELSE random() * 200000 END AS income
            FROM (SELECT floor(random() * {people}) AS who FROM generate_series(1, {rows})) AS t"""
        )
        server.execute("VACUUM ANALYZE events")
        server.execute("SET jit = off")
        with Postgres(dsn) as engine:
            print(f"PostgreSQL, {rows:,} rows of {people:,} people; wall time as a multiple of the plain query")
            shown(engine, lambda: server.execute(PLAIN.format("events")).fetchall())
        server.execute("DROP TABLE events")


def on_spark(rows: int, people: int) -> None:
    from pyspark.sql import SparkSession

    from discreet.engines import Spark

    settings = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.sql.shuffle.partitions": "4"}
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    with tempfile.TemporaryDirectory() as place:
        generate(Path(place), rows, people)
        frame = session.read.parquet(f"{place}/random.parquet")
        frame.createOrReplaceTempView("events")
        print(f"Spark, local[2], warm, {rows:,} rows of {people:,} people; wall time as a multiple of the plain query")
        shown(Spark(session, {"events": frame}), lambda: session.sql(PLAIN.format("events")).collect())
        session.stop()


def shown(engine, plain) -> None:
    for method in METHODS:
        asked = tally(method)
        engine.tally(asked)
        times, base = ratio(lambda: engine.tally(asked), plain, time.perf_counter)  # noqa: B023
        print(f"  {method:28s} {times:5.1f} × {base:.2f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--postgres", metavar="DSN")
    parser.add_argument("--spark", action="store_true")
    parser.add_argument("--once", choices=METHODS, help=argparse.SUPPRESS)
    parser.add_argument("--path", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.once:
        print(json.dumps(duckdb_once(asked.once, asked.path)))
        return
    on_duckdb(asked.rows, asked.rows // 10)
    if asked.postgres:
        on_postgres(asked.postgres, asked.rows // 5, asked.rows // 50)
    if asked.spark:
        on_spark(asked.rows // 5, asked.rows // 50)


if __name__ == "__main__":
    main()
