"""Sums and quotients of noisy totals: where the exact one lies, by the law of the noise of all of them together.

COUNT(*) and SUM(x) are totals with noise, and so is any sum of their multiples. A quotient r of two such sums A/B has
A − rB = 0 for the exact totals, so A − rB of the noisy ones is noise (Fieller 1954): narrower than the quotient of two
intervals, and narrower still where A and B have noise in common.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

from ...frozen import frozen
from ...query.algebra.expression import Call, Constant, Expression, Field, Function
from ...query.meaning.post_processing import Value
from ...statistics.joint_estimate import JointTotal
from ...statistics.laws.interval_arithmetic import outward
from ...statistics.laws.linear_combination import WeightedSum, total_reach
from ...statistics.laws.profile_interval import quotient_ends
from ...statistics.recipe import NoisyValue
from ...statistics.releases.total import NoisyTotal, TotalEstimate

_ASIDE = 0.04


@frozen
class NoisyCombination:
    """A constant and multiples of noisy totals, by what tells one total from another: its row and its name there."""

    constant: Fraction
    parts: Mapping[tuple[int, object], tuple[NoisyTotal, Fraction]]

    def times(self, factor: Fraction) -> NoisyCombination:
        """Return a multiple of it."""
        return NoisyCombination(
            self.constant * factor, {key: (one, w * factor) for key, (one, w) in self.parts.items()}
        )

    def plus(self, other: NoisyCombination) -> NoisyCombination:
        """Return the sum of both; noise in common is counted once."""
        parts = dict(self.parts)
        for key, (one, weight) in other.parts.items():
            parts[key] = one, weight + (parts[key][1] if key in parts else 0)
        return NoisyCombination(self.constant + other.constant, parts)

    @property
    def value(self) -> Fraction:
        """What it is by the noisy totals."""
        return self.constant + sum(
            (one.value * weight for one, weight in self.parts.values()), Fraction(0)
        )

    def reach(self, beta: float) -> float:
        """Bound its noise with probability at least 1 − β."""
        noises = tuple(
            one.noise.times(float(weight)) for one, weight in self.parts.values() if weight
        )
        return total_reach(noises, beta) if noises else 0.0


@frozen
class RowAt:
    """A row of noisy values at its place in the table, its keys, and what a window over the table says of it."""

    place: int
    row: Mapping[str, NoisyValue]
    keys: Mapping[str, Value]
    window: Callable[[Call], NoisyCombination | None] | None = None


def line_of(expression: Expression, at: RowAt) -> NoisyCombination | None:
    """Read an expression as a sum of multiples of noisy totals; None if it is none.

    NULLIF(x, 0) is x here: where x may be 0, no quotient by it has a bound.
    """
    row, keys = at.row, at.keys
    match expression:
        case Constant(value=int() | Fraction() as value) if not isinstance(value, bool):
            return NoisyCombination(Fraction(value), {})
        case Field(name=name):
            return (
                _total_line(at.place, name, row[name]) if name in row else _key_line(keys.get(name))
            )
        case Call(function=Function.TOTAL | Function.LAG):
            return None if at.window is None else at.window(expression)
        case Call(
            function=Function.CASE,
            arguments=(Call(function=Function.EQUAL), Constant(value=None), inner),
        ):
            return line_of(inner, at) if is_nullif(expression) else None
        case Call(function=Function.NEGATE, arguments=(inner,)):
            found = line_of(inner, at)
            return None if found is None else found.times(Fraction(-1))
        case Call(function=function, arguments=(left, right)):
            one, other = line_of(left, at), line_of(right, at)
            return None if one is None or other is None else _combined(function, one, other)
    return None


def is_nullif(expression: Expression) -> bool:
    """Return whether an expression is NULLIF(x, 0), as SQL is read: CASE WHEN x = 0 THEN NULL ELSE x END."""
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


def _total_line(place: int, name: str, made: NoisyValue) -> NoisyCombination | None:
    if isinstance(made, JointTotal):
        pairs = zip(made.totals, made.weights, strict=True)
        return NoisyCombination(
            Fraction(0),
            {(place, (name,)): pair for name, pair in zip(made.names, pairs, strict=True)},
        )
    if isinstance(made, TotalEstimate):
        return NoisyCombination(Fraction(0), {(place, name): (made.total, Fraction(1))})
    return None


def _key_line(value: Value) -> NoisyCombination | None:
    if isinstance(value, bool) or not isinstance(value, int | Fraction):
        return None
    return NoisyCombination(Fraction(value), {})


def _combined(
    function: Function, one: NoisyCombination, other: NoisyCombination
) -> NoisyCombination | None:
    match function:
        case Function.ADD:
            return one.plus(other)
        case Function.SUBTRACT:
            return one.plus(other.times(Fraction(-1)))
        case Function.MULTIPLY if not one.parts or not other.parts:
            return other.times(one.constant) if not one.parts else one.times(other.constant)
        case Function.DIVIDE if not other.parts and other.constant:
            return one.times(1 / other.constant)
    return None


def bound_quotient(expression: Expression, at: RowAt, beta: float) -> tuple[float, float] | None:
    """Bound a sum of totals or a quotient of two, with probability at least 1 − β; None if it is neither, or has none.

    Two statistics that may be one and the same total are left to others: their noise may or may not be the same.
    """
    whole = line_of(expression, at)
    if whole is not None:
        value, reach = whole.value, Fraction(whole.reach(beta))
        return outward((value - reach, value + reach)) if _apart(whole) else None
    found = _quotient_of(expression, at)
    if found is None or not _apart(found[0].plus(found[1])):
        return None
    return _fieller(*found, beta)


def _apart(line: NoisyCombination) -> bool:
    """Return whether no two totals of one row that stand alone could be the same one."""
    alone = [(place, one) for (place, key), (one, _) in line.parts.items() if isinstance(key, str)]
    return len(set(alone)) == len(alone)


def _quotient_of(
    expression: Expression, at: RowAt
) -> tuple[NoisyCombination, NoisyCombination] | None:
    """Read a quotient of two lines, perhaps times a constant."""
    match expression:
        case Call(function=Function.DIVIDE, arguments=(top, bottom)):
            one, other = line_of(top, at), line_of(bottom, at)
            return None if one is None or other is None else (one, other)
        case Call(function=Function.MULTIPLY, arguments=(left, right)):
            for factor, inner in ((left, right), (right, left)):
                times, found = line_of(factor, at), _quotient_of(inner, at)
                if times is not None and not times.parts and found is not None:
                    return found[0].times(times.constant), found[1]
    return None


def _fieller(
    top: NoisyCombination, bottom: NoisyCombination, beta: float
) -> tuple[float, float] | None:
    """Bound A/B: by both intervals first, then by the noise of A − rB over what is left."""
    if bottom.value < 0:
        top, bottom = top.times(Fraction(-1)), bottom.times(Fraction(-1))
    low, high = (float(bottom.value) + sign * bottom.reach(beta * _ASIDE / 2) for sign in (-1, 1))
    if low <= 0:
        return None
    near = [float(top.value) + sign * top.reach(beta * _ASIDE / 2) for sign in (-1, 1)]
    corners = [a / b for a in near for b in (low, high)]
    ends = math.nextafter(min(corners), -math.inf), math.nextafter(max(corners), math.inf)
    both = top.plus(bottom)
    noises = tuple(one.noise for one, _ in both.parts.values())
    lines = [_floats(line, both) for line in (top, bottom)]
    return quotient_ends(lines[0], lines[1], noises, ends, beta * (1 - _ASIDE))


def _floats(line: NoisyCombination, both: NoisyCombination) -> WeightedSum:
    weights = (line.parts[key][1] if key in line.parts else Fraction(0) for key in both.parts)
    return WeightedSum(float(line.value), tuple(map(float, weights)))
