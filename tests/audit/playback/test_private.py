"""The decorator, the plug-in and the command: what is said, and what is refused."""

import json
import os
import pickle
import re
import subprocess
import sys
import threading
import time
from functools import cache
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pytest
import typer
import yaml
from typer.testing import CliRunner

from audit.playback.unmodified import CASES, counts_all, true_n, twice_broken
from discreet.audit import audit_function, neighbours, private
from discreet.audit.playback import adapters
from discreet.audit.playback.report import sarif
from discreet.audit.playback.trial import NOT_REPEATED
from discreet.audit.verify import Refuted
from discreet.cli.commands.audit import audit
from discreet.errors import ClaimRefuted, InvalidArgument
from discreet.privacy.measures import PureDP

HIDDEN = [{"rng": np.random.default_rng(3)}, type("Kept", (), {"rng": np.random.default_rng(4)})]
app = typer.Typer()
app.command()(audit)


def test_the_decorator():
    sound = private(PureDP(1))(counts_all)
    assert sound() is None
    assert sound.audit().verdict == "not refuted"
    broken = private(PureDP(1), neighbours="add-remove")(twice_broken)
    assert broken.__name__ == "twice_broken"
    with pytest.raises(ClaimRefuted, match=r"^REFUTED at .*unmodified.py:\d+\n") as caught:
        broken()
    assert isinstance(pickle.loads(pickle.dumps(caught.value)), Refuted)


def test_the_other_relation_is_tried():
    """The mean of bounded rows with a public n holds where rows are replaced."""

    def mean(rows):
        values = np.nan_to_num(np.asarray(rows, dtype=float))
        return np.mean(np.clip(values, 0, 8)) + np.random.laplace(scale=8 / 8)

    report = audit_function(mean, PureDP(1), neighbours="add-remove", skip=("none against",))
    assert report.verdict == "not refuted"
    tight = audit_function(
        lambda rows: (
            np.histogram(np.nan_to_num(rows), bins=[-9, 0.5, 9])[0] + np.random.laplace(size=2)
        ),
        PureDP(1),
        neighbours="replace",
        skip=("extreme", "inf"),
    )
    assert tight.refuted
    assert tight.notes == ("the same claim under add-remove: not refuted",)


