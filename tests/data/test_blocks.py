"""Blocks of time and retention: numbers in order, whole days, intervals that read back."""

from __future__ import annotations

from datetime import date, timedelta
from math import inf
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.data.blocks import BlockPeriod, block_number, day_number, first_day
from discreet.data.retention import Retention
from support.profile import examples

PERIODS = get_args(BlockPeriod)
DAYS = st.dates(date(1900, 1, 1), date(2200, 12, 31))
ONE_DAY = timedelta(days=1)


def start_of(day, per):
    """Go back day by day to the first day of a period, by its definition."""
    begins = {
        "day": lambda _: True,
        "week": lambda d: d.isoweekday() == 1,
        "month": lambda d: d.day == 1,
        "quarter": lambda d: d.day == 1 and d.month in (1, 4, 7, 10),
        "year": lambda d: (d.month, d.day) == (1, 1),
    }[per]
    while not begins(day):
        day -= ONE_DAY
    return day


class TestBlocksOfTime:
    """Every day is in one block; blocks in a row have numbers in a row; labels read back."""

    @given(DAYS, st.sampled_from(PERIODS))
    @settings(max_examples=examples(300))
    def test_a_day_is_in_the_block_that_begins_at_its_start(self, day, per):
        number = block_number(day_number(day), per)
        begin = start_of(day, per)
        assert first_day(number, per) == begin
        assert block_number(day_number(begin - ONE_DAY), per) == number - 1

    @given(DAYS, DAYS, st.sampled_from(PERIODS), st.sampled_from([0, 1, 2, 3]))
    @settings(max_examples=examples(200))
    def test_an_interval_reads_back(self, one, two, per, ends):
        blocks = dp.Blocks("visits", "day", per, stays=3)
        first, last = sorted([one, two])
        begin = str(first) if ends & 1 else None
        end = str(last) if ends & 2 else None
        label = blocks.around(begin, end)
        if not ends:
            assert label is None
            return
        low, high = blocks.read(label)
        assert blocks.label((low, high)) == label
        assert (low == -inf) == (begin is None) and (high == inf) == (end is None)
        assert begin is None or low == blocks.number(day_number(first))

    def test_the_last_block_of_the_calendar_is_open(self):
        months = dp.Blocks("visits", "day", "month", most=2)
        assert months.around("9999-12-01", "9999-12-31") == "9999-12-01/.."

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            ({"per": "fortnight", "stays": 1}, "the period of blocks must be"),
            ({"per": "week"}, "blocks need one limit"),
            ({"per": "week", "stays": 2, "most": 2}, "blocks need one limit"),
            ({"per": "week", "stays": 0}, "stays must be a whole number from 1"),
            ({"per": "week", "most": 1.5}, "most must be a whole number from 1"),
            ({"per": "week", "most": 10**6}, "most must be a whole number from 1 to 100000"),
            ({"per": "week", "stays": 2, "table": ""}, "the table of the blocks needs"),
            ({"per": "week", "stays": 2, "column": 'da"y'}, "the column of the blocks needs"),
        ],
    )
    def test_refusals(self, given, words):
        with pytest.raises(dp.InvalidArgument, match=words):
            dp.Blocks(**{"table": "visits", "column": "day", **given})

    @pytest.mark.parametrize(
        "part",
        [
            "2027-01-05/2027-01-31",
            "2027-01-04",
            "2027-01-04/2027-01-30",
            "../..",
            "x/y",
            7,
            True,
            "2027-01-11/2027-01-10",
            "9999-99-99/..",
            "2027-01-04/2027-01-31/..",
            "",
        ],
    )
    def test_other_intervals_are_refused_with_one_that_works(self, part):
        weeks = dp.Blocks("visits", "day", "week", stays=26)
        with pytest.raises(dp.InvalidArgument, match="such as 2027-01-04/2027-01-10"):
            weeks.read(part)

    def test_days_that_are_none(self):
        weeks = dp.Blocks("visits", "day", "week", stays=26)
        with pytest.raises(dp.InvalidArgument, match="a day is written such as"):
            weeks.around("yesterday")
        with pytest.raises(dp.InvalidArgument, match="must not be after the last"):
            weeks.around("2027-02-01", "2027-01-01")

    @given(st.lists(st.integers(-50, 50), min_size=1), st.integers(1, 9))
    @settings(max_examples=examples(100))
    def test_a_person_counts_in_the_first_blocks(self, numbers, limit):
        stays = dp.Blocks("visits", "day", "week", stays=limit)
        most = dp.Blocks("visits", "day", "week", most=limit)
        assert stays.last_counted(numbers) == min(numbers) + limit - 1
        counted = {n for n in numbers if n <= most.last_counted(numbers)}
        assert len(counted) == min(limit, len(set(numbers)))


class TestRetention:
    """The first kept day follows from the date, moves with the calendar and never goes back."""

    @given(DAYS, st.integers(1, 40), st.sampled_from(PERIODS))
    @settings(max_examples=examples(200))
    def test_so_many_whole_periods_and_the_present_one(self, today, count, per):
        keeps = Retention("day", count, per, seconds=False)
        kept = keeps.first_day(today)
        back = today
        for _ in range(count):
            back = start_of(start_of(back, per) - ONE_DAY, per)
        assert kept == back
        assert keeps.first_day(today + ONE_DAY) >= kept

    def test_it_is_stored_with_the_schema(self):
        visits = dp.Schema(
            "visits",
            dp.Rows(),
            {"at": dp.Timestamp("2020-01-01T00:00:00", "2030-12-31T23:59:59")},
            keeps=("at", "2 years"),
        )
        assert dp.Schema.from_dict(visits.to_dict()) == visits
        assert "keeps 2 years of at" in str(visits)
        assert "keeps" not in dp.Schema("v", dp.Rows(), visits.columns).to_dict()

    @pytest.mark.parametrize(
        ("keeps", "words"),
        [
            ("24 months", "keeps is a column and a length"),
            (("day", 24), "keeps is a column and a length"),
            (("day", "some time"), "is no number of days"),
            (("day", "0 months"), "is no number of days"),
            (("region", "24 months"), "there is day"),
            (("nothing", "24 months"), "there is day"),
        ],
    )
    def test_refusals(self, keeps, words):
        columns = {"day": dp.Date("2020-01-01", "2030-12-31"), "region": dp.Boolean()}
        with pytest.raises(dp.InvalidArgument, match=words):
            dp.Schema("visits", dp.Rows(), columns, keeps=keeps)

    def test_a_public_table_keeps_all(self):
        with pytest.raises(dp.InvalidArgument, match="a public table keeps all its rows"):
            dp.Schema(
                "p", None, {"day": dp.Date("2020-01-01", "2030-12-31")}, public=True,
                keeps=("day", "1 years"),
            )  # fmt: skip
