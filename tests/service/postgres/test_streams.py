"""Streams over the PostgreSQL wire: views of the schema `stream`, free, with the right types."""

from __future__ import annotations

import time
from datetime import date, timedelta

import psycopg
import pytest

import discreet as dp
from discreet.service.postgres.catalog import CatalogSession
from discreet.service.postgres.questions import Asked, Studied, study
from discreet.service.postgres.refusals import WireError
from service.deployment import free_port, serving
from service.postgres.conftest import Wire
from service.test_streams import ASK, deploy
from streams.cases import BY_REGION, PLENTY, START, VISITS, curator, set_clock, visit

SESSION = CatalogSession("ana", "visits", {})
INT8, FLOAT8, TEXT, DATE, TIMESTAMP = 20, 701, 25, 1082, 1114


@pytest.fixture
def asker(tmp_path, monkeypatch):
    """A curator with a stream of 40 days, three of them closed, whose noise is nothing."""
    seal = dp.Seal.create(tmp_path / "v.key")
    set_clock(monkeypatch, 3)
    rows = [visit(day, region) for day in range(3) for region in "NNS"]
    made = curator(rows, dp.open_ledger(":memory:", PLENTY), VISITS)
    words = {"start": START, "periods": 40, "matters": {"day": 1}, "seal": seal}
    made.stream(BY_REGION, dp.ZCDP(10**10), name="visits", **words).close()
    return made


def ask(asker, sql, *parameters, **words):
    values = tuple(value.encode() for value in parameters)
    return study(asker, Asked(sql, values=values, session=SESSION, **words))


def types_of(found):
    return [(column.name, column.oid) for column in found.columns]


class TestRows:
    def test_they_are_free_and_typed(self, asker):
        """Without a price in the session: nothing is spent, and no entry is written."""
        entries = len(asker.ledger.history())
        found = ask(asker, "SELECT * FROM stream.visits")
        assert types_of(found) == [("day", DATE), ("region", TEXT), ("n", INT8)]
        assert found.rows[:2] == ((START.isoformat(), "N", 2), (START.isoformat(), "S", 1))
        assert len(found.rows) == 6 and len(asker.ledger.history()) == entries

    @pytest.mark.parametrize(
        ("sql", "types", "rows"),
        [
            ("SELECT SUM(n) AS s FROM stream.visits", [FLOAT8], [(9,)]),
            ("SELECT COUNT(*) AS c FROM stream.visits", [INT8], [(6,)]),
            (
                "SELECT region, AVG(n) AS a FROM stream.visits GROUP BY region",
                [TEXT, FLOAT8],
                [("N", 2), ("S", 1)],
            ),
            ("SELECT n FROM stream.visits LIMIT 0", [INT8], []),
            ("SELECT day FROM stream.visits WHERE 1 = 0", [DATE], []),
        ],
    )
    def test_forms(self, asker, sql, types, rows):
        found = ask(asker, sql)
        assert [column.oid for column in found.columns] == types
        assert [tuple(row) for row in found.rows] == rows

    def test_parameters_have_the_types_of_the_columns(self, asker):
        sql = "SELECT day, n FROM stream.visits WHERE region = $1 AND day >= $2"
        described = study(asker, Asked(sql, values=None, session=SESSION))
        assert described.parameters == (TEXT, DATE)
        assert types_of(described) == [("day", DATE), ("n", INT8)]
        found = ask(asker, sql, "S", "2027-01-02")
        assert [row[1] for row in found.rows] == [1, 1]

    def test_intervals_are_those_of_the_stream(self, asker):
        found = ask(asker, "SELECT day, n FROM stream.visits WHERE region = 'N'", intervals=True)
        assert types_of(found)[1:] == [("n", INT8), ("n_low", FLOAT8), ("n_high", FLOAT8)]
        assert all(low <= 2 <= high for _, _, low, high in found.rows)

    def test_explain_says_that_it_is_free(self, asker):
        found = ask(asker, "SELECT n FROM stream.visits", explain=True)
        assert "free: published by the stream visits, entry 2" in str(found.rows)


class TestRefusals:
    @pytest.mark.parametrize(
        ("sql", "sqlstate", "words"),
        [
            ("SELECT n FROM stream.other", "42P01", "there is visits, stream.visits"),
            ("SELECT n FROM stream.visit", "42P01", "did you mean stream.visits"),
            ("SELECT a.n FROM stream.visits a JOIN pg_class ON true", "0A000", "two statements"),
        ],
    )
    def test_by_the_wire(self, asker, sql, sqlstate, words):
        found = ask(asker, sql)
        assert isinstance(found, WireError) and found.sqlstate == sqlstate
        assert words in f"{found.words}; {found.hint}"

    @pytest.mark.parametrize(
        ("sql", "words"),
        [
            ("SELECT MEDIAN(n) AS m FROM stream.visits", "MIN and MAX"),
            (
                "SELECT COUNT(*) AS c FROM visits JOIN stream.visits s ON true",
                "ask for each table by itself",
            ),
        ],
    )
    def test_by_the_question(self, asker, sql, words):
        with pytest.raises(dp.UnsupportedQuery, match=words):
            ask(asker, sql)

    def test_more_numbers_than_an_answer_has(self, asker):
        with pytest.raises(dp.InvalidArgument, match="at most 5"):
            ask(asker, "SELECT day, region, n FROM stream.visits", max_cells=5)


