"""Public cells of a quantile, chosen from declared bounds and never from data (discretisation).

The *anchor* is 0, or the declared bound nearer to 0. Cells are one step of the declared grid near
the anchor, and wider the further away they lie. A number u steps from the anchor is in cell

    cell                 for
    u                    u < 2^(fine + 1): cells of one step
    e·2^fine + ⌊u/2^e⌋   2^(fine + e) ≤ u < 2^(fine + e + 1): cells of 2^e steps, ≤ 2^−fine·u

Below the anchor cells are mirrored and have negative numbers. So cells are in order and touch each
other. Of dates each day is a cell. Of timestamps each second is one in a short range, else each
hour, else each day.

Law: tests/query/test_quantile_grid.py::test_numbers
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ...errors import UnsupportedQuery
from ...frozen import frozen
from ..algebra.expression import Constant, Expression, Function, call_of
from ..domains.calendar import DAY_SECONDS
from ..domains.domain import Day, Domain, Scalar, Second, Whole
from ..domains.domain_of import domain_of

MIN_FINE = 10
"""Cells are at most 2^-10 of the distance from the anchor wide, however many keys there are."""
_MAX_HOURS = 1 << 18
"""Most hours that are cells: thirty years; in longer ranges days are cells."""


@frozen
class QuantileGrid:
    """Cells of a range of values, and the expressions that compute the cell of a row.

    | field | meaning |
    |---|---|
    | low, high | the public range, in steps |
    | anchor | the step from which cells grow |
    | fine | cells are at most 2^−fine of their distance from the anchor wide |
    | step | value of one step; None for days and seconds |
    | wide | steps of every cell (3600 for hours); 0 for cells that grow by `fine` |
    | blur | largest error of a value that was rounded to its steps |
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
        """The number of cells."""
        return self.last - self.first + 1

    @property
    def doubling(self) -> int:
        """Number of cells, 2^fine, after each of which their width doubles; the first 2·2^fine
        have one step. It is 0 for days and seconds.
        """
        return 0 if self.wide else 1 << self.fine

    @property
    def grain(self) -> Fraction | None:
        """Largest width of a cell, as a fraction of its distance from the anchor.

        It is None if every cell is one step.
        """
        reach = max(self.high - self.anchor, self.anchor - self.low)
        single_steps = self.wide == 1 or (not self.wide and reach < 2 << self.fine)
        if single_steps:
            return None
        return Fraction(1, 1 << self.fine)

    def cell_at(self, steps: int) -> int:
        """Return the cell of a number of steps, as `expressions` compute it in SQL."""
        if self.wide:
            return steps // self.wide
        distance = steps - self.anchor
        if distance >= 0:
            return _cell(distance, self.fine)
        return -_cell(-distance, self.fine)

    def cell_of(self, place: Sequence[Scalar]) -> int:
        """Return the cell of a row for which the expressions have these values."""
        first, *rest = (int(value) for value in place)  # type: ignore[arg-type]
        # Two values are a day and an hour of it.
        return 24 * first + rest[0] if rest else first

    def ends(self, cell: int) -> tuple[int, int]:
        """Return the first and the last step of a cell."""
        if self.wide:
            low = cell * self.wide
            high = low + self.wide - 1
        else:
            start, width = _cell_steps(abs(cell), self.fine)
            end = start + width - 1
            low = self.anchor + start
            high = self.anchor + end
            # Below the anchor cells are mirrored.
            if cell < 0:
                low = self.anchor - end
                high = self.anchor - start
        # The outermost cells may reach beyond the declared bounds.
        return max(low, self.low), min(high, self.high)

    def value(self, steps: int) -> Scalar:
        """Return the value of a number of steps: a number, or days or seconds as they are."""
        if self.step is None:
            return steps
        return steps * self.step


def _cell(steps: int, fine: int) -> int:
    """Return the cell of a number of steps that is not negative.

    >>> from discreet.query.bounds.quantile_grid import _cell
    >>> [_cell(steps, 1) for steps in (0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 12)]
    [0, 1, 2, 3, 4, 4, 5, 5, 6, 6, 7]
    """
    power = max(0, steps.bit_length() - 1 - fine)
    return (power << fine) + (steps >> power)


def _cell_steps(cell: int, fine: int) -> tuple[int, int]:
    """Return the first step of a cell and its number of steps: the inverse of `_cell`."""
    power = max(0, (cell >> fine) - 1)
    start = (cell - (power << fine)) << power
    return start, 1 << power


