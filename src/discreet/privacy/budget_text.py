"""Budgets as text or tables: parsed and written the same in the CLI, in files and over HTTP.

Amounts are exact, never floats.

    {"epsilon": "1"}    {"epsilon": "1", "delta": "1e-6"}    {"rho": "1/8"}    {"mu": "1"}
    epsilon=1           epsilon=1,delta=1e-6                 rho=1/8           mu=1
    1 (an epsilon)

There are two more names: `mu_squared` for a μ that is no decimal, and `renyi`, which maps orders to
epsilons (in tables only).

Law: tests/privacy/test_budget_text.py::test_what_was_written_is_read_back_exactly
Law: tests/privacy/test_budget_text.py::test_everything_else_is_refused
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import assert_never

from ..arithmetic.numeral import read_number
from ..arithmetic.rational import Number
from ..errors import InvalidArgument
from .measures import ZCDP, ApproxDP, GaussianDP, Measure, Order, PureDP, RenyiDP

AMOUNTS = ("epsilon", "delta", "rho", "mu", "mu_squared")
_TABLE = 'write {"epsilon": "1"}, {"epsilon": "1", "delta": "1e-6"}, {"rho": "1/8"} or {"mu": "1"}'
_TEXT = "write epsilon=1, epsilon=1,delta=1e-6, rho=1/8 or mu=1/2"


def parse_budget(words: object, name: str = "spend") -> Measure:
    """Read a budget from a table (JSON, TOML) or from text (a command-line flag).

    >>> from discreet.privacy.budget_text import parse_budget
    >>> parse_budget({"epsilon": "0.5", "delta": "1e-6"})
    ApproxDP(0.5, 1e-06)
    >>> parse_budget("rho=1/8"), parse_budget("2")
    (ZCDP(0.125), PureDP(2))

    Refuses: InvalidArgument for unknown names, several measures at once, a δ without its ε, and
        amounts that are no numbers.
    """
    hint = _TABLE
    given = words
    if isinstance(words, str):
        hint = _TEXT
        given = _split(words, name)
    if not isinstance(given, Mapping) or not given:
        raise InvalidArgument(f"{name} must be a budget in words; {hint}")
    if set(given) == {"renyi"}:
        return _read_renyi(given["renyi"], name)
    # The names come from outside: cut, so that a refusal stays short.
    unknown = [str(symbol)[:40] for symbol in given if symbol not in AMOUNTS]
    if unknown:
        raise InvalidArgument(
            f"{name} cannot be read: {', '.join(unknown)} is no word of a budget; {hint}"
        )
    amounts: dict[str, Fraction] = {}
    for symbol, amount in given.items():
        amounts[symbol] = read_number(amount, f"{name}.{symbol}")
    return _measure_of(amounts, name, hint)


def _measure_of(amounts: Mapping[str, Fraction], name: str, hint: str) -> Measure:
    """Return the measure that these amounts name; refuse other combinations (InvalidArgument)."""
    symbols = set(amounts)
    if symbols == {"epsilon"}:
        return PureDP(amounts["epsilon"])
    if symbols == {"epsilon", "delta"}:
        return ApproxDP(amounts["epsilon"], amounts["delta"])
    if symbols == {"rho"}:
        return ZCDP(amounts["rho"])
    if symbols == {"mu"}:
        return GaussianDP(amounts["mu"])
    if symbols == {"mu_squared"}:
        return GaussianDP.of_square(amounts["mu_squared"])
    if symbols == {"delta"}:
        raise InvalidArgument(
            f"{name} needs an epsilon beside its delta: a δ alone is no budget; {hint}"
        )
    raise InvalidArgument(f"{name} must be one budget, got {' and '.join(amounts)}; {hint}")


def _read_renyi(value: object, name: str) -> Measure:
    """Read a Rényi budget: a table from orders to epsilons."""
    if not isinstance(value, Mapping):
        raise InvalidArgument(f'{name}.renyi maps orders to epsilons, such as {{"2": "0.5"}}')
    orders: dict[Order, Number] = {}
    for alpha, epsilon in value.items():
        order = read_number(alpha, f"{name}.alpha")
        orders[order] = read_number(epsilon, f"{name}.epsilon")
    return RenyiDP(orders)


def _split(text: str, name: str) -> dict[str, str]:
    """Split epsilon=1,delta=1e-6 into a table; a number alone is an epsilon."""
    items = [item.strip() for item in text.split(",") if item.strip()]
    if len(items) == 1 and "=" not in items[0]:
        return {"epsilon": items[0]}
    amounts: dict[str, str] = {}
    for item in items:
        before, _, after = item.partition("=")
        symbol = before.strip()
        if symbol in amounts:
            raise InvalidArgument(f"{name} names {symbol!r} twice; say it once")
        amounts[symbol] = after.strip()
    return amounts


def budget_to_table(budget: Measure) -> dict[str, object]:
    """Write a budget as a table, exactly; `parse_budget` reads it back.

    >>> from discreet.privacy import GaussianDP, PureDP
    >>> from discreet.privacy.budget_text import budget_to_table
    >>> budget_to_table(PureDP(0.05)), budget_to_table(GaussianDP.of_square(2))
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
            # μ is written only where it is a decimal; beyond 1e150 its float is infinite.
            if squared <= 10**300:
                mu = Fraction(repr(budget.mu))
                if mu**2 == squared:
                    return {"mu": str(mu)}
            return {"mu_squared": str(squared)}
        case RenyiDP(orders=orders):
            return {"renyi": {str(alpha): str(epsilon) for alpha, epsilon in orders}}
    assert_never(budget)
