"""Peers' models on splits from standard input: diffprivlib's, or interpret's DP-EBM, whichever is installed here.

The two cannot live in one environment: each wants another scikit-learn.
"""

from __future__ import annotations

import json
import math
import sys
import warnings

import numpy as np
from sklearn.metrics import roc_auc_score

try:
    from diffprivlib import models
except ImportError:
    models = None
    from interpret.privacy import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor

warnings.simplefilter("ignore")


def kinds(classes, epsilon, ends, target):
    if models is None:
        return boosting(classes, epsilon, ends)
    low, high = np.zeros(len(ends)), np.ones(len(ends))
    norm = float(np.sqrt(len(ends)))
    if not classes:
        return {
            "LinearRegression": models.LinearRegression(
                epsilon=epsilon, bounds_X=(low, high), bounds_y=(0, 400)
            )
        }
    labels = sorted(set(target))
    return {
        "LogisticRegression": models.LogisticRegression(
            epsilon=epsilon, data_norm=norm, max_iter=1000
        ),
        "GaussianNB": models.GaussianNB(epsilon=epsilon, bounds=(low, high)),
        "RandomForest": models.RandomForestClassifier(
            epsilon=epsilon, n_estimators=10, max_depth=5, bounds=(low, high), classes=labels
        ),
    }


def scaled(rows, ends):
    """Return rows with every column between 0 and 1, by the public bounds, as diffprivlib advises; DP-EBM takes them as they are."""
    low, high = np.array(ends, dtype=float).T
    return np.array(rows) if models is None else (np.array(rows) - low) / (high - low)


def boosting(classes, epsilon, ends):
    """Return DP-EBM with the same bounds; two classes or a number only."""
    words = {"epsilon": epsilon, "delta": 1e-6, "privacy_bounds": dict(enumerate(ends))}
    if classes:
        return {"interpret DP-EBM": DPExplainableBoostingClassifier(**words)}
    return {
        "interpret DP-EBM": DPExplainableBoostingRegressor(
            **words, privacy_target_min=0, privacy_target_max=400
        )
    }


def main():
    said = json.loads(sys.stdin.read())
    table = {}
    for epsilon in said["budgets"]:
        found = {}
        for known, y, asked, v in said["parts"]:
            x, u = scaled(known, said["ends"]), scaled(asked, said["ends"])
            for name, model in kinds(said["classes"], float(epsilon), said["ends"], y).items():
                try:
                    model.fit(x, np.array(y))
                    area = (
                        roc_auc_score(v, model.predict_proba(u)[:, 1])
                        if said["classes"] and len(set(v)) == 2
                        else math.nan
                    )
                    found.setdefault(name, []).append((model.score(u, np.array(v)), area))
                except Exception as problem:  # noqa: BLE001 a peer that fails is named, not hidden
                    found.setdefault(name, []).append((math.nan, math.nan))
                    print(name, problem, file=sys.stderr)
        for name, values in found.items():
            accuracy, area = np.mean(values, axis=0)
            table.setdefault(name if models is None else f"diffprivlib {name}", []).append(
                f"{accuracy:.4f}" + ("" if math.isnan(area) else f" / {area:.4f}")
            )
    print(json.dumps(table))


if __name__ == "__main__":
    main()
