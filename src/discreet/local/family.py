"""The two-level family: one exact sampler, one estimator, for every design.

k-ary response, subset selection, Hadamard response and projective-geometry response differ in which outputs belong to
which option, and in nothing else. Drawn are, in this order and whatever the value is:

    inside   one coin of bias w/(w + (|Y| − w) e^−ε), compared with as many bits as it takes
    place    a uniform output of the option's set, or of its complement (integers only; the design says how)
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidArgument
from ..frozen import field, fill, frozen
from ..noise import Bits
from ..noise.block_draws import serve
from ..noise.coin import Coin
from ..noise.exp import Bounds, exp_neg
from .designs.design import Design, Flags, Integers
from .designs.direct import Direct, direct_facts
from .designs.extra_option import Apart
from .designs.geometry import Geometry, geometry_facts
from .designs.hadamard import Hadamard, hadamard_facts
from .designs.subset import Subset, subset_facts
from .law import TwoLevelLaw


@frozen
class InsideCoin(Coin):
    """True with probability a/(a + b·e^−ε); `bias` is ε, a and b the outputs inside and outside, without common factor.

    >>> from discreet.local.family import InsideCoin
    >>> from fractions import Fraction
    >>> InsideCoin(Fraction(0), inside=1, outside=3).bounds(2)
    (1, 1)
    """

    inside: int = 1
    outside: int = 1

    def bounds(self, precision: int) -> Bounds:
        """Bound the chance in units of 2^-precision: the lower bound of e^−ε gives the upper one."""
        fine = precision + self.outside.bit_length()
        low, high = exp_neg(self.bias.numerator, self.bias.denominator, fine)
        top, own = self.inside << (precision + fine), self.inside << fine
        return top // (own + self.outside * high), -(-top // (own + self.outside * low))


@frozen
class Family:
    """A design at an ε: what a device draws and what a server makes of it, options being numbers from 0.

    >>> import numpy as np
    >>> from discreet.local.family import direct
    >>> from fractions import Fraction
    >>> family = direct(3, Fraction(1000))
    >>> family.draw(np.array([0, 2, 2])).tolist(), family.counts(np.array([0, 2, 2])).tolist()
    ([0, 2, 2], [1, 0, 2])
    """

    design: Design
    epsilon: Fraction
    coin: InsideCoin = field(init=False)

    def __post_init__(self) -> None:
        facts = self.design.facts
        outside = facts.outputs - facts.inside
        common = gcd(facts.inside, outside)
        made = InsideCoin(self.epsilon, inside=facts.inside // common, outside=outside // common)
        fill(self, coin=made)

    @property
    def law(self) -> TwoLevelLaw:
        """The chances, the variance and the price."""
        return TwoLevelLaw(self.design.facts, self.epsilon)

    def draw(self, values: Integers, *, bits: Bits | None = None) -> NDArray[Any]:
        """Randomize options of different people, already checked: P(y) = e^ε/Z for y ∈ S_x, else 1/Z, exactly."""
        inside: Flags = np.asarray(serve(self.coin, values.size, bits), dtype=np.bool_)
        return self.design.place(values, inside, bits)

    def valid(self, reports: object) -> Flags:
        """Return which reports a device could have sent."""
        return self.design.valid(self.read(reports))

    def read(self, reports: object) -> NDArray[Any]:
        """Read reports as one array, as the design counts them; single ones of `randomize` are whole numbers.

        Refuses what is no array of reports.
        """
        if isinstance(reports, np.ndarray):
            return reports
        if not isinstance(reports, list | tuple) or not all(
            type(r) is int or isinstance(r, np.integer) for r in reports
        ):
            raise InvalidArgument(
                "reports must be an array, or a list of what `randomize` returns for single values"
            )
        if self.design.facts.member != "subset":
            return _numbers(reports)
        width = self.design.facts.width
        if not all(0 <= r < 1 << 8 * width for r in reports):
            raise InvalidArgument(f"a report must be a whole number of {width} bytes")
        joined = b"".join(int(r).to_bytes(width, "little") for r in reports)
        return np.frombuffer(joined, dtype=np.uint8).reshape(-1, width)

    def counts(self, reports: object) -> Integers:
        """Return for every option how many reports lie in its set.

        Refuses reports that no device could have sent: they are forged or cut off. `valid` tells which.
        """
        array = self.read(reports)
        strange = int((~self.design.valid(array)).sum())
        if strange:
            raise InvalidArgument(
                f"{strange} of {len(array)} reports could not come from a device; keep reports[valid(reports)] only"
            )
        return self.design.counts(array)


def _numbers(reports: list[int] | tuple[int, ...]) -> Integers:
    """Read single reports; what is too wide for a machine word becomes −1, which no device sends."""
    return np.array([r if 0 <= r < 1 << 63 else -1 for r in reports], dtype=np.int64)


def direct(options: int, epsilon: Fraction) -> Family:
    """Make k-ary randomized response."""
    return Family(Direct(direct_facts(options)), epsilon)


def subset(options: int, epsilon: Fraction, named: int) -> Family:
    """Make subset selection with k options named."""
    return Family(Subset(subset_facts(options, named), named), epsilon)


def hadamard(options: int, epsilon: Fraction) -> Family:
    """Make Hadamard response."""
    return Family(Hadamard(hadamard_facts(options)), epsilon)


def geometry(options: int, epsilon: Fraction, q: int) -> Family:
    """Make projective-geometry response over the field of q elements."""
    return Family(_space(options, q), epsilon)


def apart(options: int, epsilon: Fraction, q: int) -> Family:
    """Make projective-geometry response in which the last option, "none of them", has a set apart from all others."""
    return Family(Apart(_space(options - 1, q)), epsilon)


def _space(options: int, q: int) -> Geometry:
    facts = geometry_facts(options, q)
    t = 2
    while (q**t - 1) // (q - 1) < facts.outputs:
        t += 1
    return Geometry(facts, q, t)
