"""The columns of a model as expressions of a row, so that a store can add up their products."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from ...query.algebra.expression import Call, Constant, Expression, Field, Function
from ...query.domains.domain import Domain, Whole
from ..coding.design import ModelDesign
from ..coding.feature import UNIT, Numeric, OneHot
from ..coding.label import Amount, Classes, Label

__all__ = ["Amounts", "Column", "Flags", "column_expressions", "label_expressions", "product", "square_of", "there"]


@dataclass(frozen=True, slots=True)
class Amounts:
    """A column of whole numbers in −UNIT..UNIT."""

    expression: Expression


@dataclass(frozen=True, slots=True)
class Flags:
    """A column that holds UNIT where a condition is true, else 0; `feature` names whose value it is."""

    condition: Expression
    feature: str


Column: TypeAlias = Amounts | Flags


def column_expressions(design: ModelDesign, domains: dict[str, Domain]) -> list[Column] | None:
    """Return every column of a design; None if a store cannot work one out (days and bins)."""
    found: list[Column] = []
    for feature in design.features:
        domain = domains[feature.name]
        match feature:
            case Numeric() if isinstance(domain, Whole):
                found.append(Amounts(_scaled(feature, domain)))
            case OneHot(name=name, values=values):
                found += [Flags(_is(name, value), name) for value in values]
                found.append(Flags(_other(name, values), name))
            case _:
                return None
    return [*found, Flags(Constant(True), "1")]


def label_expressions(label: Label, domain: Domain) -> list[Column]:
    """Return the columns of a label: an amount, a sign for two classes (as an amount), or one for each class."""
    match label:
        case Amount(name=name, low=low, high=high):
            return [Amounts(_scaled(Numeric(name, low, high), domain))]  # type: ignore[arg-type]
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


def _scaled(feature: Numeric, domain: Whole) -> Expression:
    """Return ⌊2·UNIT·s/W + ½⌋ − UNIT, where s of W steps stand above the lower bound; 0 for NULL."""
    width = feature.high - feature.low
    if width == 0:
        return Constant(0)
    above = Call(Function.SUBTRACT, (Field(feature.name), _number(domain.step * feature.low)))
    scaled = Call(Function.MULTIPLY, (above, _number(Fraction(2 * UNIT, width) / domain.step)))
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
