"""A made-up town behind a real service: a table of people, two people who ask, a ledger with a budget."""

from __future__ import annotations

import csv
import random
import socket
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
import uvicorn

from discreet.service.app import build_app
from discreet.service.config import read_config
from discreet.service.state import State, open_state
from discreet.service.stores.people import Members

DISTRICTS = ("Centre", "Harbour", "Hills", "Meadows", "Old town", "West side")
SCHEMA = """format = 1

[tables.people]
size = 6000
unit = { kind = "rows" }

[tables.people.columns]
district = { type = "category", values = ["Centre", "Harbour", "Hills", "Meadows", "Old town", "West side"] }
age = { type = "integer", low = 0, high = 110 }
income = { type = "real", low = 0, high = 150000 }
household = { type = "integer", low = 1, high = 9 }
street = { type = "text", max_length = 20 }
"""
COUNTRY = """format = 1

[tables.people]
unit = { kind = "rows" }

[tables.people.columns]
age = { type = "integer", low = 0, high = 110 }
"""
CONFIG = """[service]
url = "{url}"
store = "service.db"
log = "audit.log"
grid = "0.1"
session_hours = "{hours}"

[limits]
requests_per_minute = 6000
failures_per_minute = 60

[datasets.town]
schema = "town.toml"
ledger = "town.ledger"
budget = {{ epsilon = "3" }}
neighbours = "add-remove"
share_dashboards = true
duckdb = {{ people = "people.csv" }}

[datasets.archive]
schema = "town.toml"
ledger = "archive.ledger"
budget = {{ epsilon = "1", delta = "1e-6" }}
duckdb = {{ people = "people.csv" }}

[datasets.country]
schema = "country.toml"
ledger = "country.ledger"
budget = {{ rho = "1/2" }}
duckdb = "country.duckdb"
trusted = ["people"]
"""


@dataclass(frozen=True)
class Town:
    """A running service and the tokens of its people."""

    url: str
    state: State
    folder: Path
    steward: str
    analyst: str


def write_people(path: Path, rows: int = 6000) -> None:
    """Write made-up rows: districts of different size and wealth; the same on every run."""
    chance = random.Random(8)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("district", "age", "income", "household", "street"))
        for _ in range(rows):
            place = chance.choices(range(6), weights=(9, 14, 6, 11, 5, 15))[0]
            age = min(110, int(chance.gammavariate(4.2, 9.5)))
            income = (
                round(min(150_000, chance.lognormvariate(10.1 + 0.12 * place, 0.5)), 2)
                if age > 17
                else 0
            )
            writer.writerow(
                (
                    DISTRICTS[place],
                    age,
                    income,
                    min(9, 1 + int(chance.expovariate(0.7))),
                    f"Lane {place}",
                )
            )


def write_country(path: Path) -> None:
    """Make a table so long that a question about it runs until it is stopped; it takes no room, being a view."""
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE VIEW people AS SELECT (i % 100)::INTEGER AS age FROM range(100000000000) t(i)"
        )


@contextmanager
def running(folder: Path, hours: str = "12"):
    """Serve the town on a free port of this machine until the block ends."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    write_people(folder / "people.csv")
    write_country(folder / "country.duckdb")
    (folder / "town.toml").write_text(SCHEMA, encoding="utf-8")
    (folder / "country.toml").write_text(COUNTRY, encoding="utf-8")
    (folder / "curator.toml").write_text(CONFIG.format(url=url, hours=hours), encoding="utf-8")
    config = read_config(folder / "curator.toml")
    state = open_state(config)
    people = Members(state.store)
    steward, analyst = (
        people.add("stella", "steward", ["*"])[1],
        people.add("ana", "analyst", ["town", "archive", "country"])[1],
    )
    server = uvicorn.Server(
        uvicorn.Config(build_app(config, state), port=port, log_level="warning", ws="none")
    )
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    try:
        yield Town(url, state, folder, steward, analyst)
    finally:
        server.should_exit = True
        thread.join()
