"""What a release costs beyond its bare noise, and what selection among a million candidates costs.

Ratios from one interleaved run (thread CPU time, best of several): releasing n values against drawing n noises of the
same law, and against NumPy's insecure `values + generator.laplace(...)`.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from discreet import noise
from discreet.mechanisms.additive.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.additive.discrete_laplace import Geometric
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.selection.exponential import Exponential
from discreet.mechanisms.selection.permute_and_flip import PermuteAndFlip
from discreet.privacy.measures import ApproxDP, PureDP

N = 1_000_000
REPEATS = 15
INSECURE = np.random.default_rng()


def seconds(job: Callable[[], object]) -> float:
    start = time.thread_time()
    job()
    return time.thread_time() - start


def race(jobs: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Run all jobs in turn, several times over, and keep each one's best."""
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for job in jobs.values():
        job()
    for _ in range(REPEATS):
        for name, job in jobs.items():
            times[name].append(seconds(job))
    return {name: min(found) for name, found in times.items()}


def additive() -> None:
    ints, floats = np.zeros(N, dtype=np.int64), np.zeros(N)
    laplace = Laplace.spending(PureDP("1/10"), sensitivity=1, dimension=N)
    gaussian = Gaussian(scale=10, sensitivity=1, dimension=N)
    geometric = Geometric.spending(PureDP("1/10"), sensitivity=1)
    discrete = DiscreteGaussian(scale=10, sensitivity=1, dimension=N)
    steps = 10 * 2**37  # both lattices: 2^40 steps to a scale of 8
    rows = [
        (
            "Laplace, floats",
            lambda: laplace.release(floats),
            lambda: noise.laplace(steps, N),
            "laplace",
        ),
        (
            "Laplace, ints",
            lambda: laplace.release(ints),
            lambda: noise.laplace(steps, N),
            "laplace",
        ),
        (
            "Gaussian, floats",
            lambda: gaussian.release(floats),
            lambda: noise.gaussian(steps**2, N),
            "normal",
        ),
        (
            "Geometric, ints",
            lambda: geometric.release(ints),
            lambda: noise.laplace(10, N),
            "laplace",
        ),
        (
            "DiscreteGaussian, ints",
            lambda: discrete.release(ints),
            lambda: noise.gaussian(100, N),
            "normal",
        ),
    ]
    print(f"\nreleasing {N:,} values, scale 10\n")
    print(f"  {'mechanism':24} {'ns a value':>10} {'x bare noise':>13} {'x NumPy':>8}")
    for name, release, bare, law in rows:
        naive = getattr(INSECURE, law)
        found = race(
            {"ours": release, "bare": bare, "numpy": lambda naive=naive: floats + naive(0, 10, N)}
        )
        ratio, insecure = found["ours"] / found["bare"], found["ours"] / found["numpy"]
        print(f"  {name:24} {1e9 * found['ours'] / N:10.1f} {ratio:13.2f} {insecure:8.2f}")


def selection() -> None:
    scores = INSECURE.integers(0, 1000, N)
    jobs = {
        "Exponential": lambda: Exponential.spending(PureDP(1), sensitivity=1).release(scores),
        "PermuteAndFlip": lambda: PermuteAndFlip.spending(PureDP(1), sensitivity=1).release(scores),
    }
    print(f"\nselecting among {N:,} candidates\n")
    for name, time_taken in race(jobs).items():
        print(f"  {name:24} {time_taken:8.4f} s")


def calibration() -> None:
    jobs = {
        "Gaussian at (1, 1e-6)": lambda: Gaussian.spending(ApproxDP(1, 1e-6), sensitivity=1),
        "Laplace at (1, 1e-6)": lambda: Laplace.spending(ApproxDP(1, 1e-6), sensitivity=1),
        "DiscreteGaussian at (1, 1e-6)": lambda: DiscreteGaussian.spending(
            ApproxDP(1, 1e-6), sensitivity=1
        ),
    }
    print("\ncalibrating one mechanism\n")
    for name, time_taken in race(jobs).items():
        print(f"  {name:32} {1000 * time_taken:8.2f} ms")


if __name__ == "__main__":
    additive()
    selection()
    calibration()
