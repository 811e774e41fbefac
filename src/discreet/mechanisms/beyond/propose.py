"""Propose-test-release: propose a bound on local sensitivity, test it privately, then release.

If the test fails nothing is released (None). The answer has noise in proportion to the bound.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

import numpy as np

from ...arithmetic.rational import Number, between_0_and_1, positive, whole
from ...arithmetic.rounding import up
from ...errors import InvalidArgument
from ...frozen import fill, frozen
from ...noise import Bits, laplace
from ...privacy.events import Promise
from ...privacy.measures import REPLACE, ApproxDP, Measure, Neighbours, read_neighbours
from ..keys.counts import per_key_delta
from ..laws.error_bound import parameter_repr, read_beta
from ..laws.tails import laplace_tail, least_with_tail, two_sided_bound
from ..reading.allowance import read_approximate_budget
from .ordered import PLACES, Range, ranks, read_quantile, small_spans


@frozen(init=False)
class ProposeTestRelease:
    """Propose-test-release: releases a whole number with noise if its stability passes a test.

    The noise has scale bound/ε₂, the test costs ε₁ = `test_share`·ε, ε₂ is the rest; without a pass
    the answer is None. The caller gives the distance d(x) ≥ 0. One person moves it by at most 1,
    and it is 0 where the answer could move by more than `bound` to a neighbour. The test: d + Z ≥
    t, with Z geometric of scale 1/ε₁ and t the least whole number with P[Z ≥ t] ≤ δ (Dwork, Lei
    2009). Proof: if d > 0 on one of two neighbours, their answers are at most `bound` apart and
    test and noise cost ε₁ + ε₂; if d = 0 on both, each passes with probability at most δ, and
    otherwise both say None, at a ratio of at most e^ε₁.

    >>> import discreet as dp
    >>> ptr = dp.ProposeTestRelease(epsilon=2000, delta=1e-6, bound=1)
    >>> ptr.release(42, distance=100), ptr.release(42, distance=0)
    (42, None)

    Guarantee: one release is (ε₁ + ε₂, δ)-DP.
    Refuses: ε not above 0, δ outside (0, 1), a bound below 1, a share outside (0, 1), a distance
    below 0 (InvalidArgument).
    Law: tests/mechanisms/test_propose.py::TestPrice
    """

    epsilon: Fraction
    delta: Fraction
    bound: int
    test_share: Fraction
    neighbours: Neighbours

    __repr__ = parameter_repr

    def __init__(
        self,
        epsilon: Number,
        delta: Number,
        bound: int,
        *,
        test_share: Number = Fraction(1, 2),
        neighbours: Neighbours = REPLACE,
    ) -> None:
        exact_epsilon = positive(epsilon, "epsilon")
        exact_delta = positive(delta, "delta")
        budget = ApproxDP(exact_epsilon, exact_delta)
        part = ": the part of epsilon spent on the test"
        share = between_0_and_1(test_share, "test_share", part)
        fill(self, epsilon=budget.epsilon, delta=budget.delta, test_share=share)
        # Called for its refusal of a δ too small for floats.
        per_key_delta(self.delta, 1)
        steps = whole(bound, "bound", least=1)
        relation = read_neighbours(neighbours)
        fill(self, bound=steps, neighbours=relation)

    @classmethod
    def spending(
        cls,
        spend: Measure,
        *,
        bound: int,
        test_share: Number = Fraction(1, 2),
        neighbours: Neighbours = REPLACE,
    ) -> ProposeTestRelease:
        """Spend an (ε, δ)."""
        epsilon, delta = read_approximate_budget(spend, "propose-test-release")
        return cls(epsilon, delta, bound, test_share=test_share, neighbours=neighbours)

    @property
    def test_scale(self) -> Fraction:
        """The scale of the noise on the distance, 1/ε₁."""
        return 1 / (self.epsilon * self.test_share)

    @property
    def scale(self) -> Fraction:
        """The scale of the noise on the answer, bound/ε₂."""
        return self.bound / (self.epsilon * (1 - self.test_share))

    def _test_tail(self, z: int) -> float:
        """Return P[Z ≥ z] of the test's noise, rounded up."""
        return laplace_tail(self.test_scale, z)

    @property
    def threshold(self) -> int:
        """The least noisy distance that passes."""
        # The tail is rounded up, so the threshold is never too low.
        return least_with_tail(self._test_tail, per_key_delta(self.delta, 1))

    @property
    def event(self) -> Promise:
        """The event to be priced: a mechanism that keeps (ε, δ)."""
        return Promise(ApproxDP(self.epsilon, self.delta), neighbours=self.neighbours)

    def release(self, value: int, distance: int, *, bits: Bits | None = None) -> int | None:
        """Test the distance, then release the value with noise, or None."""
        exact = _read_whole(value)
        far = _read_whole(distance)
        if far < 0:
            raise InvalidArgument(
                "the distance must be at least 0: how many people must change before the answer may"
            )
        # Both noises are drawn in any case: the work tells nothing of the test.
        test = laplace(self.test_scale, bits=bits)
        noise = laplace(self.scale, bits=bits)
        if far + test < self.threshold:
            return None
        return exact + noise

    def passes(self, distance: int) -> float:
        """Return the probability that a distance passes the test."""
        return self._test_tail(self.threshold - whole(distance, "distance"))

    def error(self, beta: Number = 0.05) -> float:
        """Bound the noise on a released answer, with probability at least 1 − β.

        The least whole t with P[|Z| > t] ≤ β.
        """
        return float(two_sided_bound(partial(laplace_tail, self.scale), read_beta(beta)))


