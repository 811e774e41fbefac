"""A small private table with its schema file, in a folder of its own."""

from __future__ import annotations

import csv

import pytest
from typer.testing import CliRunner

from discreet.cli.app import app

SCHEMA = """format = 1

[tables.people]
version = "1"
neighbours = "add-remove"
unit = { kind = "rows" }

[tables.people.columns]
age = { type = "integer", low = 0, high = 120 }
region = { type = "category", values = ["N", "S"] }
income = { type = "real", low = 0, high = 1000, step = 1 }
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder with people.csv and people.toml, and the place where commands run."""
    with (tmp_path / "people.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["age", "region", "income"])
        table.writerows(
            [20 + place % 60, "NS"[place % 2], 10 * (place % 100)] for place in range(1000)
        )
    (tmp_path / "people.toml").write_text(SCHEMA)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_WHO", raising=False)
    return tmp_path


@pytest.fixture
def run(home):
    """Run the command line there; gives the result, with output and errors apart."""
    return lambda *words: CliRunner().invoke(app, list(words))
