"""Neighbours at the source: one hostile record anywhere, in every format, changes how no other record is read."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import product

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet.query.algebra.expression import Constant, Field
from discreet.query.algebra.tally import Free, RowShare, Tally, Term
from discreet.query.algebra.tree import Scan

COLUMNS = {
    "name": dp.Text(20),
    "age": dp.Integer(0, 120),
    "paid": dp.Real(0, 500, step=0.01),
    "region": dp.Category(["N", "S"], other=True),
    "ok": dp.Boolean(default=False),
    "day": dp.Date("2020-01-01", "2024-12-31"),
    "at": dp.Timestamp("2020-01-01T00:00:00", "2024-12-31T23:59:59", null_key=True),
}
PEOPLE = dp.Schema("people", dp.People("who", max_rows=3), COLUMNS)
PLAIN = [
    {"who": f"u{i % 7}", "name": f"n{i}", "age": str(i), "paid": f"{i}.19", "region": "NSX"[i % 3], "ok": "yes", "day": f"2023-01-{i + 1:02d}",
     "at": f"2023-05-0{i % 9 + 1} 09:30:00"}
    for i in range(20)
]  # fmt: skip
TYPED = [
    {"who": row["who"], "name": row["name"], "age": int(row["age"]), "paid": float(row["paid"]), "region": row["region"], "ok": True,
     "day": date.fromisoformat(row["day"]), "at": datetime.fromisoformat(row["at"])}
    for row in PLAIN
]  # fmt: skip
TEXTS = [
    "",
    '"',
    "a,b",
    "x\ny",
    "x\r\ny",
    "'",
    "9" * 60,
    "1e400",
    "NaN",
    "inf",
    "-0",
    "Ж" * 50,
    "\ufeff",
    "0000-00-00",
    "NULL",
    "n",
]
OBJECTS = [
    None, float("nan"), pd.NA, pd.NaT, Decimal("1e70"), Decimal("NaN"), 2.5, True, [1], {"a": 1}, b"\xff", "x", 10**30,
    date(2024, 1, 1), datetime(9999, 12, 31, tzinfo=UTC), timedelta(1), "\ud800", object(), complex(1, 2),
]  # fmt: skip
NAMES = ["who", *COLUMNS]
TEXT = pa.string()
ONE = Term(Constant(True), 1, 0, 1)
EVERY = Tally(Scan(PEOPLE), tuple(map(Field, COLUMNS)), (ONE,), Free())
SHARED = Tally(
    Scan(PEOPLE), (Field("region"),), (Term(Constant(True), 2**20, 0, 2**20),), RowShare(3)
)


def as_csv(rows, path):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, NAMES)
        writer.writeheader()
        writer.writerows(rows)
    return path


def read_back(path):
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, strict=True))
    return [{name: cell or None for name, cell in row.items()} for row in rows]


class TestText:
    """Python's strict reader is the oracle: the same records, each read by the rules of `Column.read`."""

    @pytest.mark.parametrize("kept", [False, True])
    def test_one_hostile_record(self, tmp_path, kept):
        files, cells = (
            {},
            dict(list(enumerate(TEXTS))[:: 6 if kept else 1]),
        )  # writing a table takes its time
        for place, cell in cells.items():
            rows = [*PLAIN[:place], dict.fromkeys(NAMES, cell), *PLAIN[place:]]
            files[f"people{place}"] = as_csv(rows, tmp_path / f"{place}.csv")
        schemas = [dp.Schema(name, PEOPLE.unit, COLUMNS) for name in files]
        wanted = dp.Memory({name: read_back(path) for name, path in files.items()})
        with dp.prepare(files, schemas, tmp_path / "s") if kept else dp.DuckDB(files) as store:
            for schema, cell in zip(schemas, cells.values(), strict=True):
                for tally in (
                    replace(EVERY, rows=Scan(schema)),
                    replace(SHARED, rows=Scan(schema)),
                ):
                    assert store.tally(tally) == wanted.tally(tally), cell

    def test_ends_of_lines_and_of_files(self, tmp_path):
        """A line end inside quotes across every block, CRLF and LF mixed, no line end at the end."""
        path = tmp_path / "people.csv"
        cells = [f'"{"x" * 50}\r\n{i}",{i},1,N,yes,2023-01-01,2023-01-01' for i in range(30_000)]
        ends = ["\n" if i % 3 else "\r\n" for i in range(len(cells) - 1)] + [""]
        text = ",".join(COLUMNS) + "\n" + "".join(map("".join, zip(cells, ends, strict=True)))
        path.write_bytes(text.encode())
        with dp.DuckDB({"people": path}) as store:
            count = Tally(Scan(dp.Schema("people", dp.Rows(), COLUMNS)), (), (ONE,), Free())
            assert store.tally(count) == {(): (30_000,)}

    def test_every_mixture_of_line_ends(self, tmp_path):
        """At the ends of records and inside quotes, in the first record and later, with a line of names and without."""
        ends, forms, wanted = ("\n", "\r\n"), {}, {}
        for header, first, inner, last, cells in product(
            (True, False), ends, (*ends, "\r"), ends, (1, 2)
        ):
            rows = [
                [f'"x{inner}y"'] * cells,
                ["1"] * cells,
                [f'"{inner}""{inner}"'] * cells,
                ["2"] * cells,
            ]
            names = tuple("ab"[:cells])
            lines = ([names] if header else []) + rows
            stops = [first, *[last] * (len(lines) - 2), ""]
            text = "".join(",".join(line) + stop for line, stop in zip(lines, stops, strict=True))
            path = tmp_path / f"p{len(forms)}.csv"
            path.write_bytes(text.encode())
            read = list(csv.reader(io.StringIO(text, newline=""), strict=True))[header:]
            schema = dp.Schema(path.stem, dp.Rows(), {name: dp.Text(20) for name in names})
            tally = Tally(Scan(schema), tuple(map(Field, names)), (ONE,), Free())
            wanted[text, header] = tally, {tuple(row): (1,) for row in read}
            forms[path.stem] = dp.Csv(
                path, delimiter=",", header=header, names=() if header else names
            )
        with dp.DuckDB(forms) as store:
            for text, (tally, totals) in wanted.items():
                assert store.tally(tally) == totals, text
        assert len(wanted) == 48


