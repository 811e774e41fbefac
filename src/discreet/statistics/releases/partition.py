"""Partition of unity: several totals to which every row adds the same amount together.

A value x = low + width·t, t = u/S in whole steps u of 0..S, adds (u, S − u) to two totals. Together
they move by just S in L1, so one noise of scale S/ε on each is enough, and no budget is split.
In general a column of degree d adds the Bernstein basis C(d, i)·uⁱ(S − u)^(d−i), whose sum is S^d.
Several columns add all products of theirs. A row without a value adds S^d to a total of its own
where such rows are needed, and nothing where they are not.

    COUNT = Σ all, in units of 1/S^d        Σt^a = Σᵢ C(i, a)/C(d, a)·(total i)     (Lorentz 1953)

All numbers are whole. u is counted in the steps of the column, or on a coarser grid where S^d would
exceed 2^42 (noise of up to 2^50 steps is exact). A coarser grid moves a value by at most half of its
step, the blur. Three degrees and more would leave a column few steps, and a correlation, which is a
quotient of small differences, is sensitive to them. So rows that count in full may add up to 2^58,
and their *totals* are rounded down to 2^42 after summation: ⌊T/q⌋ moves by at most (|ΔT| + q − 1)/q.
So k totals of m rows together move by (Δ1 + mk(q − 1))/q, hardly more than Δ1/q.

**Replaced rows.** A row whose value is replaced by another moves (u, S − u) by up to 2S, and so does
the pair (2u − S, S) if the value is replaced by none: centred value and row. Of that pair one noise
of scale 2S/ε on each is enough, without keys. A mean then has the noise of a sum alone, and of a
count of scale 2/ε, which matters only as far as the mean lies from the middle of the range.

    COUNT = R, in units of 1/S        Σt = (C + R)/2, with C = Σ(2u − S) and R = ΣS
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
from ...privacy.measures import ADD_REMOVE
from ...query.algebra.expression import Call, Constant, Expression, Function, fields_of
from ...query.algebra.tally import Free, Tally, Term
from ...query.bounds.contribution_bounds import weight_of
from ...query.bounds.relation_facts import always_present
from ...query.bounds.sensitivity import corner_of, joint_influence, pair_influence
from ...query.domains.arithmetic import half_up
from ...query.domains.domain import Domain, Whole
from ...query.domains.domain_of import domain_of
from ...query.text.expression import expression_text, quote
from ..laws.noise_sum import IntegerNoise, noise_of
from .basis import Basis, present, whole_of
from .total import AdditiveRelease, KeyValues

MAX_JOINT = 1 << 42
"""Limit on the steps, after rounding, that one unit adds to all totals; noise on them stays exact."""
MAX_COUNTED = 1 << 58
"""Limit on the steps that one row adds to all totals as they are counted, in 64-bit integers."""
ROUNDED_DOWN = Fraction(1, 1 << 18)
"""Blur, in parts of a column's width, that covers the rounding down of totals.

Rounding moves moments of one row or more by less than 36 totals of 2^-41 rows. A deviation moves by
at most the square root of that.
"""
_Shape = tuple[tuple[int, bool], ...]
"""The degree of each column, and whether rows without a value count."""
JointTotals = dict[KeyValues, tuple[int, ...]]
"""The exact totals of several terms, for the keys that occur."""


@frozen
class PartitionColumn:
    """Column of a partition: a number of public range, on the grid that it is counted on.

    `blur` bounds the rounding of a value; `null` says whether rows without a value count.
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
        """The number S of steps of the grid."""
        return int(self.width / self.grid)

    @property
    def places(self) -> int:
        """The number of totals of this column by itself."""
        return self.degree + 1 + self.null


def column_text(expression: Expression) -> str:
    """Write an expression as text that tells it from other expressions.

    >>> from discreet.query.algebra.expression import Field
    >>> from discreet.statistics.releases.partition import column_text
    >>> column_text(Field("age"))
    'age'
    """
    quoted = {name: quote(name) for name in fields_of(expression)}
    return expression_text(expression, quoted)


def rows_name(of: Expression | None, basis: Basis) -> str:
    """Name the number of rows that have a value, or of all rows.

    Totals of one name are one release: a column without NULL shares the count of all rows.
    """
    if of is None or always_present(of, basis.rows):
        return "rows"
    return f"rows with {column_text(of)}"


