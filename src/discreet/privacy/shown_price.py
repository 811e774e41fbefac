"""Shown price: the one price of a charge that explanations, captions, receipts and pages show.

| the question was asked with | measure of its price | δ of an (ε, δ) price |
|---|---|---|
| a spend | that of the spend | that of the spend |
| an error, or without known terms | that of the budget | that of the budget |

The price is that of the event by itself, by the tightest sound accountant. A ledger may count the
charge in another measure, one that adds up over many questions chosen one after the other. That
amount follows in brackets where it reads differently: `ε = 1 [ρ = 0.36788]`. Under an (ε, δ) budget
the amount in brackets is an (ε, δ) too, because the author of such a budget wrote no ρ and no μ.

Guarantee: a price is never below the event's, and above neither `compose` nor a spend that the
event fits.

Law: tests/curator/test_one_price.py::TestOnePrice
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import assert_never

from ..arithmetic.rational import Number
from ..errors import InvalidArgument
from ..frozen import frozen
from .calibrate import fits
from .curve import Curve
from .events import Event
from .events.json import Json, measure_from_json, measure_to_json
from .measures import ZCDP, ApproxDP, GaussianDP, Measure, Order, PureDP, RenyiDP, decimal_text
from .pricing.event_parts import Flattened, flatten
from .pricing.gdp import price_gdp
from .pricing.pure import price_pure
from .pricing.rdp import price_order
from .pricing.zcdp import price_zcdp


@frozen
class Price:
    """Price of a charge: `amount` by the event itself, `charged` as the ledger's filter counts it.

    The module docstring says in which measures they are.
    """

    amount: Measure
    charged: Measure

    def __str__(self) -> str:
        amount = decimal_text(self.amount)
        charged = decimal_text(self.charged)
        if charged == amount or _is_same(self.amount, self.charged):
            return amount
        return f"{amount} [{charged}]"

    def to_json(self) -> Json:
        """Write the price as plain JSON types, exactly."""
        return {"amount": measure_to_json(self.amount), "charged": measure_to_json(self.charged)}


def price_from_json(data: object) -> Price:
    """Read a price written by `Price.to_json`.

    Refuses: InvalidArgument for everything else.
    """
    if not isinstance(data, dict) or data.keys() != {"amount", "charged"}:
        raise InvalidArgument("a price is a JSON object with an amount and the amount charged")
    return Price(measure_from_json(data["amount"]), measure_from_json(data["charged"]))


def _is_same(amount: Measure, charged: Measure) -> bool:
    """Return whether a pure price is charged as (ε, 0)."""
    return isinstance(amount, PureDP) and charged == ApproxDP(amount.epsilon, 0)


def price_charge(
    event: Event, asked: Measure | None, *, counted: Event, taken: Measure, budget: Measure
) -> Price:
    """Return the price of a charge.

    `asked` is the spend of the question; None if it named an error. `counted` is the event as the
    ledger counts it, twice for a part under "replace". `taken` is the amount that the filter of
    the budget takes for it.

    >>> import discreet as dp
    >>> from discreet.privacy.shown_price import price_charge
    >>> event = dp.Laplace(scale=1, sensitivity=1).event
    >>> print(price_charge(event, None, counted=event, taken=dp.ZCDP("3/8"), budget=dp.PureDP(3)))
    ε = 1 [ρ = 0.375]
    """
    amount = shown_price(event, asked, budget)
    charged = taken
    # A filter over an (ε, δ) budget counts in ρ or μ: its author is told (ε, δ) instead.
    if isinstance(budget, ApproxDP) and not isinstance(taken, ApproxDP):
        written = amount if isinstance(amount, PureDP | ApproxDP) else budget
        charged = shown_price(counted, written, budget)
    return Price(amount, charged)


def shown_price(event: Event, asked: Measure | None, budget: Measure) -> Measure:
    """Return the price of an event in the measure of the spend `asked`.

    In the budget's measure where the question named an error (None), or no such price is known.

    >>> import discreet as dp
    >>> from discreet.privacy.shown_price import shown_price
    >>> event = dp.Laplace(scale=1, sensitivity=1).event
    >>> shown_price(event, dp.PureDP(2), dp.ZCDP(3)), shown_price(event, None, dp.PureDP(3))
    (PureDP(1), PureDP(1))

    Refuses: InvalidArgument for an event without a price in either measure.
    """
    if isinstance(asked, ApproxDP) and asked.delta == 0:
        # (ε, 0) is read as pure ε wherever a question is asked.
        asked = PureDP(asked.epsilon)
    parts = flatten(event)
    price = None if asked is None else _price_in(parts, asked)
    if price is None:
        # Every event that a ledger admits has a price in the measure of its budget.
        price = _price_in(parts, budget)
    if price is None:
        raise InvalidArgument(f"the event has no price in the measure of {budget}; open another")
    if asked is None or type(price) is not type(asked):
        return price
    pairs = zip(_amounts(price), _amounts(asked), strict=True)
    is_more = any(amount > most for amount, most in pairs)
    # A float that was rounded up may exceed, by its last digit, a spend that the event fits.
    return asked if is_more and fits(event, asked) else price


# One question is explained, charged and told again: the numerical accountant runs once.
@lru_cache(maxsize=1024)
def _price_in(parts: Flattened, measure: Measure) -> Measure | None:
    """Return the least price of events in a measure, (ε, δ) at its δ; None if there is none."""
    match measure:
        case PureDP():
            epsilon = price_pure(parts)
            return None if epsilon is None else PureDP(epsilon)
        case ApproxDP(delta=delta):
            epsilon = _epsilon_at(parts, delta)
            return None if epsilon is None else ApproxDP(epsilon, delta)
        case ZCDP():
            rho = price_zcdp(parts)
            return None if rho is None else ZCDP(rho)
        case GaussianDP():
            square = price_gdp(parts)
            return None if square is None else GaussianDP.of_square(square)
        case RenyiDP(orders=orders):
            amounts: dict[Order, Number] = {}
            for alpha, _ in orders:
                amount = price_order(parts, alpha)
                if amount is None:
                    return None
                amounts[alpha] = amount
            return RenyiDP(amounts)
        case _:
            assert_never(measure)


def _epsilon_at(parts: Flattened, delta: Fraction) -> Fraction | None:
    """Return the least ε at a δ: exact at 0, else the float of `compose`, which is rounded up."""
    if delta == 0:
        return price_pure(parts)
    epsilon = Curve(parts).epsilon(delta)
    return Fraction(epsilon) if math.isfinite(epsilon) else None


def _amounts(measure: Measure) -> tuple[Fraction, ...]:
    """Return the amounts by which two promises of one kind are compared; of (ε, δ) the ε."""
    match measure:
        case PureDP(epsilon=amount) | ApproxDP(epsilon=amount):
            return (amount,)
        case ZCDP(rho=amount) | GaussianDP(squared=amount):
            return (amount,)
        case RenyiDP(orders=orders):
            return tuple(amount for _, amount in orders)
        case _:
            assert_never(measure)
