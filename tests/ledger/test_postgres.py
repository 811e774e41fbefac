"""The server: it may be restarted, busy, full or in other hands; nothing is lost, and nothing is spent unsaid."""

from __future__ import annotations

import os
import secrets
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest

import discreet as dp
from discreet.ledger.stores.postgres import turn_of
from discreet.privacy.events import LaplaceNoise
from ledger.crowd import forked, heard

TWENTIETH = LaplaceNoise(scale=20, sensitivity=1)
SETUP = Path(__file__).parents[1] / "setup_postgres.sh"


@pytest.fixture
def name():
    return f"test {secrets.token_hex(8)}"


@pytest.fixture
def ledger(postgres_dsn, name):
    with dp.open_ledger(postgres_dsn, dp.PureDP(1), name=name) as opened:
        yield opened


class Server:
    """A server of its own, which may crash; its default is to forget the last commits then."""

    def __init__(self, home):
        self.home = home
        started = subprocess.run([SETUP, "start", home], capture_output=True, check=True, text=True)
        self.dsn = started.stdout.strip()

    def crash(self):
        data = Path(self.home) / "data"
        postgres = shlex.split((data / "postmaster.opts").read_text())[0]
        become = (
            ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", "--"]
            if os.getuid() == 0
            else []
        )
        again = [
            Path(postgres).with_name("pg_ctl"),
            "-D",
            data,
            "-m",
            "immediate",
            "-w",
            "-l",
            f"{self.home}/log",
            "restart",
        ]
        subprocess.run([*become, *again], check=True, stdout=subprocess.DEVNULL, cwd=self.home)

    def pid(self):
        return int((Path(self.home) / "data" / "postmaster.pid").read_text().split()[0])

    def stop(self):
        subprocess.run([SETUP, "stop", self.home], check=True)


@pytest.fixture(scope="module")
def own_server(postgres_dsn):
    """Whoever stops it starts it again."""
    home = tempfile.mkdtemp(prefix="pg")
    watch = subprocess.Popen([SETUP, "watch", home], stdin=subprocess.PIPE, start_new_session=True)
    yield Server(home)
    watch.communicate()


@pytest.fixture
def database(postgres_dsn):
    """A database of its own, where tables may be broken."""
    made = f"d{secrets.token_hex(8)}"
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {made}")
    yield f"{postgres_dsn} dbname={made}"
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {made} WITH (FORCE)")


def run(dsn, sql):
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(sql)


class TestALostConnection:
    def test_it_is_opened_again(self, postgres_dsn, ledger):
        ledger.charge(TWENTIETH, who="ann")
        for call in (lambda: ledger.charge(TWENTIETH, who="ann"), ledger.left, ledger.history):
            mine = ledger._store._connection().info.backend_pid
            run(postgres_dsn, f"SELECT pg_terminate_backend({mine}, 5000)")
            call()
        assert ledger.verify().charges == 2

    def test_one_that_is_lost_before_the_commit_charges_nothing(
        self, postgres_dsn, ledger, monkeypatch
    ):
        from discreet.ledger import failpoints as steps

        def cut(step):
            if step == "charge:written":
                monkeypatch.undo()
                run(postgres_dsn, f"SELECT pg_terminate_backend({mine}, 5000)")

        mine = ledger._store._connection().info.backend_pid
        monkeypatch.setattr(steps, "passed", cut)
        with pytest.raises(dp.LedgerUnavailable, match="may or may not stand, no answer went out"):
            ledger.charge(TWENTIETH, who="ann", key="k")
        assert ledger.pending("k", "ann") is None and ledger.spent() == dp.PureDP(0)

    def test_a_server_that_crashes_and_comes_back_has_every_charge(self, own_server, name):
        with dp.open_ledger(own_server.dsn, dp.PureDP(1), name=name) as ledger:
            ledger.charge(TWENTIETH, who="ann")
            own_server.crash()
            ledger.charge(TWENTIETH, who="ann")
            own_server.crash()
            assert ledger.verify().charges == 2
            own_server.stop()
            try:
                with pytest.raises(dp.LedgerUnavailable, match="out of reach"):
                    ledger.charge(TWENTIETH, who="ann")
            finally:
                own_server.crash()

    def test_a_server_that_is_not_there(self):
        with pytest.raises(dp.LedgerUnavailable, match="out of reach"):
            dp.open_ledger("postgresql://nobody@127.0.0.1:1/none", dp.PureDP(1))


