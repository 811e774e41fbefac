"""No record and no cell decides how others are read: files without a header, bits outside a type's range."""

from __future__ import annotations

import gzip
import re
import struct

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet.errors import InvalidArgument
from discreet.intake.arrow import total_column
from discreet.intake.csv_file import open_csv
from discreet.intake.grammar import check_grammar
from discreet.query.algebra.expression import Constant, Field
from discreet.query.algebra.tally import Free, Tally, Term
from discreet.query.algebra.tree import Scan

ONE = Term(Constant(True), 1, 0, 1)
NAMES = ("id", "x")
PAIRS = dp.Schema(
    "t", dp.Rows(), {"id": dp.Integer(0, 99), "x": dp.Real(0, 9, step=0.5, decimal=",")}
)


def counted(store, schema):
    """How many rows are read alike, and the text of the question without the numbers of tables."""
    tally = Tally(Scan(schema), tuple(map(Field, schema.columns)), (ONE,), Free())
    text = re.sub(r'held_\d+|"t[0-9 ]*"', "table", store.explain(tally))
    return {key: count for key, (count,) in store.tally(tally).items()}, text


def one_more(found, plain):
    more = {key: found.get(key, 0) - plain.get(key, 0) for key in found.keys() | plain.keys()}
    return list(filter(None, more.values())) == [1]


class TestFilesWithoutHeader:
    def test_an_empty_delimiter_is_none(self):
        with pytest.raises(dp.InvalidArgument, match="delimiter must be one ASCII character"):
            dp.Csv("people.csv", header=False, names=("a", "b"), delimiter="")

    def test_the_delimiter_must_be_said(self, tmp_path):
        with pytest.raises(InvalidArgument, match="header=False needs delimiter=, such as"):
            dp.Csv(tmp_path / "t.csv", header=False, names=NAMES)
        assert dp.Csv(tmp_path / "t.csv", header=False, names=NAMES, delimiter=";").delimiter == ";"

    @pytest.mark.parametrize("packed", [False, True])
    def test_no_first_record_changes_how_others_are_read(self, tmp_path, packed):
        """The first record holds what a detector would go by: other delimiters, quotes, line ends, marks of bytes."""
        firsts = ["7;3", "7;3,5", '"7,7,7,7";3', "a|b|c|d;e|f", "\t\t\t\t;1", "id;x", '"7\r\n8";1', '"\n";""', "\ufeff7;1",
                  "'7';'3'", ";", "7;1,5e3", "#;1", "sep=;1", "-- ;1", "Köln;1"]  # fmt: skip
        files, stores = {}, {}
        for place, first in enumerate(["", *firsts]):
            lines = ([first] if first else []) + ["7;2,5"] * 300
            name = f"t{place}"
            path = tmp_path / (f"{name}.csv.gz" if packed else f"{name}.csv")
            data = "".join(line + "\n" for line in lines).encode()
            path.write_bytes(gzip.compress(data) if packed else data)
            files[name] = dp.Csv(path, delimiter=";", header=False, names=NAMES)
        schemas = {name: dp.Schema(name, dp.Rows(), PAIRS.columns) for name in files}
        stores["engine"] = dp.DuckDB(files)
        stores["twin"] = stores["engine"].twin()
        stores["store"] = dp.prepare(files, schemas.values(), tmp_path / "s")
        for kind, store in stores.items():
            plain, text = counted(store, schemas["t0"])
            assert plain == {(7, 2.5): 300}
            for name, first in zip(list(files)[1:], firsts, strict=True):
                found, own = counted(store, schemas[name])
                assert one_more(found, plain), (kind, first)
                assert own == text

    @pytest.mark.parametrize("bad", ["refuse", "drop", "null"])
    def test_a_file_of_no_records_is_a_table_of_no_rows(self, tmp_path, bad):
        """As one of one record is a table of one: whether a file opens tells nothing about its only record."""
        path = tmp_path / "t.csv"
        for data, rows in ((b"", 0), (b"\xef\xbb\xbf", 0), (b"7;1\n", 1), (b"7;1", 1)):
            path.write_bytes(data)
            with dp.DuckDB(
                {"t": dp.Csv(path, delimiter=";", header=False, names=NAMES, on_bad_record=bad)}
            ) as store:
                assert sum(counted(store, PAIRS)[0].values()) == rows

    def test_only_bad_records_are_no_reason_to_refuse_where_they_may_go(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_bytes(b"7\n")
        with dp.DuckDB(
            {"t": dp.Csv(path, delimiter=";", header=False, names=NAMES, on_bad_record="drop")}
        ) as store:
            assert counted(store, PAIRS)[0] == {}

    def test_the_names_say_how_many_fields_a_record_has(self, tmp_path):
        """Not the first record; and the one that differs is named by its own number."""
        for data, words in (
            (b"7\n7;1\n", "record 1 has 1 fields, 2 names are given"),
            (b"7;1\n7", "record 2 has 1"),
        ):
            with pytest.raises(InvalidArgument, match=words):
                check_grammar([data], ";", fields=2)
            path = tmp_path / "t.csv"
            path.write_bytes(data)
            with pytest.raises(InvalidArgument, match=words):
                open_csv(dp.Csv(path, delimiter=";", header=False, names=NAMES))
        assert check_grammar([b"7;1\n7;2"], ";", fields=2).count == 2


class TestFilesWithHeader:
    def test_nothing_below_the_header_is_looked_at(self, tmp_path):
        path = tmp_path / "t.csv"
        for record in ("1;2", "1,2,3;4", "a|b|c|d;e", '"1,1,1";2'):
            path.write_text(f"id;x\n{record}\n")
            found = open_csv(path)
            assert (found.delimiter, found.header, found.rows) == (";", NAMES, 1)

    @pytest.mark.parametrize("header", [b'id, "x"\n', b"i\xffd,x\n", b'id,"x" \n', b"i\0d,x\n"])
    def test_a_header_that_breaks_the_grammar_does_not_go_as_a_bad_record(self, tmp_path, header):
        """Else the first record would be taken for the names, and be lost."""
        path = tmp_path / "t.csv"
        path.write_bytes(header + b"1,2\n3,4\n")
        for bad in ("refuse", "drop", "null"):
            with pytest.raises(InvalidArgument, match="the header"):
                open_csv(dp.Csv(path, on_bad_record=bad), tmp_path)


def column(kind, good, last=None):
    """300 cells of the same bits, and one of others."""
    values = [good] * 300 + ([] if last is None else [last])
    width = kind.bit_width // 8
    data = b"".join(value.to_bytes(width, "little", signed=True) for value in values)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(data)])


