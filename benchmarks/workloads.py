"""Many tables at the price of one: errors and times of strategies beside published figures.

    python benchmarks/workloads.py                     lines to 1,024 cells, marginals, hierarchies, counts, a CUBE, Adult
    python benchmarks/workloads.py --large             … and lines of 4,096 cells
    python benchmarks/workloads.py --opendp PYTHON     … beside OpenDP's tree, run now by that Python (workloads_peers.py)

Errors are roots of mean squared errors at ε = 1, or (1, 1e-6), or (1, 1e-9); neighbours: add or remove one row. Figures
of others are those that their papers and our earlier runs of their programs printed, at the same budgets.
"""

from __future__ import annotations

import gzip
import json
import math
import subprocess
import sys
import time
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np

import discreet as dp
from discreet.plan import plan_workload, routes
from discreet.workloads import (
    Change,
    Counts,
    Hierarchy,
    NestedTables,
    RunningTotals,
    StrategyPlan,
    Tables,
    marginals,
    plan_strategy,
)
from discreet.workloads.choose import bound_of
from discreet.workloads.estimate import STEP
from discreet.workloads.nested.estimate import tidy
from discreet.workloads.plan import planned
from discreet.workloads.project import mirror_pairs, simplex
from discreet.workloads.residual import ResidualStrategy, residual_error
from discreet.workloads.tree import level_sums

ADULT = (85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2)
CPS = (100, 50, 7, 4, 2)
PUMS = (77, 2, 16, 6, 2)
OPENDP = {64: (9.1, 9.3), 256: (11.5, 14.7), 1024: (15.6, 20.2), 4096: (17.5, 23.4)}
HOME = Path(__file__).parent
HDMM = {64: (5.32, 5.55), 256: (7.41, 8.08), 1024: (9.66, 11.18)}
SMOOTH = routes(dp.ApproxDP(1, "1e-6"))[1]


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def opendp(sizes: tuple[int, ...]) -> dict[int, tuple[float, float]]:
    """Return the errors of OpenDP's tree: measured now, or as an earlier run printed them."""
    if "--opendp" not in sys.argv:
        return OPENDP
    python = sys.argv[sys.argv.index("--opendp") + 1]
    command = [python, str(HOME / "workloads_peers.py"), *map(str, sizes)]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return {int(n): (float(a), float(b)) for n, a, b in zip(*[iter(found)] * 3, strict=True)}


def lines(sizes: tuple[int, ...]) -> None:
    peer = opendp(sizes)
    say("running totals / ranges   ours, pure ε = 1   gap       HDMM          OpenDP tree   histogram")
    for size in sizes:
        for ranges in (False, True):
            start = time.perf_counter()
            plan = plan_strategy(RunningTotals(size, ranges=ranges), [dp.PureDP(1)])
            took = time.perf_counter() - start
            other = [f"{table[size][ranges]:.2f}" if size in table else "-" for table in (HDMM, peer)]
            plain = next(rmse for name, _, rmse in plan.tried if name == "histogram")
            kind = "ranges" if ranges else "prefixes"
            say(
                f"{size:5} {kind:9} {plan.rmse:8.3f} in {took:6.2f} s, {100 * plan.gap:5.1f} % above L2 bound; "
                f"HDMM {other[0]}, OpenDP {other[1]}, histogram {plain:.1f}"
            )
    for size in [size for size in sizes if size <= 1024]:
        for ranges in (False, True):
            start = time.perf_counter()
            plan = plan_strategy(RunningTotals(size, ranges=ranges), [SMOOTH])
            took = time.perf_counter() - start
            kind = "ranges" if ranges else "prefixes"
            say(
                f"{size:5} {kind:9} {plan.rmse:8.3f} in {took:6.2f} s, Gaussian at (1, 1e-6), "
                f"{100 * plan.gap:.3f} % above the certified bound {plan.bound.rmse:.3f}"
            )


