"""Peers of `queries.py`, each in an environment of its own beside this project's (`make bench` installs them).

    .venv-bench-NAME/bin/python benchmarks/query_peers.py PEER WHERE      one peer over a Parquet file, or a DSN

This file imports no part of discreet and nothing of a peer before it is asked for. Every peer gets what it likes best:
the states are known beforehand, no key is selected. An income that is NULL counts as 0, but SmartNoise leaves it out of
sums and means as SQL does. ε is 1 at most for the whole question; SmartNoise takes it for each column.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module

from query_clock import cpu, family_cpu, family_peak, turns
from query_data import PLAIN, STATES, plain_duckdb, plain_postgres

BOUNDS = (0.0, 250_000.0)


@dataclass(frozen=True, slots=True)
class Peer:
    """One library over one store: where it is installed, what it imports, which part of the events it is given."""

    home: str
    modules: tuple[str, ...]
    ready: Callable[[str], Callable[[], object]]
    bound: str
    store: str
    part: str


def opendp(path: str):
    """Count and sum of 10 rows a person, truncated by OpenDP over Polars; the mean is their quotient."""
    import opendp.prelude as odp
    import polars as pl

    odp.enable_features("contrib")
    unit = odp.unit_of(contributions=10, identifier=pl.col("user_id"))
    loss, margin = odp.loss_of(epsilon=1.0, delta=1e-7), odp.polars.Margin(max_length=20_000_000)
    income = pl.col("income").fill_nan(0.0).fill_null(0.0).dp.sum(BOUNDS)
    keys, events = pl.LazyFrame({"state": STATES}), pl.scan_parquet(path)
    context = odp.Context.compositor(
        data=events, privacy_unit=unit, privacy_loss=loss, split_evenly_over=1, margins=[margin]
    )
    rows = context.query().truncate_per_group(10).group_by("state")
    measurement = (
        rows.agg(odp.len(), income).with_keys(keys).resolve()
    )  # the search for the scale: 4 s, for any rows
    return lambda: measurement(events).collect()


def pipeline_dp(path: str):
    """Count, sum and mean of 2 states × 5 rows a person, by PipelineDP in one process, over tuples in memory."""
    import duckdb
    import pipeline_dp as pdp

    rows = duckdb.sql(f"SELECT user_id, state, COALESCE(income, 0) FROM '{path}'").fetchall()
    metrics = [pdp.Metrics.COUNT, pdp.Metrics.SUM, pdp.Metrics.MEAN]
    bounds = {
        "max_partitions_contributed": 2,
        "max_contributions_per_partition": 5,
        "min_value": BOUNDS[0],
        "max_value": BOUNDS[1],
    }
    cells = pdp.DataExtractors(lambda row: row[0], lambda row: row[1], lambda row: row[2])

    def ask():
        budget = pdp.NaiveBudgetAccountant(total_epsilon=1, total_delta=1e-7)
        engine = pdp.DPEngine(budget, pdp.LocalBackend())
        found = engine.aggregate(
            rows, pdp.AggregateParams(metrics=metrics, **bounds), cells, public_partitions=STATES
        )
        budget.compute_budgets()
        return list(found)

    return ask


def smartnoise_pandas(path: str):
    """Count, sum and mean of 10 rows a person, by SmartNoise over a data frame, which it first copies into SQLite."""
    import duckdb
    import snsql

    frame = duckdb.sql(f"SELECT user_id, state, income FROM '{path}'").df()
    return smartnoise(snsql.from_df(frame, **smartnoise_facts()))


def smartnoise_postgres(dsn: str):
    """Count, sum and mean of 10 rows a person, by SmartNoise over PostgreSQL."""
    import psycopg
    import snsql

    connection = psycopg.connect(dsn)
    connection.execute("SET jit = off")
    return smartnoise(snsql.from_connection(connection, engine="postgres", **smartnoise_facts()))


def smartnoise(reader):
    text = "SELECT state, COUNT(*) AS n, SUM(income) AS total, AVG(income) AS mean FROM public.events GROUP BY state"
    return lambda: reader.execute(text)


def smartnoise_facts() -> dict[str, object]:
    import snsql

    events = {
        "max_ids": 10,
        "censor_dims": False,
        "user_id": {"type": "int", "private_id": True},
        "state": {"type": "string", "cardinality": len(STATES)},
        "income": {"type": "float", "lower": BOUNDS[0], "upper": BOUNDS[1], "nullable": True},
    }
    return {
        "privacy": snsql.Privacy(epsilon=1.0, delta=1e-7),
        "metadata": {"": {"public": {"events": events}}},
    }


def spark():
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "4g",
        "spark.sql.shuffle.partitions": "4",
    }
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def plain_spark(path: str):
    """Ask the plain query of the Spark that Tumult stands on, to tell Tumult's part from Spark's."""
    session = spark()
    session.read.parquet(path).createOrReplaceTempView("events")
    return lambda: session.sql(PLAIN.format("events")).collect()


def tumult(path: str, *, mean: bool = True):
    """Count, sum and mean of 10 rows a person, by Tumult Analytics: three questions of one session.

    Its mean takes most of the time, and grows with the rows: without it, a quotient has to do, as with OpenDP.
    """
    from tmlt.analytics import (
        AddRowsWithID,
        KeySet,
        MaxRowsPerID,
        PureDPBudget,
        QueryBuilder,
        Session,
    )

    frame, change = spark().read.parquet(path), AddRowsWithID("user_id")
    events = QueryBuilder("events").enforce(MaxRowsPerID(10)).replace_null_and_nan({"income": 0.0})
    rows = events.groupby(KeySet.from_dict({"state": STATES}))
    questions = [rows.count(), rows.sum("income", *BOUNDS)] + [
        rows.average("income", *BOUNDS)
    ] * mean

    def ask():
        session = Session.from_dataframe(PureDPBudget(1), "events", frame, protected_change=change)
        return [session.evaluate(question, PureDPBudget(0.25)).collect() for question in questions]

    return ask


TEN, FIVE = "10 rows a person", "2 states × 5 rows a person"
SNSQL, TMLT = ("snsql", "pandas"), ("pyspark.sql", "pandas", "tmlt.analytics")
PEERS = {
    "OpenDP": Peer("opendp", ("opendp.prelude", "polars"), opendp, TEN, "Polars", "random"),
    "PipelineDP": Peer("pipelinedp", ("pipeline_dp",), pipeline_dp, FIVE, "Python", "hundredth"),
    "SmartNoise": Peer("smartnoise", SNSQL, smartnoise_pandas, TEN, "pandas, SQLite", "tenth"),
    "Tumult": Peer("tumult", TMLT, tumult, TEN, "Spark, local[2]", "hundredth"),
    "Tumult, no mean": Peer(
        "tumult", TMLT, partial(tumult, mean=False), TEN, "Spark, local[2]", "tenth"
    ),
    "plain query": Peer("tumult", TMLT[:1], plain_spark, "no privacy", "Spark, local[2]", "tenth"),
}
SERVED = {
    "SmartNoise on PostgreSQL": Peer(
        "smartnoise", SNSQL, smartnoise_postgres, TEN, "PostgreSQL, wall time", ""
    ),
}


def measure(name: str, where: str) -> dict[str, float | None]:
    """Measure a peer in this process: cold from the start of the process to the first answer, then warm."""
    begin, served = time.perf_counter(), name in SERVED
    peer = (PEERS | SERVED)[name]
    for module in ("duckdb", *peer.modules):
        import_module(module)
    before = family_peak()
    ask = peer.ready(where)
    ask()
    cold = time.perf_counter() - begin if served else family_cpu()
    memory = None if served else family_peak() - before  # a server's memory is not ours to see
    clock, plain_clock = (time.perf_counter, time.perf_counter) if served else (family_cpu, cpu)
    plain = (plain_postgres if served else plain_duckdb)(where)
    warm, base = turns(ask, plain, clock, plain_clock, rounds=2)
    return {"times": warm / base, "cold": cold / base, "base": base, "memory": memory}


if __name__ == "__main__":
    print(json.dumps(measure(*sys.argv[1:])))
