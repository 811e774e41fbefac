"""Frequencies with confidence intervals from the cells of a count-mean sketch.

A sketch has k rows of m cells. Of n people n_v hold the value v, and n_j report on row j; f_v is
n_v/n. s² is the variance that the coins of one report add to the count of a cell.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...arithmetic.arrays import Floats, Integers
from ...arithmetic.rational import Number, check_from_0_to_1, whole
from ...arithmetic.rounding import up
from ...errors import InvalidArgument
from ...frozen import frozen
from ...mechanisms.laws.error_bound import read_beta
from ...mechanisms.laws.normal import quantile
from ..estimates.estimate import Estimate, read_level
from .hashing import RowHashes, fingerprints

# Cells looked up at a time: a bound on memory.
_CHUNK = 1 << 22
# Deviations by which Σ n_v² is taken too large.
_MARGIN = 2.0


@frozen(eq=False)
class SketchCells:
    """Unbiased counts of each cell, the people of each row, and the coins' variance per person."""

    sums: Floats
    people: Integers
    coin_variance: float

    def second_moment(self) -> float:
        """Estimate Σ n_v², the sum of squared counts of all values, from above.

        Two standard deviations of the estimate are added.

        With u the number of people in a cell, E Σ u² over rows j is
        (1 − 1/m)(Σ n_v²/k + n(1 − 1/k)) + Σ n_j²/m. The coins add n·m·s² to Σ sums², give or take
        n·s²·√(2m/k).
        """
        rows, width = self.sums.shape
        n = float(self.people.sum())
        of_coins = n * width * self.coin_variance
        of_rows = float((self.people**2).sum()) / width
        excess = float((self.sums**2).sum()) - of_coins - of_rows
        of_people = n * (1 - 1 / rows)
        unbiased = rows * (excess / (1 - 1 / width) - of_people)
        scale = math.sqrt(2 * width * rows)
        noise = n * (self.coin_variance + 1) * scale
        # Too large is the safe direction: it widens the intervals. n² is the greatest possible.
        from_above = max(float(unbiased), 0.0) + _MARGIN * noise
        return min(n * n, from_above)


def estimate_cells(
    hashes: RowHashes, cells: SketchCells, candidates: Sequence[str], level: float
) -> Estimate:
    """Estimate the frequency of every candidate, with confidence intervals."""
    names = read_candidates(candidates)
    confidence = read_level(level)
    n = int(cells.people.sum())
    width = hashes.width
    totals = _totals(hashes, cells.sums, names)
    # Another value shares the cell with probability 1/width.
    excess = totals / n - 1 / width
    values = excess * width / (width - 1)
    others = cells.second_moment() / n**2
    variance = sketch_variance(
        cells.coin_variance, hashes.rows, width, n=n, frequency=0.0, others=others
    )
    errors = np.full(len(names), math.sqrt(variance))
    margin = quantile(1 - confidence) * errors
    low = np.clip(values - margin, 0.0, 1.0)
    high = np.clip(values + margin, 0.0, 1.0)
    note = "normal law; over the coins and the choice of the hash key"
    return Estimate("frequency", names, values, errors, low, high, confidence, n, note=note)


def _totals(hashes: RowHashes, sums: Floats, names: tuple[str, ...]) -> Floats:
    """Add up, over all rows, the cell of each candidate."""
    prints = fingerprints(names, hashes.key)
    rows = np.arange(hashes.rows)[:, None]
    totals = np.empty(len(names))
    step = max(1, _CHUNK // hashes.rows)
    for start in range(0, len(names), step):
        chunk = slice(start, start + step)
        cells = hashes.place(rows, prints[None, chunk])
        totals[chunk] = sums[rows, cells].sum(axis=0)
    return totals


def sketch_variance(
    coin_variance: float, rows: int, width: int, *, n: int, frequency: float, others: float | None
) -> float:
    """Return the variance of an estimated frequency.

    It adds up the variance of the coins, that of the number of people with other values in the
    cell, and that of which values share the cell. `others` is Σ f_v² over the other values; None is
    the worst case, in which one other value is held by everybody else:
    (m/(m − 1))²·[s²/n + (1 − f)(1/m)(1 − 1/m)/n + Σ f_v²·(1/m)(1 − 1/m)/k].
    """
    check_from_0_to_1(frequency, "frequency")
    people = whole(n, "n", least=1)
    squares = (1 - frequency) ** 2 if others is None else others
    same_cell = (1 / width) * (1 - 1 / width)
    per_person = (coin_variance + (1 - frequency) * same_cell) / people
    of_sharing = squares * same_cell / rows
    return (width / (width - 1)) ** 2 * (per_person + of_sharing)


def sketch_error(variance: float, beta: Number) -> float:
    """Return the error of an estimate with this variance, by the normal law, rounded up."""
    return up(quantile(read_beta(beta)) * math.sqrt(variance))


def read_candidates(candidates: Sequence[str]) -> tuple[str, ...]:
    """Read the public values whose frequencies are estimated.

    >>> from discreet.local.deployments.sketch_estimate import read_candidates
    >>> read_candidates(["a", "b"])
    ('a', 'b')

    Refuses: `InvalidArgument` for no candidates, and the same one twice.
    """
    is_list = isinstance(candidates, list | tuple | np.ndarray)
    if not is_list or not all(isinstance(name, str) for name in candidates):
        raise InvalidArgument("candidates must be a list of at least one text")
    names = tuple(map(str, candidates))
    if not names:
        raise InvalidArgument("candidates must be a list of at least one text")
    if len(set(names)) < len(names):
        raise InvalidArgument("candidates must differ from each other")
    return names