@frozen
class Partition:
    """Products of the bases of some columns; the index of the last column runs fastest.

    `replaced` says that rows are replaced: the totals are then those of centred values and of rows.

    Guarantee: every row adds the same amount to all totals together, unless rows are replaced.
    Law: tests/statistics/test_partition.py::TestUnity
    """

    columns: tuple[PartitionColumn, ...]
    replaced: bool = False

    @property
    def places(self) -> Iterator[tuple[int, ...]]:
        """The index of each total in the basis of each column; degree + 1 is for rows without a value."""
        return _places(self._shape)

    @property
    def names(self) -> tuple[str, ...]:
        """A name for each total: the columns, and its index in the basis of each."""
        expressions = tuple(column.expression for column in self.columns)
        return _names(expressions, self._shape)

    @property
    def most(self) -> int:
        """The steps that a row adds to all totals together."""
        return prod(column.steps**column.degree for column in self.columns)

    def form(self, powers: Sequence[int | None]) -> tuple[Fraction, ...]:
        """Return Σ Π t_j^a_j as weights of the totals, each counted in rows.

        A power None includes rows without a value in that column.
        """
        if self.replaced:
            [power] = powers
            return _PAIR_FORMS[power or 0]
        return _form(self._shape, tuple(powers))

    @property
    def _shape(self) -> _Shape:
        return tuple([(column.degree, column.null) for column in self.columns])


_PAIR_FORMS = (Fraction(0), Fraction(1)), (Fraction(1, 2), Fraction(1, 2))
"""The number of rows, and Σt, as weights of the totals of centred values and of rows."""


def _places(shape: _Shape) -> Iterator[tuple[int, ...]]:
    return product(*(range(degree + 1 + null) for degree, null in shape))


# Names and weights are equal for all keys of an answer, hence the caches.
@lru_cache(maxsize=1024)
def _names(expressions: tuple[Expression, ...], shape: _Shape) -> tuple[str, ...]:
    texts = [column_text(expression) for expression in expressions]
    names = []
    for place in _places(shape):
        parts = [f"{text}: {i}" for text, i in zip(texts, place, strict=True)]
        names.append(", ".join(parts))
    return tuple(names)


@lru_cache(maxsize=1024)
def _form(shape: _Shape, powers: tuple[int | None, ...]) -> tuple[Fraction, ...]:
    """Return the weights of `Partition.form` for columns of this shape."""
    weights = []
    for place in _places(shape):
        weight = Fraction(1)
        for (degree, _), i, power in zip(shape, place, powers, strict=True):
            weight *= _basis_weight(degree, i, power)
        weights.append(weight)
    return tuple(weights)


def _basis_weight(degree: int, i: int, power: int | None) -> Fraction:
    """Return the weight C(i, a)/C(d, a) of basis element i in Σt^a (Lorentz 1953)."""
    if power is None:
        return Fraction(1)
    # Elements beyond the degree are rows without a value, which have no moment.
    if i > degree:
        return Fraction(0)
    return Fraction(comb(i, power), comb(degree, power))


@frozen
class PartitionNeed:
    """Need for the totals of all terms of `tally`: noise on each, one privacy event for all.

    A step of noise is worth `unit` rows. It is 2^`shift` of the steps in which exact totals are
    counted.

    Guarantee: one unit moves all totals together by at most the L1 sensitivity.
    Law: tests/statistics/test_partition.py::TestSensitivity
    """

    tally: Tally
    unit: Fraction
    sensitivity: Sensitivity
    shift: int = 0

    def exact(self, counts: JointTotals, key: KeyValues) -> tuple[int, ...]:
        """Return the totals of a key, rounded down, before noise; 0 for a key that does not occur."""
        totals = counts.get(key, (0,) * len(self.tally.terms))
        if not self.shift:
            return totals
        # A right shift rounds down for every sign, as the sensitivity supposes.
        return tuple(total >> self.shift for total in totals)


@frozen
class JointRelease(AdditiveRelease):
    """Planned release of the totals of a partition, with additive noise on each; the unit is a row."""

    need: PartitionNeed

    @property
    def noises(self) -> tuple[IntegerNoise, ...]:
        """The noise of every total, in rows."""
        noise = noise_of(self.mechanism, float(self.unit))
        return (noise,) * len(self.need.tally.terms)


