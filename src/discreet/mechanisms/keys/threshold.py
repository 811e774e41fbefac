"""Unknown keys: noisy counts of how many people hold each key, shown only where they reach a threshold.

A key that only one person holds betrays that person by its mere presence, whatever its count says. So the threshold is
set where such a key appears with probability at most δ.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from fractions import Fraction

from ...arithmetic.rational import Number, positive, rational, whole
from ...errors import InvalidArgument
from ...frozen import fill, frozen
from ...noise import Bits, gaussian, laplace
from ...privacy.calibrate import least_scale
from ...privacy.events import DiscreteGaussianNoise, DiscreteLaplaceNoise, KeySelection
from ...privacy.measures import ApproxDP, Measure
from ..laws.error_bound import named, read_beta
from ..laws.tails import gaussian_tail, laplace_tail, least_above
from ..reading.allowance import approximate
from ..reading.deprecation import formerly
from ..reading.steps import add
from .counts import KeyCounts, per_key, read_counts, read_rule


def laplace_threshold(epsilon: Number, delta: Number, max_groups: int = 1) -> float:
    """Return the threshold for continuous Laplace noise of scale K/ε on counts: 1 + (K/ε) ln(1/2δ').

    It is the least t with P[1 + Lap ≥ t] ≤ δ', δ' = 1 − (1 − δ)^(1/K), so that none of a person's K keys appears with
    probability 1 − δ (Korolova et al. 2009; Wilson et al. 2020).

    >>> from discreet.mechanisms.keys.threshold import laplace_threshold
    >>> round(laplace_threshold(1, 1e-6), 9)
    14.122363377
    """
    scale = whole(max_groups, "max_groups", least=1) / positive(epsilon, "epsilon")
    chance = per_key(rational(delta, "delta"), max_groups)
    return 1 + max(0.0, -math.log(2 * chance)) * float(scale)


@frozen(init=False)
class LaplaceThreshold:
    """Add discrete Laplace noise of scale K/ε to the count of every key present; show those that reach t.

    Each person holds at most K = `max_groups` keys (cut down beforehand) and counts once in each. Price: (ε, δ)
    (Korolova et al. 2009; Wilson et al. 2020): keys held by others too have noise of Δ1 = K; a person's own keys appear
    with probability at most δ together, t being the least whole number with P[1 + Z ≥ t] ≤ 1 − (1 − δ)^(1/K).

    >>> import discreet as dp
    >>> keys = dp.LaplaceThreshold(epsilon=1, delta=1e-6)
    >>> keys.threshold
    15
    >>> keys.release({"ada": 1_000_000, "bob": 0}).keys, keys.shown(1) <= 1e-6
    (('ada',), True)

    Neighbours: add/remove one person. Refuses ε not above 0, δ outside (0, 1), K below 1, counts that are not whole.
    """

    epsilon: Fraction
    delta: Fraction
    max_groups: int

    __repr__ = named

    @formerly(l0="max_groups")
    def __init__(self, epsilon: Number, delta: Number, *, max_groups: int = 1) -> None:
        fill(self, epsilon=positive(epsilon, "epsilon"), **read_rule(delta, max_groups))

    @classmethod
    @formerly(l0="max_groups")
    def spending(cls, spend: Measure, *, max_groups: int = 1) -> LaplaceThreshold:
        """Spend an (ε, δ): all of ε on the counts, all of δ on the keys of one person."""
        epsilon, delta = approximate(spend, "selecting unknown keys")
        return cls(epsilon, delta, max_groups=max_groups)

    @property
    def scale(self) -> Fraction:
        """The scale of the noise, K/ε."""
        return self.max_groups / self.epsilon

    @property
    def threshold(self) -> int:
        """The least noisy count that is shown."""
        chance = per_key(self.delta, self.max_groups)
        return 1 + least_above(lambda z: laplace_tail(self.scale, z), chance)

    @property
    def event(self) -> KeySelection:
        """What was done: discrete Laplace noise of Δ1 = K, and δ for the keys of one person."""
        return KeySelection(DiscreteLaplaceNoise(self.scale, self.max_groups), self.delta)

    def release(self, counts: Mapping[Hashable, int], *, bits: Bits | None = None) -> KeyCounts:
        """Add noise to every count, keep what reaches the threshold."""
        keys, exact = read_counts(counts)
        return KeyCounts.above(
            keys, add(exact, laplace(self.scale, len(keys), bits=bits)), self.threshold, self.error
        )

    def shown(self, count: int) -> float:
        """Return the probability that a key with this true count is shown."""
        return laplace_tail(self.scale, self.threshold - whole(count, "count")) if count else 0.0

    def error(self, beta: Number = 0.05) -> float:
        """Bound the noise on one count, with probability at least 1 − β: the least whole t with P[|Z| > t] ≤ β."""
        chance = read_beta(beta)
        return float(least_above(lambda z: 2 * laplace_tail(self.scale, z + 1), chance))


@frozen(init=False)
class GaussianThreshold:
    """Add discrete Gaussian noise to the count of every key present; show those that reach t.

    One person's K = `max_groups` keys move the counts by √K in Euclidean length, not by K: better than Laplace noise
    for many keys a person. Price: the noise's curve (variance σ², Δ2² = K), and δ for a person's own keys (Wilson et
    al. 2020).

    >>> import discreet as dp
    >>> keys = dp.GaussianThreshold(variance=100, delta=1e-6, max_groups=1)
    >>> keys.threshold
    50
    >>> keys.release({"ada": 1_000_000, "bob": 0}).keys, keys.shown(1) <= 1e-6
    (('ada',), True)

    Neighbours: add/remove one person. Refuses a variance not above 0, δ outside (0, 1), K below 1.
    """

    variance: Fraction
    delta: Fraction
    max_groups: int

    __repr__ = named

    @formerly(l0="max_groups")
    def __init__(self, variance: Number, delta: Number, *, max_groups: int = 1) -> None:
        fill(self, variance=positive(variance, "variance"), **read_rule(delta, max_groups))

    @classmethod
    @formerly(l0="max_groups")
    def spending(
        cls, spend: Measure, *, max_groups: int = 1, key_share: Number = Fraction(1, 2)
    ) -> GaussianThreshold:
        """Spend an (ε, δ): `key_share` of δ on the keys of one person, the rest with ε on the noise."""
        epsilon, delta = approximate(spend, "selecting unknown keys")
        share, persons = rational(key_share, "key_share"), whole(max_groups, "max_groups", least=1)
        if not 0 < share < 1:
            raise InvalidArgument(
                "key_share must lie between 0 and 1: the part of delta spent on the keys of one person"
            )

        def noise(sigma: Fraction) -> DiscreteGaussianNoise:
            return DiscreteGaussianNoise(sigma**2, persons, dimension=persons, linf=1)

        sigma = least_scale(
            noise, ApproxDP(epsilon, delta * (1 - share)), start=Fraction(math.isqrt(persons) + 1)
        )
        return cls(sigma**2, delta * share, max_groups=persons)

    @property
    def threshold(self) -> int:
        """The least noisy count that is shown."""
        chance = per_key(self.delta, self.max_groups)
        return 1 + least_above(lambda z: gaussian_tail(self.variance, z), chance)

    @property
    def event(self) -> KeySelection:
        """What was done: discrete Gaussian noise of Δ2² = K, and δ for the keys of one person."""
        return KeySelection(self._noise(self.variance), self.delta)

    def release(self, counts: Mapping[Hashable, int], *, bits: Bits | None = None) -> KeyCounts:
        """Add noise to every count, keep what reaches the threshold."""
        keys, exact = read_counts(counts)
        noisy = add(exact, gaussian(self.variance, len(keys), bits=bits))
        return KeyCounts.above(keys, noisy, self.threshold, self.error)

    def shown(self, count: int) -> float:
        """Return the probability that a key with this true count is shown."""
        return (
            gaussian_tail(self.variance, self.threshold - whole(count, "count")) if count else 0.0
        )

    def error(self, beta: Number = 0.05) -> float:
        """Bound the noise on one count, with probability at least 1 − β: the least whole t with P[|Z| > t] ≤ β."""
        chance = read_beta(beta)
        return float(least_above(lambda z: 2 * gaussian_tail(self.variance, z + 1), chance))

    def _noise(self, variance: Fraction) -> DiscreteGaussianNoise:
        return DiscreteGaussianNoise(variance, self.max_groups, dimension=self.max_groups, linf=1)
