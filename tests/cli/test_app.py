"""The command line says what it does, does it, and refuses clearly."""

from __future__ import annotations

import re

import pytest
from typer.testing import CliRunner

from discreet.cli.app import app

RUN = CliRunner()


def test_the_version_is_shown():
    assert re.fullmatch(r"discreet \d+\.\d+\.\d+\n", RUN.invoke(app, ["--version"]).stdout)


def test_help_names_every_command():
    shown = RUN.invoke(app, ["--help"]).stdout
    assert "demo" in shown
    assert "--epsilon" in RUN.invoke(app, ["demo", "--help"]).stdout


def test_the_demo_lives_through_the_day(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = RUN.invoke(app, ["demo"])
    assert run.exit_code == 0, run.stderr
    assert (
        run.stdout.count("±") >= 10
    )  # the plan, three people counts and means, one count by error
    for words in (
        "declares",
        "by budget: ε = 1",
        "by error",
        "for free",
        "refused:",
        "the chain holds",
        "ε = 2",
    ):
        assert words in run.stdout
    assert (tmp_path / "discreet-demo.png").stat().st_size > 10_000


def test_the_demo_spends_what_it_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "budget: ε = 0.5" in RUN.invoke(app, ["demo", "--epsilon", "1/2"]).stdout


@pytest.mark.parametrize("bad", ["0", "-1", "nan", "lots"])
def test_a_budget_that_is_none_is_refused(bad):
    run = RUN.invoke(app, ["demo", "--epsilon", bad])
    assert run.exit_code == 2
    assert "epsilon must be" in run.stderr