def tables() -> None:
    say("\nmarginals, least RMSE at price 1 (ResidualPlanner 3.047, 6.359, 10.515; HDMM ≤ 3-way 11.29)")
    for name, sizes in (("Adult", ADULT), ("CPS", CPS), ("PUMS", PUMS)):
        for keys in (1, 2, 3):
            start = time.perf_counter()
            asked = Tables(sizes, combinations(range(len(sizes)), keys), "cells")
            say(f"{name} {keys}-way {math.sqrt(residual_error(asked)):7.3f} in {time.perf_counter() - start:.3f} s")
    start = time.perf_counter()
    found = math.sqrt(residual_error(marginals(ADULT, 3, "cells")))
    say(f"Adult up to 3-way {found:7.3f} in {time.perf_counter() - start:.3f} s")


def hierarchy() -> None:
    say("\na made-up country: 50 states, 3,000 counties, 60,000 tracts, at (1, 1e-6); processor time, the best of 12")
    rng = np.random.default_rng(18)
    tree = Hierarchy([np.repeat(0, 50), np.repeat(np.arange(50), 60), np.repeat(np.arange(3000), 20)])
    for sizes in ((), (2,)):
        columns = math.prod(sizes)
        people = np.minimum(rng.pareto(1.2, (60_000, columns)) * 12, 1e6).astype(np.int64)
        keys = [(0,), ()] if sizes else [()]
        land = NestedTables(tree, sizes, [(depth, one) for depth in range(4) for one in keys])
        plan = plan_strategy(land, [SMOOTH])
        noisy = plan.release(people)
        solved, moved = [], []
        for _ in range(12):
            start = time.process_time()
            estimate = plan.estimate(noisy)
            solved.append(time.process_time() - start)
            start = time.process_time()
            whole = tidy(estimate, STEP)
            moved.append(time.process_time() - start)
        say(
            f"{'by sex' if sizes else 'alone'}: {plan.strategy.name}, {100 * plan.gap:.2g} % above the bound; least squares "
            f"{1000 * min(solved):.1f} ms, whole and not negative {1000 * min(moved):.1f} ms more"
        )
        exact = level_sums(tree, people)
        for (depth, one), said in zip(land.sets, plan.set_rmse, strict=True):
            true = exact[depth] if one else exact[depth].sum(axis=1)
            tidied = whole[depth] if one else whole[depth].sum(axis=1)
            raw = estimate.table(depth, one).values
            name = ("country", "states", "counties", "tracts")[depth] + (" by sex" if one else "")
            say(
                f"{name:15} RMSE {_rms(raw.ravel() - true.ravel()):6.2f} (said {said:.2f}), "
                f"whole {_rms(tidied.ravel() - true.ravel()):6.2f}"
            )


def _rms(off: np.ndarray) -> float:
    return math.sqrt(float((off.astype(float) ** 2).mean()))


def thresholds() -> None:
    plan = plan_strategy(Counts(np.tri(20, 21, dtype=np.int64)), [dp.PureDP(1)])
    say(f"\n20 thresholds of one table at ε = 1: RMSE {plan.rmse:.2f} by {plan.strategy.name}; each by itself 28.3")


def cube() -> None:
    rng = np.random.default_rng(3)
    rows = 2_000_000
    people = dp.Schema("people", dp.Rows(), {"a": dp.Integer(0, 9), "b": dp.Integer(0, 9), "c": dp.Integer(0, 9)})
    data = {name: rng.integers(0, 10, rows) for name in "abc"}
    import polars as pl

    ledger = dp.open_ledger(":memory:", dp.ZCDP(1000))
    curator = dp.Curator(dp.DuckDB({"people": pl.DataFrame(data)}), [people], ledger)
    clauses = ("GROUP BY a, b, c", "GROUP BY CUBE (a, b, c)")
    best = dict.fromkeys(clauses, math.inf)
    for turn in range(6):
        for clause in clauses:
            sql = f"SELECT a, b, c, COUNT(*) AS n FROM people {clause}"
            start = time.perf_counter()
            curator.sql(sql, spend=dp.ZCDP(1 + turn / 7))
            best[clause] = min(best[clause], time.perf_counter() - start)
    plain, all_sets = best.values()
    say(
        f"\nCUBE over three keys of {rows:,} rows: {1000 * all_sets:.0f} ms; its finest GROUP BY {1000 * plain:.0f} ms: "
        f"{all_sets / plain:.2f} ×"
    )


