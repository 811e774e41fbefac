"""Stability-based mechanisms: histogram of unknown keys, and the mode released without noise.

The mode is stable if no change of one person can make another key the most frequent. A stable
answer can be released exactly, at the price of the private test of its stability.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction

import numpy as np

from ...arithmetic.rational import Number, positive
from ...frozen import fill, frozen
from ...noise import Bits, laplace
from ...privacy.events import Promise
from ...privacy.measures import ADD_REMOVE, ApproxDP, Measure, Neighbours, read_neighbours
from ..laws.error_bound import parameter_repr, read_beta
from ..laws.tails import laplace_tail, least_with_tail
from ..reading.allowance import read_approximate_budget
from .counts import per_key_delta, public_order, read_counts
from .threshold import LaplaceThreshold


def stability_histogram(budget: Measure) -> LaplaceThreshold:
    """Make the stability-based histogram: noise on non-empty cells, small ones dropped.

    Its error does not grow with the number of possible cells, which may be infinite (Korolova et
    al. 2009; Bun, Nissim, Stemmer 2016). One person holds one key, so this is `LaplaceThreshold`
    with K = 1.

    >>> import discreet as dp
    >>> from discreet.mechanisms import stability_histogram
    >>> stability_histogram(dp.ApproxDP(1, "1e-12")).release({"ada": 10**6, "eve": 1}).keys
    ('ada',)

    Law: tests/mechanisms/test_stability.py::test_histogram_is_thresholding_with_one_key_a_person
    """
    return LaplaceThreshold.spending(budget, max_groups=1)


@frozen(init=False)
class PrivateMode:
    """Private mode: releases the most frequent key without noise if its lead is large, else None.

    The distance d is how many people must change before the mode may: d = lead − 1 under
    add/remove, ⌈lead/2⌉ − 1 under replace, at least 0. One person moves it by at most 1, and where
    d > 0 all neighbours have the same mode. The mode is released if d + Z ≥ t, Z geometric of scale
    1/ε, t least with P[Z ≥ t] ≤ δ (Smith, Thakurta 2013; Dwork, Roth 2014, §7.3). Keys need not be
    known beforehand, and their number does not matter.

    >>> import discreet as dp
    >>> dp.PrivateMode(epsilon=1, delta=1e-6).release({"blue": 900, "red": 300, "green": 20})
    'blue'
    >>> dp.PrivateMode(epsilon=1000, delta=1e-6).release({"blue": 500, "red": 500}) is None
    True

    Guarantee: one release is (ε, δ)-DP.
    Refuses: ε not above 0, δ outside (0, 1), counts that are not whole (InvalidArgument).
    Law: tests/mechanisms/test_stability.py::TestPrice
    """

    epsilon: Fraction
    delta: Fraction
    neighbours: Neighbours

    __repr__ = parameter_repr

    def __init__(
        self, epsilon: Number, delta: Number, *, neighbours: Neighbours = ADD_REMOVE
    ) -> None:
        exact_epsilon = positive(epsilon, "epsilon")
        exact_delta = positive(delta, "delta")
        budget = ApproxDP(exact_epsilon, exact_delta)
        fill(self, epsilon=budget.epsilon, delta=budget.delta)
        # Called for its refusal of a δ too small for floats.
        per_key_delta(self.delta, 1)
        fill(self, neighbours=read_neighbours(neighbours))

    @classmethod
    def spending(cls, spend: Measure, *, neighbours: Neighbours = ADD_REMOVE) -> PrivateMode:
        """Spend an (ε, δ)."""
        epsilon, delta = read_approximate_budget(spend, "releasing a mode of unknown keys")
        return cls(epsilon, delta, neighbours=neighbours)

    def _tail(self, z: int) -> float:
        """Return P[Z ≥ z] of the test's noise, rounded up."""
        return laplace_tail(1 / self.epsilon, z)

    @property
    def threshold(self) -> int:
        """The least noisy distance at which the mode is released."""
        return least_with_tail(self._tail, per_key_delta(self.delta, 1))

    @property
    def event(self) -> Promise:
        """The event to be priced: a mechanism that keeps (ε, δ)."""
        return Promise(ApproxDP(self.epsilon, self.delta), neighbours=self.neighbours)

    def release(
        self, counts: Mapping[Hashable, int], *, bits: Bits | None = None
    ) -> Hashable | None:
        """Return the mode, or None."""
        keys, exact = read_counts(counts)
        # Drawn in any case: the number of bits tells nothing of the keys.
        noise = laplace(1 / self.epsilon, bits=bits)
        if not keys or self._distance(exact) + noise < self.threshold:
            return None
        best = int(exact.max())
        modes = []
        for key, count in zip(keys, exact, strict=True):
            if count == best:
                modes.append((key, best))
        # Several modes: the first in an order that does not depend on that of the data.
        return public_order(modes)[0][0]

    def released(self, lead: int) -> float:
        """Return the probability that a mode with this lead over the second is released."""
        return self._tail(self.threshold - self._of(lead))

    def error(self, beta: Number = 0.05) -> int:
        """Return the least lead with which the mode is released, with probability at least 1 − β.

        A released mode has no error.
        """

        def below(z: int) -> float:
            # P[Z < −z] = P[Z ≥ z + 1] by symmetry.
            return self._tail(z + 1)

        slack = least_with_tail(below, read_beta(beta))
        distance = self.threshold + slack
        if self.neighbours == ADD_REMOVE:
            return distance + 1
        return 2 * distance + 1

    def _distance(self, exact: np.ndarray[tuple[int], np.dtype[np.int64]]) -> int:
        descending = sorted(map(int, exact), reverse=True)
        # With a single key the second count is 0.
        first, second = [*descending, 0][:2]
        return self._of(first - second)

    def _of(self, lead: int) -> int:
        """Return the distance of a lead."""
        # Replacing one person changes a lead by two, adding or removing one by one.
        changes = lead if self.neighbours == ADD_REMOVE else -(-lead // 2)
        return max(0, changes - 1)
