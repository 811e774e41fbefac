"""Pages that show commands are run, line by line, each in a folder of its own."""

from __future__ import annotations

import re
import runpy
import shlex
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

import discreet as dp
from discreet.cli.app import app

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```(console|toml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXIT = re.compile(r"\s+# exit ([0-9])$")


@pytest.mark.parametrize(
    ("page", "least", "made"),
    [
        ("reference/command-line.md", 16, ["tables/README.md", "income.csv"]),
        ("tutorials/first-answer.md", 5, ["people.store", "income.csv", "people.ledger"]),
        ("how-to/choose-your-tool.md", 2, ["people.toml", "people.ledger"]),
        ("how-to/messy-files.md", 10, ["visits.store", "invoices.store"]),
    ],
)
def test_the_page_runs(page, least, made, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(DOCS.parent / "benchmarks")
    (tmp_path / "people.csv").write_bytes(Path(dp.example("pums.csv")).read_bytes())
    (tmp_path / "visits.csv").write_text("day\n2026-01-01\n2026-01-02\n", encoding="utf-8")
    if page == "how-to/messy-files.md":
        write_messy_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_WHO", raising=False)
    count = 0
    for kind, text in BLOCK.findall((DOCS / page).read_text(encoding="utf-8")):
        if kind == "toml":
            name = re.match(r"# file: (\S+)", text)
            (tmp_path / name[1]).write_text(text, encoding="utf-8")
            continue
        for line in text.replace("\\\n", " ").strip().splitlines():
            count += 1
            _run(line)
    assert count >= least
    assert all((tmp_path / name).exists() for name in made)
    if page == "how-to/messy-files.md":
        read_as_meant(tmp_path)


def write_messy_files(folder):
    script = runpy.run_path(str(DOCS.parent / "benchmarks" / "messy_data.py"))
    for subject in script["SUBJECTS"]:
        script["write"](subject, folder / f"{subject}.csv", rows=4000, seed=1)


def read_as_meant(folder):
    """At least 99.5 % of the cells of each messy file are read as its truth says."""
    script = runpy.run_path(str(DOCS.parent / "benchmarks" / "messy.py"))
    for subject, key in script["KEYS"].items():
        truth = pd.read_csv(folder / f"{subject}.truth.csv", dtype=str, keep_default_na=False)
        read = script["read_store"](subject, folder)
        wrong = script["wrong_cells"](read, truth, key)
        assert len(read) == len(truth)
        assert len(wrong) == len(truth.columns) - 2
        assert sum(wrong.values()) <= 0.005 * len(truth) * len(wrong), wrong


def _run(line):
    code = EXIT.search(line)
    program, *words = shlex.split(EXIT.sub("", line.removeprefix("$ ")))
    assert program == "discreet"
    done = CliRunner().invoke(app, words)
    assert done.exit_code == (int(code[1]) if code else 0), (line, done.stdout, done.stderr)
