"""Collecting: reports of other parameters and forged ones are refused; the command line says the same words."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import discreet as dp
from discreet.cli.app import app
from discreet.errors import BudgetExceeded, InvalidArgument
from discreet.local.reports.report import LocalReport, pack

SPEND = dp.PureDP(2)
MADE = {
    "choice": (dp.local.Choice(["a", "b", "c"], SPEND), "a", [3, -1, "0", True, 1.5, 1 << 70]),
    "subset": (dp.local.Choice(20, SPEND, member="subset"), 4, [0, 1 << 20, -1]),
    "number": (dp.local.Number(0, 1, SPEND), 0.5, [-1, 1 << 40, 1 << 65, None]),
    "histogram": (dp.local.Histogram(0, 1, 8, SPEND), 0.5, [-1, 1 << 40, 1 << 65]),
    "one-bit": (dp.local.OneBitMean(0, 1, SPEND), 0.5, [2, "1", None, [1]]),
    "bit-flip": (dp.local.BitFlip(SPEND, buckets=8, sample=2), 3, [[0], [0, 1], [0, 99], "ab", [2, 0]]),
    "rappor": (dp.local.Rappor(bits=8, hashes=2, cohorts=4, f=0.5, p=0.25, q=0.75, key="k"), "a", [[4, "00"], [0, "0000"], 7]),
    "sketch": (dp.local.CountMeanSketch(SPEND, rows=4, width=8, key="k"), "a", [[-1, "00"], [0, 1], [0, "zz"], [0, " 00"], [0, "0 0"]]),
    "hadamard": (dp.local.HadamardCountMeanSketch(SPEND, rows=4, width=8, key="k"), "a", [[0, 8, 0], [0, 0, 2], [0, 0]]),
    "words": (dp.local.Words(bits=16, spend=SPEND, top=2).open(), "hi", [-1, 1 << 40, "x"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MADE)
def test_a_collector_takes_what_a_device_sends_and_refuses_the_rest(name):
    mechanism, value, wrong = MADE[name]
    collected = dp.local.Collector(dp.local.read_mechanism(mechanism.to_json()), metric="m")
    for _ in range(3):
        report = mechanism.randomize(value)
        line = pack(
            LocalReport(
                "m", collected.params, list(report) if isinstance(report, tuple) else report
            )
        )
        collected.add(line)
    for forged in wrong:
        with pytest.raises(InvalidArgument):
            collected.add(pack(LocalReport("m", collected.params, forged)))
    for foreign in (
        line.replace('"m"', '"n"'),
        line.replace(collected.params, "0" * 16),
        line[:-1],
        "null",
    ):
        with pytest.raises(InvalidArgument):
            collected.add(foreign)
    assert len(collected) == 3
    needs = ["a", "b"] if name in ("rappor", "sketch", "hadamard") else None
    assert collected.estimate(needs).n == 3
    assert 0 < collected.influence(forged=1) <= collected.influence(forged=2)


def test_parameters_of_other_versions_are_refused():
    for mechanism, _, _ in MADE.values():
        given = mechanism.to_json()
        for wrong in (
            given | {"version": 2},
            given | {"mechanism": "x"},
            given | {"more": 1},
            {},
            [],
        ):
            with pytest.raises(InvalidArgument):
                dp.local.read_mechanism(wrong)


def test_a_collector_is_full_one_day():
    choice = MADE["choice"][0]
    collected = dp.local.Collector(choice, metric="m", most=1)
    line = pack(LocalReport("m", collected.params, 0))
    collected.add(line)
    with pytest.raises(BudgetExceeded):
        collected.add(line)


def test_the_command_line_from_plan_to_estimate(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke
    planned = run(app, ["local", "plan", "choice", "--set", "options=yes,no", "--epsilon", "8", "--metric", "m", "--out", "m.json", "--json"])  # fmt: skip
    assert planned.exit_code == 0 and json.loads(planned.stdout)["epsilon"] == 8
    sent = run(app, ["local", "randomize", "m.json", "-"], input='"yes"\n' * 30 + '"no"\n' * 10)
    assert sent.exit_code == 0 and len(sent.stdout.splitlines()) == 40
    inbox = sent.stdout + sent.stdout.splitlines()[0].replace('"m"', '"other"') + "\nnonsense\n"
    kept = run(app, ["local", "collect", "m.json", "-", "--out", "kept.jsonl"], input=inbox)
    assert kept.exit_code == 0 and "40 reports taken, 2 refused" in kept.stderr
    told = run(app, ["local", "estimate", "m.json", "kept.jsonl", "--forged", "4"])
    assert told.exit_code == 0 and "yes" in told.stdout and "4 forged reports" in told.stdout
    found = json.loads(run(app, ["local", "estimate", "m.json", "kept.jsonl", "--json"]).stdout)
    assert found["names"] == ["yes", "no"] and found["n"] == 40


def test_a_byte_that_is_no_text_spoils_its_own_line_only(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run, sketch = CliRunner().invoke, MADE["sketch"][0]
    envelope = dp.local.device_parameters(sketch, metric="m")
    (tmp_path / "m.json").write_text(json.dumps(envelope))
    line = pack(LocalReport("m", envelope["params"], list(sketch.randomize("a")))).encode() + b"\n"
    inbox = line + b"\xff\n" + line.replace(b'"m"', b'"\xff"') + line
    (tmp_path / "in.jsonl").write_bytes(inbox)
    for source in ("-", "in.jsonl"):
        kept = run(app, ["local", "collect", "m.json", source, "--out", "kept.jsonl"], input=inbox)
        assert kept.exit_code == 0 and "2 reports taken, 2 refused" in kept.stderr
    (tmp_path / "c.txt").write_bytes(b"a\n\xffb\nc\n")
    told = run(
        app, ["local", "estimate", "m.json", "kept.jsonl", "--candidates", "c.txt", "--json"]
    )
    assert json.loads(told.stdout)["names"] == ["a", "c"] and "1 candidates refused" in told.stderr


@pytest.mark.parametrize(
    "wrong",
    [
        ["plan", "choice", "--epsilon", "1"], ["plan", "nothing", "--epsilon", "1"],
        ["plan", "choice", "--set", "options=3"], ["plan", "rappor", "--epsilon", "1"],
        ["estimate", "absent.json", "-"], ["randomize", "absent.json", "-"],
    ],
)  # fmt: skip
def test_the_command_line_refuses_in_one_line(wrong, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["local", *wrong])
    assert (
        done.exit_code == 2
        and done.stderr.startswith("discreet: ")
        and done.stderr.count("\n") == 1
    )


def test_plans_of_the_deployments():
    run = CliRunner().invoke
    for arguments in (
        ["one-bit-mean", "--set", "low=0", "--set", "high=100", "--error", "5"],
        ["words", "--set", "bits=16", "--epsilon", "2"],
        ["words", "--set", "bits=48", "--set", "top=5", "--error", "0.05", "--n", "100000"],
        [
            "rappor",
            *(
                f"--set={word}"
                for word in ("bits=16", "hashes=2", "cohorts=8", "f=1/2", "p=1/2", "q=3/4", "key=k")
            ),
        ],
        [
            "count-mean-sketch",
            "--epsilon",
            "4",
            "--set",
            "rows=1024",
            "--set",
            "width=1024",
            "--set",
            "key=emoji",
        ],
    ):
        done = run(app, ["local", "plan", *arguments])
        assert done.exit_code == 0, done.stderr
        assert "one report costs" in done.stdout


def test_words_go_on_from_round_to_round(tmp_path, monkeypatch):
    """plan, then randomize and estimate --next for each group, with what was heard kept in one file; at last the words."""
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke
    words = dp.local.Words(bits=24, spend=dp.PureDP(8), top=2)
    assert (
        run(
            app,
            [
                "local",
                "plan",
                "words",
                "--set=bits=24",
                "--set=top=2",
                "--epsilon=8",
                "--out=0.json",
            ],
        ).exit_code
        == 0
    )
    for index in range(len(words.stages)):
        reports = run(app, ["local", "randomize", f"{index}.json"], input='"sea"\n' * 150).stdout
        asked = ["local", "estimate", f"{index}.json", "-", "--heard=heard.json"]
        last = index + 1 == len(words.stages)
        done = run(app, asked if last else [*asked, f"--next={index + 1}.json"], input=reports)
        assert done.exit_code == 0, done.stderr
        assert ("sea" if last else f"round {index + 1} of {len(words.stages)}") in done.stdout
    early = run(app, ["local", "estimate", "1.json", "-", "--heard=heard.json"], input="")
    assert early.exit_code == 2 and "another round" in early.stderr
    (tmp_path / "heard.json").write_text('{"round": 1, "heard": [["x"]]}')
    for arguments in (
        ["1.json", "-", "--heard=heard.json"],
        [f"{index}.json", "-", "--next=no.json"],
    ):
        refused = run(app, ["local", "estimate", *arguments], input=reports)
        assert refused.exit_code == 2 and not (tmp_path / "no.json").exists()
    with pytest.raises(InvalidArgument):
        dp.local.Collector(MADE["choice"][0], metric="m").narrow()
