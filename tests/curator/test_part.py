"""A question is charged to one part only if no unit can be in two."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

import pytest

import discreet as dp
from discreet.answer import answer_question
from discreet.curator.charged_part import part_of
from discreet.query import col, count
from discreet.query.algebra.expression import Call, Constant, Field, Function
from discreet.query.algebra.statistic import Count
from discreet.query.algebra.tree import Finish, JoinPeople, PerPerson, Question, Scan, Total, Where

COLUMNS = {
    "age": dp.Integer(0, 120),
    "month": dp.Category(["jan", "feb", "mar"]),
    "code": dp.Category([1, 2]),
    "yes": dp.Boolean(),
    "day": dp.Date("2024-01-01", "2024-12-31"),
    "at": dp.Timestamp("2024-01-01T00:00:00", "2024-12-31T23:59:59"),
}
ROWS = {
    "people": dp.Schema("people", dp.Rows(), COLUMNS),
    "others": dp.Schema("others", dp.Rows(), COLUMNS),
}
WARDS = dp.Schema.public_table(
    "wards", {"code": dp.Category([1, 2]), "city": dp.Category(["O", "R"])}, key="code"
)
MONTHS = dp.Parts("people", "month", ["jan", "feb"])
DAYS = dp.Parts("people", "day", ["2024-01-02", "2024-01-03"])


def asked(where, parts=MONTHS, schemas=None, source="people"):
    tables = {**(schemas or ROWS), "wards": WARDS}
    return part_of(dp.parse_sql(f"SELECT COUNT(*) AS n FROM {source} {where}", tables), parts)


class TestRows:
    @pytest.mark.parametrize(
        ("where", "part"),
        [
            ("WHERE month = 'jan'", "jan"),
            ("WHERE 'feb' = Month", "feb"),
            ("WHERE age > 3 AND (month = 'jan' AND yes)", "jan"),
            ("WHERE month IN ('feb')", "feb"),
            ("WHERE month = 'mar'", None),
            ("WHERE month IN ('jan', 'feb')", None),
            ("WHERE month = 'jan' OR age > 3", None),
            ("WHERE NOT month = 'jan'", None),
            ("WHERE month <> 'jan'", None),
            ("WHERE LOWER(month) = 'jan'", None),
            ("", None),
        ],
    )
    def test_are_in_the_part_that_where_pins(self, where, part):
        assert asked(where) == part

    def test_a_ledger_without_parts_has_none(self):
        assert asked("WHERE month = 'jan'", None) is None

    def test_conditions_may_stand_in_several_steps(self):
        table = dp.Table(ROWS["people"]).where(col("month") == "jan").where(col("age") > 3)
        assert part_of(table.aggregate(n=count()), MONTHS) == "jan"

    @pytest.mark.parametrize(
        ("source", "part"),
        [
            ("(SELECT age FROM people WHERE month = 'jan') WHERE age > 3", "jan"),
            ("(SELECT month AS m, 'jan' AS month FROM people) WHERE month = 'jan'", None),
            (
                "(SELECT age FROM people WHERE month = 'jan' UNION ALL SELECT age FROM people WHERE month = 'jan')",
                "jan",
            ),
            (
                "(SELECT age FROM people WHERE month = 'jan' UNION ALL SELECT age FROM people WHERE month = 'feb')",
                None,
            ),
            (
                "(SELECT age FROM people WHERE month = 'jan' UNION ALL SELECT age FROM others WHERE month = 'jan')",
                None,
            ),
            ("(SELECT age FROM people WHERE month = 'jan' UNION ALL SELECT age FROM people)", None),
            ("others WHERE month = 'jan'", None),
            ("people JOIN wards ON people.code = wards.code WHERE month = 'jan'", None),
        ],
    )
    def test_of_whatever_is_read_every_table_is_pinned(self, source, part):
        assert asked("", source=source) == part

    def test_numbers_truths_and_days_are_compared_as_such(self):
        assert asked("WHERE code = 1", dp.Parts("people", "code", [1, 2])) == 1
        assert asked("WHERE yes = TRUE", dp.Parts("people", "yes", [True, False])) is True
        assert asked("WHERE day = DATE '2024-01-03'", DAYS) == "2024-01-03"
        assert asked("WHERE day = DATE '2024-01-04'", DAYS) is None
        moments = dp.Parts("people", "at", ["2024-01-02 00:00:00"])
        assert asked("WHERE at = TIMESTAMP '2024-01-02 00:00:00'", moments) == "2024-01-02 00:00:00"


class TestPeople:
    def of(self, unit, where="WHERE day = DATE '2024-01-03'", parts=DAYS):
        return asked(where, parts, {"people": dp.Schema("people", unit, COLUMNS)})

    def test_are_in_all_parts(self):
        assert self.of(dp.People("id", max_rows=3)) is None

    def test_within_a_day_are_in_the_part_of_that_day(self):
        assert self.of(dp.People("id", max_rows=3, window=("day", "day"))) == "2024-01-03"

    def test_within_a_longer_window_or_another_column_are_in_all_parts(self):
        assert self.of(dp.People("id", max_rows=3, window=("day", "month"))) is None
        assert self.of(dp.People("id", max_rows=3, window=("at", "day"))) is None
        months = self.of(
            dp.People("id", max_rows=3, window=("day", "day")), "WHERE month = 'jan'", MONTHS
        )
        assert months is None

    def test_joined_or_summed_up_stay_in_their_part(self):
        schema = dp.Schema("people", dp.People("id", max_rows=3, window=("day", "day")), COLUMNS)
        on_day = Call(Function.EQUAL, (Field("day"), Constant(19725, "day")))
        pinned, every = Where(Scan(schema), on_day), Scan(schema)
        sums = PerPerson(pinned, (), (("k", Total("count", None, Fraction(1), 0, 3)),))
        names = ((("k", Count()),), Finish((("k", Field("k")),)))
        assert part_of(Question(sums, (), *names), DAYS) == "2024-01-03"
        assert part_of(Question(JoinPeople(pinned, sums), (), *names), DAYS) == "2024-01-03"
        assert part_of(Question(JoinPeople(every, sums), (), *names), DAYS) is None


def test_a_row_in_memory_is_in_one_part_at_most():
    """The claim behind it all: over all values that a cell can hold, WHERE column = part holds for at most one part."""
    store = dp.Memory(
        {
            "people": [
                {"month": v, "day": v, "code": v}
                for v in ["jan", "JAN", None, 1, "1", date(1999, 1, 1), 3.0, True]
            ]
        }
    )
    for parts in (
        MONTHS,
        dp.Parts("people", "code", [1, 2]),
        dp.Parts("people", "day", ["2024-01-01", "2024-01-02"]),
    ):
        questions = [
            dp.Table(ROWS["people"]).where(
                col(parts.column) == (date.fromisoformat(v) if parts.column == "day" else v)
            )
            for v in parts.values
        ]
        counts = [
            answer_question(table.aggregate(n=count()), store, dp.PureDP(10**4)).column("n")[0]
            for table in questions
        ]
        assert (
            all(part_of(t.aggregate(n=count()), parts) is not None for t in questions)
            and sum(counts) <= 8
        )
