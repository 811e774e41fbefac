"""Peers of `utility_peers.py` that work on whole tables: PipelineDP, SmartNoise and Tumult, each asked as its guides do.

`Many` answers all runs of a job at once. Tumult takes seconds to plan a question, so its table holds a copy of the rows
for every run and is grouped by the copy: a row is in one copy, so every copy is answered with the noise that a question
about it alone would get, and the promise for each is the same.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from utility_jobs import Columns, Job

RunningJob = Callable[[], object]
WORDS = 20
"""How many different words of a person count."""


@dataclass(frozen=True, slots=True)
class Many:
    """Answers so many runs of a job at once."""

    answers: Callable[[int], list]


def pipelinedp(job: Job, columns: Columns) -> tuple[str, RunningJob]:
    """PipelineDP in one process; keys are shown where a noisy count of people passes a threshold, which is paid once."""
    import pipeline_dp as pdp

    if job.ask in ("keys", "words"):
        facts = {"noise_kind": pdp.NoiseKind.GAUSSIAN} if job.ask == "words" else {}
        owner = columns["writer"] if job.ask == "words" else np.arange(columns["zipf"].size)
        pairs = np.unique(np.stack([owner, columns[job.column]]), axis=1).T.tolist()
        rows = [(one, key, 1.0) for one, key in pairs]
        found = _pipeline(pdp, rows, [pdp.Metrics.PRIVACY_ID_COUNT], delta=1e-6, post_aggregation_thresholding=True,
                          max_partitions_contributed=WORDS if job.ask == "words" else 1, **facts)  # fmt: skip
        return "(1, 1e-6)", lambda: len(found())
    asked = {
        "count": ["COUNT"],
        "by_key": ["COUNT", "SUM", "MEAN"],
        "mean": ["MEAN"],
        "variance": ["VARIANCE"],
    }
    if job.ask == "quantiles":
        metrics = [pdp.Metrics.PERCENTILE(100 * at) for at in job.at]
    elif job.ask in asked:
        metrics = [getattr(pdp.Metrics, name) for name in asked[job.ask]]
    else:
        raise NotImplementedError
    x = columns[job.column].tolist()
    keys = columns["key"].tolist() if job.ask == "by_key" else [0] * len(x)
    rows = list(zip(range(len(x)), keys, x, strict=True))
    ends = {"min_value": job.bounds[0], "max_value": job.bounds[1]}
    found = _pipeline(
        pdp, rows, metrics, sorted(set(keys)), contribution_bounds_already_enforced=True, **ends
    )

    def run() -> object:
        cells = [cell for _, cell in sorted(found())]
        names = (
            cells[0]._fields
            if job.ask == "quantiles"
            else [name.lower() for name in asked[job.ask]]
        )
        shown = [[getattr(cell, name) for cell in cells] for name in names]
        return np.array(shown) if job.ask == "by_key" else np.array(shown)[:, 0]

    return "ε = 1", run


def _pipeline(
    pdp: object,
    rows: list,
    metrics: list,
    public: list | None = None,
    delta: float = 0.0,
    **facts: object,
) -> RunningJob:
    """Aggregate in an engine and a budget of its own; a row is one person's one contribution to a key."""
    facts = {"max_partitions_contributed": 1, "max_contributions_per_partition": 1} | facts
    alone = (
        "contribution_bounds_already_enforced" in facts
    )  # then a row has no owner to be looked up
    cells = pdp.DataExtractors(
        None if alone else lambda row: row[0], lambda row: row[1], lambda row: row[2]
    )

    def run() -> list:
        budget = pdp.NaiveBudgetAccountant(total_epsilon=1, total_delta=delta)
        engine = pdp.DPEngine(budget, pdp.LocalBackend())
        params = pdp.AggregateParams(metrics=metrics, **facts)
        found = engine.aggregate(rows, params, cells, public_partitions=public)
        budget.compute_budgets()
        return list(found)

    return run


