"""Everything at once: 32 clients ask while disks fill, databases pause, clocks jump and workers die.

Half of the questions are charged in PostgreSQL, half in SQLite; a third is asked over PostgreSQL's protocol, the others
over HTTP; more are asked than the budgets allow. Afterwards the
books are compared with what the clients got: nothing over-spent, no answer without its charge, no question charged
twice, no request without an end; and after every fault a new question is answered without a restart.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import resource
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from fractions import Fraction
from functools import partial
from pathlib import Path

import httpx
import psycopg
import pytest

import discreet as dp
from discreet.curator.history import EntryNumbers
from discreet.ledger import open_ledger
from discreet.service.stores.people import Members
from discreet.service.stores.store import open_store
from service.deployment import COUNT, build, free_port, start
from service.own_postgres import SETUP, own_postgres
from service.proxy import set_up

CLIENTS = 32
PATIENCE = 600.0
"""Seconds after which a request counts as one without an end: many, since other tests may need the machine as well."""
STEPPING = """
import os, threading, time
real, steps = time.time, [0.0]
time.time = lambda: real() + steps[0]
open(os.environ["STEP"] + ".here", "w").close()
def watch():
    while True:
        time.sleep(0.05)
        try:
            steps[0] = float(open(os.environ["STEP"]).read())
        except (OSError, ValueError):
            pass
threading.Thread(target=watch, daemon=True).start()
"""


def _keep_words(told, notice):
    """Keep a notice's words: psycopg reads them from a result that is gone later."""
    told.append(notice.message_primary)


class Storm:
    """A deployment on fire: two workers behind a proxy, a database of their own, 32 people."""

    def __init__(self, folder, base, budget):
        self.base, self.budget, self.outside, inside = base, budget, free_port(), free_port()
        self.deployment = build(
            folder / "deployment",
            port=self.outside,
            budget=f'{{ epsilon = "{budget}" }}',
            store=base.dsn,
            ledger=base.dsn,
            service='grid = "0.1"\nlease = "2"\nproxies = ["127.0.0.1"]',
        )
        text = self.deployment.config.read_text().replace(
            'budget = { epsilon = "1" }', f'budget = {{ epsilon = "{budget}" }}'
        )
        self.deployment.config.write_text(text)
        kept = open_store(base.dsn)
        for k in range(CLIENTS + 1):
            self.deployment.tokens[f"p{k}"] = Members(kept).add(
                f"p{k}", "analyst", ["people", "other"]
            )[1]
        kept.close()
        self.step = folder / "step"
        (folder / "sitecustomize.py").write_text(STEPPING)
        self.proxy = set_up(folder / "nginx", self.outside, inside).start()
        path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
        environment = {"STEP": str(self.step), "PYTHONPATH": path}
        self.port = free_port()
        self.server = start(
            self.deployment, workers=2, environment=environment, port=inside, postgres=self.port
        )

    def workers(self):
        main = self.server.process.pid
        children = Path(f"/proc/{main}/task/{main}/children").read_text().split()
        return [
            int(one) for one in children if "spawn_main" in Path(f"/proc/{one}/cmdline").read_text()
        ]

    def faults(self, seconds):
        """Every fault by name; each lasts some seconds."""

        def lasting(around):
            with around:
                time.sleep(seconds)

        return {
            "a worker is killed": lambda: os.kill(self.workers()[0], signal.SIGKILL),
            "the database is paused": lambda: lasting(self.base.paused()),
            "connections are cut": self.base.cut,
            "the database is read-only": lambda: lasting(self.base.read_only()),
            "the disk is full": lambda: lasting(self.full_disk()),
            "the log cannot be written": lambda: lasting(self.no_log()),
            "the clock steps back": lambda: self.step.write_text("-3600"),
            "the clock steps ahead": lambda: self.step.write_text("7200"),
            "the proxy is restarted": lambda: (self.proxy.stop(), self.proxy.start()),
        }

    @contextmanager
    def full_disk(self):
        """Let no file of the workers grow: SQLite and the log are refused every byte."""
        held = [(one, resource.prlimit(one, resource.RLIMIT_FSIZE)) for one in self.workers()]
        for one, (_, hard) in held:
            resource.prlimit(one, resource.RLIMIT_FSIZE, (1, hard))
        try:
            yield
        finally:
            for one, limits in held:
                with suppress(ProcessLookupError):  # it was killed meanwhile
                    resource.prlimit(one, resource.RLIMIT_FSIZE, limits)

    @contextmanager
    def no_log(self):
        """Lead the log into a folder that is not there, in one step: a worker may write at any moment."""
        log = self.deployment.folder / "audit.log"
        away = log.with_suffix(".away")
        away.symlink_to(self.deployment.folder / "nowhere" / "audit.log")
        away.replace(log)
        try:
            yield
        finally:
            log.unlink()

    def ask(self, who, key):
        """Ask until there is an answer or a refusal; give the status, and who has which receipt."""
        dataset = "people" if key % 2 else "other"
        sql = f"{COUNT} WHERE age < {key % 110} AND income < {1000 + key // 110}"
        body = {"sql": sql, "spend": {"epsilon": "1/100"}}
        end = time.monotonic() + PATIENCE
        if key % 3 == 0:
            return self.ask_by_wire(who, dataset, sql, end)
        with self.deployment.client(who) as client:
            while time.monotonic() < end:
                try:
                    found = client.post(
                        f"/datasets/{dataset}/sql", json=body, headers={"Idempotency-Key": str(key)}
                    )
                except httpx.TransportError:
                    found = None
                if found is not None and found.status_code in (200, 409):
                    reply = found.json()
                    return (
                        dataset,
                        found.status_code,
                        (who, json.loads(reply["receipt"])["number"])
                        if "receipt" in reply
                        else None,
                    )
                assert found is None or found.status_code in (202, 429, 502, 503, 504), found.text
                waits = found is not None and found.status_code == 202
                time.sleep(
                    1.0 if waits else 0.2
                )  # to be asked again and again would keep the deployment from answering
        raise AssertionError(
            f"a request without an end: {found if found is None else (found.status_code, found.text)}"
        )

    def ask_by_wire(self, who, dataset, sql, end):
        """The same over PostgreSQL's protocol, on a new connection each time; a notice names the receipt."""
        where = f"host=127.0.0.1 port={self.port} dbname={dataset} user={who} connect_timeout=15"
        while time.monotonic() < end:
            told = []
            try:
                with psycopg.connect(
                    where,
                    password=self.deployment.tokens[who],
                    options="-c discreet.epsilon=1/100",
                    autocommit=True,
                ) as line:
                    line.add_notice_handler(partial(_keep_words, told))
                    line.execute(sql).fetchall()
                words = " ".join(told)
                [number] = re.findall(r"receipt (\d+)", words)
                return dataset, 200, (who, int(number))
            except psycopg.errors.ConfigurationLimitExceeded:
                return dataset, 409, None
            except psycopg.Error:
                time.sleep(0.2)
        raise AssertionError("a request without an end")

    def stop(self):
        self.server.stop()
        self.proxy.stop()