@frozen(init=False)
class ProposedQuantile:
    """Quantile by propose-test-release: noise for a proposed local sensitivity, if data are tight.

    The distance is the least k with A_k > bound (`ordered.span`): A_0 bounds the move to any
    neighbour, and A_k(x) ≤ A_(k+1)(x') makes the distance move by at most 1.

    >>> import discreet as dp
    >>> median = dp.ProposedQuantile(epsilon=10, delta=1e-12, low=0, high=100, bound=0.5)
    >>> abs(median.release([50.0] * 1001) - 50) < 3, median.release([0.0] * 5 + [100.0] * 5)
    (True, None)

    Guarantee: one release is (ε, δ)-DP for replacing one of n values, n public.
    Refuses: what `ProposeTestRelease` refuses, bounds out of order, a bound below 2^-32 of the
    range, NaN, no values (InvalidArgument).
    Law: tests/mechanisms/test_propose.py::TestQuantile, tests/mechanisms/test_ordered.py::TestSpan
    """

    test: ProposeTestRelease
    quantile: Fraction
    range: Range

    __repr__ = parameter_repr

    def __init__(
        self,
        epsilon: Number,
        delta: Number,
        low: Number,
        high: Number,
        bound: Number,
        *,
        quantile: Number = Fraction(1, 2),
        test_share: Number = Fraction(1, 2),
    ) -> None:
        limits = Range(low, high)
        # Rounded down: a smaller proposed bound is harder to pass, never less private.
        proposed = positive(bound, "bound") * PLACES
        steps = math.floor(proposed / (limits.high - limits.low))
        exact = read_quantile(quantile)
        test = ProposeTestRelease(epsilon, delta, steps, test_share=test_share)
        fill(self, test=test, quantile=exact, range=limits)

    @classmethod
    def spending(
        cls,
        spend: Measure,
        *,
        low: Number,
        high: Number,
        bound: Number,
        quantile: Number = Fraction(1, 2),
        test_share: Number = Fraction(1, 2),
    ) -> ProposedQuantile:
        """Spend an (ε, δ).

        >>> import discreet as dp
        >>> dp.ProposedQuantile.spending(dp.ApproxDP(1, 1e-6), low=0, high=100, bound=1).event.measure
        ApproxDP(1, 1e-06)
        """
        epsilon, delta = read_approximate_budget(spend, "propose-test-release")
        return cls(epsilon, delta, low, high, bound, quantile=quantile, test_share=test_share)

    @property
    def event(self) -> Promise:
        """The event to be priced: a mechanism that keeps (ε, δ) when one value is replaced."""
        return self.test.event

    def release(self, values: object, *, bits: Bits | None = None) -> float | None:
        """Test how tight the data are about the quantile, then release it with noise, or None."""
        ordered = self.range.sorted(values)
        if ordered.size == 0:
            raise InvalidArgument(
                "at least one value is needed; the number of values is public here"
            )
        a, b = ranks(self.quantile, ordered.size)
        # The distance is cut off at a public number, which passes almost surely.
        max_distance = 3 * self.test.threshold + 1
        # Once all n values are changed the span is the whole range, whatever the data are.
        distance = small_spans(ordered, a, b, self.test.bound, min(max_distance, ordered.size))
        if self.test.bound >= PLACES:
            distance = max_distance
        noisy = self.test.release(int(ordered[a]), distance, bits=bits)
        if noisy is None:
            return None
        return self.range.value(min(max(noisy, 0), PLACES))

    def error(self, beta: Number = 0.05) -> float:
        """Bound the noise on a released answer, with probability at least 1 − β."""
        step = float((self.range.high - self.range.low) / PLACES)
        # One step more, for rounding the value to the lattice.
        return up((self.test.error(beta) + 1) * step)


def _read_whole(value: object) -> int:
    """Read a whole number of the data; the message of a refusal carries nothing of it."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InvalidArgument(
            "value and distance must be whole numbers: a count of lattice steps, a count of people"
        )
    return int(value)
