"""Numeric columns: clipped to public bounds, rounded to a public grid, added up as whole steps.

`Integer` has the step 1, `Real` a declared or a default step. A stored value becomes a whole number
of steps within the bounds; a value that cannot be read is NULL or the column's default.

Law: tests/data/test_columns.py::TestOrdered, tests/data/test_columns.py::TestReal
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Literal

from ...arithmetic.rational import INT64_HIGH, INT64_LOW, Number, plain, rational
from ...errors import InvalidArgument
from ...frozen import field, fill, frozen
from .cell import read_number, round_half_even
from .declared import (
    DeclaredColumn,
    Ends,
    Outside,
    SteppedColumn,
    call,
    check_default,
    check_nulls,
    check_order,
    check_outside,
)
from .label import check_label
from .spelling import MissingMarks, check_null, is_missing
from .text_format import Units, check_marks, check_unit, check_units, plain_numeral, split_unit

MAX_STEPS = 2**62
"""Most steps of a value from zero, so that one value fits in 64 bits with a bit to spare."""
# Range of real bounds: doubles neither overflow nor lose bits there, scaled or not.
MIN_BOUND = Fraction("1e-290")
MAX_BOUND = Fraction("1e290")
# Range of a unit's factor in steps: numerals have at most 40 digits and an exponent of two, so no
# product with such a number overflows or underflows.
MIN_SCALE = Fraction("1e-100")
MAX_SCALE = Fraction("1e150")
PUBLIC = "state bounds that anyone may know without looking at the data"


@frozen(init=False, repr=False)
class Integer(DeclaredColumn, SteppedColumn[int]):
    """Integer column from `low` to `high`: values beyond are clipped.

    Fractions are rounded to the nearest integer, halves to even. `thousands=","` says that text is
    written 12,345, and `decimal=","` that it is written 3,5; cells written otherwise are then
    unreadable. `unit="kg"` says that the unit may be written beside the number, and
    `units={"kg": 1, "g": "0.001"}` that each of these may; a bare number is of the unit with factor
    1. `outside="null"` makes values beyond the bounds NULL instead of clipping them;
    `null=["n/a"]` lists texts that are NULL.

    >>> import discreet as dp
    >>> age = dp.Integer(0, 120)
    >>> age.width(), age.read(130), age.read("37"), age.read("unknown")
    (120, 120, 37, None)

    Refuses: low ≥ high, fractions, bounds beyond 64 bits; InvalidArgument.
    """

    kind: ClassVar[Literal["integer"]] = "integer"
    step: ClassVar[Fraction] = Fraction(1)
    low: int
    high: int
    default: int | None
    null_key: bool
    thousands: str | None
    decimal: str | None
    unit: str | None
    units: Units | None
    null: MissingMarks
    outside: Outside
    label: str | None = field(compare=False)

    def __init__(
        self,
        low: int,
        high: int,
        *,
        default: int | None = None,
        null_key: bool = False,
        thousands: str | None = None,
        decimal: str | None = None,
        unit: str | None = None,
        units: Mapping[str, Number] | None = None,
        null: Iterable[str] | None = None,
        outside: Outside = "clip",
        label: str | None = None,
    ) -> None:
        exact_low = _read_integer(low, "low")
        exact_high = _read_integer(high, "high")
        check_order(exact_low, exact_high, "Integer", f"{PUBLIC}: Integer(0, 120)")
        exact_default = None if default is None else _read_integer(default, "default")
        check_default(exact_default, exact_low, exact_high)
        has_null_key = check_nulls(exact_default, null_key)
        separator, point = check_marks(thousands, decimal)
        _check_outside_ends(outside, (exact_low, exact_high))
        fill(
            self,
            low=exact_low,
            high=exact_high,
            default=exact_default,
            null_key=has_null_key,
            thousands=separator,
            decimal=point,
            unit=check_unit(unit),
            units=_check_scales(check_units(units, unit), self.step),
            null=check_null(null),
            outside=check_outside(outside),
            label=check_label(label),
        )

    @property
    def ends(self) -> Ends:
        """The lowest and the highest value, in whole steps."""
        return self.low, self.high

    def steps(self, value: object) -> int | None:
        """Read a stored value as whole steps; None is NULL."""
        x, factor = _stored_number(self, value)
        if x is None:
            return self.default
        if factor != 1:
            x = _double(x) * float(factor)
        steps = _within(x, self.ends, self.outside)
        return self.default if steps is None else steps

    def at(self, steps: int) -> int:
        """Turn whole steps back into a value."""
        return steps


@frozen(init=False, repr=False)
class Real(DeclaredColumn, SteppedColumn[Fraction]):
    """Real column from `low` to `high`, rounded to the nearest multiple of `step`, halves to even.

    A stored number is a double x. Its steps are nearest(x·n) if step = 1/n and nearest(x/n) if
    step = n, clamped to the steps of the bounds. That is one IEEE operation, so every engine
    agrees; it is exact if the step is a power of two. Rounding is monotone, so the result is the
    same as clipping first and rounding then.

    `thousands` and `decimal` say how numbers are written in text, such as 1.688,80; cells written
    otherwise are then unreadable. `unit`, `units`, `outside` and `null` are as for an Integer. In a
    unit of factor f the steps are nearest(x·c), where c is the double nearest to f/step.

    The default step is the greatest power of two at most 2^-30 of the larger bound, but for bounds
    that are close together (`default_step`). A float such as 2**-30 is that power of
    two as a step.

    >>> import discreet as dp
    >>> from fractions import Fraction
    >>> price = dp.Real(0, 500, step=0.01)
    >>> price.ends, price.steps(12.345), price.read(12.345), price.read(float("inf"))
    ((0, 50000), 1234, Fraction(617, 50), Fraction(500, 1))
    >>> dp.Real(0, 250_000).step == Fraction(1, 2**13)
    True

    Refuses: low ≥ high, a NaN or an infinite bound, a step that is neither n nor 1/n, and a step
    that is too coarse or too fine; InvalidArgument.
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
    units: Units | None
    null: MissingMarks
    outside: Outside
    label: str | None = field(compare=False)

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
        units: Mapping[str, Number] | None = None,
        null: Iterable[str] | None = None,
        outside: Outside = "clip",
        label: str | None = None,
    ) -> None:
        exact_low = rational(low, "low")
        exact_high = rational(high, "high")
        _check_bounds(exact_low, exact_high)
        exact_step = default_step(exact_low, exact_high) if step is None else _read_step(step)
        _check_grid(exact_low, exact_high, exact_step)
        exact_default = None if default is None else rational(default, "default")
        check_default(exact_default, exact_low, exact_high)
        has_null_key = check_nulls(exact_default, null_key)
        separator, point = check_marks(thousands, decimal)
        _check_outside_ends(outside, _grid(exact_low, exact_high, exact_step)[1])
        fill(
            self,
            low=exact_low,
            high=exact_high,
            step=exact_step,
            default=exact_default,
            null_key=has_null_key,
            thousands=separator,
            decimal=point,
            unit=check_unit(unit),
            units=_check_scales(check_units(units, unit), exact_step),
            null=check_null(null),
            outside=check_outside(outside),
            label=check_label(label),
        )

    def __repr__(self) -> str:
        options = self.options()
        if self.rounded:
            options["step"] = None
        del options["low"], options["high"]
        return call("Real", self.low, self.high, **options)

    @property
    def rounded(self) -> bool:
        """True if the step is the default one for the bounds, so that values are rounded to it.

        Any other step was declared: the values are taken to be multiples of it.
        """
        return self.step == default_step(self.low, self.high)

    @property
    def ends(self) -> Ends:
        """The lowest and the highest value, in whole steps."""
        return _grid(self.low, self.high, self.step)[1]

    def steps(self, value: object) -> int | None:
        """Read a stored value as whole steps; None is NULL."""
        x, factor = _stored_number(self, value)
        steps = None
        if x is not None:
            per_one, ends = _grid(self.low, self.high, self.step)
            # One IEEE operation in doubles, as in every engine: exact fractions would round otherwise.
            if factor != 1:
                scaled = _double(x) * float(factor / self.step)
            elif per_one is None:
                scaled = _double(x) / float(self.step)
            else:
                scaled = _double(x) * per_one
            steps = _within(scaled, ends, self.outside)
        if steps is None and self.default is not None:
            return round_half_even(self.default / self.step)
        return steps

    def at(self, steps: int) -> Fraction:
        """Turn whole steps back into a value."""
        return steps * self.step

    def keys(self, most: int | None = None) -> tuple[None, ...]:  # noqa: ARG002
        """Refuse: real numbers have no list of keys."""
        raise InvalidArgument(
            f"{self!r} has no list of keys; group by public bins of it, or by a Category"
        )


