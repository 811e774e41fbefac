"""Many tables at the price of one: errors and times of strategies beside published figures.

    python benchmarks/workloads.py                     everything: lines to 4,096 cells, marginals, hierarchies, counts, a CUBE,
                                                       the cost of rows without a key,
                                                       pairs of three tables, all pairs of Adult through SQL
    python benchmarks/workloads.py --opendp PYTHON     … beside OpenDP's tree, run now by that Python (workloads_peers.py)
    python benchmarks/workloads.py --only lines,cube   … some of it

Errors are roots of mean squared errors at ε = 1, or (1, 1e-6), or (1, 1e-9); neighbours: add or remove one row. Figures
of others are those that their papers and our earlier runs of their programs printed, at the same budgets. Times are of the
processor, one thread (set OPENBLAS_NUM_THREADS=1), unless it says otherwise.
"""

from __future__ import annotations

import gzip
import json
import math
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import TypeVar

import numpy as np

import discreet as dp
from discreet.plan import plan_workload, routes
from discreet.workloads import (
    Counts,
    Hierarchy,
    NestedTables,
    RunningTotals,
    StrategyNorms,
    StrategyPlan,
    Tables,
    marginals,
    plan_strategy,
)
from discreet.workloads.choose import bound_of
from discreet.workloads.estimate import STEP
from discreet.workloads.nested.estimate import tidy
from discreet.workloads.plan import planned
from discreet.workloads.project import denoised
from discreet.workloads.residual import ResidualStrategy, residual_error
from discreet.workloads.tree import level_sums

ADULT = (85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2)
CPS = (100, 50, 7, 4, 2)
PUMS = (77, 2, 16, 6, 2)
OPENDP = {64: (9.1, 9.3), 256: (11.5, 14.7), 1024: (15.6, 20.2), 4096: (17.5, 23.4)}
HOME = Path(__file__).parent
RESIDUAL = {("Adult", k): v for k, v in ((1, 3.047), (2, 6.359), (3, 10.515))} | {
    ("CPS", k): v for k, v in ((1, 1.744), (2, 2.035), (3, 2.048))
}
HDMM = {64: (5.32, 5.55), 256: (7.41, 8.08), 1024: (9.66, 11.18)}
T = TypeVar("T")
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


def lines() -> None:
    sizes = (64, 256, 1024, 4096)
    peer = opendp(sizes)
    for size, ranges in product(sizes, (False, True)):
        kind = "ranges" if ranges else "prefixes"
        plan, took = timed(
            lambda size=size, ranges=ranges: plan_strategy(
                RunningTotals(size, ranges=ranges), [dp.PureDP(1)]
            )
        )
        hdmm, tree = (
            f"{table[size][ranges]:.2f}" if size in table else "-" for table in (HDMM, peer)
        )
        plain = next(rmse for name, _, rmse in plan.tried if name == "histogram")
        _, reach = timed(lambda plan=plan: plan.reach(0.05))
        say(
            f"{size:5} {kind:9} {plan.rmse:7.3f} in {took:5.2f} s, intervals {reach:.2f} s; pure ε = 1, {100 * plan.gap:.0f} % above "
            f"the L2 bound; HDMM {hdmm}, OpenDP's tree {tree}, histogram {plain:.1f}"
        )
        plan, took = timed(
            lambda size=size, ranges=ranges: plan_strategy(
                RunningTotals(size, ranges=ranges), [SMOOTH]
            )
        )
        say(
            f"{'':15} {plan.rmse:7.3f} in {took:5.2f} s; Gaussian at (1, 1e-6), {100 * plan.gap:.3f} % above the certified "
            f"bound {plan.bound.rmse:.3f}"
        )


def timed(make: Callable[[], T]) -> tuple[T, float]:
    start = time.process_time()
    return make(), time.process_time() - start


def tables() -> None:
    say(
        "\nmarginals, least RMSE of a cell at price 1; ResidualPlanner's published figures beside; HDMM ≤ 3-way 11.29"
    )
    for name, sizes in (("Adult", ADULT), ("CPS", CPS), ("PUMS", PUMS)):
        for keys in (1, 2, 3):
            asked = Tables(sizes, combinations(range(len(sizes)), keys), "cells")
            found, took = timed(lambda asked=asked: math.sqrt(residual_error(asked)))
            say(
                f"{name} {keys}-way {found:7.3f} in {took:.3f} s; ResidualPlanner {RESIDUAL.get((name, keys), '-')}"
            )
    found, took = timed(lambda: math.sqrt(residual_error(marginals(ADULT, 3, "cells"))))
    say(f"Adult up to 3-way {found:7.3f} in {took:.3f} s")


