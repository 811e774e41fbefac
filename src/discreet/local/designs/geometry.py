"""Projective-geometry response: sets are the hyperplanes of PG(t−1, q) (Feldman, Nelson, Nguyen, Talwar 2022).

A point is a vector of F_q^t up to a factor; its canonical one has a 1 as the highest digit that is not 0. A point with
m digits below that 1 has the number (q^m − 1)/(q − 1) + those digits read in base q. Option v is the point of number v,
and S_v the points y with ⟨v, y⟩ = 0.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...frozen import frozen
from ...noise import Bits, uniform
from .design import Facts, Flags, Integers, read_numbers
from .field import FiniteField, field_of
from .hadamard import walsh

Floats: TypeAlias = NDArray[np.float64]

_CHUNK = 1 << 24  # reports that are counted by one transform


def geometry_facts(options: int, q: int) -> Facts:
    """Return the sizes for the least t with (q^t − 1)/(q − 1) ≥ d points: w and λ are those of t − 1 and t − 2.

    >>> from discreet.local.designs.geometry import geometry_facts
    >>> geometry_facts(7, 2)
    Facts(member='geometry', options=7, outputs=7, inside=3, shared=1, bits=3)
    """
    t = 2
    while _points(q, t) < options:
        t += 1
    outputs = _points(q, t)
    return Facts(
        "geometry",
        options,
        outputs,
        _points(q, t - 1),
        _points(q, t - 2),
        (outputs - 1).bit_length(),
    )


def _points(q: int, t: int) -> int:
    return int((q**t - 1) // (q - 1))


@frozen
class Geometry:
    """S_v = the hyperplane ⟨v, y⟩ = 0 over the field of q elements, in t dimensions."""

    facts: Facts
    q: int
    t: int

    def place(self, values: Integers, inside: Flags, bits: Bits | None, /) -> Integers:
        """Draw all digits of y but the one where v has its highest 1; that one makes ⟨v, y⟩ = 0, or 1.

        The free digits are a uniform point of PG(t−2, q) for a uniform point of the hyperplane (a linear bijection),
        and uniform digits off it, where every point has exactly one vector with ⟨v, y⟩ = 1. Both are always drawn.
        """
        on = uniform(self.facts.inside, values.size, bits=bits)
        return self.complete(
            values, inside, on, uniform(self.q ** (self.t - 1), values.size, bits=bits)
        )

    def complete(self, values: Integers, inside: Flags, on: Integers, off: Integers) -> Integers:
        """Return the point number `on` of the hyperplane of v where `inside`, else number `off` of those off it."""
        field = field_of(self.q)
        free = np.where(
            inside[:, None], _vector(on, self.q, self.t - 1), _digits(off, self.q, self.t - 1)
        )
        return _number(_completed(_vector(values, self.q, self.t), free, ~inside, field), field)

    def counts(self, reports: NDArray[Any], /) -> Integers:
        """Return how many reports lie on each hyperplane: whole numbers, which floats miss by less than 1/100."""
        total = np.zeros(self.facts.options, dtype=np.int64)
        for start in range(0, reports.size, _CHUNK):
            known = np.bincount(reports[start : start + _CHUNK], minlength=self.facts.outputs)
            total += np.rint(
                _sums(known.astype(np.float64), self.q, self.t)[: self.facts.options]
            ).astype(np.int64)
        return total

    def valid(self, reports: NDArray[Any], /) -> Flags:
        """Return which are points."""
        return read_numbers(reports, self.facts.outputs)


def _digits(numbers: Integers, q: int, t: int) -> Integers:
    return numbers[:, None] // q ** np.arange(t, dtype=np.int64) % q


def _vector(points: Integers, q: int, t: int) -> Integers:
    """Return the canonical vectors of points, lowest digit first."""
    starts = np.array([_points(q, m) for m in range(t)])
    free = np.searchsorted(starts, points, side="right") - 1
    digits = _digits(points - starts[free], q, t)
    digits[np.arange(len(points)), free] = 1
    return digits


def _completed(point: Integers, free: Integers, target: Flags, field: FiniteField) -> Integers:
    """Put the free digits around the highest place of each point, and solve for the digit there."""
    n, t = point.shape
    top = _top(point)
    total = np.zeros(n, dtype=np.int64)
    whole = np.zeros((n, t), dtype=np.int64)
    for i in range(t):
        digit = np.where(i < top, free[:, min(i, t - 2)], free[:, max(i - 1, 0)])
        whole[:, i] = np.where(i == top, 0, digit)
        total = field.add[total, field.mul[point[:, i], whole[:, i]]]
    minus = np.argmin(field.add, axis=1)  # −a: the b with a + b = 0
    whole[np.arange(n), top] = field.add[target.astype(np.int64), minus[total]]
    return whole


def _number(vectors: Integers, field: FiniteField) -> Integers:
    """Return the number of the point that a vector belongs to."""
    n, t = vectors.shape
    top = _top(vectors)
    factor = field.inverse[vectors[np.arange(n), top]]
    scaled = field.mul[factor[:, None], vectors]
    scaled[np.arange(n), top] = 0
    places = field.q ** np.arange(t, dtype=np.int64)
    return np.asarray((places[top] - 1) // (field.q - 1) + scaled @ places)


def _top(vectors: Integers) -> Integers:
    return np.asarray(vectors.shape[1] - 1 - np.argmax(vectors[:, ::-1] != 0, axis=1))


def hyperplane_sums(design: Geometry, scores: Floats) -> Floats:
    """Return for every point y the sum of the scores of the options whose hyperplane it lies on (floats)."""
    padded = np.append(scores, np.zeros(design.facts.outputs - scores.size))
    return _sums(padded, design.q, design.t)


def _sums(weights: Floats, q: int, t: int) -> Floats:
    """Return for every point v the weight of the points y with ⟨v, y⟩ = 0, both in PG(t−1, q).

    The points at infinity (u, 0) come first, then the q^(t−1) others (x, 1). With F(w) = Σ_x a_x χ(⟨w, x⟩) over the
    others, those with ⟨u, x⟩ = −1 weigh Σ_b χ(b/a) F(bℓ)/q for u = aℓ, and those with ⟨ℓ, x⟩ = 0 weigh Σ_b F(bℓ)/q: one
    transform of q^(t−1) numbers and one product with a q×q matrix, instead of a transform of q^t. At infinity lies
    PG(t−2, q).

    For n reports the floats are off by at most 2^-53·e(t−1)(p + 5)·√(q^(t−1))·n: the transform's error in the 2-norm,
    of which a mean of q follows. That is below 1/100 for 2^24 reports at a time and q^(t−1) ≤ 2^24.
    """
    if t == 1:
        return np.zeros(1)
    split = _points(q, t - 1)
    far, near = _sums(weights[:split], q, t - 1), weights[split:]
    slopes, places = _pencils(q, t - 1)
    spectrum, signs = _characters(near, q, t - 1)[slopes], _signs(q)
    along = (spectrum.real @ signs.real - spectrum.imag @ signs.imag) / q
    found = np.empty_like(weights)
    found[:split] = far + along[:, 0]
    found[split] = weights[:split].sum()
    found[split + places] = far[:, None] + along[:, 1:]
    return found


@lru_cache(maxsize=32)
def _pencils(q: int, t: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return for every point ℓ where the transform has F(bℓ), b in F_q, and the numbers of the vectors aℓ, a ≠ 0."""
    field, places = field_of(q), q ** np.arange(t, dtype=np.int64)
    points = _vector(np.arange(_points(q, t)), q, t)
    multiples = [field.mul[factor][points] for factor in range(q)]
    slopes = np.stack([field.dual[vectors] @ places for vectors in multiples], axis=1)
    return slopes.astype(np.int32), np.stack(
        [vectors @ places for vectors in multiples[1:]], axis=1
    ).astype(np.int32)


@lru_cache(maxsize=32)
def _signs(q: int) -> NDArray[np.complex128]:
    """Return the matrix of ones (first column) and of χ(b/a), a ≠ 0: χ(z) = e^(−2πi L(z)/p), L the constant term."""
    field = field_of(q)
    quotients = field.mul[:, field.inverse[1:]] % field.p
    return np.concatenate([np.ones((q, 1)), np.exp(-2j * np.pi * quotients / field.p)], axis=1)


def _characters(numbers: Floats, q: int, t: int) -> NDArray[Any]:
    """Return Σ_y a_y χ_u(y) over the group (Z_p)^(e·t)."""
    field = field_of(q)
    if field.p == 2:
        return walsh(numbers)
    shape = (field.p,) * (field.degree * t)
    return np.fft.fftn(numbers.reshape(shape, order="F")).reshape(-1, order="F")
