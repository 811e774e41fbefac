"""Confidence intervals of the population: sampling error added to the noise of an answer.

An interval of the data holds the value that all rows give. An interval of the population holds the value
that the population gives which the units (rows, or people) were drawn from, independently of each other.
That they were is the asker's word: no data tells it. The number of units is random too (Poisson sampling).

    D̂ − θ = (D̂ − D) + (D − θ)     noise of the release + sampling error

**Sampling error.** To first order D − θ is a sum over rows of their influence g on the column (delta
method): 1 for COUNT, x for SUM, (x − m)/n for AVG, ((x − m)² − v)/n for VARIANCE; the influences of a
computed column are combined by its derivatives. Let unit i have rows j of weight w, Σ w ≤ k
(`max_rows`). Then (Cauchy and Schwarz)

    Var(D − θ) = E Σᵢ (Σⱼ w g)² ≤ k · E Σ w g²                  equal if every unit has one row

and Σ w g² is bounded by released numbers alone, at the ends of their intervals:

    COUNT         Σ 1        the count; of people (funnels too) that of people, by keys × `max_groups`
    SUM, AVG      Σ x²       by VARIANCE(x), if it was released beside; else x² ≤ (a + b)x − ab for all x
                             in the public range a … b (Bhatia and Davis 2000): an upper bound
    VARIANCE      Σ (x − m)⁴ at most d² Σ (x − m)², d the largest |x − m| in the range: an upper bound
    two columns   Σ g h      a total, 0 where no row has both, else at most √(Σg² · Σh²)

These are upper bounds. They are equal, but for noise, for counts, for fractions and means of 0 and
1, and for columns whose VARIANCE was released beside. For few rows z² times the square of the
largest influence is added (Agresti and Coull 1998), and an estimated variance is multiplied by
Student's factor. Here |Z| > z has probability β for a standard normal Z.

**Both together.** Let |D̂ − D| ≤ R(b) with probability 1 − b, for b = b₁ > … > bₘ. Sampling error S is
independent of the noise and about normal, so P(|e + S| > t) grows with |e| (Anderson 1955). Hence

    P(|D̂ − θ| > t) ≤ Σⱼ (bⱼ₋₁ − bⱼ) P(|R(bⱼ) + S| > t) + bₘ,    b₀ = 1

and t is the least number that makes it 24/25 of β. The other 25th covers the ends that bound the variance.

Guarantee: if sampling errors are normal, the population's value is missed with probability at most β.
Refuses: columns whose influence is not known, keys that were selected privately, a number of rows that is
    public, a unit that is a person's window of time (`InvalidArgument`).
Law: tests/answer/test_population.py::TestConvolution, tests/answer/test_population.py::TestInfluence
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import NormalDist
from typing import cast

from ..data.unit import People
from ..frozen import frozen, replace
from ..query.algebra.chain import leaves
from ..query.algebra.expression import (
    Call,
    Constant,
    Expression,
    Field,
    Function,
    call_of,
)
from ..query.algebra.statistic import (
    Count,
    CountOf,
    CountPeople,
    CountPeopleIf,
    Mean,
    Statistic,
    Sum,
    Variance,
)
from ..query.algebra.tree import Question, Relation
from ..query.bounds.contribution_bounds import max_groups_of
from ..query.bounds.fanout import person_rows
from ..query.bounds.relation_facts import always_present, columns_of, multiplicity, unit_of
from ..query.domains.domain_of import domain_of
from ..statistics.recipe import RowsEstimate
from ..statistics.releases.basis import range_of
from .computed.first_order import first_order
from .computed.window_intervals import TableLaw, read_box

_ASIDE = 0.04
"""Part of β that is spent on the released numbers that bound the variance."""
_FINE = (
    (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    (1.0, 0.75, 0.5, 0.25, 0.08, 0.02),
)
"""Failure probabilities at which the reach of the noise is read: powers of β, and parts of it."""
_COARSE = ((0.2, 0.45, 0.75), (1.0, 0.4, 0.02))
"""The same for computed columns, whose reach takes long: their intervals are a little wider."""
_NEAR = 1.02
"""A union bound that is within 2 % of the sampling error alone is taken as it is."""
SAMPLED = (Count, CountOf, CountPeople, CountPeopleIf, Sum, Mean, Variance)
"""Statistics whose sampling error is known."""
_FEW = 2
"""Of so few rows no variance is believed."""

Ends = tuple[float, float]


@frozen
class RowInfluence:
    """Influence g of each row on a statistic, as sums over rows.

    `square` bounds Σg² from above, and `total` bounds Σg from both sides. Rows that do not meet all
    `conditions` have g = 0. With `indicator`, all rows that meet them have g = 1.
    """

    square: float
    total: Ends
    conditions: frozenset[Expression] = frozenset()
    indicator: bool = False


@frozen
class PopulationLaw:
    """Noisy table with the law of its noise, whose intervals hold the values of the population."""

    table: TableLaw

    def interval(self, expression: Expression, place: int, beta: float) -> Ends | None:
        """Return the interval of a column in row number `place`; None if no bound is known."""
        low, high = self._range(expression, place)
        line = first_order(expression, self.table, place)
        variance = math.inf
        if line is not None:
            variance = self._variance(line.weights, beta)
        if line is None or math.isinf(variance):
            # By the noisy count there may be no rows: nothing but a public range is known.
            return (low, high) if math.isfinite(high - low) else None

        def noise(chance: float) -> float:
            return self._noise(expression, place, line.value, chance)

        fine = isinstance(expression, Field)
        reach = combined_reach(noise, math.sqrt(variance), beta * (1 - _ASIDE), fine=fine)
        if math.isinf(reach):
            return None
        reach += line.rounding
        # One float outwards: rounding must not cut the ends.
        below = math.nextafter(line.value - reach, -math.inf)
        above = math.nextafter(line.value + reach, math.inf)
        return max(low, min(below, high)), min(high, max(above, low))

    def _range(self, expression: Expression, place: int) -> Ends:
        """Return the public range of a statistic: of a mean, or of counts and variances from 0 on."""
        low = high = None
        if isinstance(expression, Field):
            made = self.table.rows[place][expression.name]
            low = getattr(made, "low", None)
            high = getattr(made, "high", None)
            if isinstance(dict(self.table.question.statistics).get(expression.name), Variance):
                low = 0
        return (
            -math.inf if low is None else float(low),
            math.inf if high is None else float(high),
        )

    def _noise(self, expression: Expression, place: int, value: float, chance: float) -> float:
        """Bound the distance of the released value from the data's, failing with this chance."""
        ends = read_box(self.table.interval(expression, place, chance))
        if ends is None:
            return math.inf
        return max(0.0, value - float(ends[0]), float(ends[1]) - value)

    def _variance(self, weights: Mapping[tuple[int, str], float], beta: float) -> float:
        """Bound the variance of the sampling error with probability at least 1 − β/25."""
        question = self.table.question
        statistics = dict(question.statistics)
        each = beta * _ASIDE / max(1, len(weights))
        z = normal_reach(beta)
        rows: dict[int, list[tuple[float, RowInfluence]]] = {}
        people: dict[int, list[tuple[float, RowInfluence]]] = {}
        unit_rows = rows_of_unit(question.rows)
        for (place, name), weight in weights.items():
            if not weight:
                continue
            reader = _Reader(question, self.table, place, each, z)
            if isinstance(statistics[name], CountPeople | CountPeopleIf):
                people.setdefault(place, []).append((weight, reader.influence(name)))
            else:
                influence = replace(reader, unit_rows=unit_rows).influence(name)
                rows.setdefault(place, []).append((weight, influence))
        # Rows of different keys are different rows, so their squares add up.
        by_rows = sum(map(square_of_sum, rows.values())) * unit_rows
        # A person in m keys weighs ω = min(1, g/m) in each: (Σ ωz)² ≤ ωm · Σ ωz², where ωm ≤ g
        # and z adds up the steps of a key. Steps of one weight ω are added before they are squared.
        groups = min(len(people), max_groups_of(question.rows)) if people else 1
        by_people = sum(square_of_sum(steps, exclusive=False) for steps in people.values()) * groups
        # Minkowski: the deviation of a sum is at most the sum of the deviations.
        return (math.sqrt(by_rows) + math.sqrt(by_people)) ** 2


