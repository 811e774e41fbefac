"""Budgets in words, the same on the command line, in files and over the line; exact amounts, never floats.

    {"epsilon": "1"}    {"epsilon": "1", "delta": "1e-6"}    {"rho": "1/8"}    {"mu": "1"}
    epsilon=1           epsilon=1,delta=1e-6                 rho=1/8           mu=1           1 (an epsilon)

Two further words are for what lectures have no symbol for: `mu_squared`, and `renyi`, which maps orders to epsilons.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import assert_never

from ..arithmetic.numeral import read_number
from ..errors import InvalidArgument
from .measures import ZCDP, ApproxDP, GaussianDP, Measure, PureDP, RenyiDP

AMOUNTS = ("epsilon", "delta", "rho", "mu", "mu_squared")
_TABLE = 'write {"epsilon": "1"}, {"epsilon": "1", "delta": "1e-6"}, {"rho": "1/8"} or {"mu": "1"}'
_TEXT = "write epsilon=1, epsilon=1,delta=1e-6, rho=1/8 or mu=1/2"


def budget_from_words(words: object, name: str = "spend") -> Measure:
    """Read a budget: from a table of words (JSON, TOML), or from text (a flag).

    >>> from discreet.privacy.budget_text import budget_from_words
    >>> budget_from_words({"epsilon": "0.5", "delta": "1e-6"}), budget_from_words("rho=1/8"), budget_from_words("2")
    (ApproxDP(0.5, 1e-06), ZCDP(0.125), PureDP(2))

    Refuses unknown words, several measures at once, a δ without its ε, and amounts that are no numbers.
    """
    hint = _TEXT if isinstance(words, str) else _TABLE
    given = _split(words, name) if isinstance(words, str) else words
    if not isinstance(given, Mapping) or not given:
        raise InvalidArgument(f"{name} must be a budget in words; {hint}")
    if set(given) == {"renyi"}:
        return _renyi(given["renyi"], name)
    unknown = [str(word)[:40] for word in given if word not in AMOUNTS]
    if unknown:
        raise InvalidArgument(
            f"{name} cannot be read: {', '.join(unknown)} is no word of a budget; {hint}"
        )
    return _measure(
        {word: read_number(amount, f"{name}.{word}") for word, amount in given.items()}, name, hint
    )


def _measure(amounts: Mapping[str, Fraction], name: str, hint: str) -> Measure:
    words = set(amounts)
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
    if words == {"delta"}:
        raise InvalidArgument(
            f"{name} needs an epsilon beside its delta: a δ alone is no budget; {hint}"
        )
    raise InvalidArgument(f"{name} must be one budget, got {' and '.join(amounts)}; {hint}")


def _renyi(value: object, name: str) -> Measure:
    if not isinstance(value, Mapping):
        raise InvalidArgument(f'{name}.renyi maps orders to epsilons, such as {{"2": "0.5"}}')
    return RenyiDP(
        {
            read_number(a, f"{name}.alpha"): read_number(e, f"{name}.epsilon")
            for a, e in value.items()
        }
    )


def _split(text: str, name: str) -> dict[str, str]:
    """Read epsilon=1,delta=1e-6; a number alone is an epsilon."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if len(parts) == 1 and "=" not in parts[0]:
        return {"epsilon": parts[0]}
    found: dict[str, str] = {}
    for word, _, amount in (part.partition("=") for part in parts):
        if word.strip() in found:
            raise InvalidArgument(f"{name} names {word.strip()!r} twice; say it once")
        found[word.strip()] = amount.strip()
    return found


def budget_to_words(budget: Measure) -> dict[str, object]:
    """Write a budget in words, exactly; `budget_from_words` reads it back.

    >>> from discreet.privacy import GaussianDP, PureDP
    >>> from discreet.privacy.budget_text import budget_to_words
    >>> budget_to_words(PureDP(0.05)), budget_to_words(GaussianDP.of_square(2))
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
            return (
                {"mu": str(mu)}
                if mu is not None and mu**2 == squared
                else {"mu_squared": str(squared)}
            )
        case RenyiDP(orders=orders):
            return {"renyi": {str(alpha): str(epsilon) for alpha, epsilon in orders}}
    assert_never(budget)
