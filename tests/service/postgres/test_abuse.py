"""Analysts who may sign in and mean harm: what others see, what a limit holds, and what a worker can take."""

from __future__ import annotations

import socket
import subprocess
import sys
from fractions import Fraction

import psycopg
import pytest

from service.deployment import build, free_port, start

from .conftest import Wire
from .raw import Raw, error_of, query, say

COUNT = "SELECT COUNT(*) AS n FROM people WHERE age < {}"
ACCESS_METHODS = "SELECT COUNT(*) FROM pg_am"
CHANGES = [
    "DELETE FROM pg_catalog.pg_am",
    "INSERT INTO pg_namespace (nspname) VALUES ('mine')",
    "UPDATE pg_namespace SET nspname = 'mine'",
    "DROP TABLE pg_catalog.pg_am",
    "CREATE OR REPLACE MACRO pg.main.pg_encoding_to_char(e) AS 'mine'",
    "BEGIN",
    "ATTACH '/tmp/mine.db' AS mine",
    "PRAGMA database_list",
]


def prepared(sql: str, name: str = "") -> bytes:
    """Parse and describe a statement under a name."""
    texts = f"{name}\0{sql}\0".encode() + b"\0\0"
    return say(b"P", texts) + say(b"D", f"S{name}\0".encode()) + say(b"S")


def executed(name: str = "", portal: str = "", rows: int = 0) -> bytes:
    texts = f"{portal}\0{name}\0".encode() + bytes(6)
    return (
        say(b"B", texts) + say(b"E", portal.encode() + b"\0" + rows.to_bytes(4, "big")) + say(b"S")
    )


class TestTheCatalogIsOfAll:
    """The image of the catalog is shared by the people of a worker: only queries reach it."""

    @pytest.mark.parametrize(
        "form", ["DECLARE c CURSOR FOR {}", "COPY ({}) TO STDOUT", "EXPLAIN {}", "{}"]
    )
    def test_whatever_is_no_query_is_refused(self, wire, form):
        with wire.connect() as line:
            before = line.execute(ACCESS_METHODS).fetchone()
            for change in CHANGES:
                if form == "{}" and change == "BEGIN":
                    continue
                with pytest.raises(psycopg.Error) as refused:
                    line.execute(form.format(change))
                # Refused by its own form, before anything reads what stands inside.
                inside = form != "{}"
                assert ("with a SELECT in it" in str(refused.value)) == inside, change
            assert line.execute(ACCESS_METHODS).fetchone() == before
            names = line.execute("SELECT nspname FROM pg_namespace").fetchall()
        assert sorted(names) == [("information_schema",), ("pg_catalog",), ("public",)]

    @pytest.mark.parametrize(
        "sql",
        [
            "WITH x AS (DELETE FROM pg_am RETURNING 1) SELECT * FROM x",
            "SELECT * FROM (WITH x AS (DELETE FROM pg_am RETURNING 1) SELECT * FROM x) t",
            "(WITH x AS (INSERT INTO pg_am (amname) VALUES ('a') RETURNING 1) SELECT * FROM x)",
            "SELECT 1 AS a INTO pg_am",
        ],
    )
    def test_nor_do_queries_that_change_something(self, wire, sql):
        with wire.connect() as line:
            before = line.execute(ACCESS_METHODS).fetchone()
            with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
                line.execute(sql)
            assert line.execute(ACCESS_METHODS).fetchone() == before

    @pytest.mark.parametrize(
        "sql",
        [
            "SELECT (SELECT COUNT(*) FROM people) FROM pg_class",
            "SELECT relname FROM pg_class WHERE EXISTS (SELECT 1 FROM people)",
            "SELECT 1 FROM pg_class UNION SELECT age FROM public.people",
            "SELECT * FROM pg_class, LATERAL (SELECT * FROM census.public.people) t",
        ],
    )
    def test_private_tables_inside_of_it(self, wire, sql):
        with wire.connect() as line, pytest.raises(psycopg.Error, match="beside the catalog"):
            line.execute(sql)

    def test_a_name_of_a_table_expression_opens_no_file(self, wire):
        """A name that is known in one scope is looked up in another one."""
        for name in ('"/etc/passwd"', "schemas", '"people.csv"'):
            sql = f"SELECT (WITH {name} AS (SELECT 1 AS a) SELECT a FROM {name}) AS a, t.* FROM {name} t"
            with wire.connect() as line, pytest.raises(psycopg.errors.FeatureNotSupported):
                line.execute(sql)

    def test_a_search_path_changes_no_meaning(self, wire):
        with wire.connect(options="-c search_path=pg_catalog -c discreet.epsilon=1/10") as line:
            assert line.execute(COUNT.format(21)).fetchone()
            with pytest.raises(psycopg.errors.UndefinedTable):
                line.execute("SELECT COUNT(*) FROM pg_catalog.people")


