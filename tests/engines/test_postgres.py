"""PostgreSQL: its own types, places of tables, cancellation, failure."""

from __future__ import annotations

import threading
import time
from decimal import Decimal

import psycopg
import pytest

import discreet as dp
from discreet.data import (
    Boolean,
    Category,
    Date,
    Integer,
    People,
    Real,
    Rows,
    Schema,
    Text,
    Timestamp,
)
from discreet.engines import Memory, Postgres
from discreet.engines.postgres.catalog import is_total
from discreet.errors import EngineFailure, InvalidArgument, SchemaMismatch
from discreet.query.algebra.expression import Call, Constant, Field, Function
from discreet.query.algebra.tally import Free, GroupShare, RowShare, Tally, Term
from discreet.query.algebra.tree import JoinPeople, JoinPublic, Scan, Where

COUNT = Term(Constant(True), 1, 0, 1)
COLUMNS = {
    "a": Integer(-5, 9),
    "b": Real(-(2**60), 2**60, step=1),
    "c": Category(["N", "3"], other=True),
    "d": Date("1969-01-01", "2024-01-01"),
    "e": Timestamp("1969-01-01T00:00:00", "2024-01-01T00:00:00"),
    "f": Category([3, 7], other=-1),
    "g": Text(20),
    "h": Real(0, "1e-290"),
    "i": Boolean(),
    "j": Real(0, 10**6, step=1000),
}
CELLS = {
    "numeric": [
        "1e400",
        "-1e400",
        "1e-400",
        "3.5",
        "NaN",
        "Infinity",
        "-Infinity",
        "0.49999999999999999999",
        "4e-291",
        "1e-316",
        "7",
    ],
    "double precision": [
        "5e-324",
        "1e308",
        "NaN",
        "Infinity",
        "-Infinity",
        "-0",
        "2.5",
        "4e-291",
        "7",
    ],
    "real": ["1e-45", "3.4e38", "NaN", "7"],
    "smallint": ["3", "-32768"],
    "character varying(9)": ["N", "3", " 7 ", "yes"],
    "character(4)": ["N", "3", "7"],
    "name": ["N"],
    "season": ["N", "yes"],
    "boolean": ["true", "false"],
}
TIMES = {
    "date": ["infinity", "-infinity", "1970-01-01", "4713-01-01 BC", "5874897-12-31"],
    "timestamp": [
        "infinity",
        "-infinity",
        "1969-12-31 23:59:59.999999",
        "4713-01-01 BC",
        "294276-12-31",
    ],
    "timestamptz": [
        "infinity",
        "-infinity",
        "1970-01-01 01:00:00+02",
        "4713-01-01 BC",
        "294276-12-31",
    ],
}
SECRETS = {
    "uuid": "6b7f2c1e-0000-4000-8000-000000000000",
    "jsonb": "{}",
    "bytea": "N",
    "interval": "1 day",
    "integer[]": "{1}",
}


@pytest.fixture
def server(postgres_dsn):
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute(
            "DROP TABLE IF EXISTS held; DROP TYPE IF EXISTS season; CREATE TYPE season AS ENUM ('N', 'yes')"
        )
        yield connection


def held(server, kind, cells):
    server.execute(
        f"CREATE TABLE held (row_number bigint, {', '.join(f'{name} {kind}' for name in COLUMNS)})"
    )
    for place, cell in enumerate([None, *cells]):
        values = ", ".join(["NULL" if cell is None else f"'{cell}'"] * len(COLUMNS))
        server.execute(f"INSERT INTO held VALUES ({place}, {values})")


SCHEMA = Schema("held", Rows(), {"row_number": Integer(0, 99), **COLUMNS})
TALLY = Tally(Scan(SCHEMA), (Field("row_number"), *map(Field, COLUMNS)), (COUNT,), Free())


