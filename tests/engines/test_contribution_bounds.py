"""Shares: the definitions of `query.tally` on every engine, and what one person can change."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random

import pytest

from discreet.data import Category, Integer, People, Real, Schema, Timestamp
from discreet.engines import DuckDB, Memory
from discreet.frozen import replace
from discreet.query.algebra.expression import Call, Constant, Field, Function
from discreet.query.algebra.tally import (
    Free,
    GroupRowShare,
    GroupShare,
    KeptKeys,
    RowShare,
    Tally,
    Term,
)
from discreet.query.algebra.tree import Scan, Where
from discreet.query.bounds.quantile_grid import quantile_grid_of
from discreet.query.bounds.relation_facts import columns_of
from engines.tables import Table, arrow, in_memory, same_totals
from oracles.tally import totals
from support.profile import DEEP

VISITS = Schema(
    "visits",
    People("who", max_rows=10),
    {"paid": Integer(-50, 100), "city": Category(["Oslo", "Rome", "Bonn"]), "much": Real(0, 1000)},
)
TYPES = {"who": "bigint", "paid": "bigint", "city": "text", "much": "double"}
HEAVY = [
    (7, place % 13 - 50 * (place % 2), ["Oslo", "Rome", "Bonn", None][place % 4], place * 31.7)
    for place in range(40)
]
LIGHT = [
    (1, 10, "Oslo", 1.0),
    (1, 33, "Rome", 2.0),
    (2, 100, "Oslo", None),
    (3, None, "Bonn", 5.0),
    (None, 99, "Oslo", 1.0),
]
ROWS = Table(TYPES, [*HEAVY, *LIGHT])
CITY = (Field("city"),)
PAID = Term(Field("paid"), 4, -200, 400)
COUNT = Term(Constant(True), 16, 0, 16)
KNOWN = Term(Call(Function.NOT, (Call(Function.IS_NULL, (Field("much"),)),)), 16, 0, 16)
DEAR = Term(Call(Function.LESS, (Constant(50), Field("paid"))), 8, 0, 8)
MUCH = Term(Field("much"), 1, 0, 1000 * 2**20)
CLIPPED = Term(Field("paid"), 1, -3, 7)
WORTHLESS = Term(Constant(True), 4, -1, 2)
TERMS = (PAID, COUNT, KNOWN, DEAR, MUCH, CLIPPED, WORTHLESS)
ONLY = (("Oslo",), (None,), ("Paris",))
SHARES = [
    Free(),
    RowShare(10),
    RowShare(1),
    RowShare(2**31),
    GroupShare(2, 5),
    GroupShare(1, 1),
    GroupShare(9, 40),
    KeptKeys(2, 5, "it's"),
    KeptKeys(1, 1),
    GroupRowShare(10, 3, 0),
    GroupRowShare(5, 5, 0),
]
TALLIES = [
    Tally(Scan(VISITS), keys, TERMS, share, only, people)
    for share in SHARES
    for keys, only in [((), None), (CITY, None), (CITY, ONLY), ((), ())]
    for people in (False, True)
]


def by_group(tally):
    """Let a share of groups go by all keys that are listed."""
    if isinstance(tally.share, GroupRowShare):
        return replace(tally, share=replace(tally.share, keys=tally.listed))
    return tally


TALLIES = list(map(by_group, TALLIES))
TALLIES += [replace(one, joined=(0,)) for one in TALLIES if one.only is ONLY]
"""Where a list of keys is joined, a row that matches nothing is none of its person's rows."""


