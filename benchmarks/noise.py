"""Exact noise against NumPy's insecure generator and OpenDP, in one interleaved run.

Times are thread CPU time, the best of interleaved repeats (ratios carry over between machines, nanoseconds do not).
OpenDP is optional: without it, its columns stay empty.
"""

from __future__ import annotations

import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from discreet import noise

try:
    import opendp.prelude as opendp

    opendp.enable_features("contrib")
except ImportError:
    opendp = None

SCALES = (Fraction(1, 2), Fraction(10), Fraction(1000), Fraction(10**6))
SIZES = (1, 1000, 1_000_000)
REPEATS = {1: 2000, 1000: 300, 1_000_000: 11}
OPENDP_MOST = 2000  # values a call: ten microseconds and more each
INSECURE = np.random.default_rng()


def best(jobs: dict[str, tuple[Callable[[], object], int]], repeats: int) -> dict[str, float]:
    """Nanoseconds per value of each job (a callable and its number of values), interleaved, best of the repeats."""
    found = dict.fromkeys(jobs, float("inf"))
    for job, _ in jobs.values():
        job()
    for turn in range(repeats):
        for name, (job, count) in jobs.items():
            if name == "opendp" and turn >= 5:
                continue
            start = time.thread_time_ns()
            job()
            found[name] = min(found[name], (time.thread_time_ns() - start) / count)
    return found


def theirs(
    law: str, scale: Fraction, count: int, kind: type = int
) -> tuple[Callable[[], object], int]:
    """OpenDP's integer or float sampler for a vector, or for one value."""
    metric = {("laplace", 1): opendp.l1_distance, ("laplace", 0): opendp.absolute_distance}.get(
        (law, count > 1), opendp.l2_distance if count > 1 else opendp.absolute_distance
    )(T=kind if law == "laplace" else float)
    atom = opendp.atom_domain(T=int) if kind is int else opendp.atom_domain(T=float, nan=False)
    make = opendp.m.make_laplace if law == "laplace" else opendp.m.make_gaussian
    sampler = make(opendp.vector_domain(atom) if count > 1 else atom, metric, scale=float(scale))
    count = min(count, OPENDP_MOST)
    data: Any = kind(0) if count == 1 else [kind(0)] * count
    return (lambda: sampler(data)), count


def ours(law: str, scale: Fraction, count: int) -> Callable[[], object]:
    size = None if count == 1 else count
    if law == "laplace":
        return lambda: noise.laplace(scale, size)
    variance = scale * scale
    return lambda: noise.gaussian(variance, size)


def insecure(law: str, scale: Fraction, count: int) -> Callable[[], object]:
    draw = INSECURE.laplace if law == "laplace" else INSECURE.normal
    size = None if count == 1 else count
    return lambda: draw(0.0, float(scale), size)


def row(title: str, found: dict[str, float], target: str) -> None:
    peer = found.get("opendp")
    text = (
        f"{peer:11,.0f} ns {peer / found['ours']:8,.0f} x" if peer else f"{'missing':>14} {'':>10}"
    )
    ratio = found["ours"] / found["numpy"]
    print(
        f"{title:34} {found['ours']:9.1f} ns {found['numpy']:9.1f} ns {ratio:7.2f} x {text}   {target}"
    )


def head(title: str) -> None:
    print(
        f"\n{title:34} {'discreet':>12} {'NumPy':>12} {'ratio':>9} {'OpenDP':>14} {'faster by':>10}   target"
    )


def integers() -> None:
    """Integer noise: one value, a thousand, a million."""
    targets = {
        "laplace": {Fraction(1, 2): "<= 0.3", Fraction(10): "<= 0.3", Fraction(10**6): "<= 0.9"},
        "gaussian": {Fraction(1, 2): "<= 0.5", Fraction(10): "<= 0.5", Fraction(10**6): "<= 1.4"},
    }
    head("integers, per value")
    for law in ("laplace", "gaussian"):
        for count in SIZES:
            for scale in SCALES:
                jobs = {
                    "ours": (ours(law, scale, count), count),
                    "numpy": (insecure(law, scale, count), count),
                }
                if opendp is not None:
                    jobs["opendp"] = theirs(law, scale, count)
                target = (
                    targets[law].get(scale, "")
                    if count == SIZES[-1]
                    else "<= 10 us"
                    if count == 1
                    else ""
                )
                row(f"{law} n={count:,} scale={float(scale):g}", best(jobs, REPEATS[count]), target)


def floats() -> None:
    """Float64 data on the grid, one noise each, against values + generator noise."""
    head("float64 on the grid, n=1e6")
    count = SIZES[-1]
    values = INSECURE.normal(0, 1000, count)
    exponent = noise.grid_exponent(10)
    steps = 10 / Fraction(2) ** exponent
    variance = steps * steps
    release = {
        "laplace": lambda: noise.add_on_grid(values, noise.laplace(steps, count), exponent),
        "gaussian": lambda: noise.add_on_grid(values, noise.gaussian(variance, count), exponent),
    }
    naive = {
        "laplace": lambda: values + INSECURE.laplace(0.0, 10.0, count),
        "gaussian": lambda: values + INSECURE.normal(0.0, 10.0, count),
    }
    for law, target in (("laplace", "<= 1.5"), ("gaussian", "<= 2.5")):
        jobs: dict[str, tuple[Callable[[], object], int]] = {
            "ours": (release[law], count),
            "numpy": (naive[law], count),
        }
        if opendp is not None:
            jobs["opendp"] = theirs(law, Fraction(10), count, float)
        row(f"{law} scale=10", best(jobs, 9), target)


