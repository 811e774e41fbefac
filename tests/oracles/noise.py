"""Slow, independent oracles for the samplers: nothing here imports discreet.

- Canonne, Kamath and Steinke (2020, algorithms 1–3): exact Laplace and Gaussian draws with integers only.
- The exact laws in high precision (mpmath).
- A walk over all bit strings of a sampler whose words are tiny.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from math import isqrt
from random import Random

import mpmath
import numpy as np

from support.untraced import untraced

mpmath.mp.prec = 400


# --- Canonne, Kamath, Steinke ---------------------------------------------------------------------------------------


def cks_coin(num: int, den: int, rng: Random) -> bool:
    """True with probability exp(−num/den)."""
    while num > den:
        if not cks_coin(1, 1, rng):
            return False
        num -= den
    k = 1
    while rng.randrange(den * k) < num:
        k += 1
    return k % 2 == 1


def cks_laplace(scale: Fraction, rng: Random) -> int:
    s, t = scale.denominator, scale.numerator
    while True:
        u = rng.randrange(t)
        if not cks_coin(u, t, rng):
            continue
        v = 0
        while cks_coin(1, 1, rng):
            v += 1
        y = (u + t * v) // s
        negative = rng.randrange(2)
        if not (negative and y == 0):
            return -y if negative else y


def cks_gaussian(variance: Fraction, rng: Random) -> int:
    t = isqrt(int(variance)) + 1
    while True:
        y = cks_laplace(Fraction(t), rng)
        gap = (abs(y) - variance / t) ** 2 / (2 * variance)
        if cks_coin(gap.numerator, gap.denominator, rng):
            return y


# --- the laws ---------------------------------------------------------------------------------------------------------


def real(value: Fraction | int) -> mpmath.mpf:
    value = Fraction(value)
    return mpmath.mpf(value.numerator) / value.denominator


def laplace_weight(scale: Fraction):
    rate = 1 / real(scale)
    return lambda x: mpmath.exp(-abs(x) * rate)


def geometric_weight(scale: Fraction):
    rate = 1 / real(scale)
    return lambda x: mpmath.exp(-x * rate) if x >= 0 else mpmath.mpf(0)


def gaussian_weight(variance: Fraction):
    rate = 1 / (2 * real(variance))
    return lambda x: mpmath.exp(-x * x * rate)


def binomial_weight(trials: int):
    middle = trials // 2
    peak = mpmath.loggamma(middle + 1) + mpmath.loggamma(trials - middle + 1)

    def weight(x: int):
        if not -middle <= x <= trials - middle:
            return mpmath.mpf(0)
        return mpmath.exp(
            peak - mpmath.loggamma(middle + x + 1) - mpmath.loggamma(trials - middle - x + 1)
        )

    return weight


def order(sides: int):
    """The cells in the order of the tables."""
    yield 0
    h = 1
    while True:
        if sides == 2:
            yield -h
        yield h
        h += 1


def nearest(h: int, shift: int) -> int:
    """The integer of cell h that is nearest to 0."""
    return h * 2**shift if h >= 0 else (h + 1) * 2**shift - 1


@untraced
def cumulated(weight, shift: int, sides: int, *, tail: int = 330):
    """Cells with their cumulated normalised weights, until less than 2^-tail is left."""
    cells, weights = [], []
    for h in order(sides):
        cells.append(h)
        weights.append(weight(nearest(h, shift)))
        if h >= 0 and len(cells) > 2 and weights[-1] < mpmath.mpf(2) ** -tail:
            break
    total = mpmath.fsum(weights)
    running, ends = mpmath.mpf(0), []
    for one in weights:
        running += one
        ends.append(running / total)
    return cells, ends


# --- all bit strings --------------------------------------------------------------------------------------------------


class Branch(Exception):
    """The script has ended: so many words of this width are wanted."""

    def __init__(self, count: int, width: int) -> None:
        self.count, self.width = count, width


class Script:
    """Words from a list; at its end the walk branches."""

    def __init__(self, script: tuple[int, ...]) -> None:
        self._script, self._at = script, 0

    def _next(self, count: int, width: int) -> tuple[int, ...]:
        if self._at == len(self._script):
            raise Branch(count, width)
        self._at += count
        return self._script[self._at - count : self._at]

    def word(self, width: int) -> int:
        return self._next(1, width)[0]

    def words(self, count: int, width: int):
        kind = (
            np.uint8
            if width <= 8
            else np.uint16
            if width <= 16
            else np.uint32
            if width <= 32
            else np.uint64
        )
        return np.array(self._next(count, width) if count else (), dtype=kind)


def walk(run, limit: int):
    """Run on every bit string of up to `limit` bits: the probability of each outcome, and what stays undecided."""
    mass, undecided = Counter(), 0  # in units of 2^-limit
    stack: list[tuple[tuple[int, ...], int]] = [((), 0)]
    while stack:
        script, used = stack.pop()
        try:
            found = run(Script(script))
        except Branch as branch:
            longer = used + branch.count * branch.width
            if longer > limit:
                undecided += 2 ** (limit - used)
            else:
                words = product(range(2**branch.width), repeat=branch.count)
                stack.extend((script + more, longer) for more in words)
        else:
            mass[found] += 2 ** (limit - used)
    whole = 2**limit
    return Counter({one: Fraction(share, whole) for one, share in mass.items()}), Fraction(
        undecided, whole
    )
