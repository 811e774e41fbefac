"""DuckDB: its sources, its own types, progress, cancellation, failure."""

from __future__ import annotations

import _thread
import csv
import gc
import gzip
import signal
import threading
import time
from collections import Counter
from datetime import date
from decimal import Decimal

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet.data import Category, Date, Integer, People, Real, Rows, Schema, Text, Timestamp
from discreet.engines import DuckDB, Memory
from discreet.errors import EngineFailure, InvalidArgument, SchemaMismatch
from discreet.query.algebra.expression import Call, Constant, Field, Function
from discreet.query.algebra.tally import Free, GroupShare, RowShare, Tally, Term
from discreet.query.algebra.tree import Scan
from engines.hostile import VALUES
from engines.tables import arrow, in_memory, same_totals
from engines.test_contribution_bounds import ROWS as SHARED
from engines.test_contribution_bounds import TALLIES
from engines.test_reading import every_value
from support.profile import DEEP

PEOPLE = Schema(
    "people",
    Rows(),
    {"age": Integer(0, 120), "income": Real(0, 1000, step=0.5), "region": Category(["N", "S"])},
)
ROWS = [
    {"age": 37, "income": 12.25, "region": "N"},
    {"age": 200, "income": None, "region": "S"},
    {"age": None, "income": 7.0, "region": "?"},
]
COUNT = Term(Constant(True), 1, 0, 1)
TALLY = Tally(
    Scan(PEOPLE),
    (Field("region"),),
    (COUNT, Term(Field("age"), 1, 0, 120), Term(Field("income"), 1, 0, 2000)),
    Free(),
)
WANTED = Memory({"people": ROWS}).tally(TALLY)
DEEP_ROWS = (
    *[("37", "12.25", "N")] * 30_000,
    ("thirty", "", "S"),
    ("2e1", "inf", 'N"'),
    ("200", "9999", "S"),
)


def in_python(rows):
    """Tally the cells of a file in Python, each row that there is once, as often as it is there; an empty cell is NULL."""
    found: dict[tuple[object, ...], tuple[int, ...]] = {}
    for row, count in Counter(rows).items():
        cells = dict(zip(PEOPLE.columns, (cell or None for cell in row), strict=True))
        for key, totals in Memory({"people": [cells]}).tally(TALLY).items():
            found[key] = tuple(
                a + count * b
                for a, b in zip(found.get(key, (0,) * len(totals)), totals, strict=True)
            )
    return found


