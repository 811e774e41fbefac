"""Synthetic tables: how far released tables and records are from the data, and what it takes.

    python benchmarks/synthetic.py [--runs 3] [--only adult] [--peers DIR]

Total variation (TV) of all pairs of columns, mean over pairs and runs; RMSE of a cell. Neighbours: add or remove one
row. Times are of the CPU: the store's counting apart from planning, noise and denoising. Adult has no NULL, as its peers
suppose, so its schema fills NULL in. A classifier is trained on whole records of four fifths of the people and tried on
the others (needs scikit-learn). Peers: MST of private-pgm's repository, if a checkout is given; earlier figures of MST
and AIM are printed beside.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import math
import sys
import time
import warnings
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa

import discreet as dp
from discreet.plan.budget_allocation import routes
from discreet.query.algebra.tree import Scan
from discreet.synthetic.measure import contrasts_of, exact_tables
from discreet.synthetic.plan import plan_synthetic
from discreet.synthetic.records import draw_pool, pick, table_of
from discreet.synthetic.request import read_request
from discreet.synthetic.synthesizer import measured_of
from discreet.workloads.estimate import sum_to
from discreet.workloads.project import denoised, distance
from learn_data import Data, adult

ASKED = {
    ("adult", "0.1"): "TV ≤ .112",
    ("adult", "1"): "TV ≤ .038, RMSE ≤ 10, < 1 s; weighted ≤ .040, whole ≤ .042, < 20 s",
    ("adult", "10"): "TV ≤ .0126",
}
EARLIER = (
    "earlier, all 91 pairs at (1, 1e-9): AIM .0368 / RMSE 12.1 / 884 s; MST .0516 / 21.5 / 151 s"
)
SAMPLES = Path(dp.__file__).parent / "samples"


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def coded_adult() -> tuple[dp.Schema, pa.Table]:
    data = adult()
    facts = {name: _listed(column) for name, column in data.schema.columns.items()}
    return dp.Schema("adult", dp.Rows(), facts, size=50_000), pa.table(dict(data.columns))


def _listed(column: object) -> dp.Category:
    values = column.values if isinstance(column, dp.Category) else range(int(column.high) + 1)  # type: ignore[attr-defined]
    return dp.Category(list(values), default=0)


def pums() -> tuple[dp.Schema, pa.Table]:
    """One thousand people of a US census sample, by the bounds of its code book; NULL is a cell of its own."""
    with (SAMPLES / "pums.csv").open() as file:
        rows = list(csv.DictReader(file))
    facts = {
        "age": dp.Integer(0, 99),
        "sex": dp.Category([0, 1]),
        "educ": dp.Integer(1, 16),
        "race": dp.Category([1, 2, 3, 4, 5, 6]),
        "income": dp.Real(0, 500_000, step=1),
        "married": dp.Category([0, 1]),
    }
    table = pa.table({name: [float(row[name]) for row in rows] for name in facts})
    return dp.Schema("pums", dp.Rows(), facts, size=1_000), table


def digits() -> tuple[dp.Schema, pa.Table]:
    """Fourteen pixels of handwritten digits and which digit it is."""
    from sklearn.datasets import load_digits

    found = load_digits()
    pixels = [10, 12, 18, 20, 26, 28, 30, 33, 34, 36, 42, 44, 50, 53]
    facts = {f"x{place}": dp.Integer(0, 16, default=0) for place in pixels}
    facts["digit"] = dp.Category(list(range(10)), default=0)
    columns = {**{f"x{place}": found.data[:, place] for place in pixels}, "digit": found.target}
    return dp.Schema("digits", dp.Rows(), facts, size=1_800), pa.table(columns)


def run(schema: dp.Schema, table: pa.Table, epsilon: str, delta: str) -> list[float]:
    """Return TV and RMSE of tables, TV of weighted and whole records, and the seconds of each step."""
    store = dp.DuckDB({schema.name: table})
    store.check(schema)
    start = time.process_time()
    plan = plan_synthetic(read_request(Scan(schema)), dp.ApproxDP(epsilon, delta))
    planned = time.process_time()
    exact = exact_tables(plan.request, plan.sets, store)
    counted = time.process_time()
    blocks = contrasts_of(plan.sets, exact)
    noisy = tuple(one.release(rows) for one, rows in zip(plan.measured, blocks, strict=True))
    estimate = measured_of(plan, noisy).estimate()
    found = denoised(estimate)
    tabled = time.process_time()
    total = float(found[0,].sum())
    pool = draw_pool(found, plan.request.sizes, total)
    whole = pick(pool, round(total))
    recorded = time.process_time()
    sizes = plan.request.sizes
    pairs = list(combinations(range(len(sizes)), 2))
    truth = exact_tables(plan.request, pairs, store)
    true = {pair: sum_to(truth, pair).astype(float) for pair in pairs}
    off = np.concatenate([(found[pair] - true[pair]).ravel() for pair in pairs])
    rows = float(true[pairs[0]].sum())
    store.close()
    return [
        float(np.mean([np.abs(found[pair] - true[pair]).sum() / 2 / rows for pair in pairs])),
        math.sqrt(float((off**2).mean())),
        float(
            np.mean(
                [
                    distance(table_of(pool.cells, pair, sizes, pool.weights), true[pair])
                    for pair in pairs
                ]
            )
        ),
        float(np.mean([distance(table_of(whole, pair, sizes), true[pair]) for pair in pairs])),
        planned - start + tabled - counted,
        counted - planned,
        recorded - tabled,
        sum(1 for one in plan.sets if len(one) == 2),
        float(
            np.mean([distance(np.outer(t.sum(axis=1), t.sum(axis=0)), t) for t in true.values()])
        ),
    ]


def tables(name: str, schema: dp.Schema, table: pa.Table, delta: str, runs: int) -> None:
    say(
        f"\n{name}: {table.num_rows:,} rows, {table.num_columns} columns, δ = {delta}; mean of {runs} runs"
    )
    say(
        "ε      pairs  tables: TV (±)       RMSE    weighted  whole     plan, noise, denoise / store / records"
    )
    for epsilon in ("0.1", "1", "10"):
        found = np.array([run(schema, table, epsilon, delta) for _ in range(runs)])
        mean, error = (
            found.mean(axis=0),
            found.std(axis=0, ddof=1) / math.sqrt(runs) if runs > 1 else found[0] * 0,
        )
        asked = ASKED.get((name, epsilon), "")
        say(
            f"{epsilon:<6} {mean[7]:<6.0f} {mean[0]:.4f} (± {error[0]:.4f})   {mean[1]:<7.2f} {mean[2]:.4f}    {mean[3]:.4f}    "
            f"{mean[4]:.2f} s / {mean[5]:.2f} s / {mean[6]:.1f} s   {'asked ' + asked if asked else ''}"
        )
    say(f"columns taken as independent, without noise: TV {mean[8]:.4f}")


def classifier(epsilon: str, delta: str, runs: int) -> None:
    """Train on whole records of four fifths of Adult, score on the rest: a logistic regression on all values.

    Values of columns with more than 60 are taken by fives, as one would cut an age: noise is larger than single years.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score
    from sklearn.preprocessing import OneHotEncoder

    data: Data = adult()
    schema, _ = coded_adult()
    names = [name for name in data.columns if name != data.target]
    sizes = {name: len(schema.columns[name].values) for name in names}  # type: ignore[attr-defined]
    widths = {name: 5 if size > 60 else 1 for name, size in sizes.items()}
    known = OneHotEncoder(
        categories=[list(range((sizes[name] - 1) // widths[name] + 1)) for name in names]
    )
    scores = []
    for seed in range(runs):
        train, test = data.split(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            maker = dp.synthetic.Synthesizer(schema, dp.ApproxDP(epsilon, delta)).fit(
                pa.table(train), ledger=None
            )
        records = maker.synthetic_.records()  # type: ignore[union-attr]
        known.fit(np.column_stack([test[name] // widths[name] for name in names]))
        model = LogisticRegression(max_iter=300, C=0.1)
        model.fit(
            known.transform(
                np.column_stack([np.asarray(records[name]) // widths[name] for name in names])
            ),
            records[data.target],
        )
        held = known.transform(np.column_stack([test[name] // widths[name] for name in names]))
        area = roc_auc_score(test[data.target], model.predict_proba(held)[:, 1])
        scores.append((model.score(held, test[data.target]), float(area)))
    found = np.array(scores)
    error = found.std(axis=0, ddof=1) / math.sqrt(runs) if runs > 1 else found[0] * 0
    say(
        f"\na classifier trained on whole records at ({epsilon}, {delta}): accuracy {found[:, 0].mean():.4f} ± {error[0]:.4f}, "
        f"AUC {found[:, 1].mean():.4f} ± {error[1]:.4f}   asked .850 / .898"
    )


def peers(schema: dp.Schema, table: pa.Table, folder: str) -> None:
    """Run MST at (1, 1e-9) from a checkout of private-pgm's repository; AIM takes a quarter of an hour and is not run."""
    say(EARLIER)
    if importlib.util.find_spec("mbi") is None:
        say("MST: not run, `mbi` is not installed here")
        return
    from mbi import Dataset, Domain

    sys.path.insert(0, str(Path(folder) / "mechanisms"))
    from mst import MST

    names, sizes = list(schema.columns), [len(column.values) for column in schema.columns.values()]  # type: ignore[union-attr]
    true = np.column_stack([table[name].to_numpy() for name in names])
    start = time.process_time()
    made = MST(
        Dataset(dict(zip(names, true.T, strict=True)), Domain(names, sizes)), 1.0, 1e-9
    ).to_dict()
    took = time.process_time() - start
    found = np.column_stack([np.asarray(made[name], dtype=np.int64) for name in names])
    pairs = list(combinations(range(len(sizes)), 2))
    far = np.mean(
        [distance(table_of(found, pair, sizes), table_of(true, pair, sizes)) for pair in pairs]
    )
    say(f"MST here: TV {far:.4f}, {took:.0f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only")
    parser.add_argument(
        "--peers", metavar="DIR", help="a checkout of ryan112358/mbi; `mbi` must be installed"
    )
    said = parser.parse_args()
    routes(dp.ApproxDP(1, "1e-9"))  # what is imported once is not timed
    for name, make, delta in (
        ("adult", coded_adult, "1e-9"),
        ("pums", pums, "1e-6"),
        ("digits", digits, "1e-6"),
    ):
        if said.only in (None, name):
            schema, table = make()
            tables(name, schema, table, delta, said.runs)
            if name == "adult":
                classifier("1", delta, said.runs)
                if said.peers:
                    peers(schema, table, said.peers)


if __name__ == "__main__":
    main()
