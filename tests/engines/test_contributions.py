"""What rows contribute, in fewer steps than they are asked for in: sums taken apart, keys read late, one test to clip."""

from __future__ import annotations

from itertools import product
from math import inf, nan, nextafter
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from discreet.data import Category, Integer, People, Real, Rows, Schema
from discreet.engines import DuckDB, prepare
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
from engines.tables import Table, arrow, in_memory, same_totals

PLACES = ["Oslo", "Rome", "Bonn", "oslo", "", " Oslo", None, "Paris"]
TYPES = {"who": "bigint", "city": "text", "sort": "text", "paid": "bigint", "much": "double"}
ROWS = Table(
    TYPES,
    [
        (
            n % 5,
            PLACES[n * n % 7],
            ["a", "b", None][n % 3],
            n * 37 % 101 - 50 if n % 4 else None,
            n * 0.7 - 9,
        )
        for n in range(90)
    ],
)
COUNT = Term(Constant(True), 1 << 20, 0, 1 << 20)
KNOWN = Term(Call(Function.NOT, (Call(Function.IS_NULL, (Field("paid"),)),)), 1 << 20, 0, 1 << 20)
CITY, SORT = Field("city"), Field("sort")
SHARES = [Free(), RowShare(3), GroupShare(1, 2), GroupShare(2, 5)]


def less(name: str, m) -> Call:
    return Call(Function.SUBTRACT, (Field(name), Constant(m)))


def schema(city, unit=None):
    columns = {
        "city": city,
        "sort": Category(["a", "b"]),
        "paid": Integer(-50, 50),
        "much": Real(-10, 40),
    }
    return Schema("visits", unit or People("who", max_rows=3, max_groups=2), columns)


class TestSumsOfDifferences:
    """Σ(x − m) = Σx − m·n over the rows that have x, before a person's sum is clipped."""

    TERMS = (
        COUNT,
        Term(Field("paid"), 1, -50, 50),
        Term(less("paid", 7), 1, -57, 43),
        Term(less("paid", -50), 4, 0, 400),
        Term(less("paid", 7), 1, -5, 5),
        Term(less("much", 15), 1, -25 * 2**24, 25 * 2**24),
        KNOWN,
    )

    def test_every_engine_and_share(self, load):
        visits = schema(Category(["Oslo", "Rome"]))
        engine, memory = load({"visits": ROWS}), in_memory({"visits": ROWS})
        keyed = [((), None), ((CITY,), None), ((CITY,), (("Oslo",), ("Rome",)))]
        for share, (keys, only) in load.some(list(product(SHARES, keyed))):
            tally = Tally(Scan(visits), keys, self.TERMS, share, only)
            same_totals(engine.tally(tally), memory.tally(tally))

    def test_a_number_is_added_up_once(self):
        """The sum, the centred sum and the count of one column need one column of the rows."""
        rows = Schema("visits", Rows(), {"city": Category(["Oslo"]), "paid": Integer(-50, 50)})
        terms = (Term(Field("paid"), 1, -50, 50), Term(less("paid", 7), 1, -57, 43), KNOWN)
        text = DuckDB({"visits": arrow(ROWS)}).explain(Tally(Scan(rows), (CITY,), terms, Free()))
        added = {part.split(")")[0] for part in text.split("sum(v")[1:]}
        assert len(added) == 1


