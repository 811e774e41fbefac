"""Many tables at the price of one: errors and times of strategies beside published figures.

    python benchmarks/workloads.py                 lines to 1,024 cells, marginals, a hierarchy, counts, a CUBE
    python benchmarks/workloads.py --large         … and lines of 4,096 cells
    python benchmarks/workloads.py --adult DIR     … and Adult's pairs, from DIR/adult.csv and DIR/adult-domain.json

Errors are roots of mean squared errors at ε = 1, or (1, 1e-6), or (1, 1e-9); neighbours: add or remove one row. Figures
of others are those that their papers and our earlier runs of their programs printed, at the same budgets.
"""

from __future__ import annotations

import json
import math
import sys
import time
from itertools import combinations
from pathlib import Path

import numpy as np

import discreet as dp
from discreet.plan import routes
from discreet.workloads import Change, Counts, Hierarchy, RunningTotals, Tables, marginals, plan_strategy
from discreet.workloads.choose import bound_of
from discreet.workloads.plan import planned
from discreet.workloads.project import mirror, simplex
from discreet.workloads.residual import ResidualStrategy, residual_error
from discreet.workloads.tree import top_down

ADULT = (85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2)
CPS = (100, 50, 7, 4, 2)
OPENDP = {64: (9.1, 9.3), 256: (11.5, 14.7), 1024: (15.6, 20.2), 4096: (17.5, 23.4)}
HDMM = {64: (5.32, 5.55), 256: (7.41, 8.08), 1024: (9.66, 11.18)}
SMOOTH = routes(dp.ApproxDP(1, "1e-6"))[1]


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def lines(sizes: tuple[int, ...]) -> None:
    say("running totals / ranges   ours, pure ε = 1   gap       HDMM          OpenDP tree   histogram")
    for size in sizes:
        for ranges in (False, True):
            start = time.perf_counter()
            plan = plan_strategy(RunningTotals(size, ranges=ranges), [dp.PureDP(1)])
            took = time.perf_counter() - start
            other = [f"{table[size][ranges]:.2f}" if size in table else "-" for table in (HDMM, OPENDP)]
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
    for name, sizes in (("Adult", ADULT), ("CPS", CPS)):
        for keys in (1, 2, 3):
            start = time.perf_counter()
            asked = Tables(sizes, combinations(range(len(sizes)), keys), "cells")
            say(f"{name} {keys}-way {math.sqrt(residual_error(asked)):7.3f} in {time.perf_counter() - start:.3f} s")
    start = time.perf_counter()
    found = math.sqrt(residual_error(marginals(ADULT, 3, "cells")))
    say(f"Adult up to 3-way {found:7.3f} in {time.perf_counter() - start:.3f} s")


def hierarchy() -> None:
    say("\na made-up country: 50 states, 3,000 counties, 60,000 tracts, at (1, 1e-6)")
    rng = np.random.default_rng(18)
    counts = [np.repeat(np.arange(1), 50), np.repeat(np.arange(50), 60), np.repeat(np.arange(3000), 20)]
    tree = Hierarchy(counts)
    people = np.minimum(rng.pareto(1.2, 60_000) * 12, 1e6).astype(np.int64)[:, None]
    plan = plan_strategy(tree, [SMOOTH])
    noisy = plan.release(people)
    start = time.perf_counter()
    estimate = plan.estimate(noisy)
    solved = time.perf_counter() - start
    start = time.perf_counter()
    whole = top_down(estimate, whole=True)
    say(
        f"least squares {1000 * solved:.1f} ms, whole and not negative {1000 * (time.perf_counter() - start):.1f} ms more"
    )
    exact = [people]
    for parents in reversed(counts):
        exact.append(np.add.reduceat(exact[-1], np.flatnonzero(np.diff(parents, prepend=-1)), axis=0))
    for depth, name in enumerate(("country", "states", "counties", "tracts")):
        true = exact[len(counts) - depth]
        raw = math.sqrt(((estimate.level(depth) / 2**20 - true) ** 2).mean())
        tidy = math.sqrt(((whole[depth] / 2**20 - true) ** 2).mean())
        say(f"{name:9} RMSE {raw:6.2f} (said {plan.set_rmse[depth]:.2f}), whole {tidy:6.2f}")


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


def adult(folder: Path) -> None:
    sizes = list(json.loads((folder / "adult-domain.json").read_text()).values())
    data = np.loadtxt(folder / "adult.csv", delimiter=",", skiprows=1, dtype=np.int64)
    exact = {}
    for i, j in combinations(range(len(sizes)), 2):
        flat = np.bincount(data[:, i] * sizes[j] + data[:, j], minlength=sizes[i] * sizes[j])
        exact[i, j] = flat.reshape(sizes[i], sizes[j])
    budget = routes(dp.ApproxDP(1, "1e-9"))[1]
    asked = marginals(sizes, 2)
    start = time.perf_counter()
    strategy = ResidualStrategy(asked)
    plan = planned(asked, strategy, budget, Change(), bound_of(asked, budget, Change()))
    estimate = plan.estimate(plan.release(exact))
    total = max(1.0, float(estimate.table(()).values))
    ones = [
        simplex(estimate.table((i,)).values, np.zeros(n, dtype=np.int64), np.array([total]))
        for i, n in enumerate(sizes)
    ]
    found = {}
    for i, j in exact:
        noisy = estimate.table((i, j)).values
        found[i, j] = mirror(noisy, np.outer(ones[i], ones[j]) / total, estimate.variance((i, j)) * noisy.size)
    took = time.perf_counter() - start
    off = np.concatenate([(found[pair] - true).ravel() for pair, true in exact.items()])
    apart = np.mean([np.abs(found[pair] - true).sum() / 2 / len(data) for pair, true in exact.items()])
    say(
        f"\nAdult, all 91 pairs at (1, 1e-9): RMSE {math.sqrt((off**2).mean()):.2f} a cell, TV {apart:.4f}, {took:.2f} s "
        "(AIM 12.1, .0368, 884 s; MST 21.5, .0516, 151 s)"
    )
    say(f"before mirror steps: RMSE said {plan.rmse:.1f} a table, gap to the bound {100 * plan.gap:.2g} %")


def main() -> None:
    lines((64, 256, 1024, *((4096,) if "--large" in sys.argv else ())))
    tables()
    hierarchy()
    thresholds()
    cube()
    if "--adult" in sys.argv:
        adult(Path(sys.argv[sys.argv.index("--adult") + 1]))


if __name__ == "__main__":
    main()