class TestEveryEngineSharesAlike:
    def test_all_shares(self, load):
        """One heavy person with 40 rows, light ones, one without an id."""
        engine, memory = load({"visits": ROWS}), in_memory({"visits": ROWS})
        for tally in load.some(TALLIES):
            same_totals(engine.tally(tally), memory.tally(tally))

    def test_an_empty_table_has_one_row_of_totals_without_keys(self, load):
        engine = load({"visits": Table(TYPES, [])})
        for share in SHARES if load.name != "spark" else SHARES[1:5:3]:
            assert engine.tally(Tally(Scan(VISITS), (), (COUNT, PAID), share)) == {(): (0, 0)}
            assert engine.tally(Tally(Scan(VISITS), CITY, (COUNT, PAID), share)) == {}

    def test_two_keys_that_are_no_product(self, load):
        engine, memory = load({"visits": ROWS}), in_memory({"visits": ROWS})
        keys = (Field("city"), Call(Function.LESS, (Field("paid"), Constant(0))))
        only = (("Oslo", True), ("Rome", False), (None, True), ("Bonn", None), ("Paris", True))
        for share in (Free(), RowShare(2)):
            tally = Tally(Scan(VISITS), keys, (COUNT, PAID), share, only)
            wanted = memory.tally(tally)
            assert wanted
            same_totals(engine.tally(tally), wanted)
        none = Tally(Scan(VISITS), keys, (COUNT,), Free(), only=((Fraction(1, 3), "Oslo"),))
        assert engine.tally(none) == {}
        unknown = Tally(
            Scan(VISITS), keys, (COUNT,), Free(), only=((None, True), (None, False), ("Rome", None))
        )
        same_totals(engine.tally(unknown), memory.tally(unknown))

    def test_the_first_keys_may_be_listed_alone(self, load):
        """By city and by the cells of a quantile, of which none is listed."""
        engine, memory = load({"visits": ROWS}), in_memory({"visits": ROWS})
        cells = quantile_grid_of(Field("paid"), columns_of(Scan(VISITS)), 1).expressions
        for share in (Free(), RowShare(2)):
            tally = Tally(
                Scan(VISITS),
                (Field("city"), *cells),
                (COUNT,),
                share,
                only=(("Oslo",), (None,), ("Paris",)),
            )
            wanted = memory.tally(tally)
            assert {key[0] for key in wanted} <= {"Oslo", None, "Paris"}
            assert wanted
            same_totals(engine.tally(tally), wanted)

    def test_contributions_at_the_end_of_64_bits(self, load):
        """Sums of 2^62, shares whose product with the bound would overflow, wide totals."""
        schema = Schema(
            "deep", People("who", max_rows=3), {"x": Integer(-(2**62), 2**62), "k": Integer(0, 5)}
        )
        rows = Table(
            {"who": "bigint", "x": "bigint", "k": "bigint"},
            [
                (who, x, k)
                for who in range(5)
                for k in range(4)
                for x in (2**63 - 1, -(2**63), 2**61 + who, None)
            ],
        )
        terms = (Term(Field("x"), 1, -(2**62), 2**62), Term(Constant(True), 2**62, 0, 2**62))
        engine, memory = load({"deep": rows}), in_memory({"deep": rows})
        for share in load.few(
            (Free(), RowShare(3), RowShare(2**20 + 1), GroupShare(2, 1), GroupShare(3, 1)), 2
        ):
            tally = Tally(Scan(schema), (Field("k"),), terms, share)
            same_totals(engine.tally(tally), memory.tally(tally))

    def test_contributions_at_the_end_of_what_doubles_divide(self, load):
        """c·k up to 2^52, and beyond; quotients that are whole numbers, or one 1/n short of them."""
        most = 2**52 // 3
        for end in (most, most + 1):
            schema = Schema("deep", People("who", max_rows=3), {"x": Integer(-end, end)})
            near = [
                (who, end - place, sign)
                for who in range(4, 12)
                for place in range(who)
                for sign in (1, -1)
            ]
            rows = Table(
                {"who": "bigint", "x": "bigint"},
                [(who, sign * (x - x % who)) for who, x, sign in near],
            )
            less = Table(
                {"who": "bigint", "x": "bigint"},
                [(who, sign * (x - x % who - 1)) for who, x, sign in near],
            )
            for table, shares in (
                (rows, (RowShare(3), GroupShare(3, 1))),
                (less, (GroupShare(3, 1), RowShare(3))),
            ):
                engine, memory = load({"deep": table}), in_memory({"deep": table})
                for share in load.few(shares, 2):
                    tally = Tally(
                        Scan(schema), (Field("x"),), (Term(Field("x"), 1, -end, end),), share
                    )
                    same_totals(engine.tally(tally), memory.tally(tally))

    def test_rows_without_a_key_add_nothing(self, load):
        """All listed keys are asked for, so only NULL is left out."""
        engine, memory = load({"visits": ROWS}), in_memory({"visits": ROWS})
        listed = (("Oslo",), ("Rome",), ("Bonn",))
        for share, people in load.few(
            list(product((Free(), RowShare(3), GroupShare(2, 2)), (False, True))), 3
        ):
            tally = Tally(Scan(VISITS), CITY, (COUNT, PAID, KNOWN), share, listed, people)
            wanted = memory.tally(tally)
            assert set(wanted) == set(listed)
            same_totals(engine.tally(tally), wanted)

    def test_rows_in_groups_of_all_small_people(self, load):
        """All people of up to 4 rows in three cities and in none: each row's weight is that of the definition."""
        held = [one for one in product(range(5), repeat=4) if 0 < sum(one) <= (5 if DEEP else 4)]
        cities = ["Oslo", "Rome", None, "Bonn"]
        rows = []
        for who, counts in enumerate(held):
            for city, count in zip(cities, counts, strict=True):
                rows += [(who, who % 90, city, 1.0)] * count
        table = Table(TYPES, rows)
        engine, oracle = load({"visits": table}), {"visits": [
            {"id": who, "paid": paid, "city": city, "much": much} for who, paid, city, much in rows
        ]}  # fmt: skip
        of_oracle = Schema("visits", People("id", max_rows=10), VISITS.columns)
        keys, fine = (*CITY, Field("paid")), Term(Constant(True), 1 << 20, 0, 1 << 20)
        listed = [(("Oslo",), ("Rome",), (None,)), (("Oslo",), ("Rome",)), None]
        for (k, r), only in load.few(list(product([(2, 1), (3, 2), (4, 3), (4, 4)], listed)), 3):
            share = GroupRowShare(k, r, 1)
            tally = Tally(Scan(VISITS), keys, (fine,), share, only)
            every = Tally(Scan(of_oracle), keys, (fine,), share)
            first = None if only is None else {city for (city,) in only}
            whole = totals(
                replace(every, only=only and tuple((c, p) for (c,) in only for p in range(90))),
                oracle,
            )
            assert whole
            same_totals(
                engine.tally(tally),
                {k: v for k, v in whole.items() if first is None or k[0] in first},
            )

    def test_a_row_weighs_the_same_under_every_list_of_keys(self, load):
        """n are all rows of a person: a list picks totals, and changes none, on stored rows and behind WHERE."""
        engine = load({"visits": ROWS})
        known = Where(Scan(VISITS), KNOWN.expression)
        keys = (Field("city"), DEAR.expression)
        lists = [(("Oslo",), ("Rome",), ("Bonn",)), ONLY, (("Rome", True), ("Bonn", False)), ()]
        for rows, share in load.few(
            list(product((Scan(VISITS), known), (RowShare(10), RowShare(3)))), 2
        ):
            whole = Tally(rows, keys, (COUNT, PAID), share)
            weighed = engine.tally(whole)
            for only in lists:
                wanted = {k: v for k, v in weighed.items() if k in only or k[:1] in only}
                same_totals(engine.tally(replace(whole, only=only)), wanted)

    @pytest.mark.parametrize("per", ["hour", "day", "week", "month", "quarter", "year"])
    def test_windows(self, load, per):
        """A person within a calendar window is a unit of its own; without a time a row counts nowhere."""
        if load.name == "spark" and per not in ("week", "quarter"):
            pytest.skip(
                "the other windows run the same text as on the other engines; two of them show it runs"
            )
        when = ["1969-12-31T23:59:59", "1970-01-01", "1970-01-04", "1970-01-05", "2024-02-29 10:00", "2024-02-29 10:59",
                "2024-03-31", "2024-04-01", None, "never"]  # fmt: skip
        columns = {
            "at": Timestamp("1969-01-01T00:00:00", "2030-01-01T00:00:00"),
            "n": Integer(0, 9),
        }
        schema = Schema("timed", People("who", max_rows=2, window=("at", per)), columns)
        rows = Table(
            {"who": "text", "at": "text", "n": "bigint"},
            [(w, t, 9) for w in ("a", "b", None) for t in when * 2],
        )
        engine, memory = load({"timed": rows}), in_memory({"timed": rows})
        for share in (RowShare(2), GroupShare(1, 2)):
            tally = Tally(Scan(schema), (), (Term(Field("n"), 16, 0, 144), COUNT), share)
            same_totals(engine.tally(tally), memory.tally(tally))


