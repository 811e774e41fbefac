"""dBitFlip: a histogram from a few bits a device, each about a bucket drawn once (Ding, Kulkarni, Yekhanin 2017)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ...arithmetic.rational import Number, rational, whole
from ...arithmetic.rounding import up
from ...errors import InvalidArgument
from ...frozen import fill, frozen
from ...mechanisms.laws.error_bound import named, read_beta
from ...mechanisms.response.randomized import read_answers
from ...noise import Bits, uniform
from ...privacy.events import Promise
from ...privacy.measures import Measure, PureDP
from ..designs.design import read_array
from ..estimates.calibration import reach_error
from ..estimates.estimate import Estimate, read_level
from ..estimates.proportion import clopper_pearson
from ..reports.parameters import fields_of
from ..shuffle import Shuffle, shuffle_pure
from .flip import epsilon_of, flips, promise
from .one_bit import flip_with

_Rows = NDArray[np.int64]


@frozen(init=False)
class BitFlip:
    """Send `sample` bits about as many buckets drawn once: is the value in this one? Each is flipped now and then.

    A device draws `sample` of the `buckets` without looking at any value. For each it sends whether its value lies
    there, flipped with probability 1/(1 + e^(ε/2)). Two values differ in at most two of the bits: ε-private. Of the N_v
    devices that drew bucket v the share of ones is q + (p − q)·f_v, p = e^(ε/2)/(e^(ε/2) + 1), q = 1 − p; the variance
    of a frequency is about (buckets/sample)·e^(ε/2)/(e^(ε/2) − 1)²/n. The report lists 2·bucket + bit, in order.

    `gamma` flips every sent bit once more with that probability (output perturbation): see `Device`.

    >>> import numpy as np
    >>> from discreet.local import BitFlip
    >>> from discreet.privacy import PureDP
    >>> minutes = BitFlip(PureDP(1), buckets=32, sample=4)
    >>> len(minutes.randomize(7)), minutes.randomize(np.array([7, 8])).shape
    (4, (2, 4))

    Refuses more bits than buckets, values that are no bucket, and reports no device could have sent.
    """

    epsilon: Fraction
    buckets: int
    sample: int
    gamma: Fraction

    __repr__ = named

    def __init__(self, spend: Measure, *, buckets: int, sample: int, gamma: Number = 0) -> None:
        k, flip = whole(buckets, "buckets", least=2, most=1 << 30), rational(gamma, "gamma")
        if not 0 <= flip < Fraction(1, 2):
            raise InvalidArgument(f"gamma must be at least 0 and below 1/2, got {gamma}")
        fields = {
            "epsilon": epsilon_of(spend),
            "buckets": k,
            "sample": whole(sample, "sample", least=1, most=k),
        }
        fill(self, **fields, gamma=flip)

    @classmethod
    def for_error(
        cls, error: Number, *, n: int, buckets: int, sample: int, beta: Number = 0.05
    ) -> BitFlip:
        """Take the least ε at which n reports give a frequency to within `error`, with probability at least 1 − β."""
        return reach_error(
            lambda spend: cls(spend, buckets=buckets, sample=sample), error, n=n, beta=beta
        )

    @property
    def event(self) -> Promise:
        """What one report costs the person who sends it."""
        return promise(self.epsilon)

    @property
    def p(self) -> float:
        """The probability that a bit is sent as it is."""
        truth = 1 / (1 + math.exp(-self.epsilon / 2))
        return truth + float(self.gamma) * (1 - 2 * truth)

    @overload
    def randomize(self, value: int, *, bits: Bits | None = None) -> list[int]: ...
    @overload
    def randomize(self, value: NDArray[Any], *, bits: Bits | None = None) -> _Rows: ...
    def randomize(
        self, value: int | NDArray[Any], *, bits: Bits | None = None
    ) -> list[int] | _Rows:
        """Draw the report of one value, or of values of different devices; each draws its own buckets."""
        values = read_answers(read_array(value), self.buckets)
        drawn = self.draw_buckets(values.size, bits)
        sent = flip_with(self.gamma, self.answer(values.reshape(-1), drawn, bits), bits)
        reports = 2 * drawn + sent
        return [int(mark) for mark in reports[0]] if values.ndim == 0 else reports

    def draw_buckets(self, count: int, bits: Bits | None = None) -> _Rows:
        """Draw the buckets of `count` devices: every set of `sample` buckets is as likely (Floyd's algorithm)."""
        drawn = np.full((count, self.sample), -1, dtype=np.int64)
        for at, top in enumerate(range(self.buckets - self.sample, self.buckets)):
            found = uniform(top + 1, count, bits=bits)
            drawn[:, at] = np.where((drawn[:, :at] == found[:, None]).any(axis=1), top, found)
        return np.sort(drawn, axis=1)

    def answer(self, values: _Rows, drawn: _Rows, bits: Bits | None = None) -> NDArray[np.bool_]:
        """Return of each drawn bucket whether the value lies there, flipped with probability 1/(1 + e^(ε/2))."""
        true = drawn == values[:, None]
        return np.asarray(true ^ flips(self.epsilon / 2, true.size, bits).reshape(true.shape))

    def estimate(self, reports: object, *, level: float = 0.95) -> Estimate:
        """Estimate how frequent each bucket is; intervals invert the binomial law among the devices that drew it.

        A bucket that nobody drew is 0 with the interval 0 … 1. Refuses no reports, and what no device could have sent.
        """
        read = self.read(reports)
        seen = np.bincount((read >> 1).reshape(-1), minlength=self.buckets)
        ones = np.bincount((read >> 1)[(read & 1) == 1], minlength=self.buckets)
        people, wide = np.maximum(seen, 1), 2 * self.p - 1
        values = np.where(seen > 0, (ones / people - (1 - self.p)) / wide, 0.0)
        errors = np.where(
            seen > 0, np.sqrt(ones / people * (1 - ones / people) / people) / wide, 1.0
        )
        ends = clopper_pearson(ones, people, 1 - read_level(level))
        low, high = (
            np.where(seen > 0, np.clip((end - (1 - self.p)) / wide, 0.0, 1.0), side)
            for side, end in enumerate(ends)
        )
        names = tuple(str(bucket) for bucket in range(self.buckets))
        note = "binomial law of the devices that drew the bucket (Clopper, Pearson 1934)"
        columns = (values, errors, low, high)
        return Estimate(
            "frequency",
            names,
            *columns,
            level=read_level(level),
            n=len(read),
            of="population",
            note=note,
        )

    def read(self, reports: object) -> _Rows:
        """Read reports; refuses those no device could have sent."""
        array = read_array(reports, axes=2)
        if (
            array.ndim != 2
            or array.shape[1] != self.sample
            or array.dtype.kind not in "iu"
            or array.shape[0] == 0
        ):
            raise InvalidArgument(
                f"reports must be a list of at least one report of {self.sample} bits"
            )
        if (
            array.min() < 0
            or array.max() >= 2 * self.buckets
            or (np.diff(array >> 1, axis=1) <= 0).any()
        ):
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
        if not 0 <= frequency <= 1:
            raise InvalidArgument("frequency must lie from 0 to 1")
        chance, devices = (
            1 - self.p + frequency * (2 * self.p - 1),
            whole(n, "n", least=1) * self.sample / self.buckets,
        )
        return chance * (1 - chance) / devices / (2 * self.p - 1) ** 2

    def error(self, *, n: int, beta: Number = 0.05) -> float:
        """Bound |estimate − frequency| with probability at least 1 − β.

        Hoeffding (1963) with β/2 among the devices that drew the bucket, and Chernoff with β/2 for how many those are.
        """
        people = whole(n, "n", least=1) * self.sample / self.buckets
        few = math.log(2 / read_beta(beta))
        drew = n if self.sample == self.buckets else people - math.sqrt(2 * people * few)
        if drew < 1:
            return math.inf
        return up(math.sqrt(math.log(4 / read_beta(beta)) / (2 * drew)) / (2 * self.p - 1))

    def influence(self, *, n: int, forged: int = 1) -> float:
        """Bound how far `forged` of n reports can move any estimate, whatever they say and buckets they name.

        With H honest devices in a bucket, k forged reports move its share by at most k/(H + k). H is at least what it
        is in all buckets with probability 1 − 10⁻⁹ (Chernoff).
        """
        people = whole(n, "n", least=1)
        many = whole(forged, "forged", most=people)
        drew = (people - many) * self.sample / self.buckets
        sure = (
            math.sqrt(2 * drew * math.log(1e9 * self.buckets))
            if self.sample < self.buckets
            else 0.0
        )
        return up(many / (many + max(drew - sure, 0.0)) / (2 * self.p - 1)) if many else 0.0

    def shuffled(self, n: int) -> Shuffle:
        """Return what one report costs among those of at least n people, by clones."""
        return shuffle_pure(self.epsilon, n)

    def to_json(self) -> dict[str, object]:
        """Return the parameters, all a device needs."""
        shape = {"buckets": self.buckets, "sample": self.sample, "gamma": str(self.gamma)}
        return {"mechanism": "bit-flip", "version": 1, "epsilon": str(self.epsilon), **shape}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> BitFlip:
        """Read what `to_json` wrote; refuses unknown or missing fields, and other versions."""
        read = fields_of(given, "bit-flip", ("epsilon", "buckets", "sample", "gamma"))
        return cls(PureDP(read.pop("epsilon")), **read)
