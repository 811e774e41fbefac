"""Peers' models on splits from a file: diffprivlib's, or interpret's DP-EBM, whichever is installed here.

The two cannot live in one environment: each wants another scikit-learn.
"""

from __future__ import annotations

import json
import math
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
    """Return accuracy, AUC of two classes, log loss and calibration error of chances."""
    classes = chances.shape[1]
    likeliest = chances.argmax(axis=1)
    accuracy = float(np.mean(likeliest == wanted))
    area = float(roc_auc_score(wanted, chances[:, 1])) if classes == 2 else math.nan
    # A chance of 0 that comes true would cost infinitely much: all are bounded alike.
    bounded = np.clip(chances, 1e-6, 1 - 1e-6)
    bounded = bounded / bounded.sum(axis=1, keepdims=True)
    loss = float(log_loss(wanted, bounded, labels=list(range(classes))))
    sure = chances.max(axis=1)
    error = 0.0
    for part in np.array_split(np.argsort(sure), 10):
        apart = abs(float(np.mean(sure[part])) - float(np.mean(likeliest[part] == wanted[part])))
        error += apart * len(part) / len(sure)
    return accuracy, area, loss, error


def kinds(epsilon, ends, target):
    """Return a peer's models by name, with the same public bounds."""
    if models is None:
        from interpret.privacy import DPExplainableBoostingClassifier

        bounds = dict(enumerate(ends))
        boosting = DPExplainableBoostingClassifier(
            epsilon=epsilon, delta=1e-6, privacy_bounds=bounds
        )
        return {"interpret DP-EBM": boosting}
    low, high = np.zeros(len(ends)), np.ones(len(ends))
    norm = float(np.sqrt(len(ends)))
    return {
        "diffprivlib LogisticRegression": models.LogisticRegression(
            epsilon=epsilon, data_norm=norm, max_iter=1000
        ),
        "diffprivlib GaussianNB": models.GaussianNB(epsilon=epsilon, bounds=(low, high)),
        "diffprivlib RandomForest": models.RandomForestClassifier(
            epsilon=epsilon,
            n_estimators=10,
            max_depth=5,
            bounds=(low, high),
            classes=sorted(set(target)),
        ),
    }


def scaled(rows, ends):
    """Return rows with every column in 0..1, as diffprivlib advises; DP-EBM takes them as they are."""
    low, high = np.array(ends, dtype=float).T
    clipped = np.clip(np.array(rows), low, high)
    return clipped if models is None else (clipped - low) / (high - low)


def tried(model, classes, part, ends):
    """Return the measures of a model on one split; a model that fails knows nothing."""
    known, y, asked, wanted = part
    wanted = np.array(wanted)
    try:
        model.fit(scaled(known, ends), np.array(y))
        chances = np.nan_to_num(model.predict_proba(scaled(asked, ends)), nan=1 / classes)
    except Exception as problem:  # noqa: BLE001 a peer that fails is named, not hidden
        print(type(model).__name__, problem, file=sys.stderr)
        chances = np.full((len(wanted), classes), 1 / classes)
    return measures(chances, wanted)


def main():
    with open(sys.argv[1]) as file:
        said = json.load(file)
    classes = len(set(said["parts"][0][1]))
    # DP-EBM takes two classes only.
    if models is None and classes > 2:
        print("{}")
        return
    table = {}
    for epsilon in said["budgets"]:
        found = {}
        for part in said["parts"]:
            for name, model in kinds(float(epsilon), said["ends"], part[1]).items():
                found.setdefault(name, []).append(tried(model, classes, part, said["ends"]))
        for name, values in found.items():
            table.setdefault(name, []).append(values)
    print(json.dumps(table))


if __name__ == "__main__":
    main()
