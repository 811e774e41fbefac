"""Which values stand behind RAPPOR's bits: weighted least squares on the candidates' Bloom bits.

A cell is a bit of a cohort. With N_i reports in cohort i, c_ij of them with bit j set,

    y_ij = (c_ij/N_i − p*)/(q* − p*) = rest + Σ_v f_v·[v marks bit j in cohort i] + noise,

noise of variance at most c(N − c)/N³/(q* − p*)² (a sum of coins of different bias spreads less than equal ones). `rest`
is what values that are no candidates add to every cell on average; where they do so unevenly, and where people of one
value fall unevenly into cohorts, the cells scatter more than the coins explain, and all errors are widened by that.

Few candidates (at most a tenth as many as cells): all columns in one regression. More: each half of the reports is
measured, adjusted only for the candidates that the other half finds clearly above 0; the candidates left out are part
of the scatter, and the two halves are averaged (cross-fitting; Chernozhukov et al. 2018). No report is then used both
to choose and to measure.

Intervals and tests take the scatter to be normal and use Student's law with as many degrees of freedom as cells are
left over. That is no proof: with few cells an unlisted value may mark just those of a candidate, and nothing that was
sent tells the two apart. At 16 cells, half of the people holding one unlisted value, joint intervals of 95 % held in 89
of 100 trials. So with fewer than 200 cells left over the note says that the level is only about met.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...arithmetic.rational import rational
from ...errors import InvalidArgument
from ...frozen import frozen
from ..estimates.estimate import Estimate, read_level
from ..estimates.proportion import student, student_tail
from .bit_reports import BitReports, column_counts
from .hashing import fingerprints

if TYPE_CHECKING:
    from .rappor import Rappor

Floats = NDArray[np.float64]

_LAW = "Student's law of the cells' scatter"
_ENOUGH = 200  # cells left over, below which an unlisted value may well look like a candidate
_FEW = 0.1  # candidates a cell, up to which all are fitted at once
_LEAST = 100  # reports below which halves say too little
_ROUNDS = 6  # of choosing
_CLEAR = 2.5  # deviations above 0 that make a candidate worth adjusting for
_ADJUSTED = 4  # cells for each candidate that is adjusted for


@frozen(eq=False)
class Decoded:
    """A frequency and a standard error for every candidate, from n reports; `free` cells measured the scatter."""

    names: tuple[str, ...]
    values: Floats
    errors: Floats
    n: int
    free: float


@frozen(eq=False)
class _Cells:
    """What each cell says and how heavily it counts: y and 1/variance."""

    y: Floats
    weights: Floats


@frozen(eq=False)
class _Fit:
    """Values, their errors by the coins alone, and how much wider the cells scatter than coins do."""

    values: Floats
    errors: Floats
    wider: float
    free: float


def decode(rappor: Rappor, reports: BitReports, names: tuple[str, ...]) -> Decoded:
    """Estimate every candidate's frequency among those who reported."""
    columns = _columns(rappor, names)
    if len(names) <= _FEW * columns.shape[0] or len(reports) < _LEAST:
        fit = _fit(_cells(rappor, reports), columns, np.arange(len(names)))
        values, errors, free = fit.values, fit.errors * fit.wider, fit.free
    else:
        halves = _cells(rappor, _half(reports, 0)), _cells(rappor, _half(reports, 1))
        values, errors, free = _crossed(halves, columns)
    return Decoded(names, values, np.minimum(errors, 1.0), len(reports), free)


def all_of(decoded: Decoded, *, level: float) -> Estimate:
    """Return all candidates, each with an interval of its own."""
    return _estimate(decoded, np.arange(len(decoded.names)), read_level(level), 1, _LAW)


def found_of(decoded: Decoded, *, level: float, false_share: float) -> Estimate:
    """Return the candidates that are there, by Benjamini and Hochberg's rule on one-sided tests.

    Their proof asks for tests that are independent or rise together; estimates that share few cells are nearly so, and
    the share of false ones was measured. The joint intervals are Bonferroni's over all candidates: proved for any.
    """
    share = float(rational(false_share, "false_share"))
    if not 0 < share < 1:
        raise InvalidArgument(f"false_share must lie between 0 and 1, got {false_share}")
    chances = student_tail(decoded.values / decoded.errors, decoded.free)
    order = np.argsort(chances, kind="stable")
    passed = np.flatnonzero(chances[order] <= share * np.arange(1, order.size + 1) / order.size)
    kept = order[: passed[-1] + 1] if passed.size else order[:0]
    ranked = kept[np.argsort(-decoded.values[kept], kind="stable")]
    note = f"{_LAW}; joint over {order.size} candidates (Bonferroni); false ones at most {100 * share:g} % on average"
    return _estimate(decoded, ranked, read_level(level), order.size, note)


