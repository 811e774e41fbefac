"""One stored value, one reading: total, the same for every way a store may hold it."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import strategies as st

from data.strategies import cells, given
from discreet.data.columns.cell import (
    is_null,
    read_boolean,
    read_date,
    read_key_number,
    read_number,
    read_text,
    read_timestamp,
    round_half_even,
    to_python,
)


class TestReadingIsTotal:
    """No value of any type makes a reader raise: no error may depend on data."""

    @given(cells())
    def test_every_reader_gives_its_type_or_null(self, value):
        assert isinstance(read_number(value), int | float | None)
        assert isinstance(read_key_number(value), int | None)
        assert isinstance(read_text(value), str | None)
        assert isinstance(read_boolean(value), bool | None)
        assert isinstance(read_timestamp(value), datetime | None)
        assert isinstance(read_date(value), date | None)

    @pytest.mark.parametrize(
        "value", [None, float("nan"), Decimal("nan"), Decimal("snan"), np.float32("nan"), [], b"1"]
    )
    def test_what_is_absent_is_null_to_every_reader(self, value):
        assert is_null(value)
        assert [
            read(value)
            for read in (
                read_number,
                read_key_number,
                read_text,
                read_boolean,
                read_timestamp,
                read_date,
            )
        ] == [None] * 6


class TestNumbers:
    @pytest.mark.parametrize(
        ("value", "read"),
        [
            (" 12 ", 12), ("+12", 12), ("-0", 0), ("1.5", 1.5), (".5", 0.5), ("5.", 5.0), ("1e3", 1000.0),
            ("1E-3", 0.001), ("123456789012345678", 123456789012345678), (10**400, 10**400), (True, 1),
            (Decimal("1.25"), 1.25), (np.int64(7), 7), (np.float32(0.5), 0.5), (np.bool_(True), 1),
            (float("inf"), math.inf), (Decimal("1e400"), math.inf),
        ],
    )  # fmt: skip
    def test_are_read(self, value, read):
        assert read_number(value) == read
        assert type(read_number(value)) is type(read)

    @pytest.mark.parametrize(
        "value",
        [
            "",
            "inf",
            "nan",
            "1e100",
            "1_000",
            "0x1",
            "1,5",
            "12a",
            "\t1",
            "1\n",
            "٣",
            "9" * 41,
            "e3",
            ".",
        ],
    )
    def test_other_text_is_null(self, value):
        assert read_number(value) is None

    def test_as_keys_are_whole(self):
        assert [read_key_number(v) for v in (3, 3.0, "3", "3.0", 3.5, math.inf, "x", True)] == [
            3,
            3,
            3,
            3,
            None,
            None,
            None,
            1,
        ]

    def test_an_array_of_one_is_not_a_number(self):
        assert to_python(np.array([1])).shape == (1,)
        assert read_number(np.array([1])) is None


class TestNearest:
    """The nearest whole number; of two, the even one."""

    @given(
        st.fractions()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.integers(-9, 9).map(lambda k: k + 0.5)
    )
    def test_is_the_nearest_whole_number_and_halves_go_to_the_even_one(self, x):
        off = abs(Fraction(x) - round_half_even(x))
        assert off < Fraction(1, 2) or (off == Fraction(1, 2) and round_half_even(x) % 2 == 0)

    @given(
        st.floats(min_value=-(2.0**62), max_value=2.0**62)
        | st.integers(-9, 9).map(lambda k: k + 0.5)
    )
    def test_is_what_ieee_754_says(self, y):
        assert int(np.rint(y)) == round_half_even(y)


class TestTruth:
    @pytest.mark.parametrize(
        "value", [True, 1, 1.0, "true", " T ", "YES", "y", "1", np.bool_(True), Decimal(1)]
    )
    def test_yes(self, value):
        assert read_boolean(value) is True

    @pytest.mark.parametrize("value", [False, 0, 0.0, -0.0, "False", "f", "No", "N", "0"])
    def test_no(self, value):
        assert read_boolean(value) is False

    @pytest.mark.parametrize("value", [2, 0.5, "2", "maybe", "", "on", datetime(2024, 1, 1)])
    def test_neither(self, value):
        assert read_boolean(value) is None


class TestText:
    def test_whole_numbers_and_booleans_have_one_spelling(self):
        assert [read_text(v) for v in ("é ", 12, -3, True, False, np.int8(4))] == [
            "é ",
            "12",
            "-3",
            "true",
            "false",
            "4",
        ]

    @pytest.mark.parametrize("value", [1.5, Decimal(1), date(2024, 1, 1)])
    def test_stores_spell_the_rest_differently_so_it_is_null(self, value):
        assert read_text(value) is None


class TestTimes:
    NOON = datetime(2024, 5, 1, 12, 0, 30)

    @pytest.mark.parametrize(
        "value",
        [
            "2024-05-01T12:00:30", "2024-05-01 12:00:30.999999999", " 2024-05-01 12:00:30Z ", NOON,
            NOON.replace(microsecond=5), NOON.replace(tzinfo=UTC),
            (NOON + timedelta(hours=2)).replace(tzinfo=timezone(timedelta(hours=2))),
            np.datetime64("2024-05-01T12:00:30.5"), np.datetime64("2024-05-01T12:00:30.123456789"),
        ],
    )  # fmt: skip
    def test_are_seconds_of_utc(self, value):
        assert read_timestamp(value) == self.NOON
        assert read_date(value) == date(2024, 5, 1)

    def test_a_day_is_its_first_second(self):
        assert (
            read_timestamp(date(2024, 5, 1)) == read_timestamp("2024-05-01") == datetime(2024, 5, 1)
        )
        assert read_timestamp("2024-05-01 12:30") == datetime(2024, 5, 1, 12, 30)

    @pytest.mark.parametrize(
        "value",
        [
            "2023-02-30", "0000-01-01", "2024-05-01T24:00:00", "2024-05-01T12:00:60", "2024-05-01T12:00:30+02:00",
            "1 May 2024", "9:27AM", "20240501", 1714564830, np.datetime64("NaT"),
            datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=5))),
        ],
    )  # fmt: skip
    def test_others_are_null(self, value):
        assert read_timestamp(value) is None
