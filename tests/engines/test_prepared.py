"""Tables prepared inside a server answer as those they were read from, to the same schemas and to narrower ones."""

from __future__ import annotations

import pytest

from discreet.data import Category, Integer, People, Real, Schema, Text
from discreet.errors import InvalidArgument, SchemaMismatch
from discreet.query.algebra.expression import Call, Constant, Field, Function
from discreet.query.algebra.tally import Free, GroupShare, RowShare, Tally, Term
from discreet.query.algebra.tree import JoinPeople, JoinPublic, Scan, Where
from engines.tables import Table, in_memory, in_postgres, in_spark, same_totals
from engines.test_reading import every_value

ONE, FINE = Term(Constant(True), 1, 0, 1), Term(Constant(True), 2**20, 0, 2**20)
WHO = People("who", max_rows=3)
REGION = Category(["N", "S"])
COLUMNS = {
    "age": Integer(0, 90),
    "cost": Real(-5, 500, step=0.01),
    "region": REGION,
    "note": Text(4),
}
VISITS = Schema("visits", WHO, COLUMNS)
STAFF = Schema("staff", WHO, {"pay": Integer(0, 9)})
PLACES = Schema.public_table("places", {"region": REGION, "size": Integer(0, 9)}, key="region")
HOSTILE, HOSTILE_ROWS = every_value("text")
WORDS = ["37", "900", "x", "19.99", "-1e9", None, "nan"]
ROWS = [
    (
        f"p{i % 11}" if i % 7 else None,
        WORDS[i % 7],
        WORDS[i % 5],
        ["N", "S", "n", None][i % 4],
        f"nöte{i % 3}",
    )
    for i in range(90)
]
TABLES = {
    "visits": Table(
        {"who": "text", "age": "text", "cost": "text", "region": "text", "note": "text"}, ROWS
    ),
    "staff": Table({"who": "text", "pay": "bigint"}, [(f"p{i % 13}", i % 10) for i in range(60)]),
    "places": Table({"region": "text", "size": "bigint"}, [("N", 3), ("S", 12), ("x", 1)]),
    "hostile": HOSTILE_ROWS,
}
SCHEMAS = (VISITS, STAFF, PLACES, HOSTILE)
OLD = Where(Scan(VISITS), Call(Function.AT_MOST, (Constant(20), Field("age"))))
KEY, PLACED = (
    (Field("region"),),
    JoinPublic(Scan(VISITS), PLACES, ((Field("region"), "region"),), (("size", "size"),)),
)
NARROW = Schema(
    "visits",
    People("who", max_rows=2),
    {"age": Integer(18, 40), "region": Category(["N"]), "note": Text(2)},
)
TALLIES = [
    Tally(Scan(HOSTILE), tuple(map(Field, HOSTILE.columns)), (ONE,), Free()),
    Tally(Scan(VISITS), tuple(map(Field, COLUMNS)), (ONE,), Free()),
    Tally(Scan(VISITS), KEY, (FINE,), RowShare(3)),
    Tally(Scan(VISITS), (), (Term(Field("cost"), 1, -500, 50000), FINE), RowShare(2)),
    Tally(OLD, KEY, (FINE,), RowShare(3)),
    Tally(Scan(VISITS), KEY, (ONE,), GroupShare(1, 2)),
    Tally(Scan(VISITS), (Field("note"),), (ONE,), GroupShare(2, 1), people=True),
    Tally(JoinPeople(Scan(VISITS), Scan(STAFF)), (Field("pay"),), (ONE,), Free()),
    Tally(PLACED, (Field("size"),), (ONE,), Free()),
    Tally(Scan(NARROW), tuple(map(Field, NARROW.columns)), (ONE, FINE), RowShare(2)),
]


@pytest.fixture(params=["postgres", "spark"])
def server(request):
    """An engine over all tables, and a way to run a text on its server, on which there is a place `ready`."""
    if request.param == "postgres":
        import psycopg

        dsn = request.getfixturevalue("postgres_dsn")
        with psycopg.connect(dsn, autocommit=True) as server, in_postgres(TABLES, dsn) as engine:
            server.execute("CREATE SCHEMA ready")
            yield (
                engine,
                lambda sql: (
                    server.execute(sql).fetchall()
                    if sql.startswith("SELECT")
                    else server.execute(sql)
                ),
            )
            server.execute("DROP SCHEMA ready CASCADE")
    else:
        session = request.getfixturevalue("spark_session")
        session.sql("CREATE DATABASE ready")
        with in_spark(TABLES, session) as engine:
            yield engine, lambda sql: session.sql(sql).collect()
        session.sql("DROP DATABASE ready CASCADE")


def test_prepared_tables_answer_as_what_they_were_read_from(server):
    """Defaults, clipping, shares of counted rows, joins, narrower schemas; prepared twice, the second time in place."""
    (store, run), memory = server, in_memory(TABLES)
    run("CREATE TABLE ready.staff AS SELECT 41 AS x")
    with pytest.raises(InvalidArgument, match="was not prepared: give another place"):
        store.prepare([VISITS, STAFF], "ready")
    with pytest.raises(Exception, match=r"(?i)visits"):
        run("SELECT * FROM ready.visits")
    assert [row[0] for row in run("SELECT x FROM ready.staff")] == [41]
    run("DROP TABLE ready.staff")
    wider = Schema("visits", WHO, COLUMNS | {"age": Integer(0, 99)})
    for schemas, tallies in ((SCHEMAS, TALLIES), ((STAFF, VISITS), TALLIES[2:3])):
        with store.prepare(schemas, "ready") as ready:
            for schema in (*schemas, NARROW):
                ready.check(schema)
            for tally in tallies:
                same_totals(ready.tally(tally), memory.tally(tally))
            for asked in (
                ready.check,
                lambda schema: ready.tally(Tally(Scan(schema), (), (ONE,), Free())),
            ):
                with pytest.raises(
                    SchemaMismatch, match=r"age was read as Integer\(0, 90\).*prepare it again"
                ):
                    asked(wider)
    with pytest.raises(InvalidArgument, match="nothing could be prepared in nowhere"):
        store.prepare([VISITS], "nowhere")
