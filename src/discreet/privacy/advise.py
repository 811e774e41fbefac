"""Interpretation of privacy parameters in plain language.

`advise` judges a δ for those who choose it; `meaning` bounds the attacker's odds, beliefs and
guesses (membership inference) for the people whom a promise protects.
"""

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
from .explain.attack import Attack, bound_attack, read_rate
from .measures import ApproxDP, Measure, PureDP, read_measure

NOT_PROMISED = (
    "that nothing is learned about a person from facts about everybody "
    "(smoking causes cancer, and you smoke)",
    "that a secret shared by a group larger than the unit is hidden",
    "that what the answers say is right, or fair",
    "anything about copies of the data outside, or about people who can see the data itself",
)
"""Statements that differential privacy does not promise."""

# A δ·n up to this is called fine.
_FINE_PRODUCT = Fraction(1, 100)
# Points of the curve at which the best attack is read, besides 0.
_CURVE_POINTS = 32
# Above this ε a curve is not read: no attack is bounded there.
_MAX_READ_EPSILON = 1e3
# Above this loss, e^loss would leave the floats (e^709 is the last).
_MAX_EXPONENT = 700
# Words for ε, with the largest ε of each; the last digit allows for rounding up.
_STRENGTHS = ((0.11, "very strong"), (1.01, "good"), (4.01, "moderate"), (10.01, "weak"))


@frozen
class Advice:
    """Advice on a δ for a data set of n units; `fine` is False where the promise may be empty."""

    fine: bool
    text: str

    def __str__(self) -> str:
        return self.text


def advise(delta: Number, n: int) -> Advice:
    """Judge a δ for n units.

    Releasing one random record whole is (0, 1/n)-DP, so δ must be far below 1/n.

    >>> import discreet as dp
    >>> print(dp.advise(1e-6, 10_000))
    δ·n = 0.01: at most about one chance in 100 that anybody's record could be shown outright. Fine.
    >>> dp.advise(1e-4, 10_000).fine
    False

    It advises; it never changes a δ.

    Refuses: InvalidArgument for δ outside [0, 1) and for n below 1.

    Law: tests/privacy/test_advise.py::test_delta_against_n
    """
    exact_delta = read_delta(delta)
    units = whole(n, "n", least=1)
    if exact_delta == 0:
        return Advice(True, "δ = 0: the promise is pure and holds without exception.")
    product = exact_delta * units
    # Rounded down: a more frequent chance is stated, never a rarer one.
    one_in = max(1, math.floor(1 / product))
    chance = f"at most about one chance in {one_in} that anybody's record could be shown outright"
    stated = f"δ·n = {shown(product)}"
    if product <= _FINE_PRODUCT:
        return Advice(True, f"{stated}: {chance}. Fine.")
    # A recommended δ is rounded down, so that it is fine itself.
    better = shown(_FINE_PRODUCT / units, 1, upward=False)
    if product < 1:
        return Advice(False, f"{stated}: {chance}. Too much for comfort; take δ ≤ {better}.")
    return Advice(
        False,
        f"{stated}: publishing one random record whole would keep this promise. Take δ ≤ {better}.",
    )