class TestTypes:
    @pytest.mark.parametrize("kind", CELLS)
    def test_read(self, server, postgres_dsn, kind):
        held(server, kind, CELLS[kind])
        make = {
            "numeric": Decimal,
            "double precision": float,
            "real": float,
            "smallint": int,
            "boolean": "true".__eq__,
        }
        read = make.get(kind, str)
        rows = [
            {"row_number": place, **dict.fromkeys(COLUMNS, None if cell is None else read(cell))}
            for place, cell in enumerate([None, *CELLS[kind]])
        ]
        with Postgres(postgres_dsn) as engine:
            assert engine.tally(TALLY) == Memory({"held": rows}).tally(TALLY)

    @pytest.mark.parametrize("kind", TIMES)
    def test_times_beyond_every_calendar_are_clipped(self, server, postgres_dsn, kind):
        held(server, kind, TIMES[kind])
        first, last = COLUMNS["d"].ends
        with Postgres(postgres_dsn) as engine:
            found = {key[0]: key[4] for key in engine.tally(TALLY)}
        third = 0 if kind == "date" else -1
        assert found == {0: None, 1: last, 2: first, 3: third, 4: first, 5: last}

    @pytest.mark.parametrize("kind", SECRETS)
    def test_other_types_are_null_and_refused_by_check(self, server, postgres_dsn, kind):
        held(server, kind, [SECRETS[kind]])
        with Postgres(postgres_dsn) as engine:
            with pytest.raises(SchemaMismatch, match=r"held.a is stored as .* NULL in every row"):
                engine.check(SCHEMA)
            assert engine.tally(TALLY) == Memory(
                {"held": [{"row_number": place} for place in range(2)]}
            ).tally(TALLY)

    def test_ids_of_any_type(self, server, postgres_dsn):
        server.execute("CREATE TABLE held (who uuid, far numeric, a integer)")
        server.execute(
            "INSERT INTO held SELECT gen_random_uuid(), x, 1 FROM (VALUES (1::numeric), (1), ('NaN'), (NULL)) AS t(x)"
        )
        with Postgres(postgres_dsn) as engine:
            for name, people in (("who", 4), ("far", 1)):
                schema = Schema("held", People(name, max_rows=1), {"a": Integer(0, 9)})
                tally = Tally(Scan(schema), (), (COUNT,), GroupShare(1, 1), people=True)
                assert engine.tally(tally) == {(): (people,)}

    def test_a_domain_is_read_as_what_it_is_made_of(self, server, postgres_dsn):
        server.execute(
            "DROP DOMAIN IF EXISTS young; DROP DOMAIN IF EXISTS age; DROP DOMAIN IF EXISTS price"
        )
        server.execute(
            "CREATE DOMAIN age AS integer CHECK (value >= 0); CREATE DOMAIN young AS age; CREATE DOMAIN price AS numeric"
        )
        server.execute(
            "CREATE TABLE held (a young, b price); INSERT INTO held VALUES (3, 2.5), (NULL, 'NaN')"
        )
        schema = Schema("held", Rows(), {"a": Integer(0, 9), "b": Real(0, 9, step=1)})
        with Postgres(postgres_dsn) as engine:
            engine.check(schema)
            assert engine.columns("held") == {"a": "integer", "b": "numeric"}
            found = engine.tally(Tally(Scan(schema), (Field("a"), Field("b")), (COUNT,), Free()))
        server.execute("DROP TABLE held; DROP DOMAIN young; DROP DOMAIN age; DROP DOMAIN price")
        assert found == {(3, 2): (1,), (None, None): (1,)}


VIEWS = {
    "SELECT name, kids AS a FROM patients WHERE kids > 1": True,
    "SELECT a.name, CASE WHEN a.kids IN (1, 2) THEN b.kids ELSE 0 END AS a FROM patients a LEFT JOIN patients b USING (name)": True,
    "SELECT name, kids::bigint AS a FROM patients UNION ALL SELECT coalesce(name, 'x'), kids FROM patients": True,
    "SELECT name, raw::integer AS a FROM patients": False,
    "SELECT name, 10 / kids AS a FROM patients": False,
    "SELECT name, kids + 1 AS a FROM patients": False,
    "SELECT name, kids AS a FROM patients WHERE kids = (SELECT kids FROM patients)": False,
    "SELECT name, length(name) AS a FROM patients": False,
    "SELECT * FROM below": False,
}


