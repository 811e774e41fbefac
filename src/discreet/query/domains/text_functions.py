"""The domains of functions of text."""

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
    """Return what a function of text yields; patterns and positions must be constants."""
    text = domains[0] if domains else None
    if not isinstance(text, Texts) or any(not isinstance(a, Constant) for a in arguments[1:]):
        raise UnsupportedQuery(f"{spell(function)} takes text, and constants for the rest")
    match function, [a.value for a in arguments[1:] if isinstance(a, Constant)]:
        case Function.LOWER | Function.UPPER | Function.TRIM, []:
            return Texts(text.most)
        case Function.LENGTH, []:
            return Whole(Fraction(1), 0, text.most)
        case Function.LIKE, [str()]:
            return Truth()
        case Function.SUBSTRING, [bool(), _] | [_, bool()]:
            pass
        case Function.SUBSTRING, [int(first), int(count)] if first >= 1 and count >= 0:
            return Texts(min(text.most, count))
    raise UnsupportedQuery(f"{spell(function)} was given arguments it does not take")


def concat_domain(domains: Sequence[Domain]) -> Texts:
    """Return what texts put together yield."""
    texts = [domain for domain in domains if isinstance(domain, Texts)]
    if len(texts) < len(domains) or len(texts) < 2:
        raise UnsupportedQuery("|| and CONCAT take texts; group by a number beside them")
    return Texts(sum(text.most for text in texts))
