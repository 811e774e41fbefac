"""Randomized response: each person gives the true answer only with some probability.

No answer can be held against anybody, and the frequencies can still be estimated without bias.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import overload

import numpy as np

from ...arithmetic.arrays import AnyArray, Floats, Integers
from ...arithmetic.rational import Number, check_from_0_to_1, positive, rational, whole
from ...arithmetic.rounding import fraction_up, log_up, up
from ...errors import InvalidArgument
from ...frozen import fill, frozen
from ...noise import Bits, coin, exponential_choice, uniform
from ...privacy.events import Response
from ...privacy.measures import REPLACE, Measure
from ..laws.error_bound import hoeffding, parameter_repr, read_beta
from ..reading.allowance import largest_epsilon
from .count import clopper_pearson, frequency_intervals


@frozen(init=False)
class RandomizedResponse:
    """Randomized response: the true one of k options with probability p, each other one with q.

    p = e^ε/(e^ε + k − 1) and q = 1/(e^ε + k − 1) at ε = ln(p/q) (Warner 1965; Kairouz, Bonawitz,
    Ramage 2016).

    | made from | p is realised | ε |
    |---|---|---|
    | a rational `epsilon` | exactly, by weights 1 and e^(−ε) | as given |
    | a rational `truth` probability | by an exact coin | abs(ln(p/q)), rounded up |

    >>> import discreet as dp
    >>> import numpy as np
    >>> from fractions import Fraction
    >>> dp.RandomizedResponse(options=2, truth=Fraction(3, 4)).p
    0.75
    >>> rr = dp.RandomizedResponse(options=2, epsilon=1000)
    >>> rr.release(1), rr.release(np.array([0, 1, 1])).tolist()
    (1, [0, 1, 1])

    Guarantee: each answer is ε-DP for replacing it by another.
    Refuses: fewer than two options, ε not above 0, a truth probability of 0, 1 or 1/k (no privacy,
    or no answer), and answers outside 0 … k − 1 (InvalidArgument), before any bit is drawn.
    Law: tests/mechanisms/test_response.py::TestPrice,
    tests/mechanisms/test_response.py::TestEstimate
    """

    options: int
    epsilon: Fraction
    truth: Fraction | None

    __repr__ = parameter_repr

    def __init__(
        self, options: int = 2, *, epsilon: Number | None = None, truth: Number | None = None
    ) -> None:
        if (epsilon is None) == (truth is None):
            raise InvalidArgument("give either epsilon or truth, the probability of a true answer")
        k = whole(options, "options", least=2)
        if truth is None:
            fill(self, options=k, truth=None, epsilon=positive(epsilon, "epsilon"))
        else:
            exact = rational(truth, "truth")
            fill(self, options=k, truth=exact, epsilon=_epsilon_of(exact, k))

    @classmethod
    def spending(cls, spend: Measure, *, options: int) -> RandomizedResponse:
        """Spend a budget: ε itself under PureDP, else the largest ε that fits."""
        k = whole(options, "options", least=2)
        event_at = partial(Response, options=k)
        return cls(k, epsilon=largest_epsilon(event_at, spend))

    @classmethod
    def for_error(
        cls, error: Number, *, n: int, options: int = 2, beta: Number = 0.05
    ) -> RandomizedResponse:
        """Take the least ε at which n answers give a frequency to within `error`.

        Holds with probability at least 1 − β.

        >>> import discreet as dp
        >>> dp.RandomizedResponse.for_error(0.05, n=10_000).error(10_000) <= 0.05
        True

        Refuses: an error that even true answers could not promise by Hoeffding's bound
        (InvalidArgument).
        """
        k = whole(options, "options", least=2)
        # p − q must reach this, and a little more: `error` rounds up.
        deviation = Fraction(hoeffding(n, beta))
        needed = deviation / positive(error, "error") * Fraction(1 + 1e-11)
        if needed >= 1:
            raise InvalidArgument(
                "no epsilon gives this error with so few answers; ask more people or allow more error"
            )
        # Solved for e^ε: p − q = (e^ε − 1)/(e^ε + k − 1).
        odds = (1 + (k - 1) * needed) / (1 - needed)
        return cls(k, epsilon=fraction_up(math.log(odds)))

    @property
    def p(self) -> float:
        """The probability of the true answer."""
        if self.truth is not None:
            return float(self.truth)
        others = self.options - 1
        return 1 / (1 + others * math.exp(-self.epsilon))

    @property
    def q(self) -> float:
        """The probability of each other answer."""
        if self.truth is not None:
            return float((1 - self.truth) / (self.options - 1))
        return math.exp(-self.epsilon) * self.p

    @property
    def event(self) -> Response:
        """The event to be priced: one person's answer (neighbours: replace the answer)."""
        return Response(self.epsilon, self.options, neighbours=REPLACE)

    @overload
    def release(self, value: int, *, bits: Bits | None = None) -> int: ...
    @overload
    def release(self, value: AnyArray, *, bits: Bits | None = None) -> Integers: ...
    def release(self, value: int | AnyArray, *, bits: Bits | None = None) -> int | Integers:
        """Randomize one person's answer, or an array of answers of different people."""
        truths = read_answers(value, self.options)
        shifts = self._shifts(truths.size, bits).reshape(truths.shape)
        answers: Integers = (truths + shifts) % self.options
        if answers.ndim == 0:
            return int(answers)
        return answers

    def _shifts(self, n: int, bits: Bits | None) -> Integers:
        """Draw how far each answer moves around the circle of options: 0 with probability p."""
        if self.truth is None:
            scores = np.zeros(self.options, dtype=np.int64)
            scores[0] = 1
            return exponential_choice(scores, self.epsilon, n, bits=bits)
        # Both are drawn for everyone: the work tells nothing of the answers.
        keep = coin(self.truth, n, bits=bits)
        other = uniform(self.options - 1, n, bits=bits)
        return np.where(keep, 0, 1 + other)

    def estimate(self, responses: AnyArray) -> Frequencies:
        """Estimate how frequent each option is among the people who answered.

        >>> import discreet as dp
        >>> import numpy as np
        >>> from fractions import Fraction
        >>> rr = dp.RandomizedResponse(options=2, truth=Fraction(3, 4))
        >>> found = rr.estimate(np.array([1] * 60 + [0] * 40))
        >>> found.values.round(2).tolist(), found.interval(beta=0.05)[1].tolist()
        ([0.3, 0.7], [0.53, 0.88])

        Refuses: no responses, and responses outside 0 … k − 1 (InvalidArgument).
        """
        answers = read_answers(responses, self.options)
        if answers.size == 0 or answers.ndim != 1:
            raise InvalidArgument("responses must be an array of at least one answer")
        counts = np.bincount(answers, minlength=self.options)
        return Frequencies(int(answers.size), counts.astype(np.int64), self.p, self.q)

    def variance(self, *, n: int, frequency: float, sampled: bool = False) -> float:
        """Return the variance of an estimated frequency f.

        That of the coins is [f p(1−p) + (1−f) q(1−q)]/(n(p−q)²). With `sampled` also the variance
        f(1−f)/n of drawing n people at random from a population.

        >>> import discreet as dp
        >>> round(dp.RandomizedResponse(truth=0.75).variance(n=1000, frequency=0.3, sampled=True), 8)
        0.00096
        """
        people = whole(n, "n", least=1)
        check_from_0_to_1(frequency, "frequency")
        exact = np.float64(frequency)
        coins = float(_coin_variance(exact, people, self.p, self.q))
        sampling = frequency * (1 - frequency) / people if sampled else 0.0
        return coins + sampling

    def error(self, n: int, beta: Number = 0.05) -> float:
        """Bound |estimate − frequency| for one option and any frequency (Hoeffding 1963).

        Holds with probability at least 1 − β. `estimate(…).interval` is tighter: it uses the exact
        law at the counts that were seen.

        >>> import discreet as dp
        >>> round(dp.RandomizedResponse(truth=0.75).error(1000), 4)
        0.0859
        """
        deviation = hoeffding(n, beta)
        return up(deviation / abs(self.p - self.q))


