"""Linear combinations and quotients of noisy totals, with confidence intervals (Fieller 1954).

COUNT(*) and SUM(x) are totals with noise, and so is any sum of their multiples. For the exact totals a
quotient r = A/B has A − rB = 0. So A − rB of the noisy totals is noise alone, and its law bounds r
(Fieller 1954). That is narrower than the quotient of two intervals, and narrower still if A and B share
noise.

Guarantee: an interval at β misses the exact value with probability at most β.
Law: tests/answer/test_intervals.py, tests/answer/test_coverage.py
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from ...frozen import field, frozen
from ...query.algebra.expression import (
    WINDOWS,
    Call,
    Constant,
    Expression,
    Field,
    Function,
    fields_of,
    window_name,
    windows_of,
)
from ...query.meaning.post_processing import Types, Value, value_of
from ...statistics.laws.interval_arithmetic import Box, outward
from ...statistics.laws.linear_combination import WeightedSum, total_reach
from ...statistics.laws.profile_interval import quotient_ends
from ...statistics.recipe import NoisyValue
from ...statistics.releases.stream_day import StreamDay
from ...statistics.releases.total import JointTotal, NoisyTotal, TotalEstimate

_ASIDE = 0.04
"""Part of β that is spent on the rough intervals within which a quotient is searched."""


@frozen
class NoisyCombination:
    """Constant plus multiples of noisy totals; a total is identified by its row and its release."""

    constant: Fraction
    parts: Mapping[tuple[int, object], tuple[NoisyTotal, Fraction]]

    def times(self, factor: Fraction) -> NoisyCombination:
        """Return a multiple of it."""
        parts = {}
        for key, (total, weight) in self.parts.items():
            parts[key] = (total, weight * factor)
        return NoisyCombination(self.constant * factor, parts)

    def plus(self, other: NoisyCombination) -> NoisyCombination:
        """Return the sum of both."""
        return NoisyCombination.sum((self, other))

    @classmethod
    def sum(cls, combinations: Sequence[NoisyCombination]) -> NoisyCombination:
        """Return the sum; the weights of a total in several of them are added, its noise is one."""
        constant = Fraction(0)
        parts: dict[tuple[int, object], tuple[NoisyTotal, Fraction]] = {}
        for combination in combinations:
            constant += combination.constant
            for key, (total, weight) in combination.parts.items():
                known_weight = parts[key][1] if key in parts else Fraction(0)
                parts[key] = (total, known_weight + weight)
        return cls(constant, parts)

    @property
    def value(self) -> Fraction:
        """Its value by the noisy totals."""
        value = self.constant
        for total, weight in self.parts.values():
            value += total.value * weight
        return value

    def box(self, beta: float) -> Box:
        """Bound its exact value with probability at least 1 − β."""
        days = self.days
        if days:
            return days[0][0].law.box(self.constant, days, beta)
        value = self.value
        reach = Fraction(self.reach(beta))
        return value - reach, value + reach

    @property
    def days(self) -> list[tuple[StreamDay, Fraction]]:
        """Its parts if they are days of a stream, whose noise is shared; else an empty list."""
        parts = self.parts.values()
        return [(total, weight) for total, weight in parts if isinstance(total, StreamDay)]

    def reach(self, beta: float) -> float:
        """Bound its noise with probability at least 1 − β."""
        # Noise that cancels out, with weight 0, does not widen the interval.
        noises = []
        for total, weight in self.parts.values():
            if weight:
                noises.append(total.noise.times(float(weight)))
        if not noises:
            return 0.0
        return total_reach(tuple(noises), beta)


@frozen
class RowAt:
    """Row of noisy values: its index in the table, its keys, and a reader of windows.

    `releases` returns an identity of the noisy total that a statistic was estimated from. It is
    equal for two statistics of one total, and None where that is not known. By default every
    statistic has a total of its own.
    """

    place: int
    row: Mapping[str, NoisyValue]
    keys: Mapping[str, Value]
    window: Callable[[Call], NoisyCombination | None] | None = None
    releases: Callable[[str], object] = str
    types: Types = field(default_factory=dict)


def line_of(expression: Expression, at: RowAt) -> NoisyCombination | None:
    """Read an expression as a linear combination of noisy totals; None if it is none.

    NULLIF(x, 0) is x here: where x may be 0, no quotient by it has a bound.
    """
    match expression:
        case Constant(value=int() | Fraction() as value) if not isinstance(value, bool):
            return NoisyCombination(Fraction(value), {})
        case Field(name=name):
            if name in at.row:
                return _total_line(at, name)
            return _key_line(at.keys.get(name))
        case Call(function=function) if function in WINDOWS:
            if at.window is None:
                return None
            return at.window(expression)
        case Call(
            function=Function.CASE,
            arguments=(Call(function=Function.EQUAL), Constant(value=None), inner),
        ):
            if is_nullif(expression):
                return line_of(inner, at)
            return _branch_line(expression, at)
        case Call(function=Function.CASE):
            return _branch_line(expression, at)
        case Call(function=Function.NEGATE, arguments=(inner,)):
            negated = line_of(inner, at)
            if negated is None:
                return None
            return negated.times(Fraction(-1))
        case Call(function=function, arguments=(left, right)):
            one = line_of(left, at)
            other = line_of(right, at)
            if one is None or other is None:
                return None
            return _combined(function, one, other)
    return None


def _branch_line(case: Call, at: RowAt) -> NoisyCombination | None:
    """Read the branch of a CASE that public facts choose; None if noise chooses."""
    branch = public_branch(case, at)
    if branch is case:
        return None
    return line_of(branch, at)


def public_branch(expression: Expression, at: RowAt) -> Expression:
    """Return the branch of a CASE if public facts of the row decide it; else the expression itself.

    `at.keys` has the keys, and windows that read keys alone.
    """
    match expression:
        case Call(function=Function.CASE, arguments=(*branches, otherwise)):
            for condition, value in zip(branches[::2], branches[1::2], strict=True):
                windows = map(window_name, windows_of(condition))
                if not at.keys.keys() >= fields_of(condition).union(windows):
                    return expression
                # A condition that is NULL does not hold.
                if value_of(condition, at.keys, at.types) is True:
                    return public_branch(value, at)
            return public_branch(otherwise, at)
    return expression


def is_nullif(expression: Expression) -> bool:
    """Return whether an expression is NULLIF(x, 0): CASE WHEN x = 0 THEN NULL ELSE x END."""
    match expression:
        case Call(
            function=Function.CASE,
            arguments=(
                Call(function=Function.EQUAL, arguments=(x, Constant(value=0))),
                Constant(value=None),
                same,
            ),
        ):
            return x == same
    return False


def _total_line(at: RowAt, name: str) -> NoisyCombination | None:
    """Return a statistic as a combination of the totals that it was estimated from."""
    place = at.place
    made = at.row[name]
    if isinstance(made, JointTotal):
        # Totals of a joint release have names of their own, in a tuple: no statistic is called so.
        parts: dict[tuple[int, object], tuple[NoisyTotal, Fraction]] = {}
        for own_name, total, weight in zip(made.names, made.totals, made.weights, strict=True):
            parts[place, (own_name,)] = (total, weight)
        return NoisyCombination(Fraction(0), parts)
    if isinstance(made, TotalEstimate):
        release = at.releases(name)
        # Another statistic may have the same noise: then only interval arithmetic is safe.
        if release is None:
            return None
        return NoisyCombination(Fraction(0), {(place, release): (made.total, Fraction(1))})
    return None


def _key_line(value: Value) -> NoisyCombination | None:
    if isinstance(value, bool) or not isinstance(value, int | Fraction):
        return None
    return NoisyCombination(Fraction(value), {})


def _combined(
    function: Function, one: NoisyCombination, other: NoisyCombination
) -> NoisyCombination | None:
    """Return + − × / of two combinations; None where the result is not linear."""
    match function:
        case Function.ADD:
            return one.plus(other)
        case Function.SUBTRACT:
            return one.plus(other.times(Fraction(-1)))
        case Function.MULTIPLY if not one.parts or not other.parts:
            if not one.parts:
                return other.times(one.constant)
            return one.times(other.constant)
        case Function.DIVIDE if not other.parts and other.constant:
            return one.times(1 / other.constant)
    return None


def bound_quotient(expression: Expression, at: RowAt, beta: float) -> tuple[float, float] | None:
    """Bound a linear combination of totals or a quotient of two, with probability at least 1 − β.

    None if the expression is neither, or has no bound.
    """
    combination = line_of(expression, at)
    if combination is not None:
        return outward(combination.box(beta))
    quotient = _quotient_of(expression, at)
    if quotient is None:
        return None
    top, bottom = quotient
    if top.days or bottom.days:
        # Noise of days is shared: a quotient is bounded by the intervals of both.
        return None
    return _fieller(top, bottom, beta)


def _quotient_of(
    expression: Expression, at: RowAt
) -> tuple[NoisyCombination, NoisyCombination] | None:
    """Read a quotient of two linear combinations, perhaps times a constant."""
    match expression:
        case Call(function=Function.DIVIDE, arguments=(top, bottom)):
            numerator = line_of(top, at)
            denominator = line_of(bottom, at)
            if numerator is None or denominator is None:
                return None
            return numerator, denominator
        case Call(function=Function.MULTIPLY, arguments=(left, right)):
            for factor, inner in ((left, right), (right, left)):
                times = line_of(factor, at)
                found = _quotient_of(inner, at)
                if times is not None and not times.parts and found is not None:
                    return found[0].times(times.constant), found[1]
    return None


def _fieller(
    top: NoisyCombination, bottom: NoisyCombination, beta: float
) -> tuple[float, float] | None:
    """Bound A/B (`top`/`bottom`) with probability at least 1 − β; None if B may be 0.

    It is bounded by the intervals of A and B first, then by the noise of A − rB within these.
    """
    if bottom.value < 0:
        top = top.times(Fraction(-1))
        bottom = bottom.times(Fraction(-1))
    # Union bound: β·_ASIDE for both rough intervals, the remainder for the noise of A − rB.
    rough_beta = beta * _ASIDE / 2
    bottom_reach = bottom.reach(rough_beta)
    bottom_low = float(bottom.value) - bottom_reach
    bottom_high = float(bottom.value) + bottom_reach
    # A divisor that may be 0 has no bounded quotient.
    if bottom_low <= 0:
        return None
    top_reach = top.reach(rough_beta)
    top_low = float(top.value) - top_reach
    top_high = float(top.value) + top_reach
    divisors = (bottom_low, bottom_high)
    corners = [end / divisor for end in (top_low, top_high) for divisor in divisors]
    # One float outwards: rounding must not cut the bounds within which the ends are searched.
    lowest = math.nextafter(min(corners), -math.inf)
    highest = math.nextafter(max(corners), math.inf)
    both = top.plus(bottom)
    noises = tuple(total.noise for total, _ in both.parts.values())
    return quotient_ends(
        _weighted_sum(top, both),
        _weighted_sum(bottom, both),
        noises,
        (lowest, highest),
        beta * (1 - _ASIDE),
    )


def _weighted_sum(combination: NoisyCombination, both: NoisyCombination) -> WeightedSum:
    """Return a combination in floats, with a weight for each total of both; 0 where it has none."""
    weights = []
    for key in both.parts:
        weight = Fraction(0)
        if key in combination.parts:
            _, weight = combination.parts[key]
        weights.append(float(weight))
    return WeightedSum(float(combination.value), tuple(weights))
