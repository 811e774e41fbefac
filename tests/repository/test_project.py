"""Project files: one version, a changelog in a known form, no host or path of one machine."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

import discreet
from discreet.cli.app import app
from discreet.service.api.openapi import document
from discreet.service.api.routes import ENDPOINTS
from discreet.service.api.routes import ROOT as API

ROOT = Path(__file__).parents[2]
FOLDERS = (".ci", ".github", "benchmarks", "docs", "src", "tests")
CODE = {".cff", ".css", ".html", ".js", ".py", ".sh", ".toml", ".yaml", ".yml", ""}
READ = CODE | {".ipynb", ".json", ".md", ".svg", ".txt"}
"""Suffixes of text files; data files are left out."""
HOSTS = {
    "127.0.0.1",
    "creativecommons.org",
    "keepachangelog.com",
    "localhost",
    "matplotlib.org",
    "purl.org",
    "www.apache.org",
    "www.textualize.io",
    "www.w3.org",
}
"""Hosts that files may name: standards, licences, and what drawing tools write into pictures."""
URL = re.compile(r"https?://([\w.-]+)")
PLACE = r"(?<![\w.~}-])/(?:home|root|work|Users|mnt)/\w"
OPTION = r"(?:extra-)?index-url|trusted-host|find-links"
MACHINE = re.compile(f"{PLACE}|{OPTION}")
"""Home directories and mounts, and the options by which pip is led to another index."""


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


PROJECT = tomllib.loads(read("pyproject.toml"))["project"]
VERSION = PROJECT["version"]
RELEASES = re.findall(r"^## \[(.+?)\] - (.+)$", read("CHANGELOG.md"), re.MULTILINE)


def project_files() -> list[Path]:
    """Return the text files of the project, this one left out: it spells what it looks for."""
    below = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*")]
    names = (".editorconfig", ".gitignore", ".importlinter", ".pre-commit-config.yaml")
    hidden = [ROOT / name for name in names]
    above = [path for path in ROOT.iterdir() if not path.name.startswith(".")]
    files = [path for path in [*above, *hidden, *below] if path.suffix in READ and path.is_file()]
    return [path for path in files if "__pycache__" not in path.parts and path != Path(__file__)]


class TestTheVersion:
    """Only pyproject.toml states it for the program; other files are compared with it."""

    def test_the_program_has_it(self):
        assert discreet.__version__ == VERSION, "an older discreet is installed: install it again"
        assert CliRunner().invoke(app, ["--version"]).stdout == f"discreet {VERSION}\n"

    def test_the_api_has_it(self):
        config = type("Config", (), {"url": "https://curator.example"})
        assert document(ENDPOINTS, API, config)["info"]["version"] == VERSION

    def test_the_citation_has_it(self):
        assert re.findall(r"^version: (.+)$", read("CITATION.cff"), re.MULTILINE) == [VERSION]

    def test_it_is_the_newest_of_the_changelog(self):
        assert RELEASES[0][0] == VERSION

    def test_no_other_file_states_it(self):
        """A second place would be forgotten: `version = "…"` and the like, in code and settings."""
        number = re.escape(VERSION)
        stated = re.compile(rf"""version\w*['"]?\s*[:=]+\s*['"]?v?{number}""", re.IGNORECASE)
        files = [path for path in project_files() if path.suffix in CODE]
        found = [path.name for path in files if stated.search(path.read_text("utf-8"))]
        assert sorted(found) == ["CITATION.cff", "pyproject.toml"]

    def test_every_python_that_is_tried_has_a_classifier(self):
        tried = re.findall(r"3\.\d+", re.search(r"pythons\.sh (.+)", read("Makefile"))[1])
        named = re.findall(r":: (3\.\d+)$", "\n".join(PROJECT["classifiers"]), re.MULTILINE)
        assert named == [PROJECT["requires-python"].removeprefix(">="), *tried]


class TestTheChangelog:
    KINDS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}

    def test_headings_are_those_of_keep_a_changelog(self):
        heads = re.findall(r"^##+ .*$", read("CHANGELOG.md"), re.MULTILINE)
        assert len(RELEASES) == len([head for head in heads if head.startswith("## ")]) > 1
        assert all(re.fullmatch(r"unreleased|\d{4}-\d\d-\d\d", date) for _, date in RELEASES)
        kinds = {head.removeprefix("### ") for head in heads if head.startswith("### ")}
        assert kinds <= self.KINDS

    def test_a_bullet_has_at_most_two_lines_of_120_columns(self):
        text = read("CHANGELOG.md")
        assert not [line for line in text.splitlines() if len(line) > 120]
        bullets = re.findall(r"^- .*\n(?: .*\n)*", text, re.MULTILINE)
        assert len(bullets) > 50
        assert not [bullet for bullet in bullets if bullet.count("\n") > 2]


class TestNoMachineIsNamed:
    @staticmethod
    def is_known(host: str) -> bool:
        # `http://x` in a test is nobody's host
        return host in HOSTS or host.endswith(".example") or "." not in host

    def test_no_unknown_host(self):
        """No registry or mirror is named: an address belongs to a standard, or is `*.example`."""
        unknown = set()
        for path in project_files():
            hosts = {host.rstrip(".") for host in URL.findall(path.read_text("utf-8"))}
            unknown |= {(path.name, host) for host in hosts if not self.is_known(host)}
        assert not unknown

    def test_no_path_of_a_machine(self):
        files = project_files()
        assert not [path.name for path in files if MACHINE.search(path.read_text("utf-8"))]

    def test_no_lock_file_records_download_hosts(self):
        names = ("uv.lock", "pylock.toml", "poetry.lock")
        assert not [name for name in names if (ROOT / name).exists()]

    @pytest.mark.parametrize(
        "text",
        [
            "/home/ann/x",
            "cd /work/main",
            "pip install --index-url x",
            "https://mirror.internal.net/simple",
        ],
    )
    def test_such_text_would_be_found(self, text):
        assert MACHINE.search(text) or not self.is_known(URL.search(text)[1])


def test_the_workflow_runs_what_contributors_run():
    steps = re.findall(r"^ +- run: (.+)$", read(".github/workflows/test.yml"), re.MULTILINE)
    assert steps == ["make test"]
    assert read(".ci/run").strip().endswith("exec make test")