class TestASilentServer:
    """Paused, or its packets lost: a call ends, the ledger says so, and goes on when the server does."""

    def test_a_call_ends_and_the_next_one_goes_on(self, own_server, name, monkeypatch):
        with dp.open_ledger(own_server.dsn, dp.PureDP(1), name=name) as ledger:
            ledger.charge(TWENTIETH, who="ann", key="k")
            line = ledger._store._connection()
            paused = [line.info.backend_pid, own_server.pid()]
            for process in paused:
                os.kill(process, signal.SIGSTOP)
            monkeypatch.setattr(
                ledger._store, "_timeout", 1.0
            )  # hurried only while nobody can answer
            line.seconds = line.silence = 1.0
            try:
                for call in (
                    ledger.left,
                    lambda: ledger.charge(TWENTIETH, who="ann"),
                    ledger.verify,
                ):
                    with pytest.raises(dp.LedgerUnavailable, match="out of reach"):
                        call()
            finally:
                for process in paused:
                    os.kill(process, signal.SIGCONT)
            monkeypatch.undo()
            ledger.charge(TWENTIETH, who="ann")
            assert ledger.verify().charges == 2

    def test_a_commit_that_is_never_confirmed_is_told_as_in_doubt(
        self, own_server, name, monkeypatch
    ):
        from discreet.ledger import failpoints as steps

        with dp.open_ledger(own_server.dsn, dp.PureDP(1), name=name) as ledger:
            line = ledger._store._connection()
            backend = line.info.backend_pid

            def stop(step):
                if step == "charge:written":
                    os.kill(backend, signal.SIGSTOP)
                    line.seconds = 1.0

            monkeypatch.setattr(steps, "passed", stop)
            try:
                with pytest.raises(
                    dp.LedgerUnavailable,
                    match=r"ServerSilent.*may or may not stand, no answer went out",
                ):
                    ledger.charge(TWENTIETH, who="ann", key="k")
            finally:
                os.kill(backend, signal.SIGCONT)
            monkeypatch.undo()
            ledger.charge(TWENTIETH, who="ann", key="k2")
            assert ledger.verify().charges in (1, 2)

    def test_one_that_never_answers_is_given_up(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            where = f"postgresql://nobody@127.0.0.1:{silent.getsockname()[1]}/none"
            with pytest.raises(dp.LedgerUnavailable, match="out of reach"):
                dp.open_ledger(where, dp.PureDP(1), wait=1)


class TestSomebodyElse:
    def test_a_turn_that_takes_too_long_is_given_up(self, postgres_dsn, name, ledger):
        with dp.open_ledger(postgres_dsn, name=name, wait=2) as hurried:
            with psycopg.connect(postgres_dsn) as other:
                other.execute("SELECT pg_advisory_xact_lock(%s)", (turn_of(name),))
                with pytest.raises(dp.LedgerUnavailable, match="for too long; nothing was spent"):
                    hurried.charge(TWENTIETH, who="ann")
                assert hurried.left() == dp.PureDP(1)
            hurried.charge(TWENTIETH, who="ann")
        assert ledger.verify().charges == 1

    def test_who_may_only_read_is_told_so(self, database):
        with dp.open_ledger(database, dp.PureDP(1)) as ledger:
            ledger.charge(TWENTIETH, who="ann")
        user = f"u{secrets.token_hex(8)}"
        run(database, f"CREATE USER {user}; GRANT USAGE ON SCHEMA discreet_ledger TO {user}")
        run(database, f"GRANT SELECT ON ALL TABLES IN SCHEMA discreet_ledger TO {user}")
        with dp.open_ledger(f"{database} user={user}") as reader:
            assert reader.spent() == dp.PureDP("1/20") and reader.verify().charges == 1
            with pytest.raises(dp.LedgerUnavailable, match="may not write the ledger"):
                reader.charge(TWENTIETH, who="ann")
        standby = dp.open_ledger(f"{database} options='-c default_transaction_read_only=on'")
        with standby, pytest.raises(dp.LedgerUnavailable, match="may not write the ledger"):
            standby.charge(TWENTIETH, who="ann")
        run(database, f"DROP OWNED BY {user}; DROP USER {user}")

    def test_a_fork_does_not_share_the_connection(self, ledger):
        mine = ledger._store._connection().info.backend_pid

        def work(say):
            ledger.charge(TWENTIETH, who="child")
            say(ledger._store._connection().info.backend_pid)

        words, code = heard(*forked(work))
        assert code == 0 and words[0] != mine == ledger._store._connection().info.backend_pid
        ledger.charge(TWENTIETH, who="parent")
        assert [entry.who for entry in ledger.history()] == ["", "child", "parent"]


class TestTablesThatFail:
    @pytest.mark.parametrize(
        ("code", "error", "word"),
        [
            ("53100", dp.LedgerUnavailable, "has no room; nothing was spent"),
            (
                "40001",
                dp.LedgerConflict,
                "somebody else wrote to the ledger first; nothing was spent, ask again",
            ),
            ("23505", dp.LedgerConflict, "nothing was spent, ask again"),
            (
                "55P03",
                dp.LedgerUnavailable,
                "held by somebody else for too long; nothing was spent",
            ),
            ("57P01", dp.LedgerUnavailable, "out of reach"),
            ("22000", dp.LedgerCorrupt, "are no ledger"),
        ],
    )
    def test_what_the_server_says_is_told_apart(self, database, code, error, word):
        """A trigger raises in the server what a full disk or a shutdown would."""
        with dp.open_ledger(database, dp.PureDP(1)) as ledger:
            body = f"BEGIN RAISE EXCEPTION 'secret' USING ERRCODE = '{code}'; END"
            run(database, f"CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ {body} $$")
            run(
                database,
                "CREATE TRIGGER no BEFORE INSERT ON discreet_ledger.entry EXECUTE FUNCTION no()",
            )
            with pytest.raises(error, match=word) as caught:
                ledger.charge(TWENTIETH, who="ann")
            assert "secret" not in str(caught.value)
            run(database, "DROP TRIGGER no ON discreet_ledger.entry")
            ledger.charge(TWENTIETH, who="ann")
            assert ledger.verify().charges == 1

    def test_tables_of_something_else_are_refused(self, database):
        run(database, "CREATE SCHEMA discreet_ledger; CREATE TABLE discreet_ledger.state (x int)")
        with pytest.raises(dp.LedgerCorrupt, match="no ledger"):
            dp.open_ledger(database, dp.PureDP(1))

    def test_a_ledger_that_is_dropped_is_missed(self, database):
        with dp.open_ledger(database, dp.PureDP(1)) as ledger:
            run(database, "DELETE FROM discreet_ledger.entry; DELETE FROM discreet_ledger.state")
            with pytest.raises(dp.LedgerCorrupt, match="no ledger here any more"):
                ledger.charge(TWENTIETH, who="ann")
            run(database, "DROP SCHEMA discreet_ledger CASCADE")
            with pytest.raises(dp.LedgerCorrupt, match="no ledger"):
                ledger.charge(TWENTIETH, who="ann")

    def test_a_changed_database_is_refused(self, database):
        with dp.open_ledger(database, dp.PureDP(1)) as ledger:
            ledger.charge(TWENTIETH, who="ann")
            run(database, "UPDATE discreet_ledger.state SET text = replace(text, '1/20', '1/2000')")
            with pytest.raises(dp.LedgerCorrupt, match="the books are not those after entry 2"):
                ledger.charge(TWENTIETH, who="ann")


def test_functions_of_others_are_never_called(database):
    """Whoever may create in a schema of the path could set the clock, or make the lock no lock."""
    old = "CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS "
    run(database, f"{old} $$ SELECT now() - interval '9 years' $$")
    with dp.open_ledger(
        f"{database} options='-c search_path=public,pg_catalog'", dp.PureDP(1)
    ) as ledger:
        assert ledger.charge(TWENTIETH, who="ann").time[:4] == str(datetime.now(UTC).year)


def test_it_is_durable_and_the_time_is_the_servers(postgres_dsn, ledger, stopped_clock):
    connection = ledger._store._connection()
    assert connection.execute("SHOW synchronous_commit").fetchone() == ("on",)
    stopped_clock.set(stopped_clock.time.replace(year=2099))
    assert ledger.charge(TWENTIETH, who="ann").time.startswith("2099-05-14T09:30:00")


def test_without_psycopg_it_says_what_is_missing(postgres_dsn, monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.delitem(sys.modules, "discreet.ledger.stores.postgres", raising=False)
    with pytest.raises(dp.InvalidArgument, match=r"discreet\[postgres\]"):
        dp.open_ledger(postgres_dsn, dp.PureDP(1))