def hierarchy() -> None:
    say(
        "\na made-up country: 50 states, 3,000 counties, 60,000 tracts, at (1, 1e-6); processor time, the best of 12"
    )
    rng = np.random.default_rng(18)
    tree = Hierarchy(
        [np.repeat(0, 50), np.repeat(np.arange(50), 60), np.repeat(np.arange(3000), 20)]
    )
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
    say(
        f"\n20 thresholds of one table at ε = 1: RMSE {plan.rmse:.2f} by {plan.strategy.name}; each by itself 28.3"
    )


def cube() -> None:
    rng = np.random.default_rng(3)
    rows = 2_000_000
    people = dp.Schema(
        "people", dp.Rows(), {"a": dp.Integer(0, 9), "b": dp.Integer(0, 9), "c": dp.Integer(0, 9)}
    )
    data = {name: rng.integers(0, 10, rows) for name in "abc"}
    import polars as pl

    ledger = dp.open_ledger(":memory:", dp.ZCDP(1000))
    curator = dp.Curator(dp.DuckDB({"people": pl.DataFrame(data)}), [people], ledger)
    clauses = ("GROUP BY a, b, c", "GROUP BY CUBE (a, b, c)")
    best = dict.fromkeys(clauses, (math.inf, math.inf))
    for turn in range(12):
        for clause in clauses:
            sql = f"SELECT a, b, c, COUNT(*) AS n FROM people {clause}"
            wall, own = time.perf_counter(), time.process_time()
            curator.sql(sql, spend=dp.ZCDP(1 + turn / 7))
            took = (time.process_time() - own, time.perf_counter() - wall)
            best[clause] = (min(best[clause][0], took[0]), min(best[clause][1], took[1]))
    plain, all_sets = best.values()
    say(
        f"\nCUBE over three keys of {rows:,} rows: {1000 * all_sets[0]:.0f} ms; its finest GROUP BY {1000 * plain[0]:.0f} ms: "
        f"{all_sets[0] / plain[0]:.2f} × of processor time, {all_sets[1] / plain[1]:.2f} × by the clock"
    )


def adult() -> tuple[list[str], list[int], np.ndarray]:
    facts = json.loads((HOME / "data" / "adult-domain.json").read_text())
    with gzip.open(HOME / "data" / "adult.csv.gz", "rt") as text:
        data = np.loadtxt(text, delimiter=",", skiprows=1, dtype=np.int64)
    names = ["".join(c if c.isalnum() else "_" for c in name) for name in facts]
    return names, list(facts.values()), data


