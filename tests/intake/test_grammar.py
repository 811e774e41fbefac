"""The grammar of CSV against Python's own reader, and against every way of cutting a file into blocks."""

from __future__ import annotations

import csv
import io
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.intake.grammar import check_grammar

CELLS = st.text(st.sampled_from('ab,;"\n\r é\t'), max_size=6)


def written(rows, delimiter=",", line_end="\n") -> bytes:
    """Write rows as a careful program would: everything that needs quotes has them."""
    special = {delimiter, '"', "\n", "\r"}
    lines = [
        delimiter.join(
            '"' + cell.replace('"', '""') + '"' if special & set(cell) else cell for cell in row
        )
        for row in rows
    ]
    return line_end.join([*lines, ""]).encode()


def cut(data: bytes, places) -> list[bytes]:
    edges = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[a:b] for a, b in pairwise(edges)]


class TestWellFormedFilesAreReadAsWritten:
    """Whatever the cells hold, a file that quotes what needs quoting has exactly its records, however it is cut."""

    @given(
        st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=12),
        st.lists(st.integers(0, 500), max_size=6),
        st.sampled_from(["\n", "\r\n"]),
        st.sampled_from([",", ";"]),
    )
    def test_counts(self, rows, places, line_end, delimiter):
        data = written([("x", "y"), *rows], delimiter, line_end)
        found = check_grammar(cut(data, places), delimiter)
        assert (found.count, found.fields) == (len(rows), 2)
        assert (found.lf, found.crlf) == (line_end == "\n", line_end == "\r\n")
        assert found.quoted_ends == any(set("\r\n") & set(cell) for row in rows for cell in row)

    @given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=12))
    def test_the_longest_record(self, rows):
        data = written([("x", "y"), *rows])
        each = [len(written([row])) for row in [("x", "y"), *rows]]
        assert check_grammar([data]).longest == max(each)


class TestWhatIsAcceptedMeansOneThing:
    """Of any bytes, what the grammar accepts has the records and fields that Python's strict reader finds."""

    @given(
        st.lists(st.sampled_from(["a", "b", ",", '"', "\n", "\r\n", "\r", "é"]), max_size=25).map(
            "".join
        )
    )
    def test_agrees_with_the_slow_reader(self, text):
        try:
            found = check_grammar([("h,i\n" + text).encode()])
        except InvalidArgument:
            return
        rows = list(csv.reader(io.StringIO("h,i\n" + text, newline=""), strict=True))
        assert found.count == len(rows) - 1
        assert {len(row) for row in rows} == {2}

    @given(
        st.lists(st.sampled_from(["a", ",", '"', "\n", "\r", "\x00", "é"]), max_size=25).map(
            "".join
        ),
        st.lists(st.integers(0, 60), max_size=5),
    )
    def test_how_it_is_cut_changes_nothing(self, text, places):
        data = b"h,i\n" + text.encode()

        def outcome(blocks):
            try:
                return check_grammar(blocks)
            except InvalidArgument as refusal:
                return str(refusal)

        whole = outcome([data])
        pieces = outcome(cut(data, places))
        assert isinstance(pieces, str) == isinstance(whole, str)
        assert isinstance(whole, str) or pieces == whole


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b'a,b\n1,2\n3,"x\n4,5\n', "record 2 opens a quote that is never closed"),
        (b'a,b\n1,2\n3,x"y\n4,5\n', "record 2 has a quote inside a field"),
        (b'a,b\n1,"x"y\n', "record 1 has text after a closing quote"),
        (b"a,b\n1,2\n3\n", "record 2 has 1 fields, the header has 2"),
        (b"a,b\n1,2,3\n", "record 1 has 3 fields"),
        (b"a,b\n1,2\n\n3,4\n", "record 2 has 1 fields"),
        (b"a,b\n1,2\n3,4,5", "record 2 has 3 fields"),
        (b"a,b\n1,x\ry\n", "record 1 has a carriage return"),
        (b"a,b\n1,2\r", "record 1 has a carriage return"),
        (b"a,b\n1,\xff\n", "record 1 is not UTF-8 text"),
        (b"a,b\n1,\x00\n", "record 1 holds a NUL"),
        (b'"a,b\n1,2\n', "the header opens a quote"),
        (b"", "the file is empty"),
    ],
)
def test_what_is_wrong_is_named_with_its_record(data, words):
    with pytest.raises(InvalidArgument, match=words):
        check_grammar([data])


def test_an_unfinished_character_at_the_end_is_no_text():
    with pytest.raises(InvalidArgument, match="UTF-8"):
        check_grammar([b"a,b\n1,\xc3"])
