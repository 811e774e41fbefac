"""Public cells of a quantile: a step of the grid each, or wider the further they lie from 0, never by what data say.

A number u steps from the anchor (0, or the bound that is nearer to it) is in cell

    u                       while u < 2^(fine + 1): a cell is one step of the declared grid
    e·2^fine + ⌊u/2^e⌋      with 2^(fine + e) ≤ u < 2^(fine + e + 1): cells of 2^e steps, at most 2^−fine of u wide

on either side of 0, so cells are in order and touch; a grid of few steps is cut into its steps. A day is a cell. So is
a second in a short range, else its hour, else its day.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ...errors import UnsupportedQuery
from ...frozen import frozen
from ..algebra.expression import Call, Constant, Expression, Function
from ..domains.calendar import DAY_SECONDS
from ..domains.domain import Day, Domain, Scalar, Second, Whole
from ..domains.domain_of import domain_of

LEAST_FINE = 10
"""Cells are at most 2^-10 of the distance from the anchor wide, however many keys there are."""
_HOURS = 1 << 18
"""Hours that are cells, at most: thirty years; beyond, days are."""


@frozen
class QuantileGrid:
    """The expressions that say which cell a row is in, and where every cell begins and ends, in whole steps.

    `step` is what a step is worth, None for days and seconds. `wide` is the number of steps of all cells alike (3600
    for hours); 0 for cells that grow by `fine`. `blur` is how far a value was moved when it was rounded to its steps.
    """

    expressions: tuple[Expression, ...]
    low: int
    high: int
    anchor: int
    step: Fraction | None
    fine: int
    wide: int = 0
    blur: Fraction = Fraction(0)

    @property
    def first(self) -> int:
        """The number of the first cell."""
        return self.cell_at(self.low)

    @property
    def last(self) -> int:
        """The number of the last cell."""
        return self.cell_at(self.high)

    @property
    def options(self) -> int:
        """How many cells there are."""
        return self.last - self.first + 1

    @property
    def doubling(self) -> int:
        """After how many cells from the anchor they double in width, from twice as many on; 0 for days and seconds."""
        return 0 if self.wide else 1 << self.fine

    @property
    def grain(self) -> Fraction | None:
        """How wide cells are at most, as a part of the distance from the anchor; None if a cell is one step."""
        widest = max(self.high - self.anchor, self.anchor - self.low)
        return (
            None
            if self.wide == 1 or (not self.wide and widest < 2 << self.fine)
            else Fraction(1, 1 << self.fine)
        )

    def cell_at(self, steps: int) -> int:
        """Return the cell of a number of steps; what SQL works out by `expressions`."""
        if self.wide:
            return steps // self.wide
        off = steps - self.anchor
        return _rung(off, self.fine) if off >= 0 else -_rung(-off, self.fine)

    def cell_of(self, place: Sequence[Scalar]) -> int:
        """Return the cell of a row for which the expressions have these values."""
        first, *rest = (int(value) for value in place)  # type: ignore[arg-type]
        return 24 * first + rest[0] if rest else first

    def ends(self, cell: int) -> tuple[int, int]:
        """Return the first and the last step of a cell."""
        if self.wide:
            low, high = cell * self.wide, cell * self.wide + self.wide - 1
        else:
            start, width = _steps(abs(cell), self.fine)
            low, high = sorted(
                (self.anchor + _sign(cell) * start, self.anchor + _sign(cell) * (start + width - 1))
            )
        return max(low, self.low), min(high, self.high)

    def value(self, steps: int) -> Scalar:
        """Return what so many steps are worth: a number, or days or seconds as they are."""
        return steps if self.step is None else steps * self.step


def _sign(cell: int) -> int:
    return -1 if cell < 0 else 1


def _rung(steps: int, fine: int) -> int:
    """Return the cell of a number of steps that is not negative.

    >>> from discreet.query.bounds.quantile_grid import _rung
    >>> [_rung(steps, 1) for steps in (0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 12)]
    [0, 1, 2, 3, 4, 4, 5, 5, 6, 6, 7]
    """
    power = max(0, steps.bit_length() - 1 - fine)
    return (power << fine) + (steps >> power)


def _steps(cell: int, fine: int) -> tuple[int, int]:
    """Return where a cell begins, and how many steps it holds: `_rung` the other way round."""
    power = max(0, (cell >> fine) - 1)
    return (cell - (power << fine)) << power, 1 << power


def quantile_grid_of(of: Expression, columns: dict[str, Domain], most: int) -> QuantileGrid:
    """Cut the public range of an expression into about `most` cells, or more where 2^-10 of a number is finer.

    >>> from discreet.query.bounds.quantile_grid import quantile_grid_of
    >>> from discreet.query.domains.domain import Whole
    >>> from fractions import Fraction
    >>> from discreet.query.algebra.expression import Field
    >>> money = quantile_grid_of(Field("x"), {"x": Whole(Fraction(1, 128), 0, 1_280_000_000)}, 1 << 18)
    >>> money.options, money.fine, [float(money.value(end)) for end in money.ends(money.cell_at(2997 * 128))]
    (149030, 13, [2997.0, 2997.2421875])

    Refuses text and truth values, which have no order.
    """
    match domain_of(of, columns):
        case Whole() as domain:
            return _numbers(of, domain, most)
        case Day(low=low, high=high):
            return QuantileGrid((of,), low, high, 0, None, 0, 1)
        case Second(low=low, high=high):
            return _seconds(of, low, high, most)
        case _:
            raise UnsupportedQuery(
                "MIN, MAX and quantiles take a number, a date or a time; count text with GROUP BY"
            )


def _numbers(of: Expression, domain: Whole, most: int) -> QuantileGrid:
    low, high, step = domain.low, domain.high, domain.step
    anchor = min(max(0, low), high)
    reach = max(high - anchor, anchor - low)
    fine = LEAST_FINE
    while (
        2 << fine <= reach and _rung(high - anchor, fine + 1) + _rung(anchor - low, fine + 1) < most
    ):
        fine += 1
    off = of if anchor == 0 else Call(Function.SUBTRACT, (of, Constant(anchor * step)))
    down = Call(
        Function.NEGATE, (_upwards(Call(Function.NEGATE, (off,)), anchor - low, step, fine),)
    )
    up = _upwards(off, high - anchor, step, fine)
    cell: Expression = Call(Function.CASE, (Call(Function.LESS, (off, Constant(0))), down, up))
    if low >= anchor or high <= anchor:
        cell = up if low >= anchor else down
    return QuantileGrid((cell,), low, high, anchor, step, fine, blur=domain.blur)


def _upwards(off: Expression, reach: int, step: Fraction, fine: int) -> Expression:
    """Write `_rung` of a number that is not negative and at most `reach` steps: one branch for each doubling."""
    powers = range(max(0, reach.bit_length() - 1 - fine) + 1)
    cells = [_shift(off, power, step, fine) for power in powers]
    tests = [Call(Function.LESS, (off, Constant((2 << fine + power) * step))) for power in powers]
    branches = [part for pair in zip(tests[:-1], cells[:-1], strict=True) for part in pair]
    return Call(Function.CASE, (*branches, cells[-1])) if branches else cells[0]


def _shift(off: Expression, power: int, step: Fraction, fine: int) -> Expression:
    """Write power·2^fine + ⌊off/2^power⌋ of whole steps."""
    inner = Call(Function.FLOOR, (Call(Function.DIVIDE, (off, Constant((1 << power) * step))),))
    return Call(Function.ADD, (inner, Constant(power << fine))) if power else inner


def _seconds(of: Expression, low: int, high: int, most: int) -> QuantileGrid:
    if high - low < most:
        return QuantileGrid((of,), low, high, 0, None, 0, 1)
    day = Call(Function.DATE_OF, (of,))
    if (high - low) // 3600 < _HOURS:
        return QuantileGrid((day, Call(Function.HOUR, (of,))), low, high, 0, None, 0, 3600)
    return QuantileGrid((day,), low, high, 0, None, 0, DAY_SECONDS)