@lru_cache(maxsize=1024)
def _grid(low: Fraction, high: Fraction, step: Fraction) -> tuple[float | None, Ends]:
    """Return 1/step if that is a whole number, else None; and the bounds in whole steps.

    Cached: it is the same for every cell of a column.
    """
    ends = round_half_even(low / step), round_half_even(high / step)
    steps_in_one = 1 / step
    if steps_in_one.denominator != 1:
        return None, ends
    return float(steps_in_one), ends


@lru_cache(maxsize=1024)
def default_step(low: Fraction, high: Fraction) -> Fraction:
    """Return the default grid: a power of two, 2^-30 of the larger bound or a little finer.

    The sum of 2^31 rows then fits in 64 bits. Bounds that are close together but far from zero get
    2^-20 of their distance instead, if that is finer. No step is finer than a double at the larger
    bound can tell apart.

    >>> from discreet.data.columns.numeric import default_step
    >>> from fractions import Fraction
    >>> default_step(Fraction(0), Fraction(1)), default_step(Fraction(2**52), Fraction(2**52 + 1))
    (Fraction(1, 1073741824), Fraction(1, 1))
    """
    largest = max(abs(low), abs(high))
    for_sums = _power_of_two(largest / 2**30)
    for_distance = _power_of_two((high - low) / 2**20)
    # A double has 53 bits, so neighbouring doubles below `largest` are about 2^-52 of it apart.
    finest = _power_of_two(largest / 2**52)
    return max(min(for_sums, for_distance), finest)


