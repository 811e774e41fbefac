"""Interval arithmetic on grids: bounds and step of a sum, product, quotient or root.

Guarantee: a result lies within the bounds of its domain, and no intermediate result leaves 64-bit
integers on any store.

Refuses: with `UnsupportedQuery` results that could exceed 64-bit integers.

Law: tests/query/test_domains.py::TestArithmetic
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import gcd, isqrt

from ...errors import UnsupportedQuery
from .domain import MAX_STEPS, Whole


def shared_step(steps: Sequence[Fraction]) -> Fraction:
    """Return the coarsest common grid: the greatest step of which each is a whole multiple.

    >>> from discreet.query.domains.arithmetic import shared_step
    >>> from fractions import Fraction
    >>> shared_step([Fraction(1, 4), Fraction(1, 6)]), shared_step([Fraction(3), Fraction(2)])
    (Fraction(1, 12), Fraction(1, 1))
    """
    common = steps[0]
    for step in steps[1:]:
        # gcd(a/b, c/d) = gcd(a·d, c·b)/(b·d)
        first = common.numerator * step.denominator
        second = step.numerator * common.denominator
        denominator = common.denominator * step.denominator
        common = Fraction(gcd(first, second), denominator)
    return common


def rescale(domain: Whole, step: Fraction) -> Whole:
    """Return the same domain in finer steps, of which the old step is a whole multiple."""
    times = int(domain.step / step)
    low = domain.low * times
    high = domain.high * times
    return Whole(step, low, high, blur=domain.blur)


def common(domains: Sequence[Whole]) -> Whole:
    """Return the domain that holds any of several numbers.

    >>> from discreet.query.domains.arithmetic import common
    >>> from discreet.query.domains.domain import Whole
    >>> from fractions import Fraction
    >>> common([Whole(Fraction(1), 0, 3), Whole(Fraction(1, 2), -1, 1)])
    Whole(step=Fraction(1, 2), low=-1, high=6, keys=None)
    """
    step = shared_step([domain.step for domain in domains])
    rescaled = [rescale(domain, step) for domain in domains]
    low = min(domain.low for domain in rescaled)
    high = max(domain.high for domain in rescaled)
    blur = max(domain.blur for domain in rescaled)
    return Whole(step, low, high, blur=blur)


def negate(domain: Whole) -> Whole:
    """Return the domain of −x."""
    return Whole(domain.step, -domain.high, -domain.low, blur=domain.blur)


def sum_of(x: Whole, y: Whole) -> Whole:
    """Return the domain of x + y, exact on the shared grid."""
    step = shared_step([x.step, y.step])
    left = rescale(x, step)
    right = rescale(y, step)
    low = left.low + right.low
    high = left.high + right.high
    return Whole(step, low, high, blur=x.blur + y.blur)


def product(x: Whole, y: Whole) -> Whole:
    """Return the domain of x·y, exact: the steps multiply."""
    # A product is monotone in each factor, so its extremes are at the ends of both.
    at_low = (x.low * y.low, x.low * y.high)
    at_high = (x.high * y.low, x.high * y.high)
    low = min(*at_low, *at_high)
    high = max(*at_low, *at_high)
    # |x·y − x'·y'| ≤ |x|·|y − y'| + |x − x'|·|y| + |x − x'|·|y − y'|
    blur = largest(x) * y.blur
    blur += x.blur * largest(y)
    blur += x.blur * y.blur
    return Whole(x.step * y.step, low, high, blur=blur)


def largest(x: Whole) -> Fraction:
    """Return the greatest absolute value in a domain."""
    return _most_steps(x) * x.step


def _most_steps(x: Whole) -> int:
    """Return the greatest absolute number of steps."""
    return max(abs(x.low), abs(x.high))


def half_up(value: Fraction) -> int:
    """Round to the nearest integer, halves upward: ⌊x + 1/2⌋.

    >>> from discreet.query.domains.arithmetic import half_up
    >>> from fractions import Fraction
    >>> half_up(Fraction(5, 2)), half_up(Fraction(-5, 2))
    (3, -2)
    """
    doubled = 2 * value + 1
    return doubled.numerator // (2 * doubled.denominator)


def rounded_domain(domain: Whole, rounded: Callable[[Fraction], int]) -> Whole:
    """Return the domain of a number rounded to an integer: down, up or half up."""
    # Stores compute (2·n·p + q) // (2·q) for a step p/q, which must fit.
    step = domain.step
    dividend = 2 * _most_steps(domain) * step.numerator
    _require_int64(dividend + step.denominator)
    # All three ways of rounding keep the order, so bounds stay bounds.
    low = rounded(domain.low * step)
    high = rounded(domain.high * step)
    return Whole(Fraction(1), low, high)


def quotient(x: Whole, y: Whole) -> Whole:
    """Return the domain of x/y: exact by a constant, else rounded half up to a binary grid.

    The quotient is largest where y is the nonzero number nearest to 0. So it is bounded also where
    y may be 0 (there it is NULL). The grid's step is the largest power of two that is at most 2^-30
    of that bound. If 64-bit integers are too small for it, coarser steps are tried, up to 2^-5.

    Refuses: with `UnsupportedQuery` a quotient for which no such step fits, and the constant 0 as
    y.

    >>> from discreet.query.domains.arithmetic import quotient
    >>> from discreet.query.domains.domain import Whole
    >>> from fractions import Fraction
    >>> quotient(Whole(Fraction(1), 0, 120), Whole(Fraction(1), 10, 10))
    Whole(step=Fraction(1, 10), low=0, high=120, keys=None)
    """
    if y.low == y.high:
        return _by_constant(x, y.low * y.step)
    nearest_steps = min(abs(y.low), abs(y.high))
    if y.low <= 0 <= y.high:
        nearest_steps = 1
    nearest = nearest_steps * y.step
    bound = largest(x) / nearest
    if not bound:
        return Whole(Fraction(1), 0, 0)
    for exponent in range(30, 4, -1):
        step = _power_of_two(bound / (1 << exponent))
        if _fits(x, y, step):
            # One step more than the bound: half up may round away from zero.
            high = int(bound / step) + 1
            signed = x.low < 0 or y.low < 0
            low = -high if signed else 0
            blur = step / 2 + _quotient_blur(x, y, nearest)
            return Whole(step, low, high, blur=blur)
    raise UnsupportedQuery("a quotient would exceed 64-bit integers; clip or round its parts first")


def _by_constant(x: Whole, y: Fraction) -> Whole:
    if y == 0:
        raise UnsupportedQuery(
            "a division by the constant 0 is always NULL; divide by something else"
        )
    # Steps are positive, so a negative divisor is divided by its size and negated.
    step = x.step / abs(y)
    quotients = Whole(step, x.low, x.high, blur=x.blur / abs(y))
    return quotients if y > 0 else negate(quotients)


def _quotient_blur(x: Whole, y: Whole, nearest: Fraction) -> Fraction:
    """Bound the error of a quotient that comes from the rounding of its operands (their blur).

    x/y − x'/y' = ((x − x') − (x'/y')(y − y'))/y, where |y| ≥ nearest.
    """
    bound = largest(x) / nearest
    # A divisor that might be 0 allows every possible quotient.
    if y.blur >= nearest:
        return 2 * bound + x.blur
    numerator = x.blur + bound * y.blur
    return numerator / (nearest - y.blur)


def _fits(x: Whole, y: Whole, step: Fraction) -> bool:
    """Return whether 2·a·p + b·q and 2·b·q fit into 64 bits.

    There x/y/step = (a·p)/(b·q) for whole steps a of x and b of y.
    """
    ratio = x.step / (y.step * step)
    top = 2 * _most_steps(x) * ratio.numerator
    bottom = 2 * _most_steps(y) * ratio.denominator
    return top + bottom <= MAX_STEPS


def root_scale(x: Whole, step: Fraction) -> Fraction:
    """Return p/q with √x = ½·√(n·p/q) steps for n whole steps of x."""
    return 4 * x.step / step**2


def root(x: Whole) -> Whole:
    """Return the domain of √x, rounded half up to a binary grid of about 2^-23 of the greatest.

    √x in steps is (⌊√N⌋ + 1)//2 with N = ⌊4x/step²⌋ below 2^52. Such an N is a double whose root,
    correctly rounded as IEEE 754 demands, never reaches the next integer: every store finds the
    same ⌊√N⌋.

    >>> from discreet.query.domains.arithmetic import root
    >>> from discreet.query.domains.domain import Whole
    >>> from fractions import Fraction
    >>> root(Whole(Fraction(1), 0, 16)).step, root(Whole(Fraction(1), -9, 0))
    (Fraction(1, 2097152), Whole(step=Fraction(1, 1), low=0, high=0, keys=None))
    """
    if x.high <= 0:
        return Whole(Fraction(1), 0, 0)
    # isqrt rounds down, so one more is above the greatest root.
    greatest = isqrt(int(x.high * x.step)) + 1
    step = _power_of_two(Fraction(greatest, 1 << 23))
    scale = root_scale(x, step)
    for end in (x.low, x.high):
        _require_int64(abs(end) * scale.numerator + scale.denominator)
    blur = step / 2
    if x.blur:
        # |√x − √x'| ≤ √|x − x'|, and √b ≤ b/s + s for every s > 0.
        blur += x.blur / step + step
    half_steps = isqrt(int(x.high * scale))
    high = (half_steps + 1) // 2
    # The greatest root must be in the range also where it was rounded down.
    if (high * step) ** 2 < x.high * x.step:
        high += 1
    return Whole(step, 0, high, blur=blur)


def _power_of_two(bound: Fraction) -> Fraction:
    """Return the largest power of two that is at most `bound`."""
    exponent = bound.numerator.bit_length() - bound.denominator.bit_length()
    # The exponent is exact or one too large, depending on the leading bits.
    power = Fraction(2) ** exponent
    return power if power <= bound else power / 2


def _require_int64(size: int) -> None:
    # 2^63 itself is no 64-bit integer, hence no equality.
    if size >= 2 * MAX_STEPS:
        raise UnsupportedQuery(
            "an expression could exceed 64-bit integers; clip it or use a coarser step"
        )
