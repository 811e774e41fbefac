"""What every engine refuses, before it touches a row; and how it fails: with one message that depends on nothing."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from discreet.data import Boolean, Category, Integer, People, Real, Rows, Schema, Text
from discreet.engines import Memory
from discreet.engines.base import cancelled, failure
from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.sql.rows.relation import Writer
from discreet.engines.sql.store import tally_sql
from discreet.engines.tally_analysis import understand
from discreet.errors import (
    EngineFailure,
    InvalidArgument,
    SchemaMismatch,
    UnboundedSensitivity,
    UnsupportedQuery,
)
from discreet.query.algebra.expression import Call, Constant, Field, Function
from discreet.query.algebra.tally import Free, GroupShare, RowShare, Tally, Term
from discreet.query.algebra.tree import JoinPeople, PerPerson, Scan, Select, Total, Union, Where
from engines.tables import Table, in_memory

F = Function
ROWS = Schema(
    "people",
    Rows(),
    {"age": Integer(0, 120), "name": Text(9), "ok": Boolean(), "far": Integer(0, 2**61)},
)
PEOPLE = Schema("people", People("who", max_rows=3), ROWS.columns)
OTHER = Schema("others", PEOPLE.unit, {"x": Integer(0, 9)})
COUNT = Term(Constant(True), 1, 0, 1)
AGE = Term(Field("age"), 1, 0, 120)


def tally(rows=PEOPLE, keys=(), terms=(COUNT,), share=None, **rest):
    relation = Scan(rows) if isinstance(rows, Schema) else rows
    return Tally(relation, keys, terms, share or Free(), **rest)


REFUSED = {
    "a share of rows": (tally(ROWS, share=RowShare(3)), UnboundedSensitivity, "unit is a person"),
    "a share of groups": (
        tally(ROWS, share=GroupShare(3, 1)),
        UnboundedSensitivity,
        "unit is a person",
    ),
    "people of rows": (tally(ROWS, people=True), UnboundedSensitivity, "unit is a person"),
    "a join of rows": (
        tally(JoinPeople(Scan(ROWS), Select(Scan(ROWS), (("x", Field("age")),)))),
        UnboundedSensitivity,
        "unit is a person",
    ),
    "persons of rows in a union": (
        tally(
            Where(
                Union(
                    (PerPerson(Scan(ROWS), (), (("n", Total("count", None, Fraction(1), 0, 9)),)),)
                ),
                Constant(True),
            )
        ),
        UnboundedSensitivity,
        "unit is a person",
    ),
    "a sum of text": (
        tally(terms=(Term(Field("name"), 1, 0, 1),)),
        UnsupportedQuery,
        "only numbers and conditions",
    ),
    "no terms": (tally(terms=()), InvalidArgument, "at least one term"),
    "weight 0": (
        tally(terms=(Term(Field("age"), 0, 0, 1),)),
        InvalidArgument,
        "weight of at least 1",
    ),
    "low above high": (tally(terms=(Term(Field("age"), 1, 2, 1),)), InvalidArgument, "low ≤ high"),
    "beyond 64 bits": (
        tally(terms=(Term(Field("far"), 4, 0, 2**62),)),
        UnsupportedQuery,
        "exceed 64-bit",
    ),
    "a clipped sum beyond 64 bits": (
        tally(terms=(Term(Field("far"), 1, 0, 2**61),), share=GroupShare(1, 3)),
        UnsupportedQuery,
        "exceed 64-bit",
    ),
    "no share": (tally(share=RowShare(0)), InvalidArgument, "at least 1"),
    "too large a share": (tally(share=GroupShare(1, 2**31 + 1)), InvalidArgument, "at most 2\\^31"),
    "keys of another length": (
        tally(keys=(Field("age"),), only=((1, 2),)),
        InvalidArgument,
        "tuple of 1 values",
    ),
    "a NUL": (
        tally(keys=(Call(F.EQUAL, (Field("name"), Constant("a\0"))),)),
        UnsupportedQuery,
        "not every store",
    ),
    "half a surrogate in WHERE": (
        tally(Where(Scan(PEOPLE), Call(F.EQUAL, (Field("name"), Constant("\ud800"))))),
        UnsupportedQuery,
        "not every store",
    ),
    "a person's total in other steps": (
        tally(PerPerson(Scan(PEOPLE), (), (("n", Total("sum", Field("age"), Fraction(2), 0, 9)),))),
        UnsupportedQuery,
        "or one that divides it",
    ),
    "a person's sum of text": (
        tally(
            PerPerson(Scan(PEOPLE), (), (("n", Total("sum", Field("name"), Fraction(1), 0, 9)),))
        ),
        UnsupportedQuery,
        "needs a number",
    ),
    "a person's least of nothing": (
        tally(PerPerson(Scan(PEOPLE), (), (("n", Total("least", None, Fraction(1), 0, 9)),))),
        UnsupportedQuery,
        "needs a number",
    ),
}


class TestRefusals:
    @pytest.mark.parametrize("name", REFUSED)
    def test_before_a_row_is_touched(self, name):
        asked, error, said = REFUSED[name]
        with pytest.raises(error, match=said):
            understand(asked)
        with pytest.raises(error, match=said):
            Memory({"people": [{"who": 1}]}).explain(asked)

    def test_text_that_grows_with_nesting(self):
        deep = Field("age")
        for _ in range(12):
            deep = Call(F.MODULO, (Call(F.SUBTRACT, (deep, Constant(30))), Constant(50)))
        with pytest.raises(UnsupportedQuery, match="nested too deeply"):
            explained(tally(keys=(deep,)))

    def test_private_values_are_not_listed(self, load):
        engine = load({"people": Table({"who": "bigint", "age": "bigint"}, [])})
        with pytest.raises(InvalidArgument, match="private"):
            engine.public_values(PEOPLE, "age")

    def test_what_is_not_in_the_store(self, load):
        engine = load(
            {
                "people": Table(
                    {"who": "bigint", "AGE": "bigint", "name": "text", "ok": "boolean"}, []
                )
            }
        )
        with pytest.raises(SchemaMismatch, match="no column far; it has who, AGE, name, ok"):
            engine.check(PEOPLE)
        with pytest.raises(SchemaMismatch, match="no column far"):
            engine.tally(tally())
        with pytest.raises(SchemaMismatch, match="nowhere"):
            engine.check(Schema("nowhere", Rows(), {"age": Integer(0, 9)}))
        with pytest.raises(SchemaMismatch, match="no column who"):
            engine.check(Schema("people", People("whom", max_rows=1), {"who2": Integer(0, 1)}))

    def test_names_in_any_case(self, load):
        schema = Schema("people", Rows(), {"age": Integer(0, 120)})
        table = Table({"AGE": "bigint"}, [(7,)])
        for engine in (load({"people": table}), in_memory({"people": table})):
            engine.check(schema)
            assert engine.tally(tally(schema, terms=(AGE,))) == {(): (7,)}
            assert list(engine.columns("people")) == ["AGE"]


def explained(asked):
    from discreet.engines.sql.dialect import StoredColumn, StoredTable

    columns = {
        n: StoredColumn(DUCKDB.quote(n), "BIGINT", "integer")
        for n in ("who", "age", "name", "ok", "far")
    }
    return tally_sql(understand(asked), Writer(DUCKDB, lambda _: StoredTable('"people"', columns)))


class TestMessages:
    def test_are_constant(self):
        assert str(failure()) == str(failure())
        assert isinstance(cancelled(), EngineFailure)

    def test_no_name_of_the_store_can_break_out(self, load):
        """Column names that look like SQL, or like the names this engine makes up."""
        names = [
            "c0",
            "p1",
            "t",
            "n",
            "select",
            "x; DROP TABLE people",
            "a--b",
            "%s",
            "{}",
            "$1",
            "ö ö",
            "/* ?",
            "held_1",
            "k2",
        ]
        schema = Schema("people", People("r3", max_rows=2), {name: Integer(0, 9) for name in names})
        table = Table(
            dict.fromkeys([*names, "r3"], "bigint"),
            [(*range(len(names)), 1), (*range(len(names)), 1)],
        )
        terms = tuple(Term(Field(name), 1, 0, 9) for name in names)
        asked = Tally(Scan(schema), (Field("c0"), Field("select")), terms, GroupShare(1, 2))
        wanted = in_memory({"people": table}).tally(asked)
        assert wanted == {(0, 4): tuple(2 * min(place, 9) for place in range(len(names)))}
        assert load({"people": table}).tally(asked) == wanted

    def test_no_text_can_break_out(self, load):
        hostile = [
            "'; DROP TABLE people; --",
            "\\'",
            "'' OR 1=1",
            "\n",
            "$$",
            "x' ESCAPE 'x",
            '"',
            "`",
            "%' --",
            "\\",
        ]
        schema = Schema("people", Rows(), {"name": Category(hostile), "free": Text(40)})
        table = Table({"name": "text", "free": "text"}, [(text, text) for text in hostile])
        tests = [Call(F.AMONG, (Field("free"), *map(Constant, hostile)))]
        tests += [Call(F.LIKE, (Field("free"), Constant(text))) for text in hostile]
        asked = Tally(Scan(schema), (Field("name"), *tests), (COUNT,), Free(), None)
        wanted = in_memory({"people": table}).tally(asked)
        assert len(wanted) == len(hostile)
        assert load({"people": table}).tally(asked) == wanted


class TestMemory:
    def test_takes_rows(self):
        with pytest.raises(InvalidArgument, match="rows as mappings"):
            Memory({"people": [(1, 2)]})

    def test_explains_in_words(self):
        assert (
            Memory({}).explain(tally(share=RowShare(3)))
            == "totals of 1 terms by 0 keys in memory, share RowShare(rows=3)"
        )

    def test_checks(self):
        store = Memory({"people": [{"age": 1}, {"who": 2}], "empty": []})
        assert store.columns("people") == {"age": "any", "who": "any"}
        store.check(Schema("empty", Rows(), {"x": Integer(0, 1)}))
        with pytest.raises(SchemaMismatch, match="no column name"):
            store.check(PEOPLE)
        with pytest.raises(SchemaMismatch, match="there is no table nowhere"):
            store.check(Schema("nowhere", Rows(), {"x": Integer(0, 1)}))
        with pytest.raises(InvalidArgument, match="private"):
            store.public_values(PEOPLE, "age")

    def test_ids_of_any_type(self):
        import numpy as np
        import pandas as pd

        nobody = [pd.NA, pd.NaT, None, float("nan"), Decimal("sNaN")]
        who = [
            np.int64(1),
            1,
            [1],
            [1],
            "[1]",
            {"a": 1},
            (1, [2]),
            "x",
            np.arange(5000),
            np.arange(5001),
            *nobody,
        ]
        rows = [{"who": one} for one in who]
        schema = Schema("people", People("who", max_rows=1), {"age": Real(0, 1)})
        asked = Tally(Scan(schema), (), (COUNT,), GroupShare(1, 1), people=True)
        assert Memory({"people": rows}).tally(asked) == {(): (8,)}


class TestTheRoom:
    def test_names_are_imported_when_touched(self):
        from discreet import engines

        assert all(getattr(engines, name).__name__ == name for name in engines.__all__)
        with pytest.raises(AttributeError, match="no attribute 'Nowhere'"):
            _ = engines.Nowhere
