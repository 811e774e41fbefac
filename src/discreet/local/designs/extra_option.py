"""Projective geometry with one more option, "none of them", for rounds where most people hold it.

The set of that option shares no output with any other. Devices report all of its w outputs as one
number, |Y| of the geometry, since which of them was drawn carries no information.
"""

from __future__ import annotations

import numpy as np

from ...arithmetic.arrays import AnyArray, Flags
from ...frozen import frozen
from ...noise import Bits, uniform
from .design import DesignSizes, Integers, read_numbers
from .geometry import Geometry


@frozen
class ExtraOption:
    """Design with S_v = the hyperplane of v, and a separate set of that size for the last option.

    Two sets share λ outputs or, if one of them is the separate set, none. `facts.shared` is the
    least of the two, which decides the price.

    >>> import numpy as np
    >>> from discreet.local.designs.extra_option import ExtraOption
    >>> from discreet.local.designs.geometry import Geometry, geometry_facts
    >>> design = ExtraOption(Geometry(geometry_facts(7, 2), 2, 3))
    >>> design.facts
    DesignSizes(member='apart', options=8, outputs=10, inside=3, shared=0, bits=3)
    >>> design.counts(np.array([0, 7, 7])).tolist()
    [0, 1, 0, 1, 0, 1, 0, 2]

    Law: `tests/local/test_extra_option.py::TestSetApart`
    """

    geometry: Geometry

    @property
    def facts(self) -> DesignSizes:
        """The sizes: |Y| + w outputs."""
        plain = self.geometry.facts
        outputs = plain.outputs + plain.inside
        bits = plain.outputs.bit_length()
        return DesignSizes("apart", plain.options + 1, outputs, plain.inside, 0, bits)

    def place(self, values: Integers, inside: Flags, bits: Bits | None, /) -> Integers:
        """Draw a point of a hyperplane, and one of |Y| outputs for the complement.

        The outputs off the set of v are q^(t−1) points and the w separate ones. The outputs off
        the separate set are all points.
        """
        plain = self.geometry.facts
        holds_none = values == plain.options
        # Both are drawn for everyone, so that the bits used do not depend on the value.
        on = uniform(plain.inside, values.size, bits=bits)
        off = uniform(plain.outputs, values.size, bits=bits)
        points_off = plain.outputs - plain.inside
        option = np.where(holds_none, 0, values)
        point = self.geometry.complete(option, inside, on, np.minimum(off, points_off - 1))
        # Off the set of v, numbers beyond the points off it stand for the separate outputs.
        is_separate = np.where(holds_none, inside, ~inside & (off >= points_off))
        shown_point = np.where(holds_none, off, point)
        return np.where(is_separate, plain.outputs, shown_point)

    def counts(self, reports: AnyArray, /) -> Integers:
        """Return how many reports lie on each hyperplane, and how many in the separate set."""
        points = reports[reports < self.geometry.facts.outputs]
        return np.append(self.geometry.counts(points), reports.size - points.size)

    def valid(self, reports: AnyArray, /) -> Flags:
        """Return which reports are points, or the separate set."""
        return read_numbers(reports, self.geometry.facts.outputs + 1)