@frozen(eq=False)
class Frequencies:
    """Frequencies estimated from randomized responses; unbiased, so one may lie outside 0 … 1."""

    n: int
    counts: Integers
    p: float
    q: float

    @property
    def values(self) -> Floats:
        """The estimates (ȳ − q)/(p − q)."""
        observed = self.counts / self.n
        estimates: Floats = (observed - self.q) / (self.p - self.q)
        return estimates

    @property
    def variance(self) -> Floats:
        """The coins' variance of each estimate, at the estimated frequency."""
        frequencies = np.clip(self.values, 0.0, 1.0)
        return _coin_variance(frequencies, self.n, self.p, self.q)

    def interval(
        self, beta: Number = 0.05, *, joint: bool = False, sampled: bool = False
    ) -> Floats:
        """Return a confidence interval (low, high) per option, as rows.

        Each holds with probability 1 − β, with `joint` all at once (union bound).

        | interval for | method |
        |---|---|
        | the people who answered | inversion of the exact law of the count (`response.count`) |
        | `sampled`: the population they were drawn from | Clopper and Pearson (1934) |
        """
        beta_each = read_beta(beta) / (self.counts.size if joint else 1)
        if sampled:
            return self._clopper_pearson(beta_each)
        ends = []
        for count in self.counts.tolist():
            ends.append(frequency_intervals(count, self.n, self.p, self.q, beta_each))
        return np.array(ends, dtype=np.float64) / self.n

    def _clopper_pearson(self, beta: float) -> Floats:
        observed = np.stack(clopper_pearson(self.counts, self.n, beta), axis=1)
        ends = (observed - self.q) / (self.p - self.q)
        # With p < q the ends come in reverse order.
        return np.clip(np.sort(ends, axis=1), 0.0, 1.0)


def read_answers(value: object, options: int) -> Integers:
    """Read answers as numbers of options; the message of a refusal carries no answer.

    >>> from discreet.mechanisms.response.randomized import read_answers
    >>> read_answers([0, 1], 2).tolist()
    [0, 1]
    """
    array = np.asarray(value)
    # Booleans are answers to yes/no questions only.
    if array.dtype.kind not in ("iub" if options == 2 else "iu"):
        raise InvalidArgument("an answer must be the whole number of an option")
    if array.size and not (array.min() >= 0 and array.max() < options):
        raise InvalidArgument(
            f"an answer must be one of the {options} options, a whole number from 0 to {options - 1}"
        )
    return array.astype(np.int64)


def _epsilon_of(truth: Fraction, options: int) -> Fraction:
    """Return |ln(p/q)|, rounded up."""
    if not 0 < truth < 1 or truth * options == 1:
        raise InvalidArgument(
            "truth must lie between 0 and 1 and differ from 1/options, else it protects or tells nothing"
        )
    odds = truth * (options - 1) / (1 - truth)
    return log_up(max(odds, 1 / odds))


def _coin_variance(f: Floats | np.float64, n: int, p: float, q: float) -> Floats:
    """Return the variance that the coins add to an estimated frequency."""
    of_holders = f * p * (1 - p)
    of_others = (1 - f) * q * (1 - q)
    scale = n * (p - q) ** 2
    return np.asarray((of_holders + of_others) / scale)