class TestSources:
    def test_data_frames(self):
        frames = [
            pd.DataFrame(ROWS),
            pl.DataFrame(ROWS),
            pl.DataFrame(ROWS).lazy(),
            pa.Table.from_pylist(ROWS),
        ]
        frames.append(pa.Table.from_pylist(ROWS).to_batches()[0])
        frames.append(pd.DataFrame(ROWS).astype({"region": "category"}))
        for frame in frames:
            with DuckDB({"people": frame}) as engine:
                engine.check(PEOPLE)
                assert engine.tally(TALLY) == WANTED

    def test_a_column_of_many_types_becomes_text(self):
        """The type of a column may not depend on how many rows were looked at."""
        mixed = pd.DataFrame(
            {"age": [1] * 2000 + ["x", 2.5, None, float("nan"), date(2024, 1, 1)]}, dtype=object
        )
        schema = Schema("people", Rows(), {"age": Integer(0, 9)})
        tally = Tally(Scan(schema), (Field("age"),), (COUNT,), Free())
        assert DuckDB({"people": mixed}).tally(tally) == {(1,): (2000,), (2,): (1,), (None,): (4,)}

    def test_parquet(self, tmp_path):
        path = tmp_path / "it's.parquet"
        pq.write_table(pa.Table.from_pylist(ROWS), path)
        for given in (path, str(path)):
            assert DuckDB({"people": given}).tally(TALLY) == WANTED

    @pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz"])
    def test_csv_is_text_throughout(self, tmp_path, suffix):
        """A value deep in the file that is no number neither raises nor changes how the others are read."""
        path = tmp_path / f"people{suffix}"
        opener = gzip.open if suffix.endswith(".gz") else open
        rows = list(map(list, DEEP_ROWS))
        with opener(path, "wt", newline="", encoding="utf-8-sig") as file:
            csv.writer(file, delimiter="\t" if suffix == ".tsv" else ",").writerows(
                [["age", "income", "region"], *rows]
            )
        with DuckDB({"people": path}) as engine:
            assert set(engine.columns("people").values()) == {"VARCHAR"}
            assert engine.tally(TALLY) == in_python(DEEP_ROWS)

    @pytest.mark.parametrize(
        "record", [b"1", b"1,2,N,4,5", b'1,2,"N', b'1,2,N"', b"1,2,\xff\xfe", b"1,2,a\rb"]
    )
    def test_a_record_that_does_not_fit_is_refused_when_the_file_is_opened(self, tmp_path, record):
        path = tmp_path / "people.csv"
        path.write_bytes(b"age,income,region\n1,2,N\n" + record + b"\n1,2,N\n")
        with pytest.raises(InvalidArgument, match=r"people\.csv cannot be read as CSV: record 2 "):
            DuckDB({"people": path})

    @pytest.mark.parametrize("ends", [["\n"], ["\r\n"], ["\n", "\r\n"]])
    def test_line_breaks_in_quotes_lose_no_record(self, tmp_path, ends):
        """Files above the size at which DuckDB reads in parts; the slow reader is the oracle."""
        path = tmp_path / "people.csv"
        note = 'long\n"",note\r\n' * 240
        with path.open("w", newline="", encoding="utf-8") as file:
            file.write("age,income,region\n")
            for number in range(5_000):
                file.write(
                    f'{number % 11},{number % 7},"{note if number % 3 else "N"}"{ends[number % len(ends)]}'
                )
        with path.open(newline="", encoding="utf-8") as file:
            rows = tuple(map(tuple, list(csv.reader(file, strict=True))[1:]))
        assert path.stat().st_size > 8_000_000
        with DuckDB({"people": path}) as engine:
            assert engine.tally(TALLY) == in_python(rows)

    def test_the_name_of_a_file_is_no_pattern_and_that_of_its_folder_no_column(self, tmp_path):
        (tmp_path / "region=S").mkdir()
        paths = [
            tmp_path / name
            for name in ("[ab].csv", "p*.csv", "q?.csv", "region=S/people.csv", "o'b.csv")
        ]
        for path in (*paths, tmp_path / "a.csv", tmp_path / "pq.csv", tmp_path / "qq.csv"):
            region = "N" if path in paths else "S"
            path.write_text(f"age,income,region\n1,2,{region}\n")
        for path in paths:
            with DuckDB({"people": path}) as engine:
                assert [key for key in engine.tally(TALLY) if key == ("N",)], path.name
                assert list(engine.columns("people")) == ["age", "income", "region"]
        stored = tmp_path / "region=S" / "[x].parquet"
        pq.write_table(pa.table({"age": [1], "income": [2.0], "region": ["N"]}), stored)
        assert ("N",) in DuckDB({"people": stored}).tally(TALLY)

    def test_collations_of_a_table_and_of_a_connection_do_not_count(self, tmp_path):
        """One row 'n' before a thousand 'N': under NOCASE it would stand for all of them."""
        connection = duckdb.connect()
        connection.execute(
            "CREATE TABLE people (age INTEGER, income DOUBLE, region VARCHAR COLLATE NOCASE)"
        )
        connection.execute("INSERT INTO people VALUES (1, 2, 'n')")
        connection.execute("INSERT INTO people SELECT 1, 2, 'N' FROM range(1000)")
        rows = [{"age": 1, "income": 2, "region": region} for region in ["n", *["N"] * 1000]]
        assert DuckDB(connection).tally(TALLY) == Memory({"people": rows}).tally(TALLY)
        words = Schema("people", Rows(), {"region": Text(10)})
        tally = Tally(Scan(words), (Field("region"),), (COUNT,), Free())
        assert DuckDB(connection).tally(tally) == {("n",): (1,), ("N",): (1000,)}
        connection.execute("SET default_collation = 'NOCASE'")
        with pytest.raises(InvalidArgument, match="default_collation"):
            DuckDB(connection)

    def test_a_file_and_a_connection(self, tmp_path):
        path = tmp_path / "company.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.register("held", pa.Table.from_pylist(ROWS))
            connection.execute("CREATE TABLE people AS SELECT * FROM held")
            assert DuckDB(connection).tally(TALLY) == WANTED
        with DuckDB(path) as engine:
            assert engine.tally(TALLY) == WANTED
            with pytest.raises(SchemaMismatch, match="no table nowhere"):
                engine.columns("nowhere")

    @pytest.mark.parametrize(
        ("source", "said"),
        [({"people": 3}, "no table this engine reads"), ({"people": "people.xlsx"}, "no file this engine reads"),
         ({"people": "nowhere.csv"}, "cannot be read"), (7, "takes tables by name"),
         ({"people": pa.table({"a": [1], "A": [2]})}, "differ only in case")],
    )  # fmt: skip
    def test_refuses(self, source, said):
        with pytest.raises(InvalidArgument, match=said):
            DuckDB(source)

    def test_refuses_files(self, tmp_path):
        (tmp_path / "a.csv").write_text("a,a\n1,2\n")
        (tmp_path / "b.csv").write_text("")
        (tmp_path / "c.duckdb").write_text("no database at all")
        for name in ("a.csv", "b.csv"):
            with pytest.raises(InvalidArgument, match="must name its columns"):
                DuckDB({"people": tmp_path / name})
        with pytest.raises(InvalidArgument, match="cannot be opened"):
            DuckDB(tmp_path / "c.duckdb")


