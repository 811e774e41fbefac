"""Optimal partition selection: show unknown keys, without counts, as often as (ε, δ) allows.

A key is shown with a probability that depends on the number of people who hold it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction
from functools import lru_cache
from math import ceil

import numpy as np

from ...arithmetic.rational import Number, between_0_and_1, positive, whole
from ...errors import InvalidArgument
from ...frozen import fill, frozen
from ...noise import Bits, uniform
from ...noise.exp import exp_neg
from ...privacy.events import Promise
from ...privacy.measures import ApproxDP, Measure
from ..laws.error_bound import parameter_repr, read_beta
from ..reading.allowance import read_approximate_budget
from ..reading.value import deprecated_call
from .counts import public_order, read_counts

# A probability is a whole number of 124 bits: two draws of 62 bits decide it.
_DRAW_BITS = 62
_FINE = 2 * _DRAW_BITS
# The longest table of the rule: 2^18 counts.
_MAX_ROWS = 1 << 18


@frozen(init=False)
class PartitionSelection:
    """Optimal partition selection: shows a key held by n people with the greatest probability π(n).

    No (ε, δ)-DP rule can give it a greater one:
    π(0) = 0, π(n) = min(e^ε π(n−1) + δ, 1 − e^(−ε)(1 − δ − π(n−1)), 1)
    (Desfontaines, Voss, Gipson, Mandayam 2022). The probabilities are rationals of 124 bits,
    rounded down step by step, so the two inequalities that make the rule private hold exactly; the
    coin is an exact one. A person holds at most K = `max_groups` keys, each at (ε/K, δ/K).

    >>> import discreet as dp
    >>> rule = dp.PartitionSelection(epsilon=1, delta=1e-5)
    >>> [round(rule.shown(n), 6) for n in (0, 1, 2, 10, 11, 25)]
    [0.0, 1e-05, 3.7e-05, 0.128183, 0.348448, 1.0]
    >>> rule.release({"ada": 100, "bob": 100})
    ('ada', 'bob')

    Guarantee: one release is (ε, δ)-DP for adding or removing one person.
    Refuses: ε not above 0, δ outside (0, 1), K below 1, counts that are not whole, and ε so small
    that the table of π would have more than 2^18 rows (InvalidArgument).
    Law: tests/mechanisms/test_partition.py::TestPrivacy,
    tests/mechanisms/test_partition.py::TestOptimality
    """

    epsilon: Fraction
    delta: Fraction
    max_groups: int

    __repr__ = parameter_repr

    @deprecated_call(l0="max_groups")
    def __init__(self, epsilon: Number, delta: Number, *, max_groups: int = 1) -> None:
        exact_epsilon = positive(epsilon, "epsilon")
        keys = whole(max_groups, "max_groups", least=1)
        far_below = f", got {delta}; it should be far below 1/n"
        exact_delta = between_0_and_1(delta, "delta", far_below)
        fill(self, epsilon=exact_epsilon, delta=exact_delta, max_groups=keys)

    @classmethod
    @deprecated_call(l0="max_groups")
    def spending(cls, spend: Measure, *, max_groups: int = 1) -> PartitionSelection:
        """Spend an (ε, δ), split evenly over the K keys of a person."""
        epsilon, delta = read_approximate_budget(spend, "selecting unknown keys")
        return cls(epsilon, delta, max_groups=max_groups)

    @property
    def event(self) -> Promise:
        """The event to be priced: a mechanism that keeps (ε, δ)."""
        return Promise(ApproxDP(self.epsilon, self.delta))

    def _rule(self) -> tuple[int, ...]:
        """Return the table of π for one key, at (ε/K, δ/K)."""
        return optimal_rule(self.epsilon / self.max_groups, self.delta / self.max_groups)

    def release(
        self, counts: Mapping[Hashable, int], *, bits: Bits | None = None
    ) -> tuple[Hashable, ...]:
        """Toss an exact coin for every key; return those shown, in a data-independent order."""
        # The table first: a rule that cannot be tabulated is refused before a count is read.
        rule = self._rule()
        keys, exact = read_counts(counts)
        last = len(rule) - 1
        halves = []
        for count in exact:
            probability = rule[min(int(count), last)]
            halves.append(divmod(probability, 1 << _DRAW_BITS))
        # Two columns, also where there is no key.
        high, low = np.array(halves, dtype=np.int64).reshape(-1, 2).T
        # Both halves of the coin are drawn for every key: the work tells nothing of the counts.
        first = uniform(1 << _DRAW_BITS, len(keys), bits=bits)
        second = uniform(1 << _DRAW_BITS, len(keys), bits=bits)
        tie = (first == high) & (second < low)
        shown = (first < high) | tie
        kept = []
        for key, is_shown in zip(keys, shown, strict=True):
            if is_shown:
                kept.append((key, 0))
        return tuple(key for key, _ in public_order(kept))

    def shown(self, count: int) -> float:
        """Return the probability that a key held by `count` people is shown."""
        rule = self._rule()
        people = whole(count, "count")
        last = len(rule) - 1
        return rule[min(people, last)] / (1 << _FINE)

    def error(self, beta: Number = 0.05) -> int:
        """Return the least count from which a key is missed with probability at most β."""
        rule = self._rule()
        # Rounded up: the key must be shown with at least this probability.
        missed = Fraction(read_beta(beta))
        wanted = ceil((1 - missed) * (1 << _FINE))
        return next(count for count, probability in enumerate(rule) if probability >= wanted)


@lru_cache(maxsize=16)
def optimal_rule(epsilon: Fraction, delta: Fraction) -> tuple[int, ...]:
    """Return π(0), π(1), … up to the first 1, in units of 2^-124.

    r ≥ e^(−ε), a rational of 124 bits, takes the place of e^(−ε), and every π(n) is rounded down.
    So two inequalities hold exactly:

        π(n) ≤ π(n−1)/r + δ ≤ e^ε π(n−1) + δ
        1 − π(n) ≥ r(1 − δ − π(n−1)) ≥ e^(−ε)(1 − δ − π(n−1))

    The rule is (ε, δ)-DP, and below the optimal one by far less than a float can show.

    >>> from discreet.mechanisms.keys.partition import optimal_rule
    >>> from fractions import Fraction
    >>> rule = optimal_rule(Fraction(1), Fraction(1, 100))
    >>> len(rule), rule[0], round(rule[1] / 2**124, 6)
    (10, 0, 0.01)

    Refuses: ε or δ so small that the table would not grow, or be too long (InvalidArgument).
    Law: tests/mechanisms/test_partition.py::TestPrivacy
    Proved: proofs/Curves.v::key_rule_private, proofs/Curves.v::key_rule_optimal
    """
    one = 1 << _FINE
    # The upper bound of e^(−ε): a larger r makes both limits on π smaller.
    decay = min(one, exp_neg(epsilon.numerator, epsilon.denominator, _FINE)[1])
    # Rounded down, as every step below is.
    delta_units = int(delta * one)
    rule = [0]
    while rule[-1] < one:
        last = rule[-1]
        growing = (last << _FINE) // decay + delta_units
        hidden = max(0, one - delta_units - last)
        # −(−a >> n) rounds up, so that the limit itself is rounded down.
        saturating = one - (-(-(hidden * decay) >> _FINE))
        rule.append(min(growing, saturating, one))
        if len(rule) > _MAX_ROWS or rule[-1] <= last:
            raise InvalidArgument(
                "epsilon or delta is too small to tabulate the rule; use LaplaceThreshold instead"
            )
    return tuple(rule)
