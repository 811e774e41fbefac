"""Gaussian DP filters: Σμ² ≤ μ², and the residue, which charges other noise less than its μ².

**Proof.** Let s be the remaining part of μ², L the privacy loss so far, and f_s(e) the curve δ(e)
of G(√s), Gaussian DP with √s. Take Φ = f_s(ε − L).

1. Suppose a step M is charged c such that the curve of M followed by G(√(s−c)) lies under f_s at
   *every* real e and in both directions.
2. Then E[Φ' | past] = δ_{M⊗G(√(s−c))}(ε − L) ≤ f_s(ε − L) = Φ: a supermartingale, however M was
   chosen.
3. It starts at f_{μ²}(ε), and ends no lower than (1 − e^(ε−L))₊, whose mean is the realised δ(ε).
4. So the transcript has δ(ε) ≤ f_{μ²}(ε), at every ε at once: it is μ-Gaussian DP.

An (ε, δ) budget is converted once, at creation: to the largest μ whose curve passes under it.

- *gdp*: a step that is μ_n-Gaussian DP is charged c = μ_n²: G(μ_n)⊗G(√(s−c)) is G(√s), exactly
  (Smith, Thakurta 2022; Koskela, Tobaben, Honkela 2023). Other steps are converted to the least μ
  that dominates them.
- *residue*: any c with the property above will do; `residue` finds the least that it can prove.

Law: tests/privacy/test_adversary.py::TestNoFilterIsBroken
Proved: proofs/Admission.v::curve_admission, proofs/Admission.v::gaussian_pays
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from ...arithmetic.rounding import fraction_down
from ..measures import ApproxDP, GaussianDP
from ..pricing import gaussian, gdp
from ..pricing.event_parts import Flattened
from .residue import charge
from .rule import Amounts, FilterTerms, Orders, Rule, add_up, unpriced

_price_atom = lru_cache(maxsize=1024)(gdp.price_gdp)
_WORKS = "open the filter with kind='zcdp', or state its (ε, δ) as a Promise"


def _capacity(terms: FilterTerms) -> Amounts:
    if isinstance(terms.budget, GaussianDP):
        return (terms.budget.squared,)
    mu = gaussian.mu(float(terms.epsilon), float(terms.tail))
    # Rounded down: a capacity too large would promise more than the (ε, δ) that was asked for.
    return (fraction_down(mu**2),)


def _square_price(parts: Flattened, _left: Amounts, _orders: Orders) -> tuple[Amounts, Fraction]:
    return add_up(parts, _price_atom, "Gaussian DP", _WORKS)


def _residue_price(parts: Flattened, left: Amounts, _orders: Orders) -> tuple[Amounts, Fraction]:
    """Price the atoms one after the other, each by its residue charge at what is then left."""
    total = Fraction()
    for atom, times in parts.atoms:
        # The charge depends on the remaining part, so atoms are charged one after the other.
        cost = charge(atom, times, left[0] - total)
        if cost is None:
            raise unpriced(atom, "Gaussian DP", _WORKS)
        total += cost
    return (total,), parts.leak_sum


def _measure(amounts: Amounts, _leak: Fraction, _orders: Orders) -> GaussianDP:
    return GaussianDP.of_square(amounts[0])


GAUSSIAN = Rule((GaussianDP, ApproxDP), _capacity, _square_price, _measure)
RESIDUE = Rule((GaussianDP, ApproxDP), _capacity, _residue_price, _measure)
