"""Ours in `queries.py`: exact totals under each bound of a person, on each store.

python benchmarks/query_methods.py METHOD PATH [arrow]    one method over one Parquet file, in a process of its own;
                                                          or over the same as an Arrow table in memory
"""

from __future__ import annotations

import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

from discreet.data import Category, People, Real, Rows, Schema
from discreet.query.algebra.expression import Call, Constant, Field, Function
from discreet.query.algebra.tally import Free, GroupShare, RowShare, Tally, Term
from discreet.query.algebra.tree import Scan, Where
from query_clock import cpu, least, peak, turns
from query_data import PLAIN, STATES, plain_duckdb, plain_postgres

COLUMNS = {"state": Category(STATES), "income": Real(0, 250_000)}
EVENTS = Schema("events", Rows(), COLUMNS)
PERSONS = Schema("events", People("user_id", max_rows=10, max_groups=2), COLUMNS)
MOST = 250_000 * 2**13
QUESTION = "SELECT state, COUNT(*) AS n, SUM(income) AS total, AVG(income) AS mean FROM events GROUP BY state"
WHOLE = {"a whole question, by rows": EVENTS, "a whole question, by people": PERSONS}
METHODS = {
    "no person bound": (EVENTS, Free(), 1),
    "10 rows a person": (PERSONS, RowShare(10), 2**20),
    "10 rows a person, WHERE": (PERSONS, RowShare(10), 2**20),
    "2 states × 5 rows a person": (PERSONS, GroupShare(2, 5), 2**20),
}


def tally(method: str) -> Tally:
    schema, share, weight = METHODS[method]
    known = Call(Function.NOT, (Call(Function.IS_NULL, (Field("income"),)),))
    terms = (
        Term(Constant(True), weight, 0, weight),
        Term(Field("income"), 1, 0, MOST),
        Term(known, weight, 0, weight),
    )
    asked = Tally(
        Scan(schema), (Field("state"),), terms, share, only=tuple((state,) for state in STATES)
    )
    some = Call(Function.LESS, (Constant(1000), Field("income")))
    return replace(asked, rows=Where(asked.rows, some)) if "WHERE" in method else asked


def on_duckdb(method: str, path: str, held: str) -> dict[str, float]:
    """Measure one method in this process: memory first, before the plain query has run."""
    import duckdb
    import pyarrow.parquet as pq

    from discreet.engines import DuckDB

    duckdb.connect().execute("SELECT 1").fetchall()
    source = pq.read_table(path) if held == "arrow" else path
    schema = EVENTS if method in ("no person bound", "a whole question, by rows") else PERSONS
    engine = prepared(path, schema) if held == "store" else DuckDB({"events": source})
    ask = asking(method, engine)
    engine.check(schema)
    before = peak()
    ask()
    memory = peak() - before
    plain = plain_duckdb(source)
    if held == "store":  # the same prepared data, by the same connection
        plain = lambda: engine._connection.execute(PLAIN.format("events")).fetchall()  # noqa: E731, SLF001
    mine, base = turns(ask, plain, cpu, cpu)
    return {"times": mine / base, "base": base, "memory": memory}


def prepared(path: str, schema: Schema):
    """Prepare a store beside the file, in a process of its own so that its memory does not count."""
    import discreet as dp

    store = f"{path}.{schema.unit.kind}.store"
    if not Path(store).exists():
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            pool.submit(prepare_at, path, schema.to_dict(), store).result()
    return dp.DuckDB(store)


def prepare_at(path: str, schema: dict[str, object], store: str) -> None:
    import discreet as dp

    dp.prepare({"events": path}, [Schema.from_dict(schema)], store).close()


def asking(method: str, engine):
    """Make a method ready: exact totals alone; or a planned question, with its noise and its intervals."""
    from discreet.answer import run_plan

    if method not in WHOLE:
        asked = tally(method)
        return lambda: engine.tally(asked)
    plan = planned(WHOLE[method])
    return lambda: run_plan(plan, engine)


def planned(schema: Schema):
    import discreet as dp
    from discreet.plan import plan_question

    return plan_question(dp.parse_sql(QUESTION, {"events": schema}), dp.PureDP(1))


def on_postgres(dsn: str):
    """Measure every method on PostgreSQL, by the wall clock: in one process each, and as parallel as it makes them."""
    from discreet.engines import Postgres

    for workers, store in ((0, "PostgreSQL, one process"), (2, "PostgreSQL, parallel")):
        limited = f"{dsn} options='-c max_parallel_workers_per_gather={workers}'"
        with Postgres(limited) as engine:
            for found in on_server(engine, plain_postgres(limited)):
                yield store, *found


def on_spark(path: str):
    """Measure every method on a local Spark, by the wall clock."""
    from pyspark.sql import SparkSession

    from discreet.engines import Spark

    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "4",
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    frame = session.read.parquet(path)
    frame.createOrReplaceTempView("events")
    yield from on_server(
        Spark(session, {"events": frame}), lambda: session.sql(PLAIN.format("events")).collect()
    )
    session.stop()


def on_server(engine, plain):
    for method in METHODS:
        asked = tally(method)
        for _ in range(5):  # Java is slow until it has compiled both
            engine.tally(asked)
            plain()
        mine, base = turns(lambda: engine.tally(asked), plain, time.perf_counter, time.perf_counter)  # noqa: B023
        yield method, mine / base, base


def on_nothing():
    """Time a whole question over no rows: planning and noise, without the store's work."""
    import pyarrow as pa

    import discreet as dp
    from discreet.answer import run_plan

    empty = pa.table(
        {"user_id": pa.array([], pa.int64()), "state": pa.array([], "string"), "income": [0.0][:0]}
    )
    for name, schema in (("rows", EVENTS), ("people", PERSONS)):
        store = dp.DuckDB({"events": empty})
        plan = planned(schema)
        time_of_plan = least(lambda: planned(schema), cpu, 10)  # noqa: B023
        yield name, time_of_plan, least(lambda: run_plan(plan, store), cpu, 10)  # noqa: B023


if __name__ == "__main__":
    print(json.dumps(on_duckdb(*sys.argv[1:3], held="".join(sys.argv[3:]))))
