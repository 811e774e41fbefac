"""A quantile and its interval by one selection: its law pair by pair, its price against every neighbour, its coverage."""

import math
from collections import Counter
from fractions import Fraction
from itertools import accumulate, combinations_with_replacement

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import PureDP
from discreet.audit import exact
from discreet.mechanisms.selection.quantile_pair import (
    QuantileAndInterval,
    RankedPairs,
    _place,
    reaches,
)
from discreet.mechanisms.selection.ranks import PlaceRange, RankedRows, RankTarget, _turns
from discreet.privacy.events import ExponentialSelection
from oracles.quantile_pairs import list_pairs
from support.profile import examples

LATE, EARLY = Fraction(9, 10), Fraction(1, 10)
LAST = 6
WHERE = PlaceRange(0, LAST, LAST + 1)
tables = st.dictionaries(st.integers(0, LAST), st.integers(1, 30), max_size=LAST + 1)
apart = st.sampled_from([1, 5])
"""How many places lie between two cells: from 8 on the distances of odd places are others."""
quantiles = st.sampled_from([LATE, EARLY, Fraction(99, 100), Fraction(1, 2)])


def made_of(at, epsilon=2, *, unit=1, weight=1, neighbours="add-remove", alone=True):
    """The selection, with the sensitivity written out: at·T up, (1 − at)T down, the sum of both if replaced."""
    aim = RankTarget(at)
    steepest = 2 * max(at.numerator, at.denominator - at.numerator) * unit
    moved = steepest
    if neighbours == "replace":
        moved = 2 * at.denominator * unit if alone else 2 * steepest
    return QuantileAndInterval(Fraction(epsilon), moved, aim, weight, neighbours)


def spread(counts, step):
    return {cell * step: count for cell, count in counts.items()}


def pairs_of(at, counts, slack, weight=1, last=LAST):
    """List all pairs of the oracle, on places from 0 on."""
    return list_pairs(at, counts, slack, weight, (0, last))