def partition_need(partition: Partition, basis: Basis) -> PartitionNeed:
    """State the query and the joint sensitivity of the totals of a partition.

    Refuses: questions that `joint_influence` refuses, and columns or people that are counted in
        more steps than fit (`UnsupportedQuery`).
    Law: tests/statistics/test_rounded_totals.py::TestWhatOneRowMoves
    """
    # Only rows that count in full may be counted finer than noise is added.
    max_steps = MAX_COUNTED if isinstance(basis.share, Free) else MAX_JOINT
    if not 0 < partition.most <= max_steps:
        raise UnsupportedQuery(
            "products of these columns have too many steps, or none; declare coarser ones"
        )
    weight = weight_of(partition.most, basis.share)
    if partition.replaced:
        return _pair_need(partition, weight, basis)
    terms = tuple(_term(partition, place, weight, basis.columns) for place in partition.places)
    tally = Tally(basis.rows, basis.keys, terms, basis.share, joined=basis.joined)
    steps_per_row = partition.most * weight
    sensitivity = joint_influence(tally, steps_per_row)
    excess_bits = (int(sensitivity.l1) - 1).bit_length() - (MAX_JOINT.bit_length() - 1)
    shift = max(0, excess_bits)
    if shift and not isinstance(basis.share, Free):
        # Rows that count by shares may be in any number of keys: rounding could move each of them.
        raise UnsupportedQuery(
            "a person's totals have too many steps to be released together; declare fewer max_rows"
        )
    if shift:
        # ⌊T/q⌋ moves by at most (|ΔT| + q − 1)/q for each total that a row of the unit enters.
        max_rows = corner_of(tally).all_rows
        rounding = max_rows * len(terms) * ((1 << shift) - 1)
        # Rounding down is exact here: a sum of whole numbers at most r/q is at most ⌊r/q⌋.
        rounded_l1 = (int(sensitivity.l1) + rounding) >> shift
        sensitivity = Sensitivity(rounded_l1, rounded_l1**2, rounded_l1, ADD_REMOVE, rounded_l1)
    unit = Fraction(1 << shift, steps_per_row)
    return PartitionNeed(tally, unit, sensitivity, shift)


def _pair_need(partition: Partition, weight: int, basis: Basis) -> PartitionNeed:
    """State the totals of centred values and of rows that have one, where rows are replaced."""
    [column] = partition.columns
    [value] = _factors(column, 1, basis.columns)
    [complement] = _factors(column, 0, basis.columns)
    centred = Call(Function.SUBTRACT, (value, complement))
    most = column.steps * weight
    rows = present(column.expression, basis.rows)
    terms = (Term(centred, weight, -most, most), Term(rows, most, 0, most))
    tally = Tally(basis.rows, basis.keys, terms, basis.share)
    return PartitionNeed(tally, Fraction(1, most), pair_influence(tally, most))


def _term(
    partition: Partition, place: Sequence[int], weight: int, columns: dict[str, Domain]
) -> Term:
    """Describe one total: the product over columns of the basis elements at `place`.

    The product is NULL for rows that belong to another total.
    """
    factors: list[Expression] = []
    missing: list[Expression] = []
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
    conjunction = conditions[0]
    for condition in conditions[1:]:
        conjunction = Call(Function.AND, (conjunction, condition))
    return conjunction


def _factors(column: PartitionColumn, place: int, columns: dict[str, Domain]) -> list[Expression]:
    """Return u `place` times and S − u (degree − `place`) times, in steps of the grid.

    Steps of the column itself stay as they are; others are rounded to multiples of the grid.
    """
    shifted = column.expression
    if column.low:
        shifted = Call(Function.SUBTRACT, (shifted, Constant(column.low)))
    complement = Call(Function.SUBTRACT, (Constant(column.width), shifted))
    counted = _counted(shifted, column, columns) and _counted(complement, column, columns)
    if not counted:
        quotient = Call(Function.DIVIDE, (shifted, Constant(column.grid)))
        shifted = Call(Function.ROUND, (quotient,))
        complement = Call(Function.SUBTRACT, (Constant(column.steps), shifted))
    return [shifted] * place + [complement] * (column.degree - place)


def _counted(factor: Expression, column: PartitionColumn, columns: dict[str, Domain]) -> bool:
    """Return whether the domain of a number is already 0..steps in steps of the column's grid."""
    kind = domain_of(factor, columns)
    if not isinstance(kind, Whole):
        return False
    return (kind.step, kind.low, kind.high) == (column.grid, 0, column.steps)


def column_of(
    x: Expression, degree: int, most: int, *, null: bool, columns: dict[str, Domain]
) -> PartitionColumn:
    """Describe a column on the finest grid of at most `most` steps.

    The grid is that of the column, or a multiple of it by a power of two.

    Refuses: expressions that are not numbers, and constant numbers (`UnsupportedQuery`).
    Law: tests/statistics/test_partition.py::TestUnity
    """
    kind = whole_of(domain_of(x, columns))
    count = kind.high - kind.low
    factor = 1
    while half_up(Fraction(count, factor)) > most:
        factor *= 2
    if not count:
        raise UnsupportedQuery("a number that is always the same forms no partition")
    grid = kind.step * factor
    blur = kind.blur
    # Rounding to a coarser grid moves a value by at most half of its step.
    if factor > 1:
        blur += grid / 2
    low = kind.low * kind.step
    width = half_up(Fraction(count, factor)) * grid
    return PartitionColumn(x, degree, low, width, grid, blur, null)
