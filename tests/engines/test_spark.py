"""Spark: tables of its catalogue, settings that may not matter, cancellation, failure."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.cli.source import open_source
from discreet.data import Category, Date, Integer, People, Rows, Schema, Text, Timestamp
from discreet.engines import Memory, Spark
from discreet.errors import EngineFailure, InvalidArgument, SchemaMismatch
from discreet.query.algebra.expression import Call, Constant, Field, Function
from discreet.query.algebra.tally import Free, GroupShare, RowShare, Tally, Term
from discreet.query.algebra.tree import JoinPeople, JoinPublic, Scan, Where
from support.profile import DEEP

TESTS = Path(__file__).parents[1]
CONNECT = """
import threading, time
from pyspark.sql import SparkSession
from discreet.engines import Spark
from discreet.testing import engine_suite
from engines.tables import in_spark
session = SparkSession.builder.remote("local[2]").config("spark.sql.shuffle.partitions", "2").getOrCreate()
print(engine_suite(lambda tables: in_spark(tables, session)))
engine = Spark(session)
try:
    engine._fetch("SELECT CAST('secret 4711' AS INT)")
except Exception as refusal:
    print(refusal)
def stop():
    while thread.is_alive():
        engine.interrupt()
        time.sleep(0.2)
def run():
    try:
        engine._fetch("SELECT count(*) FROM range(100000000) AS a, range(100000) AS b WHERE (a.id * b.id) % 7 = 3")
    except Exception as refusal:
        print(refusal)
