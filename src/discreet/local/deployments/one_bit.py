"""One-bit mean: Microsoft's telemetry of usage minutes (Ding, Kulkarni, Yekhanin 2017).

A device sends one bit, which is 1 with a probability that grows linearly with its number. The mean
is estimated from the fraction of ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ...arithmetic.arrays import Flags, Integers
from ...arithmetic.rational import Number, below_half, check_from_0_to_1, whole
from ...arithmetic.rounding import up
from ...errors import InvalidArgument
from ...frozen import fill, frozen, replace
from ...mechanisms.laws.error_bound import hoeffding, parameter_repr
from ...mechanisms.response.count import clopper_pearson
from ...noise import Bits, coin
from ...noise.bits import ByteWords, readable
from ...privacy.events import Promise
from ...privacy.measures import Measure, PureDP
from ..designs.design import read_array
from ..designs.direct import direct_facts
from ..estimates.calibration import reach_error
from ..estimates.estimate import Estimate, read_level
from ..reports.parameters import fields_of, parameters_of
from ..shuffle import Shuffle, shuffle_choice, shuffle_pure
from ..spend import read_forged, read_range
from .flip import epsilon_of, flips, promise

GRID = 1 << 32
"""Steps into which low … high is divided; a value is rounded to the nearest before any coin."""
_FIELDS = ("low", "high", "epsilon", "gamma")


@frozen(init=False)
class OneBitMean:
    """Send one bit about a number from low to high: true with a probability that grows with it.

    P(1) = 1/(e^ε + 1) + (x − low)/(high − low)·(e^ε − 1)/(e^ε + 1): a coin of bias
    (x − low)/(high − low), then a flip with probability 1/(e^ε + 1). With p = e^ε/(e^ε + 1) and
    q = 1 − p, mean = low + (high − low)·(fraction of ones − q)/(p − q); unbiased.

    A number is clipped to low … high and rounded to the nearest of 2^32 steps; both are
    deterministic, so no float decides the bit. `gamma` flips the bit once more with that
    probability (output perturbation), for devices that memoise (`Device`): it blurs the moment at
    which a memoised answer changes.

    >>> import numpy as np
    >>> from discreet.local import OneBitMean
    >>> from discreet.privacy import PureDP
    >>> minutes = OneBitMean(0, 1440, PureDP(1))
    >>> minutes.randomize(90.5) in (0, 1), minutes.randomize(np.array([0.0, 1440.0])).shape
    (True, (2,))

    Guarantee: ε-private. For any two numbers the probabilities of a bit differ by at most the
    factor e^ε, reached by low and high.
    Refuses: `InvalidArgument` for low ≥ high, NaN, and reports that are not 0 or 1, before any bit
    is drawn.
    Law: `tests/local/test_sketches.py::TestExactLaws`
    """

    low: Fraction
    high: Fraction
    epsilon: Fraction
    gamma: Fraction

    __repr__ = parameter_repr

    def __init__(self, low: Number, high: Number, spend: Measure, *, gamma: Number = 0) -> None:
        bottom, top = read_range(low, high)
        flip = below_half(gamma, "gamma", f", got {gamma}")
        fill(self, low=bottom, high=top, epsilon=epsilon_of(spend), gamma=flip)

    @classmethod
    def for_error(
        cls, error: Number, *, n: int, low: Number, high: Number, beta: Number = 0.05
    ) -> OneBitMean:
        """Make the mechanism with the least ε whose n reports keep the mean's error.

        The error is kept with probability at least 1 − β.

        >>> from discreet.local import OneBitMean
        >>> minutes = OneBitMean.for_error(20, n=10_000, low=0, high=1440)
        >>> minutes.error(n=10_000) <= 20
        True

        Refuses: `InvalidArgument` for an error that even true bits could not promise.
        """

        def make_mean(spend: Measure) -> OneBitMean:
            return cls(low, high, spend)

        return reach_error(make_mean, error, n=n, beta=beta)

    @property
    def event(self) -> Promise:
        """Privacy event of one report, for the person who sends it."""
        return promise(self.epsilon)

    @property
    def p(self) -> float:
        """The probability that the bit sent is the result of the first coin."""
        truth = 1 / (1 + math.exp(-self.epsilon))
        return truth + float(self.gamma) * (1 - 2 * truth)

    @overload
    def randomize(self, value: float, *, bits: Bits | None = None) -> int: ...
    @overload
    def randomize(self, value: NDArray[Any], *, bits: Bits | None = None) -> Integers: ...
    def randomize(self, value: float | NDArray[Any], *, bits: Bits | None = None) -> int | Integers:
        """Draw the bit of one number, or of an array of numbers of different people."""
        steps = self.steps(value)
        source = readable(bits)
        words = ByteWords(source).words(steps.size, 64)
        # The upper 32 bits are uniform below GRID: the coin's bias is exactly steps/GRID.
        drawn = words >> np.uint64(32)
        coins = drawn < steps.reshape(-1)
        sent = coins ^ flips(self.epsilon, steps.size, bits)
        answers = self.perturb(sent, bits).astype(np.int64).reshape(steps.shape)
        if answers.ndim == 0:
            return int(answers)
        return answers

    def perturb(self, sent: Flags, bits: Bits | None = None) -> Flags:
        """Flip bits with probability gamma; nothing is drawn if gamma is 0."""
        return flip_with(self.gamma, sent, bits)

    def steps(self, value: object) -> NDArray[np.uint64]:
        """Clip numbers and round them to the nearest of 2^32 steps.

        Refuses: `InvalidArgument` for NaN. No refusal carries a value.
        """
        array = read_array(value)
        if array.dtype.kind not in "iuf":
            raise InvalidArgument("a value must be a number")
        # A warning that one value causes would tell about it.
        with np.errstate(all="ignore"):
            exact = array.astype(np.float64)
        if np.isnan(exact).any():
            raise InvalidArgument(
                "a value must be a number, and NaN is none; send the report of a public default"
            )
        low = float(self.low)
        clipped = np.clip(exact, low, float(self.high))
        nearest = np.floor((clipped - low) / self._span * GRID + 0.5)
        return np.minimum(nearest, float(GRID)).astype(np.uint64)

    @property
    def _span(self) -> float:
        return float(self.high - self.low)

    @property
    def _spread(self) -> float:
        """The change of the estimate if the fraction of ones goes from 0 to 1."""
        return self._span / (2 * self.p - 1)

    def estimate(self, reports: object, *, level: float = 0.95) -> Estimate:
        """Estimate the mean of those who reported, or of their population, with an interval.

        The interval inverts the binomial law, and holds for people with unequal numbers too
        (Hoeffding 1956).

        >>> from discreet.local import OneBitMean
        >>> from discreet.privacy import PureDP
        >>> print(OneBitMean(0, 10, PureDP(2)).estimate([1] * 60 + [0] * 40))
        mean    estimate     ± error           95 % interval
        mean       6.313       0.643         4.9634 … 7.5828
        100 reports; of population; binomial law (Hoeffding 1956)

        Refuses: `InvalidArgument` for no reports, and reports other than 0 and 1.
        Law: `tests/local/test_sketches.py::TestEstimates`
        """
        answers = self.read(reports)
        n = int(answers.size)
        ones = int(answers.sum())
        confidence = read_level(level)
        least, most = clopper_pearson(np.array([ones]), n, 1 - confidence)
        fraction = ones / n
        value = self._mean_of(fraction)
        low = self._mean_of(float(least[0]))
        high = self._mean_of(float(most[0]))
        ends = np.clip([low, high], float(self.low), float(self.high))
        deviation = math.sqrt(fraction * (1 - fraction) / n)
        error = self._spread * deviation
        return Estimate(
            "mean",
            ("mean",),
            np.array([value]),
            np.array([error]),
            ends[:1],
            ends[1:],
            confidence,
            n,
            "population",
            "binomial law (Hoeffding 1956)",
        )

    def _mean_of(self, ones: float) -> float:
        """Return the mean for which this fraction of ones is expected."""
        return float(self.low) + (ones - (1 - self.p)) * self._spread

    def read(self, reports: object) -> Integers:
        """Read reports.

        Refuses: `InvalidArgument` for reports no device could have sent.
        """
        return read_ones(reports)

    def variance(self, *, n: int, frequency: float = 0.5) -> float:
        """Return the variance of the mean, if all numbers lie at one position of the range.

        `frequency` is that position: 0 is low and 1 is high. The coins that round a number to a bit
        are counted. The variance is at most (high − low)²/4n·((e^ε + 1)/(e^ε − 1))², reached at one
        half.

        >>> from discreet.local import OneBitMean
        >>> from discreet.privacy import PureDP
        >>> round(OneBitMean(-1, 1, PureDP(1)).variance(n=1), 3)
        4.683
        """
        check_from_0_to_1(frequency, "frequency")
        one = 1 - self.p + frequency * (2 * self.p - 1)
        people = whole(n, "n", least=1)
        return self._spread**2 * one * (1 - one) / people

    def error(self, *, n: int, beta: Number = 0.05) -> float:
        """Bound |estimate − mean| with probability at least 1 − β (Hoeffding 1963)."""
        # Rounded up: a promise of accuracy is never too small.
        return up(hoeffding(n, beta) * self._span / (2 * self.p - 1))

    def influence(self, *, n: int, forged: int = 1) -> float:
        """Bound how far `forged` of n reports can move the mean: forged/n·(high − low)/(p − q)."""
        people, forged_count = read_forged(n, forged)
        return up(self._spread * forged_count / people)

    def shuffled(self, n: int) -> Shuffle:
        """Return the price of one report among those of at least n people.

        It is that of binary response to a random bit: hockey-stick divergences are convex in the
        values people hold. γ is post-processing; then no lower bound is known.
        """
        price = shuffle_choice(direct_facts(2), self.epsilon, n)
        if self.gamma:
            return replace(price, lower=shuffle_pure(self.epsilon, n).lower)
        return price

    def to_json(self) -> dict[str, object]:
        """Return the parameters: all that a device needs."""
        return parameters_of(self, "one-bit-mean", _FIELDS)

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> OneBitMean:
        """Read parameters written by `to_json`.

        Refuses: `InvalidArgument` for unknown or missing fields, and other versions.
        """
        read = fields_of(given, "one-bit-mean", _FIELDS)
        return cls(read["low"], read["high"], PureDP(read["epsilon"]), gamma=read["gamma"])


def flip_with(gamma: Fraction, sent: Flags, bits: Bits | None) -> Flags:
    """Flip each bit with probability gamma; nothing is drawn if gamma is 0."""
    if not gamma:
        return sent
    return sent ^ coin(gamma, sent.size, bits=bits).reshape(sent.shape)


def read_ones(reports: object) -> Integers:
    """Read bits; no refusal carries a report.

    >>> from discreet.local.deployments.one_bit import read_ones
    >>> read_ones([0, 1]).tolist()
    [0, 1]
    """
    array = read_array(reports)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iub":
        raise InvalidArgument("reports must be a list of at least one bit, 0 or 1")
    if array.min() < 0 or array.max() > 1:
        raise InvalidArgument("a report must be 0 or 1")
    return array.astype(np.int64)
