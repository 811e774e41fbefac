"""Budgets in words: `{"epsilon": "1", "delta": "1e-6"}`, `{"rho": "1/8"}`, `{"mu": "1"}`; exact text, never floats."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import assert_never

from ..errors import InvalidArgument
from ..privacy.measures import ZCDP, ApproxDP, GaussianDP, Measure, PureDP, RenyiDP

__all__ = ["budget_from_json", "budget_to_json", "read_number"]

NUMERAL = re.compile(
    r"[+-]?([0-9]{1,60}(\.[0-9]{0,60})?|\.[0-9]{1,60})([eE][+-]?[0-9]{1,3})?|[+-]?[0-9]{1,4000}/[0-9]{1,4000}"
)
"""Bounded, since the exact value of 1e999999999 would fill the memory."""
_WORDS = 'write {"epsilon": "1"}, {"epsilon": "1", "delta": "1e-6"}, {"rho": "1/8"} or {"mu": "1"}'


def read_number(value: object, name: str) -> Fraction:
    """Read a number of a request exactly: a JSON number, or text such as "1/20" or "1e-6".

    >>> read_number("1/20", "epsilon"), read_number(3, "size")
    (Fraction(1, 20), Fraction(3, 1))

    Refuses other types, text that is no number, and numbers too long or with too large an exponent to be meant.
    """
    if isinstance(value, bool) or not isinstance(value, int | Decimal | str):
        raise InvalidArgument(f'{name} must be a number, or text such as "1/20"; got {_kind(value)}')
    text = str(value)
    if not NUMERAL.fullmatch(text):
        raise InvalidArgument(f'{name} must be a finite number such as 0.5 or "1/20", got {text[:40]!r}')
    try:
        return Fraction(text)
    except ZeroDivisionError:
        raise InvalidArgument(f"{name} must be a finite number, got {text[:40]!r}") from None


def budget_from_json(value: object, name: str = "spend") -> Measure:
    """Read a budget in words.

    >>> budget_from_json({"epsilon": "0.5", "delta": "1e-6"})
    ApproxDP(0.5, 1e-06)

    Refuses unknown words, several measures at once, and amounts that are no numbers.
    """
    if not isinstance(value, dict) or not value:
        raise InvalidArgument(f"{name} must be a budget in words; {_WORDS}")
    words = set(value)
    if words == {"renyi"}:
        return _renyi(value["renyi"], name)
    amounts = {word: read_number(amount, f"{name}.{word}") for word, amount in value.items() if word in _AMOUNTS}
    if words == {"epsilon"}:
        return PureDP(amounts["epsilon"])
    if words == {"epsilon", "delta"}:
        return ApproxDP(amounts["epsilon"], amounts["delta"])
    if words == {"rho"}:
        return ZCDP(amounts["rho"])
    if words == {"mu"}:
        return GaussianDP(amounts["mu"])
    if words == {"mu_squared"}:
        return GaussianDP.of_square(amounts["mu_squared"])
    raise InvalidArgument(f"{name} is not understood; {_WORDS}")


_AMOUNTS = frozenset({"epsilon", "delta", "rho", "mu", "mu_squared"})


def _renyi(value: object, name: str) -> Measure:
    if not isinstance(value, dict):
        raise InvalidArgument(f'{name}.renyi maps orders to epsilons, such as {{"2": "0.5"}}')
    return RenyiDP({read_number(a, f"{name}.alpha"): read_number(e, f"{name}.epsilon") for a, e in value.items()})


def budget_to_json(budget: Measure) -> dict[str, object]:
    """Write a budget in words, exactly.

    >>> budget_to_json(PureDP(0.05)), budget_to_json(GaussianDP.of_square(2))
    ({'epsilon': '1/20'}, {'mu_squared': '2'})
    """
    match budget:
        case PureDP(epsilon=epsilon):
            return {"epsilon": str(epsilon)}
        case ApproxDP(epsilon=epsilon, delta=delta):
            return {"epsilon": str(epsilon), "delta": str(delta)}
        case ZCDP(rho=rho):
            return {"rho": str(rho)}
        case GaussianDP(squared=squared):
            mu = Fraction(repr(budget.mu)) if squared <= 10**300 else None
            return {"mu": str(mu)} if mu is not None and mu**2 == squared else {"mu_squared": str(squared)}
        case RenyiDP(orders=orders):
            return {"renyi": {str(alpha): str(epsilon) for alpha, epsilon in orders}}
    assert_never(budget)


def _kind(value: object) -> str:
    return {bool: "true or false", list: "a list", dict: "an object", type(None): "null"}.get(type(value), "no number")
