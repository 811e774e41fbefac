"""Noisy totals: the query for exact totals, their sensitivity, and the released numbers.

    need           exact number per key        noise

    TotalNeed      sum of one term             geometric under pure ε, else discrete Gaussian
    DistinctNeed   number of distinct values   geometric under pure ε, else discrete Gaussian

The planner chooses the noise, and `answer.ask` draws it. Each release is one event, for any number of
keys: its sensitivity is that of the whole vector.
A release gives one `NoisyTotal` per key. It is a count or a sum by itself (`TotalEstimate`), a summand of
one (`JointTotal`), and an input of all other statistics (`weighted_sums`). Ledgers keep estimates for ever,
under the names and fields of their `StoredForm`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar, Protocol, TypeAlias

from ...arithmetic.rounding import at_least
from ...frozen import frozen
from ...mechanisms.sensitivity import Sensitivity
from ...privacy.events import Event
from ...query.algebra.expression import Expression
from ...query.algebra.tally import Tally, Term
from ...query.bounds.contribution_bounds import people_share, weight_of
from ...query.bounds.public_cells import Cells
from ...query.bounds.sensitivity import influence
from ...query.domains.domain import Scalar
from ..laws.interval_arithmetic import Box, clip, outward
from ..laws.linear_combination import (
    Noises,
    TotalWeights,
    WeightedSum,
    total_reach,
    weighted_noises,
)
from ..laws.noise_sum import Additive, IntegerNoise, noise_of
from .basis import Addend, Basis, centred, number_addend, present, rows_addend

KeyValues: TypeAlias = tuple[Scalar, ...]
"""The values of one key, one for each column of GROUP BY."""
ExactTotals: TypeAlias = dict[KeyValues, int]
"""The exact totals of one term, for the keys that occur."""


@frozen
class TotalNeed:
    """Need for the totals of the single term of `tally`; one whole step is worth `unit`.

    Guarantee: adding or removing one unit changes the vector of totals by at most `sensitivity`.
    Law: tests/query/test_sensitivity.py::TestTotalsOfPeople
    """

    tally: Tally
    unit: Fraction
    sensitivity: Sensitivity

    def exact(self, counts: ExactTotals, key: KeyValues) -> int:
        """Return the exact total of a key, before noise; 0 for a key that does not occur."""
        return counts.get(key, 0)


@frozen
class DistinctNeed:
    """Need for the number of cells with a total above 0, per key.

    The last keys of the tally are the values of the cell.
    """

    tally: Tally
    cells: Cells
    sensitivity: Sensitivity

    @property
    def unit(self) -> Fraction:
        """The worth of one whole step: one value."""
        return Fraction(1)

    def exact(self, counts: ExactTotals, key: KeyValues) -> int:
        """Return the exact number of cells that occur in a key, before noise."""
        if self.cells.open:
            return counts.get(key, 0)
        occurring = 0
        for place in self.cells.places:
            if counts.get((*key, *place), 0) > 0:
                occurring += 1
        return occurring

    def occurring(self, counts: ExactTotals) -> ExactTotals:
        """Count the values with a total above 0 for each key, where the values are not listed.

        NULL is no value.
        """
        width = len(self.tally.keys) - len(self.cells.expressions)
        occurring: ExactTotals = {}
        for values, total in counts.items():
            key = values[:width]
            if total > 0 and None not in values[width:]:
                occurring[key] = occurring.get(key, 0) + 1
        return occurring


class _UnitNeed(Protocol):
    """Need whose totals are counted in whole steps."""

    @property
    def unit(self) -> Fraction:
        """The worth of one whole step."""


@frozen
class AdditiveRelease:
    """Planned release with additive noise: its event, and its noise in the unit of the totals."""

    need: _UnitNeed
    mechanism: Additive

    @property
    def event(self) -> Event:
        """The event that accountants price: one for all totals and keys together."""
        return self.mechanism.event

    @property
    def unit(self) -> Fraction:
        """The worth of one whole step."""
        return self.need.unit

    @property
    def scale(self) -> float:
        """The scale of the noise, in the unit of the total."""
        # Rounds up: a plan never shows less noise than is drawn.
        return at_least(self.mechanism.scale * self.unit)

    def error(self, beta: float = 0.05) -> float:
        """Bound the error of one total in one key with probability at least 1 − β, in its unit."""
        # Rounds up: the promise of accuracy is never too small.
        return at_least(self.mechanism.error(beta) * self.unit)


@frozen
class NoisyRelease(AdditiveRelease):
    """Planned release of totals, or of numbers of distinct values, with additive noise."""

    need: TotalNeed | DistinctNeed


def total_need(addend: Addend, basis: Basis, *, people: bool = False) -> TotalNeed:
    """State the query and the sensitivity of one total, after contribution bounding.

    `people`: each person counts once in a key, whatever the number of rows.
    """
    share = basis.share
    if people:
        share = people_share(basis.rows, keyed=bool(basis.keys))
    max_step = max(1, -addend.low, addend.high)
    # Shares of a person are fractions; the weight makes them whole steps of step/weight each.
    weight = weight_of(max_step, share)
    term = Term(addend.expression, weight, addend.low * weight, addend.high * weight)
    tally = Tally(basis.rows, basis.keys, (term,), share, people=people, joined=basis.joined)
    sensitivity = influence(tally, 0, basis.key_count)
    return TotalNeed(tally, addend.step / weight, sensitivity)


def centred_needs(x: Expression, basis: Basis) -> list[TotalNeed]:
    """State the totals of centred values, and of rows that have a value."""
    # Centred values have half the sensitivity of the values themselves.
    total = number_addend(centred(x, basis.columns), basis.columns)
    rows = rows_addend(present(x, basis.rows))
    return [total_need(total, basis), total_need(rows, basis)]


@frozen
class NoisyTotal:
    """Released total, in whole steps that are worth `unit` each."""

    steps: int
    unit: Fraction
    mechanism: Additive

    @property
    def value(self) -> Fraction:
        """The released number."""
        return self.steps * self.unit

    @property
    def noise(self) -> IntegerNoise:
        """The law of its noise, in floats."""
        return noise_of(self.mechanism, float(self.unit))

    def box(self, beta: float, of: int = 1) -> Box:
        """Bound the exact total.

        With probability at least 1 − β all of `of` independent totals lie in their boxes at once.
        """
        reach = self.mechanism.error(beta, cells=of) * self.unit
        return self.value - reach, self.value + reach


@frozen
class StoredForm:
    """Stored form of an estimate: its permanent name, and the kind of every field that ledgers keep.

    The kinds are those that `answer/stored.py` writes.

    Guarantee: forms and fields are only added, so that every stored answer stays readable.
    Law: tests/statistics/test_recipes.py::test_stored_forms_keep_every_field_under_names_of_their_own
    """

    name: str
    fields: Mapping[str, str]

    @classmethod
    def of(cls, name: str, /, **fields: str) -> StoredForm:
        """Return a stored form with its fields in this order."""
        return cls(name, fields)


@frozen
class TotalEstimate:
    """Released count or sum, clipped to the public bounds `low` and `high` where they are given.

    Guarantee: the interval contains the exact total with probability at least 1 − β.
    Law: tests/answer/test_coverage.py::test_rows_as_units

    >>> from discreet.statistics.releases.total import NoisyTotal, TotalEstimate
    >>> from fractions import Fraction
    >>> from discreet.mechanisms.additive.discrete_laplace import Geometric
    >>> total = NoisyTotal(-3, Fraction(1), Geometric(scale=2, sensitivity=1))
    >>> n = TotalEstimate(total, low=Fraction(0))
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
        released = self.total.value
        return float(self._within(released, released)[0])

    def interval(self, beta: float) -> tuple[float, float]:
        """Bound the exact total by the exact quantile of the noise, both ways."""
        return outward(self._within(*self.total.box(beta)))

    def _within(self, low: Fraction, high: Fraction) -> Box:
        least = low if self.low is None else self.low
        most = high if self.high is None else self.high
        return clip((low, high), least, max(least, most))