class TestKeysReadLate:
    """A key that is a column of listed text is what the column says, wherever it is read."""

    COLUMNS = {
        "listed": Category(["Oslo", "Rome"]),
        "with NULL as a key": Category(["Oslo", "Rome"], null_key=True),
        "with a default": Category(["Oslo", "Rome"], default="Rome"),
        "with another": Category(["Oslo", "Rome"], other="other", default="Oslo"),
        "with spellings": Category(["Oslo"], fold=True, aliases={"Rome": "Oslo"}),
    }
    ONLY = (None, (("Oslo",), ("Rome",)), (("Oslo",),), (("Oslo",), (None,), ("Rome",)))

    @pytest.mark.parametrize("column", COLUMNS)
    def test_every_engine_and_share(self, load, column):
        visits = schema(self.COLUMNS[column])
        engine, memory = load({"visits": ROWS}), in_memory({"visits": ROWS})
        asked, turn = (
            list(product([*SHARES, GroupRowShare(4, 3, 1)], self.ONLY, (False, True))),
            list(self.COLUMNS).index(column),
        )
        for share, only, people in load.some(asked[turn:] + asked[:turn]):
            tally = Tally(Scan(visits), (CITY,), (COUNT, KNOWN), share, only, people)
            same_totals(engine.tally(tally), memory.tally(tally))

    def test_two_keys_and_where(self, load):
        visits = schema(self.COLUMNS["listed"])
        engine, memory = load({"visits": ROWS}), in_memory({"visits": ROWS})
        both = tuple((city, sort) for city in ("Oslo", "Rome") for sort in ("a", "b"))
        at_rome = Where(Scan(visits), Call(Function.EQUAL, (CITY, Constant("Rome"))))
        dear = Where(Scan(visits), Call(Function.LESS, (Constant(0), Field("paid"))))
        asked = product((Scan(visits), at_rome, dear), SHARES, (None, both, both[:3]))
        for rows, share, only in load.some(list(asked)):
            tally = Tally(rows, (CITY, SORT), (COUNT,), share, only)
            same_totals(engine.tally(tally), memory.tally(tally))

    def test_a_condition_on_the_key_itself(self, load):
        """COUNT(city) beside GROUP BY city: the column is read for both."""
        visits = schema(self.COLUMNS["listed"])
        engine, memory = load({"visits": ROWS}), in_memory({"visits": ROWS})
        named = Term(Call(Function.NOT, (Call(Function.IS_NULL, (CITY,)),)), 1, 0, 1)
        tally = Tally(Scan(visits), (CITY,), (named,), GroupShare(2, 5))
        same_totals(engine.tally(tally), memory.tally(tally))

    def test_packed_text(self, tmp_path):
        pq.write_table(arrow(ROWS), tmp_path / "visits.parquet")
        visits = schema(self.COLUMNS["listed"])
        memory = in_memory({"visits": ROWS})
        with DuckDB({"visits": Path(tmp_path / "visits.parquet")}) as engine:
            for share in SHARES:
                tally = Tally(Scan(visits), (CITY,), (COUNT, KNOWN), share, (("Oslo",), ("Rome",)))
                same_totals(engine.tally(tally), memory.tally(tally))


