"""Metrics and health: counts add up over workers, tell no durations, and health knows the ledger's database."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from contextlib import closing

import pytest

from discreet.service.config import read_config
from discreet.service.http.metrics import Metrics
from discreet.service.jobs.steady_clock import steady
from discreet.service.jobs.timing_grid import TimingGrid
from discreet.service.state import open_state
from discreet.service.stores.store import open_store
from service.deployment import COUNT, ONE, build, free_port, serving, start
from service.own_postgres import own_postgres


def _until(found, seconds=60.0):
    end = time.monotonic() + seconds
    while not found():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def test_counts_of_workers_add_up(tmp_path):
    with closing(open_store(str(tmp_path / "service.db"))) as store:
        one, other = Metrics(), Metrics()
        for _ in range(3):
            one.count(200)
        other.count(204)
        other.count_job("sql", "refused", charged=False, refusal="BudgetExceeded")
        other.count_job("sql", "done", charged=True, refusal="")
        # Each writes several times: what is told is the sum, not the sum of all writings.
        for _ in range(2):
            one.share(store, "a")
            other.share(store, "b")
            one.share(store, "a")
        one.count(500)
        one.share(store, "a")
        other.share(store, "b")
        assert one.text() == other.text()
        for line in (
            'discreet_responses_total{status="2xx"} 4',
            'discreet_responses_total{status="5xx"} 1',
            'discreet_jobs_total{verb="sql",state="refused"} 1',
            'discreet_refusals_total{kind="BudgetExceeded"} 1',
            'discreet_charges_total{verb="sql"} 1',
            "discreet_workers_started_total 2",
            "discreet_jobs_waiting 0",
        ):
            assert line in one.text().splitlines()


def test_what_ended_is_counted_at_its_tick(tmp_path):
    """Whoever polls `/metrics` learns no more of a job's duration than its own view tells."""
    deployment = build(tmp_path, service='grid = "4"')
    state = open_state(read_config(deployment.config))
    counted = []
    count_job = state.metrics.count_job

    def noted(*given, **more):
        counted.append(steady())
        count_job(*given, **more)

    state.metrics.count_job = noted
    state.jobs.start()
    try:
        body = f'{{"sql": "{COUNT}", "spend": {{"epsilon": "1"}}}}'
        job = state.jobs.put("ana", "people", "sql", body)
        _until(lambda: 'discreet_jobs_total{verb="sql",state="done"} 1' in state.metrics.text())
        job = state.jobs.find("ana", job.id)
        assert counted[0] >= TimingGrid(4.0).tick(job.started, job.finished)
        assert 'discreet_charges_total{verb="sql"} 1' in state.metrics.text()
        # The same question again is answered, and charges nothing.
        state.jobs.put("ana", "people", "sql", body)
        _until(lambda: 'discreet_jobs_total{verb="sql",state="done"} 2' in state.metrics.text())
        assert 'discreet_charges_total{verb="sql"} 1' in state.metrics.text()
    finally:
        state.close()


def test_a_length_beside_chunks_is_refused(tmp_path):
    """A proxy could read the end of such a body elsewhere than we do."""
    deployment = build(tmp_path, port=free_port())
    host = deployment.url.removeprefix("http://")
    request = (
        f"POST /api/v1/datasets/people/sql HTTP/1.1\r\nHost: {host}\r\nContent-Length: 5\r\n"
        "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n"
    )
    with (
        serving(deployment),
        socket.create_connection(("127.0.0.1", int(host.rpartition(":")[2])), 30) as line,
    ):
        line.sendall(request.encode())
        assert line.recv(100).startswith(b"HTTP/1.1 400")


@pytest.mark.slow
def test_health_knows_the_database_of_the_ledger(tmp_path):
    """While it is silent: 503, and questions are refused in time. Afterwards they are charged once."""
    import psycopg

    with own_postgres() as server:
        deployment = build(
            tmp_path,
            port=free_port(),
            service='grid = "0.05"',
            ledger=server.dsn,
            limits="free_seconds = 60",
        )
        port = free_port()
        with serving(deployment, postgres=f"127.0.0.1:{port}"), deployment.client("ana") as client:

            def ask():
                with psycopg.connect(
                    host="127.0.0.1", port=port, user="ana", password=deployment.tokens["ana"],
                    dbname="people", options="-c discreet.epsilon=1", autocommit=True,
                ) as line:  # fmt: skip
                    return line.execute("SELECT COUNT(*) AS n FROM people WHERE age > 7").fetchall()

            _until(lambda: client.get("/health").json()["ledger"] == "ok")
            with server.paused():
                _until(lambda: client.get("/health").status_code == 503)
                assert client.get("/health").json()["store"] == "ok"
                assert client.get("/health").json()["ledger"] == "failing"
                begin = time.monotonic()
                with pytest.raises(psycopg.Error):
                    ask()
                assert (
                    client.post(
                        "/datasets/people/sql", json={"sql": COUNT, "spend": ONE}
                    ).status_code
                    >= 400
                )
                assert time.monotonic() - begin < 300
            _until(lambda: client.get("/health").status_code == 200)
            first = ask()
            assert ask() == first
            spent = client.get("/datasets/people/spent").json()["spent"]
            assert spent["epsilon"] in ("1", "2")


def test_a_server_that_is_gone_ends_its_fork_server_quietly():
    """It may have sent a command before it ended (D5)."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    one, other = socket.socketpair()
    with theirs, one, other:
        started = subprocess.Popen(
            [sys.executable, "-m", "discreet.service.jobs.planning_worker", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stderr=subprocess.PIPE,
        )
        socket.send_fds(ours, [b"start"], [other.fileno()])
        ours.close()
    _, told = started.communicate(timeout=60)
    assert (started.returncode, told) == (0, b"")


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_sigterm_is_quiet(tmp_path, workers):
    """No traceback and no warning of a library, with connections of both protocols open (D5)."""
    import psycopg

    deployment = build(tmp_path, port=free_port(), limits="free_seconds = 60")
    port = free_port()
    server = start(deployment, workers=workers, postgres=port)
    facts = {"host": "127.0.0.1", "port": port, "user": "ana", "dbname": "people"}
    with psycopg.connect(password=deployment.tokens["ana"], **facts) as line:
        line.execute("SET discreet.epsilon = '1'")
        line.execute("SELECT COUNT(*) AS n FROM people").fetchall()
        with deployment.client("ana") as client:
            asked = client.post("/datasets/people/explain", json={"sql": COUNT, "spend": ONE})
            assert asked.status_code == 200
        server.stop()
        line.close()
    told = (tmp_path / "server.txt").read_text().splitlines()
    assert [words for words in told if "PostgreSQL" not in words and "dbname" not in words] == [
        f"serving people, other at {deployment.url}"
    ]