class TestWhatCouldFail:
    def test_views_that_could_fail_need_the_stewards_word(self, server, postgres_dsn):
        server.execute(
            "DROP TABLE IF EXISTS patients CASCADE; CREATE TABLE patients (name text, raw text, kids integer)"
        )
        server.execute("INSERT INTO patients VALUES ('alice', 'hiv', 0), ('bob', '7', 2)")
        server.execute("CREATE VIEW below AS SELECT name, raw::integer AS a FROM patients")
        schema = Schema("seen", Rows(), {"a": Integer(0, 9)})
        for text, total in VIEWS.items():
            server.execute(f"DROP VIEW IF EXISTS seen; CREATE VIEW seen AS {text}")
            with Postgres(postgres_dsn) as engine, Postgres(postgres_dsn, trusted=["seen"]) as word:
                word.check(schema)
                if total:
                    engine.check(schema)
                    continue
                with pytest.raises(SchemaMismatch, match="trusted="):
                    engine.check(schema)
        server.execute("DROP TABLE patients CASCADE")

    def test_a_partition_on_another_server_could_fail(self, server, postgres_dsn):
        server.execute(
            "CREATE TABLE held (a integer) PARTITION BY LIST (a); CREATE TABLE held_1 PARTITION OF held FOR VALUES IN (1)"
        )
        with Postgres(postgres_dsn) as engine:
            engine.check(Schema("held", Rows(), {"a": Integer(0, 9)}))
            server.execute(
                "CREATE FOREIGN DATA WRAPPER far; CREATE SERVER far FOREIGN DATA WRAPPER far"
            )
            server.execute(
                "CREATE FOREIGN TABLE held_2 PARTITION OF held FOR VALUES IN (2) SERVER far"
            )
            assert not is_total(engine._ask, "public", "held")
            server.execute("DROP TABLE held; DROP SERVER far; DROP FOREIGN DATA WRAPPER far")

    def test_a_policy_could_fail(self, server, postgres_dsn):
        server.execute("CREATE TABLE held (a integer); ALTER TABLE held ENABLE ROW LEVEL SECURITY")
        with Postgres(postgres_dsn) as engine:
            engine.check(Schema("held", Rows(), {"a": Integer(0, 9)}))
            server.execute("CREATE POLICY few ON held USING (10 / a > 1)")
            with pytest.raises(SchemaMismatch, match="a policy"):
                engine.check(Schema("held", Rows(), {"a": Integer(0, 9)}))


class TestJoinsReadBothSides:
    """A store that does not read one side of a join if the other has no row is a clock for one person's value."""

    @pytest.mark.parametrize("rows", [0, 5])
    def test_no_part_of_a_plan_is_left_out(self, server, postgres_dsn, rows):
        server.execute("DROP TABLE IF EXISTS l, r, c; CREATE TABLE l (id bigint, a bigint)")
        server.execute("CREATE TABLE r (id bigint, b bigint); CREATE TABLE c (k bigint, v bigint)")
        for name in "lrc":
            server.execute(
                f"INSERT INTO {name} SELECT i, i FROM generate_series(1, 2000) i; ANALYZE {name}"
            )
        left, right = (
            Schema(t, People("id", max_rows=2), {x: Integer(0, 9999)})
            for t, x in (("l", "a"), ("r", "b"))
        )
        public = Schema.public_table("c", {"k": Integer(0, 9999), "v": Integer(0, 9)}, key="k")
        some = Where(Scan(left), Call(Function.LESS, (Field("a"), Constant(rows + 1))))
        joins = [
            JoinPeople(some, Scan(right), ()),
            JoinPeople(Scan(right), some, ()),
            JoinPublic(some, public, ((Field("a"), "k"),), (("v", "v"),), keep=False),
            JoinPublic(some, public, ((Field("a"), "k"),), (("v", "v"),), keep=True),
        ]
        with Postgres(postgres_dsn) as engine:
            for join in joins:
                tally = Tally(join, (), (COUNT,), GroupShare(1, 2))
                assert engine.tally(tally) == {(): (rows,)}
                sql = f"EXPLAIN (ANALYZE, FORMAT JSON) {engine.explain(tally)}"
                (plan,) = engine._fetch(sql)[0][0]
                assert all(node["Actual Loops"] == 1 for node in nodes(plan["Plan"]))


def nodes(plan):
    yield plan
    for below in plan.get("Plans", ()):
        yield from nodes(below)


