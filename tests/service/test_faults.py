"""What goes wrong around a service, one fault at a time: it goes on, says so, and is well again when the fault ends."""

from __future__ import annotations

import json
import socket
import subprocess
import threading
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

import discreet as dp
from discreet.engines.base import failure
from discreet.ledger import open_ledger
from discreet.ledger.stores.postgres_connection import connect
from discreet.service.app import build_app
from discreet.service.config import read_config
from discreet.service.http import health
from discreet.service.http import middleware as guard
from discreet.service.http import request_timeout as prompt
from discreet.service.http.health import health_of
from discreet.service.jobs import heartbeat
from discreet.service.jobs import steady_clock as clock
from discreet.service.jobs.executor import JobExecutor
from discreet.service.jobs.fair_queue import LATE, LONG, FairQueue
from discreet.service.jobs.job_store import JobStore
from discreet.service.jobs.paced_engine import pace
from discreet.service.jobs.timing_grid import TimingGrid
from discreet.service.state import open_state
from discreet.service.stores import store as stores
from service.deployment import COUNT, ONE, build, free_port, serving
from service.inside import inside
from service.own_postgres import SETUP, own_postgres
from service.states import BODY, edited, ended

MANY = "SELECT " + ", ".join(f"MEDIAN(age + {k}) AS m{k}" for k in range(700)) + " FROM people"
"""A question that costs nothing to explain but minutes."""


def wait_for(what, patience=30.0):
    end = time.monotonic() + patience
    while not what():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.02)


def body(k):
    return BODY.replace("people", f"people WHERE age < {k}", 1)


@pytest.fixture
def state(tmp_path):
    made = open_state(read_config(build(tmp_path, service='grid = "0.05"\nlease = "0.6"').config))
    yield made
    made.close()


@pytest.fixture(scope="module")
def base():
    """A server that only this module's tests disturb."""
    if subprocess.run([SETUP, "install"], capture_output=True, check=False).returncode:
        pytest.skip("there is no PostgreSQL server here, and it could not be installed")
    with own_postgres() as server:
        yield server


@pytest.fixture
def hasty(monkeypatch):
    """Patience of moments instead of seconds."""
    monkeypatch.setattr(stores, "RETRY_SECONDS", 1.0)
    monkeypatch.setattr(stores, "ANSWER_SECONDS", 0.5)
    monkeypatch.setattr(heartbeat, "MISSED", 0.5)


class TestNoThreadEnds:
    def test_a_log_that_cannot_be_written_stops_no_job_and_is_told(self, state, tmp_path, capfd):
        log = tmp_path / "audit.log"
        log.unlink(missing_ok=True)
        log.mkdir()
        state.jobs.start()
        for k in range(2 * state.config.bounds.threads):
            assert ended(state, state.jobs.put("ana", "people", "sql", body(k))).state == "done"
            assert (
                ended(state, state.jobs.put("ana", "people", "nonsense", str(k))).state == "refused"
            )
        found, status = health_of(state)
        assert (found["log"], found["threads"], status) == ("failing", "ok", 503)
        assert '"verb":"sql done"' in capfd.readouterr().err
        log.rmdir()
        state.log.write("again")
        assert health_of(state)[1] == 200

    def test_the_keeper_outlives_whatever_the_store_says(self, state, monkeypatch):
        monkeypatch.setattr(heartbeat, "MISSED", 0.2)
        said = iter([ZeroDivisionError("?"), MemoryError(), dp.ServiceUnavailable("away")] * 4)
        monkeypatch.setattr(
            state.jobs.job_store, "probe", lambda: (_ for _ in ()).throw(next(said))
        )
        state.jobs.start()
        wait_for(lambda: health_of(state)[0]["store"] == "failing")
        monkeypatch.undo()
        wait_for(lambda: health_of(state)[1] == 200)
        JobStore(state.store, "somebody", -1.0).put(_lost())
        wait_for(lambda: state.jobs.job_store.get("lost").state == "done")

    def test_health_sees_a_thread_that_is_gone(self, state):
        state.jobs.start()
        assert health_of(state)[1] == 200
        state.jobs._line.close()
        wait_for(lambda: health_of(state)[0]["threads"] == "failing")

    def test_health_sees_a_disk_without_room(self, state, monkeypatch):
        monkeypatch.setattr(health, "MIN_FREE_BYTES", 1 << 62)
        assert health_of(state)[0]["disk"] == "failing"

    def test_an_answer_that_cannot_be_written_down_is_written_down_later_and_charged_once(
        self, state, monkeypatch
    ):
        real, tries = state.jobs.job_store.end, []

        def end(*words):
            tries.append(1)
            if len(tries) < 3:
                raise dp.ServiceUnavailable("the disk is full")
            real(*words)

        monkeypatch.setattr(state.jobs.job_store, "end", end)
        state.jobs.start()
        assert ended(state, state.jobs.put("ana", "people", "sql", BODY)).state == "done"
        assert [entry.kind for entry in state.datasets.ledger("people").history()] == [
            "open",
            "charge",
            "answer",
        ]
        told = Path(state.config.log).read_text()
        assert "sql done" in told and "error" not in told, (
            "it was put off, not left for somebody to take over"
        )

    def test_a_job_that_somebody_else_took_over_is_left_to_them(self, state):
        job = state.jobs.put("ana", "people", "sql", BODY)
        state.store.ask("UPDATE discreet_jobs SET owner = 'other', lease = ?", clock.steady() + 60)
        state.jobs.start()
        wait_for(lambda: not state.jobs._mine)
        assert state.jobs.job_store.get(job.id).state == "waiting"