def quantile_grid_of(of: Expression, columns: dict[str, Domain], most: int) -> QuantileGrid:
    """Cut the public range of an expression into about `most` cells at most, as fine as possible.

    There are more if cells of 2^-10 of their distance from the anchor need them, and for days.

    >>> from discreet.query.bounds.quantile_grid import quantile_grid_of
    >>> from discreet.query.domains.domain import Whole
    >>> from fractions import Fraction
    >>> from discreet.query.algebra.expression import Field
    >>> domain = Whole(Fraction(1, 128), 0, 1_280_000_000)
    >>> money = quantile_grid_of(Field("x"), {"x": domain}, 1 << 18)
    >>> ends = money.ends(money.cell_at(2997 * 128))
    >>> money.options, money.fine, [float(money.value(end)) for end in ends]
    (149030, 13, [2997.0, 2997.2421875])

    Refuses: with `UnsupportedQuery` text and truth values, which have no order.
    """
    match domain_of(of, columns):
        case Whole() as domain:
            return _number_grid(of, domain, most)
        case Day(low=low, high=high):
            return QuantileGrid((of,), low, high, 0, None, 0, 1)
        case Second(low=low, high=high):
            return _second_grid(of, low, high, most)
        case _:
            raise UnsupportedQuery(
                "MIN, MAX and quantiles take a number, a date or a time; count text with GROUP BY"
            )


def _number_grid(of: Expression, domain: Whole, most: int) -> QuantileGrid:
    """Return the cells of numbers, on both sides of the anchor."""
    low = domain.low
    high = domain.high
    step = domain.step
    anchor = min(max(0, low), high)
    above = high - anchor
    below = anchor - low
    fine = _finest(above, below, most)
    distance = of
    if anchor != 0:
        distance = call_of(Function.SUBTRACT, of, Constant(anchor * step))
    opposite = call_of(Function.NEGATE, distance)
    down = call_of(Function.NEGATE, _cell_expression(opposite, below, step, fine))
    up = _cell_expression(distance, above, step, fine)
    is_below = call_of(Function.LESS, distance, Constant(0))
    cell: Expression = call_of(Function.CASE, is_below, down, up)
    # A range on one side of the anchor needs no choice.
    if below == 0:
        cell = up
    elif above == 0:
        cell = down
    return QuantileGrid((cell,), low, high, anchor, step, fine, blur=domain.blur)


def _finest(above: int, below: int, most: int) -> int:
    """Return the largest `fine` whose cells are fewer than `most`, at least `MIN_FINE`."""
    fine = MIN_FINE
    # Once every cell is one step, a larger number changes nothing.
    while 2 << fine <= max(above, below):
        cells = _cell(above, fine + 1) + _cell(below, fine + 1)
        if cells >= most:
            break
        fine += 1
    return fine


def _cell_expression(distance: Expression, reach: int, step: Fraction, fine: int) -> Expression:
    """Write `_cell` of a distance from 0 to `reach` steps."""
    last_power = max(0, reach.bit_length() - 1 - fine)

    def between(first: int, last: int) -> Expression:
        """Write the cell where its power lies from `first` to `last`, by halving that range."""
        if first == last:
            return _shifted(distance, first, step, fine)
        middle = (first + last) // 2
        end = Constant((2 << fine + middle) * step)
        is_less = call_of(Function.LESS, distance, end)
        return call_of(Function.CASE, is_less, between(first, middle), between(middle + 1, last))

    return between(0, last_power)


def _shifted(distance: Expression, power: int, step: Fraction, fine: int) -> Expression:
    """Write power·2^fine + ⌊distance/2^power⌋ of whole steps."""
    width = Constant((1 << power) * step)
    inner = call_of(Function.FLOOR, call_of(Function.DIVIDE, distance, width))
    if not power:
        return inner
    return call_of(Function.ADD, inner, Constant(power << fine))


def _second_grid(of: Expression, low: int, high: int, most: int) -> QuantileGrid:
    if high - low < most:
        return QuantileGrid((of,), low, high, 0, None, 0, 1)
    day = call_of(Function.DATE_OF, of)
    if (high - low) // 3600 < _MAX_HOURS:
        hour = call_of(Function.HOUR, of)
        return QuantileGrid((day, hour), low, high, 0, None, 0, 3600)
    return QuantileGrid((day,), low, high, 0, None, 0, DAY_SECONDS)
