"""A CSV file as it lies on a disk: its header, its delimiter, what surrounds its bytes."""

from __future__ import annotations

import gzip

import pytest

from discreet.data import Integer, Rows, Schema
from discreet.engines import DuckDB
from discreet.errors import InvalidArgument
from discreet.intake.csv_file import open_csv


@pytest.mark.parametrize(
    ("data", "delimiter", "header"),
    [
        (b"a,b\n1,2\n", ",", ("a", "b")),
        (b"a;b\n1;2\n", ";", ("a", "b")),
        (b'"a,b,c";d\n1;2\n', ";", ("a,b,c", "d")),
        (b'x;"y\r\nz"\n1;2\n', ";", ("x", "y\r\nz")),
        (b'\xef\xbb\xbf"a",b\n1,2\n', ",", ("a", "b")),
        (b"\xef\xbb\xbfa,b\r\n1,2\r\n", ",", ("a", "b")),
        (b"only\n1\n", ",", ("only",)),
    ],
)
def test_the_header_is_the_first_record(tmp_path, data, delimiter, header):
    path = tmp_path / "a.csv"
    path.write_bytes(data)
    found = open_csv(path)
    assert (found.delimiter, found.header, found.records.count) == (delimiter, header, 1)


def test_several_members_of_a_compressed_file_are_one_file(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n1,2\n") + gzip.compress(b"3,4\n"))
    assert open_csv(path).records.count == 2


def test_zeros_after_a_compressed_file_are_no_part_of_it(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n1,2\n") + bytes(512))
    schema = Schema("t", Rows(), {"a": Integer(0, 9)})
    store = DuckDB({"t": str(path)})
    store.check(schema)
    assert store.report.tables[0].rows == 1


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("cut.csv.gz", gzip.compress(b"a,b\n" + b"hiv,1\n" * 100_000, mtime=0)[:-20]),
        ("wrong.csv.gz", gzip.compress(b"a,b\n1,2\n", mtime=0)[:-8] + bytes(range(8))),
        ("none.csv.gz", b"a,b\n1,2\n"),
        ("return.csv", b"a\rb,c\n1,2\n"),
        ("open.csv", b'"a,b\n1,2\n'),
        ("same.csv", b"a,A\n1,2\n"),
        ("nothing.csv", b""),
    ],
)
def test_what_cannot_be_read_is_refused_in_our_words(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InvalidArgument, match=name):
        open_csv(tmp_path / name)
