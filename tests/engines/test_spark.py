"""Spark: tables of its catalogue, settings that may not matter, cancellation, failure."""

from __future__ import annotations

import threading
import time

import pytest

from discreet.data import Category, Date, Integer, People, Rows, Schema, Text, Timestamp
from discreet.engines import Memory, Spark
from discreet.errors import EngineFailure, InvalidArgument, SchemaMismatch
from discreet.query.algebra.expression import Call, Constant, Field, Function
from discreet.query.algebra.tally import Free, GroupShare, Tally, Term
from discreet.query.algebra.tree import Scan

COUNT = Term(Constant(True), 1, 0, 1)
pytestmark = pytest.mark.filterwarnings("ignore")


class TestSession:
    def test_tables_of_the_catalogue(self, spark_session):
        spark_session.sql("CREATE OR REPLACE TEMP VIEW staff AS SELECT 1 AS who, X'01' AS a, CAST('N' AS STRING) AS b")
        schema = Schema("people", People("who", max_rows=1), {"a": Integer(0, 9), "b": Category(["N"])})
        tally = Tally(Scan(schema), (Field("a"), Field("b")), (COUNT,), GroupShare(1, 1))
        engine = Spark(spark_session, {"people": "staff"})
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
        columns = {"t": Text(9), "d": Timestamp("2024-01-01T00:00:00", "2024-12-31T00:00:00"), "n": Integer(0, 9)}
        schema = Schema("people", Rows(), columns)
        tests = [Call(Function.EQUAL, (Field("t"), Constant(t))) for t in ("a\\b", "x'y", "a\nb")]
        tests.append(Call(Function.LIKE, (Field("t"), Constant("_\\_"))))
        tally = Tally(Scan(schema), (Field("t"), Field("d"), Field("n"), *tests), (COUNT,), Free())
        frame = spark_session.createDataFrame([tuple(row.values()) for row in rows], "t string, d string, n string")
        before = spark_session.conf.get(name, None)
        spark_session.conf.set(name, value)
        try:
            assert Spark(spark_session, {"people": frame}).tally(tally) == Memory({"people": rows}).tally(tally)
        finally:
            spark_session.conf.set(name, before) if before is not None else spark_session.conf.unset(name)

    @pytest.mark.parametrize("text", ["${env:PATH}", "${spark:spark.app.name}", "${system:user.dir}", "$", "a${b}'\\"])
    def test_variables_are_plain_text(self, spark_session, text):
        """Spark replaces ${env:PATH} in the whole text of a query, also within quotes."""
        schema = Schema("people", Rows(), {"t": Text(99), "n": Integer(0, 9)})
        same, like = (Call(f, (Field("t"), Constant(text))) for f in (Function.EQUAL, Function.LIKE))
        older = Call(Function.AT_MOST, (Constant(0), Field("n")))
        length = Call(Function.LENGTH, (Call(Function.CASE, (older, Constant(text), Field("t"))),))
        key = Call(Function.CASE, (same, Constant(text), Constant("no")))
        rows = [{"t": text, "n": 3}, {"t": "b", "n": 4}]
        tally = Tally(Scan(schema), (key, like), (Term(length, 1, 0, 99),), Free(), only=((text, True), ("no", False)))
        frame = spark_session.createDataFrame([tuple(row.values()) for row in rows], "t string, n int")
        found = Spark(spark_session, {"people": frame}).tally(tally)
        assert (
            found == Memory({"people": rows}).tally(tally) == {(text, True): (len(text),), ("no", False): (len(text),)}
        )

    def test_columns_named_like_variables(self, spark_session):
        frame = spark_session.createDataFrame([(1, 2), (1, 3)], "`${env:PATH}` int, n int")
        schema = Schema("people", Rows(), {"${env:PATH}": Integer(0, 9), "n": Integer(0, 9)})
        engine = Spark(spark_session, {"people": frame})
        engine.check(schema)
        assert engine.tally(Tally(Scan(schema), (Field("${env:PATH}"),), (COUNT,), Free())) == {(1,): (2,)}
        with pytest.raises(InvalidArgument, match="without"):
            Spark(spark_session, {"people": "hr.${env:PATH}"})

    def test_times_with_and_without_a_zone(self, spark_session):
        frame = spark_session.sql(
            "SELECT TIMESTAMP '1969-12-31 23:59:59.5+00:00' AS a, TIMESTAMP_NTZ '1969-12-31 23:59:59.5' AS b, "
            "DATE '1969-12-31' AS c, CAST('N' AS CHAR(3)) AS d"
        )
        at, day = Timestamp("1960-01-01T00:00:00", "2024-12-31T00:00:00"), Date("1960-01-01", "2024-12-31")
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


class TestRunning:
    def test_failure_is_constant(self, spark_session):
        engine = Spark(spark_session)
        for sql in ("SELECT CAST('secret 4711' AS INT)", "SELECT raise_error('secret 4711')", "SELECT nothing"):
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
