"""Adding up: under an (ε, δ) budget no event is refused while the ε of all events so far add up to at most ε.

A filter with a tail (`zcdp`, `renyi`, `gdp`, `residue`, `advanced`) turns a whole (ε, δ) into an amount that one large
pure question may exceed, though that question alone is ε-DP and keeps the promise. So an event is admitted

    if the tail's amount is still enough for it, or if Σε ≤ ε after it, over *all* events so far.

**Why sound.** Let L_n be the loss after n answers and Φ_n the potential of the tail: a supermartingale while the tail
pays, with Φ_0 ≤ δ' and Φ_n ≥ (1 − e^(ε−L_n))₊ (`zcdp`, `renyi`, `gdp` say which one it is). Let event τ be the first
that the tail does not pay; which one it is, is known before its answer. The tail is then **exhausted for good**, so
from τ on the sum alone admits. Stop anywhere, at N:

- N ≥ τ: the last event was admitted by the sum, which counts every event since the beginning, so L_N ≤ Σε ≤ ε on every
  path, and (1 − e^(ε−L_N))₊ = 0;
- N < τ: (1 − e^(ε−L_N))₊ ≤ Φ_N.

So E[(1 − e^(ε−L_N))₊] ≤ E[Φ_N; N < τ] ≤ E[Φ_(N∧(τ−1))] ≤ Φ_0 ≤ δ', by Φ ≥ 0 and optional stopping. This is not "one of
several rules passes": past τ one of the two potentials is 0 on every path.

**Where it breaks.** Each of these is refuted by a test:

- budgets in ρ, μ or Rényi promise a whole curve, and L ≤ ε bounds it at one point only: they have no such rule;
- an event without a pure ε (Gaussian noise) makes Σε infinite, for good; so does a state that was stored without Σε;
- events with a δ of their own: both rules keep one and the same δ'' (`rule` says why the two parts add). With all of δ
  for the sum, its paths weigh δ and the others δ' besides;
- parts under "replace": see `discreet.ledger.parts`.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from ..measures import ApproxDP
from ..pricing.event_parts import Flattened
from ..pricing.pure import price_pure
from .options import FilterKind
from .rule import FilterTerms

Sum = Fraction | None
"""Σε of all events so far; None if it is more than ε, or not known: then it admits nothing any more."""


def adds_up(kind: FilterKind, terms: FilterTerms) -> bool:
    """Return whether a filter admits by the sum too: a tail under an (ε, δ) budget."""
    return isinstance(terms.budget, ApproxDP) and kind != "approximate"


@lru_cache(maxsize=1024)
def price_sum(parts: Flattened) -> Sum:
    """Return the ε of an event's parts, its leaks aside; None if some part is not ε-DP for any ε.

    >>> from discreet.privacy import KeySelection, GaussianNoise, LaplaceNoise
    >>> from discreet.privacy.filters.basic_composition import price_sum
    >>> from discreet.privacy.pricing.event_parts import flatten
    >>> price_sum(flatten(KeySelection(LaplaceNoise(2, 1), "1e-6"))), price_sum(flatten(GaussianNoise.of(1, 1)))
    (Fraction(1, 2), None)
    """
    return price_pure(parts.kept)


def sum_after(so_far: Sum, price: Sum, epsilon: Fraction) -> Sum:
    """Return Σε after an event; None once it is more than ε.

    >>> from fractions import Fraction
    >>> from discreet.privacy.filters.basic_composition import sum_after
    >>> half, one = Fraction(1, 2), Fraction(1)
    >>> sum_after(half, half, one), sum_after(half, one, one), sum_after(half, None, one)
    (Fraction(1, 1), None, None)
    """
    if so_far is None or price is None or so_far + price > epsilon:
        return None
    return so_far + price
