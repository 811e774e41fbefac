"""Threshold mechanisms for unknown keys (partition selection with noisy counts).

A key that only one person holds reveals that person by its mere presence, whatever its count. So
the threshold is the least one at which any of the keys that one person alone holds, at most K, is
shown with probability at most δ.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from fractions import Fraction

from ...arithmetic.arrays import Integers
from ...arithmetic.rational import Number, between_0_and_1, positive, rational, whole
from ...frozen import fill, frozen
from ...noise import Bits, gaussian, laplace
from ...privacy.calibrate import least_scale
from ...privacy.events import DiscreteGaussianNoise, DiscreteLaplaceNoise, KeySelection
from ...privacy.measures import ApproxDP, Measure
from ..laws.error_bound import parameter_repr, read_beta
from ..laws.tails import gaussian_tail, laplace_tail, least_with_tail, two_sided_bound
from ..reading.allowance import read_approximate_budget
from ..reading.steps import add_exactly
from ..reading.value import deprecated_call
from .counts import KeyCounts, per_key_delta, read_counts, read_threshold_rule


def laplace_threshold(epsilon: Number, delta: Number, max_groups: int = 1) -> float:
    """Return the threshold for continuous Laplace noise of scale K/ε: 1 + (K/ε) ln(1/2δ').

    It is the least t ≥ 1 with P[1 + Lap ≥ t] ≤ δ', δ' = 1 − (1 − δ)^(1/K). Then, with probability
    at least 1 − δ, none of a person's K keys that nobody else holds appears (Korolova et al. 2009;
    Wilson et al. 2020).

    >>> from discreet.mechanisms.keys.threshold import laplace_threshold
    >>> round(laplace_threshold(1, 1e-6), 9)
    14.122363377

    Law: tests/mechanisms/test_threshold.py::TestThreshold
    """
    scale = whole(max_groups, "max_groups", least=1) / positive(epsilon, "epsilon")
    key_delta = per_key_delta(rational(delta, "delta"), max_groups)
    # A δ' above 1/2 needs no distance: the noise alone hides the key half of the time.
    scales = max(0.0, -math.log(2 * key_delta))
    return 1 + scales * float(scale)


class KeyThreshold:
    """Base of the threshold mechanisms: noise on every count, keys that reach a threshold shown.

    A subclass states its noise Z: the price (`event`), the draw (`_draw`), and the upper tail
    P[Z ≥ z], rounded up (`_tail`).
    """

    __slots__ = ()

    delta: Fraction
    max_groups: int
    _tail: Callable[[int], float]
    _draw: Callable[[int, Bits | None], Integers]

    __repr__ = parameter_repr

    @property
    def threshold(self) -> int:
        """The least noisy count that is shown."""
        # The tail is rounded up and δ' down, so the threshold is never too low.
        return 1 + least_with_tail(self._tail, per_key_delta(self.delta, self.max_groups))

    def release(self, counts: Mapping[Hashable, int], *, bits: Bits | None = None) -> KeyCounts:
        """Add noise to every count and keep the keys that reach the threshold."""
        keys, exact = read_counts(counts)
        noisy = add_exactly(exact, self._draw(len(keys), bits))
        return KeyCounts.above(keys, noisy, self.threshold, self.error)

    def shown(self, count: int) -> float:
        """Return the probability that a key with this true count is shown."""
        # A key that nobody holds has no count to add noise to.
        return self._tail(self.threshold - whole(count, "count")) if count else 0.0

    def error(self, beta: Number = 0.05) -> float:
        """Bound the noise on one count, with probability at least 1 − β.

        The least whole t with P[|Z| > t] ≤ β.
        """
        return float(two_sided_bound(self._tail, read_beta(beta)))


@frozen(init=False, repr=False)
class LaplaceThreshold(KeyThreshold):
    """Laplace threshold mechanism: noise of scale K/ε on every count, keys that reach t are shown.

    The noise is discrete Laplace. Each person holds at most K = `max_groups` keys (truncation
    happens before) and counts once in each. On keys that others hold too, this noise hides a person
    (Δ1 = K). The threshold t is the least whole number with P[1 + Z ≥ t] ≤ 1 − (1 − δ)^(1/K), so a
    person's own keys appear with probability at most δ together (Korolova et al. 2009; Wilson et
    al. 2020).

    >>> import discreet as dp
    >>> keys = dp.LaplaceThreshold(epsilon=1, delta=1e-6)
    >>> keys.threshold
    15
    >>> keys.release({"ada": 1_000_000, "bob": 0}).keys, keys.shown(1) <= 1e-6
    (('ada',), True)

    Guarantee: one release is (ε, δ)-DP for adding or removing one person.
    Refuses: ε not above 0, δ outside (0, 1), K below 1, counts that are not whole
    (InvalidArgument), before a bit is drawn.
    Law: tests/mechanisms/test_threshold.py::TestPrice,
    tests/mechanisms/test_threshold.py::TestThreshold
    """

    epsilon: Fraction
    delta: Fraction
    max_groups: int

    @deprecated_call(l0="max_groups")
    def __init__(self, epsilon: Number, delta: Number, *, max_groups: int = 1) -> None:
        exact = positive(epsilon, "epsilon")
        fill(self, epsilon=exact, **read_threshold_rule(delta, max_groups))

    @classmethod
    @deprecated_call(l0="max_groups")
    def spending(cls, spend: Measure, *, max_groups: int = 1) -> LaplaceThreshold:
        """Spend an (ε, δ): all of ε on the counts, all of δ on the keys of one person."""
        epsilon, delta = read_approximate_budget(spend, "selecting unknown keys")
        return cls(epsilon, delta, max_groups=max_groups)

    @property
    def scale(self) -> Fraction:
        """The scale of the noise, K/ε."""
        return self.max_groups / self.epsilon

    def _tail(self, z: int) -> float:
        """Return P[Z ≥ z], rounded up."""
        return laplace_tail(self.scale, z)

    @property
    def event(self) -> KeySelection:
        """The event to be priced: discrete Laplace noise of Δ1 = K, and δ for a person's keys."""
        return KeySelection(DiscreteLaplaceNoise(self.scale, self.max_groups), self.delta)

    def _draw(self, count: int, bits: Bits | None) -> Integers:
        """Draw the noise of `count` keys."""
        return laplace(self.scale, count, bits=bits)