@frozen
class _Reader:
    """Reader of influences in one row of the table, by intervals at failure probability `beta`."""

    question: Question
    table: TableLaw
    place: int
    beta: float
    z: float
    unit_rows: int = 1
    """Rows of one unit. The draws are of units, so few of them are told by this many rows more."""

    @property
    def few(self) -> float:
        """Squared number of rows that is added for small samples: (k·z)² once it is multiplied by k."""
        return self.unit_rows * self.z**2

    def influence(self, name: str) -> RowInfluence:
        """Return the influence of rows on a statistic."""
        statistic = dict(self.question.statistics)[name]
        match statistic:
            case Sum(of=of):
                return self._sum(name, of)
            case Mean():
                return self._mean(name, statistic)
            case Variance():
                return self._variance(name, statistic)
            case CountOf(of=of):
                return self.count(name, conditions_of(of, self.question.rows))
            case CountPeopleIf(condition=condition):
                return self.count(name, frozenset(leaves(Function.AND, condition)))
        return self.count(name)

    def count(self, name: str, conditions: frozenset[Expression] = frozenset()) -> RowInfluence:
        """Return the influence on a count: 1 in each of its rows."""
        low, high = self._ends(name)
        square = max(0.0, high) + self.few
        return RowInfluence(square, (low, high), conditions, indicator=True)

    def _sum(self, name: str, of: Expression) -> RowInfluence:
        """Return the influence on a sum: x in each row."""
        total = self._ends(name)
        low, high = self._range(of)
        largest = max(abs(low), abs(high))
        # x² ≤ largest · |x|, which bounds the squares by the sum where all x have one sign.
        square = largest * max(map(abs, total))
        if low < 0 < high:
            # x² ≤ (a + b)x − ab; −ab is positive, so the greatest number of rows bounds it.
            sloped = max((low + high) * end for end in total)
            square = sloped - low * high * self._most_rows(of)
        square += self.few * largest**2
        spread = self._spread(of)
        if spread is not None:
            variance, (least, most) = spread
            mean_square = max(end**2 for end in total) / least
            square = min(square, variance * most + mean_square)
        return RowInfluence(square, total, conditions_of(of, self.question.rows))

    def _mean(self, name: str, statistic: Mean) -> RowInfluence:
        """Return the influence on a mean: (x − m)/n in each row with a value."""
        of = statistic.of
        conditions = conditions_of(of, self.question.rows)
        least, _ = self._rows(name, statistic)
        # Deviations from the mean add up to 0.
        total = (0.0, 0.0)
        if least <= 1:
            return RowInfluence(math.inf, total, conditions)
        low, high = self._range(of)
        below, above = self._ends(name)
        # The product (b − m)(m − a) grows towards the middle of the range.
        mean = min(max((low + high) / 2, below), above)
        largest = max(high - below, above - low)
        variance = (high - mean) * (mean - low) + self.few * largest**2 / least
        spread = self._spread(of)
        if spread is not None:
            variance = min(variance, spread[0])
        return RowInfluence(variance / least, total, conditions)

    def _variance(self, name: str, statistic: Variance) -> RowInfluence:
        """Return the influence on a variance v, ((x − m)² − v)/n, or on its root, that over 2√v."""
        of = statistic.of
        conditions = conditions_of(of, self.question.rows)
        least, _ = self._rows(name, statistic)
        # Squared deviations from their mean add up to 0.
        total = (0.0, 0.0)
        ends = self._ends(name)
        low, high = (end**2 for end in ends) if statistic.root else ends
        if least <= 1 or math.isinf(high) or (statistic.root and low <= 0):
            return RowInfluence(math.inf, total, conditions)
        farthest = self._farthest(of) ** 2
        # (x − m)² lies in 0 … d² and has the mean v, so its variance is at most v(d² − v).
        variance = min(max(farthest / 2, low), high)
        square = variance * max(0.0, farthest - variance) + self.few * farthest**2 / least
        if statistic.root:
            square /= 4 * low
        return RowInfluence(square / least, total, conditions)

    def _farthest(self, of: Expression) -> float:
        """Bound |x − m| by the public range, and by the mean if it was released beside."""
        low, high = self._range(of)
        for name, statistic in self.question.statistics:
            if isinstance(statistic, Mean) and statistic.of == of:
                below, above = self._ends(name)
                return max(high - below, above - low)
        return high - low

    def _ends(self, name: str) -> Ends:
        """Bound the value of a statistic in the data."""
        ends = self.table.interval(Field(name), self.place, self.beta / 2)
        low, high = read_box(ends) or (-math.inf, math.inf)
        return float(low), float(high)

    def _range(self, of: Expression) -> Ends:
        """Return the public range of an expression."""
        low, high = range_of(domain_of(of, columns_of(self.question.rows)))
        return float(low), float(high)

    def _spread(self, of: Expression) -> tuple[float, Ends] | None:
        """Bound the variance of x and its rows by a VARIANCE that was released; None if none was."""
        for name, statistic in self.question.statistics:
            if not isinstance(statistic, Variance) or statistic.of != of:
                continue
            rows = self._rows(name, statistic)
            units = rows[0] / self.unit_rows
            if units <= _FEW:
                return None
            _, most = self._ends(name)
            variance = most**2 if statistic.root else most
            # (t/z)² ≈ 1 + (z² + 1)/2ν for ν = n − 1, and n/ν for a variance with n in its denominator.
            student = 1 + (self.z**2 + 3) / (2 * (units - 1))
            return variance * student, rows
        return None

    def _rows(self, name: str, statistic: Statistic) -> Ends:
        """Bound the rows that a statistic was made from."""
        if isinstance(statistic, Mean | Variance):
            made = cast("RowsEstimate", self.table.rows[self.place][name])
            return made.rows_interval(self.beta / 2)
        return self._ends(name)

    def _most_rows(self, of: Expression) -> float:
        """Bound the rows with a value of x from above, by any count that was released beside."""
        counted = [
            self._rows(name, statistic)[1]
            for name, statistic in self.question.statistics
            if counts_rows(statistic, of)
        ]
        return max(0.0, min(counted, default=math.inf))


