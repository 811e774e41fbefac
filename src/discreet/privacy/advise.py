"""What the numbers mean, in plain words: for the person who must choose them, and for the person they protect."""

from __future__ import annotations

import math
from fractions import Fraction

from ..arithmetic.rational import Number, whole
from ..arithmetic.rounding import shown, up
from ..errors import InvalidArgument
from ..frozen import frozen
from .compose import compose
from .convert import delta as delta_of
from .convert import epsilon as epsilon_of
from .curve import Curve, read_delta
from .events import Promise
from .explain.attack import Attack, attack, read_rate
from .measures import ApproxDP, Measure, PureDP, read_measure

NOT_PROMISED = (
    "that nothing is learned about a person from facts about everybody (smoking causes cancer, and you smoke)",
    "that a secret shared by a group larger than the unit is hidden",
    "that what the answers say is right, or fair",
    "anything about copies of the data outside, or about people who can see the data itself",
)
"""What differential privacy does not promise."""


@frozen
class Advice:
    """A word on δ for a data set of n units; `fine` is False where the promise may be empty."""

    fine: bool
    text: str

    def __str__(self) -> str:
        return self.text


def advise(delta: Number, n: int) -> Advice:
    """Judge a δ for n units: releasing one random record whole is (0, 1/n)-DP, so δ must be far below 1/n.

    >>> import discreet as dp
    >>> print(dp.advise(1e-6, 10_000))
    δ·n = 0.01: at most about one chance in 100 that anybody's record could be shown outright. Fine.
    >>> dp.advise(1e-4, 10_000).fine
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
        return Advice(
            False, f"δ·n = {shown(product)}: {chance}. Too much for comfort; take δ ≤ {better}."
        )
    return Advice(
        False,
        f"δ·n = {shown(product)}: publishing one random record whole would keep this promise. Take δ ≤ {better}.",
    )


@frozen
class Meaning:
    """What a promise means for one person: the most an attacker's odds, guesses and beliefs can move.

    `epsilon` and `delta` are the point of the curve that was read. The odds move by at most e^`loss`, up or down,
    except with probability at most `chance`. A δ is not that chance: for Gaussian noise of μ = 1 the odds move by more
    than e^ε five times as often as δ says, and of a bare (ε, δ) promise nothing is known there. So an (ε, δ) promise
    is read at twice the odds, which are passed at most about 2δ of the time.
    """

    measure: Measure
    epsilon: float
    delta: Fraction
    best: Attack
    loss: float
    chance: float

    @property
    def odds(self) -> float:
        """The factor by which the odds of any statement about a person may move."""
        return math.exp(self.loss) if self.loss < 700 else math.inf

    @property
    def advantage(self) -> float:
        """The most by which a guess can beat a coin, true positives minus false positives."""
        return delta_of(self.measure, 0)

    def posterior(self, prior: Number) -> tuple[float, float]:
        """Bound what an attacker may believe afterwards of something he held for likely with probability `prior`.

        Holds except with probability at most `chance`. For example 1 in 100 becomes at most 2.7 in 100 at ε = 1.

        >>> import discreet as dp
        >>> [round(p, 4) for p in dp.meaning(dp.PureDP(1)).posterior(0.01)]
        [0.0037, 0.0267]
        """
        p, shrunk = float(read_rate(prior, "prior")), math.exp(-self.loss)
        return p * shrunk / (p * shrunk + (1 - p)) if p < 1 else 1.0, p / (
            p + (1 - p) * shrunk
        ) if p else 0.0

    def __str__(self) -> str:
        low, high = (100 * p for p in self.posterior(Fraction(1, 2)))
        but = "" if self.chance == 0 else f", except with probability at most {shown(self.chance)}"
        return "\n".join(
            [
                f"{self.measure}: {_strength(self.epsilon)}.",
                f"The odds of anything about a person move by a factor of at most {shown(self.odds)}{but}.",
                f"A belief of 50 % stays between {shown(low, 3, upward=False)} % and {shown(high, 3)} %{but}.",
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
    """Return what a promise means; promises with a whole curve are read at a `delta`.

    >>> import discreet as dp
    >>> print(str(dp.meaning(dp.PureDP(1))).splitlines()[1])
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
                raise InvalidArgument(
                    f"{measure!r} has a whole curve; say at which delta to read it, such as 1e-6"
                )
            at = read_delta(delta)
            price = epsilon_of(measure, at)
    reach = (
        price + math.log(2) if at > 0 and (price == 0 or isinstance(measure, ApproxDP)) else price
    )
    lines = (
        [(e, delta_of(measure, Fraction(e))) for e in (price * i / 32 for i in range(33))]
        if price < 1e3
        else []
    )
    return Meaning(
        measure,
        price,
        at,
        attack(lines, 0.05),
        reach,
        passed(compose(Promise(measure)), reach) if at > 0 else 0.0,
    )


def passed(curve: Curve, loss: float) -> float:
    """Return a bound on the probability that the odds of something move by more than e^loss, up or down; rounded up.

    With B the outputs where p > e^loss·q and any ε < loss, δ(ε) ≥ P(B) − e^ε Q(B) ≥ P(B)(1 − e^(ε−loss)), so
    P(B) ≤ δ(ε)/(1 − e^(ε−loss)) for both neighbours; and what D makes e^loss times less likely than D' has, under D, at
    most e^−loss times that probability. Every ε gives a bound; the least of a grid is returned.

    >>> import discreet as dp
    >>> from discreet.privacy import Promise
    >>> from discreet.privacy.advise import passed
    >>> curve = dp.compose(Promise(dp.GaussianDP(1)))
    >>> 5.33e-5 < passed(curve, curve.epsilon(1e-5)) < 1.3e-4
    True
    """
    if loss == math.inf:
        return 0.0
    half = up(loss - math.log(2))  # the ε of an (ε, δ) promise read at twice the odds
    below = [
        0.0,
        *(loss * (1 - 2.0 ** (-i / 2)) for i in range(1, 24)),
        *([half] if half > 0 else []),
    ]
    bounds = (curve.delta(Fraction(e)) / -math.expm1(e - loss) for e in below if e < loss)
    return min(1.0, up(min(bounds, default=1.0) * (1 + math.exp(-loss))))
