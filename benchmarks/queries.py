"""Exact totals under a person bound: count, sum and mean of income by state, beside the plain query on the same store.

    python benchmarks/queries.py                     DuckDB, 10 million rows of 1 million people
    python benchmarks/queries.py --postgres DSN      also PostgreSQL, 2 million rows
    python benchmarks/queries.py --spark             also Spark, local, 2 million rows

Every number is a ratio to the plain query, interleaved with it in one process: CPU time of that process (wall time for
the servers), the least of several runs. Peak memory is of a fresh process that runs only that query, at a tenth of the
rows and at all of them. Four in five of a person's rows are in their home state. Ids are 0, 1, 2, … as most tables have
them, and once scattered over 64 bits. The data lies in a temporary directory, made anew for each run.

Peers are those that are installed (pip install "opendp[polars]" pipeline-dp): OpenDP with 10 rows a person, PipelineDP
with 2 states × 5 rows on a hundredth of the rows, with its plain query on the same. A peer that is not installed is
named as such. SmartNoise-SQL and Tumult Analytics are not measured here.
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
        scattered = "CAST(hash(user_id) >> 1 AS BIGINT) AS user_id, state, income"
        source = f"'{home}/random.parquet'"
        connection.execute(f"COPY (SELECT {scattered} FROM {source}) TO '{home}/scattered.parquet'")
        connection.execute(f"COPY (FROM {source} LIMIT {rows // 10}) TO '{home}/tenth.parquet'")
        connection.execute(f"COPY (FROM {source} LIMIT {rows // 100}) TO '{home}/hundredth.parquet'")


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
        for order in ("random", "sorted", "scattered"):
            for method in METHODS:
                found = once(method, f"{place}/{order}.parquet")
                tenth = once(method, f"{place}/tenth.parquet")["memory"] if order == "random" else None
                line = f"{found['times']:5.1f} × {found['base']:.2f} s   peak + {found['memory']:4.0f} MB"
                less = "" if tenth is None else f" (a tenth of the rows: {tenth:.0f} MB)"
                print(f"  {method:28s} {order:9s} {line}{less}", flush=True)
        for peer, path in (("OpenDP", f"{place}/random.parquet"), ("PipelineDP", f"{place}/hundredth.parquet")):
            found = once(peer, path)
            line = f"{found['times']:5.1f} × {found['base']:.3f} s" if found else "is not installed"
            print(f"  {peer:28s} {Path(path).stem:9s} {line}", flush=True)


def once(method: str, path: str) -> dict[str, float]:
    command = [sys.executable, __file__, "--once", method, "--path", path]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def opendp(path: str):
    """Count and sum of at most 10 rows a person, by state, exactly truncated as OpenDP does it over Polars."""
    import opendp.prelude as odp
    import polars as pl

    odp.enable_features("contrib")
    unit = odp.unit_of(contributions=10, identifier=pl.col("user_id"))
    loss, margin = odp.loss_of(epsilon=1.0, delta=1e-7), odp.polars.Margin(max_length=20_000_000)
    income = pl.col("income").fill_nan(0.0).fill_null(0.0).dp.sum((0.0, 250_000.0))
    keys = pl.LazyFrame({"state": STATES})

    def ask():
        context = odp.Context.compositor(
            data=pl.scan_parquet(path), privacy_unit=unit, privacy_loss=loss, split_evenly_over=1, margins=[margin]
        )
        rows = context.query().truncate_per_group(10).group_by("state")
        return rows.agg(odp.len(), income).with_keys(keys).release().collect()

    return ask


def pipeline_dp(path: str):
    """Count, sum and mean of at most 2 states × 5 rows a person, by PipelineDP in one process."""
    import duckdb
    import pipeline_dp as pdp

    rows = duckdb.sql(f"SELECT user_id, state, COALESCE(income, 0) FROM '{path}'").fetchall()
    metrics = [pdp.Metrics.COUNT, pdp.Metrics.SUM, pdp.Metrics.MEAN]
    bounds = {
        "max_partitions_contributed": 2,
        "max_contributions_per_partition": 5,
        "min_value": 0,
        "max_value": 250_000,
    }
    cells = pdp.DataExtractors(lambda row: row[0], lambda row: row[1], lambda row: row[2])

    def ask():
        budget = pdp.NaiveBudgetAccountant(total_epsilon=1, total_delta=1e-7)
        engine = pdp.DPEngine(budget, pdp.LocalBackend())
        found = engine.aggregate(rows, pdp.AggregateParams(metrics=metrics, **bounds), cells, public_partitions=STATES)
        budget.compute_budgets()
        return list(found)

    return ask


PEERS = {"OpenDP": opendp, "PipelineDP": pipeline_dp}


def peer_once(peer: str, path: str) -> dict[str, float] | None:
    import duckdb

    try:
        ask = PEERS[peer](path)
    except ImportError:
        return None
    connection, text = duckdb.connect(), PLAIN.format(f"read_parquet('{path}')")
    times, base = ratio(ask, lambda: connection.execute(text).fetchall(), cpu, rounds=2)
    return {"times": times, "base": base}


def on_planning() -> None:
    """Time a whole question over no rows: planning and noise, without the store's work."""
    import pyarrow as pa

    import discreet as dp
    from discreet.answer import run_plan
    from discreet.plan import plan_question

    text = "SELECT state, COUNT(*) AS n, SUM(income) AS total, AVG(income) AS mean FROM events GROUP BY state"
    empty = pa.table({"user_id": pa.array([], pa.int64()), "state": pa.array([], "string"), "income": [0.0][:0]})
    for name, schema in (("rows", EVENTS), ("people", PERSONS)):
        store = dp.DuckDB({"events": empty})
        question = dp.parse(text, {"events": schema})
        plan = plan_question(question, dp.PureDP(1))
        planned = least(lambda: plan_question(dp.parse(text, {"events": schema}), dp.PureDP(1)), cpu, 10)  # noqa: B023
        run = least(lambda: run_plan(plan, store), cpu, 10)  # noqa: B023
        print(
            f"By {name}: planning {1000 * planned:.1f} ms; the store over no rows, and noise: {1000 * run:.1f} ms, CPU"
        )


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
    parser.add_argument("--once", choices=[*METHODS, *PEERS], help=argparse.SUPPRESS)
    parser.add_argument("--path", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.once:
        print(json.dumps((peer_once if asked.once in PEERS else duckdb_once)(asked.once, asked.path)))
        return
    on_planning()
    on_duckdb(asked.rows, asked.rows // 10)
    if asked.postgres:
        on_postgres(asked.postgres, asked.rows // 5, asked.rows // 50)
    if asked.spark:
        on_spark(asked.rows // 5, asked.rows // 50)


if __name__ == "__main__":
    main()
