"""The listener under strangers: wrong tokens, TLS, garbage, limits, cancellation."""

from __future__ import annotations

import contextlib
import itertools
import random
import socket
import struct
import threading
import time

import psycopg
import pytest

from discreet.service.stores.people import Members
from discreet.service.stores.store import open_store
from service.deployment import build, free_port, start
from service.tls import write_certificate

from .conftest import Wire
from .raw import Raw, error_of, query, say, startup


class TestSignIn:
    """Names and tokens."""

    def test_strangers_hear_one_answer(self, wire):
        words = set()
        for user, token in (("ana", "dsc_wrong"), ("nobody", "dsc_wrong"), ("", ""), ("ana", "")):
            with Raw(wire.port) as line:
                found = line.sign_in(user, token)
                words.add(b"".join(payload for kind, payload in found if kind == b"E"))
        assert len(words) == 1 and b"28P01" in words.pop()

    def test_an_unknown_name_keeps_its_salt(self, wire):
        salts = []
        for _ in range(2):
            with Raw(wire.port) as line:
                line.send(startup(user="nobody", database="people"))
                line.read()
                line.send(say(b"p", b"SCRAM-SHA-256\0\0\0\0\x0bn,,n=,r=abc"))
                salts.append(line.read()[1].partition(b",s=")[2])
        assert salts[0] == salts[1] and salts[0]

    def test_foreign_data_sets_are_as_unknown_ones(self, wire):
        for database in ("other", "nix"):
            with pytest.raises(psycopg.OperationalError, match="is not among your data sets"):
                psycopg.connect(wire.dsn("ana", database=database))

    def test_wrong_tokens_are_limited(self, own_wire):
        wire = own_wire(change=("failures_per_minute = 100000", "failures_per_minute = 5"))
        codes = []
        for _ in range(9):
            with Raw(wire.port) as line:
                codes.append(error_of(line.sign_in("ana", "dsc_wrong")))
        assert codes[:5] == ["28P01"] * 5 and codes[-1] == "53300"
        # The right token still opens: strangers behind an address lock nobody out.
        wire.connect().close()

    @pytest.mark.parametrize(
        "act",
        ["renew", *(pytest.param(act, marks=pytest.mark.slow) for act in ("revoke", "expire"))],
    )
    def test_a_revoked_token_ends_the_session(self, own_wire, act):
        """A new token, a removed person and the end of a token, at the next statement."""
        wire = own_wire()
        with wire.connect("bob") as line:
            store = open_store(str(wire.deployment.folder / "service.db"))
            if act == "expire":
                store.ask("UPDATE discreet_people SET expires = ?", time.time() - 1)
            else:
                getattr(Members(store), act)("bob")
            store.close()
            with pytest.raises(psycopg.errors.InvalidAuthorizationSpecification, match="has ended"):
                line.execute("SELECT COUNT(*) AS n FROM people")

    def test_a_revoked_person_is_as_unknown_as_a_stranger(self, own_wire):
        wire = own_wire()
        store = open_store(str(wire.deployment.folder / "service.db"))
        Members(store).revoke("bob")
        store.close()
        # The proof of the token still fits.
        with pytest.raises(psycopg.OperationalError, match="do not open"):
            wire.connect("bob")

    def test_cleartext_passwords_are_never_asked_for(self, wire):
        with Raw(wire.port) as line:
            line.send(startup(user="ana", database="people"))
            kind, payload = line.read()
        assert kind == b"R" and payload == struct.pack("!i", 10) + b"SCRAM-SHA-256\0\0"

    def test_caps_on_connections(self, own_wire):
        wire = own_wire("connections_per_person = 2")
        with (
            wire.connect(),
            wire.connect(),
            pytest.raises(psycopg.OperationalError, match="too many"),
        ):
            wire.connect()
        with wire.connect():
            pass


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    return write_certificate(tmp_path_factory.mktemp("tls"))


