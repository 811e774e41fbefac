"""Recursive splitting: its law written down twice, its price against every neighbour, and a twin that splits by rank."""

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import InvalidArgument, PureDP
from discreet.audit import exact
from discreet.mechanisms.laws.exponentials import exponential_sum
from discreet.mechanisms.selection import quantiles
from discreet.mechanisms.selection.place_weights import PlaceWeights
from discreet.mechanisms.selection.quantiles import SplitQuantiles
from discreet.mechanisms.selection.ranks import CellCounts, PlaceRange, RankedRows, RankTarget
from discreet.mechanisms.selection.score_runs import Piece, choose_piece
from discreet.privacy.events import ExponentialSelection, Repeated
from discreet.testing.bits import ScriptedBits
from support.profile import draws, examples

HALVES = ("1/3", "2/3")
THIRDS = ("1/4", "1/2", "3/4")
EPSILON = 2


@pytest.fixture(autouse=True)
def two_places_a_cell(monkeypatch):
    """Few places, so that all outcomes can be listed."""
    monkeypatch.setattr(quantiles, "_PARTS", 2)


def own_law(made, counts, last):
    """The law of all places, from the pieces that the mechanism draws from."""
    parts, rows = made.parts, RankedRows(counts, made.parts, made.weight)

    def walk(start, stop, where, level):
        if start >= stop:
            return {(): 1.0}
        aim, middle, found = made.aim(start, stop), (start + stop) // 2, {}
        wanted = aim.rank(rows.below(where.end) - rows.below(where.low), made.weight)
        pieces = list(rows.pieces(where, wanted, aim.scale))
        assert sum(piece.length for piece in pieces) == where.places
        assert [piece.depth for piece in pieces] == sorted(piece.depth for piece in pieces)
        weights = {
            piece.start + i: math.exp(-made.rate(aim, level) * piece.depth)
            for piece in pieces
            for i in range(piece.length)
        }
        for place, weight in weights.items():
            below = walk(start, middle, PlaceRange(where.low, place, place), level + 1)
            above = walk(middle + 1, stop, PlaceRange(place, where.high, where.end), level + 1)
            for left, p in below.items():
                for right, q in above.items():
                    found[*left, place, *right] = weight / sum(weights.values()) * p * q
        return found

    return walk(0, len(made.ats), PlaceRange(0, last * parts + parts - 1, (last + 1) * parts), 0)


def plain_law(made, data, last, *, by_rank=False):
    """The same law from the definition, for rows listed one by one; or of a twin that splits the rows by rank."""
    parts, reverse = made.parts, {1: [0], 2: [0, 1]}[made.parts]
    seen, places = Counter(), []
    for cell in data:
        places.append(cell * parts + reverse[seen[cell] % parts])
        seen[cell] += 1

    def walk(ats, rows, low, high, ends, level):  # noqa: PLR0917
        if not ats:
            return {(): 1.0}
        middle, found = len(ats) // 2, {}
        (q_low, first), (q_high, last) = ends
        at = (ats[middle] - q_low) / (q_high - q_low)
        aim = Fraction(first, 2) + at * (len(rows) - Fraction(first, 2) - Fraction(last, 2))
        aim = at * len(rows) if at in {0, 1} else aim
        far = max(at, 1 - at)
        if made.neighbours == "replace":
            far = Fraction(1) if level == 0 else 2 * far
        rate = Fraction(EPSILON, made.levels) / ((1 if at in {0, 1} else 2) * far)
        weights = {
            place: math.exp(
                -rate
                * max(0, aim - sum(x <= place for x in rows), sum(x < place for x in rows) - aim)
            )
            for place in range(low, high + 1)
        }
        for place, weight in weights.items():
            cut = math.floor(aim) if by_rank else sum(x < place for x in rows)
            ordered, split = sorted(rows), (ats[middle], 0)
            top, bottom = (high, low) if by_rank else (place, place)
            below = walk(ats[:middle], ordered[:cut], low, top, (ends[0], split), level + 1)
            above = walk(
                ats[middle + 1 :], ordered[cut:], bottom, high, (split, ends[1]), level + 1
            )
            for left, p in below.items():
                for right, q in above.items():
                    found[*left, place, *right] = weight / sum(weights.values()) * p * q
        return found

    return walk(
        list(made.ats), places, 0, last * parts + parts - 1, ((Fraction(0), 1), (Fraction(1), 1)), 0
    )


