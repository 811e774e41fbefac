"""Columns of numbers: clipped to public bounds, rounded to a public grid, added up as whole steps of it."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Literal

from ...arithmetic.rational import Number, rational
from ...errors import InvalidArgument
from ...frozen import fill, frozen
from .amount import INT64_HIGH, INT64_LOW, call, plain
from .cell import nearest, number
from .keys import MOST_KEYS, few
from .nulls import Nulls, flag, nulls
from .text_format import check_marks, check_unit, plain_numeral

MOST_STEPS = 2**62
"""A value is at most this many steps from zero, so that one value always fits in 64 bits with a bit to spare."""
LEAST, MOST = Fraction("1e-290"), Fraction("1e290")
"""Real bounds stay where doubles neither overflow nor lose bits, scaled or not."""
PUBLIC = "state bounds that anyone may know without looking at the data"


@frozen(init=False, repr=False)
class Integer:
    """Declare whole numbers from `low` to `high`: values beyond are clipped, fractions are rounded, halves to even.

    `thousands=","` says that text is written 12,345: cells written otherwise are then unreadable. `unit="kg"` says that
    the unit may stand beside the number.

    >>> import discreet as dp
    >>> age = dp.Integer(0, 120)
    >>> age.width(), age.read(130), age.read("37"), age.read("unknown")
    (120, 120, 37, None)

    Refuses low ≥ high, fractions, bounds beyond 64 bits.
    """

    kind: ClassVar[Literal["integer"]] = "integer"
    step: ClassVar[Fraction] = Fraction(1)
    low: int
    high: int
    default: int | None
    null_key: bool
    thousands: str | None
    unit: str | None

    def __init__(
        self,
        low: int,
        high: int,
        *,
        default: int | None = None,
        null_key: bool = False,
        thousands: str | None = None,
        unit: str | None = None,
    ) -> None:
        least, most = _whole(low, "low"), _whole(high, "high")
        if least >= most:
            raise InvalidArgument(
                f"Integer needs low < high, got {least} and {most}; {PUBLIC}: Integer(0, 120)"
            )
        stand_in = None if default is None else _whole(default, "default")
        if stand_in is not None and not least <= stand_in <= most:
            raise InvalidArgument(f"default must lie from {least} to {most}, got {stand_in}")
        nulls(stand_in, flag(null_key, "null_key"))
        fields = {"low": least, "high": most, "default": stand_in, "null_key": null_key}
        fill(self, **fields, thousands=check_marks(thousands, None)[0], unit=check_unit(unit))

    def __repr__(self) -> str:
        options = {
            "default": self.default,
            "null_key": self.null_key or None,
            "thousands": self.thousands,
        }
        return call("Integer", self.low, self.high, **options, unit=self.unit)

    @property
    def nulls(self) -> Nulls:
        """The rule for NULL: drop, default or key."""
        return nulls(self.default, self.null_key)

    @property
    def ends(self) -> tuple[int, int]:
        """The lowest and the highest value, in whole steps."""
        return self.low, self.high

    def width(self) -> int:
        """Count the steps from low to high: how far one value can move."""
        return self.high - self.low

    def steps(self, value: object) -> int | None:
        """Read a stored value as whole steps; None is NULL."""
        x = number(plain_numeral(value, self.thousands, None, self.unit))
        if x is None:
            return self.default
        return _clamp(x, self.ends)

    def read(self, value: object) -> int | None:
        """Return what a stored value counts as; None is NULL."""
        return self.steps(value)

    def at(self, steps: int) -> int:
        """Turn whole steps back into a value."""
        return steps

    def keys(self, most: int | None = None) -> tuple[int | None, ...]:
        """List every value as a public key, if there are at most `most` (1,000 by default).

        >>> import discreet as dp
        >>> dp.Integer(1, 3, null_key=True).keys()
        (1, 2, 3, None)
        """
        few(self.width() + 1, MOST_KEYS if most is None else most, repr(self))
        return (*range(self.low, self.high + 1), *((None,) if self.null_key else ()))


@frozen(init=False, repr=False)
class Real:
    """Declare real numbers from `low` to `high`, rounded to the nearest whole multiple of `step`, halves to even.

    A stored number is a double x. Its steps are nearest(x·n) if step = 1/n, nearest(x/n) if step = n, clamped to the
    steps of the bounds: one IEEE operation, so every engine agrees, and exact if the step is a power of two. Rounding
    is monotone, so this is clipping first and rounding then; no value is more than `ends` from zero.
    `thousands` and `decimal` say how numbers are written in text, such as 1.688,80: cells written otherwise are then
    unreadable. The default step is the power of two at most 2^-30 of the larger bound (see `default_step`); a float
    such as 2**-30 means that power.

    >>> import discreet as dp
    >>> from fractions import Fraction
    >>> price = dp.Real(0, 500, step=0.01)
    >>> price.ends, price.steps(12.345), price.read(12.345), price.read(float("inf"))
    ((0, 50000), 1234, Fraction(617, 50), Fraction(500, 1))
    >>> dp.Real(0, 250_000).step == Fraction(1, 2**13)
    True

    Refuses low ≥ high, a NaN or an infinite bound, a step that is neither n nor 1/n, a step that is too coarse or fine.
    """

    kind: ClassVar[Literal["real"]] = "real"
    low: Fraction
    high: Fraction
    step: Fraction
    default: Fraction | None
    null_key: bool
    thousands: str | None
    decimal: str | None
    unit: str | None

    def __init__(
        self,
        low: Number,
        high: Number,
        step: Number | None = None,
        *,
        default: Number | None = None,
        null_key: bool = False,
        thousands: str | None = None,
        decimal: str | None = None,
        unit: str | None = None,
    ) -> None:
        least, most = _bounds(rational(low, "low"), rational(high, "high"))
        grid = default_step(least, most) if step is None else _step(step)
        _check_grid(least, most, grid)
        stand_in = None if default is None else rational(default, "default")
        if stand_in is not None and not least <= stand_in <= most:
            raise InvalidArgument(
                f"default must lie from {plain(least)} to {plain(most)}, got {default}"
            )
        nulls(stand_in, flag(null_key, "null_key"))
        groups, point = check_marks(thousands, decimal)
        said = {
            "null_key": null_key,
            "thousands": groups,
            "decimal": point,
            "unit": check_unit(unit),
        }
        fill(self, low=least, high=most, step=grid, default=stand_in, **said)

    def __repr__(self) -> str:
        step = None if self.rounded else self.step
        options = {
            "default": self.default,
            "null_key": self.null_key or None,
            "thousands": self.thousands,
        }
        return call(
            "Real", self.low, self.high, step=step, **options, decimal=self.decimal, unit=self.unit
        )

    @property
    def rounded(self) -> bool:
        """Whether decimals were rounded to the default step; a declared one says that values are multiples of it."""
        return self.step == default_step(self.low, self.high)

    @property
    def nulls(self) -> Nulls:
        """The rule for NULL: drop, default or key."""
        return nulls(self.default, self.null_key)

    @property
    def ends(self) -> tuple[int, int]:
        """The lowest and the highest value, in whole steps."""
        return _grid(self.low, self.high, self.step)[1]

    def width(self) -> int:
        """Count the steps from low to high: how far one value can move."""
        bottom, top = self.ends
        return top - bottom

    def steps(self, value: object) -> int | None:
        """Read a stored value as whole steps; None is NULL."""
        x = number(plain_numeral(value, self.thousands, self.decimal, self.unit))
        if x is None:
            return None if self.default is None else nearest(self.default / self.step)
        times, ends = _grid(self.low, self.high, self.step)
        return _clamp(_double(x) / float(self.step) if times is None else _double(x) * times, ends)

    def read(self, value: object) -> Fraction | None:
        """Return what a stored value counts as, exactly; None is NULL."""
        steps = self.steps(value)
        return None if steps is None else self.at(steps)

    def at(self, steps: int) -> Fraction:
        """Turn whole steps back into a value."""
        return steps * self.step

    def keys(self, most: int | None = None) -> tuple[None, ...]:  # noqa: ARG002
        """Refuse: real numbers have no list of keys."""
        raise InvalidArgument(
            f"{self!r} has no list of keys; group by public bins of it, or by a Category"
        )


@lru_cache(maxsize=1024)
def _grid(low: Fraction, high: Fraction, step: Fraction) -> tuple[float | None, tuple[int, int]]:
    """Return how many steps one is, where that is whole, and the ends in steps: once, not for every cell."""
    many = 1 / step
    return float(many) if many.denominator == 1 else None, (
        nearest(low / step),
        nearest(high / step),
    )


@lru_cache(maxsize=1024)
def default_step(low: Fraction, high: Fraction) -> Fraction:
    """Choose the grid: a power of two, 2^-30 of the larger bound or a little finer, so that 2^31 rows fit in 64 bits.

    Bounds that are close together but far from zero get 2^-20 of their distance instead, if that is finer; nothing gets
    a step finer than a double at the larger bound can tell apart.

    >>> from discreet.data.columns.numeric import default_step
    >>> from fractions import Fraction
    >>> default_step(Fraction(0), Fraction(1)), default_step(Fraction(2**52), Fraction(2**52 + 1))
    (Fraction(1, 1073741824), Fraction(1, 1))
    """
    largest = max(abs(low), abs(high))
    wanted = min(_power_of_two(largest / 2**30), _power_of_two((high - low) / 2**20))
    return max(wanted, _power_of_two(largest / 2**52))


def _power_of_two(bound: Fraction) -> Fraction:
    """Return the greatest power of two that is at most the bound."""
    power = Fraction(2) ** (bound.numerator.bit_length() - bound.denominator.bit_length())
    return power if power <= bound else power / 2


def _whole(value: object, name: str) -> int:
    exact = rational(value, name)
    if exact.denominator != 1:
        raise InvalidArgument(
            f"{name} of an Integer must be a whole number, got {value}; use Real for fractions"
        )
    if not INT64_LOW <= exact <= INT64_HIGH:
        raise InvalidArgument(
            f"{name} must fit in 64 bits, got {value}; use Real for larger numbers"
        )
    return int(exact)


def _bounds(low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
    if low >= high:
        raise InvalidArgument(
            f"Real needs low < high, got {plain(low)} and {plain(high)}; {PUBLIC}: Real(0, 1)"
        )
    if not LEAST <= max(abs(low), abs(high)) <= MOST:
        raise InvalidArgument(
            "the larger bound of a Real column must lie from 1e-290 to 1e290; use another unit"
        )
    return low, high


def _step(value: Number) -> Fraction:
    step = rational(value, "step")
    if isinstance(value, float) and abs(math.frexp(value)[0]) == 0.5:
        step = Fraction(
            value
        )  # 2**-30 as a float means 2^-30, not the shortest decimal that prints it
    whole = Fraction(max(step.numerator, step.denominator))
    if (
        step <= 0
        or 1 not in (step.numerator, step.denominator)
        or whole > MOST
        or int(float(whole)) != whole
    ):
        raise InvalidArgument(
            f"step must be n or 1/n for a whole number n that a double holds, so that every store rounds alike, "
            f"got {value}; try 1, 0.5 or 0.01"
        )
    return step


def _check_grid(low: Fraction, high: Fraction, step: Fraction) -> None:
    bottom, top = nearest(low / step), nearest(high / step)
    if bottom == top:
        raise InvalidArgument(
            f"the bounds {plain(low)} and {plain(high)} round to the same multiple of the step {plain(step)}; "
            "use a finer step, or Integer for whole numbers"
        )
    if max(-bottom, top) > MOST_STEPS:
        raise InvalidArgument(
            f"a bound is more than 2^62 steps of {plain(step)} from zero; use a coarser step"
        )


def _double(x: float) -> float:
    try:
        return float(x)
    except OverflowError:  # a whole number beyond every double
        return math.inf if x > 0 else -math.inf


def _clamp(x: float, ends: tuple[int, int]) -> int:
    """Round between the ends; both are whole, so it does not matter which comes first."""
    return nearest(min(max(x, ends[0]), ends[1]))
