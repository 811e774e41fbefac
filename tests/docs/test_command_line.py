"""Pages that show commands are run, line by line, each in a folder of its own."""

from __future__ import annotations

import re
import runpy
import shlex
from pathlib import Path

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
        ("how-to/messy-files.md", 10, ["visits.store", "invoices.store"]),
    ],
)
def test_the_page_runs(page, least, made, tmp_path, monkeypatch):
    (tmp_path / "people.csv").write_bytes(Path(dp.example("pums.csv")).read_bytes())
    if page == "how-to/messy-files.md":
        script = runpy.run_path(str(DOCS.parent / "benchmarks" / "messy_data.py"))
        for subject in script["SUBJECTS"]:
            script["write"](subject, tmp_path / f"{subject}.csv", rows=1500, seed=1)
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


def _run(line):
    code = EXIT.search(line)
    program, *words = shlex.split(EXIT.sub("", line.removeprefix("$ ")))
    assert program == "discreet"
    done = CliRunner().invoke(app, words)
    assert done.exit_code == (int(code[1]) if code else 0), (line, done.stdout, done.stderr)
