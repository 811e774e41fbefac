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


def test_the_demo_releases_every_answer_with_an_error_bar_and_its_cost():
    run = RUN.invoke(app, ["demo"])
    assert run.exit_code == 0
    assert run.stdout.count("±") >= 13  # ten ages, one count, one sum, and the word of explanation
    for words in ("people by age", "married", "total income", "What it cost", "ε = 1"):
        assert words in run.stdout


def test_the_demo_spends_what_it_is_told():
    assert "ε = 0.5" in RUN.invoke(app, ["demo", "--epsilon", "1/2"]).stdout


@pytest.mark.parametrize("bad", ["0", "-1", "nan", "lots"])
def test_a_budget_that_is_none_is_refused(bad):
    run = RUN.invoke(app, ["demo", "--epsilon", bad])
    assert run.exit_code == 2
    assert "epsilon must be" in run.stderr
