"""Columns of a model as expressions of a row, so that a store can add up their products.

Guarantee: the expressions have the values that `coding` computes in arrays, to the last digit.
Law: tests/learn/test_curator_learn.py::TestTheStoreAndTheArraysAgreeToTheLastDigit
"""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

from ...frozen import frozen
from ...query.algebra.expression import Call, Constant, Expression, Field, Function
from ...query.algebra.tree import Named, Relation, Select
from ...query.bounds.relation_facts import columns_of
from ...query.domains.domain import Domain, Whole
from ..coding.design import ModelDesign
from ..coding.feature import UNIT, Feature, Numeric, OneHot
from ..coding.label import Amount, Classes, Label
from ..coding.shrink import FINE_FACTOR, Shrink


@frozen
class Amounts:
    """A column of integers in −UNIT..UNIT."""

    expression: Expression


@frozen
class Flags:
    """A column that holds UNIT where a condition is true, else 0; `feature` names its feature."""

    condition: Expression
    feature: str


Column: TypeAlias = Amounts | Flags


def coded(
    rows: Relation, design: ModelDesign, label: Label | None
) -> tuple[Relation, list[Column]] | None:
    """Return rows with the design's numbers computed, and its columns as expressions of them.

    None if a store cannot compute a column (days, seconds and bins).
    """
    domains = columns_of(rows)
    if not all(_possible(feature, domains[feature.name]) for feature in design.features):
        return None
    if isinstance(label, Amount) and not isinstance(domains[label.name], Whole):
        return None
    steps: list[tuple[str, Expression]] = []
    scaled: list[tuple[str, Expression]] = []
    kept: list[tuple[str, Expression]] = []
    columns: list[Column] = []
    # The features of a design are numbers first, then the others.
    for feature in design.features:
        if isinstance(feature, Numeric):
            # A name of its own: a number may also be the label.
            place = f"number {len(scaled)}"
            steps.append((place, steps_of_field(feature.name, domains[feature.name])))
            scaled.append((place, _scaled(place, feature.low, feature.high)))
            columns.append(Amounts(Field(place)))
        elif isinstance(feature, OneHot):
            steps.append((feature.name, Field(feature.name)))
            kept.append((feature.name, Field(feature.name)))
            columns += _one_hot(feature)
    if label is not None:
        own: Expression = Field(label.name)
        if isinstance(label, Amount):
            own = steps_of_field(label.name, domains[label.name])
        steps.append((label.name, own))
        kept.append((label.name, Field(label.name)))
    columns.append(Flags(Constant(True), "1"))
    wide: Relation = Select(Select(rows, tuple(steps)), (*scaled, *kept))
    if design.shrink.steps:
        places = [place for place, _ in scaled]
        wide = _shortened(wide, places, tuple(kept), design.shrink)
    return wide, columns


def _possible(feature: Feature, domain: Domain) -> bool:
    if isinstance(feature, Numeric):
        return isinstance(domain, Whole)
    return isinstance(feature, OneHot)


def _one_hot(feature: OneHot) -> list[Column]:
    """Return a condition for each listed value, and one for all others, NULL among them."""
    name = feature.name
    columns: list[Column] = [Flags(_is(name, value), name) for value in feature.values]
    # A comparison with NULL is NULL, which counts as "not listed".
    listed = Call(Function.COALESCE, (_among(name, feature.values), Constant(False)))
    columns.append(Flags(Call(Function.NOT, (listed,)), name))
    return columns


def _shortened(rows: Relation, places: list[str], kept: Named, shrink: Shrink) -> Relation:
    """Return rows whose numbers are shortened as by `Shrink.apply`.

    One selection computes the squared norm, the next its factor, the last the shortened numbers.
    """
    squares: Expression | None = None
    for place in places:
        square = _times(Field(place), Field(place))
        squares = square if squares is None else Call(Function.ADD, (squares, square))
    same = tuple((place, Field(place)) for place in places)
    measured = Select(rows, (*same, *kept, ("square", squares)))  # type: ignore[arg-type]
    branches: list[Expression] = []
    bounds = ((shrink.limit, FINE_FACTOR), *shrink.steps)
    for end, own_factor in bounds:
        branches.append(Call(Function.AT_MOST, (Field("square"), Constant(end))))
        branches.append(Constant(own_factor))
    # No norm exceeds the last end, so that its factor needs no condition.
    del branches[-2]
    factor = Call(Function.CASE, tuple(branches))
    factored = Select(measured, (*same, *kept, ("factor", factor)))
    short = []
    for place in places:
        shrunk = _times(Field(place), Field("factor"))
        short.append((place, _floor_of(shrunk, FINE_FACTOR)))
    return Select(factored, (*short, *kept))


