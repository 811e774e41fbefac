"""Relations: joins, unions and sub-queries by person, the same on every engine."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.data import Category, Date, Integer, People, Real, Rows, Schema, Text, Timestamp
from discreet.engines import DuckDB, Memory
from discreet.errors import SchemaMismatch
from discreet.query.algebra.expression import Call, Constant, Field, Function
from discreet.query.algebra.tally import Free, GroupShare, RowShare, Tally, Term
from discreet.query.algebra.tree import (
    JoinPeople,
    JoinPublic,
    PerPerson,
    Scan,
    Select,
    Total,
    Union,
    Where,
)
from engines.tables import Table, arrow, in_memory, same_totals

F = Function
PERSON = People("who", max_rows=3)
VISITS = Schema(
    "visits",
    PERSON,
    {
        "ward": Integer(0, 20),
        "paid": Real(0, 100, step=0.5),
        "day": Date("2024-01-01", "2024-12-31"),
    },
)
STAFF = Schema(
    "staff",
    PERSON,
    {
        "grade": Category(["A", "B"]),
        "since": Date("2000-01-01", "2024-12-31"),
        "pay": Integer(0, 900),
    },
)
WARDS = Schema.public_table(
    "wards",
    {"ward": Integer(0, 20), "city": Category(["Oslo", "Rome"]), "beds": Integer(0, 99)},
    key="ward",
)
LINKS = Schema.public_table(
    "links", {"from": Real(0, 20, step=0.5), "label": Text(9)}, max_rows={"from": 2}
)
TABLES = {
    "visits": Table(
        {"who": "text", "ward": "bigint", "paid": "double", "day": "date"},
        [("a", 1, 10.3, None), ("a", 2, 99.9, None), ("a", 1, None, None), ("b", 3, 7.25, None), ("c", 1, 1e9, None),
         ("c", None, 4.0, None), (None, 1, 5.0, None), ("d", 99, 6.0, None)],
    ),
    "staff": Table(
        {"who": "text", "grade": "text", "since": "date", "pay": "bigint"},
        [("a", "A", None, 100), ("a", "B", None, 200), ("b", "A", None, None), ("e", "B", None, 300), (None, "A", None, 1)],
    ),
    "wards": Table(
        {"ward": "bigint", "city": "text", "beds": "bigint"},
        [(1, "Oslo", 10), (2, "Rome", 20), (3, "Paris", None), (None, "Oslo", 5), (None, "Rome", 6), (20, "Rome", 1)],
    ),
    "links": Table({"from": "double", "label": "text"}, [(1.0, "x"), (1.0, "y"), (2.0, "z"), (None, "n")]),
}  # fmt: skip
COUNT = Term(Constant(True), 16, 0, 16)
PAID = Term(Field("paid"), 4, 0, 800)
SCAN = Scan(VISITS)
WARD = JoinPublic(SCAN, WARDS, ((Field("ward"), "ward"),), (("city", "city"), ("beds", "beds")))
KEPT = JoinPublic(SCAN, WARDS, ((Field("ward"), "ward"),), (("city", "city"),), keep=True)
MANY = JoinPublic(SCAN, LINKS, ((Field("ward"), "from"),), (("label", "label"), ("again", "from")))
BOTH = JoinPeople(SCAN, Scan(STAFF))
MATCHED = JoinPeople(
    SCAN, Scan(STAFF), ((Field("ward"), Call(F.DIVIDE, (Field("pay"), Constant(100)))),)
)
SMALL = Where(SCAN, Call(F.LESS, (Field("ward"), Constant(3))))
SHIFTED = Select(
    SCAN,
    (
        ("ward", Field("ward")),
        ("paid", Call(F.DIVIDE, (Field("paid"), Constant(3)))),
        ("day", Field("day")),
    ),
)
UNITED = Union((SMALL, SHIFTED, SCAN))
TOTALS = (
    ("rows", Total("count", None, Fraction(1), 0, 2)),
    ("known", Total("count", Field("paid"), Fraction(1), 0, 9)),
    ("sum", Total("sum", Field("paid"), Fraction(1, 2), 0, 150)),
    ("fine", Total("sum", Field("paid"), Fraction(1, 6), 0, 400)),
    ("least", Total("least", Field("ward"), Fraction(1), 2, 9)),
    ("greatest", Total("greatest", Field("day"), Fraction(1), 0, 30_000)),
)
PERSONS = PerPerson(SCAN, (("ward", Field("ward")),), TOTALS)
RELATIONS = {
    "where": (SMALL, "ward", "paid"),
    "public": (WARD, "city", "paid"),
    "public kept": (KEPT, "city", "paid"),
    "public many": (MANY, "label", "again"),
    "public twice": (
        JoinPublic(WARD, LINKS, ((Field("beds"), "from"),), (("label", "label"),), keep=True),
        "label",
        "beds",
    ),
    "people": (BOTH, "grade", "paid"),
    "people matched": (MATCHED, "grade", "pay"),
    "union": (UNITED, "ward", "paid"),
    "person": (PERSONS, "ward", "sum"),
    "person fine": (PERSONS, "known", "fine"),
    "person least": (PERSONS, "rows", "least"),
    "person greatest": (PERSONS, "greatest", "rows"),
    "person of joined": (
        PerPerson(BOTH, (("grade", Field("grade")),), TOTALS[:4]),
        "grade",
        "fine",
    ),
    "self": (JoinPeople(SCAN, Select(SMALL, (("w", Field("ward")),))), "w", "paid"),
}


class TestEveryEngineJoinsAlike:
    @pytest.mark.parametrize("name", RELATIONS)
    def test_relation(self, load, name):
        rows, key, number = RELATIONS[name]
        engine, memory = load(TABLES), in_memory(TABLES)
        terms = (COUNT, Term(Field(number), 1, 0, 2**40))
        shares = (
            (Free(), RowShare(2), GroupShare(1, 2)) if load.name != "spark" else (GroupShare(1, 2),)
        )
        for share in shares:
            tally = Tally(rows, (Field(key),), terms, share)
            wanted = memory.tally(tally)
            assert wanted
            same_totals(engine.tally(tally), wanted)

    def test_no_columns_are_needed(self, load):
        engine = load(TABLES)
        assert engine.tally(Tally(WARD, (), (COUNT,), Free())) == {(): (16 * 6,)}
        unowned = Schema("visits", Rows(), VISITS.columns)
        assert engine.tally(
            Tally(Select(Scan(unowned), (("x", Constant(1)),)), (), (COUNT,), Free())
        ) == {(): (16 * 8,)}
        plain = JoinPublic(Scan(unowned), WARDS, ((Field("ward"), "ward"),), ())
        assert engine.tally(Tally(plain, (), (COUNT,), Free())) == {(): (16 * 7,)}

    def test_public_values(self, load):
        engine, memory = load(TABLES), in_memory(TABLES)
        for table, column in [(WARDS, "ward"), (WARDS, "city"), (LINKS, "from"), (LINKS, "label")]:
            assert engine.public_values(table, column) == memory.public_values(table, column)
        assert engine.public_values(LINKS, "from") == (1, 2)
        for columns in [("label", "from"), ("from", "label")]:
            assert engine.public_values(LINKS, *columns) == memory.public_values(LINKS, *columns)

    def test_the_declared_key_must_be_unique_as_it_is_read(self, load):
        """20 and 99 are both read as 20, so a join on the key would double a row."""
        twice = Table(TABLES["wards"].types, [*TABLES["wards"].rows, (99, "Oslo", 1)])
        tables = {**TABLES, "wards": twice}
        for engine in (load(tables), in_memory(tables)):
            with pytest.raises(SchemaMismatch, match="share its declared key ward"):
                engine.tally(Tally(WARD, (), (COUNT,), Free()))
            with pytest.raises(SchemaMismatch, match="share its declared key ward"):
                engine.check(WARDS)

    def test_ids_of_different_types(self, load):
        tables = {
            **TABLES,
            "staff": Table({**TABLES["staff"].types, "who": "bigint"}, [(1, "A", None, 3)]),
        }
        with pytest.raises(SchemaMismatch, match="stored as different types in visits and staff"):
            load(tables).tally(Tally(BOTH, (), (COUNT,), Free()))


class TestIds:
    """An id is compared as it is stored; NULL and NaN are nobody."""

    @pytest.mark.parametrize(
        ("stored", "ids", "people"),
        [("bigint", [1, 1, 2**63 - 1, None], 2), ("double", [1.5, -0.0, 0.0, float("nan"), None], 2),
         ("text", ["a", "A", "a ", "", None], 4), ("boolean", [True, False, None], 2), ("date", [None], 0)],
    )  # fmt: skip
    def test_people(self, load, stored, ids, people):
        schema = Schema("held", PERSON, {"x": Integer(0, 9)})
        table = Table({"who": stored, "x": "bigint"}, [(who, 1) for who in ids for _ in range(2)])
        tally = Tally(
            Scan(schema), (), (Term(Constant(True), 1, 0, 1),), GroupShare(1, 1), people=True
        )
        assert load({"held": table}).tally(tally) == {(): (people,)}
        assert in_memory({"held": table}).tally(tally) == {(): (people,)}

    def test_wide_and_narrow_integers_are_alike(self):
        rows = [{"who": 1, "x": 2}]
        one, two = (Schema(name, PERSON, {name: Integer(0, 9)}) for name in ("x", "y"))
        narrow = arrow(Table({"who": "integer", "x": "bigint"}, [(1, 2)]))
        wide = arrow(Table({"who": "bigint", "y": "bigint"}, [(1, 2)]))
        both = JoinPeople(Scan(one), Scan(two))
        store = DuckDB({"x": narrow, "y": wide})
        assert store.tally(Tally(both, (), (COUNT,), Free())) == {(): (16,)}
        assert Memory({"x": rows, "y": [{"who": 1, "y": 2}]}).tally(
            Tally(both, (), (COUNT,), Free())
        ) == {(): (16,)}

    def test_a_window_in_two_tables(self, load):
        """A join of a person's rows stays within one window: each pair belongs to one unit."""
        unit = People("who", max_rows=3, window=("at", "month"))
        at = Timestamp("2024-01-01T00:00:00", "2024-12-31T23:59:59")
        one, two = (Schema(name, unit, {"at": at, name: Integer(0, 9)}) for name in ("x", "y"))
        rows = {
            name: Table(
                {"who": "bigint", "at": "text", name: "bigint"},
                [(1, f"2024-0{m}-05", m) for m in (1, 1, 2, 3)],
            )
            for name in ("x", "y")
        }
        other = Select(Scan(two), (("y", Field("y")),))
        tally = Tally(JoinPeople(Scan(one), other), (Field("y"),), (COUNT,), RowShare(2))
        wanted = in_memory(rows).tally(tally)
        assert wanted == {(1,): (32,), (2,): (16,), (3,): (16,)}
        same_totals(load(rows).tally(tally), wanted)