class TestNotTested:
    """Where nothing is seen, nothing is passed."""

    def refused(self, function, **options):
        with pytest.raises(InvalidArgument, match="nothing was tested") as caught:
            private(PureDP(1), **options)(function)()
        return str(caught.value)

    def test_nothing_is_returned(self):
        text = self.refused(lambda rows: None)
        assert "returns nothing" in text
        assert text.startswith("nothing was tested:\nNOT TESTED")

    def test_a_constant(self):
        assert "no randomness was seen" in self.refused(lambda rows: 7)

    def test_a_function_that_always_raises(self):
        def broken(rows):
            raise TypeError("wrong rows")

        assert "TypeError: wrong rows" in self.refused(broken)

    def test_nested(self):
        def nested(rows):
            return audit_function(counts_all, PureDP(1)).verdict

        assert "another audit is running" in self.refused(nested)

    def test_noise_of_another_thread(self):
        def threaded(rows):
            found = []
            thread = threading.Thread(target=lambda: found.append(np.random.laplace()))
            thread.start()
            thread.join()
            return len(rows) + found[0]

        report = audit_function(threaded, PureDP(1), pairs=[([1], [1, 2])], samples=200, seconds=60)
        assert report.rank == 3
        assert "another thread" in str(report)

    def test_noise_compiled_elsewhere(self):
        def compiled(rows):
            drawn = subprocess.run(
                ["od", "-An", "-N1", "/dev/urandom"], capture_output=True, check=True
            )
            return len(rows) + int(drawn.stdout, 8)

        report = audit_function(compiled, PureDP(1), pairs=[([1], [1, 2])], seconds=0.05)
        assert report.verdict == "not tested"
        assert "where the audit cannot see it" in str(report)
        assert "the black box needs 100" in str(report)

    def test_noise_compiled_elsewhere_beside_tracked_noise(self):
        """The answers differ for no fault of the function: said, and no false alarm."""

        def half_compiled(rows):
            return len(rows) + np.random.laplace(), time.perf_counter_ns()

        report = audit_function(half_compiled, PureDP(1), pairs=[([1], [1, 2])], seconds=1e-6)
        assert report.verdict == "not tested", report
        assert NOT_REPEATED in str(report)

    @pytest.mark.parametrize("find", [lambda held: held[0]["rng"], lambda held: held[1].rng])
    def test_a_generator_in_an_unusual_place(self, find):
        """No name leads to it: the whole process is searched, which the report says."""

        def looked_up(rows):
            return len(rows) + find(globals()["".join(("HID", "DEN"))]).laplace(scale=0.5)

        report = audit_function(looked_up, PureDP(1), pairs=[([1], [1, 2])])
        assert (report.verdict, report.rank) == ("refuted", 1)
        assert any("among all objects of the process" in note for note in report.notes)
        assert type(find(HIDDEN)).__module__.startswith("numpy.")

    def test_a_library_of_an_unknown_version(self, monkeypatch):
        monkeypatch.setattr(adapters, "KNOWN", (("numpy", "numpy", "diffprivlib"),))
        report = audit_function(counts_all, PureDP(1), pairs=[([1], [1, 2])])
        assert any("is not known to the audit" in note for note in report.notes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pairs": []}, "no pairs"),
        ({"pairs": [([1], [2, 3])]}, "not 'add-remove' neighbours"),
        ({"neighbours": "next door"}, "neighbours"),
        ({"example": []}, "at least one row"),
        ({"skip": ("",)}, "no pairs of neighbours are left"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(InvalidArgument, match=message):
        audit_function(counts_all, PureDP(1), **options)


def test_refuses_what_is_no_claim_or_no_function():
    with pytest.raises(InvalidArgument, match="a claim is a measure"):
        private(1.0)
    with pytest.raises(InvalidArgument, match="needs a function"):
        audit_function(7, PureDP(1))


class TestFrames:
    """Neighbours of tables: a row more, a new category, NaN, NULL, out of range, empty, a heavy person."""

    ROWS = {"id": ["ann", "bob"], "kind": ["a", "b"], "x": [1.5, 2.5]}

    @pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
    @pytest.mark.parametrize("relation", ["add-remove", "replace"])
    def test_edges(self, make, relation):
        example = make(self.ROWS)
        pairs = list(neighbours(example, relation, low=0, high=9, unit="id"))
        assert all(type(pair.first) is type(pair.second) is make for pair in pairs)
        whys = " ".join(pair.why for pair in pairs)
        for edge in ("new category", "nan in 'x'", "None", "out of range", "200 rows"):
            assert edge in whys, edge
        assert "duplicate" in " ".join(pair.why for pair in neighbours(example, relation))
        assert ("none against one" in whys) == (relation == "add-remove")

    def test_a_frame_is_audited(self):
        def keys(frame):
            counts = frame.groupby("kind").size()
            return counts + np.random.laplace(size=len(counts))

        report = audit_function(keys, PureDP(1), example=pd.DataFrame(self.ROWS), unit="id")
        assert report.refuted


@cache
def _refuted():
    return audit_function(true_n, PureDP(1), pairs=[([1.0, 2.0], [1.0, 2.0, 9.0])])


class TestReports:
    """Text, JSON, page and SARIF say the same, the line of code first."""

    @property
    def report(self):
        return _refuted()

    def test_json(self):
        read = json.loads(self.report.json())
        assert read["verdict"] == "refuted"
        assert read["rank"] == 1
        assert read["place"] == self.report.place
        assert read["pairs"][0]["releases"][0]["scale"] == "50 → 33.3333"

    def test_html(self, tmp_path):
        page = self.report.html(tmp_path / "report.html").read_text(encoding="utf-8")
        assert f"REFUTED at {self.report.place}" in page
        assert page.count("<table>") == 2

    def test_sarif(self):
        log = json.loads(sarif([self.report]))
        result = {"required": ["ruleId", "level", "message", "locations"]}
        run = {"required": ["tool", "results"], "properties": {"results": {"items": result}}}
        jsonschema.validate(
            log, {"required": ["version", "runs"], "properties": {"runs": {"items": run}}}
        )
        place = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
        shown = f"{place['artifactLocation']['uri']}:{place['region']['startLine']}"
        assert shown == self.report.place


PROJECT = """
import random
def count(rows): return len(rows) + random.gauss(0, 1)
def total(rows): return sum(rows) + random.gauss(0, 8)
def size(rows): return len(rows)
"""
TESTS = """
import pytest
from theirs import count, size, total
@pytest.mark.private(mu=1, skip=["nan", "inf"])
def test_count(rows): return count(rows)
@pytest.mark.private(mu=1, skip=["nan", "inf"])
def test_total(rows): return total(rows)
@pytest.mark.private(mu=1)
def test_size(rows): return size(rows)
"""


def pytest_in(folder, *options):
    """Run pytest in a stranger's project, with this plug-in alone."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "discreet.pytest_plugin",
        "-p",
        "no:cacheprovider",
    ]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(folder)}
    return subprocess.run(
        [*command, *options],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )


class TestPlugin:
    """A stranger's project with three functions is audited by one file of ten lines."""

    @pytest.fixture
    def project(self, tmp_path):
        assert len(TESTS.strip().splitlines()) <= 10
        (tmp_path / "theirs.py").write_text(PROJECT)
        (tmp_path / "test_private.py").write_text(TESTS)
        return tmp_path

    def test_audits(self, project):
        done = pytest_in(project, "--dp-replay", "--dp-sarif", "found.sarif")
        assert "2 failed, 1 passed" in done.stdout, done.stdout + done.stderr
        assert "REFUTED at theirs.py:4" in done.stdout
        log = json.loads((project / "found.sarif").read_text())
        uris = [
            r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
            for r in log["runs"][0]["results"]
        ]
        assert uris == ["theirs.py", "test_private.py"]

    def test_not_asked_for(self, project):
        probe = "import sys\ndef test_imports(): assert not {'numpy', 'discreet.audit'} & set(sys.modules)\n"
        (project / "test_imports.py").write_text(probe)
        done = pytest_in(project)
        assert "1 passed, 3 skipped" in done.stdout, done.stdout

    def test_a_mark_without_a_claim(self, project):
        (project / "test_private.py").write_text(
            "import pytest\n@pytest.mark.private()\ndef test_it(rows): return 1\n"
        )
        assert "needs a claim" in pytest_in(project, "--dp-replay").stdout


class TestCommand:
    """`discreet audit --replay module:function`."""

    def run(self, *options):
        return CliRunner().invoke(app, list(options))

    def test_verdicts(self, tmp_path):
        example = tmp_path / "rows.json"
        example.write_text("[1.0, 2.0, 3.0]")
        options = ["--neighbours", "add-remove", "--epsilon", "1"]
        page, log = tmp_path / "page.html", tmp_path / "log.sarif"
        bad = self.run(
            "--replay",
            "audit.playback.unmodified:twice_broken",
            *options,
            "--html",
            str(page),
            "--sarif",
            str(log),
        )
        assert bad.exit_code == 1
        assert bad.stdout.startswith("REFUTED at ")
        assert page.exists()
        assert json.loads(log.read_text())["version"] == "2.1.0"
        good = self.run(
            "--replay",
            "audit.playback.unmodified:counts_all",
            *options,
            "--example",
            str(example),
            "--json",
        )
        assert good.exit_code == 0
        assert json.loads(good.stdout)["verdict"] == "not refuted"

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--epsilon", "1"], "say what to audit"),
            (["--epsilon", "1", "--replay", "os:urandom"], "needs --neighbours"),
            (["--epsilon", "1", "--neighbours", "replace", "--replay", "os"], "module:function"),
            (["--epsilon", "1", "--neighbours", "replace", "--replay", "os:nothing"], "nothing"),
            (["--epsilon", "1", "--replay", "os:urandom", "--command", "x"], "leave out --command"),
            (
                ["--epsilon", "1", "--command", "x {input}", "--inputs", "1", "1", "--sarif", "x"],
                "",
            ),
        ],
    )
    def test_refusals(self, options, message):
        done = self.run(*options)
        assert done.exit_code == 2
        assert message in done.stderr


