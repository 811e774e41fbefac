"""Expected error of synthetic records: the total variation of a pair of columns to the data.

It is computed from public facts and the noise alone:

    single column    ¼·m·s, m cells, s the deviation of the noise as a share of the rows; the
                     projection leaves about two thirds of what noise moves
    measured pair    the noise's largest singular value to the power ¾ (`denoised` removes the
                     others), never more than the noise itself
    grouped cells    what cells of one group have in common with the other column is lost
    unmeasured pair  all of that is lost
    sampling         the data are few in many cells; records cannot tell how they fell within the
                     groups: 0.4·Σ√p/√rows, of the part of the cells that was not measured

How much two columns have in common is a fact about the data, so that a plan does not look at it:
the constant LOSS stands for it. After the release the released tables tell it. All constants were
fitted by looking at four data sets; see benchmarks/synthetic.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ..frozen import frozen
from ..workloads.workload import KeySet

LOSS = 0.1
"""Total variation between a pair and the product of its columns: .05 to .12 on four tables."""
_POWER = 0.75
# E|noise|/2 of a normal law of deviation 1, as total variation counts it.
_NOISE = 0.4
_FLAT = 0.25
# Part of the sampling that even records of measured cells have.
_WHOLE = 0.1
# Σ√p of a column of m cells is √m if all hold as many; two thirds of it where nothing is known.
_UNEVEN = 2 / 3


@frozen
class PairNoise:
    """Facts from which the error of records is expected.

    `sizes` are the numbers of cells of the columns, `cells` those of their groups in tables of
    pairs, and `rows` is the number of rows. `deviations` is the deviation of the noise on a count
    of each measured column and pair. `roots` is Σ√p over the cells of each column, if their shares
    p are known.
    """

    sizes: Sequence[int]
    cells: Sequence[int]
    rows: float
    deviations: Mapping[KeySet, float]
    roots: Sequence[float] = ()

    def single(self, place: int) -> float:
        """Return the total variation expected of a single column."""
        noise = self.deviations.get((place,), 0.0) / self.rows
        return min(0.5, _FLAT * self.sizes[place] * noise)

    def pair(self, pair: KeySet, loss: float = LOSS) -> float:
        """Return the total variation expected of a pair of columns of records.

        `loss` is that between the pair and the product of its columns.
        """
        left, right = pair
        singles = math.hypot(self.single(left), self.single(right))
        sampled = self._sampled(left, right, measured=pair in self.deviations)
        if pair not in self.deviations:
            return min(1.0, math.hypot(singles, loss, sampled))
        kept = math.sqrt(self._kept(left) * self._kept(right))
        noise = self.left(pair)
        return min(1.0, math.hypot(singles, noise, sampled) + loss * (1 - kept))

    def left(self, pair: KeySet) -> float:
        """Return the total variation that noise leaves in a measured pair."""
        rows, columns = (self.cells[place] for place in pair)
        return _denoised(rows, columns, self.deviations[pair] / self.rows)

    def _sampled(self, left: int, right: int, *, measured: bool) -> float:
        """Return the error by chance of rows and records within cells that were not measured."""
        cells = self.sizes[left] * self.sizes[right]
        free = (self.sizes[left] - 1) * (self.sizes[right] - 1) / cells
        if measured:
            free *= 1 - self.cells[left] * self.cells[right] / cells
        roots = self._root(left) * self._root(right)
        return _NOISE * max(_WHOLE, math.sqrt(free)) * roots / math.sqrt(self.rows)

    def _root(self, place: int) -> float:
        if self.roots:
            return self.roots[place]
        return _UNEVEN * math.sqrt(self.sizes[place])

    def _kept(self, place: int) -> float:
        """Return the part of a column's relations that its groups tell."""
        if self.sizes[place] == self.cells[place]:
            return 1.0
        return math.pow((self.cells[place] - 1) / (self.sizes[place] - 1), 1 / 3)


def _denoised(rows: int, columns: int, noise: float) -> float:
    """Return what `denoised` leaves of the noise on a pair; `noise` is that of a cell, as a share."""
    all_noise = _NOISE * rows * columns * noise
    largest = noise * (math.sqrt(rows) + math.sqrt(columns))
    return min(all_noise, math.pow(largest, _POWER))
