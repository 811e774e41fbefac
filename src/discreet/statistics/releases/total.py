"""Totals that noise is added to: what the store is asked, how much one unit can change it, and the noise on it.

    TotalNeed      one number per key       geometric noise under pure ε, else discrete Gaussian
    DistinctNeed   how many values occur    likewise

Each release is one event, whatever the number of keys: its sensitivity is that of the whole vector. Of one key comes a
`NoisyTotal`, which is a count or a sum by itself and a part of all other statistics.
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar, TypeAlias

from ...frozen import frozen
from ...mechanisms.sensitivity import Sensitivity
from ...privacy.events import Event
from ...query.algebra.tally import Tally, Term
from ...query.bounds.contribution_bounds import people_share, weight_of
from ...query.bounds.public_cells import Cells
from ...query.bounds.sensitivity import influence
from ...query.domains.domain import Scalar
from ..laws.interval_arithmetic import Box, at_least, clip, outward
from ..laws.noise_sum import Additive, IntegerNoise, noise_of
from .addend import Addend
from .basis import Basis
from .stored import StoredForm

KeyValues: TypeAlias = tuple[Scalar, ...]
"""The values of one key, one for each column of GROUP BY."""
ExactTotals: TypeAlias = dict[KeyValues, int]
"""The exact totals of one term, for the keys that occur."""


@frozen
class TotalNeed:
    """The totals of one term, the only one of `tally`; one whole step of them is worth `unit`."""

    tally: Tally
    unit: Fraction
    sensitivity: Sensitivity

    def exact(self, counts: ExactTotals, key: KeyValues) -> int:
        """Return what noise is added to: the exact total of a key, 0 for one that does not occur."""
        return counts.get(key, 0)


@frozen
class DistinctNeed:
    """How many of the cells have a total above 0, per key; the tally's last keys say the cell."""

    tally: Tally
    cells: Cells
    sensitivity: Sensitivity

    @property
    def unit(self) -> Fraction:
        """What one whole step is worth: one value."""
        return Fraction(1)

    def exact(self, counts: ExactTotals, key: KeyValues) -> int:
        """Return what noise is added to: how many cells of a key occur."""
        if self.cells.open:
            return counts.get(key, 0)
        return sum(counts.get((*key, *place), 0) > 0 for place in self.cells.places)

    def occurring(self, counts: ExactTotals) -> ExactTotals:
        """Count, for each key, the values with a total above 0, where the values are not listed; NULL is none."""
        width = len(self.tally.keys) - len(self.cells.expressions)
        found: ExactTotals = {}
        for place, total in counts.items():
            if total > 0 and None not in place[width:]:
                found[place[:width]] = found.get(place[:width], 0) + 1
        return found


@frozen
class NoisyRelease:
    """Numbers, and the noise that is added to them."""

    need: TotalNeed | DistinctNeed
    mechanism: Additive

    @property
    def event(self) -> Event:
        """What is done, to be priced: one event for all keys together."""
        return self.mechanism.event

    @property
    def unit(self) -> Fraction:
        """What one whole step is worth."""
        return self.need.unit

    @property
    def scale(self) -> float:
        """The scale of the noise, in the unit of the total."""
        return at_least(self.mechanism.scale * self.unit)

    def error(self, beta: float = 0.05) -> float:
        """Bound the miss in one key with probability at least 1 − β, in the unit of the total."""
        return at_least(self.mechanism.error(beta) * self.unit)


def total_need(addend: Addend, basis: Basis, *, people: bool = False) -> TotalNeed:
    """State what one total of a question asks of the store, and how much one unit can change it.

    `people`: each person counts once in a key, however many rows there are.
    """
    share = people_share(basis.rows, keyed=bool(basis.keys)) if people else basis.share
    weight = weight_of(max(1, -addend.low, addend.high), share)
    term = Term(addend.expression, weight, addend.low * weight, addend.high * weight)
    tally = Tally(basis.rows, basis.keys, (term,), share, people=people)
    return TotalNeed(tally, addend.step / weight, influence(tally, 0, basis.key_count))


@frozen
class NoisyTotal:
    """A total with noise, in whole steps that are worth `unit` each."""

    steps: int
    unit: Fraction
    mechanism: Additive

    @property
    def value(self) -> Fraction:
        """The released number."""
        return self.steps * self.unit

    @property
    def noise(self) -> IntegerNoise:
        """Its noise, in floats."""
        return noise_of(self.mechanism, float(self.unit))

    def box(self, beta: float, of: int = 1) -> Box:
        """Bound the exact number; with probability at least 1 − β all of `of` independent ones are bounded at once."""
        reach = self.mechanism.error(beta, cells=of) * self.unit
        return self.value - reach, self.value + reach


@frozen
class TotalEstimate:
    """A count or a sum; `low` and `high` are public bounds it is moved into, where asked for.

    >>> from discreet.statistics.releases.total import NoisyTotal, TotalEstimate
    >>> from fractions import Fraction
    >>> from discreet.mechanisms.additive.discrete_laplace import Geometric
    >>> n = TotalEstimate(NoisyTotal(-3, Fraction(1), Geometric(scale=2, sensitivity=1)), low=Fraction(0))
    >>> n.value, n.interval(0.05)
    (0.0, (0.0, 3.0))
    """

    total: NoisyTotal
    low: Fraction | None = None
    high: Fraction | None = None

    stored: ClassVar[StoredForm] = StoredForm.of(
        "amount", total="noisy", low="amount or null", high="amount or null"
    )

    @property
    def value(self) -> float:
        """The released number."""
        return float(self._within(self.total.value, self.total.value)[0])

    def interval(self, beta: float) -> tuple[float, float]:
        """Bound the exact number: the exact quantile of the noise, both ways."""
        return outward(self._within(*self.total.box(beta)))

    def _within(self, low: Fraction, high: Fraction) -> Box:
        least = low if self.low is None else self.low
        most = max(least, high) if self.high is None else self.high
        return clip((low, high), least, max(least, most))
