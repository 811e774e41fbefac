"""Randomized response: everyone lies now and then, nobody is held to an answer, and the totals can still be told."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ...arithmetic.rational import Number, positive, rational, whole
from ...arithmetic.rounding import fraction_up, up
from ...arithmetic.special import betaincinv
from ...errors import InvalidArgument
from ...frozen import fill, frozen
from ...noise import Bits, coin, exponential_choice, uniform
from ...privacy.events import Response
from ...privacy.measures import Measure
from ...privacy.neighbours import REPLACE
from ..laws.error_bound import named, read_beta
from ..reading.allowance import largest_epsilon
from .count import holders


@frozen(init=False)
class RandomizedResponse:
    """Answer the truth among k options with probability p, else one of the others, each with probability q.

    Price: ln(p/q), so p = e^ε/(e^ε + k − 1), q = 1/(e^ε + k − 1) at ε (Warner 1965; Kairouz, Bonawitz, Ramage 2016).
    Made from a rational ε, p is realised exactly by weights 1 and e^(−ε); made from a rational truth probability, by an
    exact coin, and ε = |ln(p/q)| is rounded up.

    >>> import discreet as dp
    >>> import numpy as np
    >>> from fractions import Fraction
    >>> dp.RandomizedResponse(options=2, truth=Fraction(3, 4)).p
    0.75
    >>> rr = dp.RandomizedResponse(options=2, epsilon=1000)
    >>> rr.release(1), rr.release(np.array([0, 1, 1])).tolist()
    (1, [0, 1, 1])

    Refuses fewer than two options, ε not above 0, a truth probability of 0, 1 or 1/k (no privacy, or no answer), and
    answers outside 0 … k − 1, before any bit is drawn.
    """

    options: int
    epsilon: Fraction
    truth: Fraction | None

    __repr__ = named

    def __init__(
        self, options: int = 2, *, epsilon: Number | None = None, truth: Number | None = None
    ) -> None:
        if (epsilon is None) == (truth is None):
            raise InvalidArgument("give either epsilon or truth, the probability of a true answer")
        k = whole(options, "options", least=2)
        exact = None if truth is None else rational(truth, "truth")
        fill(
            self,
            options=k,
            truth=exact,
            epsilon=_price(exact, k) if exact is not None else positive(epsilon, "epsilon"),
        )

    @classmethod
    def spending(cls, spend: Measure, *, options: int) -> RandomizedResponse:
        """Spend a budget: ε itself under PureDP, the largest ε that fits under any other measure."""
        k = whole(options, "options", least=2)
        return cls(k, epsilon=largest_epsilon(lambda e: Response(e, k), spend))

    @classmethod
    def for_error(
        cls, error: Number, *, n: int, options: int = 2, beta: Number = 0.05
    ) -> RandomizedResponse:
        """Take the least ε at which n answers tell a frequency to within `error`, with probability at least 1 − β.

        >>> import discreet as dp
        >>> dp.RandomizedResponse.for_error(0.05, n=10_000).error(10_000) <= 0.05
        True

        Refuses an error that even true answers could not promise by Hoeffding's bound.
        """
        k = whole(options, "options", least=2)
        spread = (
            Fraction(_hoeffding(n, beta)) / positive(error, "error") * Fraction(1 + 1e-11)
        )  # p − q must reach it
        if spread >= 1:
            raise InvalidArgument(
                "no epsilon gives this error with so few answers; ask more people or allow more error"
            )
        ratio = (1 + (k - 1) * spread) / (1 - spread)  # p − q = (e^ε − 1)/(e^ε + k − 1)
        return cls(k, epsilon=fraction_up(math.log(ratio)))

    @property
    def p(self) -> float:
        """The probability of the truth."""
        if self.truth is not None:
            return float(self.truth)
        return 1 / (1 + (self.options - 1) * math.exp(-self.epsilon))

    @property
    def q(self) -> float:
        """The probability of each other answer."""
        if self.truth is not None:
            return float((1 - self.truth) / (self.options - 1))
        return math.exp(-self.epsilon) * self.p

    @property
    def event(self) -> Response:
        """What each person's answer costs that person (neighbours: replace the answer)."""
        return Response(self.epsilon, self.options, neighbours=REPLACE)

    @overload
    def release(self, value: int, *, bits: Bits | None = None) -> int: ...
    @overload
    def release(self, value: NDArray[Any], *, bits: Bits | None = None) -> NDArray[np.int64]: ...
    def release(
        self, value: int | NDArray[Any], *, bits: Bits | None = None
    ) -> int | NDArray[np.int64]:
        """Randomize one person's answer, or an array of answers of different people."""
        truths = read_answers(value, self.options)
        answers: NDArray[np.int64] = (
            truths + self._shifts(truths.size, bits).reshape(truths.shape)
        ) % self.options
        return int(answers) if answers.ndim == 0 else answers

    def _shifts(self, n: int, bits: Bits | None) -> NDArray[np.int64]:
        """Draw how far each answer moves around the circle of options: 0 with probability p, else q each."""
        if self.truth is None:
            scores = np.zeros(self.options, dtype=np.int64)
            scores[0] = 1
            return exponential_choice(scores, self.epsilon, n, bits=bits)
        true, other = coin(self.truth, n, bits=bits), uniform(self.options - 1, n, bits=bits)
        return np.where(true, 0, 1 + other)

    def estimate(self, responses: NDArray[Any]) -> Frequencies:
        """Estimate how frequent each option is among those who answered.

        >>> import discreet as dp
        >>> import numpy as np
        >>> from fractions import Fraction
        >>> rr = dp.RandomizedResponse(options=2, truth=Fraction(3, 4))
        >>> found = rr.estimate(np.array([1] * 60 + [0] * 40))
        >>> found.values.round(2).tolist(), found.interval(beta=0.05)[1].tolist()
        ([0.3, 0.7], [0.53, 0.88])

        Refuses no responses, and responses outside 0 … k − 1.
        """
        answers = read_answers(responses, self.options)
        if answers.size == 0 or answers.ndim != 1:
            raise InvalidArgument("responses must be an array of at least one answer")
        counts = np.bincount(answers, minlength=self.options)
        return Frequencies(int(answers.size), counts.astype(np.int64), self.p, self.q)

    def variance(self, *, n: int, frequency: float, sampled: bool = False) -> float:
        """Return the variance of an estimated frequency: that of the coins, [f p(1−p) + (1−f) q(1−q)]/(n(p−q)²).

        With `sampled` also the variance f(1−f)/n of drawing n people at random from a population.

        >>> import discreet as dp
        >>> round(dp.RandomizedResponse(truth=0.75).variance(n=1000, frequency=0.3, sampled=True), 8)
        0.00096
        """
        people = whole(n, "n", least=1)
        if not 0 <= frequency <= 1:
            raise InvalidArgument("frequency must lie from 0 to 1")
        return float(_coin_variance(np.float64(frequency), people, self.p, self.q)) + (
            frequency * (1 - frequency) / people if sampled else 0.0
        )

    def error(self, n: int, beta: Number = 0.05) -> float:
        """Bound |estimate − frequency| for one option and any frequency, with probability at least 1 − β (Hoeffding
        1963).

        `estimate(…).interval` is tighter: it uses the exact law at what was seen.

        >>> import discreet as dp
        >>> round(dp.RandomizedResponse(truth=0.75).error(1000), 4)
        0.0859
        """
        return up(_hoeffding(n, beta) / abs(self.p - self.q))


