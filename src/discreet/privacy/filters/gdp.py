"""Gaussian filters: Σμ² ≤ μ², and the residue, which charges other noise no more than it takes from what is left.

**Why sound.** Let s be what is left of μ², L the loss so far, and f_s(e) the curve δ(e) of G(√s), Gaussian DP with
√s. Take Φ = f_s(ε − L). If a step M is charged c such that the curve of M followed by G(√(s−c)) lies under f_s at
*every* real e and in both directions, then E[Φ' | past] = δ_{M⊗G(√(s−c))}(ε − L) ≤ f_s(ε − L) = Φ: a supermartingale,
however M was chosen. It starts at f_{μ²}(ε), and ends no lower than (1 − e^(ε−L))₊, whose mean is the realised δ(ε).
So the transcript has δ(ε) ≤ f_{μ²}(ε), at every ε at once: it is μ-Gaussian DP. An (ε, δ) budget is converted once,
at creation: the largest μ whose curve passes under it.

- *gdp*: a step that is μ_n-Gaussian DP is charged c = μ_n²: G(μ_n)⊗G(√(s−c)) is G(√s), exactly (Smith, Thakurta 2022;
  Koskela, Tobaben, Honkela 2023). Other steps are converted to the least μ that dominates them.
- *residue*: any c with the property above will do; `residue` finds the least that it can prove.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from ...arithmetic.rounding import fraction_down
from ..measures import ApproxDP, GaussianDP
from ..pricing import gaussian, gdp
from ..pricing.event_parts import Flattened
from .residue import charge
from .rule import Amounts, FilterTerms, Orders, Rule, unpriced

_each = lru_cache(maxsize=1024)(gdp.price_gdp)
_WORKS = "open the filter with kind='zcdp', or state its (ε, δ) as a Promise"


def _capacity(terms: FilterTerms) -> Amounts:
    if isinstance(terms.budget, GaussianDP):
        return (terms.budget.squared,)
    return (fraction_down(gaussian.mu(float(terms.epsilon), float(terms.tail)) ** 2),)


def _plain(parts: Flattened, _left: Amounts, _orders: Orders) -> tuple[Amounts, Fraction]:
    total = Fraction()
    for atom, times in parts.atoms:
        each = _each(atom)
        if each is None:
            raise unpriced(atom, "Gaussian DP", _WORKS)
        total += times * each
    return (total,), parts.leak_sum


def _residue(parts: Flattened, left: Amounts, _orders: Orders) -> tuple[Amounts, Fraction]:
    total = Fraction()
    for atom, times in parts.atoms:
        cost = charge(atom, times, left[0] - total)
        if cost is None:
            raise unpriced(atom, "Gaussian DP", _WORKS)
        total += cost
    return (total,), parts.leak_sum


def _shown(amounts: Amounts, _leak: Fraction, _orders: Orders) -> GaussianDP:
    return GaussianDP.of_square(amounts[0])


GAUSSIAN = Rule((GaussianDP, ApproxDP), _capacity, _plain, _shown)
RESIDUE = Rule((GaussianDP, ApproxDP), _capacity, _residue, _shown)
