"""Record and replay: no total, score or number of values moves by more than its declared sensitivity."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.data import Category, Integer, People, Rows, Schema
from discreet.errors import UnboundedSensitivity
from discreet.query.algebra.expression import Call, Constant, Field, Function
from discreet.query.algebra.tally import Free, GroupRowShare, GroupShare, RowShare, Tally, Term
from discreet.query.algebra.tree import Scan, Union, Where
from discreet.query.bounds.sensitivity import (
    distinct_influence,
    influence,
    joint_influence,
    rank_influence,
    vote_influence,
)
from oracles.tally import totals
from support.profile import DEEP, examples

RELATIONS = ("add-remove", "replace")
REGIONS = ("N", "S", "E", "W")
COLUMNS = {"x": Integer(-7, 20), "y": Integer(-9, 0), "region": Category(REGIONS)}


def scan(unit, neighbours):
    return Scan(Schema("visits", unit, COLUMNS, neighbours=neighbours))


values = st.one_of(st.none(), st.integers(-40, 40), st.sampled_from([-7, 20, 0]))
rows = st.fixed_dictionaries(
    {"x": values, "y": values, "region": st.sampled_from([*REGIONS, None, "?"])}
)
person = st.lists(rows, max_size=40)
TERMS = (
    Term(Constant(True), 16, 0, 16),
    Term(Field("x"), 4, -28, 80),
    Term(Field("y"), 1, -9, 0),
    Term(Call(Function.MULTIPLY, (Field("x"), Field("x"))), 1, 0, 400),
    Term(Call(Function.LESS, (Field("x"), Constant(3))), 1, 0, 1),
)
SHARES = (
    *map(RowShare, (1, 3, 40)),
    GroupShare(1, 4),
    GroupShare(2, 3),
    GroupShare(3, 1),
    GroupShare(4, 10),
    GroupRowShare(5, 2, 1),
    GroupRowShare(3, 3, 1),
)
COUNTED_ONCE = (GroupShare(1, 1), GroupShare(2, 1), RowShare(2))
few = st.lists(rows, max_size=5)
relations = st.sampled_from(RELATIONS)


def owned(who, lines):
    return [{"id": who, **line} for line in lines]


def norms(before, after, place, keys):
    moves = [after.get(k, NOTHING)[place] - before.get(k, NOTHING)[place] for k in keys]
    return (
        sum(map(abs, moves)),
        sum(m * m for m in moves),
        max(map(abs, moves)),
        sum(m != 0 for m in moves),
    )


NOTHING = (0,) * len(TERMS)


def within(found, sensitivity):
    l1, squared, most, changed = found
    return (
        l1 <= sensitivity.l1
        and squared <= sensitivity.squared_l2
        and most <= sensitivity.linf
        and changed <= sensitivity.changed
    )


class TestTotalsOfPeople:
    """One person's totals lie in the hull of the corners, so no norm exceeds its value there."""

    @pytest.mark.untraced
    @settings(deadline=None, max_examples=examples(250))
    @given(
        person,
        person,
        st.lists(rows, max_size=5),
        st.sampled_from(SHARES),
        st.booleans(),
        st.sampled_from(RELATIONS),
    )
    def test_no_norm_is_exceeded(self, mine, yours, others, share, keyed, neighbours):  # noqa: PLR0917
        keys = tuple((r,) for r in REGIONS) if keyed else ((),)
        relation = scan(People("id", max_rows=40), neighbours)
        tally = Tally(
            relation, (Field("region"),) if keyed else (), TERMS, share, keys if keyed else None
        )
        rest = owned(0, others)
        before = totals(tally, {"visits": rest + owned(1, mine)})
        after = totals(
            tally, {"visits": rest + (owned(2, yours) if neighbours == "replace" else [])}
        )
        for place in range(len(TERMS)):
            assert within(norms(before, after, place, keys), influence(tally, place, len(keys)))
            assert within(norms(before, after, place, keys), influence(tally, place))

    @settings(deadline=None, max_examples=examples(100))
    @given(person, person, st.sampled_from(COUNTED_ONCE), relations)
    def test_people_count_once_in_a_key(self, mine, yours, share, neighbours):
        keys = tuple((r,) for r in REGIONS)
        relation = scan(People("id", max_rows=40), neighbours)
        tally = Tally(relation, (Field("region"),), (TERMS[0],), share, keys, people=True)
        before = totals(tally, {"visits": owned(1, mine)})
        after = totals(tally, {"visits": owned(2, yours) if neighbours == "replace" else []})
        assert within(norms(before, after, 0, keys), influence(tally, 0, len(keys)))

    @pytest.mark.parametrize("neighbours", RELATIONS)
    @pytest.mark.parametrize("share", SHARES[:7])
    def test_every_norm_is_reached(self, share, neighbours):
        """Two heavy people at the ends of the range, in the same keys or in different ones."""
        groups, heavy = (
            (share.groups, share.rows) if isinstance(share, GroupShare) else (1, share.rows)
        )
        keys = tuple((r,) for r in REGIONS)
        tally = Tally(
            scan(People("id", max_rows=40), neighbours), (Field("region"),), TERMS, share, keys
        )
        stated = influence(tally, 1, 4)

        def at(x, regions):
            return [{"x": x, "region": r} for r in regions for _ in range(heavy)]

        first = at(20, REGIONS[:groups])
        others = (
            [[]]
            if neighbours == "add-remove"
            else [at(-7, REGIONS[:groups]), at(20, REGIONS[-groups:])]
        )
        mixed = (
            []
            if neighbours == "add-remove"
            else [at(-7, set(REGIONS[:groups]) & set(REGIONS[-groups:]))]
        )
        if mixed and mixed[0]:
            others.append(mixed[0] + at(20, set(REGIONS[-groups:]) - set(REGIONS[:groups])))
        found = [
            norms(
                totals(tally, {"visits": owned(1, first)}),
                totals(tally, {"visits": owned(2, o)}),
                1,
                keys,
            )
            for o in others
        ]
        assert max(f[0] for f in found) == stated.l1
        assert max(f[1] for f in found) == stated.squared_l2
        assert max(f[2] for f in found) == stated.linf


