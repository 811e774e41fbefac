"""What a shuffler adds: reports without senders cost each person less, the more the more people send."""

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
from ..privacy.pairs.atoms import Atoms
from ..privacy.pairs.shuffled import lower_binary, lower_pair
from .designs.design import Facts


@frozen
class Below:
    """What shuffled reports cost at least: nobody can prove less."""

    pair: Callable[[], Atoms]

    def epsilon(self, delta: Number) -> float:
        """Return an ε that δ does not suffice for below it."""
        wanted, made = float(rational(delta, "delta")), self.pair()
        if made.lower_delta(0.0) <= wanted:
            return 0.0
        return crossing(
            lambda e: made.lower_delta(e) - wanted, 0.0, float(made.losses[-1]), relative=1e-9
        )[0]

    def delta(self, epsilon: Number) -> float:
        """Return a δ below the true one at this ε."""
        return self.pair().lower_delta(float(rational(epsilon, "epsilon")))


@frozen
class Shuffle:
    """The price of one report among those of at least n people, once a shuffler has taken the senders off.

    Neighbours: one person's value is replaced. n counts honest reports, a public lower bound: a server that collects
    fewer has paid more. `event` goes into `compose` with everything else.

    >>> from discreet.local import Choice
    >>> from discreet.privacy import PureDP
    >>> price = Choice(10, PureDP(1), member="direct").shuffled(10_000)
    >>> round(price.lower.epsilon(delta=1e-6), 4), round(price.epsilon(delta=1e-6), 4)
    (0.0232, 0.0233)
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
    """Price shuffled reports of which only ε is known, by clones; from below nothing is known."""
    return Shuffle(Shuffled(epsilon, whole(n, "n", least=1)), Below(_nothing))


def shuffle_choice(facts: Facts, epsilon: Fraction, n: int) -> Shuffle:
    """Price shuffled reports of a two-level mechanism by its own sizes, in ratios where the sizes are vast."""
    people = whole(n, "n", least=1)
    own, both = Fraction(facts.inside, facts.outputs), Fraction(facts.shared, facts.outputs)
    common = math.lcm(own.denominator, both.denominator)
    event = Shuffled(epsilon, people, common, int(own * common), int(both * common))
    return Shuffle(event, Below(lambda: _below(facts, epsilon, people)))


def _below(facts: Facts, epsilon: Fraction, n: int) -> Atoms:
    """Let everybody else have a third option, one that shares as little as possible with where the two differ.

    Points 0, 1, 2 of a geometry lie on a line and rows 1, 2, 3 of Hadamard's matrix add up to 0: where a report is in
    S_0 but not in S_1 it is not in S_2. Nor for k-ary response. Subsets with 0 and 2 but not 1 are C(d−3, k−2).
    """
    if facts.options == 2:
        return lower_binary(epsilon, n) if facts.member == "direct" else _nothing()
    e = math.exp(float(epsilon))
    share, apart = facts.inside / facts.outputs, (facts.inside - facts.shared) / facts.outputs
    blanket = 1 / (1 + share * (e - 1))
    third = apart * (facts.inside / facts.outputs * facts.options - 1) / (facts.options - 2)
    noise = apart + (e - 1) * (third if facts.member == "subset" else 0.0)
    return lower_pair(epsilon, n, blanket * apart * (e + 1), blanket * noise)


def _nothing() -> Atoms:
    return lower_pair(Fraction(1), 1, 0.0, 0.0)
