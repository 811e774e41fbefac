"""dBitFlip: a histogram from a few bits a device, each about a bucket drawn once.

See Ding, Kulkarni, Yekhanin 2017.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ...arithmetic.rational import Number, below_half, check_from_0_to_1, whole
from ...arithmetic.rounding import up
from ...errors import InvalidArgument
from ...frozen import fill, frozen
from ...mechanisms.laws.error_bound import parameter_repr, read_beta
from ...mechanisms.response.count import clopper_pearson
from ...mechanisms.response.randomized import read_answers
from ...noise import Bits, uniform
from ...privacy.events import Promise
from ...privacy.measures import Measure, PureDP
from ..designs.design import read_array
from ..estimates.calibration import reach_error
from ..estimates.estimate import Estimate, read_level
from ..reports.parameters import fields_of, parameters_of
from ..shuffle import Shuffle, shuffle_pure
from ..spend import read_forged
from .flip import epsilon_of, flips, promise
from .one_bit import flip_with

_Rows = NDArray[np.int64]
_FIELDS = ("epsilon", "buckets", "sample", "gamma")


@frozen(init=False)
class BitFlip:
    """Send `sample` noisy bits about as many buckets drawn once: is the value in this bucket?

    A device draws `sample` of the `buckets` without looking at any value. For each it sends whether
    its value lies there, flipped with probability 1/(1 + e^(ε/2)). Of the N_v devices that drew
    bucket v the fraction of ones is q + (p − q)·f_v, with p = e^(ε/2)/(e^(ε/2) + 1) and q = 1 − p.
    The variance of a frequency is about (buckets/sample)·e^(ε/2)/(e^(ε/2) − 1)²/n. The report lists
    2·bucket + bit, in order.

    `gamma` flips every sent bit once more with that probability (output perturbation): see
    `Device`.

    >>> import numpy as np
    >>> from discreet.local import BitFlip
    >>> from discreet.privacy import PureDP
    >>> minutes = BitFlip(PureDP(1), buckets=32, sample=4)
    >>> len(minutes.randomize(7)), minutes.randomize(np.array([7, 8])).shape
    (4, (2, 4))

    Guarantee: ε-private, since two values differ in at most two of the bits.
    Refuses: `InvalidArgument` for more bits than buckets, values that are no bucket, and reports no
    device could have sent.
    Law: `tests/local/test_sketches.py::TestExactLaws`
    """

    epsilon: Fraction
    buckets: int
    sample: int
    gamma: Fraction

    __repr__ = parameter_repr

    def __init__(self, spend: Measure, *, buckets: int, sample: int, gamma: Number = 0) -> None:
        count = whole(buckets, "buckets", least=2, most=1 << 30)
        flip = below_half(gamma, "gamma", f", got {gamma}")
        epsilon = epsilon_of(spend)
        drawn = whole(sample, "sample", least=1, most=count)
        fill(self, epsilon=epsilon, buckets=count, sample=drawn, gamma=flip)

    @classmethod
    def for_error(
        cls, error: Number, *, n: int, buckets: int, sample: int, beta: Number = 0.05
    ) -> BitFlip:
        """Make the mechanism with the least ε whose n reports keep a frequency's error.

        The error is kept with probability at least 1 − β.
        """

        def make_flip(spend: Measure) -> BitFlip:
            return cls(spend, buckets=buckets, sample=sample)

        return reach_error(make_flip, error, n=n, beta=beta)

    @property
    def event(self) -> Promise:
        """Privacy event of one report, for the person who sends it."""
        return promise(self.epsilon)

    @property
    def p(self) -> float:
        """The probability that a bit is sent as it is."""
        truth = 1 / (1 + math.exp(-self.epsilon / 2))
        return truth + float(self.gamma) * (1 - 2 * truth)

    @property
    def _spread(self) -> float:
        """The difference p − q."""
        return 2 * self.p - 1

    @overload
    def randomize(self, value: int, *, bits: Bits | None = None) -> list[int]: ...
    @overload
    def randomize(self, value: NDArray[Any], *, bits: Bits | None = None) -> _Rows: ...
    def randomize(
        self, value: int | NDArray[Any], *, bits: Bits | None = None
    ) -> list[int] | _Rows:
        """Draw the report of one value, or of values of different devices with own buckets.

        A report lists 2 · bucket + answer. Each answer is randomized by `answer`, which is what ε
        prices; each sent bit is flipped once more with probability `gamma` (0 by default).
        """
        values = read_answers(read_array(value), self.buckets)
        drawn = self.draw_buckets(values.size, bits)
        answers = self.answer(values.reshape(-1), drawn, bits)
        reports = 2 * drawn + flip_with(self.gamma, answers, bits)
        if values.ndim == 0:
            return [int(mark) for mark in reports[0]]
        return reports

    def draw_buckets(self, count: int, bits: Bits | None = None) -> _Rows:
        """Draw the buckets of `count` devices: every set of `sample` buckets is as likely.

        Floyd's algorithm (Bentley, Floyd 1987): take a uniform bucket up to `top`, or `top` itself
        if that bucket is taken.
        """
        drawn = np.full((count, self.sample), -1, dtype=np.int64)
        first_top = self.buckets - self.sample
        for index in range(self.sample):
            top = first_top + index
            bucket = uniform(top + 1, count, bits=bits)
            earlier = drawn[:, :index]
            taken = (earlier == bucket[:, None]).any(axis=1)
            drawn[:, index] = np.where(taken, top, bucket)
        return np.sort(drawn, axis=1)

    def answer(self, values: _Rows, drawn: _Rows, bits: Bits | None = None) -> NDArray[np.bool_]:
        """Return for each drawn bucket whether the value lies there, flipped at random.

        The probability of a flip is 1/(1 + e^(ε/2)).
        """
        true = drawn == values[:, None]
        flipped = flips(self.epsilon / 2, true.size, bits).reshape(true.shape)
        return np.asarray(true ^ flipped)

    def estimate(self, reports: object, *, level: float = 0.95) -> Estimate:
        """Estimate the frequency of each bucket, with a confidence interval.

        Intervals invert the binomial law among the devices that drew the bucket. A bucket that
        nobody drew is 0 with the interval 0 … 1.

        Refuses: `InvalidArgument` for no reports, and reports no device could have sent.
        Law: `tests/local/test_sketches.py::TestEstimates`
        """
        read = self.read(reports)
        confidence = read_level(level)
        bucket = read >> 1
        drawn = np.bincount(bucket.reshape(-1), minlength=self.buckets)
        is_one = (read & 1) == 1
        ones = np.bincount(bucket[is_one], minlength=self.buckets)
        was_drawn = drawn > 0
        # At least 1 to divide by; `was_drawn` drops the result.
        people = np.maximum(drawn, 1)
        fraction = ones / people
        values = np.where(was_drawn, self._frequency_of(fraction), 0.0)
        deviations = np.sqrt(fraction * (1 - fraction) / people) / self._spread
        errors = np.where(was_drawn, deviations, 1.0)
        least, most = clopper_pearson(ones, people, 1 - confidence)
        lower = np.clip(self._frequency_of(least), 0.0, 1.0)
        upper = np.clip(self._frequency_of(most), 0.0, 1.0)
        low = np.where(was_drawn, lower, 0)
        high = np.where(was_drawn, upper, 1)
        names = tuple(str(index) for index in range(self.buckets))
        return Estimate(
            "frequency",
            names,
            values,
            errors,
            low,
            high,
            confidence,
            len(read),
            "population",
            "binomial law of the devices that drew the bucket (Clopper, Pearson 1934)",
        )

    def _frequency_of(self, ones: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the frequency for which this fraction of ones is expected."""
        return (ones - (1 - self.p)) / self._spread

    def read(self, reports: object) -> _Rows:
        """Read reports.

        Refuses: `InvalidArgument` for reports no device could have sent.
        """
        array = read_array(reports, axes=2)
        is_table = array.ndim == 2 and array.shape[1] == self.sample
        if not is_table or array.dtype.kind not in "iu" or array.shape[0] == 0:
            raise InvalidArgument(
                f"reports must be a list of at least one report of {self.sample} bits"
            )
        out_of_range = array.min() < 0 or array.max() >= 2 * self.buckets
        if out_of_range or (np.diff(array >> 1, axis=1) <= 0).any():
            raise InvalidArgument(
                "a report must list different buckets of these parameters, in order"
            )
        return array.astype(np.int64)

    def variance(self, *, n: int, frequency: float = 0.0) -> float:
        """Return the variance of an estimated frequency, the drawing of buckets included.

        >>> from discreet.local import BitFlip
        >>> from discreet.privacy import PureDP
        >>> round(BitFlip(PureDP(1), buckets=32, sample=4).variance(n=1), 2)
        31.34
        """
        check_from_0_to_1(frequency, "frequency")
        one = 1 - self.p + frequency * self._spread
        people = whole(n, "n", least=1)
        devices = people * self.sample / self.buckets
        return one * (1 - one) / devices / self._spread**2

    def error(self, *, n: int, beta: Number = 0.05) -> float:
        """Bound |estimate − frequency| with probability at least 1 − β.

        Hoeffding (1963) with β/2 among the devices that drew the bucket, and Chernoff with β/2 for
        the number of those devices.
        """
        people = whole(n, "n", least=1)
        expected = people * self.sample / self.buckets
        log = math.log(2 / read_beta(beta))
        devices = expected - math.sqrt(2 * expected * log)
        if self.sample == self.buckets:
            # Every device draws every bucket: their number is not random.
            devices = n
        if devices < 1:
            return math.inf
        log_four = math.log(4 / read_beta(beta))
        margin = math.sqrt(log_four / (2 * devices))
        # Rounded up: a promise of accuracy is never too small.
        return up(margin / self._spread)

    def influence(self, *, n: int, forged: int = 1) -> float:
        """Bound how far `forged` of n reports can move any estimate, whatever buckets they name.

        With H honest devices in a bucket, k forged reports move its fraction by at most k/(H + k).
        The bound on H holds in all buckets with probability 1 − 10⁻⁹ (Chernoff).
        """
        people, forged_count = read_forged(n, forged)
        if forged_count == 0:
            return 0.0
        expected = (people - forged_count) * self.sample / self.buckets
        margin = 0.0
        if self.sample < self.buckets:
            margin = math.sqrt(2 * expected * math.log(1e9 * self.buckets))
        honest = max(expected - margin, 0.0)
        return up(forged_count / (forged_count + honest) / self._spread)

    def shuffled(self, n: int) -> Shuffle:
        """Return the price of one of at least n shuffled reports, by clones (`shuffle_pure`)."""
        return shuffle_pure(self.epsilon, n)

    def to_json(self) -> dict[str, object]:
        """Return the parameters: all that a device needs."""
        return parameters_of(self, "bit-flip", _FIELDS)

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> BitFlip:
        """Read parameters written by `to_json`.

        Refuses: `InvalidArgument` for unknown or missing fields, and other versions.
        """
        read = fields_of(given, "bit-flip", _FIELDS)
        return cls(PureDP(read.pop("epsilon")), **read)
