"""The page of the command line is run, line by line, in a folder of its own."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from typer.testing import CliRunner

import discreet as dp
from discreet.cli.app import app

PAGE = Path(__file__).parents[2] / "docs" / "command_line.md"
BLOCK = re.compile(r"^```(console|toml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXIT = re.compile(r"\s+# exit ([0-9])$")


def test_the_page_runs(tmp_path, monkeypatch):
    (tmp_path / "people.csv").write_bytes(Path(dp.example("pums.csv")).read_bytes())
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_WHO", raising=False)
    count = 0
    for kind, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if kind == "toml":
            name = re.match(r"# file: (\S+)", text)
            (tmp_path / name[1]).write_text(text, encoding="utf-8")
            continue
        for line in text.replace("\\\n", " ").strip().splitlines():
            count += 1
            _run(line)
    assert count > 15
    assert (tmp_path / "tables" / "README.md").exists() and (tmp_path / "income.csv").exists()


def _run(line):
    code = EXIT.search(line)
    program, *words = shlex.split(EXIT.sub("", line.removeprefix("$ ")))
    assert program == "discreet"
    done = CliRunner().invoke(app, words)
    assert done.exit_code == (int(code[1]) if code else 0), (line, done.stdout, done.stderr)