class TestTypes:
    """Types that only DuckDB has, each read by the rule for what it is."""

    CELLS = {
        "TINYINT": ("3", 3),
        "UBIGINT": ("18446744073709551615", 2**64 - 1),
        "HUGEINT": ("-170141183460469231731687303715884105727", -(2**127) + 1),
        "UHUGEINT": ("7", 7),
        "FLOAT": ("2.5", 2.5),
        "DECIMAL(4,1)": ("2.5", Decimal("2.5")),
        "DECIMAL(38,3)": ("12345678901234567.891", Decimal("12345678901234567.891")),
        "ENUM('N', 'S')": ("'N'", "N"),
        "JSON": ("'\"N\"'", '"N"'),
        "TIMESTAMP_S": ("'1969-12-31 23:59:59'", "1969-12-31 23:59:59"),
        "TIMESTAMP_MS": ("'1969-12-31 23:59:59.5'", "1969-12-31 23:59:59.5"),
        "TIMESTAMP_NS": ("'1969-12-31 23:59:59.999999999'", "1969-12-31 23:59:59.999999999"),
        "TIMESTAMPTZ": ("'1970-01-01 01:00:00+02'", "1969-12-31 23:00:00"),
        "TIMESTAMP": ("'infinity'", "9999-12-31 00:00:00"),
        "DATE": ("'-infinity'", "0001-01-01"),
        "INTEGER[]": ("[1, 2]", [1, 2]),
        "UUID": ("'6b7f2c1e-0000-4000-8000-000000000000'", None),
        "BLOB": ("'N'", b"N"),
        "TIME": ("'12:00:00'", None),
        "INTERVAL": ("INTERVAL 1 DAY", None),
    }

    @pytest.mark.parametrize("kind", CELLS)
    def test_read(self, kind):
        sql, value = self.CELLS[kind]
        columns = {
            "a": Integer(-5, 9),
            "b": Real(-(2**60), 2**60, step=1),
            "c": Category(["N", "3"], other=True),
            "d": Date("1969-01-01", "2024-01-01"),
            "e": Timestamp("1969-01-01T00:00:00", "2024-01-01T00:00:00"),
            "f": Category([3, 7], other=-1),
            "g": Text(20),
        }
        schema = Schema("held", Rows(), columns)
        with duckdb.connect() as connection:
            cells = ", ".join(f"CAST({sql} AS {kind}) AS {name}" for name in columns)
            connection.execute(f"CREATE TABLE held AS SELECT {cells}")
            tally = Tally(Scan(schema), tuple(map(Field, columns)), (COUNT,), Free())
            found = DuckDB(connection).tally(tally)
        wanted = Memory({"held": [dict.fromkeys(columns, value)]}).tally(tally)
        if kind.startswith(
            ("TIMESTAMP", "DATE")
        ):  # text in memory is text; compare the times alone
            found, wanted = ({key[3:5] for key in each} for each in (found, wanted))
        assert found == wanted

    def test_ids_of_types_no_column_can_hold(self):
        schema = Schema("held", People("who", max_rows=1), {"x": Integer(0, 9)})
        tally = Tally(Scan(schema), (), (COUNT,), GroupShare(1, 1), people=True)
        for kind, cells in {
            "UUID": ["uuid()", "uuid()", "NULL"],
            "INTEGER[]": ["[1]", "[1]", "[2]"],
            "HUGEINT": ["1", "2", "1"],
        }.items():
            with duckdb.connect() as connection:
                rows = " UNION ALL ".join(
                    f"SELECT CAST({cell} AS {kind}) AS who, 1 AS x" for cell in cells
                )
                connection.execute(f"CREATE TABLE held AS {rows}")
                assert DuckDB(connection).tally(tally) == {(): (2,)}


LONG = "SELECT count(*) FROM range(100000000) a, range(100000) b WHERE (a.range * b.range) % 7 = 3"