class TestOneStateOfTheData:
    def test_all_tallies_of_a_question_see_the_same_rows(self, server, postgres_dsn):
        server.execute("CREATE TABLE held (a integer); INSERT INTO held VALUES (1)")
        tally = Tally(Scan(Schema("held", Rows(), {"a": Integer(0, 9)})), (), (COUNT,), Free())
        with Postgres(postgres_dsn) as engine:
            with engine.snapshot(), engine.snapshot():
                before = engine.tally(tally)
                server.execute("INSERT INTO held VALUES (2)")
                assert engine.tally(tally) == before == {(): (1,)}
            assert engine.tally(tally) == {(): (2,)}

    def test_a_lost_connection_is_not_replaced_in_the_middle(self, server, postgres_dsn):
        with Postgres(postgres_dsn) as engine:
            with engine.snapshot():
                engine.close()
                with pytest.raises(EngineFailure):
                    engine._fetch("SELECT 1")
            with engine.snapshot():
                (pid,) = engine._fetch("SELECT pg_backend_pid()")[0]
                server.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,))
                for _ in range(2):
                    with pytest.raises(EngineFailure):
                        engine._fetch("SELECT 1")
            assert engine._fetch("SELECT 1") == [(1,)]

    def test_types_are_those_of_this_moment(self, server, postgres_dsn):
        server.execute("CREATE TABLE held (a integer); INSERT INTO held VALUES (7)")
        tally = Tally(
            Scan(Schema("held", Rows(), {"a": Integer(0, 9)})), (Field("a"),), (COUNT,), Free()
        )
        with Postgres(postgres_dsn) as engine:
            assert engine.tally(tally) == {(7,): (1,)}
            server.execute("ALTER TABLE held ALTER a TYPE text")
            assert engine.tally(tally) == {(7,): (1,)}


