"""Computed columns to first order: their values and derivatives at the noisy values (delta method).

An example is SUM(x)/COUNT(*), whose derivatives by the sum and by the count give the effect of
small errors of both. Intervals of the population use these derivatives (`answer.population`).

Law: tests/answer/test_population.py::TestInfluence
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from ...frozen import frozen, replace
from ...query.algebra.expression import (
    SUMMED_WINDOWS,
    Call,
    Constant,
    Expression,
    Field,
    Function,
)
from .linear_combination import is_nullif
from .window_intervals import TableLaw

_ROUNDINGS = (Function.ROUND, Function.FLOOR, Function.CEILING)
_KNOWN = (
    *(Function.ADD, Function.SUBTRACT, Function.MULTIPLY, Function.DIVIDE, Function.NEGATE),
    *_ROUNDINGS,
)
"""Functions of noisy columns whose derivatives are known, beside windows and NULLIF."""


@frozen
class FirstOrder:
    """Computed column to first order, at the noisy values of the statistics.

    `weights` are its derivatives by statistics, each named by its row and its name. `rounding`
    bounds how much further ROUND, FLOOR and CEILING may move the value.
    """

    value: float
    weights: Mapping[tuple[int, str], float]
    rounding: float = 0.0


def has_derivatives(expression: Expression) -> bool:
    """Return whether a column is made of numbers by functions whose derivatives are known."""
    match expression:
        case Constant(value=value):
            return isinstance(value, int | Fraction) and not isinstance(value, bool)
        case Call(arguments=(_, _, inner)) if is_nullif(expression):
            return has_derivatives(inner)
        case Call(function=function, arguments=(inner, *_)) if function in SUMMED_WINDOWS:
            # Further arguments are the groups and the order of the window.
            return has_derivatives(inner)
        case Call(function=function, arguments=arguments):
            return function in _KNOWN and all(map(has_derivatives, arguments))
    return True


def first_order(expression: Expression, table: TableLaw, place: int) -> FirstOrder | None:
    """Return a column to first order around the noisy values; None where it is NULL."""
    match expression:
        case Constant(value=value):
            return FirstOrder(float(value), {})  # type: ignore[arg-type]
        case Field(name=name):
            return _leaf(name, table, place)
        case Call(arguments=(_, _, inner)) if is_nullif(expression):
            return first_order(inner, table, place)
        case Call(function=function, arguments=(inner, *_)) if function in SUMMED_WINDOWS:
            lines = [
                first_order(inner, table, other) for other in table.places_of(expression, place)
            ]
            return _sum_of(lines)
        case Call(function=function, arguments=arguments):
            operands = [first_order(argument, table, place) for argument in arguments]
            known = [line for line in operands if line is not None]
            if len(known) < len(operands):
                return None
            return _combined(function, known)


def _leaf(name: str, table: TableLaw, place: int) -> FirstOrder | None:
    """Return a statistic, or a key that is a number, as a column to first order."""
    made = table.rows[place].get(name)
    if made is None:
        keys = [key.name for key in table.question.keys]
        value = table.keys[place][keys.index(name)]
        # A key that is summed over is NULL, and so is what is computed from it.
        if value is None:
            return None
        return FirstOrder(float(value), {})
    if made.value is None:
        return None
    # Statistics that are equal are one, whatever their names.
    statistics = dict(table.question.statistics)
    first = next(one for one, statistic in statistics.items() if statistic == statistics[name])
    return FirstOrder(float(made.value), {(place, first): 1.0})


def _sum_of(lines: Sequence[FirstOrder | None]) -> FirstOrder | None:
    """Return the sum of columns to first order; None if there are none, or one is NULL."""
    total = FirstOrder(0.0, {})
    if not lines:
        return None
    for line in lines:
        if line is None:
            return None
        total = _plus(total, line, 1.0, 1.0)
    return total


def _plus(one: FirstOrder, other: FirstOrder, a: float, b: float) -> FirstOrder:
    """Return the combination with derivatives a and b; the value is a·one + b·other."""
    weights = {key: a * weight for key, weight in one.weights.items()}
    for key, weight in other.weights.items():
        weights[key] = weights.get(key, 0.0) + b * weight
    rounding = abs(a) * one.rounding + abs(b) * other.rounding
    return FirstOrder(a * one.value + b * other.value, weights, rounding)


def _combined(function: Function, operands: Sequence[FirstOrder]) -> FirstOrder | None:
    """Return a function of operands: its value, and the chain rule."""
    one = operands[0]
    if function is Function.NEGATE:
        return _plus(one, one, -1.0, 0.0)
    if function in _ROUNDINGS:
        # Two numbers are rounded apart by at most 1 more than they are apart.
        return replace(one, rounding=one.rounding + 1)
    other = operands[1]
    match function:
        case Function.ADD:
            return _plus(one, other, 1.0, 1.0)
        case Function.SUBTRACT:
            return _plus(one, other, 1.0, -1.0)
        case Function.MULTIPLY:
            made = _plus(one, other, other.value, one.value)
            return replace(made, value=one.value * other.value)
    if not other.value:
        return None
    quotient = one.value / other.value
    made = _plus(one, other, 1 / other.value, -quotient / other.value)
    return replace(made, value=quotient)
