"""What the numbers mean, in plain words: for the person who must choose them, and for the person they protect."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from ...arithmetic.rational import Number, whole
from ...arithmetic.rounding import shown
from ...errors import InvalidArgument
from ..convert import delta as delta_of
from ..convert import epsilon as epsilon_of
from ..curve import read_delta
from ..measures import ApproxDP, Measure, PureDP, read_measure
from .attack import Attack, attack, read_rate

__all__ = ["NOT_PROMISED", "Advice", "Meaning", "advise", "meaning"]

NOT_PROMISED = (
    "that nothing is learned about a person from facts about everybody (smoking causes cancer, and you smoke)",
    "that a secret shared by a group larger than the unit is hidden",
    "that what the answers say is right, or fair",
    "anything about copies of the data outside, or about people who can see the data itself",
)
"""What differential privacy does not promise."""


@dataclass(frozen=True, slots=True)
class Advice:
    """A word on δ for a data set of n units; `fine` is False where the promise may be empty."""

    fine: bool
    text: str

    def __str__(self) -> str:
        return self.text


def advise(delta: Number, n: int) -> Advice:
    """Judge a δ for n units: releasing one random record whole is (0, 1/n)-DP, so δ must be far below 1/n.

    >>> print(advise(1e-6, 10_000))
    δ·n = 0.01: at most about one chance in 100 that anybody's record could be shown outright. Fine.
    >>> advise(1e-4, 10_000).fine
    False

    Refuses δ outside [0, 1) and n below 1. It advises; it never changes a δ.
    """
    exact, units = read_delta(delta), whole(n, "n", least=1)
    product = exact * units
    if exact == 0:
        return Advice(True, "δ = 0: the promise is pure and holds without exception.")
    once = max(1, math.floor(1 / product))
    chance = f"at most about one chance in {once} that anybody's record could be shown outright"
    if product <= Fraction(1, 100):
        return Advice(True, f"δ·n = {shown(product)}: {chance}. Fine.")
    better = shown(Fraction(1, 100 * units), 1, upward=False)
    if product < 1:
        return Advice(False, f"δ·n = {shown(product)}: {chance}. Too much for comfort; take δ ≤ {better}.")
    return Advice(
        False,
        f"δ·n = {shown(product)}: publishing one random record whole would keep this promise. Take δ ≤ {better}.",
    )


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a promise means for one person: the most an attacker's odds, guesses and beliefs can move."""

    measure: Measure
    epsilon: float
    delta: Fraction
    best: Attack

    @property
    def odds(self) -> float:
        """The factor by which the odds of any statement about a person may move."""
        return math.exp(self.epsilon)

    @property
    def advantage(self) -> float:
        """The most by which a guess can beat a coin, true positives minus false positives."""
        return delta_of(self.measure, 0)

    def posterior(self, prior: Number) -> tuple[float, float]:
        """Bound what an attacker may believe afterwards of something he held for likely with probability `prior`.

        Holds except with probability δ. For example 1 in 100 becomes at most 2.7 in 100 at ε = 1.

        >>> [round(p, 4) for p in meaning(PureDP(1)).posterior(0.01)]
        [0.0037, 0.0267]
        """
        p = float(read_rate(prior, "prior"))
        grown = self.odds
        return p / (p + (1 - p) * grown), p * grown / (1 - p + p * grown)

    def __str__(self) -> str:
        low, high = self.posterior(Fraction(1, 2))
        but = "" if self.delta == 0 else f", but for a chance of {shown(self.delta)}"
        return "\n".join(
            [
                f"{self.measure}: {_strength(self.epsilon)}.",
                f"The odds of anything about a person move by a factor of at most {shown(self.odds)}{but}.",
                f"A belief of 50 % stays between {shown(100 * low, 3, upward=False)} % and {shown(100 * high, 3)} %.",
                f"An attacker who guesses who took part beats a coin by at most {shown(self.advantage)}.",
                f"At 5 % false alarms he finds at most {shown(100 * self.best.true_positive, 3)} % of those who did.",
                "Not promised: " + "; ".join(NOT_PROMISED) + ".",
            ]
        )


def _strength(epsilon: float) -> str:
    for limit, word in ((0.11, "very strong"), (1.01, "good"), (4.01, "moderate"), (10.01, "weak")):
        if epsilon <= limit:
            return word
    return "hardly a promise at all"


def meaning(measure: Measure, delta: Number | None = None) -> Meaning:
    """Say what a promise means; promises with a whole curve are read at a `delta`.

    >>> print(str(meaning(PureDP(1))).splitlines()[1])
    The odds of anything about a person move by a factor of at most 2.719.

    Refuses a zCDP, Gaussian or Rényi promise without a delta.
    """
    match read_measure(measure):
        case PureDP(epsilon=amount):
            at, price = Fraction(), float(amount)
        case ApproxDP(epsilon=amount, delta=leak) if delta is None:
            at, price = leak, float(amount)
        case _:
            if delta is None:
                raise InvalidArgument(f"{measure!r} has a whole curve; say at which delta to read it, such as 1e-6")
            at = read_delta(delta)
            price = epsilon_of(measure, at)
    lines = [(e, delta_of(measure, Fraction(e))) for e in (price * i / 32 for i in range(33))] if price < 1e3 else []
    return Meaning(measure, price, at, attack(lines, 0.05))
