"""What speaks against a question before it is paid for: public facts, and nothing else."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.plan.advice.impossible_conditions import can_be_true, impossible_conditions
from discreet.plan.advice.warnings import warnings_of
from discreet.query.bounds.relation_facts import columns_of
from discreet.query.meaning.evaluate import evaluate
from support.profile import examples

COLUMNS = {
    "age": dp.Integer(0, 12),
    "weeks": dp.Integer(-3, 4),
    "pay": dp.Real(0, 2, step="0.5"),
    "sex": dp.Category(["f", "m"]),
    "day": dp.Date("2024-01-01", "2024-01-05"),
}
PEOPLE = dp.Schema("people", dp.Rows(), COLUMNS, size=1000)


def asked(condition: str, schema: dp.Schema = PEOPLE) -> dp.Question:
    return dp.parse_sql(f"SELECT COUNT(*) AS n FROM people WHERE {condition}", {"people": schema})


@pytest.mark.parametrize(
    ("condition", "named"),
    [
        ("age > 300", "age > 300"),
        ("sex = 'x' AND age > 3", "sex = 'x'"),
        ("age > 5 AND age < 3", "age > 5 AND age < 3"),
        ("age BETWEEN 20 AND 30", "age >= 20"),
        ("NOT (age <= 12)", "NOT (age <= 12)"),
        ("age IN (40, 50)", "age IN (40, 50)"),
        ("age + weeks > 16", "(age + weeks) > 16"),
        ("day < DATE '2020-01-01'", "day < DATE '2020-01-01'"),
        ("pay = 7", "pay = 7"),
    ],
)
def test_conditions_that_no_row_can_meet_are_named(condition, named):
    assert named in impossible_conditions(asked(condition))


def test_an_empty_filter_is_named_too():
    sql = "SELECT COUNT(*) FILTER (WHERE age > 300) AS old, SUM(CASE WHEN age < 0 THEN 1 ELSE 0 END) AS s FROM people"
    assert impossible_conditions(dp.parse_sql(sql, {"people": PEOPLE})) == ["age > 300", "age < 0"]


TERMS = st.one_of(
    st.tuples(st.sampled_from(["age", "weeks", "age - weeks"]), st.sampled_from(["<", "<=", ">", "=", "<>", ">="]),
              st.integers(-6, 16)).map(lambda t: f"{t[0]} {t[1]} {t[2]}"),
    st.sampled_from(["sex = 'f'", "sex IN ('m', 'x')", "sex = 'x'", "pay > 1.5", "pay < 0", "age < weeks"]),
)  # fmt: skip
CONDITIONS = st.recursive(
    TERMS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["AND", "OR"]), inner).map(
            lambda t: f"({t[0]}) {t[1]} ({t[2]})"
        ),
        inner.map(lambda one: f"NOT ({one})"),
    ),
    max_leaves=4,
)
ROWS = st.fixed_dictionaries(
    {"age": st.integers(0, 12), "weeks": st.integers(-3, 4), "pay": st.integers(0, 4), "sex": st.sampled_from("fm"),
     "day": st.just(19_723)}
)  # fmt: skip


class TestImpossible:
    """A condition that some row meets is never called impossible, however it is put together."""

    @given(CONDITIONS, ROWS)
    @settings(max_examples=examples(400))
    def test_what_a_row_meets_is_possible(self, condition, row):
        question = asked(condition)
        columns = columns_of(question.rows.rows)
        values = row | {"pay": Fraction(row["pay"], 2)}
        if evaluate(question.rows.condition, values, columns) is True:
            assert can_be_true(question.rows.condition, columns)
            assert not impossible_conditions(question)


def said(sql: str, schema: dp.Schema, spend: str) -> str:
    return "\n".join(
        warnings_of(dp.plan_question(dp.parse_sql(sql, {"people": schema}), dp.PureDP(spend)))
    )


class TestWarnings:
    WIDE = dp.Schema(
        "people",
        dp.People("id", max_rows=3),
        {
            "age": dp.Integer(0, 120),
            "income": dp.Real(0, 250_000, step=1),
            "day": dp.Date("2024-01-01", "2024-12-31"),
        },
        size=1000,
    )

    def test_more_cells_than_people(self):
        words = said("SELECT day, age, COUNT(*) AS n FROM people GROUP BY day, age", self.WIDE, "1")
        assert "44,286 cells for 1,000 people" in words and "MONTH(day)" in words
        assert "n is off by" in words

    def test_errors_that_swallow_the_range_and_what_would_help(self):
        words = said("SELECT AVG(income) AS income FROM people", self.WIDE, "1/45")
        assert "income is off by" in words and "MEDIAN" in words and "times as much" in words
        assert (
            said("SELECT AVG(income) AS income FROM people", self.WIDE, "5").count("\n") == 0
        )  # but the cap
        # For a little more only means at an end of the range are hidden: nobody is advised by them.
        assert "income is off" not in said(
            "SELECT AVG(income) AS income FROM people", self.WIDE, "1/40"
        )

    def test_no_advice_rests_on_a_number_of_rows_that_nobody_declared(self):
        """A mean of 1,000 rows would be hidden, one of 100,000 is not."""
        undeclared = dp.Schema("people", dp.Rows(), {"pay": dp.Real(0, 1_000)})
        assert said("SELECT AVG(pay) AS pay FROM people", undeclared, "1/200") == ""
        hidden = said("SELECT AVG(pay) AS pay FROM people", undeclared, "1/200000")
        assert "up to 100,000 rows per key (none declared)" in hidden

    def test_a_median_is_judged_by_what_usual_data_show(self):
        """The bound for any data is five times as wide, and reached a quarter of the rows."""
        sql, schema = "SELECT MEDIAN(pay) AS pay FROM people", {"pay": dp.Real(0, 1_000)}
        people = dp.Schema("people", dp.Rows(), schema, size=1_000)
        plan = dp.plan_question(dp.parse_sql(sql, {"people": people}), dp.PureDP("1/15"))
        assert plan.errors()["pay"][0] > 250 > 2 * plan.statistic_errors()["pay"]
        assert plan.warnings == ()

    def test_caps_that_may_cut(self):
        assert "at most 3 rows a person" in said("SELECT COUNT(*) AS n FROM people", self.WIDE, "1")
        assert said("SELECT COUNT(*) AS n FROM people", PEOPLE, "1") == ""

    def test_rows_without_a_listed_key_that_take_part_of_a_cap(self):
        """The WHERE that leaves them out is offered where it changes a number, and nowhere else."""
        unit = dp.People("id", max_rows=3)
        capped = dp.Schema("people", unit, COLUMNS)
        sql = "SELECT sex, COUNT(*) AS n FROM people WHERE age > 3 GROUP BY sex"
        offer = "WHERE age > 3 AND (sex IS NOT NULL) leaves them out before the cap"
        assert offer in said(sql, capped, "1")
        assert "leaves them out" not in said(sql, PEOPLE, "1")
        for key, statistic in (("sex", "COUNT(DISTINCT id)"), ("sex IS NULL", "COUNT(*)")):
            text = f"SELECT {key} AS k, {statistic} AS n FROM people GROUP BY k"
            assert "leaves them out" not in said(text, capped, "1")
        totals = "SELECT sex, COUNT(*) AS n FROM people GROUP BY CUBE (sex)"
        why = dp.plan_question(dp.parse_sql(totals, {"people": PEOPLE}), dp.PureDP(1)).why
        assert "null_key= and other=" in why and why.endswith(
            "WHERE sex IS NOT NULL leaves them out"
        )

    def test_the_cap_that_would_lower_the_noise(self):
        """It is named where it is not declared, and where rows are counted by public keys."""
        sql, cap = (
            "SELECT age, COUNT(*) AS n FROM people GROUP BY age",
            "declare max_rows_per_group",
        )
        assert cap in said(sql, self.WIDE, "1/10")
        unit = dp.People("id", max_rows=3, max_rows_per_group=1)
        declared = dp.Schema("people", unit, self.WIDE.columns, size=1000)
        words = said(sql, declared, "1/10")
        assert "off by" in words and cap not in words and "3 rows a person, 1 in each key" in words
        assert cap not in said("SELECT COUNT(*) AS n FROM people", self.WIDE, "1/1000")

    def test_they_stand_in_every_face_of_an_explanation(self):
        store = dp.Memory({"people": [dict.fromkeys(COLUMNS)] * 9})
        curator = dp.Curator(store, [PEOPLE], dp.open_ledger(":memory:", dp.PureDP(3)))
        found = curator.explain("SELECT COUNT(*) AS n FROM people WHERE age > 300", spend=1)
        [warning] = found.warnings
        assert warning == "no row can meet age > 300: the answer is noise around 0"
        assert (
            f"Before paying: {warning}" in str(found)
            and "SELECT" not in str(found).split("Before paying")[1]
        )
        assert "The store is asked" in found.to_text(store=True)
        assert "age &gt; 300: the answer" in found._repr_html_() and found.to_dict()[
            "warnings"
        ] == [warning]
        assert max(map(len, found.to_text(60).splitlines())) <= 60


def test_shares_of_a_total_that_is_used_twice_are_shown_once():
    """CORR(x, x) has three totals, two of them twice: their shares add up to 100 %."""
    schema = dp.Schema("people", dp.Rows(), {"x": dp.Integer(0, 9, default=0)})
    asked = dp.parse_sql("SELECT CORR(x, x) AS c FROM people", {"people": schema})
    rows = dp.plan_question(asked, dp.PureDP(1)).to_dict()["rows"]
    assert sum(row["share"] or 0 for row in rows) == pytest.approx(1)
    assert [row["price"] for row in rows].count("as above") == 3
