"""README: its sample output has the form that this release prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import discreet as dp

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
ROW = re.compile(r"[01]    \d{3} ± \d +├─*●─*┤ +\d\d,\d{3} ± \d[\d,]+")
"""Counts are whole, means are rounded to their error and have thousands separators."""


@pytest.mark.statistical
def test_the_sample_output_is_what_this_release_prints(tmp_path, monkeypatch):
    """False alarm below 1e-9: counts would have to move by thirty scales, means by ten thousand."""
    monkeypatch.chdir(tmp_path)
    lines = re.findall(r"^>>> (.*)$", README, re.MULTILINE)
    names: dict[str, object] = {"dp": dp}
    for line in lines:
        exec(line, names)  # noqa: S102 - the lines of our own README
    printed = str(names["answer"]).splitlines()
    shown = re.search(r"^```\n(sex .*?)\n```", README, re.MULTILINE | re.DOTALL)[1].splitlines()
    for head, *rows, foot in (printed, shown):
        assert head.split() == ["sex", "n", "income"]
        assert len(rows) == 2 and all(map(ROW.fullmatch, rows))
        assert foot == "ε = 1 of ε = 3, entry 2 of the ledger"