def weather(tmp_path, each, seconds):
    """Let `each` clients ask at once during every fault, and all of them at the end; then compare the books."""
    if subprocess.run([SETUP, "install"], capture_output=True, check=False).returncode:
        pytest.skip("there is no PostgreSQL server here, and it could not be installed")
    with own_postgres() as base:
        storm = Storm(tmp_path, base, Fraction(9 * (each + 1) // 2 + 8, 100))
        try:
            _weather(storm, each, seconds)
        finally:
            storm.stop()


def _weather(storm, each, seconds):
    found, keys = [], iter(range(10**6))
    faults = storm.faults(seconds)
    assert len(faults) == 9
    found.append(storm.ask("p0", next(keys)))
    with ThreadPoolExecutor(CLIENTS) as pool:
        asked = []
        for name, fault in faults.items():
            asked += [
                pool.submit(storm.ask, f"p{key % CLIENTS}", key)
                for key in itertools.islice(keys, each)
            ]
            fault()
            begin = time.monotonic()
            found.append(storm.ask(f"p{CLIENTS}", next(keys)))
            print(f"{name}: {found[-1][:2]} after {time.monotonic() - begin:.1f} s")  # noqa: T201 for readers of -s
        asked += [
            pool.submit(storm.ask, f"p{key % CLIENTS}", key)
            for key in itertools.islice(keys, CLIENTS)
        ]
        found += [one.result() for one in asked]
    for dataset, place in (
        ("people", storm.base.dsn),
        ("other", storm.deployment.folder / "other.ledger"),
    ):
        check_books(dataset, place, [one for one in found if one[0] == dataset], storm.budget)
    with storm.deployment.client() as line:
        wait_for_health(line)
    assert storm.step.with_name("step.here").exists(), "no clock was ever stepped"


def wait_for_health(line):
    end = time.monotonic() + 30
    while (found := line.get("/health")).status_code != 200:
        assert time.monotonic() < end, found.text
        time.sleep(0.2)


def check_books(dataset, place, found, budget):
    """Compare what clients got with what the ledger says."""
    with open_ledger(place, name=dataset) as ledger:
        own = EntryNumbers(ledger, own=True)
        # Each client is told its own numbers.
        numbers = [own.in_ledger(*receipt) for _, status, receipt in found if status == 200]
        entries = ledger.history()
        ledger.verify()
        spent = ledger.spent()
    charges = [entry for entry in entries if entry.kind == "charge"]
    assert spent == dp.PureDP(Fraction(len(charges), 100)) and len(charges) <= budget * 100
    assert len({entry.key for entry in charges}) == len(charges), "a question was charged twice"
    assert len(set(numbers)) == len(numbers), "two questions share a charge"
    assert set(numbers) <= {entry.number for entry in charges}, "an answer without its charge"
    assert any(status == 409 for _, status, _ in found), "the budget was never short"


def test_a_small_storm(tmp_path):
    weather(tmp_path, each=6, seconds=1.0)


@pytest.mark.slow
def test_a_long_storm(tmp_path):
    weather(tmp_path, each=2 * CLIENTS, seconds=8.0)
