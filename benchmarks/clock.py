"""The clock: does the time of an accepted question tell one person's row? Neighbouring data, interleaved, KS test.

    python benchmarks/clock.py                 1 million people, 200 runs of each
    python benchmarks/clock.py --rows N --runs R --bound MS

Two stores differ in one person: a condition holds for nobody in the one, for that person in the other. A third is made of
the same data as the first: how rows lie in a file is chance, and so is what two files of equal data differ by. Each
question runs in turns on all; the two-sample Kolmogorov–Smirnov statistic of the CPU times of neighbours, and its p, are
to be read beside those of equals: a small p says that the laws of the two times differ.

What is promised is less (docs/reference/engine-contract.md): that they differ by no more than a bound, 10 ms, and that nothing shows
on the service's grid. The one-sided statistic of each side against the other and 10 ms more tests the first: a small p says
that more is lost than that. Times rounded up to ticks of 250 ms and their doubles test the second.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from pathlib import Path

import pyarrow as pa
from scipy.stats import ks_2samp

import discreet as dp
from discreet.query.algebra.expression import Call, Constant, Field, Function
from discreet.query.algebra.tally import RowShare, Tally, Term
from discreet.query.algebra.tree import JoinPeople, Scan, Where

PEOPLE = dp.Schema(
    "people",
    dp.People("id", max_rows=1),
    {"age": dp.Integer(0, 120), "dx": dp.Category(["a", "hiv"])},
)
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
    for name, age in (("nobody", 50), ("one", 119), ("nobody again", 50)):
        people = {
            "id": range(rows),
            "age": [age] + [i % 90 for i in range(rows - 1)],
            "dx": ["a"] * rows,
        }
        sources = {
            "people": pa.table(people),
            "visits": pa.table({"id": range(rows), "n": [1] * rows}),
        }
        stores.append(dp.prepare(sources, [PEOPLE, VISITS], Path(place) / name))
    return stores


def times(stores: list[dp.DuckDB], tally: Tally, runs: int) -> list[list[float]]:
    found: list[list[float]] = [[] for _ in stores]
    for turn in range(runs + 2):
        for place in range(len(stores)):
            side = (turn + place) % len(stores)  # each is first as often as the others
            start = time.process_time()
            stores[side].tally(tally)
            if turn >= 2:
                found[side].append(time.process_time() - start)
    return found


def beyond(first: list[float], second: list[float], bound: float) -> float:
    """Give the p of the hypothesis that neither law is later than the other by more than a bound."""
    pairs = ((first, second), (second, first))
    tests = [
        ks_2samp(late, [x + bound for x in early], alternative="less") for late, early in pairs
    ]
    return min(1.0, 2 * min(test.pvalue for test in tests))


def ticked(times: list[float], tick: float = 0.25) -> list[float]:
    """Round times up to the ticks at which a service shows what came of a question."""
    return [tick * 2 ** max(0, math.ceil(math.log2(x / tick))) for x in times]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--bound", type=float, default=10.0, help="milliseconds")
    asked = parser.parse_args()
    heads = [
        "question",
        "nobody, ms",
        "one person, ms",
        "nobody again, ms",
        "KS neighbours, p",
        "KS equals, p",
    ]
    heads += [f"by more than {asked.bound:g} ms, p", "by ticks, p"]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    with tempfile.TemporaryDirectory() as place:
        stores = neighbours(asked.rows, place)
        for name, tally in QUESTIONS.items():
            sides = [sorted(side) for side in times(stores, tally, asked.runs)]
            middle = " | ".join(f"{1000 * side[len(side) // 2]:.1f}" for side in sides)
            tests = [ks_2samp(sides[0], side) for side in sides[1:]]
            told = " | ".join(f"{test.statistic:.3f}, {test.pvalue:.2g}" for test in tests)
            more = beyond(sides[0], sides[1], asked.bound / 1000)
            ticks = ks_2samp(*(ticked(side) for side in sides[:2])).pvalue
            print(f"| {name} | {middle} | {told} | {more:.2g} | {ticks:.2g} |")


if __name__ == "__main__":
    main()