def square_of_sum(parts: Sequence[tuple[float, RowInfluence]], *, exclusive: bool = True) -> float:
    """Bound Σ(Σ w g)² over rows from the weights and influences of several statistics.

    `exclusive`: conditions that no row meets together have no product. People do: one of their
    rows may meet the first, another the second.

    >>> from discreet.answer.population import RowInfluence, square_of_sum
    >>> from discreet.query.algebra.expression import Field
    >>> paid = RowInfluence(30.0, (30.0, 30.0), frozenset({Field("paid")}), indicator=True)
    >>> everybody = RowInfluence(100.0, (100.0, 100.0), indicator=True)
    >>> round(square_of_sum([(0.01, paid), (-0.003, everybody)]), 9)  # 0.3 · 0.7 / 100
    0.0021
    """
    square = 0.0
    for place, (weight, influence) in enumerate(parts):
        square += weight**2 * influence.square
        for other_weight, other in parts[:place]:
            product = 2 * weight * other_weight
            products = _sum_of_products(influence, other, exclusive)
            square += max(product * end for end in products)
    # Ends that cannot all be true at once may give less than 0.
    return max(0.0, square)


def _sum_of_products(one: RowInfluence, other: RowInfluence, exclusive: bool) -> Ends:
    """Bound Σ gh over rows (or people) for the influences g and h of two statistics."""
    if one.indicator and one.conditions <= other.conditions:
        return other.total
    if other.indicator and other.conditions <= one.conditions:
        return one.total
    apart = any(_exclude(x, y) for x in one.conditions for y in other.conditions)
    if exclusive and apart:
        return 0.0, 0.0
    most = math.sqrt(one.square * other.square)
    return -most, most