class TestCatalog:
    def test_the_stream_is_a_view(self, asker):
        sql = "SELECT table_schema, table_name, table_type FROM information_schema.tables"
        kinds = {row[:2]: row[2] for row in ask(asker, sql).rows}
        assert kinds["stream", "visits"] == "VIEW" and kinds["public", "visits"] == "BASE TABLE"
        sql = (
            "SELECT column_name, data_type FROM information_schema.columns "
            "WHERE table_schema = 'stream' ORDER BY ordinal_position"
        )
        assert ask(asker, sql).rows == (("day", "date"), ("region", "text"), ("n", "bigint"))

    def test_names_with_and_without_their_schema(self, asker):
        """The table and the stream of one name are told apart, also in quotes."""
        sql = "SELECT c.relkind FROM pg_class c WHERE c.oid = {}::regclass"
        for name, kind in [("visits", "r"), ("stream.visits", "v"), ('"stream"."visits"', "v")]:
            assert ask(asker, sql.format(f"'{name}'")).rows == ((kind,),)

    def test_nothing_where_there_is_no_stream(self, tmp_path):
        bare = curator([], dp.open_ledger(":memory:", PLENTY), VISITS)
        found = ask(bare, "SELECT nspname FROM pg_namespace")
        assert isinstance(found, Studied) and ("stream",) not in found.rows


def spent_of(house):
    with house.client("ana") as client:
        return client.get("/datasets/people/spent").json()["spent"]


@pytest.mark.slow
def test_psql_and_psycopg(tmp_path):
    """A real listener: rows of both formats, without a price, and the tables that psql lists."""
    house = deploy(tmp_path)
    begin = date.today() - timedelta(days=5)
    (house.folder / "visits.csv").write_text(f"day,ward\n{begin},A\n")
    port = free_port()
    with serving(house, postgres=f"127.0.0.1:{port}"):
        stream = ASK | {"start": begin.isoformat(), "why": ""}
        with house.client("ana") as client:
            client.post("/datasets/people/streams", json=stream).raise_for_status()
        with house.client("stella") as steward:
            while len(steward.get("/datasets/people/streams").json()["streams"]) < 1:
                time.sleep(0.1)
            steward.post("/datasets/people/streams/visits/close", json={}).raise_for_status()
        wire = Wire(house, port)
        rows = wire.psql("SELECT day, ward, n FROM stream.visits ORDER BY day LIMIT 2", options="")
        assert rows.stdout.splitlines() == [f"{begin}|A|1", f"{begin}|B|0"]
        assert "stream|visits|view" in wire.psql(r"\d").stdout
        refused = wire.psql("SELECT n FROM stream.visit", options="")
        assert "HINT:  did you mean stream.visits?" in refused.stderr
        spent = spent_of(house)
        with wire.connect(spend=None) as line:
            for binary in (False, True):
                cursor = line.cursor(binary=binary)
                sql = "SELECT day, SUM(n) AS n, COUNT(*) AS c FROM stream.visits WHERE ward = %s GROUP BY day"
                found = cursor.execute(sql, ["A"]).fetchall()
                assert found[0] == (begin, 1, 1) and len(found) == 5
            with pytest.raises(psycopg.errors.FeatureNotSupported, match="MEDIAN"):
                line.execute("SELECT MEDIAN(n) AS m FROM stream.visits")
        assert spent_of(house) == spent


class TestKeys:
    @pytest.mark.parametrize(
        ("column", "oid"),
        [
            (dp.Boolean(), 16),
            (dp.Integer(1, 3), INT8),
            (dp.Category([1, 2]), INT8),
        ],
    )
    def test_their_types(self, column, oid, tmp_path, monkeypatch):
        columns = {"at": dp.Timestamp("2027-01-01 00:00:00", "2028-01-01 00:00:00"), "k": column}
        schema = dp.Schema("visits", dp.Rows(), columns)
        seal = dp.Seal.create(tmp_path / "k.key")
        set_clock(monkeypatch, 2)
        made = curator([], dp.open_ledger(":memory:", dp.ZCDP(1)), schema)
        sql = "SELECT DATE_TRUNC('day', at) AS day, k, COUNT(*) AS n FROM visits GROUP BY day, k"
        words = {"start": START, "periods": 4, "matters": {"day": 1}, "seal": seal}
        made.stream(sql, dp.ZCDP(1), name="keyed", **words).close()
        found = ask(made, "SELECT * FROM stream.keyed")
        assert [column.oid for column in found.columns] == [TIMESTAMP, oid, INT8]
        listed = ask(
            made,
            "SELECT a.atttypid FROM pg_attribute a WHERE a.attrelid = 'stream.keyed'::regclass "
            "ORDER BY a.attnum",
        )
        assert [number for (number,) in listed.rows] == [TIMESTAMP, oid, INT8]