class TestServer:
    def test_a_column_without_rights_is_none(self, server, postgres_dsn):
        server.execute(
            "CREATE TABLE held (a integer, b integer); DROP ROLE IF EXISTS half_here; CREATE ROLE half_here LOGIN"
        )
        server.execute(
            "GRANT SELECT (a) ON held TO half_here; CREATE TEMP TABLE nothing (a integer)"
        )
        with Postgres(f"{postgres_dsn} user=half_here") as engine:
            engine.check(Schema("held", Rows(), {"a": Integer(0, 9)}))
            with pytest.raises(SchemaMismatch, match="no column b"):
                engine.check(Schema("held", Rows(), {"a": Integer(0, 9), "b": Integer(0, 9)}))
        server.execute("DROP TABLE held; DROP ROLE half_here")

    def test_names_with_a_dot_and_progress(self, server, postgres_dsn):
        server.execute(
            'CREATE SCHEMA IF NOT EXISTS "h.r"; DROP TABLE IF EXISTS "h.r"."a""b"; CREATE TABLE "h.r"."a""b" (a integer)'
        )
        with Postgres(postgres_dsn, tables={"people": '"h.r"."a""b"'}, progress=True) as engine:
            assert engine.columns("people") == {"a": "integer"}
            assert engine._fetch("SELECT 1") == [(1,)]

    def test_places(self, server, postgres_dsn):
        server.execute(
            'CREATE SCHEMA IF NOT EXISTS "hr"; DROP TABLE IF EXISTS "hr"."Staff"; CREATE TABLE "hr"."Staff" (a integer)'
        )
        schema = Schema("people", Rows(), {"a": Integer(0, 9)})
        with Postgres(postgres_dsn, tables={"people": "hr.Staff"}) as engine:
            assert engine.columns("people") == {"a": "integer"}
            assert engine.tally(Tally(Scan(schema), (), (COUNT,), Free())) == {(): (0,)}
            with pytest.raises(SchemaMismatch, match="no table nowhere"):
                engine.columns("nowhere")

    def test_operators_of_others_are_never_called(self, server, postgres_dsn):
        """Whoever may create in a schema of the search path could run code as the role that asks, and change totals."""
        server.execute(
            "CREATE TABLE held (who bigint, a bigint); INSERT INTO held SELECT 1, 2^40 + i FROM generate_series(1, 5) i"
        )
        server.execute(
            "CREATE FUNCTION public.spy(bigint, integer) RETURNS bigint LANGUAGE sql AS 'SELECT 7::bigint'"
        )
        server.execute(
            "CREATE OPERATOR public.% (LEFTARG = bigint, RIGHTARG = integer, FUNCTION = public.spy)"
        )
        schema = Schema("held", People("who", max_rows=2), {"a": Integer(0, 2**50)})
        tally = Tally(Scan(schema), (), (Term(Field("a"), 1, 0, 2**50),), RowShare(2))
        rows = [{"who": 1, "a": 2**40 + i} for i in range(1, 6)]
        try:
            with Postgres(postgres_dsn) as engine:
                assert "% 1048576" in engine.explain(tally)
                assert engine.tally(tally) == Memory({"held": rows}).tally(tally)
        finally:
            server.execute(
                "DROP OPERATOR public.% (bigint, integer); DROP FUNCTION public.spy(bigint, integer)"
            )

    def test_tables_are_found_by_the_path_of_the_connection(self, server, postgres_dsn):
        for place in ("hr", "hidden"):
            server.execute(f"DROP SCHEMA IF EXISTS {place} CASCADE; CREATE SCHEMA {place}")
            server.execute(
                f"CREATE TABLE {place}.held (a integer); INSERT INTO {place}.held VALUES (1)"
            )
        server.execute("CREATE TABLE held (a integer)")
        schema = Schema("held", Rows(), {"a": Integer(0, 9)})
        tally = Tally(Scan(schema), (), (COUNT,), Free())
        with Postgres(f"{postgres_dsn} options='-c search_path=nowhere,hr,public'") as engine:
            assert engine.tally(tally) == {(): (1,)}
            assert '"hr"."held"' in engine.explain(tally)
        with Postgres(postgres_dsn) as engine:
            assert engine.tally(tally) == {(): (0,)}

    def test_a_table_without_rights_is_none(self, server, postgres_dsn):
        server.execute(
            "CREATE TABLE held (a integer); DROP ROLE IF EXISTS nobody_here; CREATE ROLE nobody_here LOGIN"
        )
        with (
            Postgres(f"{postgres_dsn} user=nobody_here") as engine,
            pytest.raises(SchemaMismatch, match="no table held"),
        ):
            engine.check(Schema("held", Rows(), {"a": Integer(0, 9)}))

    def test_the_encoding_of_the_client_does_not_matter(self, server, postgres_dsn):
        server.execute("CREATE TABLE held (a text); INSERT INTO held VALUES ('Müller'), ('Ж')")
        schema = Schema("held", Rows(), {"a": Text(9)})
        same = Call(Function.EQUAL, (Field("a"), Constant("Müller")))
        with Postgres(f"{postgres_dsn} client_encoding=LATIN1") as engine:
            found = engine.tally(Tally(Scan(schema), (Field("a"), same), (COUNT,), Free()))
        assert found == {("Müller", True): (1,), ("Ж", False): (1,)}

    def test_refuses_a_database_without_an_encoding(self, server, postgres_dsn):
        server.execute("DROP DATABASE IF EXISTS bare")
        server.execute("CREATE DATABASE bare ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0")
        for _ in range(2):  # and again, over the same connection
            with pytest.raises(SchemaMismatch, match="SQL_ASCII"):
                Postgres(f"{postgres_dsn} dbname=bare").columns("held")

    @pytest.mark.parametrize("place", ["", "a.b.c", ".a", 3, 'a"b', '"a'])
    def test_refuses_places(self, place):
        with pytest.raises(InvalidArgument, match="is named as"):
            Postgres("dbname=x", tables={"people": place})

    def test_refuses_no_connection_string(self):
        with pytest.raises(InvalidArgument, match="connection string"):
            Postgres("")

    def test_reads_only(self, postgres_dsn):
        with Postgres(postgres_dsn) as engine, pytest.raises(EngineFailure):
            engine._fetch("CREATE TABLE mischief (a integer)")

    def test_failure_is_constant(self, postgres_dsn):
        with Postgres(postgres_dsn) as engine:
            for sql in ("SELECT CAST('secret 4711' AS integer)", "SELECT nothing"):
                with pytest.raises(EngineFailure) as caught:
                    engine._fetch(sql)
                assert "4711" not in str(caught.value)
                assert caught.value.__suppress_context__
            assert engine._fetch("SELECT 1") == [(1,)]
        with pytest.raises(EngineFailure):
            Postgres("host=/nowhere dbname=none").columns("people")

    def test_a_lost_connection_is_opened_again(self, server, postgres_dsn):
        with Postgres(postgres_dsn) as engine:
            (pid,) = engine._fetch("SELECT pg_backend_pid()")[0]
            server.execute("SELECT pg_terminate_backend(%s)", (pid,))
            with pytest.raises(EngineFailure):
                engine._fetch("SELECT 1")
            assert engine._fetch("SELECT 1") == [(1,)]

    def test_cancel(self, postgres_dsn):
        with Postgres(postgres_dsn) as engine:
            engine.interrupt()
            engine._fetch("SELECT 1")
            found = []

            def run():
                try:
                    engine._fetch("SELECT pg_sleep(600)")
                except EngineFailure as refusal:
                    found.append(refusal)

            thread = threading.Thread(target=run)
            thread.start()
            while thread.is_alive():
                engine.interrupt()
                time.sleep(0.05)
            assert "cancelled" in str(found[0])
        Postgres(postgres_dsn).close()


