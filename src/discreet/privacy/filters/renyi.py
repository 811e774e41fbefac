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

import numpy as np

from ...arithmetic.rounding import fraction_down
from ..measures import ApproxDP, RenyiDP
from ..pricing.parts import Flattened
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
    alphas = np.array([float(a) for a in orders])
    for atom, times in parts.atoms:
        one = Flattened(((atom, 1),), (), parts.neighbours)
        prices = [Fraction(p) if math.isfinite(p) else None for p in renyi_parts(one, alphas).tolist()]
        rho = price_zcdp(atom)
        for i, price in enumerate(prices):
            known = [c for c in (price, None if rho is None else rho * orders[i]) if c is not None]
            if not known:
                works = "state a Rényi promise at the filter's orders, or its (ε, δ), as a Promise"
                raise unpriced(atom, f"Rényi divergence of order {orders[i]}", works)
            totals[i] += times * min(known)
    return tuple(totals), parts.leak_sum


RENYI = Rule(
    (RenyiDP, ApproxDP),
    _capacity,
    _price,
    lambda amounts, _leak, orders: RenyiDP(dict(zip(orders, amounts, strict=True))),
)
