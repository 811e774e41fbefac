"""How many counting queries can be answered? The lectures' last table, measured against theory.

    python benchmarks/counting.py            the tables, in about a minute
    python benchmarks/counting.py --picture  … and docs/pictures/counting.svg

n people on a domain of N cells, k random counting queries (each cell counted with probability ½), one budget (1, 1e-6)
for all of them together, neighbours: replace one person. Errors are in people: the greatest over all k queries, and the
root of the mean square. Laplace noise and randomized response are pure (ε = 1), which asks a little more.
"""

from __future__ import annotations

import math
import sys
import time
from fractions import Fraction
from pathlib import Path

import numpy as np

from discreet.mechanisms.adaptive.mwem import MWEM
from discreet.mechanisms.adaptive.weights import MultiplicativeWeights
from discreet.mechanisms.response.randomized import RandomizedResponse
from discreet.noise import gaussian, laplace
from discreet.privacy.calibrate import least_scale
from discreet.privacy.events import GaussianNoise
from discreet.privacy.measures import ApproxDP

PEOPLE = 10_000
BUDGET = ApproxDP(1, "1e-6")
ROUNDS, PASSES = 30, 20
PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "counting.svg"


def world(domain, k):
    """Make a skewed histogram of n people and k random queries; public seeds: nothing here is private."""
    rng = np.random.default_rng(domain)
    histogram = rng.multinomial(PEOPLE, rng.dirichlet(np.full(domain, 0.1)))
    queries = np.empty((k, domain), dtype=bool)
    for at in range(0, k, 1000):
        queries[at : at + 1000] = rng.random((min(1000, k - at), domain)) < 0.5
    true = np.concatenate(
        [queries[at : at + 1000].astype(float) @ histogram for at in range(0, k, 1000)]
    )
    return histogram, queries, true


def randomized_response(histogram, queries, true):
    """Everyone answers every query at ε/k; up to 100 of the queries are really asked."""
    k, asked = len(true), min(100, len(true))
    rr = RandomizedResponse(2, epsilon=Fraction(1, k))
    people = np.repeat(np.arange(histogram.size), histogram)
    found = [
        PEOPLE * rr.estimate(rr.release(queries[i][people].astype(np.int64))).values[1]
        for i in range(asked)
    ]
    return np.array(found) - true[:asked], PEOPLE * math.sqrt(rr.variance(n=PEOPLE, frequency=0.5))


def laplace_noise(_histogram, _queries, true):
    k = len(true)
    return laplace(k, k), math.sqrt(2) * k


def gaussian_noise(_histogram, _queries, true):
    k = len(true)
    sigma = least_scale(
        lambda s: GaussianNoise(s**2, k, neighbours="replace"), BUDGET, start=math.isqrt(k) + 1
    )
    return gaussian(sigma**2, k), float(sigma)


def noisy_histogram(histogram, queries, true):
    """Laplace noise of scale 2/ε on every cell once, then every query is free."""
    noisy = histogram + laplace(2, histogram.size)
    found = np.concatenate(
        [queries[at : at + 1000].astype(float) @ noisy for at in range(0, len(true), 1000)]
    )
    return found - true, math.sqrt(8 * histogram.size / 2)


def multiplicative_weights(histogram, queries, true):
    """Interactive: the threshold is where the comparison's noise alone rarely reaches; then what it believes."""
    k = len(true)
    parts = {"domain": histogram.size, "total": PEOPLE, "updates": ROUNDS, "queries": k}
    tight = MultiplicativeWeights.spending(BUDGET, **parts, threshold=1)
    threshold = math.ceil(tight.comparison().error(k, 0.5))
    mechanism = MultiplicativeWeights.spending(BUDGET, **parts, threshold=threshold)
    run = mechanism.start(histogram)
    found = run.answer_all(queries)
    rest = run.belief.answers(queries[found.size :])
    return np.concatenate([found, rest]) - true, None


def mwem(histogram, queries, true):
    mechanism = MWEM.spending(
        BUDGET, domain=histogram.size, total=PEOPLE, rounds=ROUNDS, passes=PASSES
    )
    return mechanism.release(histogram, queries).answers(queries) - true, None


METHODS = {
    "randomized response": randomized_response,
    "Laplace": laplace_noise,
    "Gaussian": gaussian_noise,
    "multiplicative weights": multiplicative_weights,
    "MWEM": mwem,
    "noisy histogram": noisy_histogram,
}


def table(domain, sizes):
    """Print one table and return the measured greatest errors."""
    print(
        f"\ndomain of {domain} cells, {PEOPLE} people, (ε, δ) = (1, 1e-6) for all k queries together"
    )
    print(
        f"{'k':>7}  {'mechanism':<24}{'greatest':>12}{'rms':>12}{'rms theory':>12}{'ratio':>8}{'seconds':>9}"
    )
    greatest = {name: [] for name in METHODS}
    for k in sizes:
        data = world(domain, k)
        for name, method in METHODS.items():
            start = time.perf_counter()
            errors, theory = method(*data)
            took = time.perf_counter() - start
            rms = math.sqrt(float(np.mean(np.square(errors, dtype=float))))
            greatest[name].append(float(np.abs(errors).max()))
            told = f"{theory:>12.0f}{rms / theory:>8.2f}" if theory else f"{'':>20}"
            print(
                f"{k:>7}  {name:<24}{greatest[name][-1]:>12.0f}{rms:>12.0f}{told}{took:>9.2f}",
                flush=True,
            )
    return greatest


def growth(sizes, greatest):
    """Print how the greatest error grows from the smallest k to the largest: as a power of k, and of log k."""
    print("\ngrowth of the greatest error    as k^a    as (log k)^b")
    decades, logs = (
        math.log(sizes[-1] / sizes[0]),
        math.log(math.log(sizes[-1]) / math.log(sizes[0])),
    )
    for name, values in greatest.items():
        rise = math.log(values[-1] / values[0])
        print(f"  {name:<28}{rise / decades:>8.2f}{rise / logs:>14.2f}")


def crossing(sizes, greatest, above, below):
    """Interpolate, on logarithmic axes, the k from which `below` has the smaller greatest error."""
    gaps = np.log(np.array(greatest[above]) / np.array(greatest[below]))
    for i in range(1, len(gaps)):
        if gaps[i - 1] <= 0 < gaps[i]:
            share = -gaps[i - 1] / (gaps[i] - gaps[i - 1])
            return round(sizes[i - 1] * (sizes[i] / sizes[i - 1]) ** share / 100) * 100
    return None


def draw(sizes, greatest):
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "counting"
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for name, values in greatest.items():
        axes.loglog(sizes, values, marker="o", label=name)
    axes.axhline(PEOPLE, color="grey", linestyle=":", label="number of people")
    axes.set(
        xlabel="counting queries k",
        ylabel="greatest error (people)",
        title="k counting queries, ε = 1, δ = 1e-6",
    )
    axes.legend(fontsize=8)
    figure.savefig(PICTURE, metadata={"Date": None, "Creator": None})


def main():
    sizes = [100, 1000, 10_000, 100_000]
    greatest = table(1000, sizes)
    growth(sizes, greatest)
    for below in ("multiplicative weights", "MWEM"):
        print(
            f"{below} overtakes Gaussian noise near k = {crossing(sizes, greatest, 'Gaussian', below)}"
        )
    table(10_000, [100, 10_000])
    if "--picture" in sys.argv:
        draw(sizes, greatest)
        print(f"drawn: {PICTURE.name}")


if __name__ == "__main__":
    main()
