"""Conditions that compare columns with constants: a column of many values matters only by which constants it passes.

So one value on either side of each constant, and each constant itself, stand for all others: whatever combination of
truths some row can have, one of these has it too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import product
from math import ceil, floor, prod

from ..algebra.expression import Call, Constant, Expression, Field, Function
from ..domains.domain import Domain, Scalar, Whole
from .evaluate import meaning_of

_COMPARE = frozenset({Function.LESS, Function.AT_MOST, Function.EQUAL, Function.UNEQUAL})


def cut_values(
    expression: Expression, columns: Mapping[str, Domain], most: int
) -> tuple[Scalar, ...] | None:
    """List all values of an expression whose columns are numbers that it only compares with constants.

    It may list values that cannot occur; it never misses one that can. None if it reads a column in another way, or if
    more than `most` combinations would have to be tried.

    >>> import discreet as dp
    >>> from discreet.query.algebra.expression import Call, Constant, Field, Function
    >>> from discreet.query.domains.domain import domain_of_column
    >>> from discreet.query.meaning.breakpoints import cut_values
    >>> high = Call(Function.AT_MOST, (Constant(40), Field("x")))
    >>> code = Call(Function.CASE, (high, Constant(2), Constant(1)))
    >>> cut_values(code, {"x": domain_of_column(dp.Real(0, 100))}, 1000)
    (1, 2)
    """
    cuts: dict[str, set[Fraction]] = {}
    if not _read_cuts(expression, cuts):
        return None
    sides: list[tuple[Scalar, ...]] = []
    for name, constants in cuts.items():
        domain = columns[name]
        if not isinstance(domain, Whole):
            return None
        sides.append((*_sides(domain, constants), None))
    if prod(map(len, sides)) > most:
        return None
    rows = (dict(zip(cuts, values, strict=True)) for values in product(*sides))
    meaning = meaning_of(expression, columns)
    return tuple(dict.fromkeys(_plain(meaning(row)) for row in rows))


def _plain(value: Scalar) -> Scalar:
    return int(value) if isinstance(value, Fraction) and value.denominator == 1 else value


def _read_cuts(expression: Expression, cuts: dict[str, set[Fraction]]) -> bool:
    """Note the constants that each column is compared with; False if a column is read otherwise."""
    match expression:
        case Constant():
            return True
        case Field():
            return False
        case Call(function=Function.IS_NULL, arguments=(Field(name=name),)):
            cuts.setdefault(name, set())
            return True
        case Call(function=function, arguments=(Field(name=name), Constant(value=value))) if (
            function in _COMPARE
        ):
            return _note(name, value, cuts)
        case Call(function=function, arguments=(Constant(value=value), Field(name=name))) if (
            function in _COMPARE
        ):
            return _note(name, value, cuts)
        case Call(function=Function.AMONG, arguments=(Field(name=name), *listed)):
            return all(isinstance(one, Constant) and _note(name, one.value, cuts) for one in listed)
        case Call(arguments=arguments):
            return all(_read_cuts(argument, cuts) for argument in arguments)


def _note(name: str, value: Scalar, cuts: dict[str, set[Fraction]]) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | Fraction):
        return False
    cuts.setdefault(name, set()).add(Fraction(value))
    return True


def _sides(domain: Whole, constants: Iterable[Fraction]) -> list[Fraction]:
    """Return both ends of a domain, and the steps around each constant: it may itself be rounded to one."""
    near = {domain.low, domain.high}
    for constant in constants:
        steps = constant / domain.step
        near |= set(range(floor(steps) - 1, ceil(steps) + 2))
    return [n * domain.step for n in sorted(near) if domain.low <= n <= domain.high]
