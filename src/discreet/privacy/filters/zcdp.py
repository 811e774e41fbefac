"""Concentrated and advanced filters: Σρ ≤ ρ, and Σε² ≤ S.

**Why sound.** Fix an order α and let L_n be the loss of the first n answers under D. If step n+1 is ρ-zCDP given the
past, E[e^((α−1)(L_{n+1} − L_n)) | past] ≤ e^((α−1)αρ_{n+1}), so e^((α−1)(L_n − αΣρ)) is a supermartingale however the
steps are chosen. It starts at 1, and the filter stops with Σρ ≤ ρ on every path, so the Rényi divergence of the whole
transcript is at most αρ, at every α at once: the same constant as without adaptivity (Feldman, Zrnic 2021; Lécuyer
2021; Whitehouse, Ramdas, Rogers, Wu 2023). An (ε, δ) budget is converted once, at creation: the largest ρ whose
Canonne–Kamath–Steinke curve passes under it.

The *advanced* filter is that of Whitehouse et al. 2023: ε-DP steps are ε²/2-zCDP, and the printed conversion
ρ + 2√(ρ ln(1/δ')) gives √(2 ln(1/δ') Σε²) + ½Σε² ≤ ε. Its amounts are exact squares and its steps may be any (ε, δ)
boxes; it never admits more than the zCDP filter.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from ...arithmetic.rounding import fraction_down
from ..measures import ZCDP, ApproxDP
from ..pricing import zcdp
from ..pricing.boxes import atom_box
from ..pricing.event_parts import Flattened
from .rule import Amounts, FilterTerms, Orders, Rule, unpriced

_each = lru_cache(maxsize=1024)(zcdp.price_zcdp)


def _capacity(terms: FilterTerms) -> Amounts:
    if isinstance(terms.budget, ZCDP):
        return (terms.budget.rho,)
    return (fraction_down(zcdp.rho(float(terms.epsilon), float(terms.tail))),)


def _price(parts: Flattened, _left: Amounts, _orders: Orders) -> tuple[Amounts, Fraction]:
    total = Fraction()
    for atom, times in parts.atoms:
        each = _each(atom)
        if each is None:
            works = (
                "ask with Gaussian, Laplace or exponential noise, or state its (ε, δ) as a Promise"
            )
            raise unpriced(atom, "zCDP", works)
        total += times * each
    return (total,), parts.leak_sum


def _squares(terms: FilterTerms) -> Amounts:
    """Solve S/2 + √(2 ln(1/δ') S) = ε for S, without cancellation, rounded down."""
    if not float(terms.tail):
        return (Fraction(),)
    e, log = float(terms.epsilon), -math.log(terms.tail)
    root = 2 * e / (math.sqrt(2 * log + 2 * e) + math.sqrt(2 * log))
    return (fraction_down(root * root),)


def _advanced(parts: Flattened, _left: Amounts, _orders: Orders) -> tuple[Amounts, Fraction]:
    total, leak = Fraction(), parts.leak_sum
    for atom, times in parts.atoms:
        box = atom_box(atom)
        if box is None:
            works = "open the filter with kind='residue' or 'zcdp', or state one point of its curve as a Promise"
            raise unpriced(atom, "(ε, δ) boxes", works)
        total, leak = total + times * box[0] ** 2, leak + times * box[1]
    return (total,), leak


CONCENTRATED = Rule(
    (ZCDP, ApproxDP), _capacity, _price, lambda amounts, _leak, _orders: ZCDP(amounts[0])
)
# ε-DP steps with Σε² = S are S/2-zCDP: that is the measure their sum is shown in
ADVANCED = Rule(
    (ApproxDP,), _squares, _advanced, lambda amounts, _leak, _orders: ZCDP(amounts[0] / 2)
)
