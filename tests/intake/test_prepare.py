"""Prepared stores: read once, opened at once, by the same schema or a narrower one; whole or not there at all."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import stat

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet.engines.duckdb import prepare as preparing
from discreet.errors import InvalidArgument, SchemaMismatch
from discreet.query.algebra.expression import Call, Constant, Field, Function
from discreet.query.algebra.tally import Free, GroupShare, RowShare, Tally, Term
from discreet.query.algebra.tree import JoinPeople, Scan, Where

ONE = Term(Constant(True), 1, 0, 1)
FINE = Term(Constant(True), 2**20, 0, 2**20)
COLUMNS = {
    "age": dp.Integer(0, 120),
    "paid": dp.Real(0, 500, step=0.01),
    "region": dp.Category(["N", "S", "E"]),
}
PEOPLE = dp.Schema("people", dp.People("id", max_rows=3, max_groups=2), COLUMNS)
ROWS = [
    {"id": f"u{i * i % 11}" if i % 9 else None, "age": i * 7 % 140, "paid": i / 3 if i % 4 else None, "region": "NSEX"[i * i % 4]}
    for i in range(80)
]  # fmt: skip


def write_rows(path):
    lines = [",".join("" if cell is None else str(cell) for cell in row.values()) for row in ROWS]
    path.write_text("id,age,paid,region\n" + "\n".join(lines) + "\n")
    return path


@pytest.fixture
def csv_file(tmp_path):
    return write_rows(tmp_path / "people.csv")


@pytest.fixture
def store(csv_file, tmp_path):
    with dp.prepare({"people": csv_file}, [PEOPLE], tmp_path / "people.store") as made:
        yield made


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A file and the store made of it, for those who change neither."""
    place = tmp_path_factory.mktemp("kept")
    dp.prepare(
        {"people": write_rows(place / "people.csv")}, [PEOPLE], place / "people.store"
    ).close()
    return place


@pytest.fixture(scope="module")
def kept(folder):
    with dp.DuckDB(folder / "people.store") as opened:
        yield opened


def with_columns(**columns):
    return dp.Schema("people", PEOPLE.unit, COLUMNS | columns)