def smartnoise(job: Job, columns: Columns) -> tuple[str, RunningJob]:
    """SmartNoise SQL over a data frame, at the ε and δ for which it names the price of the promise.

    Its ε is for every column that it makes: an average is two, a variance three. Of its δ it counts half more.
    """
    import pandas as pd
    import snsql

    asked = {
        "count": "SELECT COUNT(*) AS y FROM main.t",
        "mean": "SELECT AVG(x) AS y FROM main.t",
        "variance": "SELECT VARIANCE(x) AS y FROM main.t",
        "deviation": "SELECT STDDEV(x) AS y FROM main.t",
        "by_key": "SELECT k, COUNT(*) AS n, SUM(x) AS s, AVG(x) AS m FROM main.t GROUP BY k ORDER BY k",
        "keys": "SELECT k, COUNT(DISTINCT pid) AS n FROM main.t GROUP BY k",
        "words": "SELECT k, COUNT(DISTINCT pid) AS n FROM main.t GROUP BY k",
    }
    if job.ask not in asked:
        raise NotImplementedError
    selected, held = job.ask in ("keys", "words"), columns[job.column]
    facts = {"pid": columns["writer"] if job.ask == "words" else np.arange(held.size)}
    facts |= {"k": held.astype(str)} if selected else {"x": held.astype(float)}
    facts |= {"k": columns["key"]} if job.ask == "by_key" else {}
    frame = pd.DataFrame(facts)
    kinds = {
        "pid": {"type": "int", "private_id": True},
        "k": {"type": "string" if selected else "int"},
    }
    kinds |= {"x": {"type": "float", "lower": float(job.bounds[0]), "upper": float(job.bounds[1])}}
    table = {"row_privacy": False, "max_ids": WORDS if job.ask == "words" else 1, "censor_dims": selected,
             "rows": len(frame)} | {name: kinds[name] for name in frame}  # fmt: skip
    reader = _priced(
        snsql, frame, {"": {"main": {"t": table}}}, asked[job.ask], 1e-6 if selected else None
    )
    if selected:
        return "(1, 1e-6)", lambda: len(reader.execute(asked[job.ask])) - 1
    if job.ask == "by_key":
        return "ε = 1", lambda: np.array(reader.execute(asked[job.ask])[1:], dtype=float).T[1:]
    return "ε = 1", lambda: float(reader.execute(asked[job.ask])[1][0])


def _priced(snsql: object, frame: object, metadata: dict, sql: str, delta: float | None) -> object:
    """Open a reader that prices a question at ε = 1, and at δ where one is promised (otherwise no δ is used)."""

    def reader(epsilon: float, share: float) -> object:
        return snsql.from_df(
            frame, privacy=snsql.Privacy(epsilon=epsilon, delta=share), metadata=metadata
        )

    share = delta or 1e-9
    epsilon, counted = reader(1.0, share).get_privacy_cost(sql)
    return reader(1 / float(epsilon), share if delta is None else delta * delta / float(counted))


def tumult(job: Job, columns: Columns) -> tuple[str, Many]:
    """Tumult Analytics over Spark: all runs in one question, grouped by the copy of the rows that a run is about."""
    from tmlt.analytics import (
        AddOneRow,
        ApproxDPBudget,
        KeySet,
        PureDPBudget,
        QueryBuilder,
        Session,
    )

    low, high = job.bounds
    builds = {
        "count": [lambda q: q.count("y")],
        "mean": [lambda q: q.average("x", low, high, "y")],
        "variance": [lambda q: q.variance("x", low, high, "y")],
        "deviation": [lambda q: q.stdev("x", low, high, "y")],
        "quantiles": [lambda q, at=at: q.quantile("x", at, low, high, "y") for at in job.at],
        "by_key": [lambda q: q.count("y"), lambda q: q.sum("x", low, high, "y"), lambda q: q.average("x", low, high, "y")],
        "keys": [],
    }  # fmt: skip
    if job.ask not in builds:
        raise NotImplementedError

    def ask(frame: object, budget: object, query: object) -> object:
        session = Session.from_dataframe(budget, "t", frame, protected_change=AddOneRow())
        return session.evaluate(query, budget).toPandas()

    def answers(runs: int) -> list:
        frame = _copies(job, columns, runs)
        if job.ask == "keys":
            shown = ask(frame, ApproxDPBudget(1, 1e-6), QueryBuilder("t").get_groups(["copy", "x"]))
            return np.bincount(shown["copy"], minlength=runs).tolist()
        names = ["copy", "k"] if job.ask == "by_key" else ["copy"]
        keys = KeySet.from_dict(
            {name: list(range(runs if name == "copy" else 50)) for name in names}
        )
        parts = [
            ask(frame, PureDPBudget(1 / len(builds[job.ask])), build(QueryBuilder("t").groupby(keys))).sort_values(names)["y"]
            for build in builds[job.ask]
        ]  # fmt: skip
        return list(
            np.array(parts, dtype=float)
            .reshape(len(parts), runs, -1)
            .squeeze(-1 if len(names) == 1 else ())
            .swapaxes(0, 1)
        )

    return ("(1, 1e-6)" if job.ask == "keys" else "ε = 1"), Many(answers)


def _copies(job: Job, columns: Columns, runs: int) -> object:
    """Lay so many copies of the rows under each other."""
    import pandas as pd

    facts = {
        "x": columns[job.column]
        if job.ask == "keys"
        else np.clip(columns[job.column].astype(float), *job.bounds)
    }
    facts |= {"k": columns["key"].astype(int)} if job.ask == "by_key" else {}
    spark = _spark()
    copies = spark.range(runs, numPartitions=1).withColumnRenamed("id", "copy")
    return copies.crossJoin(spark.createDataFrame(pd.DataFrame(facts))).cache()


@cache
def _spark() -> object:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable  # its workers need what this environment has
    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    spark = spark.config("spark.ui.showConsoleProgress", "false")
    spark = (
        spark.config("spark.sql.shuffle.partitions", "1")
        .config("spark.driver.memory", "3g")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    return spark
