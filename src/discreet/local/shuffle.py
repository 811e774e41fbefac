"""Privacy amplification by shuffling: reports without senders cost each person less.

The more people send, the less a report costs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from ..arithmetic.rational import Number, rational, whole
from ..arithmetic.root_finder import crossing
from ..frozen import frozen
from ..privacy.compose import compose
from ..privacy.curve import Curve
from ..privacy.events import Shuffled
from ..privacy.loss.atoms import Atoms
from ..privacy.measures import ApproxDP
from ..privacy.shuffling.pair import (
    lower_binary_pair,
    lower_two_level_pair,
    shuffled_delta,
    shuffled_pair,
    two_level_shares,
)
from .designs.design import DesignSizes

# Halvings in the search for the ε of a shuffled report.
_HALVINGS = 12
# Largest ε of a shuffled report that is searched; a report is then nearly the truth.
_MAX_EPSILON = 16.0


@frozen
class Below:
    """Lower bound on the price of shuffled reports: no proof can show a lower price."""

    pair: Callable[[], Atoms]

    def epsilon(self, delta: Number) -> float:
        """Return a lower bound of the ε that holds at this δ."""
        wanted = float(rational(delta, "delta"))
        pair = self.pair()
        if pair.lower_delta(0.0) <= wanted:
            return 0.0
        max_loss = float(pair.losses[-1])

        def excess(epsilon: float) -> float:
            return pair.lower_delta(epsilon) - wanted

        # The lower end of the bracket: a lower bound must not be rounded up.
        return crossing(excess, 0.0, max_loss, relative=1e-9)[0]

    def delta(self, epsilon: Number) -> float:
        """Return a lower bound of the δ that holds at this ε."""
        return self.pair().lower_delta(float(rational(epsilon, "epsilon")))


@frozen
class Shuffle:
    """Price of one report among those of at least n people, once a shuffler removed the senders.

    Neighbours: one person's value is replaced. n is a public lower bound on the honest reports: if
    a server collects fewer, each costs more. `event` goes into `compose` with everything else.

    >>> from discreet.local import Choice
    >>> from discreet.privacy import PureDP
    >>> price = Choice(10, PureDP(1), member="direct").shuffled(10_000)
    >>> round(price.lower.epsilon(delta=1e-6), 4), round(price.epsilon(delta=1e-6), 4)
    (0.0232, 0.0233)

    Guarantee: `epsilon` and `delta` are upper bounds, `lower` is a lower bound of the true price.
    Law: `tests/local/test_shuffle.py::TestNeverBelowTheTruth`
    """

    event: Shuffled
    lower: Below

    @property
    def curve(self) -> Curve:
        """The whole privacy curve, an upper bound."""
        return compose(self.event)

    def epsilon(self, *, delta: Number) -> float:
        """Return the ε that holds at this δ, rounded up."""
        return self.curve.epsilon(delta=delta)

    def delta(self, *, epsilon: Number) -> float:
        """Return the δ that holds at this ε, rounded up."""
        return self.curve.delta(epsilon=epsilon)


def shuffle_pure(epsilon: Fraction, n: int) -> Shuffle:
    """Price shuffled reports of which only ε is known, without a lower bound.

    The price is that of clones: every other report is, with a known chance, drawn as if its sender
    held one of the two values of the protected person that are compared.
    """
    people = whole(n, "n", least=1)
    return Shuffle(Shuffled(epsilon, people), Below(_no_lower_bound))


def shuffle_choice(facts: DesignSizes, epsilon: Fraction, n: int) -> Shuffle:
    """Price shuffled reports of a two-level mechanism by its own sizes.

    The sizes are reduced to ratios, since they may have thousands of digits.
    """
    people = whole(n, "n", least=1)
    inside = Fraction(facts.inside, facts.outputs)
    shared = Fraction(facts.shared, facts.outputs)
    outputs = math.lcm(inside.denominator, shared.denominator)
    reduced_inside = int(inside * outputs)
    reduced_shared = int(shared * outputs)
    event = Shuffled(epsilon, people, outputs, reduced_inside, reduced_shared)

    def lower_bound() -> Atoms:
        return _lower_bound(facts, epsilon, people)

    return Shuffle(event, Below(lower_bound))


def shuffled_loss(facts: DesignSizes, epsilon: Fraction) -> float:
    """Return about n times the mean square of the privacy loss of n shuffled reports, for many n.

    In the pair of two levels (`privacy.shuffling.pair`) the loss is ln((N + ka)/(N + kb)) with
    k = e^ε − 1, N near γn, and a and b near hN: its variance is 2hk²/(N(1 + kh)²). It serves to
    compare members and is no price.

    >>> from discreet.local.designs.direct import direct_facts
    >>> from discreet.local.shuffle import shuffled_loss
    >>> from fractions import Fraction
    >>> round(shuffled_loss(direct_facts(10), Fraction(1)), 2)
    0.5
    """
    # Beyond ε = 50 nothing is hidden, and e^ε would leave the floats.
    k = math.expm1(min(float(epsilon), 50.0))
    blanket, apart = two_level_shares(facts.outputs, facts.inside, facts.shared, 1 + k)
    return 2 * apart * k**2 / (blanket * (1 + k * apart) ** 2)


def largest_report_epsilon(spend: ApproxDP, event: Callable[[Fraction], Shuffled]) -> Fraction:
    """Return about the largest ε of a report for which shuffled reports keep the (ε, δ) of `spend`.

    `event` returns the event of shuffled reports at an ε of one report. The search bisects with a
    fast estimate of δ, then goes down, a step at a time, until the proven price fits. The result is
    at least the ε of `spend`, which fits without a shuffler, and at most the larger of it and 16.
    """
    epsilon = spend.epsilon
    low = float(epsilon)
    high = max(_MAX_EPSILON, low)
    step = (high - low) / 2**_HALVINGS
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if shuffled_delta(event(_short(middle)), float(epsilon)) <= spend.delta:
            low = middle
        else:
            high = middle
    # The estimate promises nothing: only the pair's own δ, an upper bound, decides.
    while low > epsilon and _exceeds(event(_short(low)), spend):
        low -= step
    return _short(low) if low > epsilon else epsilon


def _exceeds(event: Shuffled, spend: ApproxDP) -> bool:
    return shuffled_pair(event).delta(float(spend.epsilon)) > spend.delta


def _short(epsilon: float) -> Fraction:
    """Round ε to six digits, so that rationals stay short."""
    return rational(round(epsilon, 6), "epsilon")


def _lower_bound(facts: DesignSizes, epsilon: Fraction, n: int) -> Atoms:
    """Bound the price from below by one data set: everybody else holds a third option.

    The third option shares as little as possible with the outputs where the two options differ.
    Points 0, 1, 2 of a geometry are collinear, and rows 1, 2, 3 of Hadamard's matrix add up to 0:
    a report in S_0 but not in S_1 is not in S_2. The same holds for k-ary response. Subsets with 0
    and 2 but not 1 are C(d−3, k−2).
    """
    if facts.options == 2:
        # There is no third option; binary response has a lower bound of its own.
        return lower_binary_pair(epsilon, n) if facts.member == "direct" else _no_lower_bound()
    growth = math.exp(float(epsilon))
    blanket, not_shared = two_level_shares(facts.outputs, facts.inside, facts.shared, growth)
    noise = not_shared
    if facts.member == "subset":
        others_named = facts.inside / facts.outputs * facts.options - 1
        third = not_shared * others_named / (facts.options - 2)
        noise = not_shared + (growth - 1) * third
    differing = blanket * not_shared * (growth + 1)
    return lower_two_level_pair(epsilon, n, differing, blanket * noise)


def _no_lower_bound() -> Atoms:
    """Return a pair that is never told apart: its price is 0."""
    return lower_two_level_pair(Fraction(1), 1, 0.0, 0.0)
