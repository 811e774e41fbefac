"""Decoding of RAPPOR's bits: weighted least squares on the candidates' Bloom bits.

A cell is a bit of a cohort. With N_i reports in cohort i, c_ij of them with bit j set,

    y_ij = (c_ij/N_i − p*)/(q* − p*) = intercept + Σ_v f_v·[v marks bit j in cohort i] + noise,

noise of variance at most π(1 − π)/N_i/(q* − p*)², where π is the expected share of bits that are 1
(a sum of coins of different bias spreads less than equal ones). π follows from the fitted cells, and
at first from all cells together. Read from its own cell it would let noise choose the weights: below
50 reports a cohort intervals of 95 % then held in 76 to 94 %.

The intercept is the average that values outside the candidates add to every cell. They may add
unevenly, and people of one value may fall unevenly into cohorts. Then the cells scatter more than
the coins explain, and all errors are widened by that.

    candidates                               method
    at most a tenth as many as cells         all columns in one regression
    more                                     cross-fitting (Chernozhukov et al. 2018)

Cross-fitting measures each half of the reports, adjusted only for the candidates that the other
half finds clearly above 0. The other candidates are part of the scatter, and the two halves are
averaged. No report is then used both to choose and to measure.

Intervals and tests take the scatter to be normal and use Student's law with as many degrees of
freedom as cells are left over. That is no proof: with few cells an unlisted value may mark just
those of a candidate, and no report distinguishes the two. At 16 cells, half of the people holding
one unlisted value, joint intervals of 95 % held in 89 of 100 trials. So with fewer than 200 cells
left over the note says that the level is only about met.

Law: `tests/local/test_rappor.py::TestDecoding`
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...arithmetic.arrays import Floats
from ...arithmetic.rational import rational
from ...errors import InvalidArgument
from ...frozen import frozen
from ..estimates.estimate import Estimate, read_level
from ..estimates.proportion import student, student_tail
from .bit_reports import BitReports, column_counts
from .hashing import fingerprints

if TYPE_CHECKING:
    from .rappor import Rappor


_LAW = "Student's law of the cells' scatter"
# Cells left over, below which an unlisted value may well look like a candidate.
_ENOUGH_CELLS = 200
# Candidates a cell, up to which all are fitted at once.
_MAX_FITTED_AT_ONCE = 0.1
# Reports below which half of them contain too little.
_MIN_REPORTS_TO_HALVE = 100
# Rounds of choosing the candidates to adjust for.
_ROUNDS = 6
# Deviations above 0 that make a candidate worth adjusting for.
_MIN_DEVIATIONS = 2.5
# Fits, each with the weights of the one before.
_WEIGHINGS = 2
# Cells for each candidate that is adjusted for.
_CELLS_PER_ADJUSTED = 4


@frozen(eq=False)
class Decoded:
    """Frequency and standard error of every candidate; `free` cells measured the scatter."""

    names: tuple[str, ...]
    values: Floats
    errors: Floats
    n: int
    free: float


@frozen(eq=False)
class _Cells:
    """Observation y and number of reports of each cell; the shares of 1 without and with the bit."""

    y: Floats
    people: Floats
    p: float
    q: float

    def weights(self, mean: Floats) -> Floats:
        """Return 1/variance of each cell whose expected observation is `mean`."""
        fraction = self.p + (self.q - self.p) * np.clip(mean, 0.0, 1.0)
        return np.asarray(self.people * (self.q - self.p) ** 2 / (fraction * (1 - fraction)))


@frozen(eq=False)
class _Fit:
    """Values, their errors by the coins alone, and the factor by which the cells scatter wider."""

    values: Floats
    errors: Floats
    wider: float
    free: float


def decode(rappor: Rappor, reports: BitReports, names: tuple[str, ...]) -> Decoded:
    """Estimate every candidate's frequency among those who reported."""
    columns = _columns(rappor, names)
    few_candidates = len(names) <= _MAX_FITTED_AT_ONCE * columns.shape[0]
    if few_candidates or len(reports) < _MIN_REPORTS_TO_HALVE:
        fit = _fit(_cells(rappor, reports), columns, np.arange(len(names)))
        values = fit.values
        errors = fit.errors * fit.wider
        free = fit.free
    else:
        first = _cells(rappor, _half(reports, 0))
        second = _cells(rappor, _half(reports, 1))
        values, errors, free = _cross_fit(first, second, columns)
    # No frequency is off by more than 1.
    return Decoded(names, values, np.minimum(errors, 1.0), len(reports), free)


