"""Fine lattice (discretisation) on which continuous noise laws are realised exactly.

Noise of scale b is drawn on the multiples of g = 2^e, at least 2^40 of them in a scale. The law on
this lattice is the law that is priced, so nothing is approximated. A whole number lies on the
lattice (below b = 2^49), and the answer is rounded back to a whole number. A float is first rounded
to the lattice half-up, exactly, and the sum is rounded once to a float.

Rounding can move two neighbours apart. Half-up, one coordinate that moves by Δ moves by at most
⌈Δ/g⌉ steps, so nothing is lost where Δ is on the lattice. c coordinates move by at most
⌈Δ1/g⌉ + c − 1 steps in all, or by Δ2 + g√c in l2.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import isqrt
from typing import Any, Protocol, TypeVar

import numpy as np

from ...arithmetic.arrays import Floats, Integers
from ...arithmetic.rational import INT64_HIGH, INT64_LOW, Number
from ...errors import InvalidArgument
from ...noise.grid import LEAST, MOST, add_on_grid, from_grid, grid_exponent, to_grid
from ...privacy.measures import Measure
from ..laws.error_bound import (
    evaluate,
    interval_around,
    max_scale,
    per_cell_beta,
    read_error,
    scale_repr,
)
from ..reading.value import Exact, add_saturating, count_coordinates, is_whole, read_number
from ..reading.value import Number as Value
from ..sensitivity import ReadSensitivity, Sensitivity


class _HasError(Protocol):
    def error(self, beta: Number, *, cells: int, whole: bool) -> float:
        """Bound the error of one release."""
        ...


Made = TypeVar("Made", bound=_HasError)
Draw = Callable[[int | None], "int | Integers"]
"""Sampler of whole noise: one number for None, an array for a size."""

MAX_ROUNDS = 4
"""How often a scale is raised for a sensitivity off the lattice: twice is enough where any is."""

# Below 2^-62 a step is so small that all noise, of 64 bits, rounds to the whole number 0.
_MAX_SHIFT = 62
# A lattice may be 2^8 finer than usual to hold a sensitivity exactly:
# 2^49 steps in a scale, below the samplers' limit of 2^50.
_FINER = 8


class LatticeMechanism:
    """Base of the mechanisms with continuous noise on the lattice: Laplace and Gaussian.

    A subclass states what it draws (`release`), what that costs (`event`) and how far it is off.
    The base states what follows: the interval around an answer, and the law of a release.

    | of a subclass | meaning |
    |---|---|
    | `_bound(beta, count, whole=…)` | what one of `count` errors exceeds with probability ≤ β |
    | `_pmf(distance, whole=…)` | P(noise = distance), of noise rounded to wholes if `whole` |
    | `_cdf(distance, whole=…)` | P(noise ≤ distance), of noise rounded to wholes if `whole` |
    """

    __slots__ = ()

    scale: Fraction
    sensitivity: ReadSensitivity
    dimension: int | None
    exponent: int
    _bound: Callable[..., float]
    _pmf: Callable[..., Floats]
    _cdf: Callable[..., Floats]

    __repr__ = scale_repr

    def _error(self, beta: Number, cells: int, coordinates: int, *, whole: bool) -> float:
        """Bound the errors of `cells` cells at once; `coordinates` is how many the answer has."""
        cell_beta = per_cell_beta(beta, cells)
        count = max(cells, self.dimension or 1, coordinates)
        return self._bound(cell_beta, count, whole=whole)

    def _changed(self, count: int) -> int:
        """Return how many of `count` coordinates one unit can change."""
        if isinstance(self.sensitivity, Sensitivity):
            return min(count, self.sensitivity.changed)
        return count

    def interval(self, answer: Value, beta: Number = 0.05, *, cells: int = 1) -> tuple[Any, Any]:
        """Return a confidence interval for the true value, of confidence 1 − β, around an answer.

        >>> import discreet as dp
        >>> dp.Laplace(scale=2, sensitivity=1).interval(42)
        (36, 48)
        >>> dp.Gaussian(scale=2, sensitivity=1).interval(42)
        (38, 46)
        """
        exact = read_number(answer)
        coordinates = count_coordinates(exact, None)
        error = self._error(beta, cells, coordinates, whole=is_whole(exact))
        return interval_around(exact, error)

    def pmf(self, x: object, value: float = 0, *, whole: bool = False) -> Any:  # noqa: ANN401 - a float or an array
        """Return P(release(value) = x): on the lattice for floats, on the integers if `whole`.

        >>> import discreet as dp
        >>> round(dp.Laplace(scale=2, sensitivity=1).pmf(0, whole=True), 6)
        0.221199
        >>> round(dp.Gaussian(scale=2, sensitivity=1).pmf(0, whole=True), 6)
        0.197413
        """
        return self._law_of_release(self._pmf, x, value, whole=whole)

    def cdf(self, x: object, value: float = 0, *, whole: bool = False) -> Any:  # noqa: ANN401 - a float or an array
        """Return P(release(value) ≤ x), for float releases or whole ones.

        >>> import discreet as dp
        >>> round(dp.Laplace(scale=1, sensitivity=1).cdf(1.0), 6)
        0.81606
        >>> round(dp.Gaussian(scale=1, sensitivity=1).cdf(1.0), 6)
        0.841345
        """
        return self._law_of_release(self._cdf, x, value, whole=whole)

    def _law_of_release(
        self, law: Callable[..., Floats], x: object, value: float, *, whole: bool
    ) -> object:
        """Evaluate a law of the noise at the distance of `x` from the value, as it is released."""
        # On a lattice of whole steps or coarser ones the sum is whole without rounding.
        rounds_to_whole = whole and self.exponent < 0
        centre = value if rounds_to_whole else round_to_lattice(value, self.exponent)

        def at(points: Floats) -> Floats:
            return law(points - centre, whole=rounds_to_whole)

        return evaluate(at, x)


def most_noise(
    make: Callable[[Fraction], Made],
    error: Number,
    quantile: Callable[[float], float],
    *,
    beta: Number,
    cells: int,
    whole: bool,
) -> Made:
    """Make the mechanism with the most noise whose error stays within a bound.

    `quantile(β)` is the error of continuous noise of scale 1: the search starts with it.
    """
    bound = read_error(error)

    def fits(scale: Fraction) -> bool:
        return make(scale).error(beta, cells=cells, whole=whole) <= bound

    guess = bound / quantile(per_cell_beta(beta, cells))
    return make(max_scale(fits, guess))


def lattice_exponent(scale: Fraction, sensitivity: Fraction | None) -> int:
    """Choose the exponent e of the lattice: ⌊log2 scale⌋ − 40, or up to 8 less (finer).

    Finer where that puts whole numbers and the sensitivity on the lattice.

    >>> from discreet.mechanisms.additive.lattice import lattice_exponent
    >>> from fractions import Fraction
    >>> lattice_exponent(Fraction(2), Fraction(1)), lattice_exponent(Fraction(2**45), Fraction(1))
    (-39, 0)
    >>> lattice_exponent(Fraction(1), Fraction(1, 2**45)), lattice_exponent(Fraction(1), Fraction(1, 3))
    (-45, -40)

    Refuses: scales that no float can carry (InvalidArgument).
    Law: tests/mechanisms/test_laplace.py::TestLattice
    """
    usual = grid_exponent(scale)
    if not LEAST + _FINER <= usual <= MOST:
        raise InvalidArgument(
            "scale must lie between 2**-1026 and 2**1010 for noise on floats; use other units"
        )
    # Exponent 0 holds all whole numbers; a dyadic sensitivity has a largest exponent of its own.
    candidates = [usual, min(usual, 0)]
    if sensitivity is not None and _is_dyadic(sensitivity):
        candidates.append(min(usual, 0, _valuation(sensitivity)))
    return min(e for e in candidates if e >= usual - _FINER)


def _is_dyadic(number: Fraction) -> bool:
    """Return whether the denominator is a power of two."""
    return number.denominator & (number.denominator - 1) == 0


def _valuation(dyadic: Fraction) -> int:
    """Find the exponent of the largest power of two of which a dyadic number is a multiple."""
    lowest_bit = dyadic.numerator & -dyadic.numerator
    return lowest_bit.bit_length() - dyadic.denominator.bit_length()


def round_to_lattice(value: float, exponent: int) -> float:
    """Round a value to the lattice, as a release does."""
    steps = to_grid(float(value), exponent)
    return from_grid(steps, exponent)


def ceiling(value: Fraction) -> int:
    """Round a rational up to a whole number, exactly."""
    return -(-value.numerator // value.denominator)


def root_up(square: Fraction, fine: int = 64) -> Fraction:
    """Bound a root from above by a rational of about `fine` bits; exact where it is rational.

    >>> from discreet.mechanisms.additive.lattice import root_up
    >>> from fractions import Fraction
    >>> root_up(Fraction(9, 4)), 0 <= root_up(Fraction(2)) ** 2 - 2 < 1e-18
    (Fraction(3, 2), True)

    Law: tests/mechanisms/test_gaussian.py::TestLattice
    """
    numerator = isqrt(square.numerator)
    denominator = isqrt(square.denominator)
    if numerator**2 == square.numerator and denominator**2 == square.denominator:
        return Fraction(numerator, denominator)
    # Scale by 4^shift so that the whole root has about `fine` bits.
    missing_bits = square.denominator.bit_length() - square.numerator.bit_length()
    shift = max(0, fine + missing_bits // 2)
    scaled = ceiling(square * (1 << 2 * shift))
    # isqrt rounds down; isqrt(n − 1) + 1 is the root of n rounded up.
    return Fraction(isqrt(scaled - 1) + 1, 1 << shift)


def l1_steps_apart(sensitivity: Fraction, exponent: int, changed: int) -> int:
    """Bound the l1 distance of two rounded vectors in steps: ⌈Δ1/g⌉ + c − 1.

    c = `changed` is the number of coordinates that move. Proof: a coordinate that moves by d moves
    by at most ⌈d/g⌉ steps when rounded half-up; Σ⌈dᵢ/g⌉ over c coordinates is whole and below
    Σdᵢ/g + c.

    >>> from discreet.mechanisms.additive.lattice import l1_steps_apart
    >>> from fractions import Fraction
    >>> l1_steps_apart(Fraction(1), -2, 1), l1_steps_apart(Fraction(1), -2, 3), l1_steps_apart(Fraction(1, 3), -2, 1)
    (4, 6, 2)

    Law: tests/mechanisms/test_laplace.py::TestLattice
    """
    steps = sensitivity / Fraction(2) ** exponent
    return ceiling(steps) + changed - 1


def squared_l2_apart(squared: Fraction, exponent: int, changed: int) -> Fraction:
    """Bound the squared l2 distance of two rounded vectors.

    It is (Δ2 + g√c)² for c = `changed` coordinates that move, (g⌈Δ2/g⌉)² for one.

    >>> from discreet.mechanisms.additive.lattice import squared_l2_apart
    >>> from fractions import Fraction
    >>> squared_l2_apart(Fraction(1), -2, 1), squared_l2_apart(Fraction(2), -1, 2)
    (Fraction(1, 1), Fraction(9, 2))

    Law: tests/mechanisms/test_gaussian.py::TestLattice
    """
    step = Fraction(2) ** exponent
    if changed == 1:
        steps = ceiling(root_up(squared / step**2))
        return (steps * step) ** 2
    # (Δ2 + g√c)² multiplied out: only the mixed term has a root, and it is rounded up.
    mixed = 2 * step * root_up(squared * changed)
    return squared + mixed + step**2 * changed


def check_widening(ratio: Fraction, max_ratio: int = 2) -> Fraction:
    """Return the factor by which noise on a rounded array grows; refuse to more than double it.

    Rounding c coordinates to the lattice may move neighbours apart by c − 1 steps more than the N
    steps of the event. The noise is made wider, so that the event's price holds for the release.
    `ratio` is the factor: of the scale for Laplace, of the variance (`max_ratio` 4) for Gaussian.

    Laplace: by (N + c)/N. Proof: let h and h' be the length of a step in scales, before and after,
    N·h = (N + c)·h'. The trade-off curve before lies below e^(−Nh)/4α (its chords exceed the
    hyperbola e^(−Nh)/(4α·cosh²(h/2)) through its knots by at most cosh²(h/2)); the one after lies
    above its hyperbola, and (N + c − 1)h' + ln cosh²(h'/2) ≤ Nh. Its ends are flatter too.

    Gaussian: so that Δ2/σ stays the same; every bound that prices the event then falls.
    """
    if ratio > max_ratio:
        how = (
            "say how many coordinates one unit changes (give a Sensitivity), "
            "or hand in whole numbers"
        )
        raise InvalidArgument(
            f"rounding so long an array would need more than twice the noise; {how}"
        )
    return ratio


def budget_too_small(budget: Measure, instead: str) -> InvalidArgument:
    """Make the refusal of a budget that no scale keeps, because the lattice widens with the scale.

    A sensitivity below one step counts as one step, and a scale has at most 2^49 of them.
    """
    why = (
        "noise on floats has at most 2**49 lattice steps in a scale, "
        "and one step is the least that an answer moves"
    )
    return InvalidArgument(
        f"{budget!r} is too small a promise: {why}; ask for more, or use {instead} on whole numbers"
    )


def add_noise(value: Exact, exponent: int, draw: Draw) -> object:
    """Add noise counted in steps of 2^exponent; return the same type as the value.

    For g ≤ 1 a whole value v gives v + ⌊noise·g + 1/2⌋: rounding half-up commutes with whole
    shifts, so this is the rounded sum, for values of any size. For g > 1 it is first rounded to the
    lattice. A float gives the exact sum on the lattice, rounded once.

    >>> from discreet.mechanisms.additive.lattice import add_noise
    >>> add_noise(5, -1, lambda size: 3), add_noise(5.3, -1, lambda size: 3), add_noise(2**80 + 1, 1, lambda size: 1)
    (7, 7.0, 1208925819614629174706180)
    """
    if isinstance(value, float):
        steps = to_grid(value, exponent)
        return from_grid(steps + int(draw(None)), exponent)
    if isinstance(value, int):
        return _add_to_whole(value, int(draw(None)), exponent)
    noise = np.asarray(draw(value.size))
    flat = value.reshape(-1)
    if flat.dtype.kind == "f":
        # The sum overwrites the memory of the noise, which nobody else holds.
        noisy = add_on_grid(flat, noise, exponent, out=noise.view(np.float64))
        return noisy.reshape(value.shape)
    whole = flat.astype(np.int64, copy=False)
    return _add_to_wholes(whole, noise, exponent).reshape(value.shape)


def _add_to_whole(value: int, noise: int, exponent: int) -> int:
    if exponent <= 0:
        return value + _half_up(noise, -exponent)
    return (_half_up(value, exponent) + noise) << exponent


def _half_up(steps: int, bits: int) -> int:
    """Round steps/2^bits half-up: ⌊steps/2^bits + 1/2⌋."""
    half = 1 << bits >> 1
    return (steps + half) >> bits


def _add_to_wholes(value: Integers, noise: Integers, exponent: int) -> Integers:
    """Add noise to an array of integers, rounded half-up; results stay within int64."""
    bits = abs(exponent)
    if exponent < -_MAX_SHIFT:
        return value.copy()
    if exponent <= 0:
        # Half-up in place, as in `_half_up`; the noise stays far below 2^63.
        noise += 1 << bits >> 1
        noise >>= bits
        return np.asarray(add_saturating(value, noise))
    steps: Integers = value >> bits
    # Half-up without adding a half to the value, which might overflow.
    steps += (value >> (bits - 1)) & 1
    steps += noise
    return np.clip(steps, INT64_LOW >> bits, INT64_HIGH >> bits) << bits