MOST, LEAST = 2**127 - 1, -(2**127)
DECIMALS = [
    *((pa.decimal128(38, 0), last) for last in (LEAST, LEAST + 1, MOST, 10**38, -(10**38))),
    *((pa.decimal128(38, 38), last) for last in (LEAST, MOST)),
    *((pa.decimal128(20, 2), last) for last in (LEAST, MOST, 10**20)),
    *((pa.decimal128(18, 2), last) for last in (LEAST, 2**63 - 1, -(2**63), 10**18)),
    *((pa.decimal128(15, 2), last) for last in (LEAST, 10**15)),
    *((pa.decimal128(4, 2), last) for last in (LEAST, 10**4, -(10**4), 2**15)),
    *((pa.decimal256(76, 0), last) for last in (-(2**255), 2**255 - 1, 10**76)),
    *((pa.decimal256(38, 0), last) for last in (-(2**255), LEAST, 10**38)),
    (pa.decimal256(10, 2), 2**255 - 1),
    (pa.decimal128(10, -2), LEAST),
    *((pa.decimal32(9, 2), last) for last in (-(2**31), 2**31 - 1)),
    (pa.decimal64(18, 2), -(2**63)),
]
RULES = {"whole": dp.Integer(-9, 9), "real": dp.Real(0, 9, step=0.5), "code": dp.Category([1, 5], other=7), "truth": dp.Boolean()}  # fmt: skip