class TestObjects:
    """A frame of Python objects: each cell by its column's rule, alone."""

    def test_one_hostile_object(self):
        plain, frames = dp.Memory({"people": TYPED}).tally(EVERY), {}
        for place, cell in enumerate(OBJECTS):
            rows = [*TYPED[:place], dict.fromkeys(NAMES, cell) | {"who": "z"}, *TYPED[place:]]
            columns = {name: pd.Series([row[name] for row in rows], dtype=object) for name in NAMES}
            frames[f"people{place}"] = pd.DataFrame(columns)
        with dp.DuckDB(frames) as store:
            for name, cell in zip(frames, OBJECTS, strict=True):
                found = store.tally(
                    replace(EVERY, rows=Scan(dp.Schema(name, PEOPLE.unit, COLUMNS)))
                )
                assert {key: found.get(key) for key in plain} == plain, cell
                assert sum(total for (total,) in found.values()) == len(TYPED) + 1

    def test_types_are_not_decided_by_other_rows(self):
        """Whole numbers with one 2.5 among them, under Text and Category."""
        schema = dp.Schema("t", dp.Rows(), {"a": dp.Text(5), "b": dp.Category(["1", "2"])})
        cells = [1] * 10 + [2.5] + [2] * 10
        frame = pd.DataFrame({"a": cells, "b": cells}, dtype=object)
        tally = Tally(Scan(schema), (Field("a"), Field("b")), (ONE,), Free())
        wanted = {("1", "1"): (10,), (None, None): (1,), ("2", "2"): (10,)}
        assert dp.DuckDB({"t": frame}).tally(tally) == wanted
        mixed = pd.Categorical(cells, categories=pd.Index([1, 2.5, 2], dtype=object))
        assert dp.DuckDB({"t": pd.DataFrame({"a": mixed, "b": mixed})}).tally(tally) == wanted
        assert dp.DuckDB({"t": pl.DataFrame({"a": pl.Series(cells, dtype=pl.Object), "b": pl.Series(cells, dtype=pl.Object)})}).tally(tally) == wanted  # fmt: skip


