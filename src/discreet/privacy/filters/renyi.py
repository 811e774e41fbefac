"""Rényi filters: Σε(α) ≤ ε(α), at orders fixed when the filter is opened.

**Why sound.** At one fixed order α, e^((α−1)(L_n − Σε(α))) is a supermartingale however the steps are chosen (the
proof in `filter_zcdp`, at one α), so the transcript has divergence at most ε(α), the amount fixed at creation
(Feldman, Zrnic 2021; Lécuyer 2021). A RenyiDP budget promises all its orders, so all must hold.

For an (ε, δ) budget **one** order is fixed, and ε(α) is what converts to (ε, δ) there (Canonne, Kamath, Steinke 2020,
Proposition 12). "Some of several orders still passes" is *not* a sound rule: which order passes then depends on the
answers, and no single supermartingale bounds the path on which the adversary changes from one to the other.
The order chosen by default is the one at which Gaussian noise is admitted most often; then this filter admits whatever
the zCDP filter admits, and more, since ε(α) ≤ ρα.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ...arithmetic.rounding import fraction_down
from ..events import Event
from ..measures import ApproxDP, RenyiDP
from ..neighbours import Neighbours
from ..pricing.event_parts import Flattened
from ..pricing.rdp import renyi_parts
from ..pricing.zcdp import price_zcdp
from .rule import Amounts, FilterTerms, Orders, Rule, unpriced


def best_order(epsilon: float, delta: float) -> Fraction:
    """Return the order at which an (ε, δ) budget admits most Gaussian noise, max ε(α)/α, in 64ths.

    >>> from discreet.privacy.filters.renyi import best_order
    >>> best_order(1.0, 1e-6)
    Fraction(351, 16)
    """
    alphas = 1 + np.geomspace(2.0**-6, 2.0**20, 20 * 64)
    allowed = _allowed(epsilon, delta, alphas) / alphas
    return 1 + Fraction(max(1, round(64 * (float(alphas[int(np.argmax(allowed))]) - 1))), 64)


def _allowed(epsilon: float, delta: float, alphas: np.ndarray) -> np.ndarray:
    """Invert ε = ε(α) + ln(1/αδ)/(α−1) + ln(1−1/α) for ε(α)."""
    lam = alphas - 1
    return np.asarray(epsilon + np.log1p(1 / lam) + (math.log(delta) + np.log(alphas)) / lam)


def _capacity(terms: FilterTerms) -> Amounts:
    if isinstance(terms.budget, RenyiDP):
        return tuple(e for _, e in terms.budget.orders)
    e, d = float(terms.epsilon), float(terms.tail)
    if not d:
        return (Fraction(),)
    allowed = float(_allowed(e, d, np.array([float(terms.orders[0])]))[0])
    return (fraction_down(max(0.0, allowed)),)


def _price(parts: Flattened, _left: Amounts, orders: Orders) -> tuple[Amounts, Fraction]:
    totals = [Fraction()] * len(orders)
    for atom, times in parts.atoms:
        each = _each(atom, orders, parts.neighbours)
        totals = [total + times * price for total, price in zip(totals, each, strict=True)]
    return tuple(totals), parts.leak_sum


@lru_cache(maxsize=1024)
def _each(atom: Event, orders: Orders, neighbours: Neighbours) -> Amounts:
    """Return the divergence of one atom at each order, or ρα where that is less."""
    one, rho = Flattened(((atom, 1),), (), neighbours), price_zcdp(atom)
    prices = renyi_parts(one, np.array([float(order) for order in orders])).tolist()
    best = list[Fraction]()
    for order, price in zip(orders, prices, strict=True):
        known = [Fraction(price)] if math.isfinite(price) else []
        known += [] if rho is None else [rho * order]
        if not known:
            works = "state a Rényi promise at the filter's orders, or its (ε, δ), as a Promise"
            raise unpriced(atom, f"Rényi divergence of order {order}", works)
        best.append(min(known))
    return tuple(best)


RENYI = Rule(
    (RenyiDP, ApproxDP),
    _capacity,
    _price,
    lambda amounts, _leak, orders: RenyiDP(dict(zip(orders, amounts, strict=True))),
)