def _exclude(one: Expression, other: Expression) -> bool:
    """Return whether no row meets both conditions: x = 'a' and x = 'b', or c and NOT c."""
    match one, other:
        case (
            Call(function=Function.EQUAL, arguments=(x, Constant() as a)),
            Call(function=Function.EQUAL, arguments=(y, Constant() as b)),
        ):
            return x == y and a != b
    return one == call_of(Function.NOT, other) or other == call_of(Function.NOT, one)


def conditions_of(of: Expression, rows: Relation) -> frozenset[Expression]:
    """Return conditions that exactly the rows meet in which an expression is not NULL.

    FILTER (WHERE c) is CASE WHEN c THEN x END here.
    """
    match of:
        case Call(function=Function.CASE, arguments=(condition, value, Constant(value=None))):
            return frozenset(leaves(Function.AND, condition)) | conditions_of(value, rows)
    if always_present(of, rows):
        return frozenset()
    return frozenset({call_of(Function.NOT, call_of(Function.IS_NULL, of))})


def counts_rows(statistic: Statistic, of: Expression) -> bool:
    """Return whether a statistic tells how many rows have a value of an expression, or how many there are."""
    if isinstance(statistic, CountOf | Mean | Variance):
        return statistic.of == of
    return isinstance(statistic, Count)


