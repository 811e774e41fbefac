"""A store prepared from tables of PostgreSQL: every cell as the server's own answers read it, in one state of the data."""

from __future__ import annotations

import psycopg
import pytest
from typer.testing import CliRunner

import discreet as dp
from discreet.cli.app import app
from discreet.errors import EngineFailure, InvalidArgument, SchemaMismatch
from discreet.query.algebra.expression import Constant, Field
from discreet.query.algebra.tally import Free, RowShare, Tally, Term
from discreet.query.algebra.tree import JoinPeople, Scan

ONE, FINE = Term(Constant(True), 1, 0, 1), Term(Constant(True), 2**20, 0, 2**20)
COLUMNS = {
    "name": dp.Text(5),
    "age": dp.Integer(0, 120),
    "paid": dp.Real(0, 500, step=0.01),
    "region": dp.Category(["N", "S"], other=True),
    "code": dp.Category([3, 7]),
    "ok": dp.Boolean(default=False),
    "day": dp.Date("2020-01-01", "2024-12-31"),
    "at": dp.Timestamp("2020-01-01T00:00:00", "2024-12-31T23:59:59"),
}
PEOPLE = dp.Schema("people", dp.People("id", max_rows=2), COLUMNS)
VISITS = dp.Schema("visits", dp.People("id", max_rows=3), {"n": dp.Integer(0, 9)})
TYPES = "name text, age numeric, paid text, region char(3), code double precision, ok text, day text, at timestamptz"
ROWS = [
    "'ann', 37, '12.50', 'N', 3, 'yes', '2023-01-02', '2023-05-01 12:00+05'",
    "'', 200, '1,688.80', 'X', 7.5, 'maybe', '31/12/2023', 'infinity'",
    "'a\"\nb,c', 'NaN', ' 7 ', 'S', 'NaN', NULL, '2023-02-30', '-infinity'",
    "'\\.', -1e300, '1e400', NULL, 'Infinity', 'f', '9999-12-31', '2024-12-31 23:59:59.9Z'",
    "E'\\r', NULL, NULL, 'n', NULL, '1', '', NULL",
    "'Müller Ж', 1e-300, 'hiv', '', 3, 'TRUE', '2023-01-02T10:11', '0044-03-15 BC'",
]
IDS = {
    "bigint": ["1", "1", "-9223372036854775808", "NULL", "7", "7"],
    "text": ["'a'", "'a'", "''", "NULL", "'A'", "'a,\"b'"],
    "numeric": ["1.0", "1.00", "'NaN'", "NULL", "12345678901234567890123", "1e-200"],
    "double precision": ["0", "'-0'", "'NaN'", "NULL", "'Infinity'", "0.1"],
    "uuid": ["'00000000-0000-0000-0000-000000000001'"] * 3
    + ["NULL", "'00000000-0000-0000-0000-0000000000ff'", "NULL"],
}


@pytest.fixture
def server(postgres_dsn):
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS hr CASCADE; CREATE SCHEMA hr")
        yield connection
        connection.execute("DROP SCHEMA hr CASCADE")


def fill(server, kind="bigint"):
    server.execute("DROP TABLE IF EXISTS hr.people, hr.visits")
    server.execute(
        f"CREATE TABLE hr.people (id {kind}, {TYPES}); CREATE TABLE hr.visits (id {kind}, n integer)"
    )
    for number, (who, row) in enumerate(zip(IDS[kind], ROWS, strict=True)):
        server.execute(
            f"INSERT INTO hr.people VALUES ({who}, {row}); INSERT INTO hr.visits VALUES ({who}, {number})"
        )


def opened(dsn):
    return dp.Postgres(dsn, tables={"people": "hr.people", "visits": "hr.visits"})


@pytest.mark.parametrize("kind", IDS)
def test_the_store_answers_as_the_server_does(server, postgres_dsn, tmp_path, kind):
    fill(server, kind)
    tallies = [
        Tally(Scan(PEOPLE), tuple(map(Field, COLUMNS)), (ONE,), Free()),
        Tally(Scan(PEOPLE), (Field("region"),), (FINE,), RowShare(2)),
        Tally(
            JoinPeople(Scan(PEOPLE), Scan(VISITS), ()),
            (Field("name"), Field("n")),
            (FINE,),
            RowShare(3),
        ),
    ]
    with opened(postgres_dsn) as source:
        sources = {"people": source, "visits": source}
        with dp.prepare(sources, [PEOPLE, VISITS], tmp_path / "s") as store:
            for tally in tallies:
                assert store.tally(tally) == source.tally(tally)
            report = store.report.tables[0]
    facts = {c.name: (c.null, c.unreadable, c.clipped, c.unlisted) for c in report.columns}
    assert report.rows == 6
    assert facts["age"] == (2, 0, 2, 0)
    assert facts["region"] == (1, 0, 0, 3)
    assert facts["day"] == (0, 3, 1, 0)
    assert [place.name for place in tmp_path.iterdir()] == ["s"]


