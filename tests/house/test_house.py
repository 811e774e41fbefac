"""The house rules that a machine can check."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src" / "discreet").rglob("*.py"))
BANNED_NAMES = {"utils.py", "helpers.py", "common.py", "misc.py"}


def test_there_are_sources_to_check():
    assert len(SOURCES) > 20


class TestEveryFile:
    """Each rule is checked on all files at once, and says which ones break it."""

    def test_is_short_and_named_by_a_noun(self):
        assert not [shown(path) for path in SOURCES if len(path.read_text(encoding="utf-8").splitlines()) > 300]
        assert not [shown(path) for path in SOURCES if path.name in BANNED_NAMES]

    def test_has_short_functions_and_flat_classes(self):
        """No function is longer than 30 lines; 25 are usual."""
        functions = [
            (path, node) for path in SOURCES for node in ast.walk(tree(path)) if isinstance(node, ast.FunctionDef)
        ]
        assert not [f"{shown(path)}: {node.name}" for path, node in functions if code_lines(node) > 30]

    def test_says_what_it_is_for(self):
        assert not [shown(path) for path in SOURCES if not ast.get_docstring(tree(path))]


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT / "src" / "discreet"))


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


class TestTheTopOfThePackage:
    def test_the_names_for_type_checkers_are_the_names_of_the_program(self):
        import discreet

        tree = ast.parse((ROOT / "src" / "discreet" / "__init__.py").read_text(encoding="utf-8"))
        block = next(node for node in tree.body if isinstance(node, ast.If))
        spelled = {alias.asname for node in block.body for alias in node.names}
        assert spelled == set(discreet.__all__) == set(dir(discreet))

    def test_every_name_is_there(self):
        import discreet

        assert all(getattr(discreet, name) is not None for name in discreet.__all__)

    def test_a_name_that_is_not_there_is_refused(self):
        import discreet

        with pytest.raises(AttributeError, match="discreet has no 'laplace'"):
            discreet.laplace  # noqa: B018
