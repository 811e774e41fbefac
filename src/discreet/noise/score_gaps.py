"""Gaps between each score and the best one: exact for one candidate, floats with a margin for all.

A candidate's exponent is e = |rate|·(best − score) ≥ 0, where best is the score with the greatest
rate·score.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from ..arithmetic.arrays import AnyArray, Floats, Integers
from ..arithmetic.rational import Number, rational
from ..errors import InvalidArgument
from ..frozen import frozen
from .exp import Bounds, decay, exp_neg

ScoreArray: TypeAlias = Sequence[int] | Sequence[float] | AnyArray

# The estimate of exp(−e) is off by less: 2^-44 from `decay`, below 2^-45 from e itself.
CHANCE_ERROR = 2.0**-42

_CHUNK = 1 << 15
# Powers of two are applied in factors of at most 2^1000, which are floats.
_MAX_FACTOR_BITS = 1000


@frozen(eq=False)
class Scores:
    """Candidates, the best one and the rate, all checked."""

    values: Integers | Floats
    best: int | float
    rate: Fraction

    def bounds(self, index: int, precision: int) -> Bounds:
        """Bound exp(−e) of one candidate, in units of 2^-precision."""
        # Exact: a float is the rational number that it stores.
        score = Fraction(self.values[index].item())
        exponent = abs(self.rate * (Fraction(self.best) - score))
        return exp_neg(exponent.numerator, exponent.denominator, precision)

    def chances(self) -> Floats:
        """Estimate exp(−e) of every candidate, off by less than `CHANCE_ERROR`."""
        out = np.empty(self.values.size)
        for start in range(0, out.size, _CHUNK):
            part = slice(start, start + _CHUNK)
            out[part] = decay(self._exponents(self.values[part]))
        return out

    def _exponents(self, part: AnyArray) -> Floats:
        """Estimate e with a relative error below 2^-50, or an absolute one below 2^-60.

        The estimate may be ∞ where e > 2^20. rate = m·2^k with 1/2 ≤ m ≤ 1. The gap is rounded
        once; where it overflows e is beyond 2^20, unless the rate is below 2^-1000: then half the
        gap is used. Scaling by 2^k is exact, or loses less than 2^-1070. An error of 2^-50·e
        matters only while e < 64, where exp(−e) is off by less than e·exp(−e)·2^-50 < 2^-51.
        """
        if self.rate == 0:
            return np.zeros(part.size)
        power, factor = _split(abs(self.rate))
        with np.errstate(over="ignore", under="ignore"):
            if part.dtype.kind == "i":
                # Read as unsigned: the difference of two 64-bit integers may wrap.
                wrapped = self._gap(part, np.int64(self.best))
                gap = wrapped.view(np.uint64).astype(np.float64)
            elif power < -_MAX_FACTOR_BITS:
                # Half the gap cannot overflow; the power makes up for the half.
                gap = self._gap(part / 2, self.best / 2)
                power += 1
            else:
                gap = self._gap(part, self.best)
            sign = 1 if power > 0 else -1
            whole_factors, remaining_bits = divmod(abs(power), _MAX_FACTOR_BITS)
            # Five factors of 2^±1000 make every float infinite or 0.
            for _ in range(min(5, whole_factors)):
                gap *= 2.0 ** (sign * _MAX_FACTOR_BITS)
            gap *= 2.0 ** (sign * remaining_bits)
        return gap * factor

    def _gap(self, part: AnyArray, best: Any) -> AnyArray:  # noqa: ANN401
        """Return |best − score| of some scores, subtracted in the order that is never negative.

        64-bit integers may wrap: the result is to be read as unsigned.
        """
        gap: AnyArray = best - part if self.rate > 0 else part - best
        return gap


def _split(rate: Fraction) -> tuple[int, float]:
    """Write a rate > 0 as factor·2^power with 1/2 ≤ factor ≤ 1.

    >>> from discreet.noise.score_gaps import _split
    >>> from fractions import Fraction
    >>> _split(Fraction(3, 4)), _split(Fraction(8))
    ((0, 0.75), (3, 1.0))
    """
    num = rate.numerator
    den = rate.denominator
    power = num.bit_length() - den.bit_length()
    # The bit lengths give the power up to one; the exact comparison decides.
    if num << max(0, -power) > den << max(0, power):
        power += 1
    # Python's division of integers rounds correctly, once.
    factor = (num << max(0, -power)) / (den << max(0, power))
    return power, factor


def scores_of(scores: ScoreArray, rate: Number) -> Scores:
    """Read scores and a rational rate.

    Scores are whole numbers of 64 bits, or floats, each exactly the binary number that it stores.

    Refuses: InvalidArgument for no scores, NaN, infinities and other types; no message contains a
        score.

    Law: tests/noise/test_choice.py::TestScores
    """
    exact = rational(rate, "rate")
    array = np.asarray(scores)
    if array.ndim != 1 or array.size == 0:
        raise InvalidArgument("scores must be a list of at least one number")
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        array = array.astype(np.float64)
        if not np.isfinite(array).all():
            raise InvalidArgument("scores must be finite; remove NaN and infinite ones")
    elif array.dtype.kind == "i" or (array.dtype.kind == "u" and int(array.max()) < 1 << 63):
        array = array.astype(np.int64)
    else:
        raise InvalidArgument("scores must be float64 or fit in 64-bit integers")
    best = array.max() if exact >= 0 else array.min()
    return Scores(array, best.item(), exact)