def in_own_tables(tables):
    """Tables in DuckDB's own storage, whose text is packed."""
    connection = duckdb.connect()
    for name, table in tables.items():
        connection.register("given", arrow(table))
        connection.execute(f'CREATE TABLE "{name}" AS SELECT * FROM given')
    return DuckDB(connection)


class TestPackedText:
    """Text that is stored packed is looked up in an enumeration; what is read and added up stays the same."""

    @pytest.mark.parametrize("stored", VALUES)
    def test_hostile_values(self, stored):
        schema, table = every_value(stored)
        tally = Tally(Scan(schema), tuple(Field(name) for name in schema.columns), (COUNT,), Free())
        with in_own_tables({"hostile": table}) as engine:
            same_totals(engine.tally(tally), in_memory({"hostile": table}).tally(tally))

    def test_shares(self):
        memory = in_memory({"visits": SHARED})
        with in_own_tables({"visits": SHARED}) as engine:
            assert "ENUM('Oslo', 'Rome', 'Bonn')" in engine.explain(TALLIES[2])
            for tally in TALLIES if DEEP else TALLIES[2::5]:
                same_totals(engine.tally(tally), memory.tally(tally))

    @pytest.mark.parametrize("other", [None, "else"])
    @pytest.mark.parametrize("default", [None, "it's", "none"])
    def test_categories(self, tmp_path, other, default):
        column = Category(["N", "it's", "", "none"], other=other, default=default)
        cells = ["N", "n", " N", "it's", "", "NULL", None, "else", "NN"]
        path = tmp_path / "words.parquet"
        pq.write_table(pa.table({"who": [1] * len(cells), "w": cells}), path)
        memory = Memory({"words": [{"who": 1, "w": cell} for cell in cells]})
        rows = Scan(Schema("words", People("who", max_rows=2), {"w": column}))
        with DuckDB({"words": path}) as engine:
            for share in (Free(), RowShare(2), GroupShare(2, 1)):
                tally = Tally(rows, (Field("w"),), (Term(Constant(True), 64, 0, 64),), share)
                assert engine.tally(tally) == memory.tally(tally)


class TestCollations:
    """Text is compared letter by letter, whatever a column's collation: one spelling never decides about others."""

    SCHEMA = Schema("t", People("who", max_rows=9), {"r": Category(["n", "N"]), "w": Text(3)})
    ROWS = [("a", "n", "n")] + [("A", "N", "N")] * 3

    def test_of_columns(self):
        connection = duckdb.connect()
        connection.execute(
            "CREATE TABLE t (who VARCHAR COLLATE NOCASE, r VARCHAR COLLATE NOCASE, w VARCHAR COLLATE NOCASE)"
        )
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", self.ROWS)
        rows = [dict(zip(("who", "r", "w"), row, strict=True)) for row in self.ROWS]
        same = Call(Function.EQUAL, (Field("w"), Constant("n")))
        for keys in ((Field("r"),), (Field("w"), same), (Call(Function.UPPER, (Field("w"),)),)):
            for share in (RowShare(2), GroupShare(1, 2)):
                tally = Tally(Scan(self.SCHEMA), keys, (Term(Constant(True), 8, 0, 8),), share)
                assert DuckDB(connection).tally(tally) == Memory({"t": rows}).tally(tally)

    def test_of_a_connection_are_refused(self):
        connection = duckdb.connect()
        connection.execute("SET default_collation = 'nocase'")
        with pytest.raises(InvalidArgument, match="collation"):
            DuckDB(connection)
        connection.execute("SET default_collation = 'binary'")
        DuckDB(connection)


