"""Unknown keys shown by the very count that is asked for: one noisy number a key, and a threshold.

Where COUNT(*) or COUNT(DISTINCT person) is asked, keys and counts have one price: noise is added to the count of every
key that occurs, and what reaches a threshold is shown (Korolova et al. 2009; Wilson et al. 2020). One unit is in at
most g keys and counts at most r in each. Keys that others hold too have noise for that, of price ε (or μ, ρ). A key
that the unit alone holds has a count of at most r: it is shown if r + Z reaches the threshold, and t is the least whole
number with P[r + Z ≥ t] ≤ c = 1 − (1 − δ)^(1/g), so that any of g such keys is shown with probability at most δ. With
"1 + Z" it would be more. What a whole threshold leaves of c is spent too: a noisy count of t − 1 is shown if a coin of
bias p falls so, with P[r + Z ≥ t] + p·P[r + Z = t − 1] ≤ c. The coin is independent of the data, so for keys that
others hold it is post-processing. Replacing a unit is removing one and adding one: two steps of the rule with ε/2 and
δ/(1 + e^(ε/2)).

    unit      COUNT(*)                  COUNT(DISTINCT person)
    Rows      every row, g = r = 1      —
    People    keys are selected apart   KeptKeys(max_groups, 1), r = 1

Whole people in few keys are needed: a share of a person in each of m > g keys could betray any of m keys. COUNT(*) of
people's rows is such a share (`RowShare`), so it cannot show keys. Whether keys are shown in this way follows from the
question and the schema, never from counts. Statistics beside it cost no more δ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from ..arithmetic.rounding import fraction_down
from ..data.unit import People
from ..errors import UnsupportedQuery
from ..frozen import frozen, replace
from ..mechanisms.additive.discrete_gaussian import DiscreteGaussian
from ..mechanisms.keys.counts import per_key
from ..mechanisms.laws.tails import gaussian_tail, laplace_tail, least_above
from ..noise import Bits, coin
from ..privacy.events import Event, KeySelection, Promise
from ..privacy.measures import ApproxDP, PureDP
from ..privacy.neighbours import ADD_REMOVE
from ..query.algebra.expression import Constant
from ..query.algebra.tally import KeptKeys, Tally, Term
from ..query.algebra.tree import Count, CountPeople, Question
from ..query.bounds.contribution_bounds import most_groups
from ..query.bounds.relation_facts import multiplicity, neighbours_of, unit_of
from ..query.bounds.sensitivity import influence
from ..statistics.recipe import Need
from ..statistics.releases.total import KeyValues, NoisyRelease, TotalNeed
from ..statistics.shared_totals import SumWay
from .layout import Layout
from .proportional_split import Divisible

_FINE = 2**30


@frozen
class CountSelection:
    """Keys are shown where the noisy total of one release, at `place` in its plan, reaches the threshold, in steps.

    One step less is shown with probability `luck`.
    """

    release: NoisyRelease
    place: int
    threshold: int
    delta: Fraction
    spend: Divisible
    luck: Fraction = Fraction()

    @property
    def tally(self) -> Tally:
        """What the store is asked, of all keys that occur."""
        return self.release.need.tally

    @property
    def event(self) -> Event:
        """What is done: the noise, and δ for the keys of one unit."""
        near = neighbours_of(self.tally.rows)
        if near == ADD_REMOVE:
            return KeySelection(self.release.event, self.delta)
        return Promise(ApproxDP(_epsilon(self.spend), self.delta), neighbours=near)

    def show(
        self, counts: Mapping[KeyValues, int], *, bits: Bits | None = None
    ) -> dict[KeyValues, int]:
        """Return the keys whose noisy total reaches the threshold, with it, in an order that tells nothing."""
        held = sorted((key for key, count in counts.items() if count > 0), key=_printed)
        noise = self.release.mechanism.release(
            np.zeros(len(held), dtype=np.int64), bits=bits
        ).tolist()
        lucky = coin(self.luck, len(held), bits=bits).tolist()
        noisy = (
            (key, counts[key] + extra, luck)
            for key, extra, luck in zip(held, noise, lucky, strict=True)
        )
        return {key: total for key, total, luck in noisy if total >= self.threshold - luck}


def _printed(key: KeyValues) -> tuple[tuple[str, str], ...]:
    """Return a key by its printed form: an order that does not depend on who came first."""
    return tuple((type(value).__name__, repr(value)) for value in key)


def show_from(selection: CountSelection) -> int:
    """Return how many a key needs to be shown with probability at least 0.95: one tail of twice that for both."""
    return selection.threshold + math.ceil(selection.release.error(0.1))


def counted_layout(question: Question, layout: Layout) -> tuple[Layout, int]:
    """Return the layout in which one count can show keys, and the place of that count.

    Refuses a question without such a count, and where the bounds of a person do not allow it.
    """
    if layout.way is not SumWay.APART:
        raise UnsupportedQuery("a count that shows keys is a total of its own")
    found = [
        (use, s) for use, (_, s) in zip(layout.uses, question.statistics, strict=True) if _counts(s)
    ]
    for use, statistic in sorted(found, key=lambda one: not isinstance(one[1], CountPeople)):
        place, person = use.places[0], isinstance(unit_of(question.rows), People)
        if not person and multiplicity(question.rows) == 1:
            return layout, place
        alone = sum(place in other.places for other in layout.uses) == 1
        if person and alone and isinstance(statistic, CountPeople):
            return replace(
                layout, needs=_replaced(layout.needs, place, _kept_need(question))
            ), place
    raise UnsupportedQuery("no count of this question can show its keys")


def _counts(statistic: object) -> bool:
    return isinstance(statistic, Count | CountPeople)


def _kept_need(question: Question) -> TotalNeed:
    """Return the count of people, each in whole in at most `max_groups` keys."""
    share = KeptKeys(most_groups(question.rows), 1)
    keys = tuple(key.expression for key in question.keys)
    tally = Tally(question.rows, keys, (Term(Constant(True), 1, 0, 1),), share, people=True)
    return TotalNeed(tally, Fraction(1), influence(tally, 0))


def _replaced(needs: Sequence[Need], place: int, need: Need) -> tuple[Need, ...]:
    return tuple(need if number == place else one for number, one in enumerate(needs))


def count_selection(
    release: NoisyRelease, place: int, spend: Divisible, delta: Fraction
) -> CountSelection:
    """Plan the threshold for a release that has been planned.

    Refuses Gaussian noise under "replace": the rule for two steps is one for (ε, δ).
    """
    share, near = release.need.tally.share, neighbours_of(release.need.tally.rows)
    groups, rows = (share.groups, share.rows) if isinstance(share, KeptKeys) else (1, 1)
    leak = delta
    if near != ADD_REMOVE:
        leak = delta * fraction_down(1 / (1 + math.exp(float(_epsilon(spend)) / 2)))
    reach, luck = _reach(release, per_key(leak, groups))
    return CountSelection(release, place, rows + reach, delta, spend, luck)


def _reach(release: NoisyRelease, chance: float) -> tuple[int, Fraction]:
    """Return the least whole z that noise reaches with probability at most so much, and the luck of z − 1.

    The tails are bounds from above, so what is left is too little rather than too much.
    """
    scale = release.mechanism.scale

    def tail(z: int) -> float:
        gaussian = isinstance(release.mechanism, DiscreteGaussian)
        return gaussian_tail(scale**2, z) if gaussian else laplace_tail(scale, z)

    reach = least_above(tail, chance)
    if not reach:
        return 0, Fraction()
    least, more = Fraction(tail(reach)), Fraction(tail(reach - 1))
    return reach, Fraction(int((Fraction(chance) - least) / (more - least) * _FINE), _FINE)


def _epsilon(spend: Divisible) -> Fraction:
    if not isinstance(spend, PureDP):
        raise UnsupportedQuery("under 'replace' keys are shown by counts with geometric noise only")
    return spend.epsilon
