"""discreet at the jobs of `utility.py`: SQL through a curator, each run with a ledger of its own that holds the promise.

    python benchmarks/utility_ours.py discreet DATA.npz RUNS JOB …

Every run is charged to a ledger that holds just the promise of its job, so no run can spend more. What was predicted, and
how often that and the interval held, is counted beside the answers (`utility_held.py`).
"""

from __future__ import annotations

import json
import sys
from functools import cache, partial

import numpy as np
import pyarrow as pa

import discreet as dp
from utility_data import ROWS
from utility_held import Held
from utility_jobs import HIGH, JOBS, Columns, Job, source, view

SHARE = f"SELECT 100 * SUM(CASE WHEN score >= {HIGH} THEN 1 ELSE 0 END) / COUNT(*) AS r FROM rows"
PURE, APPROXIMATE = dp.PureDP(1), dp.ApproxDP(1, "1e-6")


class Ours:
    """One store over the columns; a curator and a ledger for every run."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.tables = {name: pa.table({"x": _clean(column)}) for name, column in columns.items()}
        self.tables["rows"] = pa.table({name: columns[name] for name in ("score", "other", "key")})
        self.tables["texts"] = pa.table(
            {"writer": columns["writer"], "word": columns["word"].astype(str)}
        )
        self.tables["zipf"] = pa.table({"x": columns["zipf"].astype(str)})
        self.tables["pairs"] = pa.table({name: columns[name] for name in ("even", "mixed")})
        self.store = dp.DuckDB(self.tables)
        self.last: dp.Answer | None = None

    def run(self, job: Job) -> object:
        """Answer what a job is read from once, paid for in full."""
        return _ANSWERS[job.ask](self, job)

    def ask(self, sql: str, schema: dp.Schema, spend: dp.Measure, **terms: object) -> dp.Answer:
        """Ask one question under a fresh ledger of just this budget: it would refuse to spend more."""
        ledger = dp.open_ledger(":memory:", budget=spend)
        self.last = dp.Curator(self.store, [schema], ledger).sql(sql, spend=spend, **terms)
        return self.last

    def column(self, job: Job, **facts: object) -> dp.Schema:
        """Declare the job's column, and how many rows there are."""
        return dp.Schema(
            job.column,
            dp.Rows(),
            {"x": dp.Real(*job.bounds)},
            size=self.columns[job.column].size,
            **facts,
        )


def _clean(column: np.ndarray) -> np.ndarray:
    return column.astype(float) if column.dtype.kind == "f" else column


@cache
def rows(neighbours: str = "add-remove") -> dp.Schema:
    facts = {
        "score": dp.Real(0, 100, default=0),
        "other": dp.Real(0, 100, default=0),
        "key": dp.Integer(0, 49),
    }
    return dp.Schema("rows", dp.Rows(), facts, neighbours=neighbours, size=ROWS)


def values(answer: dp.Answer) -> np.ndarray:
    """Return the shown columns of one row."""
    return np.array([answer.column(name)[0] for name in answer.columns], dtype=float)


def one(function: str, ours: Ours, job: Job) -> np.ndarray:
    """Ask for one function of the job's column."""
    return values(ours.ask(f"SELECT {function}(x) AS y FROM {job.column}", ours.column(job), PURE))


def count(ours: Ours, _job: Job) -> np.ndarray:
    return values(ours.ask("SELECT COUNT(*) AS n FROM rows", rows(), APPROXIMATE))


def keys(ours: Ours, _job: Job) -> int:
    schema = dp.Schema("zipf", dp.Rows(), {"x": dp.Text(8)})
    return len(ours.ask("SELECT x, COUNT(*) AS n FROM zipf GROUP BY x", schema, APPROXIMATE))


def words(ours: Ours, _job: Job) -> int:
    unit = dp.People("writer", max_rows=200, max_groups=20)
    schema = dp.Schema("texts", unit, {"word": dp.Text(8)})
    sql = "SELECT word, COUNT(DISTINCT writer) AS n FROM texts GROUP BY word"
    return len(ours.ask(sql, schema, APPROXIMATE))


def quantiles(ours: Ours, job: Job) -> np.ndarray:
    asked = ", ".join(f"QUANTILE(x, {at}) AS q{place}" for place, at in enumerate(job.at))
    asked = asked if job.at != (1.0,) else "MAX(x) AS q0"
    return values(
        ours.ask(f"SELECT {asked} FROM {job.column}", ours.column(job), PURE, intervals=False)
    )


