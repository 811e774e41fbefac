"""Bridges of totals: the Python functions satisfy the statements of proofs/Totals.v and Samplers.v on all small inputs.

Each statement is a function, so that a wrong one (half a sensitivity, `max` for `+`) can be put in its place and be refuted.
"""

from __future__ import annotations

import json
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from math import comb, isqrt, prod
from pathlib import Path

import numpy as np
import pytest

import discreet as dp
from discreet.data import Boolean, Category, Integer, Schema
from discreet.engines.memory.engine import Memory
from discreet.learn.private_sum import FINE, _clipped
from discreet.learn.training.gram import ACROSS, ALONG, gram_slice
from discreet.learn.training.influence import Influence
from discreet.mechanisms.selection.ranks import RankTarget, _depth
from discreet.mechanisms.sensitivity import histogram, sum_of
from discreet.query.algebra.expression import Field
from discreet.query.algebra.tally import Free, GroupShare, KeptKeys, RowShare, Tally, Term
from discreet.query.algebra.tree import JoinPeople, JoinPublic, Scan, Union
from discreet.query.bounds.fanout import person_rows
from discreet.query.bounds.sensitivity import Corner, _met_corners, corner_of, influence
from discreet.query.bounds.siblings import wide_question

ROOT = Path(__file__).parents[2]
CONSTANTS = json.loads((ROOT / "proofs" / "checked.json").read_text("utf-8"))["constants"]
KEYS = ("a", "b")
COLUMNS = {"key": Category(list(KEYS)), "x": Integer(-1, 2)}
LOW, HIGH, REACH = -1, 2, 2
"""Bounds of a row's contribution, and c = max(|low|, |high|)."""
STEPS = 1 << 20
"""Steps of a whole row: shares are floored on this grid."""


def scan(unit, neighbours="add-remove"):
    return Scan(Schema("visits", unit, COLUMNS, neighbours=neighbours))


def shares():
    """All small shares, with the unit they are for: Free, RowShare, GroupShare."""
    term = Term(Field("x"), STEPS, LOW * STEPS, HIGH * STEPS)
    keys = tuple((key,) for key in KEYS)
    yield Tally(scan(dp.Rows()), (Field("key"),), (term,), Free(), keys), 1
    people = scan(dp.People("id", max_rows=9))
    for rows in (1, 2):
        yield Tally(people, (Field("key"),), (term,), RowShare(rows), keys), 4
        for groups in (1, 2):
            yield Tally(people, (Field("key"),), (term,), GroupShare(groups, rows), keys), 4


def unit_totals(tally, rows):
    """The totals of one unit with these rows, as the store in memory computes them."""
    stored = [{"id": 1, "key": key, "x": x} for key, x in rows]
    found = Memory({"visits": stored}).tally(tally)
    return [int(found.get((key,), (0,))[0]) for key in KEYS]


ROW = tuple(product(KEYS, (LOW, 0, HIGH)))


@cache
def units():
    return [
        (tally, unit_totals(tally, rows))
        for tally, most in shares()
        for size in range(most + 1)
        for rows in combinations_with_replacement(ROW, size)
    ]


def l1_holds(sensitivity, totals):
    """free_l1, row_share_l1, group_share_l1."""
    return sum(map(abs, totals)) <= sensitivity.l1


def l2_holds(sensitivity, totals):
    """group_share_l2."""
    return sum(total**2 for total in totals) <= sensitivity.squared_l2


def linf_holds(sensitivity, totals):
    """group_share_linf."""
    return max(map(abs, totals)) <= sensitivity.linf


class TestOneUnit:
    """Rows 16 to 20: what one unit adds, for all units of up to four rows over two keys."""

    @pytest.mark.parametrize("statement", [l1_holds, l2_holds, linf_holds])
    def test_all_units(self, statement):
        assert all(statement(influence(tally, 0, 2), totals) for tally, totals in units())

    def test_there_are_units_of_every_share(self):
        assert len(units()) > 1000


class TestNeighbours:
    """Rows 21 to 23: a unit more, a unit exchanged, a value exchanged."""

    @pytest.mark.parametrize(("low", "high"), [(0, 1), (-1, 2), (-3, -1), (2, 5)])
    def test_sums(self, low, high):
        values = range(low, high + 1)
        moved = sum_of(low, high)
        assert all(abs(x) <= moved.l1 for x in values)
        replaced = sum_of(low, high, "replace")
        assert all(abs(x - y) <= replaced.l1 for x, y in product(values, repeat=2))

    def test_histograms(self):
        added = histogram()
        exchanged = histogram("replace")
        cells = np.eye(3, dtype=int)
        assert all(np.abs(cell).sum() <= added.l1 for cell in cells)
        assert all(np.abs(x - y).sum() <= exchanged.l1 for x, y in product(cells, repeat=2))