def neighbours_of(data, last, relation):
    """Every table with one row more; or with one row replaced."""
    kept = (
        [data] if relation == "add-remove" else [data[:i] + data[i + 1 :] for i in range(len(data))]
    )
    return [(*rows, cell) for rows in kept for cell in range(last + 1)]


class TestTheLaw:
    """The places have the law of one exponential choice a part, with parts {x < place}, {x ≥ place}."""

    @settings(deadline=None, max_examples=examples(60))
    @given(
        st.lists(st.integers(0, 2), max_size=6),
        st.sampled_from([HALVES, THIRDS, ("1/2",), (1,), (0, "1/2")]),
        st.sampled_from(["add-remove", "replace"]),
    )
    def test_it_is_what_the_definition_says(self, data, ats, relation):
        made = SplitQuantiles(EPSILON, ats, neighbours=relation)
        own, plain = own_law(made, Counter(data), 2), plain_law(made, data, 2)
        assert own.keys() == plain.keys()
        assert all(own[one] == pytest.approx(plain[one], rel=1e-9) for one in own)
        assert sum(own.values()) == pytest.approx(1)

    @pytest.mark.statistical
    def test_draws_follow_it(self):
        """Pearson's statistic of 2,000 draws over 9 outcomes stays below 70: false alarm below 1e-11."""
        made, data = SplitQuantiles(EPSILON, HALVES), Counter([0, 1, 1, 2])
        law = Counter()
        for places, chance in own_law(made, data, 2).items():
            law[tuple(place // 2 for place in places)] += chance
        runs = draws(4000)
        drawn = Counter(tuple(made.release(data, 0, 2)) for _ in range(runs))
        assert drawn.keys() <= law.keys()
        assert sum((drawn[one] - runs * p) ** 2 / (runs * p) for one, p in law.items()) < 70


class TestThePrice:
    """On neighbouring tables no outcome is more than e^ε times likelier: enumerated, all tables of up to four rows."""

    @pytest.mark.untraced
    @pytest.mark.parametrize("relation", ["add-remove", "replace"])
    @pytest.mark.parametrize("ats", [HALVES, (0, "1/2", 1)], ids=("thirds", "ends"))
    def test_every_neighbour(self, relation, ats):
        made = SplitQuantiles(EPSILON, ats, neighbours=relation)
        worst = 0.0
        for size in range(1, 4):
            for data in combinations_with_replacement(range(2), size):
                law = own_law(made, Counter(data), 1)
                for near in neighbours_of(data, 1, relation):
                    seen = exact(law, own_law(made, Counter(near), 1), PureDP(EPSILON))
                    assert not seen.refuted
                    worst = max(worst, seen.epsilon)
        assert worst > EPSILON / 4  # a bound that is never near would prove little

    def test_a_twin_that_splits_by_rank_is_refuted(self, monkeypatch):
        """Where one row more moves others between parts, the price of the levels does not cover it: 2.16 of 2."""
        monkeypatch.setattr(quantiles, "_PARTS", 1)
        made, data = SplitQuantiles(EPSILON, THIRDS), (0, 0, 0, 0, 1, 1, 2, 2, 2, 2, 2)
        for by_rank in (True, False):
            first, second = (
                plain_law(made, rows, 2, by_rank=by_rank) for rows in (data, (*data, 2))
            )
            assert exact(first, second, PureDP(EPSILON)).refuted == by_rank

    def test_what_places_count_by_themselves_changes_no_price(self):
        """Places of MAX count less the further off they are, on every table alike."""
        made, law = SplitQuantiles(EPSILON, [1]), []
        for rows in ({0: 3, 5: 1}, {0: 3, 5: 1, 7: 1}):
            pieces = [
                part
                for piece in RankedRows(rows).pieces(PlaceRange(0, 7, 8), 5, 2)
                for part in PlaceWeights(7, 2, 2).cut(piece)
            ]
            rate = made.rate(RankTarget(Fraction(1)), 0)
            mass = {
                p.start + i: p.each * math.exp(-rate * p.depth)
                for p in pieces
                for i in range(p.length)
            }
            law.append({place: one / sum(mass.values()) for place, one in mass.items()})
        assert law[0].keys() == law[1].keys() == set(range(8))
        assert not exact(*law, PureDP(EPSILON)).refuted
        assert all(0 <= made.release({0: 3}, 0, 7, doubling=2)[0] <= 7 for _ in range(20))

    def test_events(self):
        assert SplitQuantiles(1, ["1/2"]).event == ExponentialSelection(1)
        assert SplitQuantiles(1, [Fraction(i, 10) for i in range(1, 10)]).event == Repeated(
            ExponentialSelection("1/4"), 4
        )
        assert SplitQuantiles.spending(PureDP(3), ats=HALVES, neighbours="replace").epsilon == 3

    @pytest.mark.parametrize("ats", [[], ["3/2"], ["-1/2"]])
    def test_refusals(self, ats):
        with pytest.raises(InvalidArgument, match="from 0 to 1"):
            SplitQuantiles(1, ats)

    def test_no_cells(self):
        with pytest.raises(InvalidArgument, match="at least one cell"):
            SplitQuantiles(1, ["1/2"]).release({}, 1, 0)


class TestPlaces:
    """Rows by place are a histogram: what is added to a cell is added to its places, and to nothing else."""

    @settings(max_examples=examples(200))
    @given(st.dictionaries(st.integers(-3, 3), st.integers(0, 40), max_size=4), st.integers(-3, 3), st.integers(1, 9),
           st.sampled_from([1, 2, 8]), st.sampled_from([1, 3]))  # fmt: skip
    def test_adding_adds(self, counts, cell, more, parts, weight):
        one = RankedRows(counts, parts, weight)
        two = RankedRows({**counts, cell: counts.get(cell, 0) + more}, parts, weight)
        span = range(-4 * parts, 4 * parts)
        change = [two.below(p + 1) - two.below(p) - one.below(p + 1) + one.below(p) for p in span]
        assert min(change) >= 0 and sum(change) == more
        assert all(
            move == 0 for place, move in zip(span, change, strict=True) if place // parts != cell
        )

    @settings(max_examples=examples(200), deadline=None)
    @given(st.dictionaries(st.integers(0, 6), st.integers(0, 9), max_size=5), st.integers(-4, 60),
           st.sampled_from([1, 4]), st.integers(0, 3), st.integers(0, 3))  # fmt: skip
    def test_pieces_are_all_places_the_best_first(self, counts, aim, parts, low, cut):
        rows = RankedRows(counts, parts)
        where = PlaceRange(low, 6 * parts + cut, 6 * parts + cut + (0 if cut else 1))
        pieces = list(rows.pieces(where, aim, 2))
        listed = {piece.start + i: piece.depth for piece in pieces for i in range(piece.length)}
        span = range(where.low, where.high + 1)
        assert listed == {place: rows.depth(where, place, aim, 2) for place in span}
        assert sum(piece.length for piece in pieces) == where.places == len(span)
        assert all(a.depth <= b.depth for a, b in pairwise(pieces))

    def test_the_outermost_value_is_aimed_at_with_all_rows(self):
        assert [RankTarget(Fraction(1), beyond=True).rank(rows, 1) for rows in (0, 2, 20)] == [
            0,
            4,
            40,
        ]
        assert [RankTarget(Fraction(0), beyond=True).rank(rows, 3) for rows in (0, 2, 20)] == [
            0,
            0,
            0,
        ]
        assert (
            RankTarget(Fraction(1)).between(20, 1) == 39
        )  # half a row inside: the quantile itself

    def test_a_draw_reads_few_pieces_and_more_where_it_must(self):
        read = []

        def pieces():
            for depth in range(10**6):
                read.append(depth)
                yield Piece(depth, 1, depth)

        assert choose_piece(pieces(), 10**6, Fraction(1)).depth < 100
        assert len(read) < 500


class TestTheError:
    def test_one_choice_by_its_exact_law(self):
        one, greatest = SplitQuantiles(1, ["1/2"]), SplitQuantiles(1, [1])
        assert one.error(1000) == pytest.approx(math.log(999) + math.log(0.95) - math.log(0.05))
        assert greatest.error(1000) == pytest.approx(
            one.error(1000)
        )  # a row moves it twice as far, but to one side

    def test_several_inherit_the_misses_before_them(self):
        """Quartiles: the middle one misses by 2 e-folds of ranks, the others by as much and half of that."""
        made = SplitQuantiles(1, THIRDS)
        assert sorted([part for part, _, _ in own] for own in made.shares()) == [
            [0.5, 1],
            [0.5, 1],
            [1],
        ]
        surely = 3 * math.log(1000 * made.parts - 1)
        assert made.error(1000) == pytest.approx(surely + exponential_sum([1.0, 2.0], 0.05))

    def test_at_a_large_budget_the_outermost_row_itself_is_found(self):
        assert [SplitQuantiles(epsilon, [1]).aim(0, 1).beyond for epsilon in (1, 63, 64)] == [
            True,
            True,
            False,
        ]
        assert [SplitQuantiles(1000, [at]).release({3: 5, 9: 1}, 0, 20) for at in (0, 1)] == [
            [3],
            [9],
        ]

    def test_places_that_count_more_are_counted(self):
        """A place of MAX may count far more than the last one: so many e-folds, a row each at ε = 1."""
        one, greatest = SplitQuantiles(1, ["1/2"]), SplitQuantiles(1, [1])
        assert one.error(1000, doubling=8) == one.error(1000)
        more = greatest.error(1000, doubling=8) - greatest.error(1000)
        assert more == pytest.approx(PlaceWeights.beyond(999, 8).spread) and 16 * math.log(
            2
        ) < more < 19 * math.log(2)
        assert greatest.error(200, doubling=256) == greatest.error(200)  # a small grid

    @pytest.mark.statistical
    def test_it_is_met(self):
        """Of 150 draws more than 37 beyond a bound with β = 1/20 have probability below 1e-13, for each quantile."""
        made, rows = SplitQuantiles(1, THIRDS), dict.fromkeys(range(200), 5)
        bound, runs = made.error(200), draws(300)
        far = Counter()
        for _ in range(runs):
            for cell, at in zip(made.release(rows, 0, 199), made.ats, strict=True):
                aim = 999 * at + Fraction(1, 2)
                far[at] += max(aim - 5 * (cell + 1), 5 * cell - aim) > bound
        assert max(far.values()) <= runs // 4


def test_counts_in_arrays_are_counts_in_a_dictionary():
    """Empty cells are left out, and sums are integers of Python."""
    cells, weights = np.array([2, 5, 6, 9]), np.array([3, 0, 1 << 40, 7])
    arrays = RankedRows(CellCounts(cells, weights), parts=4, weight=1)
    counts = RankedRows(dict(zip(cells.tolist(), weights.tolist(), strict=True)), parts=4, weight=1)
    assert list(arrays.cells) == list(counts.cells) == [2, 6, 9]
    assert list(arrays.before) == list(counts.before) == [0, 3, 3 + (1 << 40), 10 + (1 << 40)]
    assert [arrays.below(place) for place in range(44)] == [counts.below(p) for p in range(44)]


@pytest.mark.parametrize(
    ("word", "chosen"), [(0, 0), (2**63 - 1, 0), (2**63 + 1, 1), (2**64 - 1, 1)]
)
def test_a_draw_that_the_first_bits_leave_open_is_settled(word, chosen):
    """Two halves meet at 2^63: there the first 32 bits decide nothing, and the rest does."""
    halves = [Piece(0, 1, 0), Piece(1, 1, 0)]
    bits = ScriptedBits(word.to_bytes(8, "little") + bytes([7]) * 64)
    assert choose_piece(iter(halves), 2, Fraction(1), bits=bits) == halves[chosen]