def noises_of(totals: tuple[NoisyTotal, ...]) -> Noises:
    """Return the noise of each total."""
    first = totals[0]
    # Totals that were released together share one law: it is computed once.
    if all(total.mechanism is first.mechanism and total.unit is first.unit for total in totals):
        return (first.noise,) * len(totals)
    return tuple(total.noise for total in totals)


def weighted_sums(totals: tuple[NoisyTotal, ...], *weights: TotalWeights) -> list[WeightedSum]:
    """Return weighted sums of released totals in floats, each with its weights."""
    sums = []
    for one, exact in zip(weights, exact_sums(totals, *weights), strict=True):
        sums.append(WeightedSum(float(exact), tuple(map(float, one))))
    return sums


def exact_sums(totals: tuple[NoisyTotal, ...], *weights: TotalWeights) -> list[Fraction]:
    """Return exact weighted sums of released totals, one for each tuple of weights."""
    return [Fraction(*sum_quotient(one, totals)) for one in weights]


def sum_quotient(weights: TotalWeights, totals: tuple[NoisyTotal, ...]) -> tuple[int, int]:
    """Return the weighted sum of released totals as a numerator and a denominator.

    The fraction is not reduced at each step: an answer has hundreds of these sums.
    """
    numerator = 0
    denominator = 1
    for weight, total in zip(weights, totals, strict=True):
        if not weight:
            continue
        addend = weight.numerator * total.steps * total.unit.numerator
        addend_denominator = weight.denominator * total.unit.denominator
        if addend_denominator == denominator:
            numerator += addend
        else:
            numerator = numerator * addend_denominator + addend * denominator
            denominator *= addend_denominator
    return numerator, denominator


