"""Relations: their columns, whose rows they are, and how many rows one unit may become."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.data import Boolean, Integer, People, Rows, Schema, Text
from discreet.errors import InvalidArgument, UnboundedSensitivity, UnsupportedQuery
from discreet.query.algebra.expression import Call, Constant, Field, Function
from discreet.query.algebra.joins import public_columns, with_unique_columns
from discreet.query.algebra.statistic import Count, CountPeople, Mean, Quantile, Sum
from discreet.query.algebra.tree import (
    Finish,
    JoinPeople,
    JoinPublic,
    PerPerson,
    Question,
    Scan,
    Select,
    Total,
    Union,
    Where,
    require_unique_names,
    unused_name,
)
from discreet.query.bounds.check import check_rows, require_sound
from discreet.query.bounds.fanout import person_rows
from discreet.query.bounds.person_totals import PersonTotals
from discreet.query.bounds.relation_facts import (
    columns_of,
    is_person,
    multiplicity,
    neighbours_of,
    tables_of,
    unit_of,
)
from discreet.query.domains.domain import Texts, Truth, Whole
from query.samples import MONTHLY, PEOPLE, PRICES, SWAPS, USERS, VISITS, WARDS

people, visits, users = Scan(PEOPLE), Scan(VISITS), Scan(USERS)
ward = Field("ward")
JOINED = JoinPublic(people, WARDS, ((ward, "ward"),), (("city", "city"),))
PAIRED = JoinPeople(visits, Select(users, (("age", Field("age")),)))
GROUPED = PerPerson(
    visits, (("shop", Field("shop")),), (("n", Total("count", None, Fraction(1), 1, 10)),)
)


class TestColumns:
    def test_follow_the_relation(self):
        assert columns_of(Where(JOINED, Field("active"))) == {
            **columns_of(people),
            "city": Texts(30),
        }
        assert list(columns_of(PAIRED)) == ["spent", "shop", "ward", "at", "age"]
        assert columns_of(GROUPED) == {"shop": Texts(1, ("a", "b")), "n": Whole(Fraction(1), 1, 10)}
        united = Union(
            (Select(people, (("x", Field("age")),)), Select(people, (("x", Field("income")),)))
        )
        assert columns_of(united) == {"x": Whole(Fraction(1, 4), -4000, 1_000_000)}

    def test_never_hold_the_person(self):
        assert "user_id" not in columns_of(visits)
        assert is_person(VISITS, "User_ID")
        assert not is_person(PEOPLE, "age")
        assert not is_person(WARDS, "ward")

    @pytest.mark.parametrize(
        ("relation", "words"),
        [
            (Where(people, Field("age")), "condition"),
            (Select(people, (("x", Field("age")), ("x", Field("ward")))), "same name"),
            (
                Union((Select(people, (("x", ward),)), Select(people, (("y", ward),)))),
                "same columns",
            ),
            (JoinPublic(people, USERS, ((ward, "age"),), ()), "private"),
            (JoinPublic(people, WARDS, (), ()), "needs ON"),
            (JoinPublic(people, WARDS, ((ward, "nowhere"),), ()), "needs ON"),
            (JoinPublic(people, WARDS, ((ward, "ward"),), (("x", "nowhere"),)), "needs ON"),
            (JoinPublic(people, WARDS, ((Field("name"), "ward"),), ()), "one type"),
            (JoinPublic(people, WARDS, ((ward, "ward"),), (("age", "city"),)), "same name"),
            (JoinPeople(visits, visits), "same name"),
            (
                JoinPeople(
                    visits, Select(users, (("a", Field("age")),)), ((Field("shop"), Field("a")),)
                ),
                "one type",
            ),
        ],
    )
    def test_that_clash_are_refused(self, relation, words):
        with pytest.raises(UnsupportedQuery, match=words):
            columns_of(relation)


class TestUnits:
    def test_are_those_of_the_tables(self):
        assert tables_of(Union((JOINED, Where(people, Field("active"))))) == (PEOPLE, PEOPLE)
        assert tables_of(PAIRED) == (VISITS, USERS)
        assert unit_of(JOINED) == Rows()
        assert unit_of(GROUPED) == People("user_id", max_rows=10)

    def test_of_people_take_the_tightest_bounds(self):
        loose = Schema("loose", People("user_id", max_rows=9, max_groups=4), {"a": Integer(0, 1)})
        assert unit_of(Union((Scan(loose), visits))) == People("user_id", max_rows=9, max_groups=4)
        assert unit_of(Union((Scan(loose), users))) == People("user_id", max_rows=1, max_groups=1)

    def test_that_differ_are_refused(self):
        other = Schema("other", People("uid", max_rows=1), {"a": Integer(0, 1)})
        for relation in (
            Union((people, visits)),
            JoinPeople(visits, Scan(other)),
            Union((visits, Scan(MONTHLY))),
        ):
            with pytest.raises(UnsupportedQuery, match="different units"):
                unit_of(relation)

    def test_of_a_draft_are_refused(self):
        draft = Schema("draft", Rows(), {"a": Integer(0, 1)}, needs_word=["columns.a"])
        with pytest.raises(InvalidArgument, match="draft"):
            check_rows(Scan(draft))

    def test_have_one_neighbour_relation(self):
        assert neighbours_of(Scan(SWAPS)) == "replace"
        with pytest.raises(UnsupportedQuery, match="neighbour"):
            neighbours_of(Union((people, Scan(SWAPS))))


class TestMultiplicity:
    def test_counts_how_often_a_table_is_read(self):
        assert multiplicity(JOINED) == 1
        assert multiplicity(JoinPublic(JOINED, PRICES, ((Field("region"), "shop"),), ())) == 4
        assert (
            multiplicity(
                Union(
                    (
                        people,
                        Where(people, Field("active")),
                        Select(JOINED, (("c", Field("city")),)),
                    )
                )
            )
            == 3
        )

    @pytest.mark.parametrize("relation", [PAIRED, GROUPED])
    def test_has_no_bound_without_a_person(self, relation):
        with pytest.raises(UnboundedSensitivity, match="person"):
            multiplicity(relation)

    def test_has_no_bound_without_a_key(self):
        with pytest.raises(UnboundedSensitivity, match="declared key"):
            multiplicity(JoinPublic(people, PRICES, ((Field("age"), "price"),), ()))
        with pytest.raises(UnboundedSensitivity, match="declared key"):
            multiplicity(JoinPublic(people, WARDS, ((Field("name"), "city"),), ()))

    def test_of_people_is_expected_where_totals_are_clipped(self):
        assert person_rows(JOINED) == 1
        assert person_rows(PAIRED) == 10
        assert person_rows(JoinPeople(visits, visits)) == 100
        assert person_rows(GROUPED) == 10
        assert person_rows(PerPerson(visits, (), ())) == 1
        assert person_rows(Union((visits, users))) == 11


class TestTotals:
    def test_are_worked_out_once(self):
        totals = PersonTotals(visits, ())
        first, second = (totals.expression(Sum(Field("spent")), name) for name in ("a", "b"))
        assert first == second == Field("a")
        assert totals.expression(Count(), None) == Field("count")
        assert [name for name, _ in totals.per_person().totals] == ["a", "count"]

    def test_of_negative_numbers_reach_as_far_down(self):
        owed = Schema("owed", People("id", max_rows=3), {"x": Integer(-5, -2), "y": Integer(-5, 2)})
        totals = PersonTotals(Scan(owed), ())
        for name in "xy":
            totals.expression(Sum(Field(name)), name)
        found = {name: (total.low, total.high) for name, total in totals.per_person().totals}
        assert found == {"x": (-15, -2), "y": (-15, 6)}

    def test_beyond_64_bits_are_refused(self):
        huge = Schema("huge", People("id", max_rows=2**40), {"x": Integer(0, 2**40)})
        with pytest.raises(UnsupportedQuery, match="64-bit"):
            PersonTotals(Scan(huge), ()).expression(Sum(Field("x")), "x")


class TestNames:
    def test_stay_apart_in_any_case(self):
        assert public_columns(people, WARDS) == (
            ("wards.ward", "ward"),
            ("city", "city"),
            ("big", "big"),
        )
        right, new = with_unique_columns(visits, visits)
        assert new["spent"] == "visits.spent"
        assert not set(columns_of(visits)) & set(columns_of(right))
        assert with_unique_columns(people, users)[1] == {"age": "users.age", "shop": "shop"}
        assert with_unique_columns(visits, Scan(MONTHLY))[0] != Scan(MONTHLY)
        assert with_unique_columns(users, Scan(SWAPS))[1] == {"age": "swaps.age"}

    def test_may_be_as_they_are(self):
        only = Select(users, (("x", Field("age")),))
        assert with_unique_columns(visits, only) == (only, {"x": "x"})

    def test_of_great_length_are_numbered(self):
        long = "x" * 60
        assert unused_name(long, "table", [long]) == "column"
        assert unused_name(long, "table", [long, "Column"]) == "column 2"

    def test_that_clash_or_cannot_be_held_are_refused(self):
        require_unique_names(["a", "b"])
        for names, words in (
            (["a", "A"], "same name"),
            (["a'"], "quotes"),
            (["x" * 64], "63 bytes"),
        ):
            with pytest.raises(UnsupportedQuery, match=words):
                require_unique_names(names)


ONE = (("n", Count()),)


def asked(statistics=ONE, **finish):
    finish = {"columns": (("n", Field("n")),), **finish}
    return Question(people, (), statistics, Finish(**finish))


class TestTheLastCheck:
    def test_gives_a_sound_question_back(self):
        assert require_sound(asked()) == asked()

    @pytest.mark.parametrize(
        ("question", "words"),
        [
            (asked(()), "SELECT"),
            (asked(columns=()), "no columns"),
            (asked((("n", CountPeople()),)), "unit of this table is a row"),
            (asked((("n", Mean(Field("joined"))),)), "YEAR"),
            (asked((("n", Quantile(Field("age"), Fraction(2))),)), "from 0 to 1"),
            (asked(having=Field("n")), "HAVING"),
            (asked(order=((Constant(None), False),)), "NULL"),
            (asked(limit=-1), "LIMIT"),
            (
                asked(columns=(("n", Call(Function.LOWER, (Constant("A"), Constant("B")))),)),
                "LOWER",
            ),
            (
                asked(
                    having=Call(
                        Function.LIKE, (Constant("A"), Call(Function.LOWER, (Constant("B"),)))
                    )
                ),
                "LIKE",
            ),
        ],
    )
    def test_refuses_what_does_not_fit(self, question, words):
        with pytest.raises(UnsupportedQuery, match=words):
            require_sound(question)

    def test_knows_kinds_that_columns_declare(self):
        schema = Schema("t", Rows(), {"a": Boolean(), "b": Text(3)})
        assert columns_of(Scan(schema)) == {"a": Truth(), "b": Texts(3)}