@frozen(eq=False)
class Frequencies:
    """Frequencies told by randomized responses: `values` are unbiased, so single ones may lie outside 0 … 1."""

    n: int
    counts: NDArray[np.int64]
    p: float
    q: float

    @property
    def values(self) -> NDArray[np.float64]:
        """The estimates (ȳ − q)/(p − q)."""
        estimates: NDArray[np.float64] = (self.counts / self.n - self.q) / (self.p - self.q)
        return estimates

    @property
    def variance(self) -> NDArray[np.float64]:
        """The coins' variance of each estimate, at the estimated frequency."""
        return _coin_variance(np.clip(self.values, 0.0, 1.0), self.n, self.p, self.q)

    def interval(
        self, beta: Number = 0.05, *, joint: bool = False, sampled: bool = False
    ) -> NDArray[np.float64]:
        """Return a row (low, high) per option; each holds with probability 1 − β, with `joint` all at once.

        Of those who answered: inversion of the exact law of the count (`response_count`). With `sampled`, of the
        population they were drawn from: Clopper and Pearson (1934) on the binomial count.
        """
        share = read_beta(beta) / (self.counts.size if joint else 1)
        if not sampled:
            found = [holders(int(count), self.n, self.p, self.q, share) for count in self.counts]
            return np.array(found, dtype=np.float64) / self.n
        return self._clopper_pearson(share)

    def _clopper_pearson(self, beta: float) -> NDArray[np.float64]:
        yes, no = self.counts.astype(np.float64), (self.n - self.counts).astype(np.float64)
        low = np.where(yes > 0, betaincinv(np.maximum(yes, 1), no + 1, beta / 2), 0.0)
        high = np.where(no > 0, betaincinv(yes + 1, np.maximum(no, 1), 1 - beta / 2), 1.0)
        ends = (np.stack([low * (1 - 1e-9), high * (1 + 1e-9)], axis=1) - self.q) / (
            self.p - self.q
        )
        return np.clip(np.sort(ends, axis=1), 0.0, 1.0)


def read_answers(value: object, options: int) -> NDArray[np.int64]:
    """Read answers as numbers of options; the message carries no answer.

    >>> from discreet.mechanisms.response.randomized import read_answers
    >>> read_answers([0, 1], 2).tolist()
    [0, 1]
    """
    array = np.asarray(value)
    if array.dtype.kind not in ("iub" if options == 2 else "iu"):
        raise InvalidArgument("an answer must be the whole number of an option")
    if array.size and not (array.min() >= 0 and array.max() < options):
        raise InvalidArgument(
            f"an answer must be one of the {options} options, a whole number from 0 to {options - 1}"
        )
    return array.astype(np.int64)


def _price(truth: Fraction, options: int) -> Fraction:
    """Return |ln(p/q)|, rounded up."""
    if not 0 < truth < 1 or truth * options == 1:
        raise InvalidArgument(
            "truth must lie between 0 and 1 and differ from 1/options, else it protects or tells nothing"
        )
    odds = truth * (options - 1) / (1 - truth)
    ratio = max(odds, 1 / odds)
    if ratio < 2:
        return fraction_up(math.log1p(ratio - 1))
    return fraction_up(math.log(ratio.numerator) - math.log(ratio.denominator), 2.0**-36)


def _hoeffding(n: int, beta: Number) -> float:
    return math.sqrt(math.log(2 / read_beta(beta)) / (2 * whole(n, "n", least=1)))


def _coin_variance(
    f: NDArray[np.float64] | np.float64, n: int, p: float, q: float
) -> NDArray[np.float64]:
    return np.asarray((f * p * (1 - p) + (1 - f) * q * (1 - q)) / (n * (p - q) ** 2))
