"""Concentrated (zCDP) and advanced filters: Σρ ≤ ρ, and Σε² ≤ S.

**Proof.** Fix an order α and let L_n be the privacy loss of the first n answers under D. If step
n+1 is ρ_{n+1}-zCDP given the past, then E[e^((α−1)(L_{n+1} − L_n)) | past] ≤ e^((α−1)αρ_{n+1}).
So e^((α−1)(L_n − αΣρ)) is a supermartingale, however the steps are chosen. It starts at 1, and the
filter stops with Σρ ≤ ρ on every path. Hence the Rényi divergence of the whole transcript is at
most αρ, at every α at once: the same constant as without adaptivity (Feldman, Zrnic 2021; Lécuyer
2021; Whitehouse, Ramdas, Rogers, Wu 2023). An (ε, δ) budget is converted once, at creation: to the
largest ρ whose Canonne–Kamath–Steinke curve passes under it.

The *advanced* filter is that of Whitehouse et al. 2023. ε-DP steps are ε²/2-zCDP, and the printed
conversion ρ + 2√(ρ ln(1/δ')) gives √(2 ln(1/δ') Σε²) + ½Σε² ≤ ε. Its amounts are exact squares and
its steps may be any (ε, δ) boxes, also those without a ρ, such as points of a curve. Of events with
a ρ it never admits more than the zCDP filter.

Law: tests/privacy/test_adversary.py::TestNoFilterIsBroken
Law: tests/privacy/test_filter.py::TestCapacity
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from ...arithmetic.rounding import fraction_down
from ..measures import ZCDP, ApproxDP
from ..pricing import zcdp
from ..pricing.event_parts import Flattened
from .rule import Amounts, FilterTerms, Orders, Rule, add_boxes, add_up

_price_atom = lru_cache(maxsize=1024)(zcdp.price_zcdp)


def _rho_capacity(terms: FilterTerms) -> Amounts:
    if isinstance(terms.budget, ZCDP):
        return (terms.budget.rho,)
    rho = zcdp.rho(float(terms.epsilon), float(terms.tail))
    # Rounded down: a capacity too large would promise more than the (ε, δ) that was asked for.
    return (fraction_down(rho),)


def _rho_price(parts: Flattened, _left: Amounts, _orders: Orders) -> tuple[Amounts, Fraction]:
    works = "ask with Gaussian, Laplace or exponential noise, or state its (ε, δ) as a Promise"
    return add_up(parts, _price_atom, "zCDP", works)


def _rho_measure(amounts: Amounts, _leak: Fraction, _orders: Orders) -> ZCDP:
    return ZCDP(amounts[0])


def _squares_capacity(terms: FilterTerms) -> Amounts:
    """Solve S/2 + √(2 ln(1/δ') S) = ε for S, rounded down."""
    # A δ' below the least float has no logarithm here; no capacity is the safe answer.
    if not float(terms.tail):
        return (Fraction(),)
    epsilon = float(terms.epsilon)
    log_term = 2 * -math.log(terms.tail)
    # √S = √(2ln + 2ε) − √(2ln), multiplied by its conjugate: the difference would cancel digits.
    root = 2 * epsilon / (math.sqrt(log_term + 2 * epsilon) + math.sqrt(log_term))
    return (fraction_down(root * root),)


def _squares_price(parts: Flattened, _left: Amounts, _orders: Orders) -> tuple[Amounts, Fraction]:
    return add_boxes(parts, 2, "(ε, δ) boxes")


def _squares_measure(amounts: Amounts, _leak: Fraction, _orders: Orders) -> ZCDP:
    # ε-DP steps with Σε² = S are S/2-zCDP together; their sum is displayed in that measure.
    return ZCDP(amounts[0] / 2)


CONCENTRATED = Rule((ZCDP, ApproxDP), _rho_capacity, _rho_price, _rho_measure)
ADVANCED = Rule((ApproxDP,), _squares_capacity, _squares_price, _squares_measure)
