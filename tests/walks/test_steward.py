"""Walk of a steward with a messy file: the five commands of its page, then a service, then a shared dashboard.

| step | before | now |
|---|---|---|
| the file | one date format, one unit, no spellings | proposals that are counted, taken by `schema fix` |
| an answer's link from a colleague | 403 | opens, and the log names who opened it |
| ledger and people on a phone | cut off | one line under the other |
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from discreet.cli.app import app
from discreet.service.app import build_app
from discreet.service.config import read_config
from discreet.service.state import open_state
from service.deployment import House
from service.inside import inside
from service.test_answer_pages import Person
from service.test_dashboards import board_of, change

GENERATOR = Path(__file__).parents[2] / "benchmarks" / "messy_data.py"
INFER = [
    "schema",
    "infer",
    "visits.csv",
    "--people",
    "patient",
    "--max-rows",
    "9",
    "--size",
    "2000",
    "--bounds",
    "visit=1:1000000",
    "--bounds",
    "seen=2020-01-01:2024-12-31",
    "--bounds",
    "weight=0:300:0.1",
    "--bounds",
    "height=0:250:0.1",
    "--bounds",
    "cost=0:20000:0.01",
    "--bounds",
    "age=0:110",
    "--categories",
    "height_unit=cm,in",
]
WARDS = "ward=emergency,intensive care,surgery,maternity,cardiology"
CONFIG = """[service]
url = "http://127.0.0.1:8000"
store = "service.db"
log = "audit.log"
grid = "0.05"

[datasets.visits]
schema = "visits.toml"
ledger = "visits.ledger"
budget = { epsilon = "3", delta = "1e-6" }
duckdb = "visits.store"
share_dashboards = true
"""


def run(*words):
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.slow
def test_from_a_messy_file_to_a_shared_dashboard(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = [sys.executable, str(GENERATOR), "visits", "visits.csv", "--rows", "5000"]
    subprocess.run(command, check=True, capture_output=True)
    drafted = run(*INFER, "--categories", WARDS, "--out", "visits.toml")
    assert "proposed: seen: format=" in drafted and "proposed: weight: units=" in drafted
    seen = run("prepare", "visits.csv", "--schema", "visits.toml", "--dry-run")
    assert "unreadable" in seen and not Path("visits.store").exists()
    run("schema", "fix", "visits.toml", "visits.csv", "--yes", "--alias", "ward=E.R.:emergency")
    run("schema", "check", "visits.toml")
    run("prepare", "visits.csv", "--schema", "visits.toml", "--out", "visits.store")
    Path("curator.toml").write_text(CONFIG, encoding="utf-8")
    tokens = {}
    for who, role in (("stella", "steward"), ("ana", "analyst"), ("bob", "analyst")):
        shown = run(
            "people", "add", who, "--role", role, "--dataset", "visits", "--config", "curator.toml"
        )
        tokens[who] = next(word for word in shown.split() if word.startswith("dsc_"))
    config = read_config(Path("curator.toml"))
    state = open_state(config)
    house = House(tmp_path, config.url, tokens)
    with inside(build_app(config, state), config.url) as client:
        stella, ana, bob = (Person(client, house, who) for who in tokens)
        place = ask(ana, "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward")
        assert "intensive care" in ana.get(place).text
        # Ana sends the link to her steward, who may open it; Bob sees the dashboard alone.
        assert stella.get(place).status_code == 200 and bob.get(place).status_code == 403
        board = board_of(ana, place, "Wards")
        change(ana, board, action="share")
        assert "intensive care" in bob.get(board).text
        assert stella.post("/steward/visits/verify").status_code == 200


def ask(person, sql):
    form = {"sql": sql, "spend": "1/2", "delta": "1e-8", "nonnegative": "1"}
    place = person.post("/workbench/visits/run", **form).headers["Location"]
    while "/table.csv" not in person.get(place).text:
        time.sleep(0.2)
    return place
