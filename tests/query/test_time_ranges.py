"""Time ranges: whatever a question counts lies in the range that its SQL states."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.data.blocks import SECONDS_PER_DAY, day_number
from discreet.query.bounds.relation_facts import columns_of
from discreet.query.bounds.time_ranges import time_ranges
from discreet.query.meaning.evaluate import meaning_of
from support.profile import examples

LOW, HIGH = date(2020, 1, 1), date(2049, 12, 31)
VISITS = dp.Schema(
    "visits",
    dp.People("uid", max_rows=3),
    {
        "day": dp.Date(LOW, HIGH),
        "at": dp.Timestamp("2020-01-01T00:00:00", "2049-12-31T23:59:59"),
        "region": dp.Category(["N", "S"]),
    },
)
USERS = dp.Schema("users", dp.People("uid", max_rows=1), {"old": dp.Boolean()})
REGIONS = dp.Schema.public_table(
    "regions", {"region": dp.Category(["N", "S"]), "opened": dp.Date(LOW, HIGH)}, key="region"
)
TABLES = {schema.name: schema for schema in (VISITS, USERS, REGIONS)}


def ranges(sql, column="day"):
    asked = dp.parse_sql(sql, TABLES)
    found = time_ranges(asked.rows, lambda schema: column if schema.name == "visits" else None)
    return [each.days for each in found]


def days(*written):
    ends = []
    for end, other in zip(written, (-inf, inf), strict=True):
        ends.append(other if end is None else day_number(date.fromisoformat(end)))
    return tuple(ends)


WHERE = "SELECT COUNT(*) AS n FROM visits WHERE "
SERVED = {
    "day = DATE '2027-01-05'": ("2027-01-05", "2027-01-05"),
    "DATE '2027-01-05' = day": ("2027-01-05", "2027-01-05"),
    "day IN (DATE '2027-01-05', DATE '2027-03-01')": ("2027-01-05", "2027-03-01"),
    "day BETWEEN DATE '2027-01-05' AND DATE '2027-02-01'": ("2027-01-05", "2027-02-01"),
    "day > DATE '2027-01-05' AND region = 'N' AND day < DATE '2027-01-08'": (
        "2027-01-06",
        "2027-01-07",
    ),
    "NOT (day < DATE '2027-01-05') AND NOT (day >= DATE '2027-01-08')": (
        "2027-01-05",
        "2027-01-07",
    ),
    "day >= '2027-01-05'": ("2027-01-05", None),
    "day <= '2027-01-05'": (None, "2027-01-05"),
    "EXTRACT(YEAR FROM day) = 2027": ("2027-01-01", "2027-12-31"),
    "date_trunc('week', day) = DATE '2027-01-04'": ("2027-01-04", "2027-01-10"),
    "day >= DATE '2027-01-05' AND day < DATE '2027-01-05' + INTERVAL '7' DAY": (
        "2027-01-05",
        "2027-01-11",
    ),
}
"""Conditions and the days that they leave."""
OPEN_CONDITIONS = [
    "region = 'N'",
    "day = DATE '2027-01-05' OR region = 'N'",
    "EXTRACT(MONTH FROM day) = 1",
    "day <> DATE '2027-01-05'",
    "day IS NOT NULL",
    "day >= DATE '2020-01-01' AND day <= DATE '2049-12-31'",
    # No week begins on a Tuesday: a week before this one and the week of this one both count.
    "date_trunc('week', day) < DATE '2027-01-05'",
    "date_trunc('week', day) = DATE '2027-01-05'",
]


class TestEveryCountedRowIsInTheRange:
    """Conditions narrow the range only to times that they let through, and never cut one off."""

    @pytest.mark.parametrize("condition", SERVED)
    def test_served(self, condition):
        assert ranges(WHERE + condition) == [days(*SERVED[condition])]

    @pytest.mark.parametrize("condition", OPEN_CONDITIONS)
    def test_open(self, condition):
        assert ranges(WHERE + condition) == [(-inf, inf)]

    @pytest.mark.parametrize(
        ("condition", "want"),
        [
            ("at >= '2027-01-05 23:00:00' AND at < '2027-01-07'", ("2027-01-05", "2027-01-06")),
            ("CAST(at AS DATE) = DATE '2027-01-05'", ("2027-01-05", "2027-01-05")),
            ("CAST(at AS DATE) > DATE '2027-01-05'", ("2027-01-06", None)),
            ("EXTRACT(YEAR FROM at) <= 2027", (None, "2027-12-31")),
        ],
    )
    def test_times_of_utc(self, condition, want):
        assert ranges(WHERE + condition, "at") == [days(*want)]

    def test_tables(self):
        """A range is stated for each private table that is read, through joins, views and unions."""
        inside = "day BETWEEN DATE '2027-01-05' AND DATE '2027-01-06'"
        week = days("2027-01-05", "2027-01-06")
        joined = "SELECT COUNT(*) AS n FROM visits v JOIN regions r ON v.region = r.region WHERE "
        assert ranges(joined + f"v.{inside}") == [week]
        assert ranges(joined + "r.opened = DATE '2027-01-05'") == [(-inf, inf)]
        people = "SELECT COUNT(*) AS n FROM visits v JOIN users u ON v.uid = u.uid WHERE "
        assert sorted(ranges(people + f"v.{inside}")) == sorted([week, (-inf, inf)])
        renamed = (
            "SELECT COUNT(*) AS n FROM (SELECT day AS d FROM visits) WHERE d = DATE '2027-01-05'"
        )
        assert ranges(renamed) == [days("2027-01-05", "2027-01-05")]
        swapped = "SELECT COUNT(*) AS n FROM (SELECT CAST(at AS DATE) AS day FROM visits) WHERE "
        assert ranges(swapped + inside) == [(-inf, inf)]
        person = (
            "SELECT COUNT(*) AS n FROM (SELECT uid, day, COUNT(*) AS c FROM visits GROUP BY uid, day)"
            f" WHERE {inside}"
        )
        assert ranges(person) == [week]

    @given(
        st.lists(
            st.tuples(
                st.sampled_from(["day", "CAST(at AS DATE)", "date_trunc('month', day)"]),
                st.sampled_from(["=", "<", "<=", ">", ">=", "<>"]),
                st.sampled_from([date(2027, 1, 1) + timedelta(days=n) for n in (-31, 0, 3, 40)]),
                st.sampled_from(["{}", "NOT ({})", "({}) OR region = 'S'"]),
            ),
            min_size=1,
            max_size=3,
        ),
        st.sampled_from([date(2026, 11, 1) + timedelta(days=n) for n in range(0, 150, 3)]),
    )
    @settings(max_examples=examples(400), deadline=None)
    def test_a_row_that_counts_is_in_the_range(self, tests, day):
        """A row is evaluated by the reference meaning; its day must be in the range."""
        conditions = [form.format(f"{x} {sign} DATE '{c}'") for x, sign, c, form in tests]
        asked = dp.parse_sql(WHERE + " AND ".join(conditions), TABLES)
        holds = meaning_of(asked.rows.condition, columns_of(asked.rows.rows))
        midnight = int(
            (datetime.combine(day, datetime.min.time()) - datetime(1970, 1, 1)).total_seconds()
        )
        for second in (midnight, midnight + SECONDS_PER_DAY - 1):
            row = {"day": day_number(day), "at": second, "region": "N"}
            if holds(row) is not True:
                continue
            for column in ("day", "at"):
                [each] = time_ranges(asked.rows, lambda _, column=column: column)
                first, last = each.days
                assert first <= day_number(day) <= last

    def test_a_column_that_is_no_time(self):
        with pytest.raises(dp.SchemaMismatch, match="visits.region is no column of time"):
            ranges(WHERE + "region = 'N'", "region")
