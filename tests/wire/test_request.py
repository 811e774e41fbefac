"""Requests are strict: what is not understood is refused, by name."""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

import discreet as dp
from discreet.errors import InvalidArgument
from discreet.plan.asked.terms import Terms
from discreet.service.api.schemas import SCHEMAS
from discreet.wire.json_text import read_json, write_json
from discreet.wire.verbs.question import (
    PLAN,
    REHEARSAL,
    RELEASE,
    Ask,
    PlanRequest,
    ReleaseRequest,
    read_ask,
)

SQL = "SELECT COUNT(*) AS n FROM people"
SPEND = {"epsilon": "1"}
COMPONENTS = {"components": {"schemas": SCHEMAS}}
AskSchema = Draft202012Validator({"$ref": "#/components/schemas/AskRequest", **COMPONENTS})

numbers = st.fractions(0, 1000, max_denominator=1000)
names = st.text("abcxyz", min_size=1, max_size=8)
targets = st.sampled_from(["data", "population"])
terms = st.builds(
    Terms,
    spend=st.just(dp.PureDP("1/3")),
    error=st.none(),
    weights=st.none() | st.dictionaries(names, numbers, min_size=1, max_size=3),
    size=st.none() | st.integers(1, 10**9),
    level=st.sampled_from([0.5, 0.9, 0.95, 0.999]),
    nonnegative=st.booleans(),
    intervals=st.booleans(),
    reuse=st.sampled_from([True, False, "only"]),
    within=st.sampled_from([None, 1.0, 1.5, 9.0]),
) | st.builds(
    Terms,
    error=numbers
    | st.dictionaries(
        names,
        numbers | st.dictionaries(names, numbers, min_size=1, max_size=3),
        min_size=1,
        max_size=3,
    ),
    level=st.sampled_from([0.5, 0.95]),
)


class TestWhatIsWrittenIsReadBack:
    @given(
        st.builds(
            Ask, sql=st.just(SQL), terms=terms, why=st.text("abc ε\n", max_size=20), of=targets
        )
    )
    def test_one_question(self, ask):
        AskSchema.validate(ask.to_json())
        assert read_ask(read_json(write_json(ask.to_json()))) == ask

    def test_a_rehearsal(self):
        ask = Ask(SQL, Terms(spend=dp.ZCDP(1)), rows=10)
        assert REHEARSAL.read(ask.to_json()) == ask

    @given(
        st.builds(
            ReleaseRequest,
            questions=st.dictionaries(names, st.just(SQL), min_size=1, max_size=3),
            terms=terms,
        )
    )
    def test_several_questions(self, release):
        assert RELEASE.read(read_json(write_json(release.to_json()))) == release

    @given(
        st.builds(
            PlanRequest,
            questions=st.just(SQL) | st.just({"a": SQL}),
            terms=terms,
            queries=st.none(),
        )
    )
    def test_a_plan(self, planned):
        assert PLAN.read(read_json(write_json(planned.to_json()))) == planned

    def test_two_of_three(self):
        planned = PlanRequest(SQL, Terms(spend=dp.PureDP(1), error=Fraction(5)), 7)
        assert PLAN.read(planned.to_json()) == planned


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.decimals(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["sql", "spend", "error", "level", "epsilon", "questions"]),
                inner,
                max_size=4,
            )
        ),
        max_leaves=8,
    )
)
def test_any_json_is_read_or_refused_by_all_readers(body):
    for read in (read_ask, RELEASE.read, PLAN.read):
        with suppress(InvalidArgument):
            assert read(body).to_json()


BODIES = {"AskRequest": read_ask, "ReleaseRequest": RELEASE.read, "PlanRequest": PLAN.read}
leaves = (
    st.none()
    | st.booleans()
    | st.integers(-1, 9)
    | st.sampled_from(["1/2", "1e-6", "0.5", "x", SQL, ""])
)
budgets = st.dictionaries(
    st.sampled_from(["epsilon", "delta", "rho", "mu", "eps"]), leaves, max_size=2
)
bodies = st.fixed_dictionaries(
    {},
    optional={
        "sql": leaves,
        "questions": st.dictionaries(names, leaves, max_size=2),
        "spend": budgets | leaves,
        "error": leaves
        | st.dictionaries(names, leaves | st.dictionaries(names, leaves, max_size=2), max_size=2),
        "weights": leaves | st.dictionaries(names, leaves, max_size=2),
        "size": leaves,
        "level": leaves,
        "nonnegative": leaves,
        "why": leaves,
        "of": leaves | targets,
        "queries": leaves,
    },
)


@pytest.mark.parametrize("name", BODIES)
@given(body=bodies)
def test_what_a_reader_reads_its_schema_allows(name, body):
    """The description never refuses what the service takes."""
    with suppress(InvalidArgument):
        BODIES[name](body)
        Draft202012Validator({"$ref": f"#/components/schemas/{name}", **COMPONENTS}).validate(body)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"sql": None}, "sql must be text"),
        ({"sql": ["SELECT"]}, "sql must be text"),
        ({"sql": " \n"}, "empty"),
        ({"sql": "x" * 20_001}, "characters"),
        ({"sql": "SELECT '\x00'"}, "NUL"),
        ({"sql": "SELECT '\ud800'"}, "halves"),
        ({"error": 1}, "one of the two"),
        ({"spend": None}, "one of the two"),
        ({"spend": None, "error": {}}, "error must map"),
        ({"spend": None, "error": {"a": {}}}, "error.a must map"),
        ({"spend": None, "error": {"a": {"b": {"c": 1}}}}, "error.a.b must be a number"),
        ({"weights": []}, "weights must map"),
        ({"weights": {"n": "x"}}, "weights.n"),
        ({"weights": {str(k): 1 for k in range(65)}}, "weights must map"),
        ({"size": 0}, "size must be a whole number"),
        ({"size": Decimal("1.5")}, "size must be a whole number"),
        ({"level": 1}, "level must lie between"),
        ({"level": "0"}, "level must lie between"),
        ({"level": "high"}, "level must be a finite number"),
        ({"nonnegative": 1}, "true or false"),
        ({"why": 3}, "why must be text"),
        ({"why": "y" * 501}, "characters"),
        ({"rows": 5}, "'rows' is not known"),
        ({"who": "somebody else"}, "'who' is not known"),
    ],
)
def test_refusals_name_the_field(change, word):
    with pytest.raises(InvalidArgument, match=word):
        read_ask({"sql": SQL, "spend": SPEND} | change)


@pytest.mark.parametrize("body", [None, [], "x", 1, True])
def test_a_request_is_an_object(body):
    with pytest.raises(InvalidArgument, match="JSON object"):
        read_ask(body)


@pytest.mark.parametrize(
    "questions", [None, [], {}, {"a": 1}, {"a" * 101: SQL}, {str(k): SQL for k in range(65)}]
)
def test_questions_are_named_sql(questions):
    with pytest.raises(InvalidArgument):
        RELEASE.read({"questions": questions, "spend": SPEND})


def test_a_plan_is_for_one_question_or_for_several():
    with pytest.raises(InvalidArgument, match="one of the two"):
        PLAN.read({"sql": SQL, "questions": {"a": SQL}, "spend": SPEND})
    with pytest.raises(InvalidArgument, match="one of the two"):
        PLAN.read({"spend": SPEND})


def test_null_is_the_same_as_nothing():
    assert read_ask(
        {"sql": SQL, "spend": SPEND, "error": None, "weights": None, "size": None}
    ) == read_ask({"sql": SQL, "spend": SPEND})