def _lost():
    from service.test_inside import _job

    return replace(_job(clock.steady()), id="lost", mark="lost")


class TestSilentDatabases:
    def test_a_paused_server_is_given_up_by_store_and_ledger_and_found_again(self, base, hasty):
        store, ledger = (
            stores.PostgresServiceStore(base.dsn + " connect_timeout=2"),
            _ledger(base, "paused"),
        )
        assert store.ask("SELECT 1") and ledger.left()
        with base.paused():
            failed = []
            for ask in [lambda: store.ask("SELECT 1")] * 8 + [ledger.left] * 4:
                threading.Thread(target=lambda ask=ask: failed.append(_conflict(ask))).start()
            wait_for(lambda: len(failed) == 12)
            assert all(failed)
        wait_for(
            lambda: not _conflict(lambda: store.ask("SELECT 1")) and not _conflict(ledger.left)
        )
        ledger.close()
        store.close()

    def test_a_query_on_a_silent_store_ends_when_its_time_is_over(self, base, tmp_path):
        base.say("DROP TABLE IF EXISTS people")
        base.say(
            "CREATE TABLE people AS SELECT 7 AS age, 7 AS income, 'N' AS region FROM generate_series(1, 50)"
        )
        deployment = build(
            tmp_path, service='grid = "0.05"', limits="query_seconds = 1\nthreads = 1"
        )
        text = deployment.config.read_text().replace(
            '{ people = "people.csv", wards = "wards.csv" }', f'"{base.dsn}"'
        )
        deployment.config.write_text(text.replace("duckdb =", "postgres ="))
        (tmp_path / "people.toml").write_text(
            (tmp_path / "people.toml").read_text().partition("[tables.wards]")[0]
        )
        state = open_state(read_config(deployment.config))
        state.jobs.start()
        wait_for(lambda: ended(state, state.jobs.put("ana", "people", "sql", BODY)).state == "done")
        with base.paused():
            job = ended(state, state.jobs.put("ana", "people", "sql", body(9)))
            assert json.loads(job.reply)["error"]["kind"] == "TooSlow"
        wait_for(
            lambda: ended(state, state.jobs.put("ana", "people", "sql", body(9))).state == "done"
        )
        state.close()

    def test_a_server_that_becomes_read_only_stops_no_thread(self, base, tmp_path, hasty):
        deployment = build(tmp_path, service='grid = "0.05"\nlease = "0.6"', store=base.dsn)
        state = open_state(read_config(deployment.config))
        state.jobs.start()
        with base.read_only():
            wait_for(lambda: health_of(state)[0]["store"] == "failing")
            assert health_of(state)[0]["threads"] == "ok"
        wait_for(lambda: health_of(state)[1] == 200)
        assert ended(state, state.jobs.put("ana", "people", "sql", BODY)).state == "done"
        state.close()

    def test_a_pipeline_that_fails_leaves_no_statement_that_only_the_driver_believes_in(self, base):
        """The driver prepares a statement at its sixth time, and does not notice that the server skipped that."""
        line = connect(base.dsn, 5.0)
        for _ in range(5):
            line.execute("SELECT 1 + %s", (1,))
        with suppress(psycopg.errors.DivisionByZero), line.pipeline():
            line.execute("SELECT 1 / %s", (0,))
            line.execute("SELECT 1 + %s", (1,))
        assert line.execute("SELECT 1 + %s", (1,)).fetchone() == (2,)
        line.close()


