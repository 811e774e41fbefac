"""A question is answered once and charged once: retries, races, cancelling, dying workers, restarts, shutdown.

The slow table is a view over billions of made-up rows in a real DuckDB file, so that a query can be caught running.
"""

from __future__ import annotations

import json
import signal
import threading
import time
from contextlib import suppress

import duckdb
import httpx
import pytest

import discreet as dp
from discreet.ledger import open_ledger
from discreet.service.config import read_config
from discreet.service.state import open_state
from service.deployment import COUNT, build, free_port, serving, start
from service.states import BODY, ended

SLOW_SET = """
[datasets.slow]
schema = "slow.toml"
ledger = "slow.ledger"
budget = {{ epsilon = "10" }}
duckdb = "slow{rows}.duckdb"
trusted = ["people"]
"""
SLOW_SCHEMA = """format = 1
[tables.people]
unit = { kind = "rows" }
[tables.people.columns]
age = { type = "integer", low = 0, high = 120 }
"""
SPEND = {"epsilon": "1/10"}
ENDLESS = 30_000_000_000


def write_slow(path, rows):
    with duckdb.connect(str(path)) as base:
        base.execute(
            f"CREATE OR REPLACE VIEW people AS SELECT (range * 7919) % 90 AS age FROM range({rows})"
        )


def slow_house(folder, *, rows, service="", **options):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "slow.toml").write_text(SLOW_SCHEMA)
    write_slow(folder / f"slow{rows}.duckdb", rows)
    extra = SLOW_SET.format(rows=rows)
    return build(
        folder,
        port=free_port(),
        service='grid = "0.1"\nlease = "2"\n' + service,
        dataset=extra,
        **options,
    )


def charges(deployment, name="slow"):
    with open_ledger(deployment.folder / f"{name}.ledger") as ledger:
        entries = ledger.history()
        return [
            entry.kind for entry in entries if entry.kind != "open"
        ], ledger.verify() is not None


def post(client, body, key="k", name="slow"):
    return client.post(f"/datasets/{name}/sql", json=body, headers={"Idempotency-Key": key})


def follow(client, place, patience=60):
    end = time.monotonic() + patience
    while time.monotonic() < end:
        seen = client.get(place).json()
        if "reply" in seen:
            return seen
        time.sleep(max(0.1, seen["again_in"]))
    raise AssertionError(seen)


def ask(age):
    return {"sql": f"{COUNT} WHERE age < {age}", "spend": SPEND}


@pytest.fixture(scope="module")
def slow(tmp_path_factory):
    """Two workers, so that a request and its job, its cancelling and its fetching may meet different ones."""
    running = start(slow_house(tmp_path_factory.mktemp("slow"), rows=ENDLESS), workers=2)
    yield running
    running.stop()


class TestLongQueries:
    def test_a_long_query_is_a_job_that_can_be_cancelled_and_stays_charged(self, slow):
        with slow.deployment.client("stella") as client:
            response = post(client, ask(10), "cancel")
            assert response.status_code == 202
            place = response.headers["Location"].removeprefix("/api/v1")
            seen = client.get(place).json()
            assert seen["state"] in ("waiting", "running") and "again_in" in seen
            open_jobs = client.get("/jobs").json()["jobs"]
            assert [job["verb"] for job in open_jobs] == ["sql"]
            assert open_jobs[0]["asked"]["sql"] == ask(10)["sql"]
            assert client.delete(place).status_code == 202
            seen = follow(client, place)
            assert (seen["state"], seen["status"]) == ("cancelled", 409)
            again = post(client, ask(10), "cancel")
            assert (again.status_code, again.json()) == (409, seen["reply"])
        kinds, _ = charges(slow.deployment)
        assert kinds[-2:] == ["charge", "fail"]

    def test_a_query_that_takes_too_long_is_stopped(self, tmp_path):
        state = open_state(
            read_config(slow_house(tmp_path, rows=ENDLESS, limits="query_seconds = 1").config)
        )
        job = state.jobs.put("stella", "slow", "sql", BODY)
        state.jobs.start()
        seen = ended(state, job, patience=60)
        state.close()
        assert (seen.state, json.loads(seen.reply)["error"]["kind"]) == ("failed", "TooSlow")

    def test_others_are_answered_meanwhile(self, slow):
        with slow.deployment.client("stella") as client:
            place = post(client, ask(30), "meanwhile").headers["Location"].removeprefix("/api/v1")
            quick = post(client, ask(31), "quick", "people")
            if quick.status_code == 202:
                quick = client.get(quick.headers["Location"].removeprefix("/api/v1"))
            assert quick.status_code == 200
            client.delete(place)
            follow(client, place)


