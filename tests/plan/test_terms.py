"""Terms of a question: read once, exactly; and one planner that loses none of them."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet.plan.asked.terms import Terms, read_terms
from discreet.plan.choose import plan_checked
from discreet.plan.planner import Planner
from discreet.query.bounds.check import check_question

PEOPLE = dp.Schema(
    "people", dp.Rows(), {"region": dp.Category(["N", "S"]), "age": dp.Integer(0, 120)}
)
SQL = "SELECT region, COUNT(*) AS n, AVG(age) AS age FROM people GROUP BY region"
PLANNER = Planner({"people": PEOPLE}, dp.open_filter(dp.PureDP(10)), lambda _table, _column: ())

numbers = st.fractions(Fraction(1, 100), 1000, max_denominator=100)
by_name = st.dictionaries(st.sampled_from(["n", "age"]), numbers, min_size=1)
terms = st.builds(
    Terms,
    spend=st.none() | st.just(dp.PureDP(1)),
    error=st.none()
    | numbers
    | by_name
    | st.dictionaries(st.sampled_from("ab"), numbers | by_name, min_size=1),
    weights=st.none() | by_name,
    size=st.none() | st.integers(1, 10**6),
    level=st.floats(0.01, 0.99),
    nonnegative=st.booleans(),
)


class TestTerms:
    @given(terms)
    def test_their_words_are_read_as_the_same_terms(self, one):
        assert read_terms(**one.words()) == one

    @pytest.mark.parametrize(
        "words",
        [
            {"spend": 1},
            {"spend": dp.PureDP(0)},
            {"error": "small"},
            {"error": math.nan},
            {"error": {"a": {"b": {"c": 1}}}},
            {"weights": 3},
            {"weights": {"n": None}},
            {"size": 0},
            {"size": 1.5},
            {"level": 1},
            {"level": "95 %"},
            {"level": Fraction(10**30 - 1, 10**30)},
            {"nonnegative": 1},
        ],
    )
    def test_what_is_no_term_is_refused(self, words):
        with pytest.raises(dp.InvalidArgument):
            read_terms(**words)

    def test_an_unknown_word_is_a_type_error_as_everywhere_in_python(self):
        with pytest.raises(TypeError, match="sizes"):
            read_terms(dp.PureDP(1), sizes=3)


class TestPlanner:
    """A plan is what `plan_question` makes of the same question, terms, filter and public values."""

    @pytest.mark.parametrize(
        "words",
        [
            {"spend": dp.PureDP(1)},
            {"spend": dp.PureDP(1), "weights": {"age": 3}, "level": 0.5, "size": 10},
            {"error": {"n": 9, "age": 20}, "size": 30, "level": "0.9", "nonnegative": True},
        ],
    )
    def test_one_question(self, words):
        read = read_terms(**words)
        question = PLANNER.question(SQL).question
        wanted = dp.plan_question(question, under=PLANNER.filter, **words)
        assert (
            PLANNER.plan(SQL, read)
            == PLANNER.plan(question, read)
            == PLANNER.find(SQL, read)
            == wanted
        )
        assert plan_checked(check_question(question), read, under=PLANNER.filter) == wanted

    def test_several_questions_and_the_third(self):
        work = PLANNER.find({"a": SQL, "b": SQL}, read_terms(dp.PureDP(1), weights={"a": 3}))
        assert work["a"].spend == dp.PureDP("3/4")
        third = PLANNER.find(SQL, read_terms(dp.PureDP(1), level="0.9"), 10)
        question = PLANNER.question(SQL).question
        assert third == dp.solve_tradeoff(
            question, spend=dp.PureDP(1), queries=10, level="0.9", under=PLANNER.filter
        )

    def test_several_questions_are_not_asked_several_times(self):
        with pytest.raises(dp.InvalidArgument, match="queries="):
            PLANNER.find({"a": SQL}, read_terms(dp.PureDP(1)), 10)
