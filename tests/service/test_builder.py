"""Questions that are chosen, not written: what the form writes is accepted, and says what was chosen."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.service.pages.forms.builder import STATISTICS, TESTS, builders, write_question
from support.profile import examples

PEOPLE = dp.Schema(
    "people",
    dp.People("id", max_rows=3, max_groups=2),
    {
        "age": dp.Integer(0, 120),
        "income": dp.Real(0, 1000, step=0.01),
        "region": dp.Category(["N", "S", "it's"]),
        "grade": dp.Category([1, 2, 3]),
        "married": dp.Boolean(),
        "born": dp.Date("1990-01-01", "1990-12-31"),
        "seen": dp.Timestamp("2020-01-01T00:00:00", "2020-12-31T00:00:00"),
        "word": dp.Text(10),
    },
)
VALUES = {"age": "17", "income": "0.5", "region": "it's", "grade": "2", "married": "yes", "born": "1990-03-01",
          "seen": "2020-03-01 00:00:00", "word": "x' OR 1=1 --"}  # fmt: skip


class TestEveryForm:
    """Whatever is chosen from the lists, the question is accepted as a question."""

    @settings(max_examples=examples(200))
    @given(st.sampled_from(sorted(STATISTICS)), st.data())
    def test_is_a_question(self, statistic, data):
        (form,) = builders((PEOPLE,))
        chosen = {
            "table": "people",
            "statistic": statistic,
            "of": data.draw(st.sampled_from(form.numbers)),
            "by": data.draw(st.sampled_from(["", *form.keys])),
            "if": (
                column := data.draw(
                    st.sampled_from(["", "age", "income", "region", "grade", "born", "word"])
                )
            ),
            "test": data.draw(
                st.sampled_from(
                    sorted(TESTS) if column in ("age", "income", "born") else ["=", "<>"]
                )
            ),
            "value": VALUES.get(column, ""),
        }
        sql = write_question(chosen, (PEOPLE,))
        assert dp.parse_sql(sql, {"people": PEOPLE}) is not None

    @settings(max_examples=examples(60))
    @given(
        st.sampled_from(["rows", "sum", "mean"]),
        st.permutations(["age", "region", "grade", "married"]),
        st.data(),
    )
    def test_of_several_tables_is_a_question(self, statistic, keys, data):
        tables = data.draw(st.sampled_from(["these", "pairs", "cube"]))
        chosen = dict(
            zip(("by", "and", "with"), keys[: data.draw(st.integers(1, 3))], strict=False)
        )
        form = {
            "table": "people",
            "statistic": statistic,
            "of": "income",
            "tables": tables,
            **chosen,
        }
        assert dp.parse_sql(write_question(form, (PEOPLE,)), {"people": PEOPLE}) is not None


def test_running_totals_run_along_a_key_with_an_order():
    form = {"table": "people", "tables": "running", "by": "age"}
    assert dp.parse_sql(write_question(form, (PEOPLE,)), {"people": PEOPLE}) is not None
    assert write_question(form | {"statistic": "sum", "of": "income"}, (PEOPLE,)).startswith(
        "SELECT age, SUM(SUM(income)) OVER (ORDER BY age) AS sum_income\n"
    )


def test_values_are_written_by_the_type_of_their_column():
    wheres = {name: write_question({"table": "people", "if": name, "value": value}, (PEOPLE,)).splitlines()[-1]
              for name, value in VALUES.items()}  # fmt: skip
    assert wheres["region"] == "WHERE region = 'it''s'"
    assert (
        wheres["married"] == "WHERE married = TRUE"
        and wheres["born"] == "WHERE born = DATE '1990-03-01'"
    )
    assert wheres["seen"].startswith("WHERE seen = TIMESTAMP '2020")
    assert wheres["word"] == "WHERE word = 'x'' OR 1=1 --'"


@pytest.mark.parametrize(
    "form",
    [
        {"table": "nobody"},
        {"table": "people", "statistic": "spread"},
        {"table": "people", "statistic": "mean", "of": "1; DROP"},
        {"table": "people", "by": "name"},
        {"table": "people", "if": "age", "value": "old"},
        {"table": "people", "if": "age", "test": "LIKE", "value": "1"},
        {"table": "people", "if": "married", "value": "perhaps"},
        {"table": "people", "by": "age", "and": "1; DROP"},
        {"table": "people", "by": "age", "tables": "some"},
        {"table": "people", "by": "region", "tables": "running"},
        {"table": "people", "by": "age", "and": "region", "tables": "running"},
        {"table": "people", "by": "age", "statistic": "median", "of": "age", "tables": "running"},
    ],
)
def test_what_is_not_on_the_lists_is_refused(form):
    with pytest.raises(dp.InvalidArgument):
        write_question(form, (PEOPLE,))


def test_rows_have_no_people_to_count():
    (form,) = builders((dp.Schema("t", dp.Rows(), {"word": dp.Text(5)}),))
    assert [key for key, _ in form.statistics] == ["rows"] and form.numbers == ()