class TestRunning:
    def test_progress_shows_and_goes(self, capfd):
        with DuckDB({"people": pa.Table.from_pylist(ROWS)}, progress=True) as engine:
            assert engine.tally(TALLY) == WANTED
        assert capfd.readouterr().out == ""

    @pytest.mark.parametrize("progress", [False, True])
    def test_cancel(self, progress):
        """A query that would take an hour ends with a constant message."""
        with DuckDB({"people": pa.Table.from_pylist(ROWS)}, progress=progress) as engine:
            found = []

            def run():
                try:
                    engine._fetch(LONG)
                except EngineFailure as refusal:
                    found.append(refusal)

            thread = threading.Thread(target=run)
            thread.start()
            while thread.is_alive():
                engine.interrupt()
                time.sleep(0.05)
            assert "cancelled" in str(found[0])

    def test_a_twin_needs_no_file_and_is_stopped_by_nobody_else(self, tmp_path):
        """It answers from what the first engine read, goes on when that one is stopped, and keeps what it needs of it."""
        file = tmp_path / "people.csv"
        pa.csv.write_csv(pa.Table.from_pylist(ROWS), file)
        engine = DuckDB({"people": str(file)})
        wanted = engine.tally(TALLY)
        file.unlink()
        twin, found = engine.twin(), []

        def run(engine):
            try:
                engine._fetch(LONG)
            except EngineFailure as refusal:
                found.append(refusal)

        thread = threading.Thread(target=run, args=[engine])
        thread.start()
        while thread.is_alive():
            assert twin.tally(TALLY) == wanted
            engine.interrupt()
            time.sleep(0.05)
        assert "cancelled" in str(found[0])
        del engine, thread
        gc.collect()
        assert twin.tally(TALLY) == wanted

    def test_control_c(self, monkeypatch):
        from discreet.engines import progress

        stopped = threading.Event()

        def percent():
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            progress.watch(lambda: stopped.wait(60), percent, stopped.set)
        assert stopped.is_set()

    def test_control_c_waits_for_the_query_to_end(self):
        """An interrupt that comes while we wait; before Python 3.13 a joined thread was then taken to have ended."""
        from discreet.engines import progress

        stopped, ended = threading.Event(), threading.Event()

        def run():
            _thread.interrupt_main()
            stopped.wait(60)
            time.sleep(0.3)
            ended.set()

        before = signal.signal(
            signal.SIGINT, signal.default_int_handler
        )  # ignored where tests run in the background
        try:
            with pytest.raises(KeyboardInterrupt):
                progress.watch(run, lambda: -1.0, stopped.set)
        finally:
            signal.signal(signal.SIGINT, before)
        assert ended.is_set()

    def test_failure_is_constant(self):
        """What DuckDB says holds a value; what we say does not, and does not carry it along."""
        engine = DuckDB({"people": pa.Table.from_pylist(ROWS)})
        for sql in (
            "SELECT CAST('secret 4711' AS INTEGER)",
            "SELECT error('secret 4711')",
            "SELECT nothing",
        ):
            with pytest.raises(EngineFailure) as caught:
                engine._fetch(sql)
            assert "4711" not in str(caught.value)
            assert caught.value.__suppress_context__
        engine.close()
        with pytest.raises(EngineFailure):
            engine.tally(TALLY)

    def test_explain_names_the_table_not_its_file(self, tmp_path):
        path = tmp_path / "people.csv"
        path.write_text("who,age,region\n1,2,N\n")
        people = Schema("people", Rows(), {"age": Integer(0, 120)})
        text = DuckDB({"people": str(path)}).explain(
            Tally(Scan(people), (), (Term(Field("age"), 1, 0, 120),), Free())
        )
        assert str(tmp_path) not in text
        assert 'FROM "people" AS t' in text

    def test_explain_is_the_text(self):
        engine = DuckDB({"people": pa.Table.from_pylist(ROWS)})
        text = engine.explain(TALLY)
        assert text.startswith("SELECT y")
        assert engine._fetch(text)
        visits = Schema("people", People("age", max_rows=2), {"income": Real(0, 1)})
        assert "row_number" not in engine.explain(Tally(Scan(visits), (), (COUNT,), RowShare(2)))
        with pytest.raises(
            SchemaMismatch, match="there is no table nowhere here; there are people"
        ):
            engine.columns("nowhere")


@pytest.mark.parametrize(
    "types", [("HUGEINT", "UHUGEINT"), ("BIGINT", "UHUGEINT"), ("INTEGER", "HUGEINT")]
)
def test_ids_beyond_64_bits_of_different_types_are_refused_before_they_meet(types, tmp_path):
    """DuckDB would compare them as floats, in which many people are one, or by a cast that fails on one of them."""
    path = str(tmp_path / "company.duckdb")
    with duckdb.connect(path) as connection:
        connection.execute(
            f"CREATE TABLE users (id {types[0]}, age INTEGER); CREATE TABLE visits (id {types[1]}, k INTEGER)"
        )
    people = [Schema("users", People("id", max_rows=1), {"age": Integer(0, 99)}),
              Schema("visits", People("id", max_rows=1), {"k": Integer(0, 9)})]  # fmt: skip
    with DuckDB(path) as store:
        curator = dp.Curator(store, people, dp.open_ledger(":memory:", dp.PureDP(1)))
        with pytest.raises((SchemaMismatch, EngineFailure)):
            curator.sql(
                "SELECT COUNT(*) AS n FROM visits WHERE id IN (SELECT id FROM users)",
                spend=dp.PureDP(1),
            )
