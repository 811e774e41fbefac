"""Tables, markup, bars and pictures: what every room shows itself with."""

from __future__ import annotations

from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.show.bar import error_bar, fraction_bar
from discreet.show.markup import Html, element, join, picture, text
from discreet.show.table import html_pairs, html_table, text_table, truncate

WORDS = st.text(
    st.characters(categories=["L", "N", "P", "S"], include_characters=" <>&\"'"), max_size=12
)
PRINTED = WORDS.map(str.strip)
SHARES = st.floats(0, 1)


class Reader(HTMLParser):
    """Reads the words and the attributes of a page, as a browser would."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.tags: list[str] = []
        self.values: list[str | None] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.values += [value for _, value in attrs]
        self.words += [""] * (tag in {"td", "th", "p"})

    def handle_data(self, data):
        self.words[-1] += data


class TestMarkup:
    """What is written is read back as it was, whatever characters it has: no word can become an element."""

    @given(WORDS, WORDS)
    def test_words_and_attributes_come_back(self, words, value):
        seen = Reader(element("p", words, title=value))
        assert (seen.tags, seen.words, seen.values) == (["p"], [words], [value])

    @given(st.lists(st.lists(WORDS, min_size=2, max_size=2), min_size=1, max_size=4))
    def test_cells_come_back(self, rows):
        assert Reader(html_table(rows[0], rows[1:])).words == [word for row in rows for word in row]
        assert Reader(html_pairs(map(tuple, rows))).words == [word for row in rows for word in row]

    def test_markup_is_escaped_once_and_what_is_cut_from_it_again(self):
        inner = element("b", "<")
        assert element("p", inner) == "<p><b>&lt;</b></p>"
        assert join([inner[:3]]) == "&lt;b&gt;"
        assert html_table(["n"], [[join(["3", inner])]], foot="<").count("&lt;") == 2

    def test_templates_leave_it_as_it_is(self):
        jinja = pytest.importorskip("jinja2")
        page = jinja.Environment(autoescape=True).from_string(
            "{% if shown %}{{ shown }}{% endif %}{{ plain }}"
        )
        assert page.render(shown=element("b", "<"), plain="<") == "<b>&lt;</b>&lt;"
        assert page.render(shown=Html(""), plain="") == ""

    @given(WORDS)
    def test_pictures_are_well_formed(self, words):
        drawn = picture(words, [text(1, 2, words)], (10, 10), class_=words)
        tree = ET.fromstring(drawn)  # noqa: S314 - our own text
        assert [part.text or "" for part in tree] == [words, words]
        assert tree.get("class") == words


class TestTables:
    """Columns start below each other, and every word is there."""

    @given(st.lists(st.tuples(PRINTED, PRINTED, PRINTED), min_size=1, max_size=5))
    def test_columns_are_aligned(self, rows):
        lines = text_table(rows, indent="  ").split("\n")
        starts = [2]
        for column in list(zip(*rows, strict=True))[:-1]:
            starts.append(starts[-1] + max(map(len, column)) + 2)
        for line, row in zip(lines, rows, strict=True):
            assert all(
                line[start:].startswith(word) for start, word in zip(starts, row, strict=True)
            )
            assert line == line.rstrip()

    @given(WORDS, st.integers(1, 20))
    def test_what_is_cut_fits(self, words, most):
        assert len(truncate(words, most)) <= most
        assert (truncate(words, most) == words) == (len(words) <= most)

    def test_rows_are_of_one_length(self):
        with pytest.raises(ValueError, match="zip"):
            text_table([("a", "b"), ("c",)])


class TestBars:
    @given(SHARES, SHARES)
    def test_more_is_never_shown_as_less(self, one, other):
        """Nothing is empty, all is full, and only they are."""
        less, more = sorted((one, other))
        assert fraction_bar(less).count("█") <= fraction_bar(more).count("█")
        assert (fraction_bar(one).count("█") == 0) == (one == 0)
        assert (fraction_bar(one).count("░") == 0) == (one == 1)

    @given(st.lists(st.floats(-1e6, 1e6), min_size=5, max_size=5), st.integers(2, 60))
    @example([0.0, 0.0, 0.0, 0.0, 2.225073858507203e-309], 2)
    def test_an_interval_stays_in_its_frame(self, numbers, width):
        start, low, value, high, end = sorted(numbers)
        drawn = error_bar((low, high), value, (start, end), width)
        assert len(drawn) == width
        assert drawn.count("●") == 1
        assert drawn.strip(" ").strip("├─●┤") == ""
