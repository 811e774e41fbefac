"""The fine lattice on which the continuous laws of the lectures are realised exactly.

Noise of scale b lives on the multiples of g = 2^e, at least 2^40 of them to a scale (theory: the law on such a lattice
*is* what is priced, so nothing is approximated). A whole number lies on the lattice, and the answer is rounded back to
a whole number; a float is rounded to the lattice half-up first, exactly, and the sum is rounded once to a float.

Rounding can move two neighbours apart. Half-up, one coordinate that moves by Δ moves by at most ⌈Δ/g⌉ steps, so nothing
is lost where Δ is on the lattice; c coordinates move by at most ⌈Δ1/g⌉ + c − 1 steps in all, or by Δ2 + g√c in l2.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import isqrt

import numpy as np

from ...errors import InvalidArgument
from ...noise.grid import LEAST, MOST, add_on_grid, from_grid, grid_exponent, to_grid
from ...privacy.measures import Measure
from ..reading.value import Floats, Integers, add_whole

Draw = Callable[[int | None], "int | Integers"]

_NARROW = 62
_FINER = 8  # a lattice may be 2^8 finer than usual to hold a sensitivity: 2^49 steps to a scale, below the samplers' 2^50


def exponent_for(scale: Fraction, sensitivity: Fraction | None) -> int:
    """Choose e: ⌊log2 scale⌋ − 40, or a little finer where that puts whole numbers and the sensitivity on the lattice.

    >>> from discreet.mechanisms.additive.lattice import exponent_for
    >>> from fractions import Fraction
    >>> exponent_for(Fraction(2), Fraction(1)), exponent_for(Fraction(2**45), Fraction(1))
    (-39, 0)
    >>> exponent_for(Fraction(1), Fraction(1, 2**45)), exponent_for(Fraction(1), Fraction(1, 3))
    (-45, -40)

    Refuses scales that no float can carry.
    """
    usual = grid_exponent(scale)
    if not LEAST + _FINER <= usual <= MOST:
        raise InvalidArgument(
            "scale must lie between 2**-1026 and 2**1010 for noise on floats; use other units"
        )
    wanted = [usual, min(usual, 0)]
    if sensitivity is not None and sensitivity.denominator & (sensitivity.denominator - 1) == 0:
        wanted.append(min(usual, 0, _valuation(sensitivity)))
    return min(e for e in wanted if e >= usual - _FINER)


def placed(value: float, exponent: int) -> float:
    """Round a value to the lattice, as a release does."""
    return from_grid(to_grid(float(value), exponent), exponent)


def _valuation(dyadic: Fraction) -> int:
    """Find the largest power of two of which a dyadic number is a multiple."""
    return (dyadic.numerator & -dyadic.numerator).bit_length() - dyadic.denominator.bit_length()


def ceiling(value: Fraction) -> int:
    """Round a rational up to a whole number, exactly."""
    return -(-value.numerator // value.denominator)


def root_up(square: Fraction, fine: int = 64) -> Fraction:
    """Bound a root from above by a rational of about `fine` bits; exact where the root is rational.

    >>> from discreet.mechanisms.additive.lattice import root_up
    >>> from fractions import Fraction
    >>> root_up(Fraction(9, 4)), 0 <= root_up(Fraction(2)) ** 2 - 2 < 1e-18
    (Fraction(3, 2), True)
    """
    num, den = isqrt(square.numerator), isqrt(square.denominator)
    if num * num == square.numerator and den * den == square.denominator:
        return Fraction(num, den)
    shift = max(0, fine + (square.denominator.bit_length() - square.numerator.bit_length()) // 2)
    return Fraction(isqrt(ceiling(square * (1 << 2 * shift)) - 1) + 1, 1 << shift)


def steps_apart(sensitivity: Fraction, exponent: int, changed: int) -> int:
    """Bound the l1 distance of two rounded vectors in steps: ⌈Δ1/g⌉ + c − 1, c the number of coordinates that move.

    Proof: a coordinate that moves by d moves by at most ⌈d/g⌉ steps when rounded half-up; Σ⌈dᵢ/g⌉ over c coordinates is
    whole and below Σdᵢ/g + c.

    >>> from discreet.mechanisms.additive.lattice import steps_apart
    >>> from fractions import Fraction
    >>> steps_apart(Fraction(1), -2, 1), steps_apart(Fraction(1), -2, 3), steps_apart(Fraction(1, 3), -2, 1)
    (4, 6, 2)
    """
    return ceiling(sensitivity / Fraction(2) ** exponent) + changed - 1


def square_apart(squared: Fraction, exponent: int, changed: int) -> Fraction:
    """Bound the squared l2 distance of two rounded vectors: (Δ2 + g√c)², or (g⌈Δ2/g⌉)² for one coordinate.

    >>> from discreet.mechanisms.additive.lattice import square_apart
    >>> from fractions import Fraction
    >>> square_apart(Fraction(1), -2, 1), square_apart(Fraction(2), -1, 2)
    (Fraction(1, 1), Fraction(9, 2))
    """
    step = Fraction(2) ** exponent
    if changed == 1:
        return (ceiling(root_up(squared / step**2)) * step) ** 2
    return squared + 2 * step * root_up(squared * changed) + step**2 * changed


def widening(ratio: Fraction, most: int = 2) -> Fraction:
    """Check by how much the noise on a rounded array grows; refuse to more than double it.

    Rounding c coordinates to the lattice may move neighbours apart by c − 1 steps more than the N steps of the event.
    The noise is made wider, so that the event's promise holds for what is really done.

    Laplace: by (N + c)/N. Proof: let h and h' be the length of a step in scales, before and after, N·h = (N + c)·h'.
    The trade-off curve before lies below e^(−Nh)/4α (its chords exceed the hyperbola e^(−Nh)/(4α·cosh²(h/2)) through
    its knots by at most cosh²(h/2)); the one after lies above its hyperbola, and (N + c − 1)h' + ln cosh²(h'/2) ≤ Nh.
    Its ends are flatter too. Gaussian: so that Δ2/σ stays the same; every bound that prices the event then falls.
    """
    if ratio > most:
        how = "say how many coordinates one unit changes (give a Sensitivity), or hand in whole numbers"
        raise InvalidArgument(
            f"rounding so long an array would need more than twice the noise; {how}"
        )
    return ratio


ROUNDS = 4
"""How often a scale is raised for a sensitivity off the lattice: twice is enough where any scale is."""


def too_small(budget: Measure, instead: str) -> InvalidArgument:
    """Make the refusal of a promise that no scale keeps, because the lattice widens with it.

    A sensitivity below one step counts as one step, and a scale has at most 2^49 of them.
    """
    why = "noise on floats has at most 2**49 lattice steps in a scale, and one step is the least that an answer moves"
    return InvalidArgument(
        f"{budget!r} is too small a promise: {why}; ask for more, or use {instead} on whole numbers"
    )


def add_noise(value: int | float | Integers | Floats, exponent: int, draw: Draw) -> object:
    """Add noise counted in steps of 2^exponent, and give back the same kind.

    A whole value v ≤ lattice gives v + ⌊noise·g + 1/2⌋: rounding half-up commutes with whole shifts, so this is the
    rounded sum, for values of any size. A float gives the exact sum on the lattice, rounded once.

    >>> from discreet.mechanisms.additive.lattice import add_noise
    >>> add_noise(5, -1, lambda size: 3), add_noise(5.3, -1, lambda size: 3), add_noise(2**80 + 1, 1, lambda size: 1)
    (7, 7.0, 1208925819614629174706180)
    """
    if isinstance(value, float):
        return from_grid(to_grid(value, exponent) + int(draw(None)), exponent)
    if isinstance(value, int):
        return _whole(value, int(draw(None)), exponent)
    noise, flat = np.asarray(draw(value.size)), value.reshape(-1)
    if flat.dtype.kind == "f":
        return add_on_grid(flat, noise, exponent, out=noise.view(np.float64)).reshape(value.shape)
    return _whole_array(flat.astype(np.int64, copy=False), noise, exponent).reshape(value.shape)


def _whole(value: int, noise: int, exponent: int) -> int:
    if exponent <= 0:
        return value + _half_up(noise, -exponent)
    return (_half_up(value, exponent) + noise) << exponent


def _half_up(steps: int, bits: int) -> int:
    """Round steps/2^bits half-up: ⌊steps/2^bits + 1/2⌋."""
    return (steps + (1 << bits >> 1)) >> bits


def _whole_array(value: Integers, noise: Integers, exponent: int) -> Integers:
    bits = abs(exponent)
    if exponent < -_NARROW:  # so small a scale that all noise, of 64 bits, rounds to 0
        return value.copy()
    if exponent <= 0:
        noise += 1 << bits >> 1
        noise >>= bits
        return np.asarray(add_whole(value, noise))
    steps: Integers = value >> bits
    steps += (value >> (bits - 1)) & 1  # half-up without adding a half, which might overflow
    steps += noise
    return np.clip(steps, -(1 << 63) >> bits, ((1 << 63) - 1) >> bits) << bits