def rows_of_unit(rows: Relation) -> int:
    """Return the most rows by which one unit counts."""
    if isinstance(unit_of(rows), People):
        return person_rows(rows)
    return multiplicity(rows)


def normal_reach(beta: float) -> float:
    """Return the number z that |Z| exceeds with probability β, for a standard normal Z."""
    return -NormalDist().inv_cdf(beta / 2)


def combined_reach(
    noise: Callable[[float], float], deviation: float, beta: float, *, fine: bool = True
) -> float:
    """Bound the sum of noise and a normal error with probability at least 1 − β.

    `noise(b)` bounds the absolute noise with probability at least 1 − b; it may be infinite.
    `deviation` is the standard deviation of the normal error. With `fine`, `noise` is read at more
    values of b, which takes longer and gives a narrower bound.

    Law: tests/answer/test_population.py::TestConvolution

    >>> from discreet.answer.population import combined_reach
    >>> round(combined_reach(lambda b: 0.0, 1.0, 0.05), 3)
    1.969
    """
    if not deviation:
        return noise(beta)
    powers, parts = _FINE if fine else _COARSE
    rarest = parts[-1] * beta
    farthest = noise(rarest)
    alone = normal_reach(beta) * deviation
    # Union bound: both errors at their parts of β.
    high = farthest + normal_reach(beta - rarest) * deviation
    if high <= _NEAR * alone or math.isinf(high):
        return high
    chances = [*(beta**power for power in powers), *(part * beta for part in parts)]
    steps = []
    before = 1.0
    for chance in chances:
        reach = farthest if chance == rarest else noise(chance)
        steps.append((before - chance, reach))
        before = chance

    def miss(t: float) -> float:
        missed = rarest
        for probability, reach in steps:
            missed += probability * _outside(reach, t, deviation)
        return missed

    # Bisection keeps the miss at `high` at most β: a union bound is never below the sum above.
    low = alone
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        if miss(middle) <= beta:
            high = middle
        else:
            low = middle
    return high


def _outside(shift: float, t: float, deviation: float) -> float:
    """Return P(|shift + S| > t) for a normal S."""
    scale = deviation * math.sqrt(2)
    return (math.erfc((t - shift) / scale) + math.erfc((t + shift) / scale)) / 2
