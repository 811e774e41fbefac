"""Value of trust: the error of one question in the local, the shuffled and the central model.

In the local model every device randomizes its answer; in the shuffled model somebody removes the
senders from the reports; in the central model a curator adds noise to exact totals.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TypeAlias

from ..arithmetic.rational import Number as Amount
from ..arithmetic.rational import rational, whole
from ..errors import InvalidArgument
from ..frozen import frozen
from ..mechanisms import Gaussian, Laplace
from ..privacy.events import Shuffled
from ..privacy.measures import REPLACE, ApproxDP, Measure, PureDP
from ..show.table import html_table
from .choice import Choice
from .number import Number
from .shuffle import largest_report_epsilon

# A rational above √2: a sensitivity is never rounded down.
_ROOT_TWO = Fraction(14142135624, 10**10)


@frozen
class FrequencyQuestion:
    """Question for the frequency of each of `options` answers."""

    options: int = 2


@frozen
class MeanQuestion:
    """Question for the mean of a number between public bounds."""

    low: Amount
    high: Amount


TrustQuestion: TypeAlias = FrequencyQuestion | MeanQuestion
_HEAD = ("model", "trusted", "ε of a report", "standard error")


@frozen
class Trust:
    """Table with a row for each model: the trusted party, the ε of a report, the standard error."""

    question: TrustQuestion
    n: int
    rows: tuple[tuple[str, str, float, float], ...]

    def __getitem__(self, model: str) -> float:
        return next(error for name, _, _, error in self.rows if name == model)

    def _cells(self) -> list[tuple[str, str, str, str]]:
        cells = []
        for model, trusted, epsilon, error in self.rows:
            cells.append((model, trusted, f"{epsilon:.4g}", f"{error:.4g}"))
        return cells

    def __str__(self) -> str:
        lines = []
        for model, trusted, epsilon, error in [_HEAD, *self._cells()]:
            lines.append(f"{model:<10}{trusted:<14}{epsilon:>14}{error:>16}")
        lines.append(f"{self.n} people; {self.question}; without the error of who was asked")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(_HEAD, self._cells())


def compare_trust(question: TrustQuestion, spend: Measure, n: int) -> Trust:
    """Compare the local, the shuffled and the central model for one question and n people.

    Neighbours: one person's value is replaced, n is public. A frequency's error is that of an
    option which nobody holds; a mean's error is the largest for any values.

    local      the best report at ε
    shuffled   the report with the largest ε that the shuffler hides enough for (ε, δ), by the
               mechanism's own price
    central    exact totals with the better of Laplace and Gaussian noise, or the shuffled error
               where that is smaller

    A curator could shuffle too, hence the last case.

    >>> import discreet as dp
    >>> from discreet.local import FrequencyQuestion
    >>> from discreet.privacy import ApproxDP
    >>> table = dp.compare_trust(FrequencyQuestion(2), ApproxDP(1, 1e-6), n=1000)
    >>> table["central"] < table["shuffled"] < table["local"]
    True

    Refuses: `InvalidArgument` for measures other than PureDP and ApproxDP. With δ = 0 no benefit
    of a shuffler is known, so the shuffled model is the local one.
    Law: `tests/local/test_room.py::TestTrust`
    """
    people = whole(n, "n", least=2)
    if not isinstance(question, FrequencyQuestion | MeanQuestion):
        raise InvalidArgument(
            "the question must be FrequencyQuestion(options) or MeanQuestion(low, high)"
        )
    if not isinstance(spend, PureDP | ApproxDP) or spend.epsilon == 0:
        raise InvalidArgument("trust is compared under PureDP(ε) or ApproxDP(ε, δ) with ε > 0")
    epsilon = spend.epsilon
    local_error = _local_error(question, epsilon, people)
    report_epsilon = float(epsilon)
    shuffled_error = local_error
    if isinstance(spend, ApproxDP) and spend.delta:
        report_epsilon, shuffled_error = _shuffled(question, spend, people)
    central_error = min(shuffled_error, _central_error(question, spend, people))
    local = ("local", "nobody", float(epsilon), local_error)
    shuffled = ("shuffled", "a shuffler", report_epsilon, shuffled_error)
    central = ("central", "the curator", math.inf, central_error)
    return Trust(question, people, (local, shuffled, central))


def _local_error(question: TrustQuestion, epsilon: Fraction, n: int) -> float:
    """Return the standard error of n reports at this ε."""
    if isinstance(question, MeanQuestion):
        number = Number(question.low, question.high, PureDP(epsilon))
        return math.sqrt(number.variance(n=n))
    choice = Choice(question.options, PureDP(epsilon))
    return math.sqrt(choice.variance(n=n, frequency=0.0))


def _shuffled(question: TrustQuestion, spend: ApproxDP, n: int) -> tuple[float, float]:
    """Return the best ε of a shuffled report and its standard error."""
    if isinstance(question, MeanQuestion):
        local = largest_report_epsilon(spend, lambda e: Shuffled(e, n))
        # Beyond ε = 10 the tables of a mean no longer improve.
        return float(local), _local_error(question, min(local, Fraction(10)), n)
    choice = Choice(question.options, spend, shuffled=n)
    return float(choice.epsilon), math.sqrt(choice.variance(n=n, frequency=0.0))


def _central_error(question: TrustQuestion, spend: PureDP | ApproxDP, n: int) -> float:
    """Return the error of the better noise on exact totals: Laplace at ε, or Gaussian at (ε, δ).

    Replacing one value moves a sum by the range, one of two counts by 1, and two of several counts
    by 1 each.
    """
    if isinstance(question, MeanQuestion):
        l1 = rational(question.high, "high") - rational(question.low, "low")
        l2 = l1
    elif question.options == 2:
        l1 = Fraction(1)
        l2 = Fraction(1)
    else:
        l1 = Fraction(2)
        l2 = _ROOT_TWO
    laplace = Laplace.spending(PureDP(spend.epsilon), sensitivity=l1, neighbours=REPLACE)
    variance = laplace.variance
    if isinstance(spend, ApproxDP) and spend.delta:
        gaussian = Gaussian.spending(spend, sensitivity=l2, neighbours=REPLACE)
        variance = min(variance, gaussian.variance)
    return math.sqrt(variance) / n