thread = threading.Thread(target=run)
thread.start()
stop()
session.stop()
"""
"""A process of its own: a session of Spark Connect cannot be opened beside another."""
COUNT = Term(Constant(True), 1, 0, 1)
pytestmark = pytest.mark.filterwarnings("ignore")


class TestSession:
    def test_tables_of_the_catalogue(self, spark_session):
        spark_session.sql(
            "CREATE OR REPLACE TEMP VIEW staff AS SELECT 1 AS who, X'01' AS a, CAST('N' AS STRING) AS b"
        )
        schema = Schema(
            "people", People("who", max_rows=1), {"a": Integer(0, 9), "b": Category(["N"])}
        )
        tally = Tally(Scan(schema), (Field("a"), Field("b")), (COUNT,), GroupShare(1, 1))
        engine = Spark(spark_session, {"people": "staff"}, trusted=["people"])
        with pytest.raises(SchemaMismatch, match="people.a is stored as binary"):
            engine.check(schema)
        assert engine.columns("people") == {"who": "int", "a": "binary", "b": "string"}
        assert engine.tally(tally) == {(None, "N"): (1,)}
        with pytest.raises(SchemaMismatch, match="no table nowhere"):
            Spark(spark_session).columns("nowhere")

    @pytest.mark.parametrize(
        ("name", "value"),
        [("spark.sql.ansi.enabled", "false"), ("spark.sql.session.timeZone", "Pacific/Auckland"),
         ("spark.sql.parser.escapedStringLiterals", "true")],
    )  # fmt: skip
    def test_settings_do_not_matter(self, spark_session, name, value):
        rows = [
            {"t": t, "d": "2024-03-10T02:30:00", "n": n}
            for t in ("a\\b", "x'y", "a\nb", None)
            for n in ("9" * 30, "12x", "7")
        ]
        columns = {
            "t": Text(9),
            "d": Timestamp("2024-01-01T00:00:00", "2024-12-31T00:00:00"),
            "n": Integer(0, 9),
        }
        schema = Schema("people", Rows(), columns)
        tests = [Call(Function.EQUAL, (Field("t"), Constant(t))) for t in ("a\\b", "x'y", "a\nb")]
        tests.append(Call(Function.LIKE, (Field("t"), Constant("_\\_"))))
        tally = Tally(Scan(schema), (Field("t"), Field("d"), Field("n"), *tests), (COUNT,), Free())
        frame = spark_session.createDataFrame(
            [tuple(row.values()) for row in rows], "t string, d string, n string"
        )
        before = spark_session.conf.get(name, None)
        spark_session.conf.set(name, value)
        try:
            assert Spark(spark_session, {"people": frame}).tally(tally) == Memory(
                {"people": rows}
            ).tally(tally)
        finally:
            spark_session.conf.set(
                name, before
            ) if before is not None else spark_session.conf.unset(name)

    @pytest.mark.parametrize(
        "text", ["${env:PATH}", "${spark:spark.app.name}", "${system:user.dir}", "$", "a${b}'\\"]
    )
    def test_variables_are_plain_text(self, spark_session, text):
        """Spark replaces ${env:PATH} in the whole text of a query, also within quotes."""
        schema = Schema("people", Rows(), {"t": Text(99), "n": Integer(0, 9)})
        same, like = (
            Call(f, (Field("t"), Constant(text))) for f in (Function.EQUAL, Function.LIKE)
        )
        older = Call(Function.AT_MOST, (Constant(0), Field("n")))
        length = Call(Function.LENGTH, (Call(Function.CASE, (older, Constant(text), Field("t"))),))
        key = Call(Function.CASE, (same, Constant(text), Constant("no")))
        rows = [{"t": text, "n": 3}, {"t": "b", "n": 4}]
        tally = Tally(
            Scan(schema),
            (key, like),
            (Term(length, 1, 0, 99),),
            Free(),
            only=((text, True), ("no", False)),
        )
        frame = spark_session.createDataFrame(
            [tuple(row.values()) for row in rows], "t string, n int"
        )
        found = Spark(spark_session, {"people": frame}).tally(tally)
        assert (
            found
            == Memory({"people": rows}).tally(tally)
            == {(text, True): (len(text),), ("no", False): (len(text),)}
        )

    def test_columns_named_like_variables(self, spark_session):
        frame = spark_session.createDataFrame([(1, 2), (1, 3)], "`${env:PATH}` int, n int")
        schema = Schema("people", Rows(), {"${env:PATH}": Integer(0, 9), "n": Integer(0, 9)})
        engine = Spark(spark_session, {"people": frame})
        engine.check(schema)
        assert engine.tally(Tally(Scan(schema), (Field("${env:PATH}"),), (COUNT,), Free())) == {
            (1,): (2,)
        }
        with pytest.raises(InvalidArgument, match="without"):
            Spark(spark_session, {"people": "hr.${env:PATH}"})

    def test_types_are_those_of_this_moment(self, spark_session):
        schema = Schema("turning", Rows(), {"a": Integer(0, 9)})
        engine, tally = Spark(spark_session), Tally(Scan(schema), (Field("a"),), (COUNT,), Free())
        for stored in ("7", "'7'"):
            spark_session.sql(f"CREATE OR REPLACE TEMP VIEW turning AS SELECT {stored} AS a")
            assert engine.tally(tally) == {(7,): (1,)}

    def test_names_with_a_dot(self, spark_session):
        frame = spark_session.createDataFrame([(1, 2)], "`a.b` int, `c d` int")
        frame.createOrReplaceTempView("dotted")
        schema = Schema("people", Rows(), {"a.b": Integer(0, 9), "c d": Integer(0, 9)})
        engine = Spark(spark_session, {"people": "`dotted`"})
        assert engine.tally(
            Tally(Scan(schema), (Field("a.b"), Field("c d")), (COUNT,), Free())
        ) == {(1, 2): (1,)}
        with open_source("spark:local[2]", [schema], {"people": "dotted"}) as opened:
            assert opened.columns("people") == {"a.b": "int", "c d": "int"}
        for place in ("", "a..b", "a.b.c.d", "a`"):
            with pytest.raises(InvalidArgument, match="is named as"):
                Spark(spark_session, {"people": place})

    def test_times_with_and_without_a_zone(self, spark_session):
        frame = spark_session.sql(
            "SELECT TIMESTAMP '1969-12-31 23:59:59.5+00:00' AS a, TIMESTAMP_NTZ '1969-12-31 23:59:59.5' AS b, "
            "DATE '1969-12-31' AS c, CAST('N' AS CHAR(3)) AS d"
        )
        at, day = (
            Timestamp("1960-01-01T00:00:00", "2024-12-31T00:00:00"),
            Date("1960-01-01", "2024-12-31"),
        )
        schema = Schema("people", Rows(), {"a": at, "b": at, "c": day, "d": Text(3)})
        found = Spark(spark_session, {"people": frame}).tally(
            Tally(Scan(schema), tuple(map(Field, "abc")), (COUNT,), Free())
        )
        assert found == {(-1, -1, -1): (1,)}

    def test_refuses(self, spark_session):
        with pytest.raises(InvalidArgument, match="running session"):
            Spark(None)
        with pytest.raises(InvalidArgument, match="no table of Spark"):
            Spark(spark_session, {"people": 3})


class TestRowsThatAreNoText:
    def test_bytes_that_are_no_text_are_null_and_no_person(self, spark_session):
        """Two such texts become one in Python, and the later count would take the place of the other."""
        cells = ["4DFC6C6C6572"] * 3 + ["4DE46C6C6572", "EDA080", "C080", "4D"]
        rows = " UNION ALL ".join(
            f"SELECT CAST(X'{cell}' AS STRING) AS a, {place} AS n"
            for place, cell in enumerate(cells)
        )
        frame = spark_session.sql(rows)
        schema = Schema("people", Rows(), {"a": Text(9), "n": Integer(0, 9)})
        engine = Spark(spark_session, {"people": frame})
        assert engine.tally(Tally(Scan(schema), (Field("a"),), (COUNT,), Free())) == {
            (None,): (6,),
            ("M",): (1,),
        }
        owned = Schema("people", People("a", max_rows=1), {"n": Integer(0, 9)})
        tally = Tally(Scan(owned), (), (COUNT,), GroupShare(1, 1), people=True)
        assert engine.tally(tally) == {(): (1,)}


class TestWhatCouldFail:
    def test_views_that_could_fail_need_the_stewards_word(self, spark_session, capfd):
        rows = spark_session.createDataFrame(
            [("alice", "hiv", 0), ("bob", "7", 2)], "name string, raw string, kids int"
        )
        rows.createOrReplaceTempView("patients")
        bad = [
            "CAST(raw AS INT) AS a",
            "10 / kids AS a",
            "kids + 1 AS a",
            "upper(name) AS a",
            "element_at(array(1), kids) AS a",
        ]
        good = [
            "kids AS a",
            "try_cast(raw AS INT) AS a",
            "CAST(kids AS BIGINT) AS a",
            "CASE WHEN kids > 1 THEN name END AS a",
        ]
        for text in (*bad, *good):
            spark_session.sql(
                f"CREATE OR REPLACE TEMP VIEW seen AS SELECT {text} FROM patients WHERE name <> 'x'"
            )
            column = Text(9) if "name" in text else Integer(0, 9)
            schema = Schema("seen", Rows(), {"a": column})
            if text in good:
                Spark(spark_session).check(schema)
                continue
            with pytest.raises(SchemaMismatch, match="trusted="):
                Spark(spark_session).check(
                    Schema("seen", Rows(), {"a": Category([1]) if "/" in text else column})
                )
        spark_session.sql(
            "CREATE OR REPLACE TEMP VIEW seen AS SELECT CAST(raw AS INT) AS a FROM patients"
        )
        engine = Spark(spark_session, trusted=["seen"])
        schema = Schema("seen", Rows(), {"a": Integer(0, 9)})
        engine.check(schema)
        capfd.readouterr()
        with pytest.raises(EngineFailure):
            engine.tally(Tally(Scan(schema), (), (Term(Field("a"), 1, 0, 9),), Free()))
        assert "hiv" not in "".join(capfd.readouterr())

    def test_a_session_that_fails_on_old_days_is_refused(self, spark_session):
        name = "spark.sql.parquet.int96RebaseModeInRead"
        before = spark_session.conf.get(name)
        frame = spark_session.createDataFrame([(1,)], "a int")
        engine, schema = (
            Spark(spark_session, {"people": frame}),
            Schema("people", Rows(), {"a": Integer(0, 9)}),
        )
        engine.check(schema)
        spark_session.conf.set(name, "EXCEPTION")
        try:
            with pytest.raises(SchemaMismatch, match="set it to CORRECTED"):
                engine.check(schema)
        finally:
            spark_session.conf.set(name, before)

    def test_no_row_decides_a_type(self, spark_session, tmp_path):
        """One row in the folder zip=0A would turn all others from 0 to 500, one file of another type fails them all."""
        place = tmp_path / "people.parquet"
        for folder, rows in (("010", [1, 2]), ("0200", [2])):
            (place / f"zip={folder}").mkdir(parents=True)
            pq.write_table(pa.table({"a": rows}), place / f"zip={folder}" / "rows.parquet")
        schema = Schema("people", Rows(), {"a": Integer(0, 9), "zip": Category(["010", "0200"])})
        tally = Tally(Scan(schema), (Field("zip"),), (COUNT,), Free())
        engine = Spark(spark_session, {"people": place})
        engine.check(schema)
        assert engine.tally(tally) == {("010",): (2,), ("0200",): (1,)}
        who = Schema("people", People("a", max_rows=2), {"zip": Category(["010", "0200"])})
        shared = Tally(
            Scan(who), (Field("zip"),), (COUNT, Term(Constant(True), 4, 0, 4)), RowShare(1)
        )
        rows = [{"a": a, "zip": zip_} for a, zip_ in ((1, "010"), (2, "0200"), (2, "010"))]
        assert "LEFT JOIN" in engine.explain(shared)
        assert engine.tally(shared) == Memory({"people": rows}).tally(shared)
        with pytest.raises(SchemaMismatch, match="guessed the type"):
            Spark(spark_session, {"people": spark_session.read.parquet(str(place))}).check(schema)
        pq.write_table(pa.table({"a": ["x"]}), place / "zip=010" / "others.parquet")
        with pytest.raises(SchemaMismatch, match="differ in their columns or types"):
            Spark(spark_session, {"people": place})
        with pytest.raises(SchemaMismatch, match="cannot be read"):
            Spark(spark_session, {"people": str(tmp_path / "none.parquet")})
        (tmp_path / "cells.csv").write_text("a,zip\n1,010\n2,0A\n", encoding="utf-8")
        lines = Spark(spark_session, {"people": tmp_path / "cells.csv"})
        with pytest.raises(SchemaMismatch, match="may fail on some row"):
            lines.check(schema)
        assert lines.columns("people") == {
            "a": "string",
            "zip": "string",
        }


class TestRunning:
    def test_an_interrupt_cancels(self, spark_session, monkeypatch):
        engine, stopped = Spark(spark_session), []
        monkeypatch.setattr(engine, "_run", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
        monkeypatch.setattr(engine, "interrupt", lambda: stopped.append(True))
        with pytest.raises(KeyboardInterrupt):
            engine._fetch("SELECT 1")
        assert stopped == [True]

    def test_progress(self, spark_session):
        assert Spark(spark_session, progress=True)._fetch("SELECT sum(id) FROM range(9)") == [(36,)]

    @pytest.mark.slow
    def test_spark_connect_keeps_the_contract(self):
        done = subprocess.run(
            [sys.executable, "-c", CONNECT], capture_output=True, check=False, text=True, cwd=TESTS
        )
        assert "failure held" in done.stdout, done.stderr[-2000:]
        assert "cancelled" in done.stdout and "4711" not in done.stdout + done.stderr

    def test_failure_is_constant(self, spark_session):
        engine = Spark(spark_session)
        for sql in (
            "SELECT CAST('secret 4711' AS INT)",
            "SELECT raise_error('secret 4711')",
            "SELECT nothing",
        ):
            with pytest.raises(EngineFailure) as caught:
                engine._fetch(sql)
            assert "4711" not in str(caught.value)
            assert caught.value.__suppress_context__

    def test_cancel(self, spark_session):
        engine = Spark(spark_session)
        found = []

        def run():
            try:
                engine._fetch(
                    "SELECT count(*) FROM range(100000000) AS a, range(100000) AS b WHERE (a.id * b.id) % 7 = 3"
                )
            except EngineFailure as refusal:
                found.append(refusal)

        thread = threading.Thread(target=run)
        thread.start()
        while thread.is_alive():
            engine.interrupt()
            time.sleep(0.2)
        assert "cancelled" in str(found[0])


class TestJoinsReadBothSides:
    """Whether one person passes a condition must not decide whether the other side of a join is read."""

    @pytest.mark.parametrize("rows", [0, 5])
    def test_no_side_is_left_out(self, spark_session, tmp_path, rows):
        for name, other in (("l", "a"), ("r", "b"), ("c", "v")):
            pq.write_table(
                pa.table({"id": range(1, 2001), other: range(1, 2001)}),
                tmp_path / f"{name}.parquet",
            )
        left, right = (
            Schema(t, People("id", max_rows=2), {x: Integer(0, 9999)})
            for t, x in (("l", "a"), ("r", "b"))
        )
        public = Schema.public_table("c", {"id": Integer(0, 9999), "v": Integer(0, 9)}, key="id")
        some = Where(Scan(left), Call(Function.LESS, (Field("a"), Constant(rows + 1))))
        joins = [JoinPeople(some, Scan(right), ()), JoinPeople(Scan(right), some, ())]
        joins += [
            JoinPublic(some, public, ((Field("a"), "id"),), (("v", "v"),), keep=keep)
            for keep in (False, True)
        ]
        with Spark(
            spark_session, {name: str(tmp_path / f"{name}.parquet") for name in "lrc"}
        ) as engine:
            for join in joins:
                tally = Tally(join, (), (COUNT,), GroupShare(1, 2))
                assert engine.tally(tally) == {(): (rows,)}
                # The text as it is run: `explain` shows the names of schemas.
                frame = spark_session.sql(engine._store.explain(tally))
                if DEEP:
                    frame.collect()  # a plan that adapts itself is settled when it has run
                plan = frame._jdf.queryExecution()
                assert "FullOuter" in plan.optimizedPlan().toString()
                assert plan.executedPlan().toString().count("FileScan parquet") >= 2