def law(made, counts, beta, weight=1, last=LAST):
    """The probability of every outcome that is seen, and of one whose ends do not hold."""
    slack = made.slack(last + 1, beta)
    cut = made.cut(last + 1, beta)
    seen, missed = Counter(), 0.0
    for outcome, kinds in pairs_of(made.aim.at, counts, slack, weight, last).items():
        for depth, heavy, right in kinds:
            level = min(made.fineness * depth // made.sensitivity, cut)
            mass = heavy * math.exp(-made.level_rate * level)
            seen[outcome] += mass
            missed += 0 if right else mass
    total = sum(seen.values())
    return {outcome: mass / total for outcome, mass in seen.items()}, missed / total


class TestTheLaw:
    """P(place, reach) ∝ weight · exp(−ε/2k · min(⌊k·depth/Δ⌋, cut-off)), by enumeration of all pairs."""

    @settings(max_examples=examples(150), deadline=None)
    @given(
        tables,
        quantiles,
        st.sampled_from([0.01, 0.3, 2, 30]),
        st.sampled_from([0.5, 0.05]),
        apart,
    )
    def test_the_pairs_of_every_level(self, counts, at, epsilon, beta, step):
        counts, last = spread(counts, step), LAST * step
        made = made_of(at, Fraction(str(epsilon)))
        where = PlaceRange(0, last, last + 1)
        counted = RankedPairs.of(made, RankedRows(counts), where, beta)
        cut = made.cut(last + 1, beta)
        listed = {}
        slack = made.slack(last + 1, beta)
        for outcome, kinds in pairs_of(at, counts, slack, last=last).items():
            for depth, heavy, _ in kinds:
                level = min(made.fineness * depth // made.sensitivity, cut)
                listed.setdefault(level, Counter())[outcome] += heavy
        masses = counted.masses()
        assert len(masses) == cut + 1
        assert {level: mass for level, mass in enumerate(masses) if mass} == {
            level: outcomes.total() for level, outcomes in listed.items()
        }
        for level, outcomes in sorted(listed.items())[:3] + sorted(listed.items())[-2:]:
            drawn = Counter(counted.pair(level, index) for index in range(outcomes.total()))
            assert drawn == outcomes

    @settings(max_examples=examples(50), deadline=None)
    @given(tables, quantiles)
    def test_weighted_rows_and_cells_below_zero(self, counts, at):
        """Persons' rows are parts of a weight, and grids begin anywhere."""
        weight, shift = 8, -3
        made = made_of(at, unit=16, weight=weight)
        where = PlaceRange(shift, LAST + shift, LAST + shift + 1)
        rows = RankedRows({cell + shift: count for cell, count in counts.items()}, 1, weight)
        masses = RankedPairs.of(made, rows, where, 0.1).masses()
        slack, cut = made.slack(LAST + 1, 0.1), made.cut(LAST + 1, 0.1)
        listed = Counter()
        for kinds in pairs_of(at, counts, slack, weight).values():
            for depth, heavy, _ in kinds:
                listed[min(made.fineness * depth // made.sensitivity, cut)] += heavy
        assert {level: mass for level, mass in enumerate(masses) if mass} == listed

    @pytest.mark.statistical
    def test_what_is_drawn(self):
        """250 draws against the law, outcome by outcome (Hoeffding); false alarm ≤ 1e-9."""
        made, counts = made_of(LATE, 1), {1: 12, 4: 5, 6: 1}
        chances, _ = law(made, counts, 0.3)
        rows = RankedRows(counts)
        drawn = Counter(made.release(rows, WHERE, 0.3) for _ in range(250))
        allowed = math.sqrt(math.log(2 * len(chances) / 1e-9) / (2 * 250))
        assert set(drawn) <= set(chances)
        assert all(abs(drawn[o] / 250 - chance) <= allowed for o, chance in chances.items())

    def test_distances_double(self):
        assert reaches(1) == ((0,), (0,))
        assert reaches(2) == ((0, 1), (0, 1))
        assert reaches(10) == ((0, 1, 2, 4, 8, 16), (0, 1, 2, 4, 10, 22))
        for even, odd in zip(*reaches(1 << 40), strict=True):
            assert even < 2 or (odd % 2 == 0 and 2 * even**2 - 8 * even < odd**2 <= 2 * even**2)


class TestThePrice:
    """No outcome is more than e^ε times likelier beside a neighbour: enumerated over all tables of up to three rows."""

    @pytest.mark.untraced
    @pytest.mark.parametrize("relation", ["add-remove", "replace"])
    @pytest.mark.parametrize("at", [LATE, EARLY], ids=str)
    @pytest.mark.parametrize("epsilon", ["1/20", "2"])
    def test_every_neighbour(self, relation, at, epsilon):
        made, worst = made_of(at, Fraction(epsilon), neighbours=relation), 0.0
        for size in range(4):
            for data in combinations_with_replacement((0, 2, 5), size):
                one = law(made, Counter(data), 0.6)[0]
                kept = [data] if relation == "add-remove" else [data[:i] + data[i + 1 :] for i in range(size)]  # fmt: skip
                for near in ((*rows, cell) for rows in kept for cell in (0, 2, 5, 6)):
                    seen = exact(one, law(made, Counter(near), 0.6)[0], PureDP(made.epsilon))
                    assert not seen.refuted
                    worst = max(worst, seen.epsilon)
        assert worst > made.epsilon / 8

    @settings(max_examples=examples(200), deadline=None)
    @given(tables, st.dictionaries(st.integers(0, LAST), st.integers(1, 8), max_size=4),
           st.dictionaries(st.integers(0, LAST), st.integers(1, 8), max_size=4), quantiles,
           st.sampled_from(["1/20", "1", "7"]), st.sampled_from(["add-remove", "replace"]))  # fmt: skip
    def test_levels_of_people_move_by_the_fineness(self, counts, gone, come, at, epsilon, relation):  # noqa: PLR0917
        """A person has up to `unit` of weight in any cells; every pair's level moves by at most k."""
        unit = max(sum(gone.values()), sum(come.values()), 1)
        made = made_of(at, Fraction(epsilon), unit=unit, weight=8, neighbours=relation)
        first = Counter(counts) + Counter(gone)
        second = Counter(counts) + Counter(come if relation == "replace" else {})
        slack, cut = made.slack(LAST + 1, 0.1), made.cut(LAST + 1, 0.1)
        both = [pairs_of(at, table, slack, 8) for table in (first, second)]
        for outcome, kinds in both[0].items():
            for (own, _, _), (other, _, _) in zip(kinds, both[1][outcome], strict=True):
                levels = [
                    min(made.fineness * depth // made.sensitivity, cut) for depth in (own, other)
                ]
                assert abs(levels[0] - levels[1]) <= made.fineness

    @settings(max_examples=examples(100), deadline=None)
    @given(tables, tables, st.integers(0, LAST), st.integers(0, LAST), quantiles, st.sampled_from(["1/20", "1", "7/4"]))  # fmt: skip
    def test_a_row_that_is_replaced_in_another_key(self, one, two, gone, come, at, epsilon):  # noqa: PLR0917
        """Each key rounds by itself: its levels move by at most k/2, so their sum by k."""
        made = made_of(at, Fraction(epsilon), neighbours="replace", alone=False)
        assert made.fineness % 2 == 0
        slack = made.slack(LAST + 1, 0.1)
        for table, cell in ((one, gone), (two, come)):
            before = pairs_of(at, table, slack)
            after = pairs_of(at, Counter(table) + Counter([cell]), slack)
            for outcome, kinds in before.items():
                for (a, _, _), (b, _, _) in zip(kinds, after[outcome], strict=True):
                    assert abs(made.level(a) - made.level(b)) <= made.fineness // 2

    def test_which_questions_are_chosen_so(self):
        fits = QuantileAndInterval.fits
        near, one = Fraction(99, 100), Fraction(1)
        assert fits(one, near, one_row=True, alone=False)
        assert fits(one, 1 - near, one_row=False, alone=True)
        # A person with rows in many keys could move the rounded levels of all of them.
        assert not fits(one, near, one_row=False, alone=False)
        assert not fits(Fraction(1, 101), near, one_row=True, alone=True)
        for at in (Fraction(0), Fraction(1)):
            assert not fits(one, at, one_row=True, alone=True)

    def test_the_event_is_one_selection(self):
        assert made_of(LATE).event == ExponentialSelection(2)
        assert made_of(LATE, neighbours="replace").event == ExponentialSelection(
            2, neighbours="replace"
        )


class TestItHolds:
    """Some pair has depth 0, every pair that does not hold is deeper than the slack, so both ends hold with 1 − β."""

    @settings(max_examples=examples(150), deadline=None)
    @given(tables, quantiles, st.sampled_from([0.5, 0.05, 0.001]), st.sampled_from(["1/20", "1", "20"]), apart)  # fmt: skip
    def test_on_any_data(self, counts, at, beta, epsilon, step):
        made = made_of(at, Fraction(epsilon))
        assert law(made, spread(counts, step), beta, last=LAST * step)[1] <= beta

    @settings(max_examples=examples(150), deadline=None)
    @given(tables.filter(bool), quantiles, st.sampled_from([0.5, 0.05]))
    def test_why(self, counts, at, beta):
        """Every place has a reach of depth 0; an end that does not hold is deeper than its own place, by the slack."""
        made = made_of(at, 1)
        slack, half = made.slack(LAST + 1, beta), at.denominator
        ranks = [0, *accumulate(2 * half * counts.get(cell, 0) for cell in range(LAST + 1))]
        middle = RankTarget(at).between(sum(counts.values()), 1)
        own = [max(0, middle - ranks[p + 1], ranks[p] - middle) for p in range(LAST + 1)]
        best = {}
        for (place, low, high), kinds in pairs_of(at, counts, slack).items():
            for depth, _, right in kinds:
                best[place] = min(best.get(place, depth), depth)
                wrong = [low] if ranks[low] > middle - half else []
                wrong += [high] if ranks[high + 1] < middle + half else []
                assert right or wrong
                assert right or all(depth > slack - half + own[end] for end in wrong)
        assert [best[place] for place in range(LAST + 1)] == own

    @pytest.mark.parametrize("end", [50, 51])
    def test_an_end_has_one_pair_a_distance(self, end):
        """What the slack supposes of the pairs that an end can make wrong, on either side."""
        for sign in (-1, 1):
            pairs = 0
            for place in range(101):
                pairs += sum(place + sign * h == end for h in reaches(50)[place % 2])
            assert pairs <= len(reaches(50)[0])

    @pytest.mark.parametrize("count", range(1, 17))
    @pytest.mark.parametrize("at", [Fraction(99, 100), Fraction(1, 100)])
    def test_of_parts_of_a_row(self, count, at):
        """A person's one row may weigh less than half a row: then no place is at its aim."""
        made = made_of(at, 8, unit=8, weight=8)
        for cell in (0, 3, LAST):
            assert law(made, {cell: count}, 0.3, weight=8)[1] <= 0.3

    def test_the_bound_is_not_loose(self):
        """Of two rows that lie apart a tenth of what is allowed is missed."""
        missed = law(made_of(Fraction(1, 2), 1), {0: 1, 2: 1}, 0.5)[1]
        assert 0.05 < missed <= 0.5

    @settings(max_examples=examples(100), deadline=None)
    @given(tables.filter(bool), quantiles, st.sampled_from([0.5, 0.05]))
    def test_the_error_holds(self, counts, at, beta):
        made = made_of(at, 1)
        chances, _ = law(made, counts, beta)
        ranks = [
            0,
            *accumulate(2 * at.denominator * counts.get(cell, 0) for cell in range(LAST + 1)),
        ]
        middle = RankTarget(at).between(sum(counts.values()), 1)
        far = 0.0
        for (place, _, _), chance in chances.items():
            depth = max(0, middle - ranks[place + 1], ranks[place] - middle)
            if depth > made.error(LAST + 1, beta) * 2 * at.denominator:
                far += chance
        assert far <= beta


def test_levels_are_public():
    """Their number follows from ε, the number of cells and the level alone, whatever the rows."""
    made = made_of(LATE, 1)
    counts = {len(RankedPairs.of(made, RankedRows(table), WHERE, 0.05).masses()) for table in ({}, {3: 1}, {0: 10**6, 6: 5})}  # fmt: skip
    assert counts == {made.cut(LAST + 1, 0.05) + 1}
    assert len(counts) == 1


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_a_huge_epsilon_has_no_more_levels(neighbours):
    """Shares of a row are fine steps: four levels for each unit of ε would take minutes to count."""
    made = made_of(LATE, 10**6, unit=2**20, weight=2**20, neighbours=neighbours)
    assert len(RankedPairs.of(made, RankedRows({3: 2**20}), WHERE, 0.05).masses()) < 2_100
    # Levels of a two-thousandth of what a unit moves hide next to nothing of a row.
    assert made.error(LAST + 1, 0.05) < 0.01
    assert law(made, {0: 2**20, 3: 9 * 2**20}, 0.05, weight=2**20)[1] <= 0.05


class TestPlaces:
    """Places of a span are found by their number, and rows by the bits of their place reversed."""

    @given(st.lists(st.integers(0, 12), min_size=8, max_size=8))
    def test_each_place_has_one_number(self, ends):
        """All places of a span that a smaller one lacks, each once, rising; both may have a gap."""
        low, high, gap_low, gap_high = sorted(ends[:2]) + ends[2:4]
        own = set(range(low, high + 1)) - set(range(gap_low, gap_high + 1))
        first, last, hole_low, hole_high = sorted(ends[4:6]) + ends[6:]
        before = set(range(first, last + 1)) - set(range(hole_low, hole_high + 1))
        spans = [low, high, gap_low, gap_high], [first, last, hole_low, hole_high]
        places = sorted(own - before)
        assert [_place(*spans, number) for number in range(len(places))] == places
        with pytest.raises(AssertionError, match="below the size"):
            _place(*spans, len(places))

    @pytest.mark.parametrize("bits", range(7))
    def test_turns_are_bits_reversed(self, bits):
        # Uncached, so that the branches are seen whatever ran before.
        turns = _turns.__wrapped__(2**bits)
        assert turns == tuple(int(f"{n:0{bits}b}"[::-1], 2) for n in range(2**bits))
