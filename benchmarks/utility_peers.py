"""Peers at the jobs of `utility.py`, each in an environment of its own: this file imports nothing of discreet.

    .venv-bench-NAME/bin/python benchmarks/utility_peers.py PEER DATA.npz RUNS JOB …

Prints one JSON object a job: its promise and the answer of every run; why, if it failed; nothing more if it cannot be asked. Every peer gets what it likes best, bounds and public keys included, and its data at once, before any run.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable

import numpy as np

from utility_engines import Many, pipelinedp, smartnoise, tumult
from utility_jobs import JOBS, Columns, Job, by_key_of, source, view

RunningJob = Callable[[], object]
CANDIDATES = 100_001
"""Places among which OpenDP chooses a quantile, evenly spread between the bounds, as one who knows only these would."""


def opendp(job: Job, columns: Columns) -> tuple[str, RunningJob]:
    """OpenDP's own transformations and measurements, calibrated by its own search."""
    import opendp.prelude as odp

    odp.enable_features("contrib")
    x = np.clip(columns[job.column].astype(float), *job.bounds)
    space = odp.vector_domain(odp.atom_domain(T=float, nan=False)), odp.symmetric_distance()

    def fitted(make: Callable[[float], object], epsilon: float) -> object:
        return odp.binary_search_chain(make, d_in=1, d_out=epsilon, bounds=(1e-6, 1e9))

    if job.ask == "count":
        made = fitted(lambda s: space >> odp.t.then_count() >> odp.m.then_laplace(s), 1.0)
        return "ε = 1", lambda: made(list(x))
    if job.ask == "quantiles":
        places = [float(place) for place in np.linspace(*job.bounds, CANDIDATES)]
        each = [_opendp_quantile(odp, space, places, at, 1 / len(job.at)) for at in job.at]
        held = list(x)
        return "ε = 1", lambda: [one(held) for one in each]
    if job.ask == "mean":
        total = fitted(
            lambda s: (
                space >> odp.t.then_clamp(job.bounds) >> odp.t.then_sum() >> odp.m.then_laplace(s)
            ),
            0.5,
        )
        count = fitted(lambda s: space >> odp.t.then_count() >> odp.m.then_laplace(s), 0.5)
        held = list(x)
        return "ε = 1", lambda: total(held) / max(1, count(held))
    if (
        job.ask == "mean_replace"
    ):  # with a public number of rows one changed row moves the sum by the whole range
        total, held = (
            odp.m.make_laplace(
                odp.atom_domain(T=float, nan=False), odp.absolute_distance(T=float), 100.0
            ),
            list(x),
        )
        return "ε = 1, replace", lambda: total(float(sum(held))) / len(held)
    if job.ask == "by_key":
        return "ε = 1", _opendp_cells(columns["key"], x, odp)
    if job.ask in ("keys", "words"):
        return "(1, 1e-6)", _opendp_keys(columns, job, odp)
    if job.ask in ("ranges", "prefixes"):
        return "ε = 1", _opendp_tree(columns["bucket"], odp)
    if (
        job.ask == "batch"
    ):  # whoever knows that the thresholds are nested asks for a histogram and adds it up
        release = odp.m.make_laplace(
            odp.vector_domain(odp.atom_domain(T=int)), odp.l1_distance(T=int), 1.0
        )
        cells = np.histogram(x, bins=np.arange(0, 101, 5))[0].tolist()
        return "ε = 1", lambda: np.cumsum(np.array(release(cells))[::-1])[::-1]
    raise NotImplementedError


def _opendp_cells(key: np.ndarray, x: np.ndarray, odp: object) -> RunningJob:
    """Half of ε for the counts of all keys, half for the sums; the mean is their quotient."""
    space = odp.vector_domain(odp.atom_domain(T=float, nan=False)), odp.l1_distance(T=float)
    counts, sums, _ = by_key_of(key, x)
    count, total = (odp.m.make_laplace(*space, scale) for scale in (2.0, 200.0))

    def run() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        n, s = np.array(count(counts.astype(float).tolist())), np.array(total(sums.tolist()))
        return n, s, s / np.maximum(n, 1)

    return run


def _opendp_keys(columns: Columns, job: Job, odp: object) -> RunningJob:
    """Noisy counts above a threshold: Laplace noise for one key a person, Gaussian noise for twenty.

    Release 0.16.0 shows an integer count that equals the threshold but prices only what is above it: keys of one row
    show with 2.7 times the δ it promises (threshold 3, scale 1: 0.0978 of 200,000, promised 0.0364). So the threshold is
    the one whose price is kept: one more than its own.
    """
    groups = 1 if job.ask == "keys" else 20
    counts, one = (
        odp.map_domain(odp.atom_domain(T=int), odp.atom_domain(T=int)),
        odp.absolute_distance(T=int),
    )

    def rule(threshold: int) -> object:
        if groups == 1:
            return odp.m.make_laplace_threshold(
                counts, odp.l01inf_distance(one), scale=1.0, threshold=threshold
            )
        scale = groups**0.5 / _mu()
        return odp.m.make_gaussian_threshold(
            counts, odp.l02inf_distance(one), scale=scale, threshold=threshold
        )

    limit = 1e-6 if groups == 1 else 5e-7  # the other half is for the noise
    least = next(
        t for t in range(2, 1000) if rule(t).map((groups, math.ceil(groups**0.5), 1))[1] <= limit
    )
    made, owner = (
        rule(least + 1),
        columns["writer"] if groups > 1 else np.arange(columns["zipf"].size),
    )
    rng = np.random.default_rng(4)

    def run() -> int:
        held = (
            columns[job.column] if groups == 1 else _kept(owner, columns[job.column], groups, rng)
        )
        found, often = np.unique(held, return_counts=True)
        return len(made({int(k): int(n) for k, n in zip(found, often, strict=True)}))

    return run


