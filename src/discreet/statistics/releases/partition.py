"""Totals that form a partition of unity: what a row adds to all of them together is the same for every row.

A value x = low + width·t, t = u/S in whole steps u of 0..S, adds (u, S − u) to two totals. Together they move by just S
in L1, so one noise of scale S/ε on each is enough, and nothing is split. In general a column of degree d adds the
Bernstein basis C(d, i)·uⁱ(S − u)^(d−i), whose sum is S^d, and several columns add all products of theirs. A row without
a value adds S^d to a total of its own, where such rows are needed, and nothing at all where they are not.

    COUNT = Σ all, in units of 1/S^d        Σt^a = Σᵢ C(i, a)/C(d, a)·(total i)        (Lorentz 1953)

Everything is whole: u is counted in the steps of the column, or of a coarser grid where S^d would pass 2^42 (noise of
up to 2^50 steps is exact). That moves a value by at most half a step of the coarser grid, its blur. Three degrees and
more leave a column few steps then, and a correlation, which is a quotient of small differences, feels them. So rows
that count in full may add up to 2^58, and their *totals* are rounded down to 2^42 after they were added up: ⌊T/q⌋ moves
by at most (|ΔT| + q − 1)/q, so k totals of m rows together by (Δ1 + mk(q − 1))/q, hardly more than Δ1/q.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import comb, prod

from ...errors import UnsupportedQuery
from ...frozen import frozen
from ...mechanisms.sensitivity import Sensitivity
from ...privacy.events import Event
from ...privacy.neighbours import ADD_REMOVE
from ...query.algebra.expression import Call, Constant, Expression, Function, fields_of
from ...query.algebra.tally import Free, Tally, Term
from ...query.bounds.contribution_bounds import weight_of
from ...query.bounds.sensitivity import corners, joint_influence
from ...query.domains.arithmetic import half_up
from ...query.domains.domain import Domain, Whole
from ...query.domains.domain_of import domain_of
from ...query.text.expression import expression_text, quote
from ..laws.interval_arithmetic import at_least
from ..laws.noise_sum import Additive, IntegerNoise, noise_of
from .addend import whole_of
from .basis import Basis
from .total import KeyValues

MOST_JOINT = 1 << 42
"""The most that one unit adds to all totals, in steps that noise is added to."""
MOST_COUNTED = 1 << 58
"""The most that one row adds to all totals, in steps that are counted."""
ROUNDED_DOWN = Fraction(1, 1 << 18)
"""How far values would have to be moved, in parts of their width, to move moments of a row and more as much as rounding
down does: by less than 36 totals of 2^-41 rows, of which a deviation feels the root.
"""
_Shape = tuple[tuple[int, bool], ...]
"""The degree of each column, and whether rows without a value count."""
JointTotals = dict[KeyValues, tuple[int, ...]]
"""The exact totals of several terms, for the keys that occur."""


@frozen
class PartitionColumn:
    """A number of public range, its degree, the grid it is counted on, how far that moves it at most, and whether rows
    without a value count.
    """

    expression: Expression
    degree: int
    low: Fraction
    width: Fraction
    grid: Fraction
    blur: Fraction
    null: bool

    @property
    def steps(self) -> int:
        """How many steps of the grid there are, S."""
        return int(self.width / self.grid)

    @property
    def places(self) -> int:
        """How many totals it has by itself."""
        return self.degree + 1 + self.null


def column_text(expression: Expression) -> str:
    """Write an expression as one that tells it from others.

    >>> from discreet.query.algebra.expression import Field
    >>> from discreet.statistics.releases.partition import column_text
    >>> column_text(Field("age"))
    'age'
    """
    return expression_text(expression, {name: quote(name) for name in fields_of(expression)})


@frozen
class Partition:
    """The products of the bases of some columns, the last column's places running fastest."""

    columns: tuple[PartitionColumn, ...]

    @property
    def places(self) -> Iterator[tuple[int, ...]]:
        """The place of each total in the basis of each column; degree + 1 is that of rows without a value."""
        return _places(self._shape)

    @property
    def names(self) -> tuple[str, ...]:
        """A name for each total: the columns, and its place in the basis of each."""
        return _names(tuple(column.expression for column in self.columns), self._shape)

    @property
    def most(self) -> int:
        """What a row adds to all totals together, in steps."""
        return prod(column.steps**column.degree for column in self.columns)

    def form(self, powers: Sequence[int | None]) -> tuple[Fraction, ...]:
        """Return Σ Π t_j^a_j as weights of the totals, each counted in rows; None: whether or not there is a value."""
        return _form(self._shape, tuple(powers))

    @property
    def _shape(self) -> _Shape:
        return tuple([(column.degree, column.null) for column in self.columns])


def _places(shape: _Shape) -> Iterator[tuple[int, ...]]:
    return product(*(range(degree + 1 + null) for degree, null in shape))


@lru_cache(maxsize=1024)  # equal for all keys of an answer
def _names(expressions: tuple[Expression, ...], shape: _Shape) -> tuple[str, ...]:
    texts = [column_text(expression) for expression in expressions]
    return tuple(", ".join(map("{}: {}".format, texts, place)) for place in _places(shape))


@lru_cache(maxsize=1024)
def _form(shape: _Shape, powers: tuple[int | None, ...]) -> tuple[Fraction, ...]:
    each = (zip(shape, place, powers, strict=True) for place in _places(shape))
    return tuple(
        prod((_share(degree, i, a) for (degree, _), i, a in one), start=Fraction(1)) for one in each
    )


def _share(degree: int, place: int, power: int | None) -> Fraction:
    if power is None:
        return Fraction(1)
    return Fraction(0) if place > degree else Fraction(comb(place, power), comb(degree, power))


