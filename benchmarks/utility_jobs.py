"""The jobs of `utility.py`: what is asked of which column, what is true, and how near one may come.

A job is a plain value that every library's script reads. `ask` names the function that answers it; `reachable` is the
error worked out beforehand (for its own data, at ε = 1 and add/remove neighbours, where nothing else is said), None where
nothing was. Errors are root mean squares, over all cells of an answer; jobs that count shown keys are the better the
more they show.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from utility_data import KEYS

Columns = dict[str, np.ndarray]
HIGH = 58.4
"""A fifth of the scores are above it."""
DECILES = tuple(i / 10 for i in range(1, 10))


@dataclass(frozen=True, slots=True)
class Job:
    """One line of the table."""

    name: str
    ask: str
    column: str
    bounds: tuple[float, float] = (0.0, 100.0)
    at: tuple[float, ...] = ()
    promise: str = "ε = 1"
    reachable: float | None = None
    more: bool = False
    facts: dict[str, float] = field(default_factory=dict)


def _quantile(
    name: str, column: str, bounds: tuple[float, float], *at: float, reachable: float | None = None
) -> Job:
    return Job(name, "quantiles", column, bounds, at, reachable=reachable)


JOBS = (
    Job(
        "count, the first question of (1, 1e-6)",
        "count",
        "score",
        promise="(1, 1e-6)",
        reachable=1.39,
    ),
    Job(
        "keys shown of 50,000 people, Zipf",
        "keys",
        "zipf",
        promise="(1, 1e-6)",
        reachable=362,
        more=True,
    ),
    Job("words shown, 60 a person", "words", "word", promise="(1, 1e-6)", reachable=41, more=True),
    _quantile("median, money in 0..1e7", "money", (0.0, 1e7), 0.5, reachable=1.0),
    _quantile("9 deciles, 0..100", "score", (0.0, 100.0), *DECILES, reachable=0.029),
    _quantile("99th percentile, 0..100", "score", (0.0, 100.0), 0.99),
    _quantile("max, 0..100", "score", (0.0, 100.0), 1.0, reachable=4.1),
    _quantile("max, money in 0..1e7", "money", (0.0, 1e7), 1.0, reachable=2.3e6),
    Job("COUNT of COUNT, SUM, AVG by 50 keys", "by_key", "score", at=(0,), reachable=2.0),
    Job("SUM of COUNT, SUM, AVG by 50 keys", "by_key", "score", at=(1,), reachable=141),
    Job("AVG of COUNT, SUM, AVG by 50 keys", "by_key", "score", at=(2,), reachable=1.0),
    Job("mean, 0..100", "mean", "score", reachable=0.0050),
    Job("variance, 0..100", "variance", "score", reachable=0.31),
    Job("standard deviation, 0..100", "deviation", "score", reachable=0.015),
    Job("covariance, 0..100", "covariance", "score", reachable=0.40),
    Job("correlation, 0..100", "correlation", "score", reachable=0.0043),
    Job("share of rows in %", "share", "score", reachable=0.0058),
    Job("ratio of two sums in %", "ratio", "score"),
    Job("standard deviation, evenly spread", "deviation", "even"),
    Job("correlation, evenly spread", "correlation", "even"),
    Job(
        "mean, replace neighbours",
        "mean_replace",
        "score",
        promise="ε = 1, replace",
        reachable=0.0071,
    ),
    Job("mean, heavy tail, unknown bounds", "mean_unbounded", "tail", (0.0, 1e6), reachable=380),
    Job("ranges over 1,024 buckets", "ranges", "bucket", reachable=11.1),
    Job("prefixes over 1,024 buckets", "prefixes", "bucket", reachable=9.6),
    Job("20 counts in one batch", "batch", "score", reachable=4.8),
    Job("mean, heavy tail, 0..1e6", "mean", "tail", (0.0, 1e6)),
    _quantile("median, heavy tail, 0..1e6", "tail", (0.0, 1e6), 0.5),
    Job("mean of 40 rows", "mean", "tiny"),
    _quantile("median of 40 rows", "tiny", (0.0, 100.0), 0.5),
    Job("mean, breast cancer area", "mean", "cancer", (0.0, 3000.0)),
    _quantile("median, breast cancer area", "cancer", (0.0, 3000.0), 0.5),
    Job("mean, diabetes progression", "mean", "diabetes", (0.0, 500.0)),
    _quantile("quartiles, diabetes progression", "diabetes", (0.0, 500.0), 0.25, 0.5, 0.75),
    Job("mean, wine proline", "mean", "wine", (0.0, 2000.0)),
    _quantile("median, wine proline", "wine", (0.0, 2000.0), 0.5),
)


def truth(job: Job, columns: Columns) -> np.ndarray:
    """Return what the job asks for, exactly; of counted keys nothing, since more is better."""
    x = (
        np.clip(columns[job.column], *job.bounds)
        if job.column not in ("zipf", "word", "bucket")
        else columns[job.column]
    )
    return np.atleast_1d(_TRUE[job.ask](job, x, columns)).astype(float)


def source(job: Job) -> str:
    """Name what is asked for a job: jobs of one source are read from the same answers."""
    return {"by_key": "COUNT, SUM, AVG by 50 keys", "ranges": "buckets", "prefixes": "buckets"}.get(
        job.ask, job.name
    )


def view(job: Job, answer: object) -> list[float]:
    """Read a job's numbers from one answer of its source: counts, sums and means by key, or running counts of buckets."""
    found = np.atleast_1d(np.asarray(answer, dtype=float))
    if job.ask == "by_key":
        found = found[int(job.at[0])]
    return (ranges_of(np.diff(found, prepend=0.0)) if job.ask == "ranges" else found).tolist()


