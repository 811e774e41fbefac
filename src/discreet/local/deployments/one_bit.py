"""The one-bit mean: Microsoft's telemetry of usage minutes (Ding, Kulkarni, Yekhanin 2017)."""

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
from ...frozen import fill, frozen, replace
from ...mechanisms.laws.error_bound import named, read_beta
from ...noise import Bits, coin
from ...noise.bits import readable
from ...noise.random_words import ByteWords
from ...privacy.events import Promise
from ...privacy.measures import Measure, PureDP
from ..designs.design import read_array
from ..designs.direct import direct_facts
from ..estimates.calibration import reach_error
from ..estimates.estimate import Estimate, read_level
from ..estimates.proportion import clopper_pearson
from ..reports.parameters import fields_of
from ..shuffle import Shuffle, shuffle_choice, shuffle_pure
from ..spend import read_range
from .flip import epsilon_of, flips, promise

GRID = 1 << 32
"""Steps into which low … high is divided before a coin is thrown: a value is rounded to the nearest."""


@frozen(init=False)
class OneBitMean:
    """Send one bit about a number from low to high: true with a chance that grows with the number.

    P(1) = 1/(e^ε + 1) + (x − low)/(high − low)·(e^ε − 1)/(e^ε + 1): a coin of bias (x − low)/(high − low), then a flip
    with probability 1/(e^ε + 1). ε-private: for any two numbers the chances of a bit differ by at most e^ε, reached by
    low and high. mean = low + (high − low)·(share of ones − q)/(p − q), p = e^ε/(e^ε + 1), q = 1 − p; unbiased.

    A number is clipped to low … high and rounded to the nearest of 2^32 steps; both are done without chance, so no
    float decides what is sent. `gamma` flips what is sent once more with that probability (output perturbation), for
    devices that memoise (`Device`): it blurs the moment at which a memoised answer changes.

    >>> import numpy as np
    >>> from discreet.local import OneBitMean
    >>> from discreet.privacy import PureDP
    >>> minutes = OneBitMean(0, 1440, PureDP(1))
    >>> minutes.randomize(90.5) in (0, 1), minutes.randomize(np.array([0.0, 1440.0])).shape
    (True, (2,))

    Refuses low ≥ high, NaN, and reports that are not 0 or 1, before any bit is drawn.
    """

    low: Fraction
    high: Fraction
    epsilon: Fraction
    gamma: Fraction

    __repr__ = named

    def __init__(self, low: Number, high: Number, spend: Measure, *, gamma: Number = 0) -> None:
        (least, most), flip = read_range(low, high), rational(gamma, "gamma")
        if not 0 <= flip < Fraction(1, 2):
            raise InvalidArgument(f"gamma must be at least 0 and below 1/2, got {gamma}")
        fill(self, low=least, high=most, epsilon=epsilon_of(spend), gamma=flip)

    @classmethod
    def for_error(
        cls, error: Number, *, n: int, low: Number, high: Number, beta: Number = 0.05
    ) -> OneBitMean:
        """Take the least ε at which n reports give the mean to within `error`, with probability at least 1 − β.

        >>> from discreet.local import OneBitMean
        >>> minutes = OneBitMean.for_error(20, n=10_000, low=0, high=1440)
        >>> minutes.error(n=10_000) <= 20
        True

        Refuses an error that even true bits could not promise.
        """
        return reach_error(lambda spend: cls(low, high, spend), error, n=n, beta=beta)

    @property
    def event(self) -> Promise:
        """What one report costs the person who sends it."""
        return promise(self.epsilon)

    @property
    def p(self) -> float:
        """The probability that the bit sent is the one the first coin showed."""
        truth = 1 / (1 + math.exp(-self.epsilon))
        return truth + float(self.gamma) * (1 - 2 * truth)

    @overload
    def randomize(self, value: float, *, bits: Bits | None = None) -> int: ...
    @overload
    def randomize(self, value: NDArray[Any], *, bits: Bits | None = None) -> NDArray[np.int64]: ...
    def randomize(
        self, value: float | NDArray[Any], *, bits: Bits | None = None
    ) -> int | NDArray[np.int64]:
        """Draw the bit of one number, or of an array of numbers of different people."""
        steps = self.steps(value)
        source = readable(bits)
        words = ByteWords(source).words(steps.size, 64)
        coins = (words >> np.uint64(32)) < steps.reshape(-1)
        sent = coins ^ flips(self.epsilon, steps.size, bits)
        answers = self.perturb(sent, bits).astype(np.int64).reshape(steps.shape)
        return int(answers) if answers.ndim == 0 else answers

    def perturb(self, sent: NDArray[np.bool_], bits: Bits | None = None) -> NDArray[np.bool_]:
        """Flip bits with probability gamma; nothing is drawn if gamma is 0."""
        return flip_with(self.gamma, sent, bits)

    def steps(self, value: object) -> NDArray[np.uint64]:
        """Clip numbers and round them to the nearest of 2^32 steps; refuses NaN, and never shows a value."""
        array = read_array(value)
        if array.dtype.kind not in "iuf":
            raise InvalidArgument("a value must be a number")
        exact = array.astype(np.float64)
        if np.isnan(exact).any():
            raise InvalidArgument(
                "a value must be a number, and NaN is none; send the report of a public default"
            )
        low, high = float(self.low), float(self.high)
        placed = np.floor(
            (np.clip(exact, low, high) - low) / float(self.high - self.low) * GRID + 0.5
        )
        return np.minimum(placed, float(GRID)).astype(np.uint64)

    def estimate(self, reports: object, *, level: float = 0.95) -> Estimate:
        """Estimate the mean of those who reported; the interval inverts the binomial law (Hoeffding 1956).

        >>> from discreet.local import OneBitMean
        >>> from discreet.privacy import PureDP
        >>> print(OneBitMean(0, 10, PureDP(2)).estimate([1] * 60 + [0] * 40))
        mean    estimate     ± error           95 % interval
        mean       6.313       0.643         4.9634 … 7.5828
        100 reports; of population; binomial law (Hoeffding 1956)

        Refuses no reports, and reports other than 0 and 1.
        """
        answers = self.read(reports)
        n, ones = int(answers.size), int(answers.sum())
        spread = float(self.high - self.low) / (2 * self.p - 1)
        least, most = clopper_pearson(np.array([ones]), n, 1 - read_level(level))
        shares = ones / n, float(least[0]), float(most[0])
        value, low, high = (float(self.low) + (share - (1 - self.p)) * spread for share in shares)
        error = spread * math.sqrt(ones / n * (1 - ones / n) / n)
        ends = np.clip(np.array([[low], [high]]), float(self.low), float(self.high))
        note = "binomial law (Hoeffding 1956)"
        found = np.array([value]), np.array([error]), ends[0], ends[1]
        return Estimate("mean", ("mean",), *found, read_level(level), n, "population", note)

    def read(self, reports: object) -> NDArray[np.int64]:
        """Read reports; refuses those no device could have sent."""
        return read_ones(reports)

    def variance(self, *, n: int, frequency: float = 0.5) -> float:
        """Return the variance of the mean; `frequency` is where the numbers lie between low (0) and high (1).

        It counts the coins that round a number to a bit, for numbers that all lie there; at most
        (high − low)²/4n·((e^ε + 1)/(e^ε − 1))², reached at one half.

        >>> from discreet.local import OneBitMean
        >>> from discreet.privacy import PureDP
        >>> round(OneBitMean(-1, 1, PureDP(1)).variance(n=1), 3)
        4.683
        """
        if not 0 <= frequency <= 1:
            raise InvalidArgument("frequency must lie from 0 to 1")
        chance = 1 - self.p + frequency * (2 * self.p - 1)
        spread = float(self.high - self.low) / (2 * self.p - 1)
        return spread**2 * chance * (1 - chance) / whole(n, "n", least=1)

    def error(self, *, n: int, beta: Number = 0.05) -> float:
        """Bound |estimate − mean| with probability at least 1 − β (Hoeffding 1963)."""
        reach = math.sqrt(math.log(2 / read_beta(beta)) / (2 * whole(n, "n", least=1)))
        return up(reach * float(self.high - self.low) / (2 * self.p - 1))

    def influence(self, *, n: int, forged: int = 1) -> float:
        """Bound how far `forged` of n reports can move the mean, whatever they say: (high − low)/(p − q) a report."""
        people = whole(n, "n", least=1)
        return up(
            float(self.high - self.low)
            / (2 * self.p - 1)
            * whole(forged, "forged", most=people)
            / people
        )

    def shuffled(self, n: int) -> Shuffle:
        """Return what one report costs among those of at least n people: that of binary response to a random bit.

        Hockey-stick divergences are convex in what anyone holds. γ is post-processing; below nothing is known then.
        """
        found = shuffle_choice(direct_facts(2), self.epsilon, n)
        return replace(found, lower=shuffle_pure(self.epsilon, n).lower) if self.gamma else found

    def to_json(self) -> dict[str, object]:
        """Return the parameters, all a device needs."""
        amounts = {name: str(getattr(self, name)) for name in ("low", "high", "epsilon", "gamma")}
        return {"mechanism": "one-bit-mean", "version": 1, **amounts}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> OneBitMean:
        """Read what `to_json` wrote; refuses unknown or missing fields, and other versions."""
        read = fields_of(given, "one-bit-mean", ("low", "high", "epsilon", "gamma"))
        return cls(read["low"], read["high"], PureDP(read["epsilon"]), gamma=read["gamma"])


def flip_with(gamma: Fraction, sent: NDArray[np.bool_], bits: Bits | None) -> NDArray[np.bool_]:
    """Flip each bit with probability gamma; nothing is drawn if gamma is 0."""
    return sent ^ coin(gamma, sent.size, bits=bits).reshape(sent.shape) if gamma else sent


def read_ones(reports: object) -> NDArray[np.int64]:
    """Read bits; the message carries no report.

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