class TestTheDefinitionByHand:
    """Free counts all; RowShare(k): sign(c)·⌊|c|·s/2^20⌋ with s = ⌊2^20·k/n⌋; GroupShare(g, r): clipped sums,
    then sign(t)·⌊|t|·s/2^20⌋ with s = ⌊2^20·g/m⌋.
    """

    rows = [
        {"who": 1, "paid": p, "city": c}
        for p, c in [(10, "Oslo"), (-7, "Oslo"), (5, "Rome"), (100, "Bonn")]
    ]

    def total(self, share, keys=CITY, people=False, only=None):
        paid = (Term(Field("paid"), 1, -50, 100),)
        tally = Tally(Scan(VISITS), keys, paid, share, only, people)
        return Memory({"visits": self.rows}).tally(tally)

    def test_free(self):
        assert self.total(Free()) == {("Oslo",): (3,), ("Rome",): (5,), ("Bonn",): (100,)}

    def test_rows(self):
        # 4 rows, 3 count: ⌊10·3/4⌋ − ⌊7·3/4⌋ = 7 − 5, ⌊15/4⌋ = 3, ⌊300/4⌋ = 75
        assert self.total(RowShare(3)) == {("Oslo",): (2,), ("Rome",): (3,), ("Bonn",): (75,)}
        assert self.total(RowShare(4)) == self.total(Free())
        # The rows in Oslo and Bonn are among the four, though they add nothing.
        assert self.total(RowShare(3), only=(("Rome",),)) == {("Rome",): (3,)}

    def test_rows_in_groups(self):
        # 2, 1, 1 rows in keys, one of which counts in each; of these 3 two: 2^20/2 · ⌊2^21/3⌋ is a little less than
        # 1/3 of 10 and −7, and 2/3 of 5 and 100.
        share = GroupRowShare(2, 1, 1)
        assert self.total(share) == {("Oslo",): (1,), ("Rome",): (3,), ("Bonn",): (66,)}
        # Rows in Oslo and Bonn are one group now: 3 of 4 rows in none, 1 in Rome; one of each counts.
        assert self.total(share, only=(("Rome",),)) == {("Rome",): (5,)}
        assert self.total(GroupRowShare(3, 3, 0), keys=()) == {(): (80,)}

    def test_groups(self):
        # sums 3, 5, 100 in 3 keys, 2 count: s = ⌊2^21/3⌋ is a little less than 2/3, so 3·s is less than 2
        assert self.total(GroupShare(2, 1)) == {("Oslo",): (1,), ("Rome",): (3,), ("Bonn",): (66,)}
        assert self.total(GroupShare(3, 1), keys=()) == {(): (100,)}

    def test_people(self):
        assert self.total(Free(), people=True) == {
            ("Oslo",): (10,),
            ("Rome",): (5,),
            ("Bonn",): (100,),
        }
        assert self.total(RowShare(1), people=True) == {
            ("Oslo",): (3,),
            ("Rome",): (1,),
            ("Bonn",): (33,),
        }

    def test_a_sum_of_positive_contributions_is_not_raised_to_its_bound(self):
        term = Term(Field("paid"), 1, 5, 100)
        one = Memory({"visits": [{"who": 1, "paid": 10}]})
        assert one.tally(Tally(Scan(VISITS), (), (term,), GroupShare(1, 3))) == {(): (10,)}


