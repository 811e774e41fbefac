"""Numbers beside their errors: short, and never shown as nearer than they are."""

from __future__ import annotations

import math
import re
from decimal import Decimal

from hypothesis import example, given, settings
from hypothesis import strategies as st

from discreet.show.number import Digits, number_text, plain_number
from discreet.show.spreadsheet import safe_csv
from discreet.show.table import fitted_table
from support.profile import examples

SIZES = st.floats(-1e12, 1e12).filter(lambda x: abs(x) > 1e-9 or x == 0)
WIDTHS = st.floats(1e-6, 1e12)


def read(words: str) -> Decimal:
    return Decimal(words.replace(",", ""))


def shown_ends(words) -> tuple[Decimal, Decimal]:
    if words.error.startswith("±"):
        reach = read(words.error[2:])
        return read(words.value) - reach, read(words.value) + reach
    low, high = words.error.strip("()").split(" to ")
    return read(low), read(high)


class TestShownNumbers:
    """What is shown around a number holds all of its interval, and is at most a fifth wider on either side."""

    @given(SIZES, WIDTHS, WIDTHS)
    @example(99999999999.5, 1.0, 1.0)
    @settings(max_examples=examples(400))
    def test_an_interval_is_never_flattered(self, value, below, above):
        low, high = value - below, value + above
        least, most = shown_ends(number_text(value, low, high))
        trifle = Decimal(max(abs(low), abs(high))) * Decimal("1e-11")
        assert least <= Decimal(low) + trifle and Decimal(high) - trifle <= most
        # Of twelve digits the number is rounded by half of the last one and its reach by a whole one.
        slack = Decimal("0.16") * (Decimal(high) - Decimal(low)) + 2 * trifle
        assert Decimal(low) - least <= slack and most - Decimal(high) <= slack

    @given(SIZES, WIDTHS)
    @settings(max_examples=examples(200))
    def test_counts_are_whole_and_exact_numbers_keep_every_digit(self, value, error):
        counted = number_text(value, value - error, value + error, Digits.WHOLE)
        assert "." not in counted.value + counted.error
        assert float(read(plain_number(value))) == value

    @given(SIZES, WIDTHS, WIDTHS, st.sampled_from([*Digits]))
    @example(327461.7329588801, 22900.0, 22900.0, Digits.ERROR)
    @example(1234.567, 34.5, math.inf, Digits.ERROR)
    @settings(max_examples=examples(200))
    def test_no_digit_is_finer_than_the_second_of_the_error(self, value, below, above, digits):
        low, high = value - below, value + above
        error = (high - low) / 2 if math.isfinite(above) else value - low
        finest = Decimal(10) ** (Decimal(error).adjusted() - 1)
        words = number_text(value, low, high, digits)
        numbers = [words.value, *re.findall(r"[\d][\d.,e+-]*", words.error)]
        assert error == 0 or all(read(number) % finest == 0 for number in numbers)

    def test_the_numbers_of_the_complaint(self):
        assert (
            str(number_text(3.06212e7, 3.06212e7 - 59.9146, 3.06212e7 + 59.9146))
            == "30,621,200 ± 60"
        )
        assert (
            str(number_text(50826.5, 50826.5 - 59.9146, 50826.5 + 59.9146, Digits.WHOLE))
            == "50,826 ± 61"
        )
        assert str(number_text(327461.7329588801, 304561.7, 350361.7)) == "327,000 ± 24,000"
        assert str(number_text(44.0, 42.0, 47.0)) == "44 (42 to 47)"
        assert str(number_text(0.0, -float("inf"), 5.0)) == "0 (no bound to 5)"
        assert str(number_text(7.5, 7.5, 7.5)) == "7.5 ± 0"


def test_a_wide_table_goes_on_below_itself_and_loses_nothing():
    rows = [
        ["region", *(f"c{k}" for k in range(9))],
        ["north", *(f"{k},000 ± {k}" for k in range(9))],
    ]
    text = fitted_table(rows, 40)
    assert max(map(len, text.splitlines())) <= 40
    assert text.count("region") == len(text.split("\n\n")) > 1
    assert all(word in text for row in rows for word in row)


def test_no_cell_of_a_csv_is_a_formula():
    lines = safe_csv([["=k", "n"], ["@x", -3.5], ["+1", None], ["plain", "-2"]]).splitlines()
    assert lines == ["'=k,n", "'@x,-3.5", "'+1,", "plain,'-2"]
