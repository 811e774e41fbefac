"""What trust is worth: the error of one question when nobody, only a shuffler, or a curator is trusted."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

from ..arithmetic.rational import Number as Amount
from ..arithmetic.rational import rational, whole
from ..errors import InvalidArgument
from ..frozen import frozen
from ..mechanisms import Gaussian, Laplace
from ..privacy.events import Shuffled
from ..privacy.measures import ApproxDP, Measure, PureDP
from ..privacy.neighbours import REPLACE
from ..privacy.pairs.shuffled import shuffled_delta, shuffled_pair
from ..show.table import html_table
from .choice import Choice
from .number import Number
from .shuffle import shuffle_choice

_STEPS = 12  # halvings in the search for the ε of a shuffled report
_LARGEST = 16.0
_ROOT_TWO = Fraction(14142135624, 10**10)  # above √2


@frozen
class FrequencyQuestion:
    """How frequent each of `options` answers is."""

    options: int = 2


@frozen
class MeanQuestion:
    """The mean of a number between public bounds."""

    low: Amount
    high: Amount


TrustQuestion: TypeAlias = FrequencyQuestion | MeanQuestion
_HEAD = ("model", "trusted", "ε of a report", "standard error")


@frozen
class Trust:
    """A row for each model: who is trusted, the ε of what leaves the device, the standard error."""

    question: TrustQuestion
    n: int
    rows: tuple[tuple[str, str, float, float], ...]

    def __getitem__(self, model: str) -> float:
        return next(error for name, _, _, error in self.rows if name == model)

    def _cells(self) -> list[tuple[str, str, str, str]]:
        return [(model, who, f"{e:.4g}", f"{error:.4g}") for model, who, e, error in self.rows]

    def __str__(self) -> str:
        lines = [f"{a:<10}{b:<14}{c:>14}{d:>16}" for a, b, c, d in [_HEAD, *self._cells()]]
        return "\n".join(
            [*lines, f"{self.n} people; {self.question}; without the error of who was asked"]
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(_HEAD, self._cells())


def compare_trust(question: TrustQuestion, spend: Measure, n: int) -> Trust:
    """Compare the local, the shuffled and the central model for one question, one budget and n people.

    Neighbours: one person's value is replaced, n is public. Local: the best report at ε. Shuffled: the largest ε of a
    report that the shuffler hides enough for (ε, δ), by the mechanism's own price. Central: the better of Laplace
    and Gaussian noise, or what the shuffler does, where that is better: a curator could shuffle too. A frequency's
    error is that of one rare option; a mean's the worst.

    >>> import discreet as dp
    >>> from discreet.local import FrequencyQuestion
    >>> from discreet.privacy import ApproxDP
    >>> table = dp.compare_trust(FrequencyQuestion(2), ApproxDP(1, 1e-6), n=1000)
    >>> table["central"] < table["shuffled"] < table["local"]
    True

    Refuses measures other than PureDP and ApproxDP; with δ = 0 a shuffler hides nothing that is known of.
    """
    people = whole(n, "n", least=2)
    if not isinstance(question, FrequencyQuestion | MeanQuestion):
        raise InvalidArgument(
            "the question must be FrequencyQuestion(options) or MeanQuestion(low, high)"
        )
    if not isinstance(spend, PureDP | ApproxDP) or spend.epsilon == 0:
        raise InvalidArgument("trust is compared under PureDP(ε) or ApproxDP(ε, δ) with ε > 0")
    delta = spend.delta if isinstance(spend, ApproxDP) else Fraction(0)
    epsilon = spend.epsilon
    hidden = (
        _hidden(question, epsilon, delta, people)
        if delta
        else (float(epsilon), _local(question, epsilon, people))
    )
    local = "local", "nobody", float(epsilon), _local(question, epsilon, people)
    central = "central", "the curator", math.inf, min(hidden[1], _central(question, spend, people))
    return Trust(question, people, (local, ("shuffled", "a shuffler", *hidden), central))


def _local(question: TrustQuestion, epsilon: Fraction, n: int, member: str | None = None) -> float:
    if isinstance(question, MeanQuestion):
        return math.sqrt(Number(question.low, question.high, PureDP(epsilon)).variance(n=n))
    return math.sqrt(
        Choice(question.options, PureDP(epsilon), member=member).variance(n=n, frequency=0.0)
    )


def _hidden(
    question: TrustQuestion, epsilon: Fraction, delta: Fraction, n: int
) -> tuple[float, float]:
    """Return the best ε of a shuffled report and its error: k-ary response hides best, others tell more per report."""
    if isinstance(question, MeanQuestion):
        local = _largest(epsilon, delta, lambda e: Shuffled(e, n))
        return float(local), _local(question, min(local, Fraction(10)), n)
    members = (
        ("direct",) if question.options == 2 else ("direct", None)
    )  # of two options direct response is the best
    return min(
        (_member(question, epsilon, delta, n, member) for member in members),
        key=lambda pair: pair[1],
    )


def _member(
    question: FrequencyQuestion, epsilon: Fraction, delta: Fraction, n: int, member: str | None
) -> tuple[float, float]:
    local = _largest(epsilon, delta, lambda e: _event(question.options, e, n, member))
    return float(local), _local(question, local, n, member)


def _event(options: int, epsilon: Fraction, n: int, member: str | None) -> Shuffled:
    return shuffle_choice(
        Choice(options, PureDP(epsilon), member=member).taken.facts, epsilon, n
    ).event


def _largest(epsilon: Fraction, delta: Fraction, event: Callable[[Fraction], Shuffled]) -> Fraction:
    """Search for the largest ε of a report with which the shuffled ones keep (ε, δ); ε itself always does.

    By what about holds; then down, a step at a time, to what the price itself says.
    """
    low, high = float(epsilon), max(_LARGEST, float(epsilon))
    step = (high - low) / 2**_STEPS
    for _ in range(_STEPS):
        middle = (low + high) / 2
        kept = shuffled_delta(event(_short(middle)), float(epsilon)) <= delta
        low, high = (middle, high) if kept else (low, middle)
    while low > epsilon and shuffled_pair(event(_short(low))).delta(float(epsilon)) > delta:
        low -= step
    return _short(low) if low > epsilon else epsilon


def _short(epsilon: float) -> Fraction:
    return rational(round(epsilon, 6), "epsilon")


def _central(question: TrustQuestion, spend: PureDP | ApproxDP, n: int) -> float:
    """Return the error of the better noise on exact totals: Laplace at ε, or Gaussian at (ε, δ).

    Replacing one value moves a sum by the range, one of two counts by 1, and two of several counts by 1 each.
    """
    if isinstance(question, MeanQuestion):
        first = second = rational(question.high, "high") - rational(question.low, "low")
    else:
        first, second = (
            (Fraction(1), Fraction(1)) if question.options == 2 else (Fraction(2), _ROOT_TWO)
        )
    variances = [
        Laplace.spending(PureDP(spend.epsilon), sensitivity=first, neighbours=REPLACE).variance
    ]
    if isinstance(spend, ApproxDP) and spend.delta:
        variances.append(Gaussian.spending(spend, sensitivity=second, neighbours=REPLACE).variance)
    return math.sqrt(min(variances)) / n