def random_rows(random, people, most):
    cities = ["Oslo", "Rome", "Bonn", "?", None]
    return [
        {
            "who": who,
            "paid": random.choice([None, random.randint(-99, 200)]),
            "city": random.choice(cities),
        }
        for who in range(people)
        for _ in range(random.choice([1, 2, random.randint(1, most)]))
    ]


def moved(engine_of, rows, person, tally):
    """How far the totals move if one person is removed: for each term, by key."""
    with_person, without = (
        engine_of(rows).tally(tally),
        engine_of([r for r in rows if r["who"] != person]).tally(tally),
    )
    zero = (0,) * len(tally.terms)
    keys = set(with_person) | set(without)
    return [
        [abs(with_person.get(key, zero)[place] - without.get(key, zero)[place]) for key in keys]
        for place in range(len(tally.terms))
    ]


def check_bounds(moves, tally):
    for move, term in zip(moves, tally.terms, strict=True):
        c = max(abs(term.low), abs(term.high))
        match tally.share:
            case RowShare(rows=k):
                assert sum(move) <= k * c
            case GroupRowShare(rows=k, group_rows=r):
                assert max(move, default=0) <= r * c
                assert sum(move) <= k * c
                assert sum(m * m for m in move) <= (k // r * r * r + (k % r) ** 2) * c * c
            case GroupShare(groups=g, rows=r):
                assert max(move, default=0) <= r * c
                assert sum(move) <= g * r * c
                assert sum(m * m for m in move) <= g * (r * c) ** 2


LAW_TERMS = (PAID, COUNT, DEAR, CLIPPED)
LAW_SHARES = (
    RowShare(1),
    RowShare(3),
    GroupShare(1, 1),
    GroupShare(2, 3),
    GroupRowShare(5, 2, 0),
    GroupRowShare(3, 1, 0),
)


class TestOnePersonsInfluence:
    """RowShare(k): L1 ≤ k·c. GroupShare(g, r): L∞ ≤ r·c, L1 ≤ g·r·c, L2² ≤ g·(r·c)²: whatever the person's rows."""

    def test_on_thousands_of_neighbours_in_memory(self):
        for seed in range(2500 if DEEP else 500):
            random = Random(seed)
            rows = random_rows(random, 3, 40 if seed % 5 == 0 else 6)
            keys, only = random.choice([((), None), (CITY, None), (CITY, ONLY)])
            people, share = random.random() < 0.3, random.choice(LAW_SHARES)
            tally = by_group(Tally(Scan(VISITS), keys, LAW_TERMS, share, only, people))
            check_bounds(moved(lambda held: Memory({"visits": held}), rows, 0, tally), tally)

    def test_on_dozens_in_duckdb(self):
        def engine(rows):
            cells = [(r["who"], r["paid"], r["city"], None) for r in rows]
            return DuckDB({"visits": arrow(Table(TYPES, cells))})

        for seed in range(40 if DEEP else 12):
            random = Random(seed)
            rows = random_rows(random, 3, 40)
            share = LAW_SHARES[seed % len(LAW_SHARES)]
            tally = by_group(Tally(Scan(VISITS), CITY, LAW_TERMS, share, people=seed % 3 == 0))
            check_bounds(moved(engine, rows, 0, tally), tally)

    def test_a_person_can_reach_the_bound(self):
        rows = [
            {"who": 0, "paid": 100, "city": "Oslo"}
        ] * 48  # a share of 1/16 is a whole number of parts
        tally = Tally(Scan(VISITS), CITY, (PAID,), RowShare(3))
        assert moved(lambda held: Memory({"visits": held}), rows, 0, tally) == [[1200]]