def _mu() -> float:
    """Return μ = 1/σ of Gaussian noise at (1, 5e-7), as the analytic mechanism has it."""
    return 0.2291


def _kept(owner: np.ndarray, word: np.ndarray, groups: int, rng: np.random.Generator) -> np.ndarray:
    """Keep so many different words of everybody, at random."""
    pairs = np.unique(np.stack([owner, word]), axis=1)
    pairs = pairs[:, rng.permutation(pairs.shape[1])]
    order = np.argsort(pairs[0], kind="stable")
    owners, words = pairs[:, order]
    first = np.searchsorted(owners, owners)
    return words[np.arange(owners.size) - first < groups]


def _opendp_quantile(odp, space, places, at, epsilon):
    """Search for the scale with few candidates, which it does not depend on, then take all of them."""

    def choice(listed: list[float], scale: float) -> object:
        return space >> odp.m.then_private_quantile(odp.max_divergence(), listed, at, scale)

    low, high = 1e-6, 1e9
    for _ in range(80):
        middle = (low * high) ** 0.5
        low, high = (
            (low, middle) if choice(places[:3], middle).map(1) <= epsilon else (middle, high)
        )
    return choice(places, high)


def _opendp_tree(bucket: np.ndarray, odp: object) -> RunningJob:
    """Noisy counts of a tree, made consistent, of as many branches as OpenDP advises: its own way to ranges."""
    branches = odp.t.choose_branching_factor(size_guess=1024)
    space = odp.vector_domain(odp.atom_domain(T=int)), odp.symmetric_distance()
    plain = space >> odp.t.then_count_by_categories(
        categories=list(range(1024)), null_category=False
    )
    tree = plain >> odp.t.then_b_ary_tree(leaf_count=1024, branching_factor=branches)
    made = odp.binary_search_chain(
        lambda s: tree >> odp.m.then_laplace(s), d_in=1, d_out=1.0, bounds=(1e-3, 1e6)
    )
    even, held = (
        odp.t.make_consistent_b_ary_tree(branching_factor=branches),
        [int(b) for b in bucket],
    )
    return lambda: np.cumsum(np.array(even(made(held))[:1024]))


def diffprivlib(job: Job, columns: Columns) -> tuple[str, RunningJob]:
    """diffprivlib's tools; it takes the number of rows as public, so its means and variances promise replace."""
    from diffprivlib import tools

    x, bounds = columns[job.column].astype(float), job.bounds
    if job.ask == "quantiles":
        each = [
            lambda at=at: tools.quantile(x, at, epsilon=1 / len(job.at), bounds=bounds)
            for at in job.at
        ]
        return "ε = 1", lambda: [one() for one in each]
    if job.ask in ("mean", "mean_replace"):
        return "ε = 1, replace", lambda: tools.mean(x, epsilon=1.0, bounds=bounds)
    if job.ask == "variance":
        return "ε = 1, replace", lambda: tools.var(x, epsilon=1.0, bounds=bounds)
    if job.ask == "deviation":
        return "ε = 1, replace", lambda: tools.std(x, epsilon=1.0, bounds=bounds)
    raise NotImplementedError


def pydp(job: Job, columns: Columns) -> tuple[str, RunningJob]:
    """Google's library in Python: bounded means, and a quantile tree for extremes."""
    from pydp.algorithms import laplacian as google

    x = columns[job.column].astype(float).tolist()
    low, high = job.bounds
    if job.ask == "mean":
        return "ε = 1", lambda: google.BoundedMean(1.0, 0, low, high, dtype="float").quick_result(x)
    if job.ask in ("variance", "deviation"):
        spread = (
            google.BoundedVariance if job.ask == "variance" else google.BoundedStandardDeviation
        )
        return "ε = 1", lambda: spread(1.0, 0, low, high, dtype="float").quick_result(x)
    if job.ask == "count":
        return "ε = 1", lambda: google.Count(1.0, dtype="float").quick_result(x)
    if job.ask == "mean_unbounded":
        return "ε = 1", lambda: google.BoundedMean(epsilon=1.0, dtype="float").quick_result(x)
    if job.ask == "quantiles" and len(job.at) == 1:
        made = google.Max if job.at == (1.0,) else google.Median
        if job.at in ((1.0,), (0.5,)):
            return "ε = 1", lambda: made(1.0, 0, low, high, dtype="float").quick_result(x)
    raise NotImplementedError


PEERS = {
    "opendp": opendp,
    "diffprivlib": diffprivlib,
    "pydp": pydp,
    "pipelinedp": pipelinedp,
    "smartnoise": smartnoise,
    "tumult": tumult,
}


def main(name: str, path: str, runs: int, names: list[str]) -> None:
    """Do every job that the peer can do, and print what came out; jobs of one source share their answers."""
    columns = dict(np.load(path))
    jobs = [job for job in JOBS if job.name in names]
    for asked in dict.fromkeys(map(source, jobs)):
        same = [job for job in jobs if source(job) == asked]
        try:
            promise, run = PEERS[name](same[0], columns)
            found = run.answers(runs) if isinstance(run, Many) else [run() for _ in range(runs)]
            said = [
                {"promise": promise, "answers": [view(job, one) for one in found]} for job in same
            ]
        except NotImplementedError:
            said = [{} for _ in same]
        except Exception as error:  # noqa: BLE001 whatever a peer raises is said, and the others go on
            said = [{"failed": f"{type(error).__name__}: {error}"[:200]} for _ in same]
        for job, one in zip(same, said, strict=True):
            print(json.dumps({"job": job.name, **one}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:])