class TestTls:
    """TLS where it is configured."""

    @pytest.fixture
    def secure(self, own_wire, certificate):
        cert, key = certificate
        return own_wire(f'certificate = "{cert}"\nkey = "{key}"')

    def test_beyond_this_machine_nothing_is_said_in_the_clear(self, own_wire, certificate):
        cert, key = certificate
        options = f'certificate = "{cert}"\nkey = "{key}"'
        wire = own_wire(options, host="0.0.0.0")  # noqa: S104 such a listener is what is tested
        with pytest.raises(psycopg.OperationalError, match="by TLS only"):
            wire.connect(sslmode="disable")
        wire.connect(sslmode="require").close()

    def test_channel_binding(self, secure, certificate):
        with psycopg.connect(
            secure.dsn(
                host="localhost",
                sslmode="verify-full",
                sslrootcert=certificate[0],
                channel_binding="require",
            )
        ) as line:
            assert line.pgconn.ssl_in_use
            assert line.execute("SELECT 1").fetchone() == (1,)

    def test_bytes_before_the_handshake_are_refused(self, secure):
        """CVE-2021-23214: what comes in the clear must not count as encrypted."""
        with Raw(secure.port) as line:
            line.send(struct.pack("!ii", 8, 80_877_103) + startup(user="ana", database="people"))
            found = line.until(b"E")
        assert error_of(found) == "08P01"

    @pytest.mark.slow
    def test_half_open_handshakes_hold_nobody_up(self, secure):
        lines = [Raw(secure.port) for _ in range(20)]
        for line in lines:
            line.send(struct.pack("!ii", 8, 80_877_103))
            assert line.take(1) == b"S"
            line.send(b"\x16\x03\x01")
        with psycopg.connect(secure.dsn(sslmode="require")) as asked:
            assert asked.execute("SELECT 1").fetchone() == (1,)
        for line in lines:
            line.close()

    def test_without_a_certificate_it_is_declined(self, wire):
        with Raw(wire.port) as line:
            line.send(struct.pack("!ii", 8, 80_877_104))
            assert line.take(1) == b"N"
            line.send(struct.pack("!ii", 8, 80_877_103))
            assert line.take(1) == b"N"
            assert line.sign_in("ana", wire.deployment.tokens["ana"])[-1][0] == b"Z"


class TestGarbage:
    """What is no message ends its connection and nothing else."""

    def _noise(self, count):
        random.seed(34)
        valid = [
            query("SHOW TimeZone"),
            say(b"P", b"a\0SHOW TimeZone\0\0\0"),
            say(b"B", b"\0a\0\0\0\0\0\0\0"),
            say(b"D", b"Sa\0"),
            say(b"E", b"\0\0\0\0\0"),
            say(b"C", b"Sa\0"),
            say(b"S"),
            say(b"H"),
        ]
        for _ in range(count):
            made = bytearray(random.choice(valid))
            for _ in range(random.choice((0,) * 17 + (1, 2, 3))):
                made[random.randrange(len(made))] = random.randrange(256)
            yield bytes(made)

    def _throw(self, wire, count, *, signed_in):
        """Send messages, some of them changed, on one connection after the other, until it is closed."""
        before = wire.spent()
        noise = self._noise(count)
        batch = list(itertools.islice(noise, 10))
        while batch:
            with Raw(wire.port, timeout=0.3) as line, contextlib.suppress(OSError, EOFError):
                if signed_in:
                    line.sign_in("ana", wire.deployment.tokens["ana"])
                closed = False
                while batch and not closed:
                    line.send(b"".join(batch) + say(b"S"))
                    batch = list(itertools.islice(noise, 10))
                    # Whatever was said: it is answered up to the Sync, or the connection ends.
                    found = line.until(b"Z")
                    closed = not found or found[-1][0] != b"Z"
        assert wire.spent() == before
        assert wire.answers()
        log = (wire.deployment.folder / "audit.log").read_text()
        assert '"error' not in log and "Traceback" not in log

    @pytest.mark.parametrize("signed_in", [False, True])
    def test_some_messages(self, wire, signed_in):
        self._throw(wire, 150, signed_in=signed_in)

    @pytest.mark.slow
    @pytest.mark.parametrize("signed_in", [False, True])
    def test_fifty_thousand_messages(self, wire, signed_in):
        """Both together: 10⁵ messages through a live listener."""
        self._throw(wire, 50_000, signed_in=signed_in)

    def test_a_long_message_is_refused_before_it_is_read(self, wire):
        with Raw(wire.port) as line:
            line.sign_in("ana", wire.deployment.tokens["ana"])
            line.send(b"Q" + struct.pack("!i", 1 << 30))
            assert error_of(line.until(b"E")) == "08P01"

    def test_prepared_statements_are_bounded(self, wire):
        with Raw(wire.port) as line:
            line.sign_in("ana", wire.deployment.tokens["ana"])
            for number in range(257):
                line.send(say(b"P", f"s{number}\0SELECT 1\0".encode() + b"\0\0"))
            line.send(say(b"S"))
            assert error_of(line.until(b"Z")) == "54000"

    @pytest.mark.parametrize(
        "first", [b"", b"GET / HTTP/1.1\r\n\r\n", b"\0\0\0\x08\0\2\0\0", b"\xff" * 8]
    )
    def test_strange_openings(self, wire, first):
        with Raw(wire.port) as line:
            line.send(first)
            line.line.shutdown(socket.SHUT_WR)
            line.until(b"E")
        assert wire.answers()


