"""Basic composition: filters that add up ε and δ, and the sum of ε as a second rule of filters.

**Pure and approximate filters**: Σε ≤ ε, and Σδ ≤ δ. On every path the privacy loss of the
transcript is the sum of the losses of its steps. Each loss is at most the ε of that step. So
L ≤ Σε ≤ ε on every path, and the choices may depend on anything (Rogers, Roth, Ullman, Vadhan 2016,
the basic filter). With leaks, see `rule`: the tail is empty, so all of δ is for leaks.

**Σε beside a tail.** An event fits an (ε, δ) budget while all ε so far add up to at most ε.

The kinds `zcdp`, `renyi`, `gdp`, `residue` and `advanced` turn a whole (ε, δ) into one amount of
their own, such as ρ; δ pays for the tail of the privacy loss. That rule of the kind is called its
tail. One large pure question may exceed the amount, though it is ε-DP alone and keeps the promise.
So an event is admitted

    if the tail's amount is still enough for it, or if Σε ≤ ε after it, over *all* events so far.

**Proof.** Let L_n be the privacy loss after n answers and Φ_n the potential of the tail (`zcdp`,
`renyi`, `gdp` define it). It is a supermartingale while the tail pays, with Φ_0 ≤ δ' and
Φ_n ≥ (1 − e^(ε−L_n))₊. Let event τ be the first that the tail does not pay; τ is known before the
answer of that event. The tail is then **exhausted for good**, so from τ on the sum alone admits.
Stop anywhere, at N:

- N ≥ τ: the last event was admitted by the sum, which counts every event since the beginning, so
  L_N ≤ Σε ≤ ε on every path, and (1 − e^(ε−L_N))₊ = 0;
- N < τ: (1 − e^(ε−L_N))₊ ≤ Φ_N.

So E[(1 − e^(ε−L_N))₊] ≤ E[Φ_N; N < τ] ≤ E[Φ_(N∧(τ−1))] ≤ Φ_0 ≤ δ', by Φ ≥ 0 and optional stopping.
This is not "one of several rules passes": past τ one of the two potentials is 0 on every path.

**Limits of the rule.** A test refutes each extension of it:

- budgets in ρ, μ or Rényi promise a whole curve, and L ≤ ε bounds it at one point only: they have
  no such rule;
- an event without a pure ε (Gaussian noise) makes Σε infinite, for good; so does a state that was
  stored without Σε;
- events with a δ of their own: both rules keep one and the same δ'' (`rule` proves that the two
  parts add). With all of δ for the sum, its paths weigh δ and the others δ' besides;
- parts under "replace": see `discreet.ledger.parts`.

Law: tests/privacy/test_adversary.py::TestNoFilterIsBroken
Law: tests/privacy/test_filter_sums.py::TestTheAdversary
Law: tests/privacy/test_filter_sums.py::TestTheOverdraft
Law: tests/privacy/test_filter_sums.py::test_only_an_epsilon_delta_budget_adds_up
Proved: proofs/Admission.v::adds_up
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from ..measures import ApproxDP, PureDP
from ..pricing.event_parts import Flattened
from ..pricing.pure import price_pure
from .rule import Amounts, FilterTerms, Orders, Rule, add_boxes, add_up

if TYPE_CHECKING:
    from .options import FilterKind

Sum = Fraction | None
"""Σε of all events so far; None if it is more than ε or not known: it admits nothing any more."""


def adds_up(kind: FilterKind, terms: FilterTerms) -> bool:
    """Return whether a filter admits by the sum too: a tail under an (ε, δ) budget."""
    return isinstance(terms.budget, ApproxDP) and kind != "approximate"


@lru_cache(maxsize=1024)
def price_sum(parts: Flattened) -> Sum:
    """Return the sum of the ε of an event's parts, leaks left out; None if a part is not ε-DP.

    >>> from discreet.privacy import KeySelection, GaussianNoise, LaplaceNoise
    >>> from discreet.privacy.filters.basic_composition import price_sum
    >>> from discreet.privacy.pricing.event_parts import flatten
    >>> price_sum(flatten(KeySelection(LaplaceNoise(2, 1), "1e-6")))
    Fraction(1, 2)
    >>> print(price_sum(flatten(GaussianNoise.of(1, 1))))
    None
    """
    return price_pure(parts.kept)


def sum_after(so_far: Sum, price: Sum, epsilon: Fraction) -> Sum:
    """Return Σε after an event; None once it is more than ε or not known.

    >>> from fractions import Fraction
    >>> from discreet.privacy.filters.basic_composition import sum_after
    >>> half, one = Fraction(1, 2), Fraction(1)
    >>> sum_after(half, half, one), sum_after(half, one, one), sum_after(half, None, one)
    (Fraction(1, 1), None, None)
    """
    if so_far is None or price is None:
        return None
    total = so_far + price
    # Exact rationals: the sum may use ε up, and closes for good beyond it.
    if total > epsilon:
        return None
    return total


def _capacity(terms: FilterTerms) -> Amounts:
    return (terms.epsilon,)


def _pure_price(parts: Flattened, _left: Amounts, _orders: Orders) -> tuple[Amounts, Fraction]:
    works = "open an ApproxDP, ZCDP or GaussianDP budget, or ask with Laplace noise"
    return add_up(parts, price_pure, "a pure budget", works)


def _box_price(parts: Flattened, _left: Amounts, _orders: Orders) -> tuple[Amounts, Fraction]:
    return add_boxes(parts, 1, "(ε, δ) by basic composition")


def _pure_measure(amounts: Amounts, _leak: Fraction, _orders: Orders) -> PureDP:
    return PureDP(amounts[0])


def _box_measure(amounts: Amounts, leak: Fraction, _orders: Orders) -> ApproxDP:
    return ApproxDP(amounts[0], leak)


PURE = Rule((PureDP,), _capacity, _pure_price, _pure_measure)
APPROXIMATE = Rule((ApproxDP,), _capacity, _box_price, _box_measure)