def _power_of_two(bound: Fraction) -> Fraction:
    """Return the greatest power of two that is at most the bound."""
    exponent = bound.numerator.bit_length() - bound.denominator.bit_length()
    power = Fraction(2) ** exponent
    # Bit lengths give the exponent or one too many; one step down is then right.
    if power <= bound:
        return power
    return power / 2


def _read_integer(value: object, name: str) -> int:
    """Read a whole number of at most 64 bits; `name` is the argument that refusals name."""
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


def _check_outside_ends(outside: object, ends: Ends) -> None:
    """Refuse outside="null" where the step just beyond an end is more than 2^62 from zero."""
    if outside == "null" and not -MAX_STEPS < ends[0] < ends[1] < MAX_STEPS:
        raise InvalidArgument(
            "outside='null' needs bounds of less than 2^62 steps from zero; use narrower bounds"
        )


def _check_scales(units: Units | None, step: Fraction) -> Units | None:
    """Refuse a unit that is too small or too large for the step: doubles must hold the ratio."""
    for name, factor in units or ():
        if not MIN_SCALE <= factor / step <= MAX_SCALE:
            raise InvalidArgument(
                f"the factor of {name!r} is too far from the step {plain(step)}; use another step"
            )
    return units


def _check_bounds(low: Fraction, high: Fraction) -> None:
    check_order(low, high, "Real", f"{PUBLIC}: Real(0, 1)")
    if not MIN_BOUND <= max(abs(low), abs(high)) <= MAX_BOUND:
        raise InvalidArgument(
            "the larger bound of a Real column must lie from 1e-290 to 1e290; use another unit"
        )


def _read_step(value: Number) -> Fraction:
    """Read a step: n or 1/n for a whole number n that a double holds exactly."""
    step = rational(value, "step")
    if isinstance(value, float) and abs(math.frexp(value)[0]) == 0.5:
        # 2**-30 as a float means 2^-30, not the shortest decimal that prints it.
        step = Fraction(value)
    is_unit_fraction = 1 in (step.numerator, step.denominator)
    n = Fraction(max(step.numerator, step.denominator))
    # The double of n must be n itself: otherwise engines would round by different steps.
    if step <= 0 or not is_unit_fraction or n > MAX_BOUND or int(float(n)) != n:
        raise InvalidArgument(
            f"step must be n or 1/n for a whole number n that a double holds, so that every store rounds alike, "
            f"got {value}; try 1, 0.5 or 0.01"
        )
    return step


def _check_grid(low: Fraction, high: Fraction, step: Fraction) -> None:
    """Refuse bounds that are the same multiple of the step, or more than 2^62 steps from zero."""
    bottom = round_half_even(low / step)
    top = round_half_even(high / step)
    if bottom == top:
        raise InvalidArgument(
            f"the bounds {plain(low)} and {plain(high)} round to the same multiple of the step {plain(step)}; "
            "use a finer step, or Integer for whole numbers"
        )
    if max(-bottom, top) > MAX_STEPS:
        raise InvalidArgument(
            f"a bound is more than 2^62 steps of {plain(step)} from zero; use a coarser step"
        )


def _double(x: float) -> float:
    try:
        return float(x)
    except OverflowError:
        # An integer beyond every double is clipped as an infinity is.
        if x > 0:
            return math.inf
        return -math.inf


def _clamp(x: float, ends: Ends) -> int:
    """Clip and round; both ends are whole, so the order of the two does not matter."""
    low, high = ends
    return round_half_even(min(max(x, low), high))


def _within(x: float, ends: Ends, outside: Outside) -> int | None:
    """Round, and clip; with outside="null", None if the rounded number is beyond an end."""
    if outside == "clip":
        return _clamp(x, ends)
    low, high = ends
    # Clipped one step farther out, so that infinities can be rounded.
    steps = _clamp(x, (low - 1, high + 1))
    return steps if low <= steps <= high else None


def _stored_number(column: Integer | Real, value: object) -> tuple[int | float | None, Fraction]:
    """Return the number of a stored value, None if it has none, and the factor of its unit."""
    if is_missing(value, column.null):
        return None, Fraction(1)
    if column.units is not None and isinstance(value, str):
        numeral, factor = split_unit(value, column.thousands, column.decimal, column.units)
        return read_number(numeral), factor
    plain_value = plain_numeral(value, column.thousands, column.decimal, column.unit)
    return read_number(plain_value), Fraction(1)
