"""Joins that multiply rows: right counts on every engine, a person cut before them, and nothing that tells a time."""

from __future__ import annotations

from itertools import product

import pytest

from audit.replayed import program
from discreet.audit import replay
from discreet.data import Category, Integer, People, Rows, Schema, Text
from discreet.errors import SchemaMismatch, UnsupportedQuery
from discreet.plan import plan_question
from discreet.privacy.measures import PureDP
from discreet.query import parse
from discreet.query.algebra.expression import Constant, Field
from discreet.query.algebra.tally import Free, Tally, Term
from discreet.query.algebra.tree import JoinPeople, JoinPublic, Scan, Select
from engines.tables import Table, in_duckdb, in_memory, same_totals

COLUMNS = {"dx": Category(["flu", "hiv"]), "note": Text(5), "cost": Integer(0, 99)}
SICK = Schema("sick", People("uid", max_rows=3), COLUMNS)
ROWS = Schema("sick", Rows(), COLUMNS)
CODES = Schema.public_table(
    "codes", {"dx": Category(["flu", "hiv"]), "code": Integer(1, 50)}, max_rows={"dx": 4}
)
TYPES = {"uid": "bigint", "dx": "text", "note": "text", "cost": "bigint"}
HEAVY = [
    (7, "hiv", note, cost)
    for cost, note in enumerate(["b", "a", "Z", None, "é", "", "b", "a", "ab", "A", "z"])
]
LIGHT = [(1, "hiv", "x", 1), (1, "flu", "x", 2), (2, None, "x", 3), (3, "flu", None, None)]
CODE_ROWS = Table(
    {"dx": "text", "code": "bigint"},
    [("hiv", 1), ("hiv", 2), ("hiv", 3), ("hiv", 4), ("flu", 5), (None, 6), ("x", 7)],
)
ONE = Term(Constant(True), 1, 0, 1)
MANY = JoinPublic(Scan(SICK), CODES, ((Field("dx"), "dx"),), (("code", "code"),))
OTHER = Select(Scan(SICK), (("cost2", Field("cost")), ("dx2", Field("dx"))))


def tables(rows):
    return {"sick": Table(TYPES, rows), "codes": CODE_ROWS}


class TestAPersonIsCutBeforeRowsMultiply:
    def test_to_rows_evenly_spread_in_the_order_of_the_columns(self, load):
        """Eleven notes, NULL first: the 2nd, 6th and 10th in order are kept, then each meets four codes."""
        engine, memory = load(tables(HEAVY)), in_memory(tables(HEAVY))
        by_cost = Tally(MANY, (Field("cost"),), (ONE,), Free())
        assert (
            engine.tally(by_cost) == memory.tally(by_cost) == {(5,): (4,), (7,): (4,), (10,): (4,)}
        )

    @pytest.mark.untraced
    def test_alike_on_every_engine(self, load):
        engine, memory = load(tables(HEAVY + LIGHT)), in_memory(tables(HEAVY + LIGHT))
        joins = (
            MANY,
            JoinPeople(MANY, OTHER),
            JoinPeople(MANY, OTHER, ((Field("code"), Field("cost2")),)),
        )
        for rows, key in load.few(list(product(joins, ("note", "dx", "code", "cost"))), 3):
            asked = Tally(rows, (Field(key),), (ONE, Term(Field("cost"), 1, 0, 99)), Free())
            same_totals(engine.tally(asked), memory.tally(asked))

    def test_so_that_no_person_makes_more_rows_than_is_public(self, load):
        engine = load(tables(HEAVY * 30))
        assert engine.tally(Tally(MANY, (), (ONE,), Free())) == {(): (12,)}
        assert engine.tally(Tally(JoinPeople(MANY, OTHER), (), (ONE,), Free())) == {(): (36,)}


class TestWhatIsAskedChangesNoRow:
    """Rows are truncated before a join by all columns of the table, whichever of them are read."""

    def test_with_other_keys_and_terms_beside_it(self, load):
        cost = Term(Field("cost"), 1, 0, 99)
        for engine in (load(tables(HEAVY)), in_memory(tables(HEAVY))):
            alone = engine.tally(Tally(MANY, (), (cost,), Free()))
            by_note = engine.tally(Tally(MANY, (Field("note"),), (ONE, cost), Free()))
            assert alone == {(): (4 * (5 + 7 + 10),)}
            assert by_note == {("",): (4, 20), ("a",): (4, 28), ("z",): (4, 40)}

    def test_on_both_sides_of_a_join_of_people(self, load):
        pairs = JoinPeople(Scan(SICK), OTHER)
        for engine in (load(tables(HEAVY)), in_memory(tables(HEAVY))):
            left = engine.tally(Tally(pairs, (Field("cost"),), (ONE,), Free()))
            both = engine.tally(Tally(pairs, (Field("cost"), Field("cost2")), (ONE,), Free()))
            assert set(left) == {key[:1] for key in both} == {(5,), (7,), (10,)}


class TestAPublicTableThatRepeats:
    def test_more_than_it_states_is_refused_with_the_number(self, load):
        claimed = Schema.public_table("codes", CODES.columns, max_rows={"dx": 3})
        for engine in (load(tables(LIGHT)), in_memory(tables(LIGHT))):
            engine.check(CODES)
            with pytest.raises(
                SchemaMismatch, match=r"4 rows .* share one dx.*max_rows=\{'dx': 4\}"
            ):
                engine.check(claimed)
            with pytest.raises(SchemaMismatch, match="share one dx"):
                engine.tally(
                    Tally(
                        JoinPublic(Scan(SICK), claimed, MANY.on, MANY.columns), (), (ONE,), Free()
                    )
                )

    def test_is_counted_in_full(self, load):
        asked = Tally(
            JoinPublic(Scan(ROWS), CODES, MANY.on, MANY.columns), (Field("code"),), (ONE,), Free()
        )
        wanted = {(1,): (1,), (2,): (1,), (3,): (1,), (4,): (1,), (5,): (2,)}
        assert load(tables(LIGHT)).tally(asked) == in_memory(tables(LIGHT)).tally(asked) == wanted

    def test_too_much_for_one_unit_is_refused_before_a_row_is_touched(self):
        rows = MANY
        for place in range(7):
            rows = JoinPublic(rows, CODES, ((Field("dx"), "dx"),), ((f"code{place}", "code"),))
        with pytest.raises(UnsupportedQuery, match="rows of one unit"):
            in_memory({}).explain(Tally(rows, (), (ONE,), Free()))


class TestOneUnitChangesNoMoreThanIsDeclared:
    """The sensitivity that a plan declares holds where rows multiply: a person, or a row, leaves."""

    @pytest.mark.parametrize("store", [in_memory, in_duckdb])
    @pytest.mark.parametrize("schema", [SICK, ROWS])
    @pytest.mark.parametrize(
        "what", ["COUNT(*)", "SUM(cost)", "AVG(cost)", "SUM(code)", "MEDIAN(cost)", "MODE(code)"]
    )
    def test_replayed_on_neighbours(self, what, schema, store):
        sql = f"SELECT {what} AS v FROM sick s JOIN codes c ON s.dx = c.dx"
        plan = plan_question(parse(sql, {"sick": schema, "codes": CODES}), PureDP(1))
        less = HEAVY + LIGHT[:-1] if schema is ROWS else LIGHT
        run = program(plan, (), store=lambda found: store(found["visits"]))
        replay(run, (tables(HEAVY + LIGHT), tables(less))).require()