class TestCodes:
    """Keys are what their expressions say, whatever rows are grouped by."""

    MUCH, PAID = Field("much"), Field("paid")
    KEYS = {
        "case of a wide column": Call(
            Function.CASE,
            (
                Call(Function.LESS, (MUCH, Constant(3))),
                Constant("low"),
                Call(Function.LESS, (MUCH, Constant(9))),
                Constant("middle"),
                Call(Function.LESS, (MUCH, Constant(20))),
                Constant("low"),
                Call(Function.LESS, (MUCH, Constant(30))),
                Constant(None),
                Constant("high"),
            ),
        ),
        "case of few values": Call(
            Function.CASE,
            (Call(Function.EQUAL, (CITY, Constant("Oslo"))), Constant("here"), Constant("there")),
        ),
        "bin": Call(Function.FLOOR, (Call(Function.DIVIDE, (MUCH, Constant(5))),)),
        "number": PAID,
        "truth": Call(Function.LESS, (Constant(0), PAID)),
        "negative": Call(Function.NEGATE, (PAID,)),
    }
    ONLY = {
        "case of a wide column": ("high", "low", None),
        "case of few values": ("there",),
        "bin": (-2, 0, 3),
        "number": tuple(range(-50, 51)),
        "truth": (True,),
        "negative": (-7, 0, 13),
    }

    @pytest.mark.parametrize("key", KEYS)
    def test_every_engine_and_share(self, load, key):
        visits = schema(Category(["Oslo", "Rome"]))
        engine, memory = load({"visits": ROWS}), in_memory({"visits": ROWS})
        own = tuple((value,) for value in self.ONLY[key])
        shares = [*SHARES, GroupRowShare(4, 3, 1), KeptKeys(1, 2), KeptKeys(2, 1)]
        asked = list(product(shares, (None, own), (False, True)))
        turn = list(self.KEYS).index(key)
        for share, only, people in load.some(asked[turn:] + asked[:turn]):
            tally = Tally(Scan(visits), (self.KEYS[key],), (COUNT, KNOWN), share, only, people)
            same_totals(engine.tally(tally), memory.tally(tally))

    def test_prepared_stores_of_wider_declarations(self, tmp_path):
        """Keys of a narrower schema are read from the codes of a wider one."""
        wide = Schema(
            "visits",
            People("who", max_rows=3, max_groups=2),
            {
                "city": Category(["Oslo", "Rome", "Bonn"]),
                "paid": Integer(-100, 100),
                "much": Real(-20, 90, step=0.25),
            },
        )
        narrow = Schema(
            "visits",
            People("who", max_rows=2, max_groups=2),
            {
                "city": Category(["Oslo", "Rome"]),
                "paid": Integer(-9, 9),
                "much": Real(-10, 40, step=0.25),
            },
        )
        memory = in_memory({"visits": ROWS})
        with prepare({"visits": arrow(ROWS)}, [wide], tmp_path / "store") as engine:
            for asked, key, share in product((wide, narrow), (CITY, *self.KEYS.values()), SHARES):
                tally = Tally(Scan(asked), (key,), (COUNT, KNOWN), share)
                same_totals(engine.tally(tally), memory.tally(tally))


class TestClippingAtTheEnds:
    """One test of the distance from the middle clips as a test at each end does, to the last bit."""

    COLUMNS = (
        Real(0, 250_000),
        Real(-1, 1),
        Real(0, 500, step=0.01),
        Real(-3, 1e6, step=1),
        Real(2**52, 2**52 + 1),
        Real(0, 1, step=2**-45),
        Integer(-7, 9),
    )

    NAMES = tuple(f"x{place}" for place in range(len(COLUMNS)))

    @staticmethod
    def values(column):
        low, high, step = float(column.low), float(column.high), float(column.step)
        ends = [
            low,
            high,
            nextafter(low, -inf),
            nextafter(high, inf),
            nextafter(low, inf),
            nextafter(high, -inf),
        ]
        near = [
            end + part * step
            for end in (low, high)
            for part in (-1, -0.75, -0.5, -0.25, 0.25, 0.5, 0.75, 1)
        ]
        middle = (low + high) / 2
        return [*ends, *near, middle, -0.0, -1e-300, 5e-324, inf, -inf, nan, None, 1e300, -1e300]

    def test_value_by_value(self, load):
        """All columns at once, with the row's number as the key."""
        rows = zip(*map(self.values, self.COLUMNS), strict=True)
        table = Table(
            {"n": "bigint"} | dict.fromkeys(self.NAMES, "double"),
            [(n, *row) for n, row in enumerate(rows)],
        )
        named = dict(zip(self.NAMES, self.COLUMNS, strict=True))
        held = Schema("held", Rows(), {"n": Integer(0, 99)} | named)
        terms = tuple(Term(Field(name), 1, *column.ends) for name, column in named.items())
        tally = Tally(Scan(held), (Field("n"),), terms, Free())
        expected = in_memory({"held": table}).tally(tally)
        assert expected == {
            (n,): tuple(column.steps(x) or 0 for column, x in zip(self.COLUMNS, row, strict=True))
            for n, *row in table.rows
        }
        same_totals(load({"held": table}).tally(tally), expected)
