"""Partition selection: choose which keys that are not public may be shown.

The set of keys of a table may itself disclose a person. Keys are therefore selected by a
differentially private rule that spends (ε, δ); δ bounds the probability that keys of one person
alone are shown. The rules are in `mechanisms.keys`; this file chooses one and plans its tally.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache

from ..arithmetic.rounding import fraction_down
from ..data.unit import People
from ..frozen import frozen
from ..mechanisms.additive.discrete_gaussian import DiscreteGaussian
from ..mechanisms.keys.partition import PartitionSelection
from ..mechanisms.keys.threshold import GaussianThreshold, LaplaceThreshold
from ..mechanisms.sensitivity import Sensitivity
from ..noise import Bits
from ..privacy.events import Event, Promise
from ..privacy.measures import ADD_REMOVE, ApproxDP
from ..query.algebra.expression import Constant
from ..query.algebra.refusal import refusal
from ..query.algebra.tally import Free, KeptKeys, Share, Tally, Term
from ..query.algebra.tree import Question
from ..query.bounds.contribution_bounds import max_groups_of
from ..query.bounds.relation_facts import multiplicity, neighbours_of, unit_of
from ..query.domains.domain import Scalar
from .budget_allocation import routes

Counts = Mapping[tuple[Scalar, ...], int]
KeyRule = PartitionSelection | LaplaceThreshold | GaussianThreshold

# The optimal rule has a table of about groups/ε entries; beyond this ratio a threshold is used.
_MAX_TABLE_RATIO = 500
# Gaussian noise is tried for people in several keys only: its Δ2 grows as √groups, Δ1 as groups.
_MIN_GAUSSIAN_GROUPS = 4


@frozen
class Selection:
    """Plan that selects unknown keys from the number of people (or rows) in each key.

    `tally` is the exact question to the store, `rule` decides which keys are shown.

    Guarantee: a unit is counted at most once per key, in at most `max_groups` keys, as the rules
    require. The selection costs `budget`, an (ε, δ), under the neighbours of the table.

    Law: tests/plan/test_plan.py::TestReplay
    """

    tally: Tally
    budget: ApproxDP
    rule: KeyRule
    part: Fraction = Fraction(1)
    """Fraction of the question's ε that the selection gets."""

    @property
    def event(self) -> Event:
        """Privacy event of the selection.

        Replacing a person is removing one and adding one: two steps of the rule (group privacy).
        """
        near = neighbours_of(self.tally.rows)
        if near == ADD_REMOVE:
            return self.rule.event
        return Promise(self.budget, neighbours=near)

    def release(self, counts: Counts, *, bits: Bits | None = None) -> list[tuple[Scalar, ...]]:
        """Select the keys that may be shown, in an order that is independent of the data."""
        held: dict[Hashable, int] = dict(counts.items())
        released = self.rule.release(held, bits=bits)
        keys = released if isinstance(released, tuple) else released.keys
        return list(keys)  # type: ignore[arg-type]


def key_part(weights: Sequence[Fraction]) -> Fraction:
    """Return the fraction of ε that selecting keys gets beside statistics of these weights.

    The selection counts as one statistic of weight 1. The number of people from which on a key is
    shown is a constant over its ε, as an error is, so the sum of logarithms is least where
    fractions are proportional to weights (`budget_allocation`). Without statistics it gets all.

    >>> from fractions import Fraction
    >>> from discreet.plan.selection import key_part
    >>> key_part([Fraction(1)] * 3), key_part([])
    (Fraction(1, 4), Fraction(1, 1))
    """
    return 1 / (1 + sum(weights, Fraction()))


def people_needed(selection: Selection) -> int:
    """Return the number of people with which a key is shown with probability at least 0.95."""
    return _people_needed(selection.rule)


def selection_of(question: Question, budget: ApproxDP, part: Fraction = Fraction(1)) -> Selection:
    """Plan the selection of a question's keys for an (ε, δ) budget.

    Of a person in more than `max_groups` keys, `max_groups` are kept by a secret hash
    (`KeptKeys`). So a person adds 1 to at most that many keys, as the rules require. `part` is the
    fraction of the question's ε that `budget` is.

    Refuses: rows that could count twice in a key (UnsupportedQuery).

    Law: tests/plan/test_plan.py::TestSelectionRules
    """
    rows = question.rows
    is_person = isinstance(unit_of(rows), People)
    if not is_person and multiplicity(rows) > 1:
        raise refusal(
            "GROUP BY", "a row is read more than once and its keys are not public", "list the keys"
        )
    groups = max_groups_of(rows)
    share: Share = Free()
    if is_person:
        share = KeptKeys(groups, 1)
    keys = tuple(key.expression for key in question.keys)
    presence = Term(Constant(True), 1, 0, 1)
    tally = Tally(rows, keys, (presence,), share, people=is_person)
    rule_budget = budget
    if neighbours_of(rows) != ADD_REMOVE:
        rule_budget = _half(budget)
    return Selection(tally, budget, _rule(rule_budget, groups), part)


def _half(budget: ApproxDP) -> ApproxDP:
    """Return the (ε', δ') of which two steps keep (ε, δ): ε' = ε/2, δ'(1 + e^ε') = δ."""
    epsilon = budget.epsilon / 2
    # Rounded down: two steps with a smaller δ' still keep δ.
    delta_factor = fraction_down(1 / (1 + math.exp(float(epsilon))))
    return ApproxDP(epsilon, budget.delta * delta_factor)


@lru_cache(maxsize=256)
def _rule(budget: ApproxDP, groups: int) -> KeyRule:
    """Choose the rule that shows a key from the fewest people on, with probability at least 0.95.

    The optimal rule (`PartitionSelection`) has a table whose length grows as groups/ε. Where it is
    long, noise and a threshold do nearly as well. Gaussian noise is for people in many keys.
    """
    rules: list[KeyRule] = [LaplaceThreshold.spending(budget, max_groups=groups)]
    if groups <= _MAX_TABLE_RATIO * budget.epsilon:
        rules.append(PartitionSelection.spending(budget, max_groups=groups))
    if groups >= _MIN_GAUSSIAN_GROUPS:
        rules.append(_gaussian(budget, groups))
    # The first of equals is taken, so equal questions have equal plans.
    return min(rules, key=_people_needed)


def _gaussian(budget: ApproxDP, groups: int) -> GaussianThreshold:
    """Spend half of δ on the noise, as the largest μ it allows, and half on one person's keys."""
    half_delta = budget.delta / 2
    gaussian_route = routes(ApproxDP(budget.epsilon, half_delta))[-1]
    sensitivity = Sensitivity(groups, groups, 1, changed=groups)
    noise = DiscreteGaussian.spending(gaussian_route, sensitivity=sensitivity)
    return GaussianThreshold(noise.scale**2, half_delta, max_groups=groups)


def _people_needed(rule: KeyRule) -> int:
    """Return the number of people with which a rule shows a key with probability at least 0.95."""
    if isinstance(rule, PartitionSelection):
        return rule.error()
    # `error` bounds both tails. One tail of 0.05 is two tails of 0.1; rounding up stays safe.
    return rule.threshold + math.ceil(rule.error(0.1))