@pytest.fixture
def address(postgres_dsn):
    host, user, name = (word.partition("=")[2] for word in postgres_dsn.split())
    return f"postgresql:///{name}?host={host}&user={user}"


def test_a_draft_and_a_store_on_the_command_line(server, address, tmp_path):
    fill(server)
    run, (schema, out) = CliRunner().invoke, (str(tmp_path / "visits.toml"), str(tmp_path / "s"))
    words = ["--people", "id", "--max-rows", "3", "--bounds", "n=0:9", "--no-ask", "--out", schema]
    drafted = run(app, ["schema", "infer", f"{address}#hr.visits", *words])
    assert drafted.exit_code == 0, drafted.output
    prepared = run(app, ["prepare", f"{address}#hr.visits", "--schema", schema, "--out", out])
    assert prepared.exit_code == 0, prepared.output
    assert "visits: 6 rows, 1 without an id" in prepared.output
    inside = ["prepare", f"{address}#hr.visits", "--schema", schema, "--out"]
    assert run(app, [*inside, f"{address}#ready"]).exit_code == 2  # there is no such schema yet
    server.execute("CREATE SCHEMA ready")
    kept = run(app, [*inside, f"{address}#ready"])
    assert (kept.exit_code, kept.output) == (0, "ready: ready\n")
    assert server.execute("SELECT count(*), sum(rows_0) FROM ready.visits").fetchall() == [(5, 9)]
    server.execute("DROP SCHEMA ready CASCADE")
    for odd in (address, "postgresql://elsewhere/x#ready"):
        assert run(app, [*inside, odd]).exit_code == 2
    for place in ("hr.nothing", ""):
        refused = run(app, ["schema", "infer", f"{address}#{place}", "--unit", "rows", "--no-ask"])
        assert refused.exit_code == 2
        assert "name one as postgresql://" in " ".join(refused.output.split())


def test_rows_by_an_address(server, address, tmp_path):
    fill(server)
    visits = dp.Schema("visits", dp.Rows(), {"n": dp.Integer(0, 3)})
    with dp.prepare({"visits": f"{address}#hr.visits"}, [visits], tmp_path / "s") as store:
        assert store.tally(Tally(Scan(visits), (Field("n"),), (ONE,), Free())) == {
            (0,): (1,),
            (1,): (1,),
            (2,): (1,),
            (3,): (3,),
        }
        assert store.report.tables[0].columns[0].clipped == 2
    with pytest.raises(InvalidArgument, match="behind a #"):
        dp.prepare({"visits": address}, [visits], tmp_path / "s")


def test_tables_of_one_server_are_read_in_one_state(server, postgres_dsn, tmp_path, monkeypatch):
    fill(server)
    with opened(postgres_dsn) as source:
        export = source.export

        def slow(schema, place):
            found = export(schema, place)
            server.execute("INSERT INTO hr.visits VALUES (99, 9)")
            return found

        monkeypatch.setattr(source, "export", slow)
        with dp.prepare(
            {"people": source, "visits": source}, [PEOPLE, VISITS], tmp_path / "s"
        ) as store:
            assert [table.rows for table in store.report.tables] == [6, 6]


def test_what_cannot_be_read_leaves_nothing(server, postgres_dsn, tmp_path):
    fill(server)
    server.execute("CREATE VIEW hr.seen AS SELECT id, 10 / n AS n FROM hr.visits")
    seen = dp.Schema("seen", dp.People("id", max_rows=3), {"n": dp.Integer(0, 9)})
    source = dp.Postgres(postgres_dsn, tables={"seen": "hr.seen"})
    with source, pytest.raises(SchemaMismatch, match="may fail on some row"):
        dp.prepare({"seen": source}, [seen], tmp_path / "s")
    with dp.Postgres(postgres_dsn, tables={"seen": "hr.seen"}, trusted=["seen"]) as source:
        with pytest.raises(EngineFailure):
            dp.prepare({"seen": source}, [seen], tmp_path / "s")
        assert list(tmp_path.iterdir()) == []
    with opened(postgres_dsn) as source, pytest.raises(SchemaMismatch, match="no column more"):
        dp.prepare(
            {"visits": source},
            [dp.Schema("visits", dp.Rows(), {"more": dp.Boolean()})],
            tmp_path / "s",
        )
