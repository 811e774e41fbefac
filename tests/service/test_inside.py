"""The service from inside: jobs, stores and engines in this process, each real."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import replace

import duckdb
import pytest

import discreet as dp
from discreet.service.app import build_app
from discreet.service.config import DataSource, read_config
from discreet.service.http.rate_limit import TooMany
from discreet.service.jobs import scheduler as jobs_room
from discreet.service.jobs.executor import retry_while_busy as _patiently
from discreet.service.jobs.job_store import JobStore
from discreet.service.state import open_state
from discreet.service.stores.datasets import open_engine
from service.deployment import COUNT, ONE, build
from service.inside import inside
from service.states import BODY, edited, ended


@pytest.fixture
def state(tmp_path):
    made = open_state(read_config(build(tmp_path, service='grid = "0.05"\nlease = "0.6"').config))
    yield made
    made.close()


@pytest.fixture
def slow(tmp_path):
    """A data set whose table never ends."""
    (tmp_path / "slow.toml").write_text(
        'format = 1\n[tables.people]\nunit = { kind = "rows" }\n'
        '[tables.people.columns]\nage = { type = "integer", low = 0, high = 120 }\n'
    )
    with duckdb.connect(str(tmp_path / "slow.duckdb")) as base:
        base.execute(
            "CREATE VIEW people AS SELECT (range * 7919) % 90 AS age FROM range(30000000000)"
        )
    extra = '[datasets.slow]\nschema = "slow.toml"\nledger = "slow.ledger"\nbudget = { epsilon = "9" }\nduckdb = "slow.duckdb"\ntrusted = ["people"]'
    deployment = build(tmp_path, service='grid = "0.05"\nlease = "0.6"', dataset=extra)
    made = open_state(edited(deployment, query_seconds=1, threads=1))
    yield made
    made.close()


class TestJobs:
    def test_a_job_is_run_and_its_receipt_kept(self, state):
        state.jobs.start()
        job = ended(state, state.jobs.put("ana", "people", "sql", BODY))
        assert (job.state, job.status) == ("done", 200)
        number = json.loads(json.loads(job.reply)["receipt"])["number"]
        numbers = state.datasets.curator("people", "ana").context.numbers
        assert state.receipts.find("people", numbers.in_ledger("ana", number))[0] == "ana"

    def test_a_job_that_waits_is_cancelled_for_free(self, state):
        job = state.jobs.put("ana", "people", "sql", BODY)
        assert state.jobs.cancel("ana", job.id).cancel
        state.jobs.start()
        assert ended(state, job).state == "cancelled"
        assert state.datasets.ledger("people").spent() == dp.PureDP(0)

    def test_a_job_of_a_worker_that_is_gone_is_taken_over(self, state):
        gone = JobStore(state.store, "somebody", -1.0)
        now = time.time()
        job = replace(_job(now), owner="somebody")
        gone.put(job)
        state.jobs.start()
        found = ended(state, job)
        assert (found.state, found.owner) == ("done", state.jobs.owner)

    def test_a_request_that_is_sent_again_takes_over_at_once(self, state):
        JobStore(state.store, "somebody", -1.0).put(_job(time.time()))
        job = state.jobs.put("ana", "people", "sql", BODY, "mark")
        assert job.owner == state.jobs.owner
        state.jobs.start()
        assert ended(state, job).state == "done"

    def test_two_who_take_over_are_one(self, state):
        first, second = JobStore(state.store, "a", 9.0), JobStore(state.store, "b", 9.0)
        JobStore(state.store, "somebody", -1.0).put(_job(time.time()))
        [lost] = first.lost()
        assert first.take(lost) is not None
        assert second.take(lost) is None
        assert second.lost() == ()
        first.release()
        assert len(second.lost()) == 1

    def test_what_breaks_says_nothing(self, state, tmp_path):
        state.jobs.start()
        job = ended(state, state.jobs.put("ana", "people", "nonsense", '{"Ada": 36}'))
        assert (job.state, job.status) == (
            "refused",
            500,
        )  # nothing was charged: it may be sent again
        assert "Ada" not in job.reply
        log = (tmp_path / "audit.log").read_text()
        assert "error KeyError at executor.py" in log and "nonsense" in log and "Ada" not in log

    def test_old_jobs_are_forgotten(self, state):
        job = state.jobs.put("ana", "people", "sql", BODY)
        state.jobs.job_store.end(job, "failed", 500, "{}", job.started)
        state.store.ask("UPDATE discreet_jobs SET finished = 1")
        state.jobs.job_store.forget()
        assert state.jobs.job_store.get(job.id) is None

    def test_too_many_open_jobs_of_one_person_are_refused(self, tmp_path):
        state = open_state(edited(build(tmp_path), jobs_per_person=1))
        state.jobs.put("ana", "people", "sql", BODY)
        with pytest.raises(TooMany):
            state.jobs.put("ana", "people", "sql", BODY)
        state.jobs.put("bob", "people", "sql", BODY)
        state.close()

    def test_a_running_query_is_stopped_by_its_person_or_by_its_time(self, slow):
        slow.jobs.start()
        first = slow.jobs.put("ana", "slow", "sql", BODY)
        while slow.datasets.ledger("slow").spent() == dp.PureDP(0):
            time.sleep(0.02)
        slow.jobs.cancel("ana", first.id)
        assert ended(slow, first).state == "cancelled"
        late = slow.jobs.put("ana", "slow", "sql", BODY.replace("0.95", "0.9"))
        assert (ended(slow, late).state, json.loads(ended(slow, late).reply)["error"]["kind"]) == (
            "failed",
            "TooSlow",
        )
        kinds = [entry.kind for entry in slow.datasets.ledger("slow").history()]
        assert kinds == ["open", "charge", "fail", "charge", "fail"]

    def test_stopping_leaves_what_waits_to_the_next(self, slow):
        slow.jobs.start()
        jobs = [
            slow.jobs.put("ana", "slow", "sql", BODY.replace("0.95", f"0.9{k}")) for k in range(3)
        ]
        while slow.datasets.ledger("slow").spent() == dp.PureDP(0):  # the first has begun
            time.sleep(0.02)
        slow.jobs.stop(0.1)
        slow.jobs.job_store.renew(
            [job.id for job in jobs]
        )  # as a keeper does that was about to when it was stopped
        assert {job.id for job in slow.jobs.job_store.lost()} >= {jobs[1].id, jobs[2].id}

    @pytest.mark.parametrize(
        "kind", [dp.LedgerConflict, dp.LedgerUnavailable, dp.ServiceUnavailable]
    )
    def test_the_ledger_is_asked_again_while_it_is_busy(self, kind):
        tries = []

        def run():
            tries.append(1)
            if len(tries) < 3:
                raise kind("busy")
            return {"n": 1}

        assert _patiently(run, threading.Event()) == {"n": 1}
        stopping = threading.Event()
        stopping.set()
        with pytest.raises(kind):
            _patiently(lambda: (_ for _ in ()).throw(kind("busy")), stopping)

    def test_a_store_that_is_away_for_a_while_loses_no_job(self, state, monkeypatch):
        """Real conflicts are rare; here the store refuses for some moments, as SQLite does when it is locked."""
        jobs, away = state.jobs.job_store, [4]

        def flaky(real):
            def call(*words, **named):
                if away[0] > 0:
                    away[0] -= 1
                    raise dp.ServiceUnavailable("away")
                return real(*words, **named)

            return call

        job = state.jobs.put("ana", "people", "sql", BODY)
        for name in ("begin", "renew", "lost"):
            monkeypatch.setattr(jobs, name, flaky(getattr(jobs, name)))
        state.jobs.start()
        assert ended(state, job).state == "done"


def _job(now):
    return jobs_room.Job(
        "job",
        "ana",
        "mark",
        "people",
        "sql",
        BODY,
        "waiting",
        0,
        "somebody",
        0.0,
        now,
        now,
        None,
        None,
        None,
    )


class TestTheApplication:
    def test_too_many_requests_must_wait(self, tmp_path):
        deployment = build(tmp_path)
        with inside(build_app(edited(deployment, requests_per_minute=2)), deployment.url) as client:
            headers = {"Authorization": f"Bearer {deployment.tokens['ana']}"}
            found = [client.request("GET", "/api/v1/me", headers=headers) for _ in range(3)]
        assert [response.status_code for response in found] == [200, 200, 429]
        assert 1 <= int(found[-1].headers["Retry-After"]) <= 30

    def test_an_address_that_guesses_must_wait_whatever_it_says_it_is(self, tmp_path):
        deployment = build(tmp_path)
        with inside(build_app(edited(deployment, failures_per_minute=2)), deployment.url) as client:
            statuses = [
                client.request(
                    "GET",
                    "/api/v1/me",
                    headers={"Authorization": "Bearer dsc_x", "X-Forwarded-For": f"10.0.0.{k}"},
                ).status_code
                for k in range(4)
            ]
        assert statuses == [401, 401, 429, 429]

    def test_what_breaks_says_nothing(self, tmp_path):
        deployment = build(tmp_path)
        config = read_config(deployment.config)
        broken = replace(open_state(config), people=None)
        with inside(build_app(config, broken), deployment.url) as client:
            response = client.request(
                "GET", "/api/v1/me", headers={"Authorization": "Bearer dsc_x"}
            )
        assert response.status_code == 500
        assert "not shown" in response.json()["error"]["message"]
        assert "AttributeError at authentication.py" in (tmp_path / "audit.log").read_text()

    def test_a_page_that_is_away_is_asked_again(self, tmp_path, monkeypatch):
        deployment = build(tmp_path)
        state = open_state(read_config(deployment.config))
        monkeypatch.setattr(
            state.people, "holder", lambda _: (_ for _ in ()).throw(dp.ServiceUnavailable("busy"))
        )
        with inside(build_app(state.config, state), deployment.url) as client:
            response = client.request(
                "GET", "/api/v1/me", headers={"Authorization": "Bearer dsc_x"}
            )
        assert (response.status_code, response.headers["Retry-After"]) == (503, "1")

    def test_receipts_are_signed_if_there_is_a_key(self, tmp_path):
        signer = dp.Signer.create()
        signer.save(tmp_path / "key")
        state = open_state(read_config(build(tmp_path, service='signing_key = "key"').config))
        state.jobs.start()
        job = ended(state, state.jobs.put("ana", "people", "sql", BODY))
        assert dp.verify_receipt(json.loads(job.reply)["receipt"], key=signer.public).signature
        state.close()

    def test_planning_over_http(self, tmp_path):
        deployment = build(tmp_path)
        with inside(build_app(read_config(deployment.config)), deployment.url) as client:
            headers = {"Authorization": f"Bearer {deployment.tokens['ana']}"}
            body = {"sql": COUNT, "error": 5, "queries": 10}
            found = client.request(
                "POST", "/api/v1/datasets/people/plan", json=body, headers=headers
            )
            assert found.status_code == 200, found.text
            several = {"questions": {"a": COUNT}, "spend": ONE}
            assert (
                client.request(
                    "POST", "/api/v1/datasets/people/plan", json=several, headers=headers
                ).status_code
                == 200
            )


class TestEngines:
    def test_postgres(self, postgres_dsn):
        import psycopg

        with psycopg.connect(postgres_dsn, autocommit=True) as base:
            base.execute("CREATE SCHEMA IF NOT EXISTS hr")
            base.execute("DROP TABLE IF EXISTS hr.staff")
            base.execute("CREATE TABLE hr.staff (age integer)")
        with open_engine(DataSource("postgres", postgres_dsn, {"people": "hr.staff"})) as engine:
            assert engine.columns("people") == {"age": "integer"}

    @pytest.mark.parametrize("store", ["spark"])
    def test_files_and_tables_in(self, store, spark_session, tmp_path):
        import polars as pl

        pl.DataFrame({"age": [1, 2]}).write_parquet(tmp_path / "a.parquet")
        (tmp_path / "b.csv").write_text("age\n1\n")
        spark_session.sql("CREATE OR REPLACE TEMP VIEW staff AS SELECT 1 AS age")
        places = {
            "a": str(tmp_path / "a.parquet"),
            "b": str(tmp_path / "b.csv"),
            "c": str(tmp_path / "staff"),
        }
        engine = open_engine(DataSource(store, places))
        assert [list(engine.columns(name)) for name in places] == [["age"]] * 3
        assert list(open_engine(DataSource(store, "")).columns("staff")) == ["age"]