def _estimate(
    decoded: Decoded, at: NDArray[np.intp], level: float, tests: int, note: str
) -> Estimate:
    values, errors = decoded.values[at], decoded.errors[at]
    reach = student((1 - level) / tests, decoded.free) * errors
    names = tuple(decoded.names[i] for i in at)
    ends = np.clip(values - reach, 0.0, 1.0), np.clip(values + reach, 0.0, 1.0)
    said = note if decoded.free >= _ENOUGH else f"{note}; few cells, so the level is only about met"
    return Estimate("frequency", names, values, errors, *ends, level=level, n=decoded.n, note=said)


def _columns(rappor: Rappor, names: tuple[str, ...]) -> Floats:
    """Return which cells each candidate marks: one row a cell, one column a candidate."""
    prints = fingerprints(names, rappor.key)
    blocks = [
        rappor.marks(np.full(prints.size, cohort), prints).T for cohort in range(rappor.cohorts)
    ]
    return np.concatenate(blocks).astype(np.float64)


def _half(reports: BitReports, part: int) -> BitReports:
    return BitReports(reports.rows[part::2], reports.packed[part::2], reports.width)


def _cells(rappor: Rappor, reports: BitReports) -> _Cells:
    """Turn counts into what each cell says; a cohort without reports says nothing (weight 0)."""
    p, q = map(float, rappor.shown)
    ones = column_counts(reports, rappor.cohorts).astype(np.float64)
    people = np.bincount(reports.rows, minlength=rappor.cohorts).astype(np.float64)[:, None]
    n = np.maximum(people, 1.0)
    share = (ones + 0.5) / (
        n + 1.0
    )  # never 0 or 1, so that a cell of few reports is not taken for certain
    variance = share * (1 - share) / n / (q - p) ** 2
    return _Cells(
        ((ones / n - p) / (q - p)).ravel(), np.where(people > 0, 1 / variance, 0.0).ravel()
    )


def _fit(cells: _Cells, columns: Floats, adjusted: NDArray[np.intp]) -> _Fit:
    """Fit the rest and the adjusted candidates; measure every other candidate against what is left."""
    root = np.sqrt(cells.weights)
    fitted = np.column_stack([root, root[:, None] * columns[:, adjusted]])
    inverse, heard = _inverse(fitted.T @ fitted), root * cells.y
    found = inverse @ (fitted.T @ heard)
    left = heard - fitted @ found
    free = max(1.0, float((cells.weights > 0).sum() - fitted.shape[1]))
    wider = math.sqrt(max(1.0, float(left @ left) / free))
    values, errors = np.zeros(columns.shape[1]), np.ones(columns.shape[1])
    values[adjusted], errors[adjusted] = found[1:], np.sqrt(np.diag(inverse)[1:])
    others = np.setdiff1d(np.arange(columns.shape[1]), adjusted)
    if others.size:  # by projection: what is left is orthogonal to what was fitted
        alone = columns[:, others]
        shared = alone.T @ (root[:, None] * fitted)
        weight = np.maximum(
            cells.weights @ alone - ((shared @ inverse) * shared).sum(axis=1), 1e-300
        )  # 0/1: x² = x
        values[others], errors[others] = (alone.T @ (root * left)) / weight, 1 / np.sqrt(weight)
    return _Fit(values, errors, wider, free)


def _crossed(cells: tuple[_Cells, _Cells], columns: Floats) -> tuple[Floats, Floats, float]:
    """Measure each half, adjusted for what the other half chose, and average; scatter is common to both halves."""
    first, second = (
        _fit(cells[half], columns, _choose(cells[1 - half], columns)) for half in (0, 1)
    )
    coins = (first.errors**2 + second.errors**2) / 4
    scatter = (
        (first.wider**2 - 1) * first.errors**2 + (second.wider**2 - 1) * second.errors**2
    ) / 2
    return (
        (first.values + second.values) / 2,
        np.sqrt(coins + scatter),
        min(first.free, second.free),
    )


def _inverse(gram: Floats) -> Floats:
    """Invert the normal equations; candidates that the cells cannot tell apart get errors beyond all measure."""
    size = gram.shape[0]
    ridge = (
        1e-10 * float(np.trace(gram)) / size or 1.0
    )  # no report at all: nothing is known, which is an error of 1
    return np.linalg.inv(gram + ridge * np.eye(size))


def _choose(cells: _Cells, columns: Floats) -> NDArray[np.intp]:
    """Choose the candidates worth adjusting for, the clearest first, until no further one stands out."""
    most = columns.shape[0] // _ADJUSTED
    chosen = np.empty(0, dtype=np.intp)
    for _ in range(_ROUNDS):
        fit = _fit(cells, columns, chosen)
        clear = fit.values / (fit.errors * fit.wider)
        ranked = np.argsort(-clear, kind="stable")[:most]
        found = np.sort(ranked[clear[ranked] > _CLEAR])
        if np.array_equal(found, chosen):
            break
        chosen = found
    return chosen
