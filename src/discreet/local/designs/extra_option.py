"""A geometry and one more option, "none of them", whose set is apart from all others: for when most people hold it.

Of the w outputs of the set apart devices report one, |Y| of the geometry: which of them it is tells nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...frozen import frozen
from ...noise import Bits, uniform
from .design import Facts, Flags, Integers, read_numbers
from .geometry import Geometry


@frozen
class Apart:
    """S_v = the hyperplane of v; the last option's set has as many outputs, none of them a point.

    Two sets share λ outputs or, if one of them is the set apart, none: `facts.shared` is the least, which prices.

    >>> import numpy as np
    >>> from discreet.local.designs.extra_option import Apart
    >>> from discreet.local.designs.geometry import Geometry, geometry_facts
    >>> design = Apart(Geometry(geometry_facts(7, 2), 2, 3))
    >>> design.facts
    Facts(member='apart', options=8, outputs=10, inside=3, shared=0, bits=3)
    >>> design.counts(np.array([0, 7, 7])).tolist()
    [0, 1, 0, 1, 0, 1, 0, 2]
    """

    geometry: Geometry

    @property
    def facts(self) -> Facts:
        """The sizes: |Y| + w outputs."""
        own = self.geometry.facts
        return Facts(
            "apart",
            own.options + 1,
            own.outputs + own.inside,
            own.inside,
            0,
            own.outputs.bit_length(),
        )

    def place(self, values: Integers, inside: Flags, bits: Bits | None, /) -> Integers:
        """Draw a point of a hyperplane, and one of |Y| outputs: those off it and those apart, or all points.

        The outputs off the set of v are q^(t−1) points and the w apart; those off the set apart are the points.
        """
        own, none = self.geometry.facts, values == self.geometry.facts.options
        on = uniform(own.inside, values.size, bits=bits)
        off = uniform(own.outputs, values.size, bits=bits)
        points = own.outputs - own.inside
        shown = self.geometry.complete(
            np.where(none, 0, values), inside, on, np.minimum(off, points - 1)
        )
        apart = np.where(none, inside, ~inside & (off >= points))
        return np.where(apart, own.outputs, np.where(none, off, shown))

    def counts(self, reports: NDArray[Any], /) -> Integers:
        """Return how many reports lie on each hyperplane, and how many apart."""
        points = reports[reports < self.geometry.facts.outputs]
        return np.append(self.geometry.counts(points), reports.size - points.size)

    def valid(self, reports: NDArray[Any], /) -> Flags:
        """Return which are points, or apart."""
        return read_numbers(reports, self.geometry.facts.outputs + 1)
