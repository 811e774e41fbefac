"""The columns of a model as expressions of a row, so that a store can add up their products."""

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
    """A column of whole numbers in −UNIT..UNIT."""

    expression: Expression


@frozen
class Flags:
    """A column that holds UNIT where a condition is true, else 0; `feature` names whose value it is."""

    condition: Expression
    feature: str


Column: TypeAlias = Amounts | Flags


def coded(
    rows: Relation, design: ModelDesign, label: Label | None
) -> tuple[Relation, list[Column]] | None:
    """Return rows with the design's numbers worked out, and every column of the design as an expression of them.

    None if a store cannot work one out (days and bins).
    """
    domains = columns_of(rows)
    if not all(_possible(feature, domains[feature.name]) for feature in design.features):
        return None
    if isinstance(label, Amount) and not isinstance(domains[label.name], Whole):
        return None
    numbers = [feature for feature in design.features if isinstance(feature, Numeric)]
    others = [feature for feature in design.features if isinstance(feature, OneHot)]
    names = [feature.name for feature in others] + ([] if label is None else [label.name])
    places = [f"number {place}" for place in range(len(numbers))]
    steps = [
        (place, _steps(f.name, domains[f.name])) for place, f in zip(places, numbers, strict=True)
    ]
    first = [(name, _first(name, label, domains)) for name in names]
    kept = [(name, Field(name)) for name in names]
    scaled = [
        (place, _scaled(Numeric(place, f.low, f.high)))
        for place, f in zip(places, numbers, strict=True)
    ]
    wide: Relation = Select(Select(rows, (*steps, *first)), (*scaled, *kept))
    if design.shrink.steps:
        wide = _shortened(wide, places, tuple(kept), design.shrink)
    found: list[Column] = [Amounts(Field(place)) for place in places]
    for feature in others:
        found += [Flags(_is(feature.name, value), feature.name) for value in feature.values]
        found.append(Flags(_other(feature.name, feature.values), feature.name))
    return wide, [*found, Flags(Constant(True), "1")]


def _first(name: str, label: Label | None, domains: dict[str, Domain]) -> Expression:
    """Return a column as it is; the steps of a label that is an amount."""
    amount = isinstance(label, Amount) and label.name == name
    return _steps(name, domains[name]) if amount else Field(name)


def _possible(feature: Feature, domain: Domain) -> bool:
    return isinstance(feature, OneHot) or (
        isinstance(feature, Numeric) and isinstance(domain, Whole)
    )


def _shortened(rows: Relation, places: list[str], kept: Named, shrink: Shrink) -> Relation:
    """Return rows whose numbers are shortened as `Shrink.apply` does: their squared norm first, then a factor."""
    fields = [Field(place) for place in places]
    squares: Expression = Call(Function.MULTIPLY, (fields[0], fields[0]))
    for field in fields[1:]:
        squares = Call(Function.ADD, (squares, Call(Function.MULTIPLY, (field, field))))
    same = tuple((place, Field(place)) for place in places)
    measured = Select(rows, (*same, *kept, ("square", squares)))
    bounds = [(shrink.limit, FINE_FACTOR), *shrink.steps]
    branches = [part for end, factor in bounds[:-1] for part in (_at_most(end), Constant(factor))]
    factor = Call(Function.CASE, (*branches, Constant(bounds[-1][1])))
    factored = Select(measured, (*same, *kept, ("factor", factor)))
    short = [(place, _part(Field(place))) for place in places]
    return Select(factored, (*short, *kept))


def _at_most(end: int) -> Expression:
    return Call(Function.AT_MOST, (Field("square"), Constant(end)))


def _part(field: Field) -> Expression:
    """Return ⌊u·factor/4096⌋."""
    product = Call(Function.MULTIPLY, (field, Field("factor")))
    return Call(
        Function.FLOOR, (Call(Function.MULTIPLY, (product, Constant(Fraction(1, FINE_FACTOR)))),)
    )


def label_expressions(label: Label) -> list[Column]:
    """Return the columns of a label: an amount, a sign for two classes (as an amount), or one for each class."""
    match label:
        case Amount(name=name, low=low, high=high):
            return [Amounts(_scaled(Numeric(name, low, high)))]
        case Classes(name=name, values=(_, second)):
            sign = Call(Function.CASE, (_is(name, second), Constant(UNIT), Constant(-UNIT)))
            return [Amounts(sign)]
        case Classes(name=name, values=values):
            return [Flags(_is(name, value), name) for value in values]


def there(label: Label) -> Expression:
    """Return the condition that a row has a label at all."""
    if isinstance(label, Classes):
        return Call(Function.AMONG, (Field(label.name), *map(Constant, label.values)))
    return Call(Function.NOT, (Call(Function.IS_NULL, (Field(label.name),)),))


def product(one: Column, other: Column) -> tuple[Expression, int] | None:
    """Return an expression and a factor whose product is that of two columns; None if it is always 0."""
    match one, other:
        case Flags(), Flags():
            if one == other:
                return one.condition, UNIT**2
            if one.feature == other.feature:
                return None
            return Call(Function.AND, (one.condition, other.condition)), UNIT**2
        case Amounts(), Amounts():
            return Call(Function.MULTIPLY, (one.expression, other.expression)), 1
        case Flags(condition=condition), Amounts(expression=expression):
            return _chosen(condition, expression), UNIT
        case Amounts(expression=expression), Flags(condition=condition):
            return _chosen(condition, expression), UNIT
    raise AssertionError


def square_of(column: Amounts) -> Expression:
    """Return ⌊u²/UNIT⌋ of a column u."""
    square = Call(Function.MULTIPLY, (column.expression, column.expression))
    return Call(Function.FLOOR, (Call(Function.MULTIPLY, (square, Constant(Fraction(1, UNIT)))),))


def _chosen(condition: Expression, expression: Expression) -> Expression:
    return Call(Function.CASE, (condition, expression, Constant(0)))


def _steps(name: str, domain: Domain) -> Expression:
    """Return a number as its whole steps: what is made of these is compared as whole numbers are."""
    step = domain.step if isinstance(domain, Whole) else Fraction(1)
    return Field(name) if step == 1 else Call(Function.MULTIPLY, (Field(name), _number(1 / step)))


def _scaled(feature: Numeric) -> Expression:
    """Return ⌊2·UNIT·s/W + ½⌋ − UNIT of whole steps, s of W above the lower bound; 0 for NULL."""
    width = feature.high - feature.low
    if width == 0:
        return Constant(0)
    above = Call(Function.SUBTRACT, (Field(feature.name), Constant(feature.low)))
    scaled = Call(Function.MULTIPLY, (above, _number(Fraction(2 * UNIT, width))))
    rounded = Call(Function.FLOOR, (Call(Function.ADD, (scaled, _number(Fraction(1, 2)))),))
    coded = Call(Function.SUBTRACT, (rounded, Constant(UNIT)))
    return Call(Function.COALESCE, (coded, Constant(0)))


def _number(value: Fraction) -> Constant:
    return Constant(int(value) if value.denominator == 1 else value)


def _is(name: str, value: object) -> Expression:
    return Call(Function.EQUAL, (Field(name), Constant(value)))  # type: ignore[arg-type]


def _other(name: str, values: tuple[object, ...]) -> Expression:
    listed = Call(Function.AMONG, (Field(name), *map(Constant, values)))  # type: ignore[arg-type]
    return Call(Function.NOT, (Call(Function.COALESCE, (listed, Constant(False))),))
