"""Every type of every kind of table: one hostile cell of that type between two plain ones, which are read as ever."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet.errors import SchemaMismatch
from discreet.intake.object_cells import id_cells
from discreet.query.algebra.expression import Constant, Field
from discreet.query.algebra.tally import Free, Tally, Term
from discreet.query.algebra.tree import Scan
from support.profile import DEEP

RULES = {
    "integer": dp.Integer(0, 9),
    "real": dp.Real(0, 9, step=0.5),
    "text": dp.Text(4),
    "listed": dp.Category(["1", "a"]),
    "numbers": dp.Category([1, 2]),
    "truth": dp.Boolean(),
    "day": dp.Date("0001-01-01", "9999-12-31"),
    "moment": dp.Timestamp("1600-01-01T00:00:00", "2900-01-01T00:00:00"),
}
LONG = pa.int64()
DAY = date(1995, 1, 1)
NOON = datetime(1995, 1, 1, 12)


def bits(plain, hostile, kind, width=LONG):
    """A column of bits taken for a type: whatever they are, they are in files somewhere."""
    ends = pa.array([plain], kind).view(width)
    return pa.concat_arrays([ends, pa.array(hostile, width), ends]).view(kind)


def undecodable(kind):
    cells = [b"1", b"\xff", b"\0", b"a\xe4" * 9, b"\xed\xa0\x80", None, b"1"]
    raw = pa.array(cells, pa.binary_view() if kind == pa.string_view() else pa.binary())
    plain = raw if kind != pa.large_string() else pa.array(cells, pa.large_binary())
    return pa.Array.from_buffers(kind, len(cells), plain.buffers())


FAR = [2**62, -(2**62), 2**63 - 1, -(2**63), None]
TIMES = {
    f"{unit} {zone}": bits(
        NOON.replace(tzinfo=UTC) if zone else NOON, FAR, pa.timestamp(unit, zone)
    )
    for unit in ("s", "ms", "us", "ns")
    for zone in (None, "Europe/Oslo")
}
ARROW = TIMES | {
    "int8": pa.array([1, -128, 127, None, 1], pa.int8()),
    "uint64": pa.array([1, 2**64 - 1, None, 1], pa.uint64()),
    "half": pa.array(np.array([1, np.inf, np.nan, -0.0, 65504, 1], np.float16)),
    "float": pa.array([1, float("inf"), float("nan"), 3e38, None, 1], pa.float32()),
    "double": pa.array([1, float("-inf"), float("nan"), 5e-324, 1e308, None, 1]),
    "nan alone": pa.array([1, float("nan"), 1]),
    "decimal": pa.array([Decimal(1), Decimal("9" * 38), None, Decimal(1)], pa.decimal128(38, 0)),
    "wide decimal": pa.array(
        [Decimal(1), Decimal("-" + "9" * 70), None, Decimal(1)], pa.decimal256(76, 0)
    ),
    "tens": pa.array([Decimal(0), Decimal("-9E+11"), None, Decimal(0)], pa.decimal128(10, -2)),
    "text": undecodable(pa.string()),
    "large text": undecodable(pa.large_string()),
    "viewed text": undecodable(pa.string_view()),
    "days": bits(DAY, [2**31 - 1, -(2**31), None], pa.date32(), pa.int32()),
    "days in ms": bits(DAY, [2**63 - 1, -(2**63), 1, None], pa.date64()),
    "clock": pa.array([1, 2, None, 1], pa.int32()).view(pa.time32("s")),
    "bytes": pa.array([b"1", b"\xff", b"1"]),
    "lists": pa.array([[1], None, [1]]),
    "runs": pa.RunEndEncodedArray.from_arrays(
        pa.array([1, 2, 3], pa.int32()), pa.array(["1", None, "1"])
    ),
    "nothing": pa.nulls(3),
    "dictionary": pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 2, 3, 4, 5, None, 0]), undecodable(pa.string())[:6]
    ),
    "dictionary of views": pa.DictionaryArray.from_arrays(
        pa.array([0, 1, None, 0]), pa.array(["1", "a"], pa.string_view())
    ),
    "dictionary of numbers": pa.DictionaryArray.from_arrays(
        pa.array([0, 1, None, 0]), pa.array([1, 2**62])
    ),
    "dictionary of times": pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 2, 3, 4, 0]), TIMES["s None"][:5]
    ),
    "uuid": pa.array([b"1" * 16, None, b"1" * 16], pa.uuid()),
}
PANDAS = {
    "categories": pd.Series(pd.Categorical([1, "a", 2.5, None, 1])),
    "categories of text": pd.Series(pd.Categorical(["1", "a\0", None, "1"])),
    "categories of times": pd.Series(pd.Categorical([NOON, pd.NaT, NOON])),
    "zoned": pd.Series(pd.to_datetime([NOON, None, NOON]).tz_localize("Europe/Oslo")),
    "seconds": pd.Series(np.array([0, 2**62, -(2**62), -(2**63), 0], "datetime64[s]")),
    "objects": pd.Series(["1", b"\xff", "x" * 10**6, "\0", "\ud800", object(), "1"], dtype=object),
    "half a letter": pd.Series(["1", "\ud800", "1"], dtype="string[python]"),
    "days": pd.Series([DAY, date.min, datetime.max, "x", None, DAY], dtype=object),
    "nullable": pd.Series([1, None, 2**62, 1], dtype="Int64"),
    "sparse": pd.Series(pd.arrays.SparseArray([1, 0, 0, 1])),
    "periods": pd.Series(pd.period_range("1995-01", periods=3, freq="M")),
    "complex": pd.Series([1, 1j, 1]),
}
POLARS = {
    "categorical": pl.Series(["1", "Ж", None, "1"], dtype=pl.Categorical),
    "enumeration": pl.Series(["1", None, "a", "1"], dtype=pl.Enum(["1", "a"])),
    "objects": pl.Series([1, "a", None, object(), 1], dtype=pl.Object),
    "wide": pl.Series([1, 2**100, None, 1], dtype=pl.Int128),
    "far": pl.Series([0, 2**62, None, 0]).cast(pl.Datetime("ms")),
    "bytes": pl.Series([b"1", b"\xff", b"1"]),
}
STORED = {
    "VARCHAR COLLATE NOCASE": ["'a'", "'A'", "'a'"],
    "ENUM('1', 'a', 'A')": ["'1'", "'A'", "'1'"],
    "TIMESTAMP_NS": ["'1995-01-01'", "'infinity'", "'-infinity'", "'1995-01-01'"],
    "TIMESTAMP_S": ["'1995-01-01'", "'290000-01-01'", "'1995-01-01'"],
    "TIMESTAMPTZ": ["'1995-01-01'", "'-infinity'", "'1995-01-01'"],
    "DATE": ["'1995-01-01'", "'5874897-01-01'", "'-infinity'", "'1995-01-01'"],
    "UHUGEINT": ["1", str(2**128 - 1), "1"],
    "DECIMAL(38, 10)": ["1", "-1e27", "1"],
    "BLOB": ["'1'", "'\\xFF'", "'1'"],
}


def some(kinds, kind):
    """All rules in deep; else half of them, in turn, so that each kind of cell meets four and each rule half of them."""
    return tuple(RULES) if DEEP else tuple(RULES)[list(kinds).index(kind) % 2 :: 2]


def agree(hostile, folder, *asked, prepared=0):
    """The first and the last row of a source count as they do without what is between them; nothing fails.

    `asked` are sources, each with its plain twin and the rules to read it by; that of the number `prepared` is kept.
    """
    tables = {
        name: table
        for i, (source, plain, _) in enumerate(asked)
        for name, table in ((f"t{i}", source), (f"plain{i}", plain))
    }
    read = [{} for _ in asked]
    with dp.DuckDB(tables) as store:
        for i, (_, _, rules) in enumerate(asked):
            for rule in rules:
                schema, alone = (
                    dp.Schema(name, dp.Rows(), {"x": RULES[rule]})
                    for name in (f"t{i}", f"plain{i}")
                )
                try:
                    store.check(schema)
                except SchemaMismatch:  # by the type, whatever the cells hold
                    with pytest.raises(SchemaMismatch):
                        store.check(alone)
                    continue
                read[i][schema] = store.tally(counted(schema))
                ((key, (two,)),) = store.tally(counted(alone)).items()
                assert two == 2
                assert read[i][schema][key][0] >= 2
                assert sum(total for (total,) in read[i][schema].values()) == hostile + 2
        for table in store.report.tables:
            assert table.rows == (2 if table.name.startswith("plain") else hostile + 2)
    for i, found in enumerate(read):
        for schema in list(found)[-1:] if DEEP or i == prepared else ():
            with dp.prepare({schema.name: asked[i][0]}, [schema], folder / "s") as again:
                assert again.tally(counted(schema)) == found[schema]


def counted(schema):
    return Tally(Scan(schema), (Field("x"),), (Term(Constant(True), 1, 0, 1),), Free())


@pytest.mark.parametrize("kind", ARROW)
def test_arrow_and_parquet(tmp_path, kind):
    cells = ARROW[kind]
    hostile, plain = (
        pa.table({"x": cells}),
        pa.table({"x": pa.concat_arrays([cells[:1], cells[-1:]])}),
    )
    asked = [(hostile, plain, some(ARROW, kind))]
    try:
        pq.write_table(hostile, tmp_path / "t.parquet")
        pq.write_table(plain, tmp_path / "plain.parquet")
        asked.append(
            (tmp_path / "t.parquet", tmp_path / "plain.parquet", ("real", "text", "moment"))
        )
    except (pa.ArrowException, OSError):  # there is no such Parquet file
        pass
    turn = list(ARROW).index(kind) % 4 not in (0, 3)  # not the turn of the rules
    agree(len(cells) - 2, tmp_path, *asked, prepared=int(turn) % len(asked))


@pytest.mark.parametrize("values", [["a", "b"], [1, 2]])
@pytest.mark.parametrize("place", [2, 100, -1, -128, None])
def test_a_place_that_a_dictionary_does_not_have_is_null(values, place):
    places = pa.array([0, 1, place, 1], pa.int8())
    source = pa.table({"x": pa.DictionaryArray.from_arrays(places, pa.array(values), safe=False)})
    schema = dp.Schema("t", dp.Rows(), {"x": dp.Text(9)})
    with dp.DuckDB({"t": source}) as store:
        first, second = map(str, values)
        assert store.tally(counted(schema)) == {(first,): (1,), (second,): (2,), (None,): (1,)}


@pytest.mark.parametrize("kind", PANDAS)
def test_pandas(tmp_path, kind):
    frame = pd.DataFrame({"x": PANDAS[kind]})
    if kind == "periods":
        frame = frame.iloc[[0, 1, 0]]
    agree(len(frame) - 2, tmp_path, (frame, frame.iloc[[0, -1]], some(PANDAS, kind)))


@pytest.mark.parametrize("kind", POLARS)
def test_polars(tmp_path, kind):
    column = POLARS[kind]
    ends = pl.Series([column[0], column[-1]], dtype=column.dtype)
    agree(
        len(column) - 2,
        tmp_path,
        (pl.DataFrame({"x": column}), pl.DataFrame({"x": ends}), some(POLARS, kind)),
    )


@pytest.mark.parametrize("kind", STORED)
def test_tables_of_a_duckdb_file(tmp_path, kind):
    file = tmp_path / "t.duckdb"
    with duckdb.connect(str(file)) as connection:
        for name, cells in (("t", STORED[kind]), ("plain", STORED[kind][:1] * 2)):
            connection.execute(f"CREATE TABLE {name} (x {kind})")
            connection.execute(f"INSERT INTO {name} VALUES ({'), ('.join(cells)})")
    agree(len(STORED[kind]) - 2, tmp_path, (f"{file}#t", f"{file}#plain", some(STORED, kind)))


class Odd:
    """An object whose own code fails."""

    def __getattr__(self, name):
        raise RuntimeError(name)

    def __ne__(self, other):
        raise RuntimeError


def test_ids_that_are_objects_meet_where_they_are_equal_and_nowhere_else():
    """One person under two ids, or two under one, would each break what a person may change."""
    large = Decimal(10) ** 4400
    same = [[7, 7.0, True * 7, "7", Decimal("7.00"), np.int64(7)], [Decimal("0.50"), 0.5], [0, -0.0, Decimal("-0")], [Decimal("1e9"), 10**9],
            [Decimal("inf"), float("inf")], [Decimal("1e900"), Decimal("10e899")], ["[1]"], [[1]], ["\x01list [1]"], [b"a"], ["b'a'"], [(1, [2])],
            [10**40], [10**40 + 1], [Decimal(10**40 + 2)], [Decimal("1e-900")], ["0 1 900"], [10**6000], [large], [np.arange(5000)], [np.arange(5001)]]  # fmt: skip
    found = [set(id_cells(ids).to_pylist()) for ids in same]
    assert all(len(ids) == 1 and None not in ids for ids in found) and len(
        set().union(*found)
    ) == len(found)
    assert id_cells(
        [None, float("nan"), Decimal("sNaN"), Odd(), "\ud800", Decimal("0e9999")]
    ).to_pylist() == [None] * 5 + ["0"]
