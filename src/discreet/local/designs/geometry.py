"""Projective-geometry response: sets are the hyperplanes of PG(t−1, q) (Feldman, Nelson, Nguyen, Talwar 2022).

A point is a vector of F_q^t up to a factor; its canonical one has a 1 as the highest digit that is not 0. A point with
m digits below that 1 has the number (q^m − 1)/(q − 1) + those digits read in base q. Option v is the point of number v,
and S_v the points y with ⟨v, y⟩ = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...noise import Bits, uniform
from .design import Facts, Flags, Integers, read_numbers
from .field import FiniteField, field_of
from .hadamard import walsh

__all__ = ["Geometry", "geometry_facts", "hyperplane_sums"]


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
    return Facts("geometry", options, outputs, _points(q, t - 1), _points(q, t - 2), (outputs - 1).bit_length())


def _points(q: int, t: int) -> int:
    return int((q**t - 1) // (q - 1))


@dataclass(frozen=True, slots=True)
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
        field = field_of(self.q)
        on = _vector(uniform(self.facts.inside, values.size, bits=bits), self.q, self.t - 1)
        off = _digits(uniform(self.q ** (self.t - 1), values.size, bits=bits), self.q, self.t - 1)
        free = np.where(inside[:, None], on, off)
        return _number(_completed(_vector(values, self.q, self.t), free, ~inside, field), field)

    def counts(self, reports: NDArray[Any], /) -> Integers:
        """Return (n + Σ_y N_y Σ_{c ≠ 0} χ(c⟨v, y⟩))/q: the inner sum is q − 1 on the hyperplane and −1 off it."""
        total = np.zeros(self.facts.options, dtype=np.int64)
        for start in range(0, reports.size, _CHUNK):
            total += self._counts(reports[start : start + _CHUNK])
        return total

    def _counts(self, reports: NDArray[Any]) -> Integers:
        field = field_of(self.q)
        spread = np.bincount(reports, minlength=self.facts.outputs)[_lines(self.q, self.t)]
        spread[0] = 0
        sums = _characters(spread, field, self.t)
        wanted = _vector(np.arange(self.facts.options), self.q, self.t)
        at = field.dual[wanted] @ self.q ** np.arange(self.t)
        return np.asarray((reports.size + sums[at]) // self.q)

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


@lru_cache(maxsize=8)
def _lines(q: int, t: int) -> NDArray[np.int32]:
    """Return the point of every vector but 0, in the order of the vectors' own numbers."""
    field, places = field_of(q), q ** np.arange(t, dtype=np.int64)
    points = _vector(np.arange(_points(q, t)), q, t)
    found = np.zeros(q**t, dtype=np.int32)
    for factor in range(1, q):
        found[field.mul[factor][points] @ places] = np.arange(len(points))
    return found


def hyperplane_sums(design: Geometry, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for every point y the sum of the scores of the options whose hyperplane it lies on (floats)."""
    field = field_of(design.q)
    padded = np.append(scores, np.zeros(design.facts.outputs - scores.size))
    spread = padded[_lines(design.q, design.t)]
    spread[0] = 0.0
    shape = (field.p,) * (field.degree * design.t)
    sums = np.fft.fftn(spread.reshape(shape, order="F")).real.reshape(-1, order="F")
    points = _vector(np.arange(design.facts.outputs), design.q, design.t)
    at = field.dual[points] @ design.q ** np.arange(design.t)
    return np.asarray((scores.sum() + sums[at]) / design.q)


def _characters(numbers: Integers, field: FiniteField, t: int) -> Integers:
    """Return Σ_y a_y χ_u(y) over the group (Z_p)^(e·t); whole numbers, since a is constant on lines.

    The floats of the transform are off by at most 2^-53·5·log₂N·√N·‖a‖ (its error in the 2-norm), ‖a‖ ≤ n√(q − 1):
    below 1/20 for 2^24 reports at a time, N ≤ 2^24 and q ≤ 512, so rounding to whole numbers is exact.
    """
    if field.p == 2:
        return walsh(numbers)
    shape = (field.p,) * (field.degree * t)
    sums = np.fft.fftn(numbers.reshape(shape, order="F")).real
    return np.rint(sums.reshape(-1, order="F")).astype(np.int64)
