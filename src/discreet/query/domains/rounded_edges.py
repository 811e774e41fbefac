"""Decimals beside real columns: a literal is rounded by the rule that rounded the stored values.

A column `Real` without a declared step holds whole steps of a binary grid: 0.1 is held as the
step nearest to it, a little above or below. So in x ≥ 0.1 the literal, and in ⌊10·x⌋ every edge
j/10, is rounded to the grid as the values were, halves to even. Then the value 0.1 is at least
0.1, and in the bin that begins there.

Exact grids are not touched: values are multiples of a declared step, and where a literal or all
edges lie on the grid nothing changes. Only the bare column moves in steps, so only a·x + b with
constants is treated so.

For a > 0 and edges t(j) = (j − b)/(a·step) = (j·u − v)/d: n ≥ round(t) iff 2n + 1 > 2t, or
2n + 1 = 2t and n even. So the last j with n ≥ round(t(j)) is
⌊((2n + 1)·d + 2v − (n mod 2))/(2u)⌋: one division of whole numbers.

Guarantee: a value that was declared as a decimal is compared and binned as that decimal.

Law: tests/query/test_rounded_edges.py::TestDecimals
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm

from ...data.columns.cell import round_half_even
from ...frozen import frozen
from ..algebra.expression import COMPARISONS, Call, Constant, Expression, Field, Function
from .domain import MAX_STEPS, Columns, Whole

ROUNDINGS = (Function.FLOOR, Function.CEILING, Function.ROUND)
_HALF = Fraction(1, 2)


@frozen
class Affine:
    """The expression times·x + plus of one column x."""

    column: str
    times: Fraction
    plus: Fraction


@frozen
class RoundedTest:
    """A comparison of a column's number of steps with whole numbers of steps.

    `turned`: the column is on the right side of the comparison.
    """

    column: str
    function: Function
    turned: bool
    steps: tuple[int, ...]


@frozen
class Binned:
    """FLOOR, CEILING or ROUND of a·x + b, computed from the number n of steps of column x.

    It is sign·⌊((2·side·n + 1)·d + 2v − (n mod 2))/(2u)⌋. `side` is the sign of a, after the sign
    −1 of CEILING; `domain` are the integers that occur.
    """

    column: str
    side: int
    sign: int
    d: int
    v: int
    u: int
    domain: Whole

    def at(self, steps: int) -> int:
        """Return the integer of a value with this number of steps."""
        dividend = self.top(steps) - steps % 2
        return self.sign * (dividend // (2 * self.u))

    def top(self, steps: int) -> int:
        """Return the dividend, without the parity of the steps."""
        odd = 2 * self.side * steps + 1
        return odd * self.d + 2 * self.v


def rounded_test(call: Call, columns: Columns) -> RoundedTest | None:
    """Return a comparison with constants in a column's own steps; None where it is exact already.

    >>> from discreet.query.algebra.expression import Call, Constant, Field, Function
    >>> from discreet.query.domains.domain import Whole
    >>> from discreet.query.domains.rounded_edges import rounded_test
    >>> from fractions import Fraction
    >>> x = {"x": Whole(Fraction(1, 8), 0, 16, rounded=True)}
    >>> tenth = Constant(Fraction(1, 10))
    >>> rounded_test(Call(Function.AT_MOST, (tenth, Field("x"))), x).steps
    (1,)
    """
    if call.function not in COMPARISONS or len(call.arguments) < 2:
        return None
    constants = list(call.arguments)
    turned = isinstance(constants[0], Constant)
    # The column is first, unless a constant is: then it is last.
    position = -1 if turned else 0
    affine = _affine(constants.pop(position))
    domain = _rounded_domain(affine, columns)
    if affine is None or domain is None:
        return None
    steps = []
    all_exact = True
    for constant in constants:
        number = _number(constant)
        if number is None:
            return None
        # Where a·x + b = number, x is (number − b)/a, counted in steps.
        value = (number - affine.plus) / affine.times
        exact = value / domain.step
        step = round_half_even(exact)
        all_exact = all_exact and step == exact
        steps.append(step)
    if all_exact or max(map(abs, steps)) > MAX_STEPS:
        return None
    # Dividing by a negative a exchanges the sides of an inequality.
    column_on_right = turned != (affine.times < 0)
    return RoundedTest(affine.column, call.function, column_on_right, tuple(steps))


def rounded_bin(call: Call, columns: Columns) -> Binned | None:
    """Return FLOOR, CEILING or ROUND of a·x + b in a column's own steps; None where it is exact.

    >>> from discreet.query.algebra.expression import Call, Constant, Field, Function
    >>> from discreet.query.domains.domain import Whole
    >>> from discreet.query.domains.rounded_edges import rounded_bin
    >>> from fractions import Fraction
    >>> tenths = Call(Function.FLOOR, (Call(Function.MULTIPLY, (Field("x"), Constant(10))),))
    >>> found = rounded_bin(tenths, {"x": Whole(Fraction(1, 1024), 0, 2048, rounded=True)})
    >>> [found.at(round(j * 1024 / 10)) for j in range(6)]
    [0, 1, 2, 3, 4, 5]
    """
    if call.function not in ROUNDINGS or len(call.arguments) != 1:
        return None
    affine = _affine(call.arguments[0])
    domain = _rounded_domain(affine, columns)
    if affine is None or domain is None:
        return None
    # ⌈y⌉ = −⌊−y⌋, and ROUND(y) = ⌊y + 1/2⌋: all three become FLOOR.
    sign = -1 if call.function is Function.CEILING else 1
    times = sign * affine.times
    plus = sign * affine.plus
    if call.function is Function.ROUND:
        plus += _HALF
    bin_width = 1 / (abs(times) * domain.step)
    offset = plus * bin_width
    d = lcm(bin_width.denominator, offset.denominator)
    # With d = 1 all edges lie on the grid, and nothing is rounded.
    if d == 1:
        return None
    side = 1 if times > 0 else -1
    v = int(offset * d)
    u = int(bin_width * d)
    rule = Binned(affine.column, side, sign, d, v, u, domain)
    # Beyond 64-bit integers the plain rule is used, which is refused where it does not fit.
    dividends = (rule.top(domain.low), rule.top(domain.high))
    if max(map(abs, dividends)) >= MAX_STEPS or 2 * u > MAX_STEPS:
        return None
    # A negative factor of the column exchanges the ends.
    ends = (rule.at(domain.low), rule.at(domain.high))
    bins = Whole(Fraction(1), min(ends), max(ends))
    return Binned(affine.column, side, sign, d, v, u, bins)


def _rounded_domain(affine: Affine | None, columns: Columns) -> Whole | None:
    """Return the domain of a column whose values were rounded to a binary grid."""
    if affine is None:
        return None
    domain = columns.get(affine.column)
    return domain if isinstance(domain, Whole) and domain.rounded else None


def _number(expression: Expression) -> Fraction | None:
    """Return the number of a constant that is one."""
    if not isinstance(expression, Constant) or expression.time is not None:
        return None
    value = expression.value
    if value is None or isinstance(value, bool | str):
        return None
    return Fraction(value)


def _affine(expression: Expression) -> Affine | None:
    """Take a·x + b apart, for one column x and constants a ≠ 0 and b."""
    match expression:
        case Field(name=name):
            return Affine(name, Fraction(1), Fraction(0))
        case Call(function=Function.NEGATE, arguments=(x,)):
            return _scale(_affine(x), Fraction(-1))
        case Call(function=function, arguments=(x, y)):
            return _affine_of_two(function, x, y)
    return None


def _affine_of_two(function: Function, x: Expression, y: Expression) -> Affine | None:
    """Take an operation of two operands apart as a·x + b; None if neither is a constant."""
    left = _number(x)
    right = _number(y)
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


def _move(affine: Affine | None, by: Fraction) -> Affine | None:
    if affine is None:
        return None
    return Affine(affine.column, affine.times, affine.plus + by)


def _scale(affine: Affine | None, by: Fraction) -> Affine | None:
    if affine is None or by == 0:
        return None
    return Affine(affine.column, affine.times * by, affine.plus * by)
