"""Peers' models on splits of one table: diffprivlib's, or interpret's DP-EBM, whichever is installed here.

    PYTHON benchmarks/learn_peers.py TABLE.npz FIRST

TABLE.npz has `rows` as numbers, `wanted` (the classes), `ends` (public bounds of each column), `sizes` (how many values
a column lists, 0 for a number), `orders` (a permutation of the rows for each split) and `budgets`; splits before FIRST are left out. Peers are told which
columns are listed. The two cannot live in one environment: each wants another scikit-learn.
"""

from __future__ import annotations

import json
import sys
import warnings

import numpy as np
from sklearn.metrics import log_loss, roc_auc_score

try:
    from diffprivlib import models
except ImportError:
    models = None

warnings.simplefilter("ignore")


def measures(chances, wanted):
    """Return accuracy, AUC (of several classes each against the rest), log loss and calibration error."""
    classes = chances.shape[1]
    likeliest = chances.argmax(axis=1)
    accuracy = float(np.mean(likeliest == wanted))
    # A chance of 0 that comes true would cost infinitely much: all are bounded alike.
    bounded = np.clip(chances, 1e-6, 1 - 1e-6)
    bounded = bounded / bounded.sum(axis=1, keepdims=True)
    if classes == 2:
        area = float(roc_auc_score(wanted, chances[:, 1]))
    else:
        area = float(roc_auc_score(wanted, bounded, multi_class="ovr"))
    loss = float(log_loss(wanted, bounded, labels=list(range(classes))))
    sure = chances.max(axis=1)
    error = 0.0
    for part in np.array_split(np.argsort(sure), 10):
        apart = abs(float(np.mean(sure[part])) - float(np.mean(likeliest[part] == wanted[part])))
        error += apart * len(part) / len(sure)
    return accuracy, area, loss, error


def kinds(epsilon, ends, sizes, classes):
    """Return a peer's models by name, each with the rows it wants, within the same public bounds."""
    if models is None:
        from interpret.privacy import DPExplainableBoostingClassifier

        bounds = {place: tuple(pair) for place, pair in enumerate(ends) if not sizes[place]}
        boosting = DPExplainableBoostingClassifier(
            epsilon=epsilon,
            delta=1e-6,
            feature_types=["nominal" if size else "continuous" for size in sizes],
            privacy_bounds=bounds,
        )
        return {"interpret DP-EBM": (boosting, clipped)}
    low, high = np.zeros(len(ends)), np.ones(len(ends))
    norm = float(np.sqrt(len(ends)))
    regression = {"epsilon": epsilon, "data_norm": norm, "max_iter": 1000}
    found = {
        "diffprivlib LogisticRegression": (models.LogisticRegression(**regression), scaled),
        "diffprivlib GaussianNB": (
            models.GaussianNB(epsilon=epsilon, bounds=(low, high)),
            scaled,
        ),
        "diffprivlib RandomForest": (
            models.RandomForestClassifier(
                epsilon=epsilon,
                n_estimators=10,
                max_depth=5,
                bounds=(low, high),
                classes=list(range(classes)),
            ),
            scaled,
        ),
    }
    if any(sizes):
        one_hot = models.LogisticRegression(**regression)
        found["diffprivlib LR, one-hot"] = (one_hot, listed)
    return found


def clipped(rows, ends, _sizes):
    """Return rows within their bounds, which DP-EBM takes as they are; a missing number is the middle."""
    low, high = ends.T
    return np.clip(np.where(np.isnan(rows), (low + high) / 2, rows), low, high)


def scaled(rows, ends, sizes):
    """Return rows with every column in 0..1, as diffprivlib advises."""
    low, high = ends.T
    return (clipped(rows, ends, sizes) - low) / (high - low)


def listed(rows, ends, sizes):
    """Return scaled numbers and one column for each listed value: no row is longer for it."""
    columns = []
    for column, size in zip(scaled(rows, ends, sizes).T, sizes, strict=True):
        if size:
            columns += [np.rint(column * size) == place for place in range(size)]
        else:
            columns.append(column)
    return np.column_stack(columns).astype(float)


def tried(model, shape, classes, split, table):
    """Return the measures of a model on one split; a model that fails knows nothing."""
    rows, wanted, (known, asked) = table["rows"], table["wanted"], split
    try:
        model.fit(shape(rows[known], table["ends"], table["sizes"]), wanted[known])
        found = model.predict_proba(shape(rows[asked], table["ends"], table["sizes"]))
        chances = np.nan_to_num(found, nan=1 / classes)
    except Exception as problem:  # noqa: BLE001 a peer that fails is named, not hidden
        print(type(model).__name__, problem, file=sys.stderr)
        chances = np.full((len(asked), classes), 1 / classes)
    return measures(chances, wanted[asked])


def main():
    """Print a line of JSON for each fit, from the given split on."""
    table = dict(np.load(sys.argv[1]))
    first = int(sys.argv[2])
    classes = int(table["wanted"].max()) + 1
    cut = len(table["rows"]) * 4 // 5
    # DP-EBM takes two classes only.
    budgets = [] if models is None and classes > 2 else table["budgets"]
    for number, order in list(enumerate(table["orders"]))[first:]:
        split = order[:cut], order[cut:]
        for epsilon in budgets:
            for name, (model, shape) in kinds(
                float(epsilon), table["ends"], table["sizes"], classes
            ).items():
                found = tried(model, shape, classes, split, table)
                line = {"name": name, "epsilon": str(epsilon), "split": number, "measures": found}
                print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