class TestStores:
    def test_answers_as_the_source_does(self, kept):
        """Shares that are stored, those that are not, and joins of numbered people."""
        memory, scan = dp.Memory({"people": ROWS}), Scan(PEOPLE)
        old = Call(Function.LESS, (Constant(40), Field("age")))
        regions = tuple((region,) for region in "NSE")
        tallies = [
            Tally(
                scan,
                (Field("region"),),
                (FINE, Term(Field("paid"), 1, 0, 50_000)),
                share,
                only=only,
            )
            for share in (Free(), RowShare(3), RowShare(2), GroupShare(2, 1))
            for only in (None, regions, (*regions, (None,)))
        ]
        tallies.append(Tally(Where(scan, old), (Field("region"),), (FINE,), RowShare(3)))
        tallies.append(Tally(scan, (), (FINE,), RowShare(3)))
        for tally in tallies:
            assert kept.tally(tally) == memory.tally(tally), tally
        assert '"\\share"' in kept.explain(tallies[4])
        assert '"\\rows"' in kept.explain(tallies[7])

    def test_counts_by_key_of_an_older_store_are_ignored(self, folder, tmp_path):
        """Stores of 0.1.0 also counted each person's rows by key; by now n are all rows, whatever their keys."""
        old = shutil.copy(folder / "people.store", tmp_path / "old.store")
        with duckdb.connect(str(old)) as connection:
            for name in ("\\rows region", "\\share region"):
                connection.execute(f'ALTER TABLE people ADD COLUMN "{name}" INTEGER DEFAULT 1')
            ((facts,),) = connection.execute('SELECT facts FROM "\\discreet"').fetchall()
            counted = facts.replace('"counts": [""]', '"counts": ["", "region"]')
            assert counted != facts
            connection.execute('UPDATE "\\discreet" SET facts = ?', [counted])
        tally = Tally(Scan(PEOPLE), (Field("region"),), (FINE,), RowShare(3), (("N",), ("S",)))
        with dp.DuckDB(old) as store:
            assert '"\\share"' in store.explain(tally)
            assert store.tally(tally) == dp.Memory({"people": ROWS}).tally(tally)

    @pytest.mark.parametrize(
        "asked",
        [
            with_columns(age=dp.Integer(18, 64)),
            with_columns(paid=dp.Real(10, 20, step=0.01)),
            with_columns(region=dp.Category(["S"])),
            dp.Schema(
                "people",
                dp.People("id", max_rows=2),
                {"AGE": dp.Integer(0, 120, null_key=True)},
                version="2",
            ),
        ],
    )
    def test_open_by_a_narrower_schema(self, kept, asked):
        keys = tuple(map(Field, asked.columns))
        rows = [row | {"AGE": row["age"]} for row in ROWS] if "AGE" in asked.columns else ROWS
        for share in (Free(), RowShare(2)):
            tally = Tally(Scan(asked), keys, (FINE,), share)
            assert kept.tally(tally) == dp.Memory({"people": rows}).tally(tally)

    @pytest.mark.parametrize(
        "asked",
        [
            with_columns(age=dp.Integer(0, 121)),
            with_columns(age=dp.Integer(0, 120, default=0)),
            with_columns(age=dp.Integer(0, 120, thousands=",")),
            with_columns(paid=dp.Real(0, 500, step=0.1)),
            with_columns(region=dp.Category(["N", "W"])),
            with_columns(region=dp.Category(["N"], other=True)),
            with_columns(region=dp.Text(5)),
            with_columns(more=dp.Boolean()),
            dp.Schema("people", dp.Rows(), COLUMNS),
            dp.Schema("people", dp.People("id", max_rows=4), COLUMNS),
        ],
    )
    def test_refuse_any_other(self, kept, asked):
        with pytest.raises(
            SchemaMismatch, match="discreet prepare SOURCE --schema SCHEMA.toml --out people.store"
        ):
            kept.check(asked)

    def test_are_private_files_and_say_nothing_of_ids(self, store, tmp_path):
        path = tmp_path / "people.store"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert [place.name for place in tmp_path.iterdir() if place.name.startswith(".")] == []
        assert b"u4" not in path.read_bytes()

    def test_open_many_times_in_one_process(self, store, tmp_path):
        with (
            dp.DuckDB(tmp_path / "people.store") as again,
            dp.DuckDB(str(tmp_path / "people.store"), progress=True) as third,
        ):
            again.check(PEOPLE)
            third.check(PEOPLE)
            assert again.columns("people") == {
                "age": "integer",
                "paid": "real",
                "region": "category",
            }
            with pytest.raises(SchemaMismatch, match="there are people"):
                again.check(dp.Schema("visits", dp.Rows(), COLUMNS))

    def test_tables_share_their_people(self, tmp_path):
        visits = dp.Schema("visits", dp.People("id", max_rows=2), {"n": dp.Integer(0, 9)})
        people = dp.Schema("people", dp.People("id", max_rows=3), {"age": dp.Integer(0, 99)})
        rows = {"people": [{"id": 2**60 + i, "age": i} for i in range(9)], "visits": [{"id": 2**60 + 2 * i, "n": i} for i in range(9)]}  # fmt: skip
        sources = {name: pa.Table.from_pylist(table) for name, table in rows.items()}
        joined = Tally(
            JoinPeople(Scan(people), Scan(visits), ()),
            (Field("age"), Field("n")),
            (FINE,),
            RowShare(2),
        )
        with dp.prepare(sources, [people, visits], tmp_path / "s") as store:
            assert store.tally(joined) == dp.Memory(rows).tally(joined)

    def test_whole_ids_of_any_size_are_one_kind(self, tmp_path):
        """Signed, unsigned and beyond 64 bits; in parts of one table and in tables that are joined, in any order."""
        ids = [0, 5, 2**62, 2**63, 2**63 + 1, 2**100, 2**127 + 3]
        rows = {"people": [{"id": i, "age": p} for p, i in enumerate(ids)], "visits": [{"id": i, "n": p} for p, i in enumerate(ids[::2] + ids)]}  # fmt: skip
        with duckdb.connect(str(tmp_path / "wide.duckdb")) as connection:
            connection.execute("CREATE TABLE people (id UHUGEINT, age INTEGER)")
            connection.executemany(
                "INSERT INTO people VALUES (?, ?)",
                [(row["id"], row["age"]) for row in rows["people"]],
            )
        parts = {1: [row for row in rows["visits"] if row["id"] < 2**63], 2: [row for row in rows["visits"] if 2**63 <= row["id"] < 2**64]}  # fmt: skip
        for place, kind in ((1, pa.int64()), (2, pa.uint64())):
            columns = {
                "id": pa.array([row["id"] for row in parts[place]], kind),
                "n": [row["n"] for row in parts[place]],
            }
            pq.write_table(pa.table(columns), tmp_path / f"visits{place}.parquet")
        people = dp.Schema("people", dp.People("id", max_rows=3), {"age": dp.Integer(0, 99)})
        joined = Tally(
            JoinPeople(Scan(people), Scan(VISITS), ()),
            (Field("age"), Field("n")),
            (FINE,),
            RowShare(2),
        )
        wanted = dp.Memory(rows | {"visits": parts[1] + parts[2]}).tally(joined)
        sources = {"people": tmp_path / "wide.duckdb", "visits": f"{tmp_path}/visits*.parquet"}
        for order in ([people, VISITS], [VISITS, people]):
            with dp.prepare(sources, order, tmp_path / "s") as store:
                assert store.tally(joined) == wanted

    def test_text_is_joined_to_what_is_read_in_place(self, tmp_path):
        rows = {"people": [{"id": f"u{i}", "age": i} for i in range(9)], "visits": [{"id": f"u{i % 5}", "n": i % 9} for i in range(20)]}  # fmt: skip
        (tmp_path / "people.csv").write_text(
            "id,age\n" + "".join(f"{row['id']},{row['age']}\n" for row in rows["people"]) + ",3\n"
        )
        people = dp.Schema("people", dp.People("id", max_rows=3), {"age": dp.Integer(0, 99)})
        joined = Tally(
            JoinPeople(Scan(people), Scan(VISITS), ()), (Field("age"),), (FINE,), RowShare(2)
        )
        with dp.DuckDB(
            {"people": tmp_path / "people.csv", "visits": pa.Table.from_pylist(rows["visits"])}
        ) as store:
            assert store.tally(joined) == dp.Memory(rows).tally(joined)
            assert store.report.tables[0].without_id == 1

    def test_a_mark_of_another_version_is_refused(self, store, tmp_path):
        store.close()
        with duckdb.connect(str(tmp_path / "people.store")) as connection:
            connection.execute('UPDATE "\\discreet" SET facts = ?', [json.dumps({"format": 99})])
        with pytest.raises(InvalidArgument, match="another version"):
            dp.DuckDB(tmp_path / "people.store")


