"""Type inference for text functions: their results, with the greatest lengths of texts."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ...errors import UnsupportedQuery
from ..algebra.expression import Constant, Expression, Function
from ..algebra.spelling import spell
from .domain import Domain, Texts, Truth, Whole


def text_domain(
    function: Function, arguments: Sequence[Expression], domains: Sequence[Domain]
) -> Domain:
    """Return the domain of a text function; patterns and positions must be constants.

    Refuses: with `UnsupportedQuery` a first argument that is no text, and further arguments of
    another type or number than the function takes.
    """
    text = domains[0] if domains else None
    constants = [argument for argument in arguments[1:] if isinstance(argument, Constant)]
    if not isinstance(text, Texts) or len(constants) < len(arguments) - 1:
        raise UnsupportedQuery(f"{spell(function)} takes text, and constants for the rest")
    match function, [constant.value for constant in constants]:
        case Function.LOWER | Function.UPPER | Function.TRIM, []:
            return Texts(text.most)
        case Function.LENGTH, []:
            return Whole(Fraction(1), 0, text.most)
        case Function.LIKE, [str()]:
            return Truth()
        # True is an int in Python, but no position of a text.
        case Function.SUBSTRING, [bool(), _] | [_, bool()]:
            pass
        case Function.SUBSTRING, [int(first), int(count)] if first >= 1 and count >= 0:
            return Texts(min(text.most, count))
    raise UnsupportedQuery(f"{spell(function)} was given arguments it does not take")


def concat_domain(domains: Sequence[Domain]) -> Texts:
    """Return the domain of texts that are put together."""
    lengths = [domain.most for domain in domains if isinstance(domain, Texts)]
    if len(lengths) < len(domains) or len(lengths) < 2:
        raise UnsupportedQuery("|| and CONCAT take texts; group by a number beside them")
    return Texts(sum(lengths))
