"""What is stopped stops, and tells and costs the same whether or not a colleague had asked it."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

import httpx
import pytest

import discreet as dp
from curator.cases import PEOPLE, ROWS, VISITS, WARDS, opened
from discreet import learn
from discreet.curator.curator import served
from discreet.ledger import import_ledger
from discreet.ledger.review.history import OWN_KINDS
from discreet.service.config import read_config
from discreet.service.jobs.paced_engine import pace
from discreet.service.stores.datasets import DataSets
from service.deployment import COUNT, ONE, build, free_port, serving, start

TABLES = [PEOPLE, VISITS, WARDS]
SOME = "SELECT region, COUNT(*) AS n FROM people GROUP BY region"
ENDLESS = "SELECT " + ", ".join(f"MEDIAN(age + {j}) AS m{j}" for j in range(700)) + " FROM people"


class AskingService:
    """Curators over one ledger, each with an engine of its own that answers at ticks and can be told to stop."""

    def __init__(self, seconds=1.0):
        self.ledger = opened(allowances={"ana": dp.PureDP(9), "bob": dp.PureDP(9)})
        self.seconds = seconds

    def ask(self, who, *, stop, sql=SOME):
        """Ask, and stop as soon as the store is asked or an answer is waited for; give the error, and what is spent."""
        engine = pace(dp.Memory(ROWS), self.seconds)
        asker = served(dp.Curator(engine, TABLES, self.ledger, who=who), engine.control)

        def stopping():
            engine.touched.wait()
            engine.stopped.set()

        if stop:
            threading.Thread(target=stopping, daemon=True).start()
        try:
            told = type(asker.sql(sql, spend=dp.PureDP(1))).__name__
        except dp.EngineFailure as failed:
            told = str(failed)
        shown = [
            (entry.kind, entry.refers is None, entry.who)
            for entry in asker.history()
            if entry.kind in OWN_KINDS
        ]
        return told, self.ledger.spent(who), shown


class TestWhoStopsAQuestion:
    def test_is_told_and_charged_the_same_whether_or_not_a_colleague_had_asked_it(self):
        """Stopped while it is run or while an answer is held back: one constant message, and asked again, paid again."""
        new, known = AskingService(), AskingService()
        assert known.ask("ana", stop=False)[0] == "Answer"
        seen = [
            [service.ask("bob", stop=stop) for stop in (True, True, False, False)]
            for service in (new, known)
        ]
        assert seen[0] == seen[1]
        assert [spent for _, spent, _ in seen[0]] == [dp.PureDP(n) for n in (1, 2, 3, 3)]
        assert known.ledger.spent() == dp.PureDP(1)
        for service in (new, known):
            assert service.ledger.verify().exact

    def test_the_ledger_moves_with_what_was_stopped(self, tmp_path):
        service = AskingService(0.2)
        service.ask("ana", stop=False)
        service.ask("bob", stop=True)
        service.ledger.export(tmp_path / "lines", answers=True)
        import_ledger(tmp_path / "lines", tmp_path / "new.ledger")
        with dp.open_ledger(tmp_path / "new.ledger") as moved:
            assert moved.verify().exact and moved.spent("bob") == dp.PureDP(1)

    def test_no_noise_is_drawn_once_a_training_is_stopped(self):
        """It draws in every step; the store was asked, so it was charged, and stays so."""
        asked = []

        class Watched(dp.Memory):
            def tally(self, tally):
                asked.append(tally)
                found = dp.Memory.tally(self, tally)
                if len(asked) == 2:  # the moments have been; the steps would begin
                    engine.stopped.set()
                return found

        engine = pace(Watched(ROWS), 0.01)
        ledger = dp.open_ledger(":memory:", dp.ZCDP(5))
        asker = served(dp.Curator(engine, [PEOPLE], ledger), engine.control)
        model = learn.LogisticRegression(target="region", features=["age"], steps=1000)
        with pytest.raises(dp.EngineFailure, match="not shown"):
            asker.learn("SELECT age, region FROM people", model, dp.ZCDP(1))
        assert ledger.spent().rho <= 1 and [e.kind for e in ledger.history()] == [
            "open",
            "charge",
            "fail",
        ]

    def test_the_curator_of_a_job_hears_a_stop_wherever_it_draws_or_waits(self, tmp_path):
        """The service passes it explicitly; what is free has nothing to stop."""
        datasets = DataSets(read_config(build(tmp_path).config))
        try:
            assert datasets.curator("people", "ana").context.control is None
            mine = datasets.thread_curator("people")
            assert len(mine.curator.context.bits.take(8)) == 8
            mine.curator.context.pause(0)
            assert mine.touched.is_set(), "what is waited for was charged"
            mine.interrupt()
            with pytest.raises(dp.EngineFailure):
                mine.curator.named("bob").context.bits.take(8)
            with pytest.raises(dp.EngineFailure):
                mine.curator.context.pause(60)
        finally:
            datasets.close()


class TestWhoHangsUp:
    def test_leaves_no_free_work_behind(self, tmp_path):
        """One clerk, who would have ten minutes for it: the next person is answered all the same."""
        deployment = build(
            tmp_path, port=free_port(), limits="free_seconds = 600\nfree_processes = 1"
        )
        with serving(deployment):
            self.explain_as_bob(deployment)  # the clerk is there when ana asks
            for verb, more in (("explain", {}), ("rehearse", {"rows": 100_000}), ("plan", {})):
                with deployment.client("ana") as ana:
                    ana.timeout = 0.7
                    with pytest.raises(httpx.TimeoutException):
                        ana.post(
                            f"/datasets/people/{verb}", json={"sql": ENDLESS, "spend": ONE, **more}
                        )
                self.explain_as_bob(deployment)

    def explain_as_bob(self, deployment):
        with deployment.client("bob") as bob:
            found = bob.post("/datasets/people/explain", json={"sql": COUNT, "spend": ONE})
        assert found.status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("workers", [1, 2])
def test_it_leaves_without_a_word(tmp_path, how, workers):
    """Neither a traceback nor a report of an extension module about what it still holds (D5)."""
    deployment = build(tmp_path, port=free_port(), limits="free_seconds = 60")
    server = start(deployment, workers=workers)
    with deployment.client("ana") as client:
        body = {"sql": COUNT, "spend": ONE}
        assert client.post("/datasets/people/sql", json=body).status_code in (200, 202)
    # uvicorn hands the signal on, so that whoever started the process sees it.
    assert server.stop(how) in (0, -how)
    said = (tmp_path / "server.txt").read_text().splitlines()
    assert len(said) == 1 and said[0].startswith("serving "), said


@pytest.mark.slow
def test_a_demonstration_leaves_without_a_word(tmp_path):
    port = free_port()
    script = "from discreet.cli.app import app; app()"
    command = [sys.executable, "-c", script, "serve", "--demo", "--port", str(port)]
    with (tmp_path / "said.txt").open("w") as said:
        process = subprocess.Popen(command, stdout=said, stderr=said)
    end = time.monotonic() + 120
    while time.monotonic() < end and process.poll() is None:
        with suppress(httpx.TransportError):
            if httpx.get(f"http://127.0.0.1:{port}/api/v1/health").status_code == 200:
                break
        time.sleep(0.2)
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0
    assert (tmp_path / "said.txt").read_text().splitlines()[-1].startswith("serving ")
