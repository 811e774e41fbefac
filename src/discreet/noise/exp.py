"""Certified values of exp(−x): integer bounds of any precision, and a float estimate with margin.

No libm is trusted: the bounds use Python integers only, the estimate only IEEE +, −, × and
comparison.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np

from ..arithmetic.arrays import Floats

Bounds: TypeAlias = tuple[int, int]

DECAY_ERROR = 2.0**-44
"""Absolute error of `decay`."""

# Coefficients (−1)^k/k! of exp(−x), the highest power first, for Horner's rule.
_TAYLOR = tuple((-1.0) ** k / math.factorial(k) for k in range(15, -1, -1))
_LOG2E = 1.4426950408889634
# ln 2 rounded down to 41 bits, so that q · _LN2_HIGH is exact for q < 2^12.
_LN2_HIGH = 0x162E42FEFA3 * 2.0**-41
# ln 2 − _LN2_HIGH, to 2^-94.
_LN2_LOW = 2.8235290563031577e-13
# From here on the estimate is 0: exp(−64) < 2^-92.
_FAR = 64.0
# Below ln 2: no argument reduction is needed.
_NEAR = 0.6931
_POWERS = 0.5 ** np.arange(128)


def exp_neg(num: int, den: int, precision: int) -> Bounds:
    """Bound 2^precision · exp(−num/den) by integers: low ≤ value ≤ high, high − low at most 2.

    Halve the argument j times until it is below 2^-8, sum the alternating Taylor series (whose
    partial sums enclose the limit, Leibniz), square j times. Every rounding goes down for the lower
    and up for the upper bound.

    >>> from discreet.noise.exp import exp_neg
    >>> low, high = exp_neg(1, 1, 20)
    >>> low <= 385749 <= high  # floor(2^20 / e)
    True
    >>> exp_neg(10**300, 1, 64), exp_neg(0, 7, 3)
    ((0, 1), (8, 8))

    Guarantee: low ≤ 2^precision · exp(−num/den) ≤ high, in exact integers.

    Law: tests/noise/test_exp.py::TestIntegerBounds
    """
    if num == 0:
        return 1 << precision, 1 << precision
    # From x ≥ precision on the value is below (2/e)^precision < 1.
    if num >= den * max(precision, 1):
        return 0, 1
    halvings = max(0, (num << 8) // den).bit_length()
    # Each squaring doubles the relative error: two bits for each, and some to spare.
    work = precision + 2 * halvings + 16
    low, high = _series(num, den << halvings, work)
    for _ in range(halvings):
        # a >> b is the floor, for the lower bound; −(−a >> b) is the ceiling, for the upper one.
        low = (low * low) >> work
        high = -(-(high * high) >> work)
    spare = work - precision
    return low >> spare, -(-high >> spare)


def _series(num: int, den: int, work: int) -> Bounds:
    """Bound 2^work · exp(−num/den) for num/den ≤ 1/128.

    Even partial sums of the series are bounds from above, odd ones from below.
    """
    low_x = (num << work) // den
    high_x = -((-num << work) // den)
    low = high = low_term = high_term = 1 << work
    k = 0
    while high_term > 1:
        k += 1
        # Each term is bounded too: floors for its lower bound, ceilings for its upper one.
        low_term = (low_term * low_x >> work) // k
        high_term = -((-high_term * high_x >> work) // k)
        if k & 1:
            # A subtracted term takes its upper bound from the lower sum, and conversely.
            low -= high_term
            high -= low_term
        else:
            low += low_term
            high += high_term
    # Leibniz: the remainder of an alternating series is at most its last term.
    return low - high_term, high + high_term


def exp_between(low: int, high: int, scale: int, precision: int) -> Bounds:
    """Bound 2^precision · exp(−x) for every x from low/2^scale to high/2^scale.

    `low` may be a little below 0; exp(−x) is then bounded by 1.

    >>> from discreet.noise.exp import exp_between
    >>> exp_between(0, 0, 10, 4)
    (16, 16)
    """
    # exp(−x) falls: its lower bound is at the upper end of x, its upper bound at the lower end.
    least, _ = exp_neg(max(high, 0), 1 << scale, precision)
    _, most = exp_neg(max(low, 0), 1 << scale, precision)
    return least, most


def decay(exponents: Floats) -> Floats:
    """Estimate exp(−e) for 0 ≤ e ≤ ∞ with an absolute error of at most `DECAY_ERROR` = 2^-44.

    Errors, which the factor 2^-q only scales down:

    - e = q·ln 2 + f with q·_LN2_HIGH exact: |error of f| < 2^-50;
    - the Taylor remainder is below 0.694^16/16! < 2^-51;
    - the rounding of Horner's rule is below 2·16·2^-53·e^0.694 < 2^-46 (Higham 2002, §5.1).

    >>> import numpy as np
    >>> from discreet.noise.exp import decay
    >>> decay(np.array([0.0, np.inf])).tolist()
    [1.0, 0.0]

    Law: tests/noise/test_exp.py::TestEstimate
    """
    if exponents.size == 0 or exponents.max() <= _NEAR:
        return _horner(exponents)
    near = np.minimum(exponents, _FAR)
    quotient = np.floor(near * _LOG2E)
    # The exact product is subtracted first, so that only the small correction rounds.
    reduced = (near - quotient * _LN2_HIGH) - quotient * _LN2_LOW
    estimate = _horner(reduced) * _POWERS.take(quotient.astype(np.intp))
    estimate[exponents >= _FAR] = 0.0
    return estimate


def _horner(x: Floats) -> Floats:
    total = np.full_like(x, _TAYLOR[0])
    for coefficient in _TAYLOR[1:]:
        total *= x
        total += coefficient
    return total