class TestLimits:
    """Limits hold for what is asked, not for what was planned."""

    def test_a_day_holds_for_statements_planned_together(self, own_wire):
        wire = own_wire('per_day = { epsilon = "1/4" }')
        with wire.connect() as line, pytest.raises(psycopg.Error, match="of a day"):
            line.execute("; ".join(COUNT.format(age) for age in range(1, 9)))
        assert wire.spent() == Fraction(2, 10)
        # Described while all of the day was left, asked one after the other.
        with Raw(wire.port) as line:
            line.sign_in("bob", wire.deployment.tokens["bob"], options="-c discreet.epsilon=1/10")
            for age in range(30, 35):
                line.send(prepared(COUNT.format(age), f"s{age}"))
                assert error_of(line.until(b"Z")) == ""
            codes = []
            for age in range(30, 35):
                line.send(executed(f"s{age}"))
                codes.append(error_of(line.until(b"Z")))
        assert codes == ["", "", *["53400"] * 3]
        assert wire.spent("bob") == Fraction(2, 10)

    @pytest.mark.parametrize("limit", ["allowance=1/10", "confirm=on", "intervals=off"])
    def test_terms_that_changed_after_a_plan(self, wire, limit):
        """A statement described at a small price is not asked at a large one."""
        options = f"-c discreet.epsilon=1/100 -c discreet.{limit}"
        age = 40 + len(limit)
        before = wire.spent()
        with Raw(wire.port) as line:
            line.sign_in("ana", wire.deployment.tokens["ana"], options=options)
            if limit == "confirm=on":
                # Stored at the small price, new at the large one.
                line.send(query("SET discreet.confirm = off"))
                line.until(b"Z")
                line.send(query(COUNT.format(age)))
                line.until(b"Z")
                line.send(query("SET discreet.confirm = on"))
                line.until(b"Z")
                before = wire.spent()
            line.send(prepared(COUNT.format(age)))
            line.until(b"Z")
            line.send(query("SET discreet.epsilon = '1'"))
            line.until(b"Z")
            line.send(executed())
            found = error_of(line.until(b"Z"))
        assert (found, wire.spent() - before) == (
            ("", 1) if limit == "intervals=off" else ("53400", 0)
        )

    def test_columns_that_changed_after_they_were_described(self, wire):
        with Raw(wire.port) as line:
            line.sign_in("ana", wire.deployment.tokens["ana"], options="-c discreet.epsilon=1/10")
            line.send(prepared(COUNT.format(22)))
            line.until(b"Z")
            line.send(query("SET discreet.intervals = on"))
            line.until(b"Z")
            line.send(executed())
            assert error_of(line.until(b"Z")) == "0A000"

    def test_a_name_used_again_leaves_its_portal_alone(self, wire):
        """A portal runs the statement that it was bound to, also after its name means another."""
        one, two = "SELECT 1 AS one", "SELECT 2 AS two"
        with Raw(wire.port) as line:
            line.sign_in("ana", wire.deployment.tokens["ana"])
            line.send(
                say(b"P", f"\0{one}\0".encode() + bytes(2))
                + say(b"B", b"p\0\0" + bytes(6))
                + say(b"P", f"\0{two}\0".encode() + bytes(2))
                + say(b"D", b"S\0")
                + say(b"E", b"p\0" + bytes(4))
                + say(b"S")
            )
            [row] = [payload for kind, payload in line.until(b"Z") if kind == b"D"]
        assert row == b"\0\1\0\0\0\x011"