def by_key(ours: Ours, _job: Job) -> list[list[float]]:
    sql = "SELECT key, COUNT(*) AS n, SUM(score) AS s, AVG(score) AS m FROM rows GROUP BY key"
    answer = ours.ask(sql, rows(), PURE)
    return [list(answer.column(name)) for name in ("n", "s", "m")]


def several(sql: str, neighbours: str, ours: Ours, _job: Job) -> np.ndarray:
    return values(ours.ask(sql, rows(neighbours), PURE))


def correlation(ours: Ours, job: Job) -> np.ndarray:
    if job.column != "even":
        return several("SELECT CORR(score, other) AS c FROM rows", "add-remove", ours, job)
    schema = dp.Schema(
        "pairs", dp.Rows(), {"even": dp.Real(0, 100), "mixed": dp.Real(0, 100)}, size=ROWS
    )
    return values(ours.ask("SELECT CORR(even, mixed) AS c FROM pairs", schema, PURE))


def mean_unbounded(ours: Ours, job: Job) -> float:
    """Half of ε finds bounds, half the mean within them."""
    wide = ours.column(job)
    ledger = dp.open_ledger(":memory:", budget=dp.PureDP("1/2"))
    found = dp.Curator(ours.store, [wide], ledger).suggest_bounds(
        job.column, "x", spend=dp.PureDP("1/2")
    )
    near = dp.Schema(job.column, dp.Rows(), {"x": dp.Real(found.low, found.high)}, size=wide.size)
    return values(ours.ask(f"SELECT AVG(x) AS m FROM {job.column}", near, dp.PureDP("1/2")))


def running(ours: Ours, _job: Job) -> np.ndarray:
    schema = dp.Schema("bucket", dp.Rows(), {"x": dp.Integer(0, 1023)})
    sql = "SELECT x, SUM(COUNT(*)) OVER (ORDER BY x) AS n FROM bucket GROUP BY x"
    return np.array(ours.ask(sql, schema, PURE).column("n"), dtype=float)


def batch(ours: Ours, _job: Job) -> np.ndarray:
    """20 thresholds of one column, in one question."""
    cases = ", ".join(
        f"SUM(CASE WHEN score >= {5 * i} THEN 1 ELSE 0 END) AS n{i}" for i in range(20)
    )
    return values(ours.ask(f"SELECT {cases} FROM rows", rows(), PURE))


_ANSWERS = {
    "count": count,
    "keys": keys,
    "words": words,
    "quantiles": quantiles,
    "by_key": by_key,
    "mean": partial(one, "AVG"),
    "variance": partial(one, "VARIANCE"),
    "deviation": partial(one, "STDDEV"),
    "covariance": partial(several, "SELECT COVAR_SAMP(score, other) AS c FROM rows", "add-remove"),
    "correlation": correlation,
    "share": partial(several, SHARE, "add-remove"),
    "ratio": partial(several, "SELECT 100 * SUM(score) / SUM(other) AS r FROM rows", "add-remove"),
    "mean_replace": partial(several, "SELECT AVG(score) AS m FROM rows", "replace"),
    "mean_unbounded": mean_unbounded,
    "ranges": running,
    "prefixes": running,
    "batch": batch,
}


def main(path: str, runs: int, names: list[str]) -> None:
    """Do every job so often, and print what came out."""
    columns = dict(np.load(path))
    store = Ours(columns)
    jobs = [job for job in JOBS if job.name in names]
    for asked in dict.fromkeys(map(source, jobs)):
        for said in told(store, [job for job in jobs if source(job) == asked], runs):
            print(json.dumps(said), flush=True)


def told(store: Ours, jobs: list[Job], runs: int) -> list[dict[str, object]]:
    """Ask once a run for all jobs of one source; say what came out for each of them."""
    answers, held = [[] for _ in jobs], [Held(job, store.columns) for job in jobs]
    try:
        for _ in range(runs):
            found = store.run(jobs[0])
            for job, kept, one in zip(jobs, answers, held, strict=True):
                kept.append(view(job, found))
                one.look(store.last)
    except dp.DiscreetError as error:
        return [{"job": job.name, "failed": f"refused: {error}"[:200]} for job in jobs]
    return [
        {"job": job.name, "promise": job.promise, "answers": kept, **one.told()}
        for job, kept, one in zip(jobs, answers, held, strict=True)
    ]


if __name__ == "__main__":
    main(sys.argv[2], int(sys.argv[3]), sys.argv[4:])
