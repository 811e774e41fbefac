"""Small members of the two-level family, and who is in which set by the definitions, not by the code under test."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np

from discreet.local.designs.field import field_of
from discreet.local.designs.geometry import Geometry
from discreet.local.family import Family, direct, geometry, hadamard, subset

EPSILON = Fraction(1)
SMALL = {
    "direct 2": direct(2, EPSILON),
    "direct 5": direct(5, EPSILON),
    "hadamard 3": hadamard(3, EPSILON),
    "hadamard 6": hadamard(6, EPSILON),
    "geometry 2": geometry(7, EPSILON, 2),
    "geometry 3": geometry(12, EPSILON, 3),
    "geometry 4": geometry(20, EPSILON, 4),
    "geometry 8": geometry(12, EPSILON, 8),
    "geometry 9": geometry(30, EPSILON, 9),
    "geometry 16": geometry(40, EPSILON, 16),
    "geometry 2, five digits": geometry(25, EPSILON, 2),
}
SUBSETS = {
    "subset 1 of 4": subset(4, EPSILON, 1),
    "subset 2 of 5": subset(5, EPSILON, 2),
    "subset 3 of 5": subset(5, EPSILON, 3),
}


def vectors(q, t):
    """List the canonical points in the order of their numbers: a 1 above m free digits."""
    return [
        [*free[::-1], 1, *[0] * (t - m - 1)]
        for m in range(t)
        for free in itertools.product(range(q), repeat=m)
    ]


def sets(family: Family) -> list[set]:
    """Return S_v for every option, as numbers, or as frozen sets of options for subsets."""
    design, facts = family.design, family.design.facts
    if facts.member == "direct":
        return [{v} for v in range(facts.options)]
    if facts.member == "hadamard":
        return [
            {y for y in range(facts.outputs) if (y & (v + 1)).bit_count() % 2 == 0}
            for v in range(facts.options)
        ]
    if facts.member == "subset":
        every = [frozenset(s) for s in itertools.combinations(range(facts.options), design.named)]
        return [{s for s in every if v in s} for v in range(facts.options)]
    assert isinstance(design, Geometry)
    points, field = vectors(design.q, design.t), field_of(design.q)

    def product(a, b):
        total = 0
        for x, y in zip(a, b, strict=True):
            total = field.add[total, field.mul[x, y]]
        return total

    return [
        {y for y, b in enumerate(points) if product(points[v], b) == 0}
        for v in range(facts.options)
    ]


def named(rows):
    """Read rows of bytes as sets of options."""
    return [
        frozenset(np.flatnonzero(np.unpackbits(row, bitorder="little")).tolist()) for row in rows
    ]
