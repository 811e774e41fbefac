"""The scripts of the five tasks run exactly as printed, each in a process and a folder of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tutorials" / "five-tasks.md").read_text(encoding="utf-8")
SCRIPTS = dict(
    re.findall(r"^```python script ([\w-]+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
)
SAID = {
    "first-answer": r"Nothing was touched.*\n0 +\d+ ± .*\n1 +\d+ ± .*left: ε = 2\n",
    "weekly-series": r"52 weeks\n2025-01-06 -?\d+ between -?\d+ and \d+\n2025-01-13 .*\n2025-01-20 .*\n",
    "top-words": r"word +people\n((weather|news|bus|recipe|score) +\d+ ± \d+[^\n]*\n){5}",
    "consistent-tables": r"all margins add up to \d+",
    "audit": r"noisy_count - .*\nnoisy_mean - refuted",
}
"""What a script says whatever the noise: the counts of common words are 700 apart from those of any other word."""


def test_all_five_are_there():
    assert SCRIPTS.keys() == SAID.keys()
    assert not re.search(r"^```python$", PAGE, re.MULTILINE)


@pytest.mark.parametrize("name", sorted(SAID))
def test_a_script_runs_as_printed(name, tmp_path):
    (tmp_path / "script.py").write_text(SCRIPTS[name], encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "COLUMNS": "120"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert re.search(SAID[name], ran.stdout, re.DOTALL), ran.stdout
