"""Who is protected: rows, people, people within a calendar window."""

from __future__ import annotations

import pickle
from datetime import datetime, timedelta

import pytest
from hypothesis import strategies as st

from data.strategies import given
from discreet.data import People, Rows
from discreet.data.unit import PERIODS, read_name, window_start
from discreet.errors import InvalidArgument


class TestUnits:
    def test_say_who_they_protect(self):
        assert str(Rows()) == "one row"
        assert str(People("id", max_rows=1)) == "one person (id), at most 1 row"
        assert (
            str(People("id", max_rows=9, max_groups=2))
            == "one person (id), at most 9 rows in at most 2 groups"
        )
        assert str(People("id", max_rows=9, max_groups=1)).endswith("in at most 1 group")
        assert str(People("id", max_rows=9, max_rows_per_group=2)).endswith(
            "9 rows, 2 in each group"
        )
        assert "within an hour of seen" in str(People("id", max_rows=2, window=("seen", "hour")))

    @pytest.mark.parametrize(
        "unit",
        [
            Rows(),
            People("id", max_rows=3, max_groups=2, window=("seen", "week")),
            People("id", max_rows=3, max_groups=2, max_rows_per_group=2),
        ],
    )
    def test_are_values(self, unit):
        assert pickle.loads(pickle.dumps(unit)) == unit == eval(repr(unit))  # noqa: S307
        assert hash(pickle.loads(pickle.dumps(unit))) == hash(unit)

    def test_a_person_has_no_default_bound(self):
        with pytest.raises(TypeError, match="max_rows"):
            People("id")

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"max_rows": 0}, "max_rows must be a whole number of at least 1, got 0"),
            ({"max_rows": 2.5}, "max_rows must be a whole number"),
            (
                {"max_rows": 2, "max_groups": 3},
                "max_groups must be at most max_rows = 2, got 3; a group takes a row",
            ),
            ({"max_rows": 2, "max_groups": 0}, "max_groups must be a whole number of at least 1"),
            (
                {"max_rows": 2, "max_rows_per_group": 3},
                "max_rows_per_group must be at most max_rows = 2, got 3; raise max_rows, or leave it out",
            ),
            (
                {"max_rows": 2, "max_rows_per_group": 0},
                "max_rows_per_group must be a whole number of",
            ),
            (
                {"max_rows": 2, "window": "month"},
                "a window is a column and a period, got 'month'; write window=",
            ),
            (
                {"max_rows": 2, "window": ("seen", "fortnight")},
                "'fortnight' is no calendar period.*hour, day, week",
            ),
            ({"max_rows": 2, "window": ("", "day")}, "the window's column needs a printable name"),
        ],
    )
    def test_refusals_are_clear(self, options, words):
        with pytest.raises(InvalidArgument, match=words):
            People("id", **options)


class TestRows:
    @pytest.mark.parametrize("cap", ["max_rows", "max_groups", "max_rows_per_group"])
    def test_caps_are_on_people(self, cap):
        with pytest.raises(InvalidArgument, match=f"{cap}: a cap is on the rows of a person"):
            Rows(**{cap: 2})


class TestNames:
    @pytest.mark.parametrize(
        "name", ["age", "Time spent (minutes)", "straße", "income>50K", "x" * 63]
    )
    def test_are_what_files_hold(self, name):
        assert read_name(name, "a column") == name

    @pytest.mark.parametrize(
        "name",
        ["", " age", "age ", 'a"b', "a'b", "a`b", "a\\b", "a\nb", "ß" * 32, None, 3, "\ud800"],
    )
    def test_are_safe_to_quote_everywhere(self, name):
        with pytest.raises(
            InvalidArgument, match="a column needs a printable name of at most 63 bytes"
        ):
            read_name(name, "a column")


class TestWindows:
    """Calendar windows part time: each moment lies in exactly one, and its start lies in the same."""

    @given(st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1)), st.sampled_from(PERIODS))
    def test_the_start_is_the_first_moment_of_its_window(self, time, per):
        start = window_start(time, per)
        assert start <= time
        assert window_start(start, per) == start
        assert window_start(start - timedelta(seconds=1), per) < start
        longest = {
            "hour": 1,
            "day": 24,
            "week": 7 * 24,
            "month": 31 * 24,
            "quarter": 92 * 24,
            "year": 366 * 24,
        }[per]
        assert time - start < timedelta(hours=longest)

    def test_known_starts(self):
        time = datetime(2024, 5, 15, 9, 30, 12)
        starts = [window_start(time, per) for per in PERIODS]
        assert starts == [
            datetime(2024, 5, 15, 9), datetime(2024, 5, 15), datetime(2024, 5, 13), datetime(2024, 5, 1),
            datetime(2024, 4, 1), datetime(2024, 1, 1),
        ]  # fmt: skip
