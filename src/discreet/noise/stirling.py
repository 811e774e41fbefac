"""Certified logarithms of binomial coefficients C(N, k), up to a constant, by Stirling's series.

The series is taken at half-integers:

lnΓ(z + 1/2) = z·ln z − z + ln √(2π) + Σ_{k=1}^{M} B_2k(1/2)/(2k(2k−1)·z^(2k−1)) + R_M(z)
(DLMF 5.11.8). With A = (N+1)/2 and d = k − N/2, k! = Γ(A + d + 1/2) and (N−k)! = Γ(A − d + 1/2). So
with t = d/A

    ln(k!(N−k)!) = const + A·φ(t) + S(A + d) + S(A − d),
    φ(t) = (1+t)ln(1+t) + (1−t)ln(1−t) = Σ_{k≥1} t^2k/(k(2k−1)),

where S is the sum above: no logarithm and no π is needed. The duplication formula gives
R_M(z) = r_M(2z) − r_M(z), r_M the remainder of the common series, which is smaller than its first
omitted term (DLMF 5.11(ii)). Hence |R_M(z)| ≤ 2·|B_(2M+2)|/((2M+2)(2M+1)·z^(2M+1)).
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache, lru_cache
from math import comb

from .exp import Bounds


@cache
def bernoulli(n: int) -> Fraction:
    """Return the Bernoulli number B_n, B_1 = −1/2.

    >>> from discreet.noise.stirling import bernoulli
    >>> [str(bernoulli(n)) for n in (0, 1, 2, 4, 12)]
    ['1', '-1/2', '1/6', '-1/30', '-691/2730']
    """
    if n == 0:
        return Fraction(1)
    if n > 1 and n % 2:
        return Fraction(0)
    # Σ_{k≤n} C(n + 1, k) B_k = 0, solved for B_n.
    lower = sum((comb(n + 1, k) * bernoulli(k) for k in range(n)), Fraction(0))
    return -lower / (n + 1)


@lru_cache(maxsize=64)
def stirling(trials: int, x: int, precision: int) -> Bounds:
    """Bound E = ln(k!·(N−k)!) + const, k = ⌊N/2⌋ + x, in units of 2^-precision.

    The constant depends on N alone.

    >>> from discreet.noise.stirling import stirling
    >>> round((stirling(1000, 1, 60)[0] - stirling(1000, 0, 60)[0]) / 2**60, 15)  # ln(501/500)
    0.001998002662673

    Law: tests/noise/test_tables.py::TestStirling
    """
    work = precision + trials.bit_length() + 16
    # Doubled quantities are whole: 2d, 2A = N + 1, and 2z.
    double_d = 2 * (trials // 2 + x) - trials
    low_phi, high_phi = _phi(double_d, trials + 1, work)
    low = (trials + 1) * low_phi
    high = (trials + 1) * high_phi
    for double_z in (trials + 1 + double_d, trials + 1 - double_d):
        least, most = _correction(double_z, work)
        low += 2 * least
        high += 2 * most
    # One bit more, because 2E was bounded; floor below, ceiling above.
    spare = work + 1 - precision
    return low >> spare, -(-high >> spare)


def _phi(num: int, den: int, work: int) -> Bounds:
    """Bound 2^work·φ(num/den) for |num/den| ≤ 1/2.

    Every floor loses less than one unit, and powers keep less than a quarter of the loss before: a
    term is low by less than 3 units. The remainder of the series is below a third of the next
    power.
    """
    square = (num * num << work) // (den * den)
    power = 1 << work
    total = 0
    k = 0
    while power > 1:
        power = power * square >> work
        k += 1
        total += power // (k * (2 * k - 1))
    # All floors lose, so the total is the lower bound; 3 units a term are added above.
    return total, total + 3 * k + 3


def _correction(double: int, work: int) -> Bounds:
    """Bound 2^work·S(z), z = double/2, with enough terms to bring the remainder below one unit."""
    total = 0
    power = double
    square = double * double
    k = 0
    # An infinite remainder before the first term.
    remainder_num, remainder_den = 1, 0
    while remainder_num << work > remainder_den * power:
        k += 1
        num, den, remainder_num, remainder_den = _coefficients(k)
        total += (num << work) // (den * power)
        power *= square
    # The remainder is within one unit on both sides; each of the k floors lost less than one.
    return total - 1, total + k + 1


@cache
def _coefficients(k: int) -> tuple[int, int, int, int]:
    """Return the k-th term of S and the bound of the remainder after it, as fractions in 2z.

    The term is B_2k(1/2)/(2k(2k−1)·z^(2k−1)).
    """
    # B_2k(1/2) = −(1 − 2/4^k)·B_2k (DLMF 24.4.27).
    half_value = -(1 - Fraction(2, 4**k)) * bernoulli(2 * k)
    n = 2 * k
    term = half_value * 2 ** (n - 1) / (n * (n - 1))
    next_number = abs(bernoulli(n + 2))
    remainder = 2 * next_number * 2 ** (n + 1) / ((n + 2) * (n + 1))
    return term.numerator, term.denominator, remainder.numerator, remainder.denominator