def _ledger(base, name):
    return open_ledger(base.dsn + " connect_timeout=2", dp.PureDP(1), name=name, wait=0.5)


def _conflict(ask):
    try:
        ask()
    except (dp.LedgerConflict, dp.ServiceUnavailable):
        return True
    return False


class TestClocks:
    """Ticks and leases are differences of times: a clock that is set moves none of them."""

    @pytest.mark.parametrize("step", [-3600.0, 3600.0])
    def test_a_step_of_the_clock_holds_no_thread_and_no_answer(self, state, monkeypatch, step):
        state.jobs.start()
        real = time.time
        job = state.jobs.put("ana", "people", "sql", BODY)
        monkeypatch.setattr(time, "time", lambda: real() + step)
        assert ended(state, job).state == "done"
        wait_for(lambda: state.jobs.view(state.jobs.job_store.get(job.id))[0])

    def test_an_engine_is_held_back_by_no_step(self, monkeypatch):
        real = time.time

        class Store:
            def tally(self, tally):
                monkeypatch.setattr(time, "time", lambda: real() - 3600)
                return {(): (1,)}

        assert pace(Store(), 0.05).tally(None) == {(): (1,)}

    def test_a_job_of_a_worker_whose_clock_is_ahead_is_shown_after_its_tick_and_taken_over_when_lost(
        self, state
    ):
        ahead = replace(_lost(), started=clock.steady() + 3600, created=clock.steady() + 3600)
        JobStore(state.store, "somebody", 3600.0).put(ahead)
        state.jobs.start()
        wait_for(lambda: not state.jobs.job_store.get("lost").open)
        found = state.jobs.job_store.get("lost")
        assert (found.state, found.owner) == ("done", state.jobs.owner)
        assert not state.jobs.view(replace(ahead, id="new"))[0], (
            "it waited there, before it was taken"
        )
        done = replace(
            ahead, started=ahead.started + 1, finished=ahead.started + 1.1, state="done", reply="{}"
        )
        assert not state.jobs.view(replace(done, id="new"))[0]
        wait_for(lambda: state.jobs.view(replace(done, id="new"))[0])