def test_casts_of_others_are_never_called(server, postgres_dsn):
    """The owner of an enumeration may say how it becomes text: a function of theirs, which could count rows or fail."""
    server.execute("CREATE TYPE mood AS ENUM ('N', 'S')")
    server.execute(
        "CREATE TABLE held (who mood, a mood); INSERT INTO held VALUES ('N', 'N'), ('N', 'N'), ('S', 'S')"
    )
    schema = Schema("held", People("who", max_rows=2), {"a": Category(["N", "S"])})
    tally = Tally(Scan(schema), (Field("a"),), (COUNT,), Free())
    try:
        with Postgres(postgres_dsn) as engine:
            engine.check(schema)
            assert engine.tally(tally) == {("N",): (2,), ("S",): (1,)}
            server.execute(
                "CREATE FUNCTION spy(mood) RETURNS text LANGUAGE plpgsql AS 'BEGIN RAISE ''held''; END'"
            )
            server.execute("CREATE CAST (mood AS text) WITH FUNCTION spy(mood)")
            with pytest.raises(
                SchemaMismatch, match=r"held.a is stored as public.mood, of which .* reads nothing"
            ):
                engine.check(schema)
            assert engine.tally(tally) == {(None,): (3,)}
    finally:
        server.execute("DROP TYPE mood CASCADE")


NO_EQUALITY = ("json", "xml", "point", "box", "line", "path", "polygon", "circle", "json[]", "xid", "cid", "jsonpath")  # fmt: skip
COMPARED = ("integer", "text", "char(3)", "uuid", "bytea", "numeric", "jsonb", "date", "timestamptz", "inet", "integer[]", "boolean")  # fmt: skip


class TestIdsThatTheServerCannotCompare:
    """Every question was charged and failed: the type alone decides, so `check` looks."""

    @pytest.mark.parametrize("kind", NO_EQUALITY)
    def test_are_refused(self, server, postgres_dsn, kind):
        server.execute(f"DROP TABLE IF EXISTS held; CREATE TABLE held (id {kind}, a integer)")
        schema = Schema("held", People("id", max_rows=2), {"a": Integer(0, 9)})
        with Postgres(postgres_dsn) as engine:
            for _ in range(2):
                with pytest.raises(SchemaMismatch, match=r"held\.id is stored as .*cannot compare"):
                    engine.check(schema)
            engine.check(Schema("held", Rows(), {"a": Integer(0, 9)}))
        server.execute("DROP TABLE held")

    def test_others_are_read(self, server, postgres_dsn):
        for kind in COMPARED:
            server.execute(f"DROP TABLE IF EXISTS held; CREATE TABLE held (id {kind}, a integer)")
            schema = Schema("held", People("id", max_rows=2), {"a": Integer(0, 9)})
            with Postgres(postgres_dsn) as engine:
                engine.check(schema)
                ledger = dp.open_ledger(":memory:", dp.PureDP(1000))
                answer = dp.Curator(engine, [schema], ledger).sql(
                    "SELECT COUNT(*) AS n FROM held", spend=dp.PureDP(500)
                )
                assert abs(answer.rows[0][0]) <= 2
        server.execute("DROP TABLE held")
