"""Interface of a dominating pair: the masses of its privacy loss, cell by cell.

The hockey-stick curve of a pair (P, Q) is H(ε) = sup_S P(S) − e^ε Q(S). The pair dominates an
event, in one direction of the neighbour relation, if H lies on or above the event's curve for
every real ε. Dominating pairs compose, also adaptively (Zhu, Dong, Wang 2022, Theorem 10), so the
product of the pairs prices the composition.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple, Protocol

import numpy as np

from ...arithmetic.series import Array
from ...frozen import frozen

__all__ = [
    "EPS",
    "Array",
    "Directions",
    "Lattice",
    "LossCells",
    "LossPair",
    "ceiling",
    "narrowest",
]

EPS = 2.0**-52
"""Unit in the last place of a double at 1."""


@frozen(eq=False)
class LossCells:
    """P-mass and Q-mass of the privacy loss L = ln(p/q) between edges.

    Entry 0 is everything up to the first edge, entry i the interval (edge i−1, edge i]. The last
    entry is everything finite above the last edge. `top` is the P-mass where q = 0.

    Guarantee: every mass is right to the relative `error`.

    Law: tests/privacy/test_pair.py::TestGauss
    """

    p: Array
    q: Array
    top: float
    error: float


class Lattice(NamedTuple):
    """Lattice of losses: all are offset + whole multiples of pitch, exactly."""

    pitch: Fraction
    offset: Fraction


class LossPair(Protocol):
    """Two laws that are at least as easy to tell apart as the event's, in one direction.

    | attribute | meaning |
    |---|---|
    | `limit` | the largest finite loss; None if there is none |
    | `top` | the P-mass where q = 0 |
    | `lattice` | the lattice of the losses, if they lie on one |
    | `slack` | a number a: the curve of the event is at most e^a H(ε − 2a); it adds up |
    | `split` | the widest interval of losses whose masses were put on its ends; 0 if none was |

    Guarantee: `delta` is never below the event's curve, `lower_delta` never above that of the pair
    before masses were split.

    Law: tests/privacy/test_pair.py::TestSymmetry
    """

    @property
    def limit(self) -> Fraction | None:
        """The largest finite loss, rounded up; None if there is none."""

    @property
    def top(self) -> Fraction:
        """The P-mass where q = 0: exact, or rounded up."""

    @property
    def lattice(self) -> Lattice | None:
        """The lattice of the losses; None if they lie on none."""

    @property
    def slack(self) -> float:
        """A bound on how far the event's curve may lie above the pair's."""

    @property
    def split(self) -> float:
        """The widest interval of losses whose masses were put on its ends; 0 if none was."""

    def cells(self, edges: Array) -> LossCells:
        """Return the masses of the loss between increasing edges."""

    def delta(self, epsilon: float) -> float:
        """Return an upper bound on the curve of the event at ε, any real number."""

    def lower_delta(self, epsilon: float) -> float:
        """Return H(ε) of the pair before masses were split, rounded down; any real ε."""

    def span(self, tail: float) -> tuple[float, float]:
        """Return an interval of losses with P-mass at most `tail` on either side of it.

        Infinite losses do not count.
        """


class Directions(NamedTuple):
    """Pairs of the two directions of a neighbour relation.

    Both are one shared object if the event treats the directions alike.
    """

    remove: LossPair
    add: LossPair


def ceiling(value: Fraction) -> float:
    """Return the least float that is not below an exact number.

    >>> from discreet.privacy.loss.loss_masses import ceiling
    >>> from fractions import Fraction
    >>> ceiling(Fraction(1, 4)), ceiling(Fraction(1, 3)) > Fraction(1, 3)
    (0.25, True)
    """
    near = float(value)
    # `float` rounds to the nearest, which may be below: then the next float is the least above.
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)


def narrowest(edges: Array) -> float:
    """Return the least positive width of a cell; 1 if there is none.

    Relative errors of differences grow with its inverse.

    >>> import numpy as np
    >>> from discreet.privacy.loss.loss_masses import narrowest
    >>> narrowest(np.array([0.0, 1.0, 1.0, 1.5]))
    0.5
    """
    widths = np.diff(edges)
    positive = widths[widths > 0]
    return float(positive.min()) if len(positive) else 1.0
