"""Pure and approximate filters: Σε ≤ ε, and Σδ ≤ δ.

**Why sound.** Whatever the answers were, the loss of the transcript is the sum of the losses of its steps, and each
is at most the ε of that step: L ≤ Σε ≤ ε on every path, so the choices may depend on anything (Rogers, Roth, Ullman,
Vadhan 2016, the basic filter). With leaks, see `filter_rule`: the tail is empty, so all of δ is for
leaks.
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


def _pure(parts: Flattened, _left: Amounts, _orders: Orders) -> tuple[Amounts, Fraction]:
    total = Fraction()
    for atom, times in parts.atoms:
        each = price_pure(atom)
        if each is None:
            works = "open an ApproxDP, ZCDP or GaussianDP budget, or ask with Laplace noise"
            raise unpriced(atom, "a pure budget", works)
        total += times * each
    return (total,), parts.leak_sum


def _approximate(parts: Flattened, _left: Amounts, _orders: Orders) -> tuple[Amounts, Fraction]:
    total, leak = Fraction(), parts.leak_sum
    for atom, times in parts.atoms:
        box = atom_box(atom)
        if box is None:
            works = "open the filter with kind='residue' or 'zcdp', or state one point of its curve as a Promise"
            raise unpriced(atom, "(ε, δ) by basic composition", works)
        total, leak = total + times * box[0], leak + times * box[1]
    return (total,), leak


PURE = Rule((PureDP,), _capacity, _pure, lambda amounts, _leak, _orders: PureDP(amounts[0]))
APPROXIMATE = Rule(
    (ApproxDP,), _capacity, _approximate, lambda amounts, leak, _orders: ApproxDP(amounts[0], leak)
)