@frozen
class JointTotal:
    """Released count or sum that is a weighted sum of several totals.

    `whole` says that rows count in full, so that the exact count is a whole number. The noisy count
    need not be one: it is shown rounded and stored exactly. The interval shrinks to the whole
    numbers in it and holds as often.
    `names` identify totals: in one key, totals of one name are one total with one noise.

    >>> from discreet.statistics.releases.total import JointTotal, NoisyTotal
    >>> from fractions import Fraction
    >>> from discreet.mechanisms.additive.discrete_laplace import Geometric
    >>> pair = tuple(NoisyTotal(n, Fraction(1, 100), Geometric(100, 100)) for n in (4012, 6030))
    >>> n = JointTotal(pair, (Fraction(1), Fraction(1)), whole=True)
    >>> n.value, n.exact, n.interval(0.05)
    (100.0, Fraction(5021, 50), (97.0, 104.0))
    """

    totals: tuple[NoisyTotal, ...]
    weights: TotalWeights
    low: Fraction | None = None
    whole: bool = False
    names: tuple[str, ...] = ()

    stored: ClassVar[StoredForm] = StoredForm.of(
        "joint total",
        totals="noisies",
        weights="weights",
        low="amount or null",
        whole="truth",
        names="texts",
    )

    @property
    def exact(self) -> Fraction:
        """The released number, before it is rounded."""
        [released] = exact_sums(self.totals, self.weights)
        if self.low is None:
            return released
        return max(released, self.low)

    @property
    def value(self) -> float:
        """The number that is shown."""
        if self.whole:
            return float(math.floor(self.exact + Fraction(1, 2)))
        return float(self.exact)

    def interval(self, beta: float) -> tuple[float, float]:
        """Bound the exact number by the quantile of the noise of the sum, both ways."""
        weighted = weighted_noises(noises_of(self.totals), self.weights)
        reach, reach_denominator = total_reach(weighted, beta).as_integer_ratio()
        released, denominator = sum_quotient(self.weights, self.totals)
        # Both ends over one denominator, in whole numbers: an answer has hundreds of them.
        below = released * reach_denominator - reach * denominator
        above = released * reach_denominator + reach * denominator
        denominator *= reach_denominator
        if self.whole:
            # Round inward, ⌈below⌉ and ⌊above⌋: the exact count is a whole number between them.
            below = -(-below // denominator)
            above = above // denominator
            denominator = 1
        low = Fraction(below, denominator)
        high = Fraction(above, denominator)
        if self.low is not None:
            low, high = clip((low, high), self.low, max(self.low, high))
        # Without a whole number in between, rounding inward swaps the ends.
        if below > above:
            low, high = min(low, high), max(low, high)
        return outward((low, high))
