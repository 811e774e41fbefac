"""Walk of a telemetry engineer on the command line: plan, randomize, collect, estimate.

Before: the tutorial said that devices take `to_json()`. Now every command is run as printed.
"""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from discreet.cli.app import app

OPTIONS = ["chrome", "firefox", "safari"]


def run(*words, given=None):
    return CliRunner().invoke(app, ["local", *words], input=given)


@pytest.fixture(scope="module")
def planned(tmp_path_factory):
    folder = tmp_path_factory.mktemp("campaign")
    done = run("plan", "choice", "--set", f"options={','.join(OPTIONS)}", "--epsilon", "2", "--n", "4000",
               "--metric", "browser", "--out", str(folder / "browser.json"))  # fmt: skip
    return folder, done


def test_from_plan_to_intervals(planned):
    folder, done = planned
    assert done.exit_code == 0, done.output
    truth = ["chrome"] * 2_400 + ["firefox"] * 1_200 + ["safari"] * 400
    lines = "\n".join(map(json.dumps, truth))
    reports = run("randomize", str(folder / "browser.json"), given=lines)
    assert reports.exit_code == 0, reports.output
    kept = run("collect", str(folder / "browser.json"), given=reports.stdout + "{}\n")
    assert kept.stdout.count("\n") == 4_000
    found = run("estimate", str(folder / "browser.json"), given=kept.stdout)
    assert found.exit_code == 0 and all(name in found.stdout for name in OPTIONS)