class TestCancel:
    """A cancellation stops a job of its connection, in whichever worker it runs; the charge stays."""

    def test_an_unknown_key_says_nothing(self, wire):
        with Raw(wire.port) as line:
            line.send(struct.pack("!ii", 16, 80_877_102) + b"12345678")
            assert line.until(b"E") == []

    def test_a_running_question_is_stopped(self, own_wire, monkeypatch):
        from discreet.service.jobs.executor import JobExecutor

        wire = own_wire()
        running = threading.Event()
        ask = JobExecutor._ask

        def slowly(self, job, run):
            running.set()
            end = time.monotonic() + 20
            while not run.why and time.monotonic() < end:
                time.sleep(0.01)
            return ask(self, job, run)

        monkeypatch.setattr(JobExecutor, "_ask", slowly)
        with Raw(wire.port) as line, Raw(wire.port) as stopper:
            opened = line.sign_in(
                "ana", wire.deployment.tokens["ana"], options="-c discreet.epsilon=1"
            )
            key = dict(opened)[b"K"]
            line.send(query("SELECT COUNT(*) AS n FROM people"))
            assert running.wait(20)
            stopper.send(struct.pack("!ii", 16, 80_877_102) + key)
            assert error_of(line.until(b"Z")) == "57014"


DEADLY = """
import os, signal
from discreet.ledger import failpoints
def passed(step):
    if step == os.environ["DIE_AT"]:
        os.kill(os.getpid(), signal.SIGKILL)
failpoints.passed = passed
from discreet.cli.app import app
app()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "step",
    [f"{write}:{when}" for write in ("charge", "finish") for when in ("before", "written", "after")]
    + ["run:before", "run:after"],
)
def test_killed_at_a_failpoint(tmp_path, step):
    """Wherever a worker dies during Execute: one charge, and one answer from whoever comes next."""
    deployment = build(
        tmp_path, port=free_port(), service='grid = "0.05"\nlease = "1"', limits="free_seconds = 60"
    )
    port = free_port()
    wire = Wire(deployment, port)
    sql = "SELECT COUNT(*) AS n FROM people WHERE age > %s"
    dying = start(deployment, postgres=port, script=DEADLY, environment={"DIE_AT": step})
    with pytest.raises(psycopg.OperationalError), wire.connect(spend="1") as line:
        line.execute(sql, [30]).fetchall()
    assert dying.process.wait(60) == -9
    server = start(deployment, postgres=port)
    try:
        found = []
        for _ in range(2):
            with wire.connect(spend="1") as line:
                found += line.execute(sql, [30]).fetchall()
        assert found[0] == found[1]
        assert wire.spent() == 1
    finally:
        server.stop(9)
