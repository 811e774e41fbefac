"""Questions that are chosen, not written: what is chosen is accepted as SQL, and says what was chosen."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.query import describe
from discreet.service.pages.forms.builder import builder_of, written_question
from discreet.service.pages.forms.choices import (
    TESTS,
    WANTS,
    axes_of,
    key_choices,
    question_of,
    read_choices,
)
from support.profile import examples

PEOPLE = dp.Schema(
    "people",
    dp.People("id", max_rows=3, max_groups=2),
    {
        "age": dp.Integer(0, 120, label="Age <in years>"),
        "income": dp.Real(0, 1000, step=0.01),
        "region": dp.Category(["N", "S", "it's"]),
        "grade": dp.Category([1, 2, 3], labels={1: "best"}),
        "married": dp.Boolean(labels={True: "married"}),
        "born": dp.Date("1990-01-01", "1990-12-31"),
        "seen": dp.Timestamp("2020-01-01T00:00:00", "2020-12-31T00:00:00"),
        "word": dp.Text(10),
    },
)
VALUES = {"age": "17", "income": "0.5", "region": "it's", "grade": "BEST", "married": "yes", "born": "1990-03-01",
          "seen": "2020-03-01 00:00:00", "word": "x' OR 1=1 --"}  # fmt: skip
ORDERED = ("age", "income", "born", "seen")


def sql_of(**form: str) -> str:
    sql, own, problem = written_question({"table": "people", **form}, (PEOPLE,))
    if problem is not None:
        raise problem
    assert not own
    return sql


class TestEveryForm:
    """Whatever fits is chosen, its SQL is read back as the question that was chosen."""

    @settings(max_examples=examples(200))
    @given(st.sampled_from(sorted(WANTS)), st.data())
    def test_is_a_question(self, want, data):
        draw = lambda values: data.draw(st.sampled_from(values))  # noqa: E731
        kinds = WANTS[want].of
        fitting = [name for name, column in PEOPLE.declared if column.kind in kinds]
        of = draw([*fitting, *([""] if "" in kinds else [])])
        along = draw(sorted(axes_of(PEOPLE)))
        taken = {of if want == "spread" else "", along.split("|")[0] if want == "change" else ""}
        ways = [mark for mark, way in key_choices(PEOPLE).items() if way.column not in taken]
        by = draw(ways if want == "largest" else ["", *ways])
        form = {"table": "people", "want": want, "of": of, "along": along, "by": by}
        for number in range(1, data.draw(st.integers(0, 3)) + 1):
            column = draw(sorted(VALUES))
            test = draw(sorted(TESTS) if column in ORDERED else ["=", "<>", "in"])
            ends = f"{VALUES[column]} to {VALUES[column]}"
            value = ends if test == "between" else VALUES[column]
            form |= {f"if{number}": column, f"test{number}": test, f"value{number}": value}
        question = question_of(read_choices(form, (PEOPLE,)), PEOPLE)
        assert describe(dp.parse_sql(sql_of(**form), {"people": PEOPLE})) == describe(question)

    @pytest.mark.parametrize("tables", ["pairs", "cube"])
    def test_of_several_tables_is_a_question(self, tables):
        for want in ("rows", "sum", "mean"):
            form = {
                "want": want,
                "of": "income",
                "by": "age|10",
                "and": "region",
                "with": "married",
            }
            asked = dp.parse_sql(sql_of(tables=tables, **form), {"people": PEOPLE})
            assert len(asked.sets) == (7 if tables == "pairs" else 8)


def test_each_thing_to_know_as_sql():
    assert sql_of() == "SELECT COUNT(*) AS n\nFROM people"
    assert sql_of(want="people") == "SELECT COUNT(DISTINCT id) AS people\nFROM people"
    assert sql_of(want="mean", of="income", by="region").startswith(
        "SELECT region, COUNT(*) AS n, AVG(income) AS mean_income\n"
    )
    assert "FLOOR(age / 10) * 10 AS age, COUNT(*)" in sql_of(want="spread", of="age")
    assert "DATE_TRUNC('month', born)" in sql_of(want="change", along="born|month")
    assert sql_of(want="change").count("'week'") == 2  # a time, of at most sixty points
    largest = sql_of(want="largest", of="income", by="grade", top="2")
    assert largest.endswith("GROUP BY grade\nORDER BY sum_income DESC\nLIMIT 2")
    assert "OVER (ORDER BY age)" in sql_of(by="age", tables="running")


def test_values_are_written_by_the_type_of_their_column():
    wheres = {name: sql_of(if1=name, value1=value).splitlines()[-1] for name, value in VALUES.items()}  # fmt: skip
    assert wheres["region"] == "WHERE region = 'it''s'"
    assert wheres["grade"] == "WHERE grade = 1"
    assert wheres["married"] in ("WHERE married = TRUE", "WHERE married")
    assert wheres["born"] == "WHERE born = DATE '1990-03-01'"
    assert wheres["seen"].startswith("WHERE seen = TIMESTAMP '2020")
    assert wheres["word"] == "WHERE word = 'x'' OR 1=1 --'"
    both = sql_of(
        if1="age", test1="between", value1="10 to 20", if2="grade", test2="in", value2="2, best"
    )
    assert both.endswith("WHERE age >= 10 AND age <= 20 AND grade IN (2, 1)")


@pytest.mark.parametrize(
    ("test", "sql"),
    [("=", "age = 17"), ("<>", "age <> 17"), ("<", "age < 17"), ("<=", "age <= 17"), (">", "age > 17"),
     (">=", "age >= 17"), ("in", "age IN (17)"), ("between", "age >= 17 AND age <= 20")],
)  # fmt: skip
def test_each_test_is_written_as_it_says(test, sql):
    value = "17 to 20" if test == "between" else "17"
    where = sql_of(if1="age", test1=test, value1=value).splitlines()[-1]
    assert where in (f"WHERE {sql}", "WHERE age = 17" if test == "in" else "")


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"want": "everything"}, "choose what you want to know"),
        ({"want": "mean", "of": "1; DROP"}, "is no column of people"),
        ({"want": "mean", "of": "id"}, "is no column of people"),
        ({"want": "mean", "of": "region"}, "an average needs a number, and region is a category"),
        ({"want": "mean"}, "an average needs a number, and none is chosen"),
        ({"want": "spread", "of": "word"}, "its values are not public, and word is free text"),
        ({"want": "largest"}, "the largest of what"),
        ({"want": "largest", "by": "region", "top": "0"}, "a number from 1 to 100"),
        ({"want": "change", "along": "region"}, None),
        ({"by": "name"}, "cannot be split by 'name'"),
        ({"by": "age", "and": "age|10"}, "is there twice"),
        ({"by": "income|3"}, "cannot be split"),
        ({"if1": "id", "value1": "3"}, "id is no column"),
        ({"if1": "age", "value1": "old"}, "must be a finite number"),
        ({"if1": "age", "test1": "LIKE", "value1": "1"}, "can be compared by: is, is not"),
        ({"if1": "region", "test1": "<", "value1": "N"}, "can be compared by: is, is not, is one of"),
        ({"if1": "region", "value1": "W"}, "has no value 'W'; there are n, s, it's"),
        ({"if1": "married", "value1": "perhaps"}, "has no value 'perhaps'"),
        ({"if1": "born", "value1": "spring"}, "is a date; write it as 1990-01-01"),
        ({"if1": "age", "test1": "between", "value1": "3"}, "write both ends, such as 10 to 20"),
        ({"by": "age", "tables": "some"}, "choose one of just this table"),
        ({"by": "age", "and": "region", "tables": "running"}, "along one key"),
        ({"by": "age", "want": "median", "of": "age", "tables": "running"}, "running totals are counts"),
        ({"table": "nobody"}, "choose one of the tables people"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_in_words(form, words):
    if words is None:  # an axis without an order is a way to split all the same
        assert "GROUP BY region" in sql_of(**form)
        return
    with pytest.raises(dp.InvalidArgument, match=words):
        sql_of(**form)


def test_a_person_who_writes_is_heard():
    form = {"table": "people", "by": "region", "sql": "SELECT 1", "written": "SELECT 2"}
    assert written_question(form, (PEOPLE,))[:2] == ("SELECT 1", True)
    chosen = sql_of(by="region")
    for change in ({"choose": "1"}, {"written": "SELECT 1"}, {"sql": " "}):
        assert written_question(form | change, (PEOPLE,))[:2] == (chosen, False)


def test_what_cannot_be_asked_is_off_and_says_why():
    words = dp.Schema("t", dp.Rows(), {"word": dp.Text(5), "kind": dp.Boolean()})
    form = builder_of({}, (words,), delta=False)
    assert form is not None
    off = {one.value: one.off for one in (*form.wants, *form.ways) if one.off}
    assert off["mean"] == "there is no column of numbers"
    assert off["change"] == "there is no column with an order"
    assert off["word"] == "free text needs a promise with δ" and "people" not in off
    more = builder_of({}, (words,), delta=True)
    assert more is not None and not [way for way in more.ways if way.off]
    assert builder_of({}, (dp.Schema.public_table("w", {"k": dp.Boolean()}),), delta=True) is None


def test_the_id_of_a_person_is_no_column_to_ask_about():
    visits = dp.Schema("v", dp.People("id", max_rows=3), {"id": dp.Integer(0, 99), "x": dp.Integer(0, 9)})  # fmt: skip
    form = builder_of({}, (visits,), delta=True)
    assert form is not None and {one.value for one in (*form.of, *form.ways)} == {"x"}
    for asked in ({"want": "mean", "of": "id"}, {"if1": "id", "value1": "3"}, {"by": "id"}):
        assert isinstance(written_question(asked, (visits,))[2], dp.InvalidArgument)
