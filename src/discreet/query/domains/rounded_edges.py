"""Decimals and real columns: a literal and the stored values it is compared with are rounded by one rule.

A column `Real` without a declared step holds whole steps of a binary grid: 0.1 is held as the step nearest to it, a
little above or below. So in x ≥ 0.1 the literal, and in ⌊10·x⌋ every edge j/10, is rounded to the grid as the values
were, halves to even; then the value 0.1 is at least 0.1, and in the bin that begins there. Exact grids are not touched:
values are multiples of a declared step, where a literal or all edges lie on the grid nothing changes, and only the bare
column moves in steps, so only a·x + b with constants is treated so.

For a > 0 and edges t(j) = (j − b)/(a·step) = (j·u − v)/d: n ≥ round(t) iff 2n + 1 > 2t, or 2n + 1 = 2t and n even. So
the last j with n ≥ round(t(j)) is ⌊((2n + 1)·d + 2v − (n mod 2))/(2u)⌋: one division of whole numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import lcm

from ...data.columns.cell import nearest
from ...frozen import frozen
from ..algebra.expression import Call, Constant, Expression, Field, Function
from .domain import MOST_STEPS, Domain, Whole

Columns = Mapping[str, Domain]
_TESTS = (Function.EQUAL, Function.UNEQUAL, Function.LESS, Function.AT_MOST, Function.AMONG)
_HALF = Fraction(1, 2)


@frozen
class Affine:
    """The expression times·x + plus of one column x."""

    column: str
    times: Fraction
    plus: Fraction


@frozen
class RoundedTest:
    """A comparison of a column's steps with whole steps; `turned`: the steps stand on the right."""

    column: str
    function: Function
    turned: bool
    steps: tuple[int, ...]


@frozen
class Binned:
    """A number rounded to an integer: sign·⌊((2·side·n + 1)·d + 2v − (n mod 2))/(2u)⌋ of a column's steps n."""

    column: str
    side: int
    sign: int
    d: int
    v: int
    u: int
    domain: Whole

    def at(self, steps: int) -> int:
        """Return the integer of a value of so many steps."""
        return self.sign * ((self.top(steps) - steps % 2) // (2 * self.u))

    def top(self, steps: int) -> int:
        """Return what is divided, but for the parity of the steps."""
        return (2 * self.side * steps + 1) * self.d + 2 * self.v


def rounded_test(call: Call, columns: Columns) -> RoundedTest | None:
    """Return how a comparison with constants is made in a column's own steps; None where it is exact as it stands.

    >>> from discreet.query.algebra.expression import Call, Constant, Field, Function
    >>> from discreet.query.domains.domain import Whole
    >>> from discreet.query.domains.rounded_edges import rounded_test
    >>> from fractions import Fraction
    >>> x = {"x": Whole(Fraction(1, 8), 0, 16, rounded=True)}
    >>> rounded_test(Call(Function.AT_MOST, (Constant(Fraction(1, 10)), Field("x"))), x).steps
    (1,)
    """
    if call.function not in _TESTS or len(call.arguments) < 2:
        return None
    turned = isinstance(call.arguments[0], Constant)
    inner, *others = reversed(call.arguments) if turned else call.arguments
    line = _affine(inner)
    domain = None if line is None else columns.get(line.column)
    if line is None or not isinstance(domain, Whole) or not domain.rounded:
        return None
    numbers = [number for other in others if (number := _number(other)) is not None]
    if len(numbers) < len(others):
        return None
    exact = [(number - line.plus) / line.times / domain.step for number in numbers]
    steps = tuple(map(nearest, exact))
    if (
        all(step == each for step, each in zip(steps, exact, strict=True))
        or max(map(abs, steps)) > MOST_STEPS
    ):
        return None
    return RoundedTest(line.column, call.function, turned != (line.times < 0), steps)


def rounded_bin(call: Call, columns: Columns) -> Binned | None:
    """Return how FLOOR, CEILING or ROUND of a·x + b is worked out from a column's steps; None where it is exact.

    >>> from discreet.query.algebra.expression import Call, Constant, Field, Function
    >>> from discreet.query.domains.domain import Whole
    >>> from discreet.query.domains.rounded_edges import rounded_bin
    >>> from fractions import Fraction
    >>> tenths = Call(Function.FLOOR, (Call(Function.MULTIPLY, (Field("x"), Constant(10))),))
    >>> found = rounded_bin(tenths, {"x": Whole(Fraction(1, 1024), 0, 2048, rounded=True)})
    >>> [found.at(round(j * 1024 / 10)) for j in range(6)]
    [0, 1, 2, 3, 4, 5]
    """
    if (
        call.function not in (Function.FLOOR, Function.CEILING, Function.ROUND)
        or len(call.arguments) != 1
    ):
        return None
    line = _affine(call.arguments[0])
    domain = None if line is None else columns.get(line.column)
    if line is None or not isinstance(domain, Whole) or not domain.rounded:
        return None
    sign = -1 if call.function is Function.CEILING else 1
    times, plus = (
        sign * line.times,
        sign * line.plus + (_HALF if call.function is Function.ROUND else 0),
    )
    width = 1 / (abs(times) * domain.step)
    first = plus * width
    d = lcm(width.denominator, first.denominator)
    if d == 1:
        return None
    side = 1 if times > 0 else -1
    rule = Binned(line.column, side, sign, d, int(first * d), int(width * d), domain)
    if (
        max(abs(rule.top(end)) for end in (domain.low, domain.high)) >= MOST_STEPS
        or 2 * rule.u > MOST_STEPS
    ):
        return None
    low, high = sorted((rule.at(domain.low), rule.at(domain.high)))
    return Binned(line.column, side, sign, d, rule.v, rule.u, Whole(Fraction(1), low, high))


def _number(expression: Expression) -> Fraction | None:
    """Return the number of a constant that is one."""
    if not isinstance(expression, Constant) or expression.time is not None:
        return None
    value = expression.value
    return None if value is None or isinstance(value, bool | str) else Fraction(value)


def _affine(expression: Expression) -> Affine | None:
    """Take a·x + b apart, for one column x and constants a ≠ 0 and b."""
    match expression:
        case Field(name=name):
            return Affine(name, Fraction(1), Fraction(0))
        case Call(function=Function.NEGATE, arguments=(x,)):
            return _scale(_affine(x), Fraction(-1))
        case Call(function=function, arguments=(x, y)):
            return _of_two(function, x, y)
    return None


def _of_two(function: Function, x: Expression, y: Expression) -> Affine | None:
    left, right = _number(x), _number(y)
    match function, left, right:
        case Function.ADD, None, Fraction():
            return _move(_affine(x), right)
        case Function.ADD, Fraction(), None:
            return _move(_affine(y), left)
        case Function.SUBTRACT, None, Fraction():
            return _move(_affine(x), -right)
        case Function.SUBTRACT, Fraction(), None:
            return _move(_scale(_affine(y), Fraction(-1)), left)
        case Function.MULTIPLY, None, Fraction():
            return _scale(_affine(x), right)
        case Function.MULTIPLY, Fraction(), None:
            return _scale(_affine(y), left)
        case Function.DIVIDE, None, Fraction() if right:
            return _scale(_affine(x), 1 / right)
    return None


def _move(line: Affine | None, by: Fraction) -> Affine | None:
    return None if line is None else Affine(line.column, line.times, line.plus + by)


def _scale(line: Affine | None, by: Fraction) -> Affine | None:
    return None if line is None or by == 0 else Affine(line.column, line.times * by, line.plus * by)