def adult() -> None:
    sizes = list(json.loads((HOME / "data" / "adult-domain.json").read_text()).values())
    with gzip.open(HOME / "data" / "adult.csv.gz", "rt") as text:
        data = np.loadtxt(text, delimiter=",", skiprows=1, dtype=np.int64)
    exact = {}
    for i, j in combinations(range(len(sizes)), 2):
        flat = np.bincount(data[:, i] * sizes[j] + data[:, j], minlength=sizes[i] * sizes[j])
        exact[i, j] = flat.reshape(sizes[i], sizes[j])
    budget, asked = routes(dp.ApproxDP(1, "1e-9"))[1], marginals(sizes, 2)
    plan = planned(asked, ResidualStrategy(asked), budget, Change(), bound_of(asked, budget, Change()))
    runs = [_pairs_once(plan, sizes, exact, len(data)) for _ in range(5)]
    rmse, apart, took = np.mean(runs, axis=0)
    each = ", ".join(f"{one[1]:.4f}" for one in runs)
    say(
        f"\nAdult, all 91 pairs at (1, 1e-9), mean of five: RMSE {rmse:.2f} a cell, TV {apart:.4f} ({each}), {took:.2f} s "
        "of processor time (AIM 12.1, .0368, 884 s; MST 21.5, .0516, 151 s)"
    )
    say(f"before mirror steps: RMSE said {plan.rmse:.1f} a table, gap to the bound {100 * plan.gap:.2g} %")


def _pairs_once(
    plan: StrategyPlan, sizes: list[int], exact: dict[tuple[int, int], np.ndarray], rows: int
) -> tuple[float, float, float]:
    """Release all pairs once: RMSE of a cell, mean total variation distance, seconds."""
    start = time.process_time()
    estimate = plan.estimate(plan.release(exact))
    total = max(1.0, float(estimate.table(()).values))
    ones = [
        simplex(estimate.table((i,)).values, np.zeros(n, dtype=np.int64), np.array([total]))
        for i, n in enumerate(sizes)
    ]
    noisy = {pair: estimate.table(pair).values for pair in exact}
    energies = {pair: estimate.variance(pair) * table.size for pair, table in noisy.items()}
    found = mirror_pairs(noisy, ones, energies)
    took = time.process_time() - start
    off = np.concatenate([(found[pair] - true).ravel() for pair, true in exact.items()])
    apart = np.mean([np.abs(found[pair] - true).sum() / 2 / rows for pair, true in exact.items()])
    return _rms(off), float(apart), took


def together() -> None:
    """A release of three tables: one workload, or each by itself at a third of the spend."""
    people = dp.Schema("people", dp.Rows(), {"a": dp.Integer(0, 9), "b": dp.Integer(0, 9), "c": dp.Integer(0, 9)})
    sets = ("a", "b", "a, b", "b, c")
    asked = {
        f"q{n}": dp.parse_sql(f"SELECT {one}, COUNT(*) AS n FROM people GROUP BY {one}", {"people": people})
        for n, one in enumerate(sets)
    }
    found = plan_workload(asked, dp.ZCDP("1/10"))
    apart = [dp.plan_question(one, dp.ZCDP(Fraction(1, 40))).statistic_errors()["n"] for one in asked.values()]
    errors = [one["n"] for one in found.statistic_errors().values()]
    pairs = ", ".join(f"({s}) {e:.1f} / {a:.1f}" for s, e, a in zip(sets, errors, apart, strict=True))
    say(f"\nfour tables of one release at ρ = 0.1, 95 % errors together / apart: {pairs}")


def main() -> None:
    lines((64, 256, 1024, *((4096,) if "--large" in sys.argv else ())))
    tables()
    hierarchy()
    thresholds()
    cube()
    together()
    adult()


if __name__ == "__main__":
    main()