class TestDecimals:
    @pytest.mark.parametrize(("kind", "last"), DECIMALS, ids=str)
    def test_outside_the_precision_is_null(self, kind, last):
        found = total_column(pa.chunked_array([column(kind, 5, last), column(kind, 5).slice(7, 2)]))
        assert (found.null_count, len(found)) == (1, 303)
        assert (
            found[300].as_py() is None and float(found[0].as_py()) == float(found[302].as_py()) != 0
        )
        assert total_column(found).equals(found)

    @pytest.mark.parametrize("kind", dict.fromkeys(kind for kind, _ in DECIMALS), ids=str)
    def test_the_ends_of_the_precision_are_kept(self, kind):
        most = 10**kind.precision - 1
        for last in (most, -most, 0, -1):
            found = total_column(pa.chunked_array([column(kind, 5, last)]))
            wanted = last / 10**kind.scale
            assert found.null_count == 0 and float(found[300].as_py()) == pytest.approx(
                wanted, rel=1e-15
            )

    def test_null_and_parts_of_a_column_stay_as_they_are(self):
        cells = pa.array([1, None, 3], pa.decimal128(5, 0))
        for part in (
            cells,
            cells.slice(1),
            pa.array([], pa.decimal128(5, 0)),
            pa.nulls(3, pa.decimal256(70, 1)),
        ):
            assert total_column(pa.chunked_array([part])).to_pylist() == part.to_pylist()

    @pytest.mark.parametrize("form", ["arrow", "pandas", "parquet", "parts", "polars", "store"])
    @pytest.mark.parametrize("people", [False, True], ids=["cells", "ids"])
    def test_one_cell_fails_no_question_and_moves_no_other(self, tmp_path, form, people):
        """Through the engine, its twin and a prepared store; the question's text is the same."""
        rules = {"y": dp.Integer(0, 9)} if people else RULES
        unit = dp.People("x", max_rows=400) if people else dp.Rows()
        schema = dp.Schema("t", unit, rules)
        listed = DECIMALS[:: 5 if form == "store" else 2]  # writing a store takes its time
        for place, (kind, last) in enumerate(listed):
            if form in ("parquet", "parts", "store", "polars") and (
                kind.scale < 0 or kind.bit_width != 128
            ):
                continue  # which they have no type for, or write otherwise
            both = []
            for cell in (None, last):
                cells = column(kind, 5, cell)
                names = ["x", "y"] if people else list(RULES)
                ones = pa.array([1] * len(cells))
                table = pa.table({name: ones if name == "y" else cells for name in names})
                both.append(self.asked(table, form, schema, tmp_path / f"{place} {cell is None}"))
            for (plain, text), (found, own) in zip(*both, strict=True):
                assert own == text, (kind, last)
                assert found == plain if people and found == plain else one_more(found, plain), (
                    kind,
                    last,
                )

    @staticmethod
    def asked(table, form, schema, place):
        place.mkdir()
        path = place / "t.parquet"
        if form in ("parquet", "parts", "store"):
            pq.write_table(table, path)
        source = {
            "arrow": lambda: table,
            "pandas": lambda: table.to_pandas(types_mapper=pd.ArrowDtype),
            "polars": lambda: pl.from_arrow(table),
            "parquet": lambda: path,
            "parts": lambda: [path],
            "store": lambda: path,
        }[form]()
        store = (
            dp.prepare({"t": source}, [schema], place / "s")
            if form == "store"
            else dp.DuckDB({"t": source})
        )
        with store:
            store.check(schema)
            found = [counted(store, schema)]
            if form in ("parquet", "parts", "store"):
                with store.twin() as twin:
                    found.append(counted(twin, schema))
        return found

    def test_the_charged_question(self):
        """The defect as it was found: SUM over a column of Arrow decimals of which one is −2^127."""
        schema = dp.Schema("t", dp.Rows(), {"x": dp.Integer(0, 9)})
        engine = dp.DuckDB({"t": pa.table({"x": column(pa.decimal128(38, 0), 5, LEAST)})})
        curator = dp.Curator(engine, [schema], dp.open_ledger(":memory:", dp.PureDP(100)))
        answer = curator.sql("SELECT SUM(x) AS s, COUNT(x) AS n FROM t", spend=dp.PureDP(80))
        assert abs(answer.rows[0][0] - 1500) < 30 and abs(answer.rows[0][1] - 300) < 5


def float_bits(form, value):
    return int.from_bytes(struct.pack(form, value), "little", signed=True)


FAR = (2**63 - 1, -(2**63), 2**62, -(2**62), 2**53)
NEAR = (2**31 - 1, -(2**31))
TYPES = {
    "date32": (pa.date32(), 8000, NEAR),
    "date64": (pa.date64(), 8000 * 86_400_000, (*FAR, 1)),
    "float32": (pa.float32(), float_bits("<f", 5.0), (0x7F800000, 0x7FC00001, -0x800000, -1)),
    "float64": (pa.float64(), float_bits("<d", 5.0), (0x7FF << 52, (0x7FF << 52) + 1, -1, -(1 << 63), -(1 << 52))),
    "int64": (pa.int64(), 5, FAR),
    "uint64": (pa.uint64(), 5, (-1, -(2**63))),
    **{
        f"timestamp {unit} {zone}": (pa.timestamp(unit, zone), 10**9 * times, FAR)
        for unit, times in {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}.items()
        for zone in (None, "Europe/Oslo")
    },
}  # fmt: skip
READ = {
    "whole": dp.Integer(0, 9),
    "real": dp.Real(0, 9, step=0.5),
    "truth": dp.Boolean(),
    "day": dp.Date("1980-01-01", "2010-01-01"),
    "moment": dp.Timestamp("1980-01-01T00:00:00", "2010-01-01T00:00:00"),
}


FORMS = [("arrow", kind) for kind in TYPES]
FORMS += [
    ("parquet", kind) for kind in TYPES if not kind.startswith("timestamp s")
]  # it has no seconds


@pytest.mark.parametrize(("form", "kind"), FORMS)
def test_bits_of_every_type(tmp_path, form, kind):
    """One cell of odd bits beside 300: the same status, the same totals of the others."""
    arrow, good, odd = TYPES[kind]
    times = kind.startswith(("date", "timestamp"))
    rules = {name: rule for name, rule in READ.items() if (name in ("day", "moment")) == times}
    tables = {
        f"t{place}": pa.table(dict.fromkeys(rules, column(arrow, good, cell)))
        for place, cell in enumerate([None, *odd])
    }
    if form == "parquet":
        for name, table in tables.items():
            pq.write_table(table, tmp_path / f"{name}.parquet")
        tables = {name: tmp_path / f"{name}.parquet" for name in tables}
    with dp.DuckDB(tables) as store:
        found = [counted(store, dp.Schema(name, dp.Rows(), rules))[0] for name in tables]
    assert all(one_more(each, found[0]) for each in found[1:])
