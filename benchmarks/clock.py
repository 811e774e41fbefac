"""The clock: does the time of an accepted question tell one person's row? Neighbouring data, interleaved, KS test.

    python benchmarks/clock.py                 1 million people, 200 runs of each
    python benchmarks/clock.py --rows N --runs R

Two stores differ in one person: a condition holds for nobody in the one, for that person in the other. Each question runs
in turns on both; the two-sample Kolmogorov–Smirnov statistic of the CPU times is compared with its level at 1 %.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import pyarrow as pa
from scipy.stats import ks_2samp

import discreet as dp
from discreet.query.algebra.expression import Call, Constant, Field, Function
from discreet.query.algebra.tally import RowShare, Tally, Term
from discreet.query.algebra.tree import JoinPeople, Scan, Where

PEOPLE = dp.Schema("people", dp.People("id", max_rows=1), {"age": dp.Integer(0, 120), "dx": dp.Category(["a", "hiv"])})
VISITS = dp.Schema("visits", dp.People("id", max_rows=3), {"n": dp.Integer(0, 9)})
FINE = Term(Constant(True), 2**20, 0, 2**20)
OLD = Where(Scan(PEOPLE), Call(Function.LESS, (Constant(100), Field("age"))))
QUESTIONS = {
    "WHERE that holds for one or nobody": Tally(OLD, (), (FINE,), RowShare(1)),
    "… joined to all visits": Tally(JoinPeople(OLD, Scan(VISITS), ()), (), (FINE,), RowShare(3)),
    "all visits joined to it": Tally(JoinPeople(Scan(VISITS), OLD, ()), (), (FINE,), RowShare(3)),
}


def neighbours(rows: int, place: str) -> list[dp.DuckDB]:
    stores = []
    for name, age in (("nobody", 50), ("one", 119)):
        people = {"id": range(rows), "age": [age] + [i % 90 for i in range(rows - 1)], "dx": ["a"] * rows}
        sources = {"people": pa.table(people), "visits": pa.table({"id": range(rows), "n": [1] * rows})}
        stores.append(dp.prepare(sources, [PEOPLE, VISITS], Path(place) / name))
    return stores


def times(stores: list[dp.DuckDB], tally: Tally, runs: int) -> list[list[float]]:
    found: list[list[float]] = [[], []]
    for turn in range(2 * runs + 4):
        side = (turn + turn // 2) % 2  # 0 1 1 0: neither is always first
        start = time.process_time()
        stores[side].tally(tally)
        if turn >= 4:
            found[side].append(time.process_time() - start)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=200)
    asked = parser.parse_args()
    print("| question | nobody, ms | one person, ms | KS | p |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place:
        stores = neighbours(asked.rows, place)
        for name, tally in QUESTIONS.items():
            mine, yours = (sorted(side) for side in times(stores, tally, asked.runs))
            test = ks_2samp(mine, yours)
            middle = [1000 * side[len(side) // 2] for side in (mine, yours)]
            print(f"| {name} | {middle[0]:.1f} | {middle[1]:.1f} | {test.statistic:.3f} | {test.pvalue:.2f} |")


if __name__ == "__main__":
    main()
