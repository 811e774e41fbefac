"""Unknown keys without counts: the rule that shows every key as often as (ε, δ) allows at all."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction
from functools import lru_cache
from math import ceil

import numpy as np

from ...arithmetic.rational import Number, positive, rational, whole
from ...errors import InvalidArgument
from ...frozen import fill, frozen
from ...noise import Bits, uniform
from ...noise.exp import exp_neg
from ...privacy.events import Promise
from ...privacy.measures import ApproxDP, Measure
from ..laws.error_bound import named, read_beta
from ..reading.allowance import approximate
from ..reading.deprecation import formerly
from .counts import public_order, read_counts

_WORD = 62
_FINE = 2 * _WORD
_LONGEST = 1 << 18


@frozen(init=False)
class PartitionSelection:
    """Show a key held by n people with probability π(n), the greatest that any (ε, δ)-DP rule can give it.

    π(0) = 0, π(n) = min(e^ε π(n−1) + δ, 1 − e^(−ε)(1 − δ − π(n−1)), 1) (Desfontaines, Voss, Gipson, Mandayam 2022).
    The probabilities are rationals of 124 bits, rounded down step by step, so the two inequalities that make the rule
    private hold exactly; the coin is an exact one. A person holds at most K = `max_groups` keys, each at (ε/K, δ/K).

    >>> import discreet as dp
    >>> rule = dp.PartitionSelection(epsilon=1, delta=1e-5)
    >>> [round(rule.shown(n), 6) for n in (0, 1, 2, 10, 11, 25)]
    [0.0, 1e-05, 3.7e-05, 0.128183, 0.348448, 1.0]
    >>> rule.release({"ada": 100, "bob": 100})
    ('ada', 'bob')

    Neighbours: add/remove one person. Refuses ε not above 0, δ outside (0, 1), K below 1, counts that are not whole,
    and ε so small that the table of π would have more than 2^18 rows.
    """

    epsilon: Fraction
    delta: Fraction
    max_groups: int

    __repr__ = named

    @formerly(l0="max_groups")
    def __init__(self, epsilon: Number, delta: Number, *, max_groups: int = 1) -> None:
        fill(
            self,
            epsilon=positive(epsilon, "epsilon"),
            delta=rational(delta, "delta"),
            max_groups=whole(max_groups, "max_groups", least=1),
        )
        if not 0 < self.delta < 1:
            raise InvalidArgument(
                f"delta must lie between 0 and 1, got {delta}; it should be far below 1/n"
            )

    @classmethod
    @formerly(l0="max_groups")
    def spending(cls, spend: Measure, *, max_groups: int = 1) -> PartitionSelection:
        """Spend an (ε, δ), split evenly over the K keys of a person."""
        epsilon, delta = approximate(spend, "selecting unknown keys")
        return cls(epsilon, delta, max_groups=max_groups)

    @property
    def event(self) -> Promise:
        """What was done: a box that keeps (ε, δ)."""
        return Promise(ApproxDP(self.epsilon, self.delta))

    def release(
        self, counts: Mapping[Hashable, int], *, bits: Bits | None = None
    ) -> tuple[Hashable, ...]:
        """Toss an exact coin for every key; return those shown, in an order that tells nothing of the data."""
        rule = optimal_rule(self.epsilon / self.max_groups, self.delta / self.max_groups)
        keys, exact = read_counts(counts)
        chances = [rule[min(int(count), len(rule) - 1)] for count in exact]
        high = np.array([chance >> _WORD for chance in chances], dtype=np.int64)
        low = np.array([chance & ((1 << _WORD) - 1) for chance in chances], dtype=np.int64)
        first, second = (uniform(1 << _WORD, len(keys), bits=bits) for _ in range(2))
        shown = (first < high) | ((first == high) & (second < low))
        return tuple(
            key
            for key, _ in public_order(
                (key, 0) for key, kept in zip(keys, shown, strict=True) if kept
            )
        )

    def shown(self, count: int) -> float:
        """Return the probability that a key held by so many people is shown."""
        rule = optimal_rule(self.epsilon / self.max_groups, self.delta / self.max_groups)
        return rule[min(whole(count, "count"), len(rule) - 1)] / (1 << _FINE)

    def error(self, beta: Number = 0.05) -> int:
        """Return the least count from which a key is missed with probability at most β."""
        rule = optimal_rule(self.epsilon / self.max_groups, self.delta / self.max_groups)
        sure = ceil((1 - Fraction(read_beta(beta))) * (1 << _FINE))
        return next(count for count, chance in enumerate(rule) if chance >= sure)


@lru_cache(maxsize=16)
def optimal_rule(epsilon: Fraction, delta: Fraction) -> tuple[int, ...]:
    """Return π(0), π(1), … up to the first 1, in units of 2^-124.

    With r ≥ e^(−ε) a rational of 124 bits in place of e^(−ε), every π(n) is rounded down, so it satisfies
    π(n) ≤ π(n−1)/r + δ ≤ e^ε π(n−1) + δ and 1 − π(n) ≥ r(1 − δ − π(n−1)) ≥ e^(−ε)(1 − δ − π(n−1)) exactly: a rule that
    is (ε, δ)-DP, and below the optimal one by far less than a float can show.

    >>> from discreet.mechanisms.keys.partition import optimal_rule
    >>> from fractions import Fraction
    >>> rule = optimal_rule(Fraction(1), Fraction(1, 100))
    >>> len(rule), rule[0], round(rule[1] / 2**124, 6)
    (10, 0, 0.01)
    """
    one = 1 << _FINE
    decay = min(one, exp_neg(epsilon.numerator, epsilon.denominator, _FINE)[1])
    part = int(delta * one)
    rule = [0]
    while rule[-1] < one:
        last = rule[-1]
        slow = (last << _FINE) // decay + part
        left = max(0, one - part - last)
        fast = one - (-(-(left * decay) >> _FINE))
        rule.append(min(slow, fast, one))
        if len(rule) > _LONGEST or rule[-1] <= last:
            raise InvalidArgument(
                "epsilon or delta is too small to tabulate the rule; use LaplaceThreshold instead"
            )
    return tuple(rule)