def effective_rows(keys, most, share):
    """List how many rows count in each key, in parts of 1/60, of all people of up to `most` rows in keys and in none."""
    found = set()
    for held in product(range(most + 1), repeat=keys + 1):
        if sum(held) <= most:
            counted = sum(min(n, share.group_rows) for n in held)
            part = Fraction(60 * min(counted, share.rows), counted or 1)
            rows = [min(n, share.group_rows) * part for n in held[:keys]]
            assert all(row.denominator == 1 for row in rows)
            found.add(tuple(map(int, rows)))
    return found


class TestRowsInGroups:
    """GroupRowShare(K, r): over all people of up to 5 rows in up to 3 keys and in none, every norm is reached, none exceeded."""

    @pytest.mark.parametrize("neighbours", RELATIONS)
    @pytest.mark.parametrize("ends", [(0, 1), (-1, 2), (-3, 1)], ids=str)
    def test_all_people(self, ends, neighbours):
        low, high = ends
        most = 5 if DEEP else 4
        for keys, k in product((1, 2, 3), range(1, most + 1)):
            for r in range(1, k + 1):
                share = GroupRowShare(k, r, 1)
                units = set()
                for rows in effective_rows(keys, most, share):
                    for signs in product(ends, repeat=keys):
                        units.add(tuple(n * end for n, end in zip(rows, signs, strict=True)))
                mine = np.array(sorted(units))
                yours = mine if neighbours == "replace" else np.zeros((1, keys), dtype=np.int64)
                moves = abs(mine[:, None, :] - yours[None, :, :])
                tally = Tally(
                    scan(People("id", max_rows=40), neighbours),
                    (Field("region"),),
                    (Term(Field("x"), 1, low, high),),
                    share,
                )
                stated = influence(tally, 0, keys)
                found = (moves.sum(axis=2).max(), (moves**2).sum(axis=2).max(), moves.max())
                wanted = (60 * stated.l1, 3600 * stated.squared_l2, 60 * stated.linf)
                assert found == wanted, (keys, share)
                if neighbours == "replace":
                    both = 2 * (k // r * r**2 + (k % r) ** 2) * (low**2 + high**2)
                    assert stated.squared_l2 <= influence(tally, 0).squared_l2 <= both

    def test_the_worst_pair_of_unequal_people(self):
        """K = 3, r = 2, ends −1 and 2: two rows of one meet one row of the other, twice: 5² + 5², not 6² + 3²."""
        relation = scan(People("id", max_rows=3), "replace")
        tally = Tally(
            relation, (Field("region"),), (Term(Field("x"), 1, -1, 2),), GroupRowShare(3, 2, 1)
        )
        assert influence(tally, 0).squared_l2 == 50
        mine = [{"x": 2, "region": "N"}] * 2 + [{"x": -1, "region": "S"}]
        yours = [{"x": -1, "region": "N"}] + [{"x": 2, "region": "S"}] * 2
        both = (totals(tally, {"visits": owned(1, rows)}) for rows in (mine, yours))
        assert norms(*both, 0, (("N",), ("S",)))[1] == 50

    def test_terms_are_bounded_together(self):
        """x and 9 − x add 9 a row: over all groups 5 rows count, 2 in one of them."""
        rest = Call(Function.SUBTRACT, (Constant(9), Field("z")))
        terms = (Term(Field("z"), 1, 0, 9), Term(rest, 1, 0, 9))
        schema = Schema(
            "visits", People("id", max_rows=5), {"z": Integer(0, 9), "region": COLUMNS["region"]}
        )
        tally = Tally(Scan(schema), (Field("region"),), terms, GroupRowShare(5, 2, 1))
        stated = joint_influence(tally, 9)
        assert (stated.l1, stated.squared_l2, stated.linf) == (45, (4 + 4 + 1) * 81, 18)
        heavy = [{"z": z, "region": r} for r, n in (("N", 2), ("S", 2), ("E", 1)) for z in [9] * n]
        flat = [x for sums in totals(tally, {"visits": owned(1, heavy)}).values() for x in sums]
        assert (sum(flat), sum(x * x for x in flat), max(flat)) == (45, 729, 18)


class TestTotalsOfRows:
    """A row that becomes m rows moves the totals by at most m contributions."""

    @settings(deadline=None, max_examples=examples(100))
    @given(rows, rows, st.integers(1, 3), st.sampled_from(RELATIONS))
    def test_no_norm_is_exceeded(self, mine, yours, copies, neighbours):
        one = scan(Rows(), neighbours)
        high = Where(one, Call(Function.LESS, (Constant(0), Field("x"))))
        relation = Union((one, high, one)[:copies]) if copies > 1 else one
        keys = tuple((r,) for r in REGIONS)
        tally = Tally(relation, (Field("region"),), TERMS, Free(), keys)
        before = totals(tally, {"visits": [mine]})
        after = totals(tally, {"visits": [yours] if neighbours == "replace" else []})
        for place in range(len(TERMS)):
            assert within(norms(before, after, place, keys), influence(tally, place, len(keys)))

    def test_one_row_is_the_textbook(self):
        tally = Tally(scan(Rows(), "replace"), (Field("region"),), TERMS, Free())
        stated = influence(tally, 4, 4)
        assert (stated.l1, stated.squared_l2, stated.linf, stated.changed) == (2, 2, 1, 2)


CELLS = tuple((x,) for x in range(-7, 21))


def scores(counts, at, shift, den):
    total = sum(counts)
    up_to, found = 0, []
    for count in counts:
        before, up_to = up_to, up_to + count
        target = at * total * den + shift
        found.append(-max(0, target - den * up_to, den * before - target))
    return found


class TestScores:
    """A choice in every key is one choice by the sum of scores, and that sum moves by no more than stated."""

    @settings(deadline=None, max_examples=examples(150))
    @given(
        person, person, st.lists(rows, max_size=12), st.sampled_from(["0", "1/4", "1/2", "9/10", "1"]),
        st.sampled_from([RowShare(1), RowShare(3)]), st.integers(-30, 30), st.booleans(), st.sampled_from(RELATIONS),
    )  # fmt: skip
    def test_ranks_and_votes(self, mine, yours, others, q, share, shift, keyed, neighbours):  # noqa: PLR0917
        at = Fraction(q)
        regions = REGIONS if keyed else (None,)
        keys = (Field("region"), Field("x")) if keyed else (Field("x"),)
        only = tuple((*((r,) if keyed else ()), *c) for r in regions for c in CELLS)
        tally = Tally(scan(People("id", max_rows=3), neighbours), keys, TERMS[:1], share, only)
        tables = [owned(0, others) + owned(1, mine), owned(0, others)]
        if neighbours == "replace":
            tables[1] = tables[1] + owned(2, yours)
        moved = votes = 0
        for region in regions:
            pair = []
            for table in tables:
                found = totals(tally, {"visits": table})
                pair.append(
                    [found.get((*((region,) if keyed else ()), *c), (0,))[0] for c in CELLS]
                )
            before, after = (scores(counts, at, shift, at.denominator) for counts in pair)
            moved += max(abs(b - a) for a, b in zip(before, after, strict=True))
            votes += max(b - a for a, b in zip(*pair, strict=True))
        assert moved <= rank_influence(tally, at, len(regions))
        assert votes <= vote_influence(tally)


class TestDistinct:
    """How many values occur changes by no more than one unit's pairs of key and value."""

    @pytest.mark.untraced
    @settings(deadline=None, max_examples=examples(150))
    @given(
        person,
        person,
        st.lists(rows, max_size=8),
        st.integers(1, 4),
        st.booleans(),
        st.sampled_from(RELATIONS),
    )
    def test_people(self, mine, yours, others, groups, keyed, neighbours):  # noqa: PLR0917
        regions = REGIONS if keyed else (None,)
        keys = (Field("region"), Field("x")) if keyed else (Field("x"),)
        term = Term(Constant(True), 1, 0, 1)
        tally = Tally(
            scan(People("id", max_rows=4), neighbours),
            keys,
            (term,),
            GroupShare(groups, 1),
            people=True,
        )
        tables = [owned(0, others) + owned(1, mine), owned(0, others)]
        if neighbours == "replace":
            tables[1] = tables[1] + owned(2, yours)
        counts = []
        for table in tables:
            found = [
                key
                for key, total in totals(tally, {"visits": table}).items()
                if total[0] and key[-1] is not None
            ]
            counts.append(
                {(r,): (sum(not keyed or key[0] == r for key in found),) for r in regions}
            )
        stated = distinct_influence(tally, len(regions))
        assert within(norms(*counts, 0, [(r,) for r in regions]), stated)
        assert distinct_influence(tally).l1 >= stated.l1


class TestRefusals:
    def test_a_person_without_a_share(self):
        with pytest.raises(UnboundedSensitivity, match="share"):
            influence(Tally(scan(People("id", max_rows=2), "replace"), (), TERMS, Free()), 0)

    @pytest.mark.parametrize("share", [RowShare(2), GroupShare(1, 1)])
    def test_a_row_with_one(self, share):
        with pytest.raises(UnboundedSensitivity, match="share"):
            influence(Tally(scan(Rows(), "replace"), (), TERMS, share), 0)

    def test_nothing_to_add_still_has_a_sensitivity(self):
        tally = Tally(
            scan(Rows(), "add-remove"),
            (),
            (Term(Field("y"), 1, 0, 0), Term(Field("y"), 1, -4, -1)),
            Free(),
        )
        assert influence(tally, 0).l1 == 1
        assert influence(tally, 1).l1 == 4
