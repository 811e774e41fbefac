"""Two-level family: one exact sampler and one estimator for every design.

k-ary response, subset selection, Hadamard response and projective-geometry response differ only in
which outputs belong to which option. Two things are drawn, in this order and for every value:

    inside   one coin of bias w/(w + (|Y| − w) e^−ε), compared with as many bits as it takes
    place    a uniform output of the option's set, or of its complement (integers only; the design
             says how)
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd

import numpy as np

from ..arithmetic.arrays import AnyArray, Flags
from ..errors import InvalidArgument
from ..frozen import field, fill, frozen
from ..noise import Bits
from ..noise.block_draws import serve
from ..noise.coin import Coin
from ..noise.exp import Bounds, exp_neg
from .designs.design import Design, Integers, check_possible
from .designs.direct import Direct, direct_facts
from .designs.extra_option import ExtraOption
from .designs.geometry import Geometry, geometry_facts
from .designs.hadamard import Hadamard, hadamard_facts
from .designs.subset import Subset, subset_facts
from .law import TwoLevelLaw


@frozen
class InsideCoin(Coin):
    """Exact coin, true with probability a/(a + b·e^−ε).

    `bias` is ε; a and b are the numbers of outputs inside and outside, without common factor.

    >>> from discreet.local.family import InsideCoin
    >>> from fractions import Fraction
    >>> InsideCoin(Fraction(0), inside=1, outside=3).bounds(2)
    (1, 1)

    Law: `tests/local/test_family.py::TestExactLaw`
    """

    inside: int = 1
    outside: int = 1

    def bounds(self, precision: int) -> Bounds:
        """Bound the probability in units of 2^-precision.

        The probability falls with e^−ε, so an upper bound of e^−ε gives the lower bound.
        """
        # More bits for e^−ε than asked for, since `outside` multiplies its error.
        fine = precision + self.outside.bit_length()
        shrink_low, shrink_high = exp_neg(self.bias.numerator, self.bias.denominator, fine)
        numerator = self.inside << (precision + fine)
        inside = self.inside << fine
        # The lower bound is rounded down, the upper bound up.
        low = numerator // (inside + self.outside * shrink_high)
        high = -(-numerator // (inside + self.outside * shrink_low))
        return low, high


@frozen
class Family:
    """Design at an ε: draws reports on a device, counts them on a server. Options are 0, 1, ….

    >>> import numpy as np
    >>> from discreet.local.family import direct
    >>> from fractions import Fraction
    >>> family = direct(3, Fraction(1000))
    >>> family.draw(np.array([0, 2, 2])).tolist(), family.counts(np.array([0, 2, 2])).tolist()
    ([0, 2, 2], [1, 0, 2])

    Guarantee: reports follow the two-level law exactly, and the work does not depend on the value.
    Refuses: `InvalidArgument` for reports that no device could have sent.
    Law: `tests/local/test_family.py::TestExactLaw`
    Law: `tests/local/test_family.py::TestRefusals`
    """

    design: Design
    epsilon: Fraction
    coin: InsideCoin = field(init=False)

    def __post_init__(self) -> None:
        facts = self.design.facts
        outside = facts.outputs - facts.inside
        common = gcd(facts.inside, outside)
        coin = InsideCoin(self.epsilon, inside=facts.inside // common, outside=outside // common)
        fill(self, coin=coin)

    @property
    def law(self) -> TwoLevelLaw:
        """The probabilities, the variance and the price."""
        return TwoLevelLaw(self.design.facts, self.epsilon)

    def draw(self, values: Integers, *, bits: Bits | None = None) -> AnyArray:
        """Randomize checked options of different people.

        Guarantee: P(y) = e^ε/Z for y ∈ S_x, else 1/Z, exactly.
        """
        inside: Flags = np.asarray(serve(self.coin, values.size, bits), dtype=np.bool_)
        return self.design.place(values, inside, bits)

    def valid(self, reports: object) -> Flags:
        """Return which reports a device could have sent."""
        return self.design.valid(self.read(reports))

    def read(self, reports: object) -> AnyArray:
        """Read reports as one array that the design can count.

        Single reports, as `randomize` returns them, are whole numbers.

        Refuses: `InvalidArgument` for anything but an array of reports or a list of numbers.
        """
        if isinstance(reports, np.ndarray):
            return reports
        if not isinstance(reports, list | tuple) or not all(map(_is_whole, reports)):
            raise InvalidArgument(
                "reports must be an array, or a list of what `randomize` returns for single values"
            )
        if self.design.facts.member != "subset":
            return _numbers(reports)
        width = self.design.facts.width
        if not all(0 <= report < 1 << 8 * width for report in reports):
            raise InvalidArgument(f"a report must be a whole number of {width} bytes")
        joined = b"".join(int(report).to_bytes(width, "little") for report in reports)
        return np.frombuffer(joined, dtype=np.uint8).reshape(-1, width)

    def counts(self, reports: object) -> Integers:
        """Return for every option how many reports lie in its set.

        Refuses: `InvalidArgument` for reports that no device could have sent; they are forged or
        cut off. `valid` says which.
        """
        array = self.read(reports)
        check_possible(self.design.valid(array))
        return self.design.counts(array)


def _is_whole(report: object) -> bool:
    """Return whether a report is a whole number; `bool` is none."""
    return type(report) is int or isinstance(report, np.integer)


def _numbers(reports: list[int] | tuple[int, ...]) -> Integers:
    """Read single reports; too wide ones for 64 bits become −1, which no device sends."""
    fitting = [report if 0 <= report < 1 << 63 else -1 for report in reports]
    return np.array(fitting, dtype=np.int64)


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


def extra_option(options: int, epsilon: Fraction, q: int) -> Family:
    """Make projective-geometry response with a separate set for the last option.

    The last option is "none of them"; its set shares no output with any other.
    """
    return Family(ExtraOption(_space(options - 1, q)), epsilon)


def _space(options: int, q: int) -> Geometry:
    """Return the smallest projective space over q elements with a point for every option."""
    facts = geometry_facts(options, q)
    t = 2
    while (q**t - 1) // (q - 1) < facts.outputs:
        t += 1
    return Geometry(facts, q, t)
