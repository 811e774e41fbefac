"""Models beside their peers: accuracy (or R²) and AUC on rows held back, at three budgets, and the time of a fit.

    python benchmarks/learn.py [--splits 5] [--peers PYTHON]…   (environments with diffprivlib, with interpret-core)

Ours is the model that `learn.recommend` names beforehand from the number of rows, columns and classes and the spend;
bounds are public, bins follow from them by one rule for all data sets. δ = 1e-6, add/remove neighbours. diffprivlib
promises pure ε (δ = 0), which is stronger; peers are given the same bounds. Sets of fewer than 2,000 rows are split eight
times as often: a split that is tried on a hundred rows says little.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import discreet as dp
from discreet import learn
from learn_data import Data, adult, bundled

BUDGETS = ("0.1", "1", "10")
ASKED = {
    ("adult", "0.1"): ".840 / .888",
    ("adult", "1"): ".857 / .911",
    ("digits", "1"): ".850",
    ("diabetes", "1"): ".26",
}


def matrix(data: Data, part: dict[str, np.ndarray]) -> np.ndarray:
    return np.column_stack([values for name, values in part.items() if name != data.target])


def scores(model, data: Data, table, wanted) -> tuple[float, float]:
    """Return accuracy and AUC of two classes, accuracy alone of several, R² of a number."""
    found = model.score(table, wanted)
    if not data.classes or len(set(wanted.tolist())) > 2:
        return found, math.nan
    return found, float(roc_auc_score(wanted, model.predict_proba(table)[:, 1]))


def ours(data: Data, epsilon: str, seed: int) -> tuple[float, float, float, str]:
    train, test = data.split(seed)
    spend = dp.ApproxDP(epsilon, "1e-6")
    kind = data.schema.columns[data.target]
    classes = len(kind.values) if data.classes else None
    named = learn.recommend(len(train[data.target]), len(train) - 1, classes, spend)
    model = named.make(data.schema, data.target, spend)
    begin = time.process_time()
    model.fit(train, ledger=None)
    spent = time.process_time() - begin
    return *scores(model, data, test, test[data.target]), spent, type(model).__name__


def plain(data: Data, seed: int) -> tuple[float, float]:
    train, test = data.split(seed)
    inner = LogisticRegression(max_iter=2000) if data.classes else LinearRegression()
    model = make_pipeline(StandardScaler(), inner).fit(matrix(data, train), train[data.target])
    return scores(model, data, matrix(data, test), test[data.target])


def peers(data: Data, python: str, splits: int) -> dict[str, list[str]]:
    """Ask an environment with diffprivlib for the same splits, each with the same bounds."""
    ends = [
        (float(c.low), float(c.high)) if hasattr(c, "low") else (0.0, float(len(c.values) - 1))
        for n, c in data.schema.columns.items()
        if n != data.target
    ]
    parts = []
    for seed in range(splits):
        train, test = data.split(seed)
        parts.append(
            [
                matrix(data, train).tolist(),
                train[data.target].tolist(),
                matrix(data, test).tolist(),
                test[data.target].tolist(),
            ]
        )
    said = json.dumps({"classes": data.classes, "ends": ends, "budgets": BUDGETS, "parts": parts})
    done = subprocess.run(
        [python, str(Path(__file__).with_name("learn_peers.py"))],
        input=said,
        capture_output=True,
        text=True,
        check=False,
        env={
            name: value for name, value in os.environ.items() if name != "PYTHONPATH"
        },  # a peer has its own packages
    )
    if done.returncode:
        return {
            Path(python).parts[-3]: [f"did not run: {done.stderr.strip().splitlines()[-1][:60]}"]
            * 3
        }
    return json.loads(done.stdout)


def mean(values: list[float]) -> str:
    return (
        ""
        if math.isnan(values[0])
        else f"{np.mean(values):.4f} ± {np.std(values, ddof=1) / math.sqrt(len(values)):.4f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--peers", action="append", default=[])
    parser.add_argument("--only")
    said = parser.parse_args()
    warnings.simplefilter("ignore")
    for data in [adult(), *map(bundled, ("breast_cancer", "digits", "wine", "diabetes"))]:
        if said.only and data.name != said.only:
            continue
        count = len(data.columns[data.target])
        splits = said.splits * (1 if count >= 2_000 else 8)
        print(
            f"\n{data.name}: {count} rows, {len(data.columns) - 1} columns; {'accuracy, AUC' if data.classes else 'R²'}; mean of {splits} splits ± its error"
        )
        for epsilon in BUDGETS:
            found = [ours(data, epsilon, seed) for seed in range(splits)]
            accuracy, area, spent, names = zip(*found, strict=True)
            asked = ASKED.get((data.name, epsilon), "")
            print(
                f"  ε = {epsilon:<4} {names[0]:<20} {mean(list(accuracy)):<18} {mean(list(area)):<18} {np.mean(spent):5.2f} s   {'asked ' + asked if asked else ''}"
            )
        bare = [plain(data, seed) for seed in range(splits)]
        print(
            f"  no privacy scikit-learn        {mean([b[0] for b in bare]):<18} {mean([b[1] for b in bare]):<18}"
        )
        others = [line for python in said.peers for line in peers(data, python, splits).items()]
        for name, row in others:
            for epsilon, cell in zip(BUDGETS, row, strict=True):
                print(f"  ε = {epsilon:<4} {name:<20} {cell}")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
