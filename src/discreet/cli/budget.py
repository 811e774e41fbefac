"""Parsers of options: budgets (--epsilon 1 --delta 1e-6, --rho 1/8, --mu 1/2) and NAME=VALUE."""

from __future__ import annotations

from ..connection import masked
from ..errors import InvalidArgument
from ..privacy.budget_text import parse_budget
from ..privacy.measures import Measure


def budget_of_flags(
    epsilon: str | None = None,
    delta: str | None = None,
    rho: str | None = None,
    mu: str | None = None,
) -> Measure | None:
    """Read a measure from the four flags; None if none is given.

    >>> from discreet.cli.budget import budget_of_flags
    >>> budget_of_flags(epsilon="1", delta="1e-6"), budget_of_flags(rho="1/8"), budget_of_flags()
    (ApproxDP(1, 1e-06), ZCDP(0.125), None)

    Refuses: two measures at once, and a δ without its ε, by `InvalidArgument`.
    """
    amounts = {"epsilon": epsilon, "delta": delta, "rho": rho, "mu": mu}
    given = {name: amount for name, amount in amounts.items() if amount is not None}
    if len(given.keys() - {"delta"}) > 1:
        raise InvalidArgument("give one budget: --epsilon (with or without --delta), --rho or --mu")
    if "delta" in given and "epsilon" not in given:
        raise InvalidArgument("--delta belongs to --epsilon; give both")
    if not given:
        return None
    return parse_budget(given, "the budget")


def pairs(said: list[str] | None, what: str) -> dict[str, str]:
    """Read the values NAME=VALUE of a repeated option; `what` is the option's name for refusals.

    Refuses: a value without =, name or value, and a name that is given twice, by `InvalidArgument`.

    >>> from discreet.cli.budget import pairs
    >>> pairs(["n=50", "income=500"], "--error")
    {'n': '50', 'income': '500'}
    """
    found: dict[str, str] = {}
    for option in said or []:
        left, equals, right = option.partition("=")
        name = left.strip()
        value = right.strip()
        if not equals or not name or not value:
            # A value may be a URL with a password, which is not shown.
            raise InvalidArgument(f"{what} is written NAME=VALUE, got {masked(option)!r}")
        if name in found:
            raise InvalidArgument(f"{what} names {name!r} twice; say it once")
        found[name] = value
    return found
