"""Breakpoints: list all values of an expression that only compares columns with constants.

Such an expression depends on a column only by its order among the constants. So a column of many
values is represented by both ends of its range, the steps around each constant, and NULL: every
combination of truth values that some row can have also occurs for these.

Law: tests/query/test_keys.py::TestCuts
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import product
from math import ceil, floor, prod

from ..algebra.expression import Call, Constant, Expression, Field, Function
from ..domains.domain import Columns, Scalar, Values, Whole, is_number, simplest
from .evaluate import meaning_of

_COMPARISONS = frozenset({Function.LESS, Function.AT_MOST, Function.EQUAL, Function.UNEQUAL})


def breakpoint_values(expression: Expression, columns: Columns, most: int) -> Values | None:
    """List all values of an expression that only compares its columns with constants.

    Guarantee: it never misses a value that can occur; it may list values that cannot.

    Return None if a column is read in another way or is no number, or if more than `most`
    combinations would have to be tried.

    >>> import discreet as dp
    >>> from discreet.query.algebra.expression import Call, Constant, Field, Function
    >>> from discreet.query.domains.domain import domain_of_column
    >>> from discreet.query.meaning.breakpoints import breakpoint_values
    >>> high = Call(Function.AT_MOST, (Constant(40), Field("x")))
    >>> code = Call(Function.CASE, (high, Constant(2), Constant(1)))
    >>> breakpoint_values(code, {"x": domain_of_column(dp.Real(0, 100))}, 1000)
    (1, 2)
    """
    cuts: dict[str, set[Fraction]] = {}
    if not _read_cuts(expression, cuts):
        return None
    samples: list[Values] = []
    for name, constants in cuts.items():
        domain = columns[name]
        if not isinstance(domain, Whole):
            return None
        # NULL is possible in every column.
        samples.append((*_samples(domain, constants), None))
    if prod(map(len, samples)) > most:
        return None
    meaning = meaning_of(expression, columns)
    values: dict[Scalar, None] = {}
    for sample in product(*samples):
        row = dict(zip(cuts, sample, strict=True))
        values[simplest(meaning(row))] = None
    return tuple(values)


def _read_cuts(expression: Expression, cuts: dict[str, set[Fraction]]) -> bool:
    """Add the constants that each column is compared with; False if a column is read otherwise."""
    match expression:
        case Constant():
            return True
        case Field():
            return False
        case Call(function=Function.IS_NULL, arguments=(Field(name=name),)):
            cuts.setdefault(name, set())
            return True
        case Call(function=function, arguments=(Field(name=name), Constant(value=value))) if (
            function in _COMPARISONS
        ):
            return _add_cut(name, value, cuts)
        case Call(function=function, arguments=(Constant(value=value), Field(name=name))) if (
            function in _COMPARISONS
        ):
            return _add_cut(name, value, cuts)
        case Call(function=Function.AMONG, arguments=(Field(name=name), *listed)):
            return all(isinstance(c, Constant) and _add_cut(name, c.value, cuts) for c in listed)
        case Call(arguments=arguments):
            return all(_read_cuts(argument, cuts) for argument in arguments)


def _add_cut(name: str, value: Scalar, cuts: dict[str, set[Fraction]]) -> bool:
    if not is_number(value):
        return False
    cuts.setdefault(name, set()).add(Fraction(value))
    return True


def _samples(domain: Whole, constants: Iterable[Fraction]) -> list[Fraction]:
    """Return both ends of a domain, and the steps around each constant."""
    steps = {domain.low, domain.high}
    for constant in constants:
        exact = constant / domain.step
        # One step more on each side: the constant itself may be rounded to a step.
        first = floor(exact) - 1
        last = ceil(exact) + 1
        steps.update(range(first, last + 1))
    inside = sorted(step for step in steps if domain.low <= step <= domain.high)
    return [step * domain.step for step in inside]
