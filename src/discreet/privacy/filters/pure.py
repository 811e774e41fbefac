"""Pure and approximate filters, by basic composition: Σε ≤ ε, and Σδ ≤ δ.

**Proof.** On every path the privacy loss of the transcript is the sum of the losses of its steps.
Each loss is at most the ε of that step. So L ≤ Σε ≤ ε on every path, and the choices may
depend on anything (Rogers, Roth, Ullman, Vadhan 2016, the basic filter). With leaks, see `rule`:
the tail is empty, so all of δ is for leaks.

Law: tests/privacy/test_adversary.py::TestNoFilterIsBroken
"""

from __future__ import annotations

from fractions import Fraction

from ..measures import ApproxDP, PureDP
from ..pricing.boxes import atom_box
from ..pricing.event_parts import Flattened
from ..pricing.pure import price_pure
from .rule import Amounts, FilterTerms, Orders, Rule, unpriced


def _capacity(terms: FilterTerms) -> Amounts:
    return (terms.epsilon,)


def _pure_price(parts: Flattened, _left: Amounts, _orders: Orders) -> tuple[Amounts, Fraction]:
    total = Fraction()
    for atom, times in parts.atoms:
        epsilon = price_pure(atom)
        if epsilon is None:
            works = "open an ApproxDP, ZCDP or GaussianDP budget, or ask with Laplace noise"
            raise unpriced(atom, "a pure budget", works)
        total += times * epsilon
    return (total,), parts.leak_sum


def _box_price(parts: Flattened, _left: Amounts, _orders: Orders) -> tuple[Amounts, Fraction]:
    total = Fraction()
    leak = parts.leak_sum
    for atom, times in parts.atoms:
        box = atom_box(atom)
        if box is None:
            works = (
                "open the filter with kind='residue' or 'zcdp', "
                "or state one point of its curve as a Promise"
            )
            raise unpriced(atom, "(ε, δ) by basic composition", works)
        epsilon, delta = box
        total += times * epsilon
        leak += times * delta
    return (total,), leak


def _pure_measure(amounts: Amounts, _leak: Fraction, _orders: Orders) -> PureDP:
    return PureDP(amounts[0])


def _box_measure(amounts: Amounts, leak: Fraction, _orders: Orders) -> ApproxDP:
    return ApproxDP(amounts[0], leak)


PURE = Rule((PureDP,), _capacity, _pure_price, _pure_measure)
APPROXIMATE = Rule((ApproxDP,), _capacity, _box_price, _box_measure)