@frozen(init=False, repr=False)
class GaussianThreshold(KeyThreshold):
    """Gaussian threshold mechanism: discrete Gaussian noise on each count, keys that reach t shown.

    One person's K = `max_groups` keys move the counts by √K in Euclidean length, not by K: better
    than Laplace noise for many keys a person (Wilson et al. 2020).

    >>> import discreet as dp
    >>> keys = dp.GaussianThreshold(variance=100, delta=1e-6, max_groups=1)
    >>> keys.threshold
    50
    >>> keys.release({"ada": 1_000_000, "bob": 0}).keys, keys.shown(1) <= 1e-6
    (('ada',), True)

    Guarantee: the price of the noise (variance σ², Δ2² = K), and δ for a person's own keys, for
    adding or removing one person.
    Refuses: a variance not above 0, δ outside (0, 1), K below 1 (InvalidArgument).
    Law: tests/mechanisms/test_threshold.py::TestPrice,
    tests/mechanisms/test_threshold.py::TestThreshold
    """

    variance: Fraction
    delta: Fraction
    max_groups: int

    @deprecated_call(l0="max_groups")
    def __init__(self, variance: Number, delta: Number, *, max_groups: int = 1) -> None:
        exact = positive(variance, "variance")
        fill(self, variance=exact, **read_threshold_rule(delta, max_groups))

    @classmethod
    @deprecated_call(l0="max_groups")
    def spending(
        cls, spend: Measure, *, max_groups: int = 1, key_share: Number = Fraction(1, 2)
    ) -> GaussianThreshold:
        """Spend an (ε, δ): `key_share` of δ on the keys of one person, the other part on the noise.

        Refuses: a `key_share` outside (0, 1) (InvalidArgument).
        """
        epsilon, delta = read_approximate_budget(spend, "selecting unknown keys")
        part = ": the part of delta spent on the keys of one person"
        share = between_0_and_1(key_share, "key_share", part)
        keys = whole(max_groups, "max_groups", least=1)
        noise_budget = ApproxDP(epsilon, delta * (1 - share))

        def noise_at(sigma: Fraction) -> DiscreteGaussianNoise:
            return _noise_of_keys(sigma**2, keys)

        # Start above √K, the l2 sensitivity.
        sigma = least_scale(noise_at, noise_budget, start=Fraction(math.isqrt(keys) + 1))
        return cls(sigma**2, delta * share, max_groups=keys)

    def _tail(self, z: int) -> float:
        """Return P[Z ≥ z], rounded up."""
        return gaussian_tail(self.variance, z)

    @property
    def event(self) -> KeySelection:
        """The event to be priced: discrete Gaussian noise of Δ2² = K, and δ for a person's keys."""
        return KeySelection(_noise_of_keys(self.variance, self.max_groups), self.delta)

    def _draw(self, count: int, bits: Bits | None) -> Integers:
        """Draw the noise of `count` keys."""
        return gaussian(self.variance, count, bits=bits)


def _noise_of_keys(variance: Fraction, keys: int) -> DiscreteGaussianNoise:
    """Return the noise event of counts of which one person moves `keys`, each by one."""
    return DiscreteGaussianNoise(variance, keys, dimension=keys, linf=1)
