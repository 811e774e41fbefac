"""Budgets in words: --epsilon 1 --delta 1e-6, --rho 1/8, --mu 1/2, or in one word epsilon=1,delta=1e-6."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import InvalidArgument
from ..privacy.measures import ZCDP, ApproxDP, GaussianDP, Measure, PureDP

__all__ = ["measure_of", "measure_of_words", "pairs"]

_WORDS = ("epsilon", "delta", "rho", "mu")


def measure_of(
    epsilon: str | None = None, delta: str | None = None, rho: str | None = None, mu: str | None = None
) -> Measure | None:
    """Read a measure from the four flags; None if none is given.

    >>> measure_of(epsilon="1/2"), measure_of(epsilon="1", delta="1e-6"), measure_of(rho="1/8"), measure_of()
    (PureDP(0.5), ApproxDP(1, 1e-06), ZCDP(0.125), None)

    Refuses two measures at once, and a δ without its ε.
    """
    if sum(amount is not None for amount in (epsilon, rho, mu)) > 1:
        raise InvalidArgument("give one budget: --epsilon (with or without --delta), --rho or --mu")
    if epsilon is None and delta is not None:
        raise InvalidArgument("--delta belongs to --epsilon; give both")
    if rho is not None:
        return ZCDP(rho)
    if mu is not None:
        return GaussianDP(mu)
    if epsilon is None:
        return None
    return PureDP(epsilon) if delta is None else ApproxDP(epsilon, delta)


def measure_of_words(words: str | Mapping[str, object], what: str = "a budget") -> Measure:
    """Read a measure from one word of a flag, or from a table of a TOML file.

    >>> measure_of_words("epsilon=3,delta=1e-6"), measure_of_words({"rho": "1/8"}), measure_of_words("2")
    (ApproxDP(3, 1e-06), ZCDP(0.125), PureDP(2))

    Refuses words that are no amounts of a measure.
    """
    given = words if isinstance(words, Mapping) else _split(words)
    unknown = [str(word) for word in given if word not in _WORDS]
    if unknown or not given:
        hint = "write epsilon=1, epsilon=1,delta=1e-6, rho=1/8 or mu=1/2"
        raise InvalidArgument(f"{what} cannot be read from {dict(given) if unknown else words!r}; {hint}")
    measure = measure_of(**{str(word): str(amount) for word, amount in given.items()})
    if measure is None:
        raise InvalidArgument(f"{what} needs epsilon, rho or mu; a δ alone is none")
    return measure


def _split(words: str) -> dict[str, object]:
    parts = [part.strip() for part in words.split(",") if part.strip()]
    if len(parts) == 1 and "=" not in parts[0]:
        return {"epsilon": parts[0]}
    named = [(name.strip(), amount.strip()) for name, _, amount in (part.partition("=") for part in parts)]
    twice = [name for name, _ in named if [other for other, _ in named].count(name) > 1]
    if twice:
        raise InvalidArgument(f"a budget names {twice[0]!r} twice; say it once")
    return dict(named)


def pairs(said: list[str] | None, what: str) -> dict[str, str]:
    """Read NAME=VALUE flags, each name once.

    >>> pairs(["n=50", "income=500"], "--error")
    {'n': '50', 'income': '500'}
    """
    found: dict[str, str] = {}
    for word in said or []:
        name, equals, value = word.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise InvalidArgument(f"{what} is written NAME=VALUE, got {word!r}")
        if name.strip() in found:
            raise InvalidArgument(f"{what} names {name.strip()!r} twice; say it once")
        found[name.strip()] = value.strip()
    return found