class TestAction:
    """The action of `.github/actions/audit`: its own command, run as a runner runs it."""

    FILE = Path(__file__).parents[3] / ".github" / "actions" / "audit" / "action.yml"

    def run(self, folder, **given):
        action = yaml.safe_load(self.FILE.read_text(encoding="utf-8"))
        inputs = {name: text.get("default") for name, text in action["inputs"].items()} | given
        step = action["runs"]["steps"][-1]
        variables = {
            name: inputs[re.fullmatch(r"\$\{\{ inputs\.(\w+) \}\}", text)[1]]
            for name, text in step["env"].items()
        }
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        return subprocess.run(
            ["bash", "-e", "-c", step["run"]],
            cwd=folder,
            env={**os.environ, **variables, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )

    def test_a_refuted_claim_fails_the_step(self, tmp_path):
        (tmp_path / "theirs.py").write_text(PROJECT)
        (tmp_path / "rows.json").write_text("[1.0, 2.0, 3.0]")
        given = {"replay": "theirs:total", "mu": "1", "example": "rows.json"}
        done = self.run(tmp_path, **given)
        assert done.returncode == 1, done.stderr
        assert done.stdout.startswith("REFUTED at theirs.py:4")
        assert json.loads((tmp_path / "audit.sarif").read_text())["runs"][0]["results"]

    def test_text_of_an_input_is_not_run(self, tmp_path):
        done = self.run(tmp_path, replay="$(touch run); touch run", epsilon="1")
        assert done.returncode == 2
        assert not (tmp_path / "run").exists()


def test_cases_are_named_once():
    assert len({case.name for case in CASES}) == len(CASES)