class TestReport:
    def test_counts_and_forms(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_text('x,d,w\n"1,688.80",31/12/2024,abc\n7,2024-01-01,N\n900,,\n,01/02/2024,N\n')
        columns = {
            "x": dp.Real(0, 500),
            "d": dp.Date("2000-01-01", "2024-06-01"),
            "w": dp.Category(["N"]),
        }
        with dp.prepare({"t": path}, [dp.Schema("t", dp.Rows(), columns)], tmp_path / "s") as store:
            (table,) = store.report.tables
        x, d, w = table.columns
        assert (x.null, x.unreadable, x.clipped, x.forms, x.advice) == (
            1,
            1,
            1,
            (("9,999.99", 1),),
            "declare thousands=','",
        )
        assert (d.null, d.unreadable, d.forms) == (1, 2, (("99/99/9999", 2),))
        assert (w.null, w.unlisted) == (1, 1)
        declared = {
            "x": dp.Real(0, 5000, thousands=","),
            "d": dp.Date("2000-01-01", "2025-01-01", format="%d/%m/%Y"),
        }
        with dp.DuckDB({"t": path}) as store:
            store.check(dp.Schema("t", dp.Rows(), declared))
            assert [c.unreadable for c in store.report.tables[0].columns] == [0, 1]
        assert "1688" not in str(table) and "abc" not in str(table)

    def test_a_stale_store_says_so(self, store, csv_file):
        assert store.report.tables[0].stale == ()
        os.utime(csv_file, (1, 1))
        assert store.report.tables[0].stale == ()  # the same bytes
        csv_file.write_text(csv_file.read_text() + "u1,1,1,N\n")
        assert store.report.tables[0].stale == (str(csv_file),)
        assert "stale" in str(store.report)
        csv_file.unlink()
        assert store.report.tables[0].stale


class TestSources:
    SCHEMA = dp.Schema("t", dp.Rows(), {"a": dp.Text(9), "b": dp.Integer(0, 9)})
    TALLY = Tally(Scan(SCHEMA), (Field("a"), Field("b")), (ONE,), Free())
    WANTED = {("é", 1): (1,), ("x;y", 2): (1,)}

    def totals(self, source, out, **words):
        with dp.prepare({"t": source}, [self.SCHEMA], out, **words) as store:
            return store.tally(self.TALLY)

    def test_declared_forms_of_text(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_bytes("a;b\né;1\n'x;y';2\n".encode("latin-1"))
        found = self.totals(path, tmp_path / "1", delimiter=";", quote="'", encoding="latin-1")
        assert found == self.WANTED
        path.write_bytes("é\t1\nx;y\t2\n".encode("utf-16"))
        form = dp.Csv(path, delimiter="\t", header=False, names=["a", "b"], encoding="utf-16")
        assert self.totals(form, tmp_path / "2") == self.WANTED
        (tmp_path / "part1.csv.gz").write_bytes(gzip.compress("b,a\n1,é\n".encode()))
        (tmp_path / "part2.csv").write_text('a,b\n"x;y",2\n')
        assert self.totals(f"{tmp_path}/part*", tmp_path / "3") == self.WANTED

    def test_tables_of_a_duckdb_file_in_any_schema(self, tmp_path):
        path = tmp_path / "company.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.execute("CREATE SCHEMA sales")
            connection.execute(
                "CREATE TABLE sales.t AS SELECT * FROM (VALUES ('é', 1), ('x;y', 2)) AS v(a, b)"
            )
        assert self.totals(f"{path}#sales.t", tmp_path / "1") == self.WANTED
        assert self.totals(path, tmp_path / "2") == self.WANTED
        with dp.DuckDB(path) as store:
            assert store.tally(self.TALLY) == self.WANTED

    def test_bad_records_by_the_stewards_word(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_bytes(b'a,b\n\xc3\xa9,1\nx,y,z\n\xff,3\n"x;y",2\nopen,"5\nbare\rcr,1\n')
        with pytest.raises(InvalidArgument, match="record 2 has 3 fields"):
            self.totals(path, tmp_path / "1")
        with dp.prepare({"t": path}, [self.SCHEMA], tmp_path / "2", on_bad_record="drop") as store:
            assert store.tally(self.TALLY) == self.WANTED
            assert store.report.tables[0].bad_records == 4
            assert store.dropped == {"t"}
        with dp.prepare({"t": path}, [self.SCHEMA], tmp_path / "3", on_bad_record="null") as store:
            assert store.tally(self.TALLY) == {**self.WANTED, (None, None): (4,)}
            assert store.dropped == frozenset()
        assert dp.DuckDB({"t": dp.Csv(path, on_bad_record="drop")}).dropped == {"t"}

    @pytest.mark.parametrize(
        "words",
        [{"delimiter": ",,"}, {"quote": "é"}, {"delimiter": '"'}, {"encoding": "klingon"}, {"header": False},
         {"names": ["a"]}, {"on_bad_record": "guess"}],
    )  # fmt: skip
    def test_refused_forms(self, words):
        with pytest.raises(InvalidArgument):
            dp.Csv("t.csv", **words)


@pytest.mark.parametrize("progress", [False, True])
def test_progress_shows_where_it_is_asked_for_and_goes(
    folder, tmp_path, capsys, monkeypatch, progress
):
    monkeypatch.setenv("FORCE_COLOR", "1")  # a terminal, as rich sees it
    monkeypatch.setenv("TERM", "xterm")
    dp.prepare(
        {"people": folder / "people.csv"}, [PEOPLE], tmp_path / "s", progress=progress
    ).close()
    said = capsys.readouterr()
    assert said.out == ""
    if not progress:
        assert said.err == ""
        return
    assert "counting people" in said.err and "100%" in said.err
    assert (
        not said.err.endswith("\n") and "\x1b[2K" in said.err.partition("100%")[2]
    )  # the line is wiped


class TestNothingHalfWritten:
    def refused(self, sources, schemas, out, match, kind=InvalidArgument):
        with pytest.raises(kind, match=match):
            dp.prepare(sources, schemas, out)

    def test_refusals(self, csv_file, tmp_path):
        out = tmp_path / "s"
        self.refused({"people": tmp_path / "no.csv"}, [PEOPLE], out, "cannot be read")
        self.refused({"people": tmp_path / "no*.csv"}, [PEOPLE], out, "no file matches")
        self.refused({"people": csv_file}, [PEOPLE, PEOPLE], out, "same name")
        self.refused({"people": csv_file}, [], out, "only one of them", SchemaMismatch)
        self.refused({}, [], out, "no table")
        self.refused(
            {"people": csv_file},
            [with_columns(more=dp.Boolean())],
            out,
            "no column more",
            SchemaMismatch,
        )
        self.refused({"people": csv_file}, [PEOPLE], tmp_path / "no" / "s", "cannot be written")
        self.refused({"people": csv_file}, [PEOPLE], tmp_path, "is a folder")
        duckdb.connect(str(tmp_path / "a.duckdb")).execute("CREATE TABLE t (x INT)").close()
        os.mkfifo(tmp_path / "fifo")
        text = csv_file.read_bytes()
        for other in (csv_file, tmp_path / "a.duckdb", tmp_path / "fifo"):
            self.refused({"people": csv_file}, [PEOPLE], other, "is no prepared store")
        assert csv_file.read_bytes() == text
        assert sorted(place.name for place in tmp_path.iterdir()) == [
            "a.duckdb",
            "fifo",
            "people.csv",
        ]

    @pytest.mark.parametrize(
        "stopped", [KeyboardInterrupt(), OSError(28, "full"), duckdb.OutOfMemoryException("secret")]
    )
    def test_what_stops_midway_leaves_the_old_store(
        self, store, csv_file, tmp_path, monkeypatch, stopped
    ):
        store.close()
        before = (tmp_path / "people.store").read_bytes()

        def stop(*_):
            raise stopped

        monkeypatch.setattr(preparing, "write_mark", stop)
        kind = KeyboardInterrupt if isinstance(stopped, KeyboardInterrupt) else InvalidArgument
        with pytest.raises(kind) as caught:
            dp.prepare({"people": csv_file}, [PEOPLE], tmp_path / "people.store")
        assert "secret" not in str(caught.value)
        assert (tmp_path / "people.store").read_bytes() == before
        assert sorted(place.name for place in tmp_path.iterdir()) == ["people.csv", "people.store"]


def test_a_view_that_fails_on_a_row_fails_when_it_is_opened():
    connection = duckdb.connect()
    connection.execute("CREATE TABLE raw AS SELECT * FROM (VALUES ('1'), ('hiv')) AS v(x)")
    connection.execute("CREATE VIEW good AS SELECT length(x) AS age FROM raw")
    connection.execute("CREATE VIEW bad AS SELECT CAST(x AS INTEGER) AS age FROM raw")
    store, age = dp.DuckDB(connection), {"age": dp.Integer(0, 9)}
    good = dp.Schema("good", dp.Rows(), age)
    assert store.tally(Tally(Scan(good), (Field("age"),), (ONE,), Free())) == {
        (1,): (1,),
        (3,): (1,),
    }
    with pytest.raises(InvalidArgument, match="view that fails on some row") as caught:
        store.check(dp.Schema("bad", dp.Rows(), age))
    assert "hiv" not in str(caught.value)


class TestDoors:
    """At question time a store opens no file, loads nothing and changes no setting."""

    @pytest.mark.parametrize("kind", ["csv", "store", "arrow"])
    def test_are_closed(self, folder, tmp_path, kind):
        source = {
            "csv": {"people": folder / "people.csv"},
            "store": folder / "people.store",
            "arrow": {"people": pa.table({"x": [1]})},
        }
        with dp.DuckDB(
            source[kind], **({} if kind == "store" else {"memory": "1GB", "threads": 1})
        ) as opened:
            run = opened._connection.execute
            for sql in (
                f"SELECT * FROM read_text('{tmp_path}/other')",
                "SET threads = 2",
                "INSTALL httpfs",
                "LOAD httpfs",
            ):
                with pytest.raises(duckdb.Error):
                    run(sql)
            scratch = run("SELECT current_setting('temp_directory')").fetchall()[0][0]
            assert stat.S_IMODE(os.stat(scratch).st_mode) == 0o700

    def test_limits_are_checked(self):
        with pytest.raises(InvalidArgument, match="2GB"):
            dp.DuckDB({}, memory="much")


def own_tables(sources):
    connection = duckdb.connect()
    for name, table in sources.items():
        connection.register("given", table)
        connection.execute(f'CREATE TABLE "{name}" AS FROM given')
    return dp.DuckDB(connection)


class TestClock:
    """How much is read does not hang on one row: neighbours whose condition holds for nobody or for one person."""

    def scanned(self, engine, tally):
        sql = engine._over([PEOPLE, VISITS])._write(tally)[1]
        told = engine._connection.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}").fetchall()[0][1]

        def rows(node):
            own = node["intermediate_rows"] if node["type"] == "TABLE_SCAN" else 0
            return own + sum(map(rows, node.get("children", ())))

        return sum(map(rows, json.loads(told)["operator"]))

    @pytest.mark.parametrize("kept", [False, True])
    def test_reads_the_same_rows(self, tmp_path, kept):
        counts = set()
        size = 130_000  # more than a row group
        for place, age in enumerate((30, 119)):
            ages = np.full(size, 20)
            ages[0] = age
            people = pa.table(
                {"id": range(size), "age": ages, "paid": np.ones(size), "region": ["N"] * size}
            )
            sources = {
                "people": people,
                "visits": pa.table({"id": range(size), "n": np.ones(size, np.int64)}),
            }
            store = (
                dp.prepare(sources, [PEOPLE, VISITS], tmp_path / f"{place}")
                if kept
                else own_tables(sources)
            )
            old = Where(Scan(PEOPLE), Call(Function.LESS, (Constant(100), Field("age"))))
            tallies = [
                Tally(old, (Field("region"),), (FINE,), RowShare(3)),
                Tally(JoinPeople(old, Scan(VISITS), ()), (Field("n"),), (FINE,), RowShare(2)),
                Tally(JoinPeople(Scan(VISITS), old, ()), (Field("n"),), (FINE,), RowShare(2)),
            ]
            counts.add(tuple(self.scanned(store, tally) for tally in tallies))
        assert len(counts) == 1
        assert min(*counts) >= size


VISITS = dp.Schema("visits", dp.People("id", max_rows=2), {"n": dp.Integer(0, 9)})


def test_a_prepared_store_is_asked_in_any_case(tmp_path):
    """Names are looked up as declared, then in any case: also those of the columns with a person's counts."""
    rows = [{"who": i % 7, "Region": "NSX"[i % 3]} for i in range(50)]
    unit, region = dp.People("who", max_rows=4, max_groups=2), dp.Category(["N", "S"])
    asked = dp.Schema("t", unit, {"rEGION": region})
    with dp.prepare(
        {"t": pa.Table.from_pylist(rows)},
        [dp.Schema("t", unit, {"Region": region})],
        tmp_path / "s",
    ) as store:
        store.check(asked)
        for share in (Free(), RowShare(4), RowShare(2), GroupShare(1, 2)):
            tally = Tally(Scan(asked), (Field("rEGION"),), (FINE,), share, (("N",), ("S",)))
            assert store.tally(tally) == dp.Memory({"t": rows}).tally(tally)


class TestFilesOfOthers:
    """What somebody else has put into a DuckDB file: views that fail, functions, types that nothing reads."""

    def made(self, place, *texts):
        with duckdb.connect(str(place)) as connection:
            for text in texts:
                connection.execute(text)
        return place

    def test_a_view_that_fails_on_a_row_fails_when_it_is_opened_by_name(self, tmp_path):
        base = "CREATE TABLE raw AS SELECT CAST(range AS VARCHAR) AS n FROM range(9)"
        place = self.made(
            tmp_path / "c.duckdb", base, "CREATE VIEW t AS SELECT CAST(n AS INTEGER) AS x FROM raw"
        )
        schema = dp.Schema("t", dp.Rows(), {"x": dp.Integer(0, 9)})
        count = Tally(Scan(schema), (), (ONE,), Free())
        with dp.DuckDB({"t": place}) as store:
            assert store.tally(count) == {(): (9,)}
        self.made(place, "INSERT INTO raw VALUES ('hiv')")
        with (
            dp.DuckDB({"t": place}) as store,
            pytest.raises(InvalidArgument, match="a view that fails on some row"),
        ):
            store.check(schema)

    @pytest.mark.parametrize(
        "macro",
        [
            "greatest(a, b) AS 1",
            "xor(a, b) AS 5",
            '"+"(a, b) AS 1',
            "duckdb_views() AS TABLE SELECT 1",
        ],
    )
    def test_functions_are_the_stores_own(self, tmp_path, macro):
        place = self.made(
            tmp_path / "c.duckdb",
            "CREATE TABLE t AS SELECT range % 7 AS who, range AS x FROM range(99)",
            f"CREATE MACRO {macro}",
            "CREATE MACRO mine(a) AS a",
        )
        for opened in (
            lambda: dp.DuckDB(place),
            lambda: dp.DuckDB(duckdb.connect(str(place), read_only=True)),
        ):
            with pytest.raises(
                InvalidArgument, match=r"called like DuckDB's \(.*drop them, or name the tables"
            ):
                opened()
        schema = dp.Schema("t", dp.People("who", max_rows=3), {"x": dp.Integer(0, 9)})
        tally = Tally(Scan(schema), (), (FINE, Term(Field("x"), 1, 0, 9)), RowShare(3))
        rows = [{"who": i % 7, "x": i} for i in range(99)]
        with dp.DuckDB({"t": place}) as store:
            assert store.tally(tally) == dp.Memory({"t": rows}).tally(tally)

    def test_what_nothing_reads_is_refused_by_prepare_as_by_check(self, tmp_path):
        place = self.made(tmp_path / "c.duckdb", "CREATE TABLE t AS SELECT CAST('01' AS BIT) AS x")
        with pytest.raises(
            SchemaMismatch, match=r"t.x is stored as BIT, of which .* reads nothing"
        ):
            dp.prepare({"t": place}, [dp.Schema("t", dp.Rows(), {"x": dp.Text(9)})], tmp_path / "s")
        assert not (tmp_path / "s").exists()

    def test_columns_of_parquet_that_differ_only_in_case_are_refused(self, tmp_path):
        nested = pa.array([{"a": [1], "A": 2}])
        pq.write_table(
            pa.table([[1], nested, [7]], names=["age", "s", "AGE"]), tmp_path / "t.parquet"
        )
        schema = dp.Schema("t", dp.Rows(), {"AGE": dp.Integer(0, 9)})
        with (
            dp.DuckDB({"t": tmp_path / "t.parquet"}) as store,
            pytest.raises(InvalidArgument, match="only in case"),
        ):
            store.check(schema)
        pq.write_table(
            pa.table([[1], nested, nested, [7]], names=["a", "s", "list", "AGE"]),
            tmp_path / "u.parquet",
        )
        with dp.DuckDB({"t": tmp_path / "u.parquet"}) as store:
            assert store.tally(Tally(Scan(schema), (Field("AGE"),), (ONE,), Free())) == {(7,): (1,)}