def label_expressions(label: Label) -> list[Column]:
    """Return the columns of a label.

    an amount          one column of integers
    two classes        one column, −UNIT or UNIT
    several classes    one condition for each
    """
    match label:
        case Amount(name=name, low=low, high=high):
            return [Amounts(_scaled(name, low, high))]
        case Classes(name=name, values=(_, second)):
            sign = Call(Function.CASE, (_is(name, second), Constant(UNIT), Constant(-UNIT)))
            return [Amounts(sign)]
        case Classes(name=name, values=values):
            return [Flags(_is(name, value), name) for value in values]


def there(label: Label) -> Expression:
    """Return the condition that a row has a label."""
    if isinstance(label, Classes):
        return _among(label.name, label.values)
    missing = Call(Function.IS_NULL, (Field(label.name),))
    return Call(Function.NOT, (missing,))


def product(one: Column, other: Column) -> tuple[Expression, int] | None:
    """Return an expression and a factor whose product is that of two columns; None if always 0."""
    match one, other:
        case Flags(), Flags():
            if one == other:
                return one.condition, UNIT**2
            # A row has one value of a feature, never two.
            if one.feature == other.feature:
                return None
            return Call(Function.AND, (one.condition, other.condition)), UNIT**2
        case Amounts(), Amounts():
            return _times(one.expression, other.expression), 1
        case (Flags() as flags, Amounts() as amounts) | (Amounts() as amounts, Flags() as flags):
            chosen = (flags.condition, amounts.expression, Constant(0))
            return Call(Function.CASE, chosen), UNIT
    raise AssertionError


def square_of(column: Amounts) -> Expression:
    """Return ⌊u²/UNIT⌋ of a column u."""
    return _floor_of(_times(column.expression, column.expression), UNIT)


def steps_of_field(name: str, domain: Domain) -> Expression:
    """Return a number as its integer steps: these are compared as integers are."""
    if not isinstance(domain, Whole) or domain.step == 1:
        return Field(name)
    return _times(Field(name), _number(1 / domain.step))


def _scaled(name: str, low: int, high: int) -> Expression:
    """Return ⌊2·UNIT·s/W + ½⌋ − UNIT of integer steps, s of W above `low`; 0 for NULL."""
    width = high - low
    if width == 0:
        return Constant(0)
    above = Call(Function.SUBTRACT, (Field(name), Constant(low)))
    scaled = _times(above, _number(Fraction(2 * UNIT, width)))
    raised = Call(Function.ADD, (scaled, _number(Fraction(1, 2))))
    rounded = Call(Function.FLOOR, (raised,))
    centred = Call(Function.SUBTRACT, (rounded, Constant(UNIT)))
    return Call(Function.COALESCE, (centred, Constant(0)))


def _number(value: Fraction) -> Constant:
    return Constant(int(value) if value.denominator == 1 else value)


def _times(one: Expression, other: Expression) -> Expression:
    return Call(Function.MULTIPLY, (one, other))


def _floor_of(expression: Expression, divisor: int) -> Expression:
    """Return ⌊expression/divisor⌋."""
    return Call(Function.FLOOR, (_times(expression, Constant(Fraction(1, divisor))),))


def _is(name: str, value: object) -> Expression:
    return Call(Function.EQUAL, (Field(name), Constant(value)))  # type: ignore[arg-type]


def _among(name: str, values: tuple[object, ...]) -> Expression:
    constants = map(Constant, values)  # type: ignore[arg-type]
    return Call(Function.AMONG, (Field(name), *constants))
