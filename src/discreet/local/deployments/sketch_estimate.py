"""From the cells of a sketch to frequencies with intervals: what count-mean sketches share."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...arithmetic.rational import Number, whole
from ...arithmetic.rounding import up
from ...errors import InvalidArgument
from ...frozen import frozen
from ...mechanisms.laws.error_bound import read_beta
from ..estimates.estimate import Estimate, read_level
from ..estimates.proportion import deviations
from .hashing import RowHashes, fingerprints

_CHUNK = 1 << 22  # cells looked up at a time
_MANY = 2.0  # deviations by which Σ n_v² is taken too large


@frozen(eq=False)
class SketchCells:
    """Unbiased counts of each cell, the people of each row, and the coins' variance of a count for each person."""

    sums: NDArray[np.float64]
    people: NDArray[np.int64]
    coin_variance: float

    def second_moment(self) -> float:
        """Estimate Σ n_v², the sum of the squared counts of all values, from above: two deviations too large.

        With u the number of people in a cell, E Σ u² over rows j = (1 − 1/m)(Σ n_v²/k + n(1 − 1/k)) + Σ n_j²/m; the
        coins add n·m·s² to Σ sums², give or take n·s²·√(2m/k).
        """
        rows, width = self.sums.shape
        n = float(self.people.sum())
        excess = (
            float((self.sums**2).sum())
            - n * width * self.coin_variance
            - float((self.people**2).sum()) / width
        )
        found = rows * (excess / (1 - 1 / width) - n * (1 - 1 / rows))
        noise = n * (self.coin_variance + 1) * math.sqrt(2 * width * rows)
        return min(n * n, max(float(found), 0.0) + _MANY * noise)


def estimate_cells(
    hashes: RowHashes, cells: SketchCells, candidates: Sequence[str], level: float
) -> Estimate:
    """Estimate the frequency of every candidate, with intervals."""
    names, sure = read_candidates(candidates), read_level(level)
    n, width = int(cells.people.sum()), hashes.width
    totals = _totals(hashes, cells.sums, names)
    values = (totals / n - 1 / width) * width / (width - 1)
    others = cells.second_moment() / n**2
    variance = sketch_variance(
        cells.coin_variance, hashes.rows, width, n=n, frequency=0.0, others=others
    )
    errors = np.full(len(names), math.sqrt(variance))
    reach = deviations(1 - sure) * errors
    note = "normal law; over the coins and the choice of the hash key"
    ends = np.clip(values - reach, 0.0, 1.0), np.clip(values + reach, 0.0, 1.0)
    return Estimate("frequency", names, values, errors, *ends, level=sure, n=n, note=note)


def _totals(
    hashes: RowHashes, sums: NDArray[np.float64], names: tuple[str, ...]
) -> NDArray[np.float64]:
    """Add up, over all rows, the cell of each candidate."""
    prints, rows = fingerprints(names, hashes.key), np.arange(hashes.rows)
    found, step = np.empty(len(names)), max(1, _CHUNK // hashes.rows)
    for start in range(0, len(names), step):
        cells = hashes.place(rows[:, None], prints[None, start : start + step])
        found[start : start + step] = sums[rows[:, None], cells].sum(axis=0)
    return found


def sketch_variance(
    coin_variance: float, rows: int, width: int, *, n: int, frequency: float, others: float | None
) -> float:
    """Return the variance of a frequency: coins, people of other values in the same cell, and values that share cells.

    (m/(m − 1))²·[s²/n + (1 − f)(1/m)(1 − 1/m)/n + Σ f_v²·(1/m)(1 − 1/m)/k].
    """
    if not 0 <= frequency <= 1:
        raise InvalidArgument("frequency must lie from 0 to 1")
    people = whole(n, "n", least=1)
    squares = (1 - frequency) ** 2 if others is None else others
    shared = (1 / width) * (1 - 1 / width)
    return (width / (width - 1)) ** 2 * (
        (coin_variance + (1 - frequency) * shared) / people + squares * shared / rows
    )


def sketch_error(variance: float, beta: Number) -> float:
    """Return how far off an estimate with this variance is, by the normal law."""
    return up(deviations(read_beta(beta)) * math.sqrt(variance))


def read_candidates(candidates: Sequence[str]) -> tuple[str, ...]:
    """Read the values whose frequencies are asked for; they are public.

    >>> from discreet.local.deployments.sketch_estimate import read_candidates
    >>> read_candidates(["a", "b"])
    ('a', 'b')

    Refuses none, and the same one twice.
    """
    if not isinstance(candidates, list | tuple | np.ndarray) or not all(
        isinstance(name, str) for name in candidates
    ):
        raise InvalidArgument("candidates must be a list of at least one text")
    names = tuple(map(str, candidates))
    if not names:
        raise InvalidArgument("candidates must be a list of at least one text")
    if len(set(names)) < len(names):
        raise InvalidArgument("candidates must differ from each other")
    return names
