"""Learned views: how much more likely is this output on one input than on the other? Learned on runs never judged.

By Neyman and Pearson the best event is a threshold on the likelihood ratio; these are estimates of it.

    ratio       of one view: by value where values repeat (repeated values, grids, words), else by 64 quantile bins
    naive       of all columns as if independent: the sum of their log ratios
    logistic    linear and quadratic in all numbers, by a few Newton steps
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...arithmetic.special import expit
from ..evidence.bounds import Floats
from .outputs import Outputs, Values
from .views import OutputView

_BINS, _ROWS = 64, 40_000


def ratio(view: OutputView, left: Outputs, right: Outputs) -> OutputView:
    """Learn the log-likelihood ratio of one view; values never seen in learning count as 0."""
    score, known = _log_ratio(view.of(left), view.of(right), nominal=view.nominal)

    def describe(threshold: float) -> str:
        listed = [view.word(v) if view.word else f"{v:g}" for v, s in known if s >= threshold]
        return ", ".join(listed[:6]) + (f" … ({len(listed)} in all)" if len(listed) > 6 else "")

    return OutputView(
        f"likelihood ratio of {view.name}",
        lambda o: score(view.of(o)),
        word=describe if known else None,
    )


def _log_ratio(
    xs: Values, ys: Values, *, nominal: bool
) -> tuple[Callable[[Values], Floats], list[tuple[float, float]]]:
    pooled = np.concatenate([xs, ys])
    if pooled.dtype.kind == "f":
        pooled = pooled[~np.isnan(pooled)]
    values, counts = np.unique(pooled, return_counts=True)
    if nominal or not pooled.size or counts[counts > 1].sum() > pooled.size / 2:
        return _by_value(values, xs, ys)
    inner = np.quantile(pooled, np.linspace(0, 1, _BINS + 1)[1:-1])
    weights = _weights(
        np.searchsorted(inner, xs, "right"), np.searchsorted(inner, ys, "right"), _BINS
    )
    return lambda o: np.where(np.isnan(o), 0.0, weights[np.searchsorted(inner, o, "right")]), []


def _by_value(
    values: Values, xs: Values, ys: Values
) -> tuple[Callable[[Values], Floats], list[tuple[float, float]]]:
    weights = _weights(_place(values, xs), _place(values, ys), len(values) + 1)
    order = np.argsort(-weights[:-1])[:10_000]
    known = [(values[i].item(), float(weights[i])) for i in order]
    return lambda o: weights[_place(values, o)], known


def _place(values: Values, wanted: Values) -> Values:
    """Find each number among the known values; the place after the last means unknown."""
    if not len(values):
        return np.zeros(len(wanted), dtype=np.int64)
    at = np.minimum(np.searchsorted(values, wanted), len(values) - 1)
    return np.where(values[at] == wanted, at, len(values))


def _weights(left: Values, right: Values, cells: int) -> Floats:
    """Return smoothed log ratios per cell; the last cell (unknown) and rare cells lean to 0."""
    x = np.bincount(left, minlength=cells).astype(np.float64)
    y = np.bincount(right, minlength=cells).astype(np.float64)
    return np.where(
        x + y > 1, np.log((x + 0.5) / (len(left) + 1)) - np.log((y + 0.5) / (len(right) + 1)), 0.0
    )


def naive(left: Outputs, right: Outputs, most: int = 256) -> OutputView:
    """Learn the sum of the log ratios of all columns."""
    names = list(left.columns)[:most]
    pairs = [(left.columns[name], right.columns[name]) for name in names]
    scores = [_log_ratio(x.values, y.values, nominal=x.words is not None)[0] for x, y in pairs]

    def total(outputs: Outputs) -> Floats:
        parts = [score(outputs.columns[n].values) for n, score in zip(names, scores, strict=True)]
        return np.asarray(np.sum(parts, axis=0), dtype=np.float64)

    return OutputView("likelihood ratio of all columns, as if independent", total)


def logistic(left: Outputs, right: Outputs, most: int = 64) -> OutputView:
    """Learn a logistic classifier with linear and quadratic terms of the first columns of numbers."""
    names = list(left.numbers)[:most]

    def raw(outputs: Outputs) -> Floats:
        table = np.stack(
            [outputs.columns[name].values.astype(np.float64) for name in names], axis=1
        )
        return np.clip(np.nan_to_num(table, posinf=1e300, neginf=-1e300), -1e150, 1e150)

    sample = np.concatenate([raw(left)[:_ROWS], raw(right)[:_ROWS]])
    middle = np.median(sample, axis=0)
    width = np.quantile(np.abs(sample - middle), 0.75, axis=0) + 1e-300

    def features(outputs: Outputs) -> Floats:
        z = np.clip((raw(outputs) - middle) / width, -8, 8)
        parts = [np.ones((len(z), 1)), z, z**2]
        if z.shape[1] <= 6:
            parts += [(z[:, i] * z[:, j])[:, None] for i in range(z.shape[1]) for j in range(i)]
        return np.concatenate(parts, axis=1)

    design = np.concatenate([features(left)[:_ROWS], features(right)[:_ROWS]])
    labels = np.repeat([1.0, 0.0], [min(left.size, _ROWS), min(right.size, _ROWS)])
    beta = _newton(design, labels)
    return OutputView("logistic score of all numbers", lambda o: features(o) @ beta)


def _newton(design: Floats, labels: Floats, steps: int = 8, ridge: float = 1.0) -> Floats:
    """Fit by Newton steps; a ridge keeps separable classes finite."""
    beta = np.zeros(design.shape[1])
    for _ in range(steps):
        fitted = expit(np.clip(design @ beta, -30, 30))
        hessian = (design * (fitted * (1 - fitted))[:, None]).T @ design + ridge * np.eye(len(beta))
        beta = beta + np.linalg.solve(hessian, design.T @ (labels - fitted) - ridge * beta)
    return beta
