"""LIKE without going back."""

from __future__ import annotations

import re

from hypothesis import example, given, settings
from hypothesis import strategies as st

from discreet.query.meaning.like import like_regex, wildcards
from support.profile import examples


def means(text: str, pattern: str) -> bool:
    """Whether each letter of the text can be given to a letter of the pattern, by all ways at once."""
    reached = {0}
    for letter in pattern:
        if letter == "%":
            reached = set(range(min(reached), len(text) + 1)) if reached else set()
        else:
            reached = {
                place + 1 for place in reached if place < len(text) and letter in ("_", text[place])
            }
    return len(text) in reached


class TestTakingEachPieceWhereItFirstFits:
    """Between the first and the last piece, the leftmost place of each piece in turn leaves the most room for the rest:
    if any places fit, these do.
    """

    @settings(max_examples=examples(400))
    @given(st.text("ab\n", max_size=9), st.text("ab\n%_", max_size=9))
    @example("aab", "%a_%")
    @example("", "%%")
    def test_is_what_like_means(self, text, pattern):
        found = re.fullmatch(like_regex(pattern, re.escape), text, flags=re.DOTALL)
        assert (found is not None) == means(text, pattern)

    def test_a_row_that_nearly_fits_everywhere(self):
        """A regular expression that goes back would try 10^20 ways."""
        pattern = like_regex("%a" * 12 + "%c", re.escape)
        assert re.fullmatch(pattern, "a" * 200, flags=re.DOTALL) is None

    def test_letters_that_mean_something_else(self):
        for letter in "\\.*+?()[]{}|^$":
            assert re.fullmatch(
                like_regex(f"%{letter}_", re.escape), f"xy{letter}z", flags=re.DOTALL
            )
            assert not re.fullmatch(like_regex(letter, re.escape), "x")
        assert wildcards("%__a_") == 3