@frozen
class PartitionNeed:
    """The totals of all terms of `tally`, one noise each and one event together; a step is worth `unit` rows.

    Totals are counted in steps of which 2^`shift` are one that noise is added to.
    """

    tally: Tally
    unit: Fraction
    sensitivity: Sensitivity
    shift: int = 0

    def exact(self, counts: JointTotals, key: KeyValues) -> tuple[int, ...]:
        """Return what noise is added to: the totals of a key, rounded down; 0 for one that does not occur."""
        found = counts.get(key, (0,) * len(self.tally.terms))
        return tuple(total >> self.shift for total in found) if self.shift else found


@frozen
class JointRelease:
    """Totals of a partition, and the noise that is added to each of them."""

    need: PartitionNeed
    mechanism: Additive

    @property
    def event(self) -> Event:
        """What is done, to be priced: one event for all totals and keys together."""
        return self.mechanism.event

    @property
    def unit(self) -> Fraction:
        """What one whole step is worth, in rows."""
        return self.need.unit

    @property
    def scale(self) -> float:
        """The scale of the noise, in rows."""
        return at_least(self.mechanism.scale * self.unit)

    @property
    def noises(self) -> tuple[IntegerNoise, ...]:
        """The noise of every total, in rows."""
        return (noise_of(self.mechanism, float(self.unit)),) * len(self.need.tally.terms)

    def error(self, beta: float = 0.05) -> float:
        """Bound the miss of one total in one key with probability at least 1 − β, in rows."""
        return at_least(self.mechanism.error(beta) * self.unit)


def partition_need(partition: Partition, basis: Basis) -> PartitionNeed:
    """State what the totals of a partition ask of the store, and how much one unit can change them together.

    Refuses what `joint_influence` refuses, and columns that are counted in more steps than fit.
    """
    if not 0 < partition.most <= (MOST_COUNTED if isinstance(basis.share, Free) else MOST_JOINT):
        raise UnsupportedQuery(
            "products of these columns have too many steps, or none; declare coarser ones"
        )
    weight = weight_of(partition.most, basis.share)
    terms = tuple(_term(partition, place, weight, basis.columns) for place in partition.places)
    tally = Tally(basis.rows, basis.keys, terms, basis.share)
    moved = joint_influence(tally, partition.most * weight)
    shift = max(0, (int(moved.l1) - 1).bit_length() - (MOST_JOINT.bit_length() - 1))
    if shift:
        reach = int(moved.l1) + corners(tally)[1] * len(terms) * ((1 << shift) - 1) >> shift
        moved = Sensitivity(reach, reach**2, reach, ADD_REMOVE, reach)
    return PartitionNeed(tally, Fraction(1 << shift, partition.most * weight), moved, shift)


def _term(
    partition: Partition, place: Sequence[int], weight: int, columns: dict[str, Domain]
) -> Term:
    """Describe one total: the product of what each column adds, and NULL where one of them says that it is another."""
    factors, missing = list[Expression](), list[Expression]()
    for column, i in zip(partition.columns, place, strict=True):
        if i > column.degree:
            missing.append(Call(Function.IS_NULL, (column.expression,)))
            weight *= column.steps**column.degree
        else:
            factors += _factors(column, i, columns)
            weight *= comb(column.degree, i)
    if not factors:
        return Term(_all(missing), weight, 0, weight)
    expression = factors[0]
    for factor in factors[1:]:
        expression = Call(Function.MULTIPLY, (expression, factor))
    high = whole_of(domain_of(expression, columns)).high
    if missing:
        expression = Call(Function.CASE, (_all(missing), expression, Constant(None)))
    return Term(expression, weight, 0, weight * high)


def _all(conditions: Sequence[Expression]) -> Expression:
    found = conditions[0]
    for condition in conditions[1:]:
        found = Call(Function.AND, (found, condition))
    return found


def _factors(column: PartitionColumn, place: int, columns: dict[str, Domain]) -> list[Expression]:
    """Return u as often as `place` says, and S − u for the rest of the degree, in steps of the grid.

    A column's own steps are taken as they are; others are rounded to whole multiples of the grid.
    """
    shifted = column.expression
    if column.low:
        shifted = Call(Function.SUBTRACT, (shifted, Constant(column.low)))
    rest = Call(Function.SUBTRACT, (Constant(column.width), shifted))
    if not all(_counted(factor, column, columns) for factor in (shifted, rest)):
        shifted = Call(Function.ROUND, (Call(Function.DIVIDE, (shifted, Constant(column.grid))),))
        rest = Call(Function.SUBTRACT, (Constant(column.steps), shifted))
    return [shifted] * place + [rest] * (column.degree - place)


def _counted(factor: Expression, column: PartitionColumn, columns: dict[str, Domain]) -> bool:
    """Return whether a number is counted from 0 in the steps of the grid."""
    kind = domain_of(factor, columns)
    return isinstance(kind, Whole) and (kind.step, kind.low, kind.high) == (
        column.grid,
        0,
        column.steps,
    )


def column_of(
    x: Expression, degree: int, most: int, *, null: bool, columns: dict[str, Domain]
) -> PartitionColumn:
    """Describe a column on the finest grid of at most `most` steps: its own, or a multiple of it by a power of two.

    Refuses what is no number, and a number that is always the same.
    """
    kind = whole_of(domain_of(x, columns))
    count, times = kind.high - kind.low, 1
    while half_up(Fraction(count, times)) > most:
        times *= 2
    if not count:
        raise UnsupportedQuery("a number that is always the same forms no partition")
    grid = kind.step * times
    blur = kind.blur + (Fraction(0) if times == 1 else grid / 2)
    return PartitionColumn(
        x, degree, kind.low * kind.step, half_up(Fraction(count, times)) * grid, grid, blur, null
    )