def ranges_of(counts: np.ndarray) -> np.ndarray:
    """Return 500 ranges of buckets, from fixed ends."""
    total = np.concatenate([[0.0], np.cumsum(counts)])
    low, high = np.sort(np.random.default_rng(3).integers(0, 1025, (2, 500)), axis=0)
    return total[high] - total[low]


def by_key_of(key: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return count, sum and mean of every key."""
    count, total = np.bincount(key, minlength=KEYS), np.bincount(key, x, KEYS)
    return count, total, total / count


def _counts(columns: Columns) -> np.ndarray:
    return np.bincount(columns["bucket"], minlength=1024)


def _twenty(x: np.ndarray) -> np.ndarray:
    return np.array([np.sum(x >= 5 * i) for i in range(20)])


_TRUE = {
    "count": lambda _job, x, _c: x.size,
    "keys": lambda _job, _x, _c: 0,
    "words": lambda _job, _x, _c: 0,
    "quantiles": lambda job, x, _c: np.quantile(x, job.at),
    "by_key": lambda job, x, c: by_key_of(c["key"], x)[int(job.at[0])],
    "mean": lambda _job, x, _c: x.mean(),
    "variance": lambda _job, x, _c: x.var(ddof=1),
    "deviation": lambda _job, x, _c: x.std(ddof=1),
    "covariance": lambda _job, x, c: np.cov(x, c["other"])[0, 1],
    "correlation": lambda job, x, c: np.corrcoef(
        x, c["mixed" if job.column == "even" else "other"]
    )[0, 1],
    "share": lambda _job, x, _c: 100 * np.mean(x >= HIGH),
    "ratio": lambda _job, x, c: 100 * x.sum() / c["other"].sum(),
    "mean_replace": lambda _job, x, _c: x.mean(),
    "mean_unbounded": lambda _job, x, _c: x.mean(),
    "ranges": lambda _job, _x, c: ranges_of(_counts(c)),
    "prefixes": lambda _job, _x, c: np.cumsum(_counts(c)),
    "batch": lambda _job, x, _c: _twenty(x),
}
