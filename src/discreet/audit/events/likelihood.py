"""Learned views: estimates of the likelihood ratio of the two inputs, from runs never judged.

By Neyman and Pearson the best event is a threshold on the likelihood ratio.

    ratio       of one view: by value where values repeat (grids, categories), else by 64 quantile
                bins
    naive       of all columns as if independent: the sum of their log ratios
    logistic    linear and quadratic in all numbers, by a few Newton steps
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ...arithmetic.arrays import Floats
from ...arithmetic.special import expit
from .outputs import Outputs, Values
from .views import OutputView

_BINS = 64
# Rows of each input that the classifier learns from; more would not change it much.
_MAX_ROWS = 40_000
# Values of a learned event that its text lists.
_MAX_LISTED = 6

_Learned: TypeAlias = tuple[Callable[[Values], Floats], list[tuple[float, float]]]
"""A score function, and the known values with their scores, the highest first."""


def ratio(view: OutputView, left: Outputs, right: Outputs) -> OutputView:
    """Learn the log-likelihood ratio of one view; values never seen in learning count as 0.

    Law: `tests/audit/test_views.py::TestLikelihood`
    """
    score, known = _log_ratio(view.of(left), view.of(right), nominal=view.nominal)

    def describe(threshold: float) -> str:
        inside = [value for value, weight in known if weight >= threshold]
        listed = [view.word(value) if view.word else f"{value:g}" for value in inside]
        text = ", ".join(listed[:_MAX_LISTED])
        if len(listed) > _MAX_LISTED:
            text += f" … ({len(listed)} in all)"
        return text

    def of(outputs: Outputs) -> Floats:
        return score(view.of(outputs))

    word = describe if known else None
    return OutputView(f"likelihood ratio of {view.name}", of, word=word)


def _log_ratio(xs: Values, ys: Values, *, nominal: bool) -> _Learned:
    """Learn log ratios by value where most values repeat, else by quantile bins."""
    pooled = np.concatenate([xs, ys])
    if pooled.dtype.kind == "f":
        pooled = pooled[~np.isnan(pooled)]
    values, counts = np.unique(pooled, return_counts=True)
    repeats = counts[counts > 1].sum() > pooled.size / 2
    if nominal or not pooled.size or repeats:
        return _by_value(values, xs, ys)
    inner = np.quantile(pooled, np.linspace(0, 1, _BINS + 1)[1:-1])
    left = np.searchsorted(inner, xs, "right")
    right = np.searchsorted(inner, ys, "right")
    weights = _weights(left, right, _BINS)

    def score(wanted: Values) -> Floats:
        bins = np.searchsorted(inner, wanted, "right")
        return np.where(np.isnan(wanted), 0.0, weights[bins])

    return score, []


def _by_value(values: Values, xs: Values, ys: Values) -> _Learned:
    """Learn a log ratio for each value."""
    weights = _weights(_index_of(values, xs), _index_of(values, ys), len(values) + 1)
    order = np.argsort(-weights[:-1])[:10_000]
    known = [(values[i].item(), float(weights[i])) for i in order]

    def score(wanted: Values) -> Floats:
        return weights[_index_of(values, wanted)]

    return score, known


def _index_of(values: Values, wanted: Values) -> Values:
    """Find each number among the known values; the index after the last means unknown."""
    if not len(values):
        return np.zeros(len(wanted), dtype=np.int64)
    index = np.minimum(np.searchsorted(values, wanted), len(values) - 1)
    return np.where(values[index] == wanted, index, len(values))


def _weights(left: Values, right: Values, cells: int) -> Floats:
    """Return smoothed log ratios per cell; the last cell (unknown) and rare cells get about 0."""
    x = np.bincount(left, minlength=cells).astype(np.float64)
    y = np.bincount(right, minlength=cells).astype(np.float64)
    # Half a count is added, so that no frequency is 0.
    log_x = np.log((x + 0.5) / (len(left) + 1))
    log_y = np.log((y + 0.5) / (len(right) + 1))
    return np.where(x + y > 1, log_x - log_y, 0.0)


def naive(left: Outputs, right: Outputs, most: int = 256) -> OutputView:
    """Learn the sum of the log ratios of all columns (naive Bayes)."""
    names = list(left.columns)[:most]
    scores = []
    for name in names:
        column = left.columns[name]
        nominal = column.words is not None
        score, _ = _log_ratio(column.values, right.values(name), nominal=nominal)
        scores.append(score)

    def total(outputs: Outputs) -> Floats:
        parts = []
        for name, score in zip(names, scores, strict=True):
            parts.append(score(outputs.values(name)))
        return np.asarray(np.sum(parts, axis=0), dtype=np.float64)

    return OutputView("likelihood ratio of all columns, as if independent", total)


def logistic(left: Outputs, right: Outputs, most: int = 64) -> OutputView:
    """Learn a logistic classifier with linear and quadratic terms of the first numbers."""
    names = list(left.numbers)[:most]

    def raw(outputs: Outputs) -> Floats:
        table = np.nan_to_num(outputs.matrix(names), posinf=1e300, neginf=-1e300)
        # Limited so that differences and quotients stay finite.
        return np.clip(table, -1e150, 1e150)

    sample = np.concatenate([raw(left)[:_MAX_ROWS], raw(right)[:_MAX_ROWS]])
    # Robust location and scale: outputs may have heavy tails.
    middle = np.median(sample, axis=0)
    width = np.quantile(np.abs(sample - middle), 0.75, axis=0) + 1e-300

    def features(outputs: Outputs) -> Floats:
        z = np.clip((raw(outputs) - middle) / width, -8, 8)
        parts = [np.ones((len(z), 1)), z, z**2]
        # Products of few numbers only, since they grow with the square.
        if z.shape[1] <= 6:
            for i in range(z.shape[1]):
                parts += [(z[:, i] * z[:, j])[:, None] for j in range(i)]
        return np.concatenate(parts, axis=1)

    design = np.concatenate([features(left)[:_MAX_ROWS], features(right)[:_MAX_ROWS]])
    labels = np.repeat([1.0, 0.0], [min(left.size, _MAX_ROWS), min(right.size, _MAX_ROWS)])
    weights = _newton(design, labels)
    return OutputView("logistic score of all numbers", lambda o: features(o) @ weights)


def _newton(design: Floats, labels: Floats, steps: int = 8, ridge: float = 1.0) -> Floats:
    """Fit by Newton steps; a ridge keeps separable classes finite."""
    weights = np.zeros(design.shape[1])
    for _ in range(steps):
        fitted = expit(np.clip(design @ weights, -30, 30))
        variances = (fitted * (1 - fitted))[:, None]
        hessian = (design * variances).T @ design + ridge * np.eye(len(weights))
        gradient = design.T @ (labels - fitted) - ridge * weights
        weights = weights + np.linalg.solve(hessian, gradient)
    return weights
