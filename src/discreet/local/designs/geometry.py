"""Projective-geometry response: sets are the hyperplanes of PG(t−1, q).

See Feldman, Nelson, Nguyen, Talwar 2022. A point is a vector of F_q^t up to a factor; its canonical
vector has a 1 as the highest digit that is not 0. A point with m digits below that 1 has the number
(q^m − 1)/(q − 1) + those digits read in base q. Option v is the point of number v, and S_v the
points y with ⟨v, y⟩ = 0.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ...arithmetic.arrays import AnyArray, Flags, Floats
from ...frozen import frozen
from ...noise import Bits, uniform
from .design import DesignSizes, Integers, read_numbers
from .field import FiniteField, field_of
from .hadamard import walsh

# Reports that are counted by one transform: so many keep its error below 1/100 (see `_sums`).
_CHUNK = 1 << 24


def geometry_facts(options: int, q: int) -> DesignSizes:
    """Return the sizes for the least t with (q^t − 1)/(q − 1) ≥ d points.

    w and λ are the numbers of points in t − 1 and t − 2 dimensions.

    >>> from discreet.local.designs.geometry import geometry_facts
    >>> geometry_facts(7, 2)
    DesignSizes(member='geometry', options=7, outputs=7, inside=3, shared=1, bits=3)
    """
    t = 2
    while _points(q, t) < options:
        t += 1
    outputs = _points(q, t)
    inside = _points(q, t - 1)
    shared = _points(q, t - 2)
    return DesignSizes("geometry", options, outputs, inside, shared, (outputs - 1).bit_length())


def _points(q: int, t: int) -> int:
    """Return the number of points of PG(t−1, q)."""
    return int((q**t - 1) // (q - 1))


@frozen
class Geometry:
    """Design with S_v = the hyperplane ⟨v, y⟩ = 0 over q elements, in t dimensions."""

    facts: DesignSizes
    q: int
    t: int

    def place(self, values: Integers, inside: Flags, bits: Bits | None, /) -> Integers:
        """Draw all digits of y but the one where v has its highest 1; solve for that one.

        The solved digit makes ⟨v, y⟩ = 0, or 1. For a uniform point of the hyperplane the free
        digits are a uniform point of PG(t−2, q) (a linear bijection). Off the hyperplane they are
        uniform digits: every point there has exactly one vector with ⟨v, y⟩ = 1. Both are always
        drawn, so that the bits used do not depend on the value.
        """
        on = uniform(self.facts.inside, values.size, bits=bits)
        off = uniform(self.q ** (self.t - 1), values.size, bits=bits)
        return self.complete(values, inside, on, off)

    def complete(self, values: Integers, inside: Flags, on: Integers, off: Integers) -> Integers:
        """Return point number `on` of the hyperplane of v if `inside`, else number `off` off it."""
        field = field_of(self.q)
        free_on = _vector(on, self.q, self.t - 1)
        free_off = _digits(off, self.q, self.t - 1)
        free = np.where(inside[:, None], free_on, free_off)
        option = _vector(values, self.q, self.t)
        return _number(_completed(option, free, ~inside, field), field)

    def counts(self, reports: AnyArray, /) -> Integers:
        """Return how many reports lie on each hyperplane.

        Counts are whole numbers, and the floats are off by less than 1/100, so rounding is exact.
        """
        options = self.facts.options
        total = np.zeros(options, dtype=np.int64)
        for start in range(0, reports.size, _CHUNK):
            chunk = reports[start : start + _CHUNK]
            histogram = np.bincount(chunk, minlength=self.facts.outputs)
            sums = _sums(histogram.astype(np.float64), self.q, self.t)
            total += np.rint(sums[:options]).astype(np.int64)
        return total

    def valid(self, reports: AnyArray, /) -> Flags:
        """Return which reports are points."""
        return read_numbers(reports, self.facts.outputs)


def _digits(numbers: Integers, q: int, t: int) -> Integers:
    """Return the digits of numbers in base q, lowest first."""
    powers = q ** np.arange(t, dtype=np.int64)
    return numbers[:, None] // powers % q


def _vector(points: Integers, q: int, t: int) -> Integers:
    """Return the canonical vectors of points, lowest digit first."""
    starts = np.array([_points(q, m) for m in range(t)])
    free = np.searchsorted(starts, points, side="right") - 1
    digits = _digits(points - starts[free], q, t)
    digits[np.arange(len(points)), free] = 1
    return digits


def _completed(point: Integers, free: Integers, target: Flags, field: FiniteField) -> Integers:
    """Put the free digits around the highest digit of each point, and solve for the digit there.

    The product of the point and the vector returned is 1 where `target`, else 0.
    """
    n, t = point.shape
    highest = _highest(point)
    product = np.zeros(n, dtype=np.int64)
    vector = np.zeros((n, t), dtype=np.int64)
    for i in range(t):
        # The indices are limited because `where` evaluates both sides at the ends.
        below = free[:, min(i, t - 2)]
        above = free[:, max(i - 1, 0)]
        digit = np.where(i < highest, below, above)
        vector[:, i] = np.where(i == highest, 0, digit)
        term = field.mul[point[:, i], vector[:, i]]
        product = field.add[product, term]
    # The negative of a is the b with a + b = 0.
    negative = np.argmin(field.add, axis=1)
    solved = field.add[target.astype(np.int64), negative[product]]
    vector[np.arange(n), highest] = solved
    return vector


def _number(vectors: Integers, field: FiniteField) -> Integers:
    """Return the number of the point that a vector belongs to."""
    n, t = vectors.shape
    rows = np.arange(n)
    highest = _highest(vectors)
    factor = field.inverse[vectors[rows, highest]]
    scaled = field.mul[factor[:, None], vectors]
    scaled[rows, highest] = 0
    powers = field.q ** np.arange(t, dtype=np.int64)
    start = (powers[highest] - 1) // (field.q - 1)
    return np.asarray(start + scaled @ powers)


def _highest(vectors: Integers) -> Integers:
    """Return the index of the highest digit that is not 0."""
    from_the_top = np.argmax(vectors[:, ::-1] != 0, axis=1)
    return np.asarray(vectors.shape[1] - 1 - from_the_top)


def hyperplane_sums(design: Geometry, scores: Floats) -> Floats:
    """Return for every point y the sum of the scores of the options whose hyperplane holds y."""
    padded = np.append(scores, np.zeros(design.facts.outputs - scores.size))
    return _sums(padded, design.q, design.t)


def _sums(weights: Floats, q: int, t: int) -> Floats:
    """Return for every point v the weight of the points y with ⟨v, y⟩ = 0, both in PG(t−1, q).

    The points at infinity (u, 0) come first, then the q^(t−1) others (x, 1). With
    F(w) = Σ_x a_x χ(⟨w, x⟩) over the others, those with ⟨u, x⟩ = −1 weigh Σ_b χ(b/a) F(bℓ)/q for
    u = aℓ, and those with ⟨ℓ, x⟩ = 0 weigh Σ_b F(bℓ)/q. So one transform of q^(t−1) numbers and one
    product with a q×q matrix replace a transform of q^t. At infinity lies PG(t−2, q).

    For n reports the floats are off by at most 2^-53·e(t−1)(p + 5)·√(q^(t−1))·n: the transform's
    error in the 2-norm, of which a mean of q follows. That is below 1/100 for 2^24 reports at a
    time and q^(t−1) ≤ 2^24.
    """
    if t == 1:
        return np.zeros(1)
    split = _points(q, t - 1)
    at_infinity = _sums(weights[:split], q, t - 1)
    slopes, multiples = _pencils(q, t - 1)
    spectrum = _characters(weights[split:], q, t - 1)[slopes]
    signs = _signs(q)
    # Only the real part of the product is needed: the sums are real.
    of_real = spectrum.real @ signs.real
    of_imaginary = spectrum.imag @ signs.imag
    along = (of_real - of_imaginary) / q
    sums = np.empty_like(weights)
    sums[:split] = at_infinity + along[:, 0]
    sums[split] = weights[:split].sum()
    sums[split + multiples] = at_infinity[:, None] + along[:, 1:]
    return sums


@lru_cache(maxsize=32)
def _pencils(q: int, t: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return for every point ℓ the indices of F(bℓ), b in F_q, and the numbers of aℓ, a ≠ 0."""
    field = field_of(q)
    powers = q ** np.arange(t, dtype=np.int64)
    points = _vector(np.arange(_points(q, t)), q, t)
    multiples = [field.mul[factor][points] for factor in range(q)]
    slopes = np.stack([field.dual[vectors] @ powers for vectors in multiples], axis=1)
    numbers = np.stack([vectors @ powers for vectors in multiples[1:]], axis=1)
    return slopes.astype(np.int32), numbers.astype(np.int32)


@lru_cache(maxsize=32)
def _signs(q: int) -> NDArray[np.complex128]:
    """Return the matrix of ones (first column) and of χ(b/a), a ≠ 0.

    χ(z) = e^(−2πi L(z)/p), where L is the constant term.
    """
    field = field_of(q)
    quotients = field.mul[:, field.inverse[1:]] % field.p
    characters = np.exp(-2j * np.pi * quotients / field.p)
    return np.concatenate([np.ones((q, 1)), characters], axis=1)


def _characters(numbers: Floats, q: int, t: int) -> AnyArray:
    """Return Σ_y a_y χ_u(y) over the group (Z_p)^(e·t)."""
    field = field_of(q)
    if field.p == 2:
        # All characters are ±1, so the Walsh–Hadamard transform needs no complex numbers.
        return walsh(numbers)
    shape = (field.p,) * (field.degree * t)
    transformed = np.fft.fftn(numbers.reshape(shape, order="F"))
    return transformed.reshape(-1, order="F")