def all_of(decoded: Decoded, *, level: float) -> Estimate:
    """Return all candidates, each with an interval of its own."""
    return _estimate(decoded, np.arange(len(decoded.names)), read_level(level), 1, _LAW)


def found_of(decoded: Decoded, *, level: float, false_share: float) -> Estimate:
    """Return the candidates that occur, by Benjamini and Hochberg's rule on one-sided tests.

    Of those returned, a part of at most `false_share` is false on average.

    Their proof asks for tests that are independent or rise together. Estimates that share few cells
    are nearly so, and the fraction of false ones was measured. The joint intervals are Bonferroni's
    over all candidates: proved for any.
    """
    rate = float(rational(false_share, "false_share"))
    if not 0 < rate < 1:
        raise InvalidArgument(f"false_share must lie between 0 and 1, got {false_share}")
    p_values = student_tail(decoded.values / decoded.errors, decoded.free)
    order = np.argsort(p_values, kind="stable")
    tests = order.size
    thresholds = rate * np.arange(1, tests + 1) / tests
    passed = np.flatnonzero(p_values[order] <= thresholds)
    # All up to the last that passes are kept, also those before it that did not pass.
    kept = order[: passed[-1] + 1] if passed.size else order[:0]
    by_frequency = np.argsort(-decoded.values[kept], kind="stable")
    joint = f"joint over {tests} candidates (Bonferroni)"
    false_ones = f"false ones at most {100 * rate:g} % on average"
    note = f"{_LAW}; {joint}; {false_ones}"
    return _estimate(decoded, kept[by_frequency], read_level(level), tests, note)


def _estimate(
    decoded: Decoded, indices: NDArray[np.intp], level: float, tests: int, note: str
) -> Estimate:
    """Make the estimate of some candidates; the failure probability is divided by `tests`."""
    values = decoded.values[indices]
    errors = decoded.errors[indices]
    margin = student((1 - level) / tests, decoded.free) * errors
    names = tuple(decoded.names[i] for i in indices)
    low = np.clip(values - margin, 0.0, 1.0)
    high = np.clip(values + margin, 0.0, 1.0)
    if decoded.free < _ENOUGH_CELLS:
        note = f"{note}; few cells, so the level is only about met"
    return Estimate("frequency", names, values, errors, low, high, level, decoded.n, note=note)


def _columns(rappor: Rappor, names: tuple[str, ...]) -> Floats:
    """Return which cells each candidate marks: one row a cell, one column a candidate."""
    prints = fingerprints(names, rappor.key)
    blocks = []
    for cohort in range(rappor.cohorts):
        marked = rappor.marks(np.full(prints.size, cohort), prints)
        blocks.append(marked.T)
    return np.concatenate(blocks).astype(np.float64)


def _half(reports: BitReports, parity: int) -> BitReports:
    """Return every other report."""
    return BitReports(reports.rows[parity::2], reports.packed[parity::2], reports.width)


def _cells(rappor: Rappor, reports: BitReports) -> _Cells:
    """Turn counts into observations; a cohort without reports will have the weight 0."""
    p, q = map(float, rappor.shown)
    ones = column_counts(reports, rappor.cohorts).astype(np.float64)
    per_cohort = np.bincount(reports.rows, minlength=rappor.cohorts)
    people = per_cohort.astype(np.float64)[:, None]
    y = (ones / np.maximum(people, 1.0) - p) / (q - p)
    return _Cells(y.ravel(), np.broadcast_to(people, y.shape).ravel(), p, q)