@frozen
class Meaning:
    """Bounds on how far a promise lets an attacker's odds, guesses and beliefs about a person move.

    `epsilon` and `delta` are the point of the curve that was read. The odds move by at most
    e^`loss`, up or down, except with probability at most `chance`. A δ is not that chance: for
    Gaussian noise of μ = 1 and δ = 1e-5 the odds move by more than e^ε with about 5δ. A bare
    (ε, δ) promise does not bound that probability. So it is read at twice the odds, 2e^ε, which are
    passed with probability at most (2 + e^−ε)δ. `best` is the best guess at 5 % false positives.

    Law: tests/laws/test_laws_of_prices.py::TestMeaning
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
        return math.exp(self.loss) if self.loss < _MAX_EXPONENT else math.inf

    @property
    def advantage(self) -> float:
        """Bound on true positives minus false positives: by how much a guess can beat a coin."""
        return delta_of(self.measure, 0)

    def posterior(self, prior: Number) -> tuple[float, float]:
        """Bound an attacker's belief after the answers, by Bayes' rule from the belief before.

        Holds except with probability at most `chance`. For example 1 in 100 becomes at most 2.7 in
        100 at ε = 1.

        >>> import discreet as dp
        >>> [round(p, 4) for p in dp.meaning(dp.PureDP(1)).posterior(0.01)]
        [0.0037, 0.0267]
        """
        p = float(read_rate(prior, "prior"))
        # e^−loss instead of e^loss, which may overflow.
        factor = math.exp(-self.loss)
        # Certainty stays certain; where the factor is 0 the quotients would be 0/0.
        low = p * factor / (p * factor + (1 - p)) if p < 1 else 1.0
        high = p / (p + (1 - p) * factor) if p else 0.0
        return low, high

    def __str__(self) -> str:
        low, high = self.posterior(Fraction(1, 2))
        # Both ends are displayed outward: an interval is never narrower than it is.
        low_text = shown(100 * low, 3, upward=False)
        high_text = shown(100 * high, 3)
        found = shown(100 * self.best.true_positive, 3)
        but = "" if self.chance == 0 else f", except with probability at most {shown(self.chance)}"
        lines = [
            f"{self.measure}: {_strength(self.epsilon)}.",
            "The odds of anything about a person move by a factor "
            f"of at most {shown(self.odds)}{but}.",
            f"A belief of 50 % stays between {low_text} % and {high_text} %{but}.",
            "An attacker who guesses who took part beats a coin "
            f"by at most {shown(self.advantage)}.",
            f"At 5 % false alarms he finds at most {found} % of those who did.",
            "Not promised: " + "; ".join(NOT_PROMISED) + ".",
        ]
        return "\n".join(lines)


def _strength(epsilon: float) -> str:
    for max_epsilon, word in _STRENGTHS:
        if epsilon <= max_epsilon:
            return word
    return "hardly a promise at all"


def meaning(measure: Measure, delta: Number | None = None) -> Meaning:
    """Return the bounds of a promise; promises with a whole curve are read at a `delta`.

    >>> import discreet as dp
    >>> print(str(dp.meaning(dp.PureDP(1))).splitlines()[1])
    The odds of anything about a person move by a factor of at most 2.719.

    Refuses: InvalidArgument for a zCDP, Gaussian or Rényi promise without a delta.

    Law: tests/privacy/test_advise.py::test_numbers_for_one_person
    """
    exact_delta, epsilon = _point(measure, delta)
    loss = epsilon
    # A bare (ε, δ) promise bounds nothing at e^ε itself, and ε = 0 no odds at all: read at twice.
    if exact_delta > 0 and (epsilon == 0 or isinstance(measure, ApproxDP)):
        loss = epsilon + math.log(2)
    chance = 0.0
    if exact_delta > 0:
        chance = passed(compose(Promise(measure)), loss)
    best = bound_attack(_curve_points(measure, epsilon), 0.05)
    return Meaning(measure, epsilon, exact_delta, best, loss, chance)


def _point(measure: Measure, delta: Number | None) -> tuple[Fraction, float]:
    """Return the δ at which a promise is read, and its ε there."""
    match read_measure(measure):
        case PureDP(epsilon=amount):
            return Fraction(), float(amount)
        case ApproxDP(epsilon=amount, delta=leak) if delta is None:
            return leak, float(amount)
    if delta is None:
        raise InvalidArgument(
            f"{measure!r} has a whole curve; say at which delta to read it, such as 1e-6"
        )
    exact_delta = read_delta(delta)
    return exact_delta, epsilon_of(measure, exact_delta)


def _curve_points(measure: Measure, epsilon: float) -> list[tuple[float, float]]:
    """List points (ε, δ) of the curve up to an ε; none where ε bounds no attack."""
    if not epsilon < _MAX_READ_EPSILON:
        return []
    points = list[tuple[float, float]]()
    for i in range(_CURVE_POINTS + 1):
        at = epsilon * i / _CURVE_POINTS
        points.append((at, delta_of(measure, Fraction(at))))
    return points


def passed(curve: Curve, loss: float) -> float:
    """Bound the probability that the odds of something move by more than e^loss; rounded up.

    Up or down. With B the outputs where p > e^loss·q and any ε < loss,
    δ(ε) ≥ P(B) − e^ε Q(B) ≥ P(B)(1 − e^(ε−loss)), so P(B) ≤ δ(ε)/(1 − e^(ε−loss)) for both
    neighbours. Outputs that D makes e^loss times less likely than D' have, under D, at most e^−loss
    times that probability. Every ε gives a bound; the least of a grid is returned.

    >>> import discreet as dp
    >>> from discreet.privacy import Promise
    >>> from discreet.privacy.advise import passed
    >>> curve = dp.compose(Promise(dp.GaussianDP(1)))
    >>> 5.33e-5 < passed(curve, curve.epsilon(1e-5)) < 1.3e-4
    True

    Law: tests/laws/test_laws_of_prices.py::TestMeaning
    """
    if loss == math.inf:
        return 0.0
    # A grid that is dense near `loss`, where the best ε usually is.
    grid = [0.0]
    grid.extend(loss * (1 - 2.0 ** (-i / 2)) for i in range(1, 24))
    # The ε of an (ε, δ) promise that is read at twice the odds.
    half = up(loss - math.log(2))
    if half > 0:
        grid.append(half)
    least = 1.0
    # At loss = 0 no ε is below it, and the bound is 1.
    for epsilon in (at for at in grid if at < loss):
        bound = curve.delta(Fraction(epsilon)) / -math.expm1(epsilon - loss)
        least = min(least, bound)
    # Rounded up: the event is never stated as rarer than it is.
    return min(1.0, up(least * (1 + math.exp(-loss))))