def invalid(kind=TEXT):
    raw = pa.array(
        [b"ok", b"M\xfcller", b"ok"],
        pa.large_binary() if kind == pa.large_string() else pa.binary(),
    )
    return pa.Array.from_buffers(kind, 3, raw.buffers())


def far(unit, zone=None):
    return pa.array([0, 2**62, None], pa.int64()).view(pa.timestamp(unit, zone))


class TestTypes:
    """Cells that DuckDB stumbles over, in Arrow and in Parquet: NULL, and every other row as it was."""

    @pytest.mark.parametrize("kind", ["arrow", "parquet", "store"])
    def test_hostile_cells(self, tmp_path, kind):
        columns = {
            "w": invalid(),
            "l": invalid(pa.large_string()),
            "s": far("ms"),
            "z": far("ms", "Europe/Oslo"),
        }
        if kind == "arrow":
            columns["d"] = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), invalid())
            columns["s"] = far("s")
        names = {name: dp.Text(9) if name in "wld" else dp.Timestamp("1970-01-01T00:00:00", "2000-01-01T00:00:00") for name in columns}  # fmt: skip
        schema, source = dp.Schema("t", dp.Rows(), names), pa.table(columns)
        if kind != "arrow":
            pq.write_table(source, tmp_path / "t.parquet")
            source = tmp_path / "t.parquet"
        store = (
            dp.prepare({"t": source}, [schema], tmp_path / "s")
            if kind == "store"
            else dp.DuckDB({"t": source})
        )
        found = store.tally(Tally(Scan(schema), tuple(map(Field, names)), (ONE,), Free()))
        first, last = (
            tuple("ok" if name in "wld" else time for name in names) for time in (0, None)
        )
        assert found == {first: (1,), last: (1,), (None,) * len(names): (1,)}

    def test_files_of_different_types_are_one_table(self, tmp_path):
        for place, cells in enumerate([["1", "x"], [1, 2], [1.0, 2.6]]):
            pq.write_table(pa.table({"age": cells}), tmp_path / f"{place}.parquet")
        schema = dp.Schema("t", dp.Rows(), {"age": dp.Integer(0, 9)})
        tally = Tally(Scan(schema), (Field("age"),), (ONE,), Free())
        wanted = {(1,): (3,), (None,): (1,), (2,): (1,), (3,): (1,)}
        assert dp.DuckDB({"t": f"{tmp_path}/*.parquet"}).tally(tally) == wanted
        assert (
            dp.prepare({"t": sorted(tmp_path.glob("*.parquet"))}, [schema], tmp_path / "s").tally(
                tally
            )
            == wanted
        )

    def test_all_formats_agree(self, tmp_path):
        arrow = pa.Table.from_pylist(TYPED)
        pq.write_table(arrow, tmp_path / "p.parquet")
        sources = [
            arrow,
            pd.DataFrame(TYPED),
            pl.DataFrame(TYPED),
            tmp_path / "p.parquet",
            as_csv(PLAIN, tmp_path / "p.csv"),
        ]
        wanted = dp.Memory({"people": TYPED})
        for place, source in enumerate(sources):
            with (
                dp.DuckDB({"people": source}) as store,
                dp.prepare({"people": source}, [PEOPLE], tmp_path / f"{place}") as kept,
            ):
                for tally in (EVERY, SHARED):
                    assert store.tally(tally) == kept.tally(tally) == wanted.tally(tally)
