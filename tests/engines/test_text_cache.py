"""A text that was written for the check of a question is used for its run, and for nothing else."""

from __future__ import annotations

import pytest

from discreet.data import Boolean, Integer, Rows, Schema
from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.sql import store as written
from discreet.engines.sql.dialect import StoredColumn, StoredTable
from discreet.engines.sql.store import SqlStore, TextCache
from discreet.query.algebra.expression import Call, Constant, Field, Function
from discreet.query.algebra.tally import Free, Tally, Term
from discreet.query.algebra.tree import Scan, Where

PEOPLE = Schema("people", Rows(), {"age": Integer(0, 120), "old": Boolean()})
COUNT = Term(Constant(True), 1, 0, 1)


def stored(type_name="BIGINT", stored_class="integer"):
    columns = {
        "age": StoredColumn('"age"', type_name, stored_class),
        "old": StoredColumn('"old"', "BOOLEAN", "boolean"),
    }
    return StoredTable('"people"', columns)


@pytest.fixture
def texts(monkeypatch):
    """Every text that is written, in order."""
    found, write = [], written.tally_sql

    def recorded(facts, writer, last):
        found.append(write(facts, writer, last))
        return found[-1]

    monkeypatch.setattr(written, "tally_sql", recorded)
    return found


class TestTexts:
    def test_are_written_once_for_the_check_and_the_run(self, texts):
        ran = []
        store = SqlStore(DUCKDB, lambda _: stored(), lambda sql: ran.append(sql) or [(3,)])
        tally = Tally(Scan(PEOPLE), (), (COUNT,), Free())
        store.explain(tally)
        assert store.tally(Tally(Scan(PEOPLE), (), (COUNT,), Free())) == {(): (3,)}
        assert ran == texts and len(texts) == 1

    def test_are_written_anew_when_a_table_has_changed(self, texts):
        tables = [stored(), stored("VARCHAR", "text")]
        store = SqlStore(DUCKDB, lambda _: tables[0], lambda _: [(3,)])
        tally = Tally(Scan(PEOPLE), (), (Term(Field("age"), 1, 0, 120),), Free())
        first = store.explain(tally)
        tables.pop(0)
        assert store.explain(tally) != first and len(set(texts)) == len(texts) == 2

    def test_of_one_and_of_true_are_different(self, texts):
        store = SqlStore(DUCKDB, lambda _: stored(), lambda _: [(3,)])
        for value in (1, True):
            store.explain(Tally(Scan(PEOPLE), (), (Term(Constant(value), 1, 0, 1),), Free()))
        assert len(set(texts)) == 2

    def test_are_few(self):
        cache, tables = TextCache(size=2), {"people": stored()}
        rows = [
            Where(Scan(PEOPLE), Call(Function.LESS, (Field("age"), Constant(n)))) for n in range(3)
        ]
        tallies = [Tally(each, (), (COUNT,), Free()) for each in rows]
        for number, tally in enumerate(tallies[:2]):
            cache.keep(tally, tables, str(number))
        assert cache.find(tallies[0], tables) == "0"
        cache.keep(tallies[2], tables, "2")
        assert [cache.find(tally, tables) for tally in tallies] == ["0", None, "2"]
