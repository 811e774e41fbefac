"""The house rules that a machine can check."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src" / "discreet").rglob("*.py"))
BANNED_NAMES = {"utils.py", "helpers.py", "common.py", "misc.py"}


def test_there_are_sources_to_check():
    assert len(SOURCES) > 20


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT / "src" / "discreet")))
class TestEveryFile:
    def test_is_short_and_named_by_a_noun(self, path):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 300
        assert path.name not in BANNED_NAMES

    def test_has_short_functions_and_flat_classes(self, path):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                assert code_lines(node) <= 25, f"{node.name} is too long"

    def test_says_what_it_is_for(self, path):
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


def code_lines(function: ast.FunctionDef) -> int:
    """Lines of the body, its docstring not counted."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


def imported_by(statement: str) -> set[str]:
    script = f"{statement}; import sys; print(' '.join(sys.modules))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


class TestImportIsCheap:
    def test_the_package_brings_nothing_heavy(self):
        assert not {"numpy", "scipy", "rich", "typer", "matplotlib"} & imported_by("import discreet")

    @pytest.mark.parametrize("room", ["noise", "privacy", "mechanisms"])
    def test_a_room_brings_no_scipy(self, room):
        assert not {"scipy", "matplotlib"} & imported_by(f"import discreet.{room}")


class TestNothingLeaksIntoTheProject:
    def test_no_lock_file_that_records_download_hosts(self):
        assert not [name for name in ("uv.lock", "pylock.toml", "poetry.lock") if (ROOT / name).exists()]