class TestRaces:
    def test_one_request_sent_by_many_at_once_is_one_job_and_one_charge(self, slow):
        found = []

        def send():
            with slow.deployment.client("ana") as client:
                response = post(client, ask(44), "same", "people")
                place = response.headers["Location"].removeprefix("/api/v1")
                found.append((place, str(follow(client, place)["reply"])))

        threads = [threading.Thread(target=send) for _ in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 12
        assert len(set(found)) == 1
        kinds, _ = charges(slow.deployment, "people")
        with open_ledger(slow.deployment.folder / "people.ledger") as ledger:
            assert (
                sum(entry.kind == "charge" and entry.who == "ana" for entry in ledger.history())
                == 1
            )
        assert "charge" in kinds

    def test_many_questions_at_once_spend_exactly_what_fits(self, slow):
        statuses = []

        def send(k):
            with slow.deployment.client("bob") as client:
                place = (
                    client.post("/datasets/other/sql", json=ask(50 + k))
                    .headers["Location"]
                    .removeprefix("/api/v1")
                )
                statuses.append(follow(client, place)["status"])

        threads = [threading.Thread(target=send, args=(k,)) for k in range(14)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(statuses) == [200] * 10 + [409] * 4
        with open_ledger(slow.deployment.folder / "other.ledger") as ledger:
            assert ledger.spent() == dp.PureDP(1)
            ledger.verify()


DEADLY = """
import os, signal
from discreet.ledger import failpoints as steps
def passed(step):
    if step == os.environ["DIE_AT"]:
        os.kill(os.getpid(), signal.SIGKILL)
steps.passed = passed
from discreet.cli.app import app
app()
"""


class TestDeath:
    @pytest.mark.parametrize(
        "step", [pytest.param("charge:after", marks=pytest.mark.slow), "finish:after"]
    )
    def test_a_worker_that_dies_at_a_step_leaves_a_request_that_is_charged_once(
        self, tmp_path, step
    ):
        """Outside deep, the death after the charge is that of tests/client/test_making.py."""
        deployment = build(tmp_path, port=free_port(), service='grid = "0.1"\nlease = "1"')
        dying = start(deployment, script=DEADLY, environment={"DIE_AT": step})
        with (
            deployment.client("ana") as client,
            suppress(httpx.TransportError),
        ):  # the answer may be lost with the worker
            post(client, ask(40), "once", "people")
        assert dying.process.wait(30) == -signal.SIGKILL
        kinds, _ = charges(deployment, "people")
        assert kinds == {"finish:after": ["charge", "answer"]}.get(step, ["charge"])
        with serving(deployment), deployment.client("ana") as client:
            response = post(client, ask(40), "once", "people")
            seen = follow(client, response.headers["Location"].removeprefix("/api/v1"))
        assert seen["state"] == "done"
        assert charges(deployment, "people")[0] == ["charge", "answer"]


def wait_until_charged(deployment):
    end = time.monotonic() + 60
    with open_ledger(deployment.folder / "slow.ledger") as ledger:
        while ledger.spent() == dp.PureDP(0):
            assert time.monotonic() < end
            time.sleep(0.05)


class TestShutdown:
    def test_a_running_query_is_finished_before_the_server_ends(self, tmp_path):
        deployment = slow_house(tmp_path, rows=8_000_000)
        running = start(deployment)
        with deployment.client("stella") as client:
            place = post(client, ask(40)).headers["Location"].removeprefix("/api/v1")
        wait_until_charged(deployment)
        assert running.stop() in (0, -signal.SIGTERM)
        assert charges(deployment)[0] == ["charge", "answer"]
        with serving(deployment), deployment.client("stella") as client:
            assert follow(client, place)["state"] == "done"

    def test_a_query_that_is_too_long_to_wait_for_goes_on_after_a_restart_under_the_same_charge(
        self, tmp_path
    ):
        """The table has no end while the first server lives, so that no machine is fast enough for it."""
        deployment = slow_house(tmp_path, rows=ENDLESS, service='drain_seconds = "0.2"')
        running = start(deployment)
        with deployment.client("stella") as client:
            place = post(client, ask(40)).headers["Location"].removeprefix("/api/v1")
        wait_until_charged(deployment)
        running.stop()
        assert "failed" not in (tmp_path / "server.txt").read_text()
        assert charges(deployment)[0] == ["charge"]
        write_slow(tmp_path / f"slow{ENDLESS}.duckdb", 1_000)
        with serving(deployment), deployment.client("stella") as client:
            assert follow(client, place, 120)["state"] == "done"
        assert charges(deployment)[0] == ["charge", "answer"]
