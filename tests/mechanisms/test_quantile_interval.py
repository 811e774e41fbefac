"""How far an interval reaches: its proof on any data, its price against every neighbour, and the sum of waits."""

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import PureDP
from discreet.audit import exact
from discreet.mechanisms.laws.exponentials import exponential_sum, exponential_tail
from discreet.mechanisms.selection.exponential import worst_gap as gap_of
from discreet.mechanisms.selection.quantile_interval import (
    IntervalSelection,
    distances,
    outcome_depths,
    ranks_beyond,
)
from discreet.mechanisms.selection.ranks import PlaceRange, RankedRows, RankTarget
from discreet.privacy.events import ExponentialSelection
from support.profile import examples

EPSILON = Fraction(2)
WHERE = PlaceRange(0, 6, 7)
tables = st.dictionaries(st.integers(0, 6), st.integers(1, 30), max_size=7)
quantiles = st.sampled_from(
    [Fraction(1, 2), Fraction(1, 4), Fraction(9, 10), Fraction(0), Fraction(1)]
)


def made_of(at, neighbours="add-remove"):
    aim = RankTarget(at)
    moved = aim.moved(1) if neighbours == "add-remove" else aim.scale
    return IntervalSelection(EPSILON, moved, neighbours)


def aims_of(at, rows):
    """The ranks that the ends must not pass: half a row beside the quantile; no outer end of MIN and MAX."""
    middle = RankTarget(at).between(rows.before[-1], 1)
    return (
        None if at == 0 else middle - at.denominator,
        None if at == 1 else middle + at.denominator,
    )


def law(made, at, counts, centre, beta):
    """The probabilities of all outcomes, and which of them hold, from ranks counted one by one."""
    rows = RankedRows(counts)
    low, high = ranks_beyond(rows, WHERE, centre, aims_of(at, rows), RankTarget(at).scale)
    many = 1 + len(low or high) * (3 if low and high else 1)
    found = outcome_depths(low, high, made.error(many, beta))
    assert len(found) == many
    weights = [math.exp(-made.rate * depth) for depth in found]
    sides = [
        [a for a in low if high] and [min(a, b) for a, b in zip(low, high, strict=True)],
        low,
        high,
        [0],
    ]
    holds = [rank >= 0 for ranks in sides for rank in ranks]
    return {i: one / sum(weights) for i, one in enumerate(weights)}, holds, found


class TestItHolds:
    """Some outcome has depth 0, every end that does not hold is deeper than the room, so both hold with 1 − β."""

    @settings(max_examples=examples(300), deadline=None)
    @given(tables, quantiles, st.integers(0, 6), st.sampled_from([0.5, 0.05, 0.01]))
    def test_on_any_data(self, counts, at, centre, beta):
        made = made_of(at)
        chances, holds, found = law(made, at, counts, centre, beta)
        assert min(found) == 0
        room = made.error(len(found), beta)
        assert all(depth > room for depth, right in zip(found, holds, strict=True) if not right)
        assert (
            sum(chance for chance, right in zip(chances.values(), holds, strict=True) if right)
            >= 1 - beta
        )

    @settings(max_examples=examples(100), deadline=None)
    @given(tables, quantiles, st.integers(0, 6))
    def test_what_is_drawn_is_an_outcome(self, counts, at, centre):
        rows, aim = RankedRows(counts), RankTarget(at)
        low, high = made_of(at).release(rows, WHERE, centre, aims_of(at, rows), aim.scale, 0.05)
        assert (low is None or 0 <= low <= centre, high is None or centre <= high <= 6) == (
            True,
            True,
        )
        assert (low is None if at == 0 else True, high is None if at == 1 else True) == (True, True)

    def test_few_rows_reach_nowhere(self):
        rows = RankedRows({3: 1})
        assert IntervalSelection(Fraction(50), 2).release(rows, WHERE, 3, (0, 4), 4, 1e-9) == (
            None,
            None,
        )


class TestThePrice:
    """On neighbouring tables no outcome is more than e^ε times likelier: enumerated, all tables of up to three rows."""

    @pytest.mark.untraced
    @pytest.mark.parametrize("relation", ["add-remove", "replace"])
    @pytest.mark.parametrize("at", [Fraction(1, 2), Fraction(1, 4), Fraction(1)], ids=str)
    def test_every_neighbour(self, relation, at):
        made, worst = made_of(at, relation), 0.0
        for size in range(4):
            for data in combinations_with_replacement((0, 2, 5), size):
                one = law(made, at, Counter(data), 3, 0.6)[0]
                kept = (
                    [data]
                    if relation == "add-remove"
                    else [data[:i] + data[i + 1 :] for i in range(size)]
                )
                for near in ((*rows, cell) for rows in kept for cell in (0, 2, 5, 6)):
                    seen = exact(one, law(made, at, Counter(near), 3, 0.6)[0], PureDP(EPSILON))
                    assert not seen.refuted
                    worst = max(worst, seen.epsilon)
        assert worst > EPSILON / 4

    def test_a_twin_at_twice_the_rate_is_refuted(self):
        twin, caught = IntervalSelection(2 * EPSILON, 2), False
        for data in combinations_with_replacement((0, 2, 5), 3):
            pair = [
                law(twin, Fraction(1, 2), Counter(rows), 3, 0.6)[0] for rows in (data, (*data, 2))
            ]
            caught |= exact(*pair, PureDP(EPSILON)).refuted
        assert caught
        assert made_of(Fraction(1, 2)).event == ExponentialSelection(EPSILON)

    def test_the_room_is_the_gap_of_its_outcomes(self):
        made = made_of(Fraction(1, 2))
        many = 3 * len(distances(7)) + 1
        assert made.error(many, 0.05) == math.ceil(gap_of(many, 0.05, 1) / made.rate)


class TestWaits:
    """A sum of independent exponential waits exceeds its bound with probability at most β."""

    @settings(max_examples=examples(100), deadline=None)
    @given(st.floats(0.1, 10), st.floats(0.1, 10), st.floats(0.1, 60))
    def test_two_waits(self, a, b, s):
        """P = (a·e^(−s/a) − b·e^(−s/b))/(a − b)."""
        if abs(a - b) < 1e-3:
            return
        plain = (a * math.exp(-s / a) - b * math.exp(-s / b)) / (a - b)
        assert (
            plain * (1 - 1e-7) - 1e-12 <= exponential_tail([a, b], s) <= plain * (1 + 1e-5) + 1e-12
        )

    def test_the_quantile_is_met_from_above(self):
        assert exponential_tail([1.0], 0.0) == 1.0
        for scales in ([1.0], [1.0, 1.0, 1.0], [0.5, 1.0, 4.0]):
            found = exponential_sum(scales, 0.01)
            assert (
                exponential_tail(scales, found) <= 0.01 < exponential_tail(scales, 0.9999 * found)
            )