class TestWhatAWorkerCanTake:
    """Memory, columns and parameters of one client are bounded, and nothing ends its connection."""

    def test_results_of_the_catalog_have_a_size(self, wire):
        wide = "x" * 50_000
        with wire.connect() as line, pytest.raises(psycopg.errors.FeatureNotSupported):
            line.execute(f"SELECT '{wide}' FROM generate_series(1, 1000)")
        with wire.connect() as line:
            assert len(line.execute("SELECT * FROM generate_series(1, 30000)").fetchall()) == 20_000

    def test_a_portal_ends_with_its_transaction(self, wire):
        with Raw(wire.port) as line:
            line.sign_in("ana", wire.deployment.tokens["ana"])
            line.send(prepared("SELECT * FROM generate_series(1, 9)"))
            line.until(b"Z")
            line.send(executed(portal="p", rows=2))
            assert [kind for kind, _ in line.until(b"Z")].count(b"D") == 2
            line.send(say(b"E", b"p\0" + bytes(4)) + say(b"S"))
            assert error_of(line.until(b"Z")) == "34000"

    @pytest.mark.parametrize(
        ("sql", "code"),
        [
            ("SELECT " + ", ".join(["*"] * 2000) + " FROM pg_am", "54011"),
            ("SELECT " + ", ".join(["*"] * 20_000) + " FROM people LIMIT 0", "54011"),
            ("SELECT $65535", "54023"),
            ("SELECT $99999::int", "54023"),
            ("SELECT 9 * sum(oid::bigint * 9000000000000000000) FROM pg_type", "0A000"),
            ("SELECT current_setting()", ""),
            ("SELECT '\\xff'::bytea", ""),
            ("COPY (SELECT 1) TO STDOUT WITH (FORMAT xml)", "0A000"),
        ],
    )
    def test_forms_that_no_message_holds(self, wire, sql, code):
        with Raw(wire.port) as line:
            line.sign_in("ana", wire.deployment.tokens["ana"])
            line.send(prepared(sql))
            described = line.until(b"Z")
            line.send(executed())
            found = error_of(described) or error_of(line.until(b"Z"))
            line.send(query("SELECT 1"))
            assert line.until(b"Z")[-1][0] == b"Z"
        assert found == code

    def test_no_statement_takes_long_to_tell(self):
        """64 KiB of spaces in every form: whole minutes where a scan is quadratic."""
        script = """
from discreet.service.postgres.statements import read_statement, split
words = "FETCH MOVE DECLARE SHOW SET RESET EXPLAIN COPY ROLLBACK START CLOSE DISCARD SELECT BEGIN"
words = [*words.split(), "FETCH 1", "FETCH FORWARD", "DECLARE c", "SET x", "COPY (", "SET TIME"]
for word in words:
    for filler in (" ", ")", ") ", "a", " a", "'", "$a", "/*"):
        for text in split(word + " " + filler * (60_000 // len(filler)) + "!"):
            read_statement(text)
"""
        subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


@pytest.mark.slow
def test_a_client_that_never_reads_keeps_no_service_from_stopping(tmp_path):
    deployment = build(tmp_path, port=free_port(), limits="free_seconds = 60")
    port = free_port()
    server = start(deployment, postgres=port)
    wire = Wire(deployment, port)
    with Raw(wire.port) as line:
        line.line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.sign_in("ana", deployment.tokens["ana"])
        wide = "x" * 50_000
        for _ in range(20):
            line.send(query(f"SELECT '{wide}' FROM generate_series(1, 30)"))
        assert wire.answers()
        # A worker stops within its drain time, whatever its clients do.
        server.stop()
    log = (tmp_path / "server.txt").read_text()
    assert "Traceback" not in log, log
