"""Keys that are not public: which of them may be shown at all, with δ for the keys of one person."""

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
from ..privacy.measures import ApproxDP
from ..privacy.neighbours import ADD_REMOVE
from ..query.algebra.expression import Constant
from ..query.algebra.refusal import refusal
from ..query.algebra.tally import Free, KeptKeys, Tally, Term
from ..query.algebra.tree import Question
from ..query.bounds.contribution_bounds import most_groups
from ..query.bounds.relation_facts import multiplicity, neighbours_of, unit_of
from ..query.domains.domain import Scalar
from .proportional_split import routes

Counts = Mapping[tuple[Scalar, ...], int]
KeyRule = PartitionSelection | LaplaceThreshold | GaussianThreshold


@frozen
class Selection:
    """How unknown keys are selected: people are counted per key, once each, in at most `groups` keys."""

    tally: Tally
    budget: ApproxDP
    rule: KeyRule
    part: Fraction = Fraction(1)
    """What part of the question's ε it gets."""

    @property
    def event(self) -> Event:
        """What is done. Replacing a person is removing one and adding one: two steps of the rule (group privacy)."""
        near = neighbours_of(self.tally.rows)
        return self.rule.event if near == ADD_REMOVE else Promise(self.budget, neighbours=near)

    def release(self, counts: Counts, *, bits: Bits | None = None) -> list[tuple[Scalar, ...]]:
        """Select the keys that may be shown, in an order that tells nothing."""
        held: dict[Hashable, int] = dict(counts.items())
        found = self.rule.release(held, bits=bits)
        return list(found if isinstance(found, tuple) else found.keys)  # type: ignore[arg-type]


def key_part(weights: Sequence[Fraction]) -> Fraction:
    """Return which part of ε selecting keys gets beside statistics of these weights: it counts as one of weight 1.

    The number of people from which on a key is shown is a constant over its ε, as an error is, so the sum of logarithms
    is least where parts are proportional to weights (`division`). Without any statistic it gets all.

    >>> from fractions import Fraction
    >>> from discreet.plan.selection import key_part
    >>> key_part([Fraction(1)] * 3), key_part([])
    (Fraction(1, 4), Fraction(1, 1))
    """
    return 1 / (1 + sum(weights, Fraction()))


def people_from(selection: Selection) -> int:
    """Return how many people a key needs to be shown with probability at least 0.95."""
    return _fewest(selection.rule)


def selection_of(question: Question, budget: ApproxDP, part: Fraction = Fraction(1)) -> Selection:
    """Plan the selection of a question's keys.

    Of a person in more than `max_groups` keys, g are kept by a secret hash (`KeptKeys`). So a person adds 1 to at most
    g keys, as the rules demand.

    Refuses rows that could count twice in a key.
    """
    rows = question.rows
    person = isinstance(unit_of(rows), People)
    if not person and multiplicity(rows) > 1:
        raise refusal(
            "GROUP BY", "a row is read more than once and its keys are not public", "list the keys"
        )
    groups = most_groups(rows)
    share = KeptKeys(groups, 1) if person else Free()
    keys = tuple(key.expression for key in question.keys)
    tally = Tally(rows, keys, (Term(Constant(True), 1, 0, 1),), share, people=person)
    near = neighbours_of(rows)
    return Selection(
        tally, budget, _rule(budget if near == ADD_REMOVE else _half(budget), groups), part
    )


def _half(budget: ApproxDP) -> ApproxDP:
    """Return the (ε', δ') of which two steps keep (ε, δ): ε' = ε/2, δ'(1 + e^ε') = δ."""
    part = budget.epsilon / 2
    return ApproxDP(part, budget.delta * fraction_down(1 / (1 + math.exp(float(part)))))


@lru_cache(maxsize=256)
def _rule(budget: ApproxDP, groups: int) -> KeyRule:
    """Choose the rule that shows a key from the fewest people on, with probability at least 0.95.

    The optimal rule has a table whose length grows as groups/ε; where that is long, noise and a threshold do nearly as
    well. Gaussian noise is for people in many keys.
    """
    rules: list[KeyRule] = [LaplaceThreshold.spending(budget, max_groups=groups)]
    if groups <= 500 * budget.epsilon:
        rules.append(PartitionSelection.spending(budget, max_groups=groups))
    if groups > 3:
        rules.append(_gaussian(budget, groups))
    return min(rules, key=_fewest)


def _gaussian(budget: ApproxDP, groups: int) -> GaussianThreshold:
    """Spend half of δ on the noise, as the largest μ that it allows, and half on the keys of one person."""
    half = budget.delta / 2
    way = routes(ApproxDP(budget.epsilon, half))[-1]
    noise = DiscreteGaussian.spending(
        way, sensitivity=Sensitivity(groups, groups, 1, changed=groups)
    )
    return GaussianThreshold(noise.scale**2, half, max_groups=groups)


def _fewest(rule: KeyRule) -> int:
    """Count how many people a key needs to be shown with probability at least 0.95: one tail of twice that for both."""
    if isinstance(rule, PartitionSelection):
        return rule.error()
    return rule.threshold + math.ceil(rule.error(0.1))