class TestFairShare:
    def test_people_take_turns_and_hold_one_hand_each_or_half_of_them_alone(self):
        now = [0.0]
        line = FairQueue(most=2, clock=lambda: now[0])
        for k in range(5):
            line.put("ana", k)
        assert [line.take() for _ in range(2)] == [("ana", 0), ("ana", 1)], "alone, two at a time"
        line.put("bob", 9)
        line.done("ana")
        assert line.take() == ("bob", 9), "one of ana's is in hand, and bob has come"
        taken = []
        waiting = threading.Thread(target=lambda: taken.append(line.take()))
        waiting.start()
        line.put("cy", 3)
        waiting.join(10)
        assert taken == [("cy", 3)]
        assert line.load("ana") == 4
        line.done("ana")
        assert line.take() == ("ana", 2)
        line.done("ana", LONG + 3)
        assert line._limit("ana") == 0, "twice three seconds are bob's and cy's"
        line.done("ana")
        assert line._limit("ana") == 0, "short work after long does not end its rest"
        now[0] += 5
        assert line._limit("ana") == 0
        now[0] += 1
        assert line.take() == ("ana", 3)
        now[0] += LATE
        assert line._limit("ana") == 2, "the others came long ago"
        line.close()
        assert line.take() is None

    def test_the_next_job_of_a_person_starts_at_a_tick_of_the_one_before(
        self, tmp_path, monkeypatch
    ):
        """When it starts tells no more of how long the one before took than its own tick does."""
        state = open_state(edited(build(tmp_path, service='grid = "0.8"'), threads=1))
        begun = []
        real = state.jobs.job_store.begin
        monkeypatch.setattr(
            state.jobs.job_store, "begin", lambda job, at: (begun.append(at), real(job, at))[1]
        )
        first = state.jobs.put("ana", "people", "sql", body(31))
        second = state.jobs.put("ana", "people", "sql", body(32))
        state.jobs.start()
        wait_for(lambda: len(begun) == 2)
        one, two = state.jobs.job_store.get(first.id), ended(state, second)
        assert [one.started, two.started] == begun, "ticks count from there"
        assert begun[1] >= TimingGrid(0.8).tick(one.started, one.finished) > one.finished
        state.close()

    def test_old_work_is_shown_and_leaves_its_hand_as_soon_as_new_work_does(self, state):
        """Ticks lie further apart the longer ago they began: counted from when it was sent, this would take an hour."""
        long_ago = clock.steady() - 3600
        for k in range(3):
            old = replace(
                _lost(), created=long_ago, id=f"old {k}", mark=f"old {k}", body=body(20 + k)
            )
            JobStore(state.store, "somebody gone", -3600.0).put(old)
            waiting = state.jobs.view(state.jobs.job_store.get(old.id))[1]
            assert waiting["seconds"] >= 3600 and waiting["again_in"] <= 1
        state.jobs.start()
        wait_for(
            lambda: all(state.jobs.view(state.jobs.job_store.get(f"old {k}"))[0] for k in range(3))
        )
        state.jobs.put("bob", "people", "sql", BODY)
        assert state.jobs._line._limit(old.person) > 0, (
            "what was waited for was no long work of its person"
        )

    def test_a_retry_of_an_answered_request_is_not_refused_however_much_is_asked(self, tmp_path):
        deployment = build(tmp_path, service='grid = "0.05"')
        state = open_state(edited(deployment, jobs_per_person=1, requests_per_minute=3))
        headers = {"Authorization": f"Bearer {deployment.tokens['ana']}", "Idempotency-Key": "k"}
        ask = {"sql": COUNT, "spend": ONE}
        with inside(build_app(state.config, state), deployment.url) as client:
            send = lambda key: client.request(  # noqa: E731
                "POST",
                "/api/v1/datasets/people/sql",
                json=ask,
                headers=headers | {"Idempotency-Key": key},
            )
            first = send("k")
            wait_for(
                lambda: state.jobs.view(state.jobs.job_store.marked("ana", "k"))[0]
            )  # ended, and its tick is over
            JobStore(state.store, "somebody", 60.0).put(replace(_lost(), person="ana"))
            assert send("new").status_code == 429
            again = [send("k") for _ in range(3)]
            assert [one.status_code for one in again] == [200] * 3
            assert first.status_code in (200, 202) and len({one.text for one in again}) == 1

    def test_what_failed_before_any_charge_may_be_sent_again(self, state, monkeypatch):
        real = state.datasets.thread_curator
        away = [True]

        def thread_curator(name):
            found = real(name)
            if away[0]:
                object.__setattr__(found.curator.context, "known", _Away())
            else:
                object.__setattr__(found.curator.context, "known", {})
            return found

        monkeypatch.setattr(state.datasets, "thread_curator", thread_curator)
        state.jobs.start()
        text = BODY.replace(
            COUNT, "SELECT city, COUNT(*) AS n FROM people JOIN wards ON age = ward GROUP BY city"
        )
        job = ended(state, state.jobs.put("ana", "people", "sql", text, "k"))
        assert (job.state, job.status) == ("refused", 502)
        assert state.datasets.ledger("people").spent() == dp.PureDP(0)
        away[0] = False
        wait_for(
            lambda: ended(state, state.jobs.put("ana", "people", "sql", text, "k")).state == "done"
        )

    def test_a_store_that_cannot_be_opened_has_charged_nothing(self, state):
        class Gone:
            def thread_curator(self, name):
                raise failure()

        outcome = JobExecutor(Gone(), state.receipts, state.log, stopping=threading.Event()).answer(
            _lost()
        )
        assert (outcome.state, outcome.status) == ("refused", 502)


class _Away(dict):
    def __contains__(self, key):
        raise failure()