def others() -> None:
    """The other laws, for the record: no peer has them exact and as vectors."""
    print("\nother laws (best of 5)")
    scores = INSECURE.normal(0, 5, 1_000_000)
    jobs: dict[str, tuple[Callable[[], object], int]] = {
        "geometric scale=1000, per value": (lambda: noise.geometric(1000, 1_000_000), 1_000_000),
        "binomial 1000, per value": (lambda: noise.binomial(1000, 1_000_000), 1_000_000),
        "binomial 2^40, per value": (lambda: noise.binomial(2**40, 1_000_000), 1_000_000),
        "coin exp(-1/3), per value": (
            lambda: noise.exponential_coin(Fraction(1, 3), 1_000_000),
            1_000_000,
        ),
        "uniform 10^9, per value": (lambda: noise.uniform(10**9, 1_000_000), 1_000_000),
        "exponential_choice, 1e6 scores": (lambda: noise.exponential_choice(scores, 1), 1),
        "permute_and_flip, 1e6 scores": (lambda: noise.permute_and_flip(scores, 1), 1),
    }
    for name, nanoseconds in best(jobs, 5).items():
        print(f"  {name:34} {nanoseconds:14,.1f} ns")


def warm_and_cold() -> None:
    """A warm single draw, and the first draw of a law not seen before (its table is certified)."""
    print("\nsingle draws")
    for law in ("laplace", "gaussian"):
        draw = ours(law, Fraction(10), 1)
        draw()
        start = time.thread_time_ns()
        for _ in range(20_000):
            draw()
        print(
            f"  {law:9} warm  {(time.thread_time_ns() - start) / 20_000 / 1000:8.2f} us (target <= 10)"
        )
        for scale in (Fraction(11, 2), Fraction(54_321)):
            start = time.thread_time_ns()
            ours(law, scale, 1)()
            print(
                f"  {law:9} first {(time.thread_time_ns() - start) / 1e6:8.2f} ms at scale {float(scale):g}"
            )


def memory() -> None:
    """Peak memory of a call over the size of its output."""
    print("\npeak memory / output, n=1e6 (target <= 3)")
    for law in ("laplace", "gaussian"):
        for scale in SCALES:
            job = ours(law, scale, SIZES[-1])
            job()
            tracemalloc.start()
            job()
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            print(f"  {law:9} scale={float(scale):<8g} {peak / (8 * SIZES[-1]):5.2f} x")


def rank(values: np.ndarray) -> np.ndarray:
    """Ranks with ties averaged."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[inverse]


def spearman(draw: Callable[[], int], count: int) -> float:
    times, sizes = np.empty(count), np.empty(count)
    clock = time.perf_counter_ns
    for at in range(count):
        start = clock()
        found = draw()
        times[at], sizes[at] = clock() - start, abs(found)
    return float(np.corrcoef(rank(times), rank(sizes))[0, 1])


def timing() -> None:
    """Does the time of one draw tell its size? Rank correlation of time and |noise|; 0 means it tells nothing."""
    count = 40_000
    print(
        f"\nrank correlation of time and |noise|, single draws (median of 5; chance ±{3 / count**0.5:.3f} for one run)"
    )
    for law in ("laplace", "gaussian"):
        for scale in (Fraction(10), Fraction(10**6)):
            found = sorted(spearman(ours(law, scale, 1), count) for _ in range(5))[2]
            peer = (
                "missing"
                if opendp is None
                else f"{spearman(theirs(law, scale, 1)[0], 4000):7.3f} (±0.047)"
            )
            print(f"  {law:9} scale={float(scale):<8g} discreet {found:7.3f}   OpenDP {peer}")


def imports() -> None:
    """What importing the room costs, in fresh interpreters."""
    probe = "import time; t = time.process_time(); import {0}; print(time.process_time() - t)"
    found: dict[str, list[float]] = {"numpy": [], "discreet.noise": []}
    for _ in range(7):
        for module, times in found.items():
            done = subprocess.run(
                [sys.executable, "-c", probe.format(module)], capture_output=True, check=True
            )
            times.append(float(done.stdout))
    numpy, room = (sorted(times)[3] for times in found.values())
    print(
        f"\nimport: numpy {1000 * numpy:.0f} ms, discreet.noise {1000 * room:.0f} ms = {room / numpy:.2f} x"
    )


def main() -> None:
    print(f"exact noise; OpenDP {'missing' if opendp is None else 'found'}; NumPy {np.__version__}")
    integers()
    floats()
    others()
    warm_and_cold()
    memory()
    timing()
    imports()


if __name__ == "__main__":
    main()
