"""Certified logarithms of central binomial ratios, by Stirling's series at half-integers.

lnΓ(z + 1/2) = z·ln z − z + ln √(2π) + Σ_{k=1}^{M} B_2k(1/2)/(2k(2k−1)·z^(2k−1)) + R_M(z)     (DLMF 5.11.8)

With A = (N+1)/2 and d = k − N/2, k! = Γ(A + d + 1/2) and (N−k)! = Γ(A − d + 1/2), so with t = d/A

ln(k!(N−k)!) = const + A·φ(t) + S(A + d) + S(A − d),     φ(t) = (1+t)ln(1+t) + (1−t)ln(1−t) = Σ_{k≥1} t^2k/(k(2k−1)),

where S is the sum above: no logarithm and no π is needed. The duplication formula gives R_M(z) = r_M(2z) − r_M(z), r_M
the remainder of the common series, which is smaller than its first term left out (DLMF 5.11(ii)); hence
|R_M(z)| ≤ 2·|B_(2M+2)|/((2M+2)(2M+1)·z^(2M+1)).
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
    return -sum((comb(n + 1, k) * bernoulli(k) for k in range(n)), Fraction(0)) / (n + 1)


@lru_cache(maxsize=64)
def stirling(trials: int, x: int, precision: int) -> Bounds:
    """Bound E = ln(k!·(N−k)!) + const, k = ⌊N/2⌋ + x, in units of 2^-precision; the constant depends on N alone.

    >>> from discreet.noise.stirling import stirling
    >>> round((stirling(1000, 1, 60)[0] - stirling(1000, 0, 60)[0]) / 2**60, 15)  # ln(501/500)
    0.001998002662673
    """
    work = precision + trials.bit_length() + 16
    double = 2 * (trials // 2 + x) - trials  # 2d
    low, high = _phi(double, trials + 1, work)
    low, high = (trials + 1) * low, (trials + 1) * high  # 2A·φ
    for z in (trials + 1 + double, trials + 1 - double):  # 2z
        least, most = _correction(z, work)
        low, high = low + 2 * least, high + 2 * most
    spare = work + 1 - precision
    return low >> spare, -(-high >> spare)


def _phi(num: int, den: int, work: int) -> Bounds:
    """Bound 2^work·φ(num/den) for |num/den| ≤ 1/2.

    Every floor loses less than one unit, and powers carry on less than a quarter of the loss before: a term is low by
    less than 3 units. The rest of the series is below a third of the next power.
    """
    square = (num * num << work) // (den * den)
    power, total, k = 1 << work, 0, 0
    while power > 1:
        power, k = power * square >> work, k + 1
        total += power // (k * (2 * k - 1))
    return total, total + 3 * k + 3


def _correction(double: int, work: int) -> Bounds:
    """Bound 2^work·S(z), z = double/2, with as many terms as bring the remainder below one unit."""
    total, power, square, k = 0, double, double * double, 0
    rest_num, rest_den = 1, 0
    while rest_num << work > rest_den * power:
        k += 1
        num, den, rest_num, rest_den = _coefficients(k)
        total += (num << work) // (den * power)
        power *= square
    return total - 1, total + k + 1


@cache
def _coefficients(k: int) -> tuple[int, int, int, int]:
    """Return the term B_2k(1/2)/(2k(2k−1)·z^(2k−1)) and the bound of the remainder after it, as fractions in 2z."""
    term = -(1 - Fraction(2, 4**k)) * bernoulli(2 * k) * 2 ** (2 * k - 1) / (2 * k * (2 * k - 1))
    rest = 2 * abs(bernoulli(2 * k + 2)) * 2 ** (2 * k + 1) / ((2 * k + 2) * (2 * k + 1))
    return term.numerator, term.denominator, rest.numerator, rest.denominator
