"""Rényi DP filters: Σε(α) ≤ ε(α), at orders fixed when the filter is opened.

**Proof.** At one fixed order α, e^((α−1)(L_n − Σε(α))) is a supermartingale however the steps are
chosen (the proof in `zcdp`, at one α). So the transcript has divergence at most ε(α), the amount
fixed at creation (Feldman, Zrnic 2021; Lécuyer 2021). A RenyiDP budget promises all its orders, so
all must hold.

For an (ε, δ) budget **one** order is fixed, and ε(α) is the divergence that converts to (ε, δ)
there (Canonne, Kamath, Steinke 2020, Proposition 12). "Some of several orders still passes" is
*not* a sound rule: which order passes then depends on the answers. No single supermartingale bounds
the path on which the adversary changes from one order to another. The default order is the
64th nearest to the one at which Gaussian noise is admitted most often. By that rounding the filter
may admit slightly less Gaussian noise than the zCDP filter (5e-5 less for ε up to 100). Of other
noise it admits more where its divergence at α is below ρα.

Law: tests/privacy/test_adversary.py::TestNoFilterIsBroken
Law: tests/privacy/test_adversary.py::test_some_order_still_passes_admits_more_than_any_order
Proved: proofs/Admission.v::renyi_admission, proofs/Instances.v::renyi_ledger
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ...arithmetic.rounding import fraction_down
from ..events import Event
from ..measures import ApproxDP, Neighbours, RenyiDP
from ..pricing.event_parts import Flattened
from ..pricing.rdp import renyi_parts
from ..pricing.zcdp import price_zcdp
from .rule import Amounts, FilterTerms, Orders, Rule, unpriced


def best_order(epsilon: float, delta: float) -> Fraction:
    """Return about the order at which an (ε, δ) budget admits most Gaussian noise, max ε(α)/α.

    It is rounded to 64ths.

    Any order is sound; this choice only decides how much is admitted.

    >>> from discreet.privacy.filters.renyi import best_order
    >>> best_order(1.0, 1e-6)
    Fraction(351, 16)
    """
    alphas = 1 + np.geomspace(2.0**-6, 2.0**20, 20 * 64)
    allowed_rho = _allowed_divergence(epsilon, delta, alphas) / alphas
    best = float(alphas[int(np.argmax(allowed_rho))])
    steps_above_one = max(1, round(64 * (best - 1)))
    return 1 + Fraction(steps_above_one, 64)


def _allowed_divergence(epsilon: float, delta: float, alphas: np.ndarray) -> np.ndarray:
    """Invert ε = ε(α) + ln(1/αδ)/(α−1) + ln(1−1/α) for ε(α)."""
    above_one = alphas - 1
    # −ln(1 − 1/α) is ln(1 + 1/(α−1)); log1p keeps its digits at large orders.
    correction = np.log1p(1 / above_one)
    tail = (math.log(delta) + np.log(alphas)) / above_one
    return np.asarray(epsilon + correction + tail)


def _capacity(terms: FilterTerms) -> Amounts:
    """Return the divergences that may be spent in all; of (ε, δ) converted, downwards."""
    if isinstance(terms.budget, RenyiDP):
        return tuple(divergence for _, divergence in terms.budget.orders)
    delta = float(terms.tail)
    # A δ' below the least float has no logarithm here; no capacity is the safe answer.
    if not delta:
        return (Fraction(),)
    order = np.array([float(terms.orders[0])])
    allowed = float(_allowed_divergence(float(terms.epsilon), delta, order)[0])
    # Rounded down: a capacity too large would promise more than the (ε, δ) that was asked for.
    return (fraction_down(max(0.0, allowed)),)


def _price(parts: Flattened, _left: Amounts, orders: Orders) -> tuple[Amounts, Fraction]:
    totals = [Fraction()] * len(orders)
    for atom, times in parts.atoms:
        divergences = _price_atom(atom, orders, parts.neighbours)
        for i, divergence in enumerate(divergences):
            totals[i] += times * divergence
    return tuple(totals), parts.leak_sum


@lru_cache(maxsize=1024)
def _price_atom(atom: Event, orders: Orders, neighbours: Neighbours) -> Amounts:
    """Return the divergence of one atom at each order, or ρα where that is less."""
    single = Flattened(((atom, 1),), (), neighbours)
    rho = price_zcdp(atom)
    alphas = np.array([float(order) for order in orders])
    divergences = renyi_parts(single, alphas).tolist()
    best = list[Fraction]()
    for order, divergence in zip(orders, divergences, strict=True):
        bounds = list[Fraction]()
        if math.isfinite(divergence):
            bounds.append(Fraction(divergence))
        if rho is not None:
            # ρ-zCDP is a bound ρα of the divergence at every order.
            bounds.append(rho * order)
        if not bounds:
            works = "state a Rényi promise at the filter's orders, or its (ε, δ), as a Promise"
            raise unpriced(atom, f"Rényi divergence of order {order}", works)
        # Both are proved upper bounds, so the smaller one is a valid price.
        best.append(min(bounds))
    return tuple(best)


def _measure(amounts: Amounts, _leak: Fraction, orders: Orders) -> RenyiDP:
    return RenyiDP(dict(zip(orders, amounts, strict=True)))


RENYI = Rule((RenyiDP, ApproxDP), _capacity, _price, _measure)
