"""A small service in a folder, for tests: made-up people, a schema, a configuration, tokens."""

from __future__ import annotations

import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import uvicorn

from discreet.cli.commands.serve import _uvicorn_options
from discreet.service.app import build_app
from discreet.service.config import read_config
from discreet.service.http.request_timeout import RequestTimeoutProtocol
from discreet.service.stores.people import Members
from discreet.service.stores.store import open_store

SCHEMA = """format = 1
[tables.people]
unit = { kind = "rows" }
[tables.people.columns]
age = { type = "integer", low = 0, high = 120 }
income = { type = "real", low = 0, high = 100000, step = 1 }
region = { type = "category", values = ["N", "S", "E", "W"] }
[tables.wards]
public = true
key = ["ward"]
[tables.wards.columns]
ward = { type = "integer", low = 0, high = 120 }
city = { type = "text", max_length = 20 }
"""
COUNT = "SELECT COUNT(*) AS n FROM people"
GROUPED = "SELECT region, COUNT(*) AS n, AVG(income) AS income FROM people GROUP BY region"
ONE = {"epsilon": "1"}
TRUST = ssl.create_default_context()
"""Whom clients trust: read once, since each of them would read all certificates of this machine for itself."""


def rows(count: int = 400) -> str:
    lines = [f"{(7 * k) % 90},{(977 * k) % 90_000},{'NSEW'[k % 4]}" for k in range(count)]
    return "\n".join(["age,income,region", *lines]) + "\n"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class House:
    """A folder with everything; `tokens` by name."""

    folder: Path
    url: str
    tokens: dict[str, str] = field(default_factory=dict)

    @property
    def config(self) -> Path:
        return self.folder / "curator.toml"

    def client(self, who: str | None = None, **options) -> httpx.Client:
        headers = {} if who is None else {"Authorization": f"Bearer {self.tokens[who]}"}
        options = {"verify": TRUST, "timeout": 60, "trust_env": False} | options
        return httpx.Client(base_url=self.url + "/api/v1", headers=headers, **options)


def build(
    folder: Path,
    *,
    budget: str = '{ epsilon = "100" }',
    csv: str | None = None,
    port: int = 8000,
    service: str = "",
    limits: str = "",
    ledger: str = "people.ledger",
    store: str = "service.db",
    dataset: str = "",
) -> House:
    """Write the folder and take in four people: stella and sid are stewards, ana and bob analysts."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "people.csv").write_text(rows() if csv is None else csv)
    (folder / "wards.csv").write_text("ward,city\n1,Oslo\n2,Bergen\n")
    (folder / "people.toml").write_text(SCHEMA)
    tables = '{ people = "people.csv", wards = "wards.csv" }'
    (folder / "curator.toml").write_text(
        f"""[service]
url = "http://127.0.0.1:{port}"
store = "{store}"
log = "audit.log"
{service}
[limits]
requests_per_minute = 100000
failures_per_minute = 100000
jobs_per_person = 1000
{limits}
[datasets.people]
schema = "people.toml"
ledger = "{ledger}"
budget = {budget}
duckdb = {tables}
{dataset}
[datasets.other]
schema = "people.toml"
ledger = "other.ledger"
budget = {{ epsilon = "1" }}
duckdb = {tables}
"""
    )
    config = read_config(folder / "curator.toml")
    kept = open_store(config.store)
    people = Members(kept)
    tokens = {
        "stella": people.add("stella", "steward", ["*"])[1],
        "sid": people.add("sid", "steward", ["other"])[1],
        "ana": people.add("ana", "analyst", ["people"])[1],
        "bob": people.add("bob", "analyst", ["people", "other"])[1],
    }
    kept.close()
    return House(folder, config.url, tokens)


@dataclass
class Server:
    """A real server in a process of its own."""

    deployment: House
    process: subprocess.Popen

    def stop(self, how: int = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.process.wait(60)


def start(
    deployment: House,
    *,
    workers: int = 1,
    environment: dict[str, str] | None = None,
    port: int | None = None,
    postgres: int | None = None,
    script: str = "from discreet.cli.app import app; app()",
) -> Server:
    """Start a server and wait until it answers."""
    command = [
        sys.executable,
        "-c",
        script,
        "serve",
        "--config",
        str(deployment.config),
        "--workers",
        str(workers),
        *([] if port is None else ["--port", str(port)]),
        *([] if postgres is None else ["--postgres", str(postgres)]),
    ]
    with (deployment.folder / "server.txt").open("ab") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=log, env=os.environ | (environment or {})
        )
    end = time.monotonic() + 60
    with deployment.client() as client:
        while time.monotonic() < end and process.poll() is None:
            with suppress(httpx.TransportError):
                if client.get("/health").status_code == 200:
                    return Server(deployment, process)
            time.sleep(0.1)
    raise AssertionError((deployment.folder / "server.txt").read_text())


@contextmanager
def serving(deployment: House, *, port: int | None = None, postgres: str = ""):
    """Serve in a thread of this process, as the command does: for whatever is not about the border of a process.

    A process of its own imports everything again, and so does its office of clerks: seconds for each.
    """
    config = read_config(deployment.config)
    settings = uvicorn.Config(
        build_app(config, postgres=postgres),
        port=port or urlsplit(config.url).port,
        http=RequestTimeoutProtocol,
        **_uvicorn_options(config),
    )
    server = uvicorn.Server(settings)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "it did not start"
        time.sleep(0.01)
    try:
        yield deployment
    finally:
        server.should_exit = True
        thread.join()
