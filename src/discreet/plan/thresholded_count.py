"""Partition selection by the count that is asked for: one noisy count per key and a threshold.

Where COUNT(*) or COUNT(DISTINCT person) is asked, keys and counts have one price. Noise is added to
the count of every key that occurs, and counts that reach a threshold are shown (Korolova et al.
2009; Wilson et al. 2020).

One unit is in at most g keys and counts at most r in each. For keys that others hold too, the noise
hides the unit, at a price of ε (or μ, ρ). A key that the unit alone holds has a count of at most r
and is shown if r + Z reaches the threshold t. The threshold is the least whole number with
P[r + Z ≥ t] ≤ c = 1 − (1 − δ)^(1/g), so that any of g such keys is shown with probability at most
δ. A threshold for "1 + Z" would not suffice where r > 1.

A whole threshold leaves a remainder of c, which is spent too: a noisy count of t − 1 is shown if a
coin of bias p falls so, with P[r + Z ≥ t] + p·P[r + Z = t − 1] ≤ c. The coin is independent of the
data, so for keys that others hold it is post-processing. Replacing a unit is removing one and
adding one: two steps of the rule with ε/2 and δ/(1 + e^(ε/2)).

    unit      COUNT(*)                  COUNT(DISTINCT person)
    Rows      every row, g = r = 1      —
    People    keys are selected apart   KeptKeys(max_groups, 1), r = 1

Whole people in few keys are needed: a share of a person in each of m > g keys could disclose any of
m keys. COUNT(*) of people's rows is such a share (`RowShare`), so it cannot show keys. Question and
schema alone decide whether keys are shown in this way, never counts. Statistics beside it cost no
more δ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from ..arithmetic.rounding import fraction_down
from ..data.unit import People
from ..errors import UnsupportedQuery
from ..frozen import frozen, replace
from ..mechanisms.additive.discrete_gaussian import DiscreteGaussian
from ..mechanisms.keys.counts import per_key_delta
from ..mechanisms.laws.tails import gaussian_tail, laplace_tail, least_with_tail
from ..noise import Bits, coin
from ..privacy.events import Event, KeySelection, Promise
from ..privacy.measures import ADD_REMOVE, ApproxDP, PureDP
from ..query.algebra.expression import Constant
from ..query.algebra.statistic import Count, CountPeople
from ..query.algebra.tally import KeptKeys, Tally, Term
from ..query.algebra.tree import Question
from ..query.bounds.contribution_bounds import max_groups_of
from ..query.bounds.relation_facts import multiplicity, neighbours_of, unit_of
from ..query.bounds.sensitivity import influence
from ..statistics.releases.total import KeyValues, NoisyRelease, TotalNeed
from ..statistics.shared_totals import SumWay
from .budget_allocation import Divisible
from .layout import Layout, Use

# The bias of the coin is a multiple of 2^-30, rounded down.
_COIN_STEPS = 2**30


@frozen
class CountSelection:
    """Plan that shows the keys whose noisy count reaches a threshold.

    `release` is the noisy count, `place` its index in the plan, `spend` its budget. A noisy count
    of `threshold` − 1 is shown with probability `luck`.

    Guarantee: the probability that any of the keys that one unit alone holds is shown is at most
    `delta`.

    Refuses: Gaussian noise under "replace" (UnsupportedQuery).

    Law: tests/plan/test_keys.py::TestACountThatIsAskedForShowsTheKeys
    """

    release: NoisyRelease
    place: int
    threshold: int
    delta: Fraction
    spend: Divisible
    luck: Fraction = Fraction()

    @property
    def tally(self) -> Tally:
        """Tally that the store is asked for, of all keys that occur."""
        return self.release.need.tally

    @property
    def event(self) -> Event:
        """Privacy event: the noise, and δ for the keys of one unit."""
        near = neighbours_of(self.tally.rows)
        if near == ADD_REMOVE:
            return KeySelection(self.release.event, self.delta)
        budget = ApproxDP(_pure_epsilon(self.spend), self.delta)
        return Promise(budget, neighbours=near)

    def show(
        self, counts: Mapping[KeyValues, int], *, bits: Bits | None = None
    ) -> dict[KeyValues, int]:
        """Return the keys whose noisy total reaches the threshold, with that total.

        A total one below the threshold is shown too with probability `luck`.
        The order of the keys is independent of the order of the rows.
        """
        held = sorted((key for key, count in counts.items() if count > 0), key=_printed)
        zeros = np.zeros(len(held), dtype=np.int64)
        # Order of draws: all noise first, then all coins. Replayed randomness depends on it.
        noise = self.release.mechanism.release(zeros, bits=bits).tolist()
        coins = coin(self.luck, len(held), bits=bits).tolist()
        shown: dict[KeyValues, int] = {}
        for key, extra, lucky in zip(held, noise, coins, strict=True):
            total = counts[key] + extra
            # A coin is 0 or 1: it lowers the threshold by one step for this key.
            if total >= self.threshold - lucky:
                shown[key] = total
        return shown


def _printed(key: KeyValues) -> tuple[tuple[str, str], ...]:
    """Return the printed form of a key: an order that does not depend on the order of the rows."""
    return tuple((type(value).__name__, repr(value)) for value in key)


def count_needed(selection: CountSelection) -> int:
    """Return the count with which a key is shown with probability at least 0.95."""
    # `error` bounds both tails. One tail of 0.05 is two tails of 0.1; rounding up stays safe.
    return selection.threshold + math.ceil(selection.release.error(0.1))


def counted_layout(question: Question, layout: Layout) -> tuple[Layout, int]:
    """Return a layout in which one count can show the keys, and the place of that count.

    Where the unit is a row, COUNT(*) can. Where it is a person, COUNT(DISTINCT person) can; in the
    returned layout each person counts fully, in at most `max_groups` keys.

    Refuses: a question without such a count, and bounds of a person that do not allow it
    (UnsupportedQuery).

    Law: tests/plan/test_keys.py::TestACountThatIsAskedForShowsTheKeys
    """
    if layout.way is not SumWay.APART:
        raise UnsupportedQuery("a count that shows keys is a total of its own")
    is_person = isinstance(unit_of(question.rows), People)
    for use, counts_people in _count_uses(question, layout):
        place = use.places[0]
        if not is_person and multiplicity(question.rows) == 1:
            return layout, place
        # Another statistic may need the count under its own share, so a shared one stays as it is.
        users = sum(place in other.places for other in layout.uses)
        if is_person and users == 1 and counts_people:
            needs = list(layout.needs)
            needs[place] = _kept_need(question)
            return replace(layout, needs=tuple(needs)), place
    raise UnsupportedQuery("no count of this question can show its keys")


def _count_uses(question: Question, layout: Layout) -> list[tuple[Use, bool]]:
    """List the counts of a question, and whether each counts people; counts of people first."""
    people: list[tuple[Use, bool]] = []
    rows: list[tuple[Use, bool]] = []
    for use, (_, statistic) in zip(layout.uses, question.statistics, strict=True):
        if isinstance(statistic, CountPeople):
            people.append((use, True))
        elif isinstance(statistic, Count):
            rows.append((use, False))
    return people + rows


def _kept_need(question: Question) -> TotalNeed:
    """Return the count of people, each counted fully in at most `max_groups` keys."""
    share = KeptKeys(max_groups_of(question.rows), 1)
    keys = tuple(key.expression for key in question.keys)
    presence = Term(Constant(True), 1, 0, 1)
    tally = Tally(question.rows, keys, (presence,), share, people=True)
    return TotalNeed(tally, Fraction(1), influence(tally, 0))


def count_selection(
    release: NoisyRelease, place: int, spend: Divisible, delta: Fraction
) -> CountSelection:
    """Plan the threshold above which a planned count shows its keys, for a leak of at most `delta`.

    `place` is the index of the count in the plan, `spend` its budget.

    Refuses: Gaussian noise under "replace", since the rule for two steps is one for (ε, δ)
    (UnsupportedQuery).
    """
    share = release.need.tally.share
    groups = 1
    max_count = 1
    if isinstance(share, KeptKeys):
        groups = share.groups
        max_count = share.rows
    leak = delta
    if neighbours_of(release.need.tally.rows) != ADD_REMOVE:
        half_epsilon = float(_pure_epsilon(spend)) / 2
        # Rounded down: a smaller δ for each of the two steps still keeps δ for both.
        leak = delta * fraction_down(1 / (1 + math.exp(half_epsilon)))
    margin, luck = _threshold_margin(release, per_key_delta(leak, groups))
    return CountSelection(release, place, max_count + margin, delta, spend, luck)


def _threshold_margin(release: NoisyRelease, max_probability: float) -> tuple[int, Fraction]:
    """Return the least whole z with P[Z ≥ z] ≤ `max_probability`, and a probability p for z − 1.

    p is the largest multiple of 2^-30 with P[Z ≥ z] + p·P[Z = z − 1] ≤ `max_probability`, by upper
    bounds of the tails.
    """
    scale = release.mechanism.scale
    is_gaussian = isinstance(release.mechanism, DiscreteGaussian)

    def tail(z: int) -> float:
        if is_gaussian:
            return gaussian_tail(scale**2, z)
        return laplace_tail(scale, z)

    margin = least_with_tail(tail, max_probability)
    if not margin:
        return 0, Fraction()
    # Both tails are upper bounds, so the remainder of the probability is rather too small.
    at_margin = Fraction(tail(margin))
    one_below = Fraction(tail(margin - 1))
    bias = (Fraction(max_probability) - at_margin) / (one_below - at_margin)
    # `int` rounds a positive number down: a smaller bias shows fewer keys.
    return margin, Fraction(int(bias * _COIN_STEPS), _COIN_STEPS)


def _pure_epsilon(spend: Divisible) -> Fraction:
    if not isinstance(spend, PureDP):
        raise UnsupportedQuery("under 'replace' keys are shown by counts with geometric noise only")
    return spend.epsilon
