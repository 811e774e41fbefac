"""All tallies of one question see one state of the data; two stored keys never become one."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace

import pytest

import discreet as dp
from discreet.answer import run_plan
from discreet.data import Rows, Schema, Text
from discreet.engines.sql.store import read_totals
from discreet.engines.tally_analysis import understand
from discreet.errors import EngineFailure, UnsupportedQuery
from discreet.plan import plan_question
from discreet.query.algebra.expression import Call, Constant, Field, Function
from discreet.query.algebra.tally import Free, Tally, Term
from discreet.query.algebra.tree import Scan
from discreet.service.jobs.paced_engine import pace

PEOPLE = Schema("people", Rows(), {"name": Text(9)})
TALLY = Tally(Scan(PEOPLE), (Field("name"),), (Term(Constant(True), 1, 0, 1),), Free())


class Held:
    """An engine that notes what is asked while its data are held still."""

    def __init__(self):
        self.still, self.asked = False, []

    @contextmanager
    def snapshot(self):
        self.still = True
        yield
        self.still = False

    def tally(self, tally):
        self.asked.append(self.still)
        return {} if tally.keys else {(): (0,) * len(tally.terms)}


class TestOneState:
    @pytest.mark.parametrize("wrap", [lambda engine: engine, lambda engine: pace(engine, 0.001)])
    def test_a_question_holds_the_data_still(self, wrap):
        schema = dp.Schema("people", dp.Rows(), {"age": dp.Integer(0, 120)})
        question = dp.parse_sql(
            "SELECT COUNT(*) AS n, MEDIAN(age) AS m FROM people", {"people": schema}
        )
        engine = Held()
        run_plan(plan_question(question, dp.PureDP(1)), wrap(engine))
        assert len(engine.asked) > 1 and all(engine.asked) and not engine.still


class TestKeysNeverMeet:
    def test_a_key_that_comes_twice_is_a_failure_that_does_not_show_it(self):
        with pytest.raises(EngineFailure) as caught:
            read_totals(understand(TALLY), [("M\ufffdller", 1000), ("M\ufffdller", 1)])
        assert "ller" not in str(caught.value)
        assert read_totals(understand(TALLY), [("a", 1), (None, 2)]) == {
            ("a",): (1,),
            (None,): (2,),
        }

    def test_patterns_with_hundreds_of_wildcards_are_refused(self):
        for pattern, fits in (("%a" * 500, True), ("_a" * 501, False)):
            tally = replace(TALLY, keys=(Call(Function.LIKE, (Field("name"), Constant(pattern))),))
            if fits:
                understand(tally)
                continue
            with pytest.raises(UnsupportedQuery, match="at most 500"):
                understand(tally)