def samples() -> Iterator[tuple[str, list[int], np.ndarray]]:
    """The sample tables that come with the package, as codes."""
    home = Path(dp.__file__).parent / "samples"
    census = np.genfromtxt(home / "pums.csv", delimiter=",", skip_header=1)[:, :6]
    census[:, 4] = np.minimum(census[:, 4] // 5000, 39)
    yield "PUMS, 1,000 people", [100, 2, 17, 7, 40, 2], census.astype(np.int64)
    visits = np.genfromtxt(
        home / "restaurant_week.csv", delimiter=",", skip_header=1, usecols=(2, 3, 4)
    ).astype(np.int64)
    yield "restaurant, 2,849 visits", [60, 60, 8], np.minimum(visits, [59, 59, 7])


def pairs() -> None:
    say(
        "\nall pairs at (1, 1e-9) by residuals, then `denoised`; means of five runs (AIM 12.1, .0368, 884 s; MST 21.5, .0516, 151 s)"
    )
    _, sizes, data = adult()
    for name, counts, rows in (("Adult, 48,842 people", sizes, data), *samples()):
        exact = {}
        for i, j in combinations(range(len(counts)), 2):
            flat = np.bincount(rows[:, i] * counts[j] + rows[:, j], minlength=counts[i] * counts[j])
            exact[i, j] = flat.reshape(counts[i], counts[j])
        budget, asked = routes(dp.ApproxDP(1, "1e-9"))[1], marginals(counts, 2)
        plan = planned(
            asked,
            ResidualStrategy(asked),
            budget,
            StrategyNorms(),
            bound_of(asked, budget, StrategyNorms()),
        )
        runs = [_pairs_once(plan, exact, len(rows)) for _ in range(5)]
        rmse, apart, raw, took = np.mean(runs, axis=0)
        each = ", ".join(f"{one[1]:.4f}" for one in runs)
        say(
            f"{name}: RMSE {rmse:.2f} a cell, TV {apart:.4f} ({each}), {took:.2f} s; before: TV {raw:.4f}"
        )


def _pairs_once(
    plan: StrategyPlan, exact: dict[tuple[int, int], np.ndarray], rows: int
) -> tuple[float, float, float, float]:
    """Release all pairs once: RMSE of a cell, mean total variation distance, that before, seconds."""
    start = time.process_time()
    estimate = plan.estimate(plan.release(exact))
    found = denoised(estimate)
    took = time.process_time() - start
    off = np.concatenate([(found[pair] - true).ravel() for pair, true in exact.items()])
    apart = np.mean([np.abs(found[pair] - true).sum() / 2 / rows for pair, true in exact.items()])
    raw = np.mean(
        [
            np.abs(estimate.table(pair).values - true).sum() / 2 / rows
            for pair, true in exact.items()
        ]
    )
    return _rms(off), float(apart), float(raw), took


def sql() -> None:
    """All pairs of Adult as a user asks for them: GROUPING SETS, the ledger, whole tables that add up."""
    import polars as pl

    names, sizes, data = adult()
    schema = dp.Schema(
        "adult",
        dp.Rows(),
        {name: dp.Integer(0, n - 1) for name, n in zip(names, sizes, strict=True)},
    )
    store = dp.DuckDB({"adult": pl.DataFrame({name: data[:, at] for at, name in enumerate(names)})})
    curator = dp.Curator(store, [schema], dp.open_ledger(":memory:", dp.ApproxDP(9, "1e-6")))
    sets = ", ".join(f"({a}, {b})" for a, b in combinations(names, 2))
    text = f"SELECT {', '.join(names)}, COUNT(*) AS n FROM adult GROUP BY GROUPING SETS ({sets})"
    answer, took = timed(lambda: curator.sql(text, spend=dp.ApproxDP(1, "1e-9"), whole=True))
    wanted = [answer.table(*pair) for pair in list(combinations(names, 2))[:5]]
    total = {sum(one.column("n")) for one in wanted}
    say(
        f"\nAdult, all 91 pairs through SQL at (1, 1e-9), whole: {len(answer):,} rows in {took:.1f} s; totals agree: {len(total) == 1}"
    )


def together() -> None:
    """A release of three tables: one workload, or each by itself at a third of the spend."""
    people = dp.Schema(
        "people", dp.Rows(), {"a": dp.Integer(0, 9), "b": dp.Integer(0, 9), "c": dp.Integer(0, 9)}
    )
    sets = ("a", "b", "a, b", "b, c")
    asked = {
        f"q{n}": dp.parse_sql(
            f"SELECT {one}, COUNT(*) AS n FROM people GROUP BY {one}", {"people": people}
        )
        for n, one in enumerate(sets)
    }
    found = plan_workload(asked, dp.ZCDP("1/10"))
    apart = [
        dp.plan_question(one, dp.ZCDP(Fraction(1, 40))).statistic_errors()["n"]
        for one in asked.values()
    ]
    errors = [one["n"] for one in found.statistic_errors().values()]
    pairs = ", ".join(
        f"({s}) {e:.1f} / {a:.1f}" for s, e, a in zip(sets, errors, apart, strict=True)
    )
    say(f"\nfour tables of one release at ρ = 0.1, 95 % errors together / apart: {pairs}")


def marks() -> None:
    """Print the cost of the internal key value, "none of the public keys", in CUBEs of counts."""
    say("\nCUBE of keys that a row may be without, beside keys that all rows have: RMSE of a cell")
    for sizes in ((2,), (4, 4), (10,), (50,)):
        for spend in (dp.PureDP(1), dp.ZCDP("1/8")):
            plain, marked = _cube_error(sizes, spend, default=0), _cube_error(sizes, spend)
            keys = " × ".join(map(str, sizes))
            say(
                f"{keys:6} {spend!s:10} {marked:6.3f} {plain:6.3f}, {100 * (marked / plain - 1):.2f} % more"
            )


def _cube_error(sizes: tuple[int, ...], spend: dp.Measure, **facts: object) -> float:
    columns = {f"k{place}": dp.Integer(0, size - 1, **facts) for place, size in enumerate(sizes)}
    asked = dp.Table(dp.Schema("t", dp.Rows(), columns)).marginals(list(columns))
    [release] = dp.plan_question(asked, spend).releases
    return release.plan.rmse


def main() -> None:
    parts = {
        one.__name__: one
        for one in (lines, tables, hierarchy, thresholds, cube, marks, together, pairs, sql)
    }
    only = (
        sys.argv[sys.argv.index("--only") + 1].split(",") if "--only" in sys.argv else list(parts)
    )
    for name in only:
        parts[name]()


if __name__ == "__main__":
    main()