def _fit(cells: _Cells, columns: Floats, adjusted: NDArray[np.intp]) -> _Fit:
    """Fit the intercept and the adjusted candidates; measure each other one on the residual."""
    design = np.column_stack([np.ones(len(cells.y)), columns[:, adjusted]])
    mean = np.full(len(cells.y), np.average(cells.y, weights=cells.people))
    for _ in range(_WEIGHINGS):
        weights = cells.weights(mean)
        root = np.sqrt(weights)
        fitted = root[:, None] * design
        inverse = _inverse(fitted.T @ fitted)
        observed = root * cells.y
        coefficients = inverse @ (fitted.T @ observed)
        mean = design @ coefficients
    residual = observed - fitted @ coefficients
    used_cells = (weights > 0).sum()
    free = max(1.0, float(used_cells - fitted.shape[1]))
    scatter = float(residual @ residual) / free
    # At least 1: a lucky residual must not narrow the errors of the coins.
    wider = math.sqrt(max(1.0, scatter))
    values = np.zeros(columns.shape[1])
    errors = np.ones(columns.shape[1])
    values[adjusted] = coefficients[1:]
    errors[adjusted] = np.sqrt(np.diag(inverse)[1:])
    others = np.setdiff1d(np.arange(columns.shape[1]), adjusted)
    if others.size:
        # By projection: the residual is orthogonal to the fitted columns.
        other_columns = columns[:, others]
        overlap = other_columns.T @ (root[:, None] * fitted)
        explained = ((overlap @ inverse) * overlap).sum(axis=1)
        # Columns are 0 or 1, so their squares are themselves.
        weight = np.maximum(weights @ other_columns - explained, 1e-300)
        values[others] = (other_columns.T @ (root * residual)) / weight
        errors[others] = 1 / np.sqrt(weight)
    return _Fit(values, errors, wider, free)


def _cross_fit(first: _Cells, second: _Cells, columns: Floats) -> tuple[Floats, Floats, float]:
    """Measure each half, adjusted for the other half's choice, and average.

    The coins of the halves are independent, so their variance falls by averaging. The scatter is
    common to both halves and does not.
    """
    one = _fit(first, columns, _choose(second, columns))
    two = _fit(second, columns, _choose(first, columns))
    coins = (one.errors**2 + two.errors**2) / 4
    scatter_one = (one.wider**2 - 1) * one.errors**2
    scatter_two = (two.wider**2 - 1) * two.errors**2
    scatter = (scatter_one + scatter_two) / 2
    values = (one.values + two.values) / 2
    free = min(one.free, two.free)
    return values, np.sqrt(coins + scatter), free


def _inverse(gram: Floats) -> Floats:
    """Invert the normal equations.

    Candidates that the cells cannot distinguish get very large errors.
    """
    size = gram.shape[0]
    # Without any report nothing is known, which is an error of 1.
    ridge = 1e-10 * float(np.trace(gram)) / size or 1.0
    return np.linalg.inv(gram + ridge * np.eye(size))


def _choose(cells: _Cells, columns: Floats) -> NDArray[np.intp]:
    """Choose the candidates worth adjusting for, until the choice no longer changes."""
    most = columns.shape[0] // _CELLS_PER_ADJUSTED
    chosen = np.empty(0, dtype=np.intp)
    for _ in range(_ROUNDS):
        fit = _fit(cells, columns, chosen)
        deviations = fit.values / (fit.errors * fit.wider)
        ranked = np.argsort(-deviations, kind="stable")[:most]
        clear = ranked[deviations[ranked] > _MIN_DEVIATIONS]
        following = np.sort(clear)
        if np.array_equal(following, chosen):
            break
        chosen = following
    return chosen