class TestFreeWork:
    def test_it_ends_when_its_time_is_over_while_others_are_answered(self, tmp_path):
        deployment = build(tmp_path)
        state = open_state(edited(deployment, free_seconds=1, jobs_per_person=2))
        with inside(build_app(state.config, state), deployment.url) as client:

            def send(who, verb, sql, **more):
                headers = {"Authorization": f"Bearer {deployment.tokens[who]}"}
                asked = {"sql": sql, "spend": ONE, **more}
                path = f"/api/v1/datasets/people/{verb}"
                response = client.request("POST", path, json=asked, headers=headers)
                return response.status_code, response.json()

            assert send("bob", "explain", COUNT)[0] == 200
            found = []
            for verb in ("explain", "rehearse", "explain"):
                threading.Thread(
                    target=lambda verb=verb: found.append(send("ana", verb, MANY))
                ).start()
            wait_for(lambda: found)
            assert send("bob", "explain", COUNT)[0] == 200
            wait_for(lambda: len(found) == 3)
            assert sorted(status for status, _ in found) == [409, 409, 429]
            late = next(reply for status, reply in found if status == 409)["error"]
            assert late["kind"] == "TooSlow" and "nothing was spent" in late["message"]
            wide = "SELECT age, income, COUNT(*) AS n FROM people GROUP BY age, income"
            assert send("ana", "rehearse", wide)[0] == 422
            assert send("ana", "rehearse", COUNT)[0] == 200
        assert state.datasets.ledger("people").spent() == dp.PureDP(0)

    def test_an_office_that_is_killed_is_opened_again(self, state):
        from discreet.wire.verbs.question import EXPLAIN, read_ask

        ask = read_ask({"sql": COUNT, "spend": ONE})
        assert state.planning_pool.ask("ana", "people", EXPLAIN.free_run, ask, 1)
        state.planning_pool._fork_server._process.kill()
        state.planning_pool._fork_server._process.wait()
        wait_for(
            lambda: (
                not _conflict(
                    lambda: state.planning_pool.ask("ana", "people", EXPLAIN.free_run, ask, 1)
                )
            )
        )

    def test_a_page_counts_as_a_request_and_strangers_have_their_measure(self, tmp_path):
        deployment = build(tmp_path)
        with inside(build_app(edited(deployment, requests_per_minute=2)), deployment.url) as client:
            found = [client.request("GET", "/learn/noise").status_code for _ in range(3)]
            assert found == [200, 200, 429]
            assert client.request("GET", "/sign-in").status_code == 200


class TestStrangers:
    def test_a_valid_token_is_never_locked_out(self, tmp_path):
        deployment = build(tmp_path)
        with inside(build_app(edited(deployment, failures_per_minute=1)), deployment.url) as client:
            wrong = [
                client.request(
                    "GET", "/api/v1/me", headers={"Authorization": "Bearer dsc_x"}
                ).status_code
                for _ in range(3)
            ]
            right = client.request(
                "GET", "/api/v1/me", headers={"Authorization": f"Bearer {deployment.tokens['ana']}"}
            )
            form = {"Content-Type": "application/x-www-form-urlencoded"}
            signed = client.request(
                "POST", "/sign-in", content=f"token={deployment.tokens['ana']}", headers=form
            )
            unsigned = client.request("POST", "/sign-in", content="token=dsc_x", headers=form)
        assert (wrong, right.status_code, signed.status_code) == ([401, 429, 429], 200, 303)
        assert unsigned.status_code == 429


class TestHalfSentRequests:
    def test_lines_on_which_no_whole_request_comes_are_closed(self, tmp_path, monkeypatch):
        for room, name in ((guard, "BODY_SECONDS"), (prompt, "HEAD_SECONDS")):
            monkeypatch.setattr(room, name, 0.5)
        deployment = build(tmp_path, port=free_port(), service='grid = "0.05"')
        place = deployment.url.removeprefix("http://")
        head = f"Host: {place}\r\nAuthorization: Bearer {deployment.tokens['ana']}\r\n"
        begun = (
            f"POST /api/v1/datasets/people/explain HTTP/1.1\r\n{head}Content-Length: 90\r\n\r\n{{"
        )
        page = f"POST /sign-in HTTP/1.1\r\nHost: {place}\r\nContent-Length: 90\r\n\r\ntok"
        whole = f"GET /api/v1/me HTTP/1.1\r\n{head}\r\n"
        with serving(deployment):
            assert _heard(deployment, "") == ""
            assert _heard(deployment, "GET /api/v1/me HTTP/1.1\r\nHos") == ""
            assert _heard(deployment, whole + "GET /api/v1/me HT").startswith("HTTP/1.1 200")
            for half in (begun, page):
                assert _heard(deployment, half).startswith("HTTP/1.1 408")


def _heard(deployment, text):
    """Send a text and listen until the other end hangs up."""
    host, port = deployment.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as line:
        line.sendall(text.encode())
        heard = b""
        while more := line.recv(4096):
            heard += more
        return heard.decode()
