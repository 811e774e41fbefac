"""The domains of numbers: where a sum, product or quotient of grid numbers lies, and on which grid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import gcd, isqrt

from ...errors import UnsupportedQuery
from .domain import MOST_STEPS, Whole


def shared_step(steps: Sequence[Fraction]) -> Fraction:
    """Return the coarsest grid that holds several: the greatest step of which each is a whole multiple.

    >>> from discreet.query.domains.arithmetic import shared_step
    >>> from fractions import Fraction
    >>> shared_step([Fraction(1, 4), Fraction(1, 6)]), shared_step([Fraction(3), Fraction(2)])
    (Fraction(1, 12), Fraction(1, 1))
    """
    common = steps[0]
    for step in steps[1:]:
        bottom = common.denominator * step.denominator
        common = Fraction(
            gcd(common.numerator * step.denominator, step.numerator * common.denominator), bottom
        )
    return common


def rescale(domain: Whole, step: Fraction) -> Whole:
    """Count the same numbers in finer steps."""
    times = int(domain.step / step)
    return Whole(step, domain.low * times, domain.high * times, blur=domain.blur)


def common(domains: Sequence[Whole]) -> Whole:
    """Return the domain that holds any of several numbers.

    >>> from discreet.query.domains.arithmetic import common
    >>> from discreet.query.domains.domain import Whole
    >>> from fractions import Fraction
    >>> common([Whole(Fraction(1), 0, 3), Whole(Fraction(1, 2), -1, 1)])
    Whole(step=Fraction(1, 2), low=-1, high=6, keys=None)
    """
    step = shared_step([domain.step for domain in domains])
    ends = [rescale(domain, step) for domain in domains]
    return Whole(
        step, min(e.low for e in ends), max(e.high for e in ends), blur=max(e.blur for e in ends)
    )


def negate(domain: Whole) -> Whole:
    """Return the domain of −x."""
    return Whole(domain.step, -domain.high, -domain.low, blur=domain.blur)


def sum_of(x: Whole, y: Whole) -> Whole:
    """Return the domain of x + y, exact on the shared grid."""
    step = shared_step([x.step, y.step])
    left, right = rescale(x, step), rescale(y, step)
    return Whole(step, left.low + right.low, left.high + right.high, blur=x.blur + y.blur)


def product(x: Whole, y: Whole) -> Whole:
    """Return the domain of x·y, exact: the steps multiply."""
    ends = [a * b for a in (x.low, x.high) for b in (y.low, y.high)]
    blur = largest(x) * y.blur + x.blur * largest(y) + x.blur * y.blur
    return Whole(x.step * y.step, min(ends), max(ends), blur=blur)


def largest(x: Whole) -> Fraction:
    """Return the greatest size of a number."""
    return max(abs(x.low), abs(x.high)) * x.step


def half_up(value: Fraction) -> int:
    """Round to the nearest integer, halves upward: ⌊x + 1/2⌋.

    >>> from discreet.query.domains.arithmetic import half_up
    >>> from fractions import Fraction
    >>> half_up(Fraction(5, 2)), half_up(Fraction(-5, 2))
    (3, -2)
    """
    doubled = 2 * value + 1
    return doubled.numerator // (2 * doubled.denominator)


def whole_part(domain: Whole, rounded: Callable[[Fraction], int]) -> Whole:
    """Return the domain of a number rounded to an integer: down, up or half up, all of which keep the order."""
    _room(
        max(abs(domain.low), abs(domain.high)) * 2 * domain.step.numerator + domain.step.denominator
    )
    return Whole(Fraction(1), rounded(domain.low * domain.step), rounded(domain.high * domain.step))


def quotient(x: Whole, y: Whole) -> Whole:
    """Return the domain of x/y. By a constant it is exact; else it is rounded half up to a power of two.

    The quotient is largest where y is the nonzero number nearest to 0, so it is bounded also where y may be 0 (there it
    is NULL). The step is the power of two at most 2^-30 of that bound, or as fine as 64-bit integers allow.

    >>> from discreet.query.domains.arithmetic import quotient
    >>> from discreet.query.domains.domain import Whole
    >>> from fractions import Fraction
    >>> quotient(Whole(Fraction(1), 0, 120), Whole(Fraction(1), 10, 10))
    Whole(step=Fraction(1, 10), low=0, high=120, keys=None)
    """
    if y.low == y.high:
        return _by_constant(x, y.low * y.step)
    nearest = 1 if y.low <= 0 <= y.high else min(abs(y.low), abs(y.high))
    bound = max(abs(x.low), abs(x.high)) * x.step / (nearest * y.step)
    if not bound:
        return Whole(Fraction(1), 0, 0)
    for exponent in range(30, 4, -1):
        step = _power_of_two(bound / (1 << exponent))
        if _fits(x, y, step):
            most = int(bound / step) + 1
            signed = x.low < 0 or y.low < 0
            return Whole(
                step, -most if signed else 0, most, blur=step / 2 + _moved(x, y, nearest * y.step)
            )
    raise UnsupportedQuery("a quotient would exceed 64-bit integers; clip or round its parts first")


def _by_constant(x: Whole, y: Fraction) -> Whole:
    if y == 0:
        raise UnsupportedQuery(
            "a division by the constant 0 is always NULL; divide by something else"
        )
    ends = (x.low, x.high) if y > 0 else (-x.high, -x.low)
    return Whole(x.step / abs(y), *ends, blur=x.blur / abs(y))


def _moved(x: Whole, y: Whole, nearest: Fraction) -> Fraction:
    """Bound how far a quotient moves with its parts; one whose divisor might be 0 may be anything that is possible.

    x/y − x'/y' = ((x − x') − (x'/y')(y − y'))/y.
    """
    bound = largest(x) / nearest
    if y.blur >= nearest:
        return 2 * bound + x.blur
    return (x.blur + bound * y.blur) / (nearest - y.blur)


def _fits(x: Whole, y: Whole, step: Fraction) -> bool:
    """Check that 2·a·p + b·q and 2·b·q fit, where x/y/step = (a·p)/(b·q) for whole steps a of x and b of y."""
    ratio = x.step / (y.step * step)
    top = 2 * max(abs(x.low), abs(x.high)) * ratio.numerator
    bottom = 2 * max(abs(y.low), abs(y.high)) * ratio.denominator
    return top + bottom <= MOST_STEPS


def root_scale(x: Whole, step: Fraction) -> Fraction:
    """Return p/q with √x = ½·√(n·p/q) steps for n whole steps of x."""
    return 4 * x.step / step**2


def root(x: Whole) -> Whole:
    """Return the domain of √x, rounded half up to a power of two that is about 2^-23 of the greatest.

    √x in steps is (⌊√N⌋ + 1)//2 with N = ⌊4x/step²⌋ below 2^52, and such an N is a double whose root, correctly rounded
    as IEEE 754 demands, never reaches the next integer: every store finds the same ⌊√N⌋.

    >>> from discreet.query.domains.arithmetic import root
    >>> from discreet.query.domains.domain import Whole
    >>> from fractions import Fraction
    >>> root(Whole(Fraction(1), 0, 16)).step, root(Whole(Fraction(1), -9, 0))
    (Fraction(1, 2097152), Whole(step=Fraction(1, 1), low=0, high=0, keys=None))
    """
    if x.high <= 0:
        return Whole(Fraction(1), 0, 0)
    bound = Fraction(isqrt(int(x.high * x.step)) + 1)
    step = _power_of_two(bound / (1 << 23))
    scale = root_scale(x, step)
    for end in (x.low, x.high):
        _room(abs(end) * scale.numerator + scale.denominator)
    # |√x − √x'| ≤ √|x − x'|, and √b ≤ b/s + s for every s; the greatest root lies in the range, rounded down or not
    blur = step / 2 + (x.blur / step + step if x.blur else 0)
    high = (isqrt(int(x.high * scale)) + 1) // 2
    return Whole(step, 0, high + ((high * step) ** 2 < x.high * x.step), blur=blur)


def _power_of_two(bound: Fraction) -> Fraction:
    """Return the largest power of two that is at most `bound`."""
    exponent = bound.numerator.bit_length() - bound.denominator.bit_length()
    power = Fraction(2) ** exponent
    return power if power <= bound else power / 2


def _room(size: int) -> None:
    if size >= 2 * MOST_STEPS:  # 2^63 itself is no 64-bit integer
        raise UnsupportedQuery(
            "an expression could exceed 64-bit integers; clip it or use a coarser step"
        )