def shared_keys(low, high, groups, rows):
    """All pairs of corners over three keys: vectors of r·low or r·high in at most g keys."""
    ends = (0, rows * low, rows * high)
    vectors = [v for v in product(ends, repeat=3) if np.count_nonzero(v) <= groups]
    return product(vectors, repeat=2)


def replace_holds(stated, one, other):
    """replace_shared_l1 and replace_shared_l2, at the worst number of shared keys."""
    moves = [x - y for x, y in zip(one, other, strict=True)]
    l1 = sum(map(abs, moves))
    squared = sum(move**2 for move in moves)
    return l1 <= max(first for first, _ in stated) and squared <= max(s for _, s in stated)


class TestRowsInGroups:
    """Row M4: rows in three groups, at most r in each, have at most the squares of their corner."""

    @pytest.mark.parametrize("most", [1, 2, 3, 5])
    def test_all_groups(self, most):
        for rows in product(range(most + 1), repeat=3):
            for all_rows in range(sum(rows), 3 * most + 1):
                corner = Corner(all_rows // most, most, all_rows % most)
                assert sum(count**2 for count in rows) <= corner.squares


class TestSharedKeys:
    """Row 24: the table of `_met_corners` bounds every pair of corners, with few keys or many."""

    @pytest.mark.parametrize("bounds", [(0, 1), (-1, 1), (-1, 2), (-2, 1)])
    @pytest.mark.parametrize(("groups", "rows"), [(1, 1), (2, 1), (1, 2), (2, 2)])
    def test_all_pairs(self, bounds, groups, rows):
        for cells in (None, 3):
            stated = list(_met_corners(Corner(groups, rows), bounds, cells))
            pairs = shared_keys(*bounds, groups, rows)
            assert all(replace_holds(stated, one, other) for one, other in pairs)


class TestRoundedDown:
    """Row 25: ⌊T/q⌋ in the whole numbers of Python."""

    def test_all_small(self):
        for q, a, b in product(range(1, 6), range(-9, 10), range(-9, 10)):
            assert q * abs(a // q - b // q) <= abs(a - b) + q - 1


def bernstein(degree, steps, u):
    return [comb(degree, i) * u**i * (steps - u) ** (degree - i) for i in range(degree + 1)]


class TestUnity:
    """Rows 26 and 27: what a row adds to all totals together."""

    def test_one_column(self):
        for degree, steps in product(range(4), range(1, 6)):
            for u in range(steps + 1):
                assert sum(map(abs, bernstein(degree, steps, u))) == steps**degree

    def test_several_columns(self):
        for degrees in product(range(3), repeat=2):
            for steps in product(range(1, 4), repeat=2):
                for us in product(*(range(s + 1) for s in steps)):
                    columns = [bernstein(*c) for c in zip(degrees, steps, us, strict=True)]
                    together = sum(abs(prod(entry)) for entry in product(*columns))
                    assert together == prod(s**d for s, d in zip(steps, degrees, strict=True))


class TestFanOut:
    """Row 28: the bounds that Coq computed by `fan_out`, for the same relations."""

    @pytest.mark.parametrize("row", CONSTANTS["fan_table"], ids=str)
    def test_as_coq_computes(self, row):
        k, m, others, joined, paired, united = row
        left = Scan(Schema("visits", dp.People("id", max_rows=k), {"ward": Integer(1, 9)}))
        right = Scan(Schema("stays", dp.People("id", max_rows=others), {"paid": Boolean()}))
        columns = {"ward": Integer(1, 9), "park": Integer(1, 9)}
        parks = Schema.public_table("parks", columns, max_rows={"ward": m})
        assert person_rows(JoinPublic(left, parks, ((Field("ward"), "ward"),), ())) == joined
        assert person_rows(JoinPeople(left, right)) == paired
        assert person_rows(Union((left, right))) == united


class TestKeptKeys:
    """Row 29: the sensitivity of kept keys is that of the g keys which the map of one person keeps."""

    def test_at_most_g_keys_count(self):
        people = scan(dp.People("id", max_rows=9))
        term = Term(Field("x"), 1, LOW, HIGH)
        for groups, rows in product((1, 2, 3), (1, 2)):
            tally = Tally(people, (Field("key"),), (term,), KeptKeys(groups, rows))
            assert corner_of(tally) == Corner(groups, rows)
            assert influence(tally, 0).l1 == groups * rows * REACH


class TestRanks:
    """Row 30: depths as Coq computes them, and how far a unit moves them."""

    @pytest.mark.parametrize("row", CONSTANTS["depth_table"], ids=str)
    def test_depth_as_coq_computes(self, row):
        aim, after, before, depth = row
        ranks = {0: before, 1: after}
        assert _depth(ranks.__getitem__, 0, aim) == depth

    @staticmethod
    def moves(at, *, beyond):
        """All changes of depth by a unit of weight T, t of it up to the place and b before it."""
        target = RankTarget(at, beyond=beyond)
        for rows, unit in product(range(4), range(1, 3)):
            for after, before in product(range(rows + 1), repeat=2):
                if before > after:
                    continue
                for a, b in product(range(unit + 1), repeat=2):
                    if b > a:
                        continue
                    yield unit, target, _moved(target, (rows, after, before), (unit, a, b))

    @pytest.mark.parametrize("at", [Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(1)])
    def test_no_score_moves_further(self, at):
        assert all(abs(move) <= t.moved(unit) for unit, t, move in self.moves(at, beyond=False))

    @pytest.mark.parametrize("at", [Fraction(0), Fraction(1)])
    def test_the_ends_move_to_one_side(self, at):
        found = list(self.moves(at, beyond=True))
        assert all(0 <= move <= target.scale * unit for unit, target, move in found)


def _moved(target, table, unit):
    def depth(rows, after, before):
        ranks = {0: target.scale * before, 1: target.scale * after}
        return _depth(ranks.__getitem__, 0, target.rank(rows, 1))

    grown = [x + y for x, y in zip(table, unit, strict=True)]
    return depth(*grown) - depth(*table)


def released(z):
    """The squared norm of what `release_moments` is given for one row z = (x, y)."""
    size = len(z)
    diagonal = sum((ALONG * z[i] * z[i]) ** 2 for i in range(size))
    beside = sum((ACROSS * z[i] * z[j]) ** 2 for i in range(size) for j in range(i + 1, size))
    return diagonal + beside


class TestMoments:
    """Row 52: factors as Coq has them, the square of a slice, clipping in whole numbers."""

    def test_factors(self):
        assert (CONSTANTS["ALONG"], CONSTANTS["ACROSS"]) == (ALONG, ACROSS)
        assert ACROSS**2 <= 2 * ALONG**2

    def test_all_small_rows(self):
        for z in product(range(-3, 4), repeat=3):
            squared = z[0] ** 2 + z[1] ** 2
            slice_ = gram_slice(squared, z[2] ** 2, 2, 1, Influence(1, 1, "add-remove"))
            assert released(z) <= slice_.squared

    def test_clipping(self):
        grid = np.array(list(product((-3.0, -0.5, 0.0, 1.0, 1e9), repeat=2)))
        steps = _clipped(grid, 1.0)
        assert all(isqrt(int((row.astype(object) ** 2).sum())) <= FINE for row in steps)


FLIGHTS = dp.Schema("flights", dp.Rows(), {"origin": Category(list(KEYS)), "late": Boolean()})


def cells_of(question, rows):
    """The exact totals of a question, absent cells left out."""
    [release] = dp.plan_question(question, dp.PureDP(1)).releases
    found = Memory({"flights": rows}).tally(release.need.tally)
    return {cell: values for cell, values in found.items() if any(values)}


class TestSiblings:
    """Row S1: a row is in at most one cell of the wide question, with what it adds to its part."""

    @pytest.mark.parametrize("where", ["origin = 'a'", "origin = 'b' AND late = TRUE"])
    def test_all_rows(self, where):
        asked = dp.parse_sql(
            f"SELECT COUNT(*) AS n FROM flights WHERE {where}", {"flights": FLIGHTS}
        )
        wide = wide_question(asked)
        for origin, late in product((*KEYS, None), (True, False, None)):
            cells = cells_of(wide.question, [{"origin": origin, "late": late}])
            assert len(cells) <= 1
            assert sum(abs(value) for values in cells.values() for value in values) <= 1


def half_l1(sensitivity, totals):
    return sum(map(abs, totals)) <= sensitivity.l1 / 2


def l1_of_one_row(sensitivity, totals):
    """`max` for `+`: as if a unit's rows did not add up."""
    return sum(map(abs, totals)) <= REACH * STEPS and sensitivity.l1 > 0


class TestWrongStatements:
    """Statements that are false are refuted on the same inputs."""

    @pytest.mark.parametrize("statement", [half_l1, l1_of_one_row])
    def test_of_one_unit(self, statement):
        assert not all(statement(influence(tally, 0, 2), totals) for tally, totals in units())

    def test_replace_as_add_remove(self):
        stated = [(2 * 2, 2 * 2**2)]
        pairs = shared_keys(-1, 2, 2, 1)
        assert not all(replace_holds(stated, one, other) for one, other in pairs)

    def test_rounding_down_never_adds(self):
        cases = product(range(1, 6), range(-9, 10), range(-9, 10))
        assert not all(q * abs(a // q - b // q) <= abs(a - b) for q, a, b in cases)

    def test_ranks_move_by_the_lesser_side(self):
        found = TestRanks.moves(Fraction(1, 4), beyond=False)
        assert not all(abs(move) <= 2 * unit for unit, _, move in found)
