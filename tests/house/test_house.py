"""The house rules that a machine can check."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HOUSE = ROOT / "src" / "discreet"
SOURCES = sorted(HOUSE.rglob("*.py"))
BANNED_NAMES = {"utils.py", "helpers.py", "common.py", "misc.py"}
MOST_MODULES = 16
CROWDED = {"noise": 21}
"""Folders that may hold more: one law, one file."""


@cache
def trees() -> dict[str, ast.Module]:
    return {str(path.relative_to(HOUSE)): ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES}


def nodes(*kinds: type[ast.AST]):
    return ((path, node) for path, tree in trees().items() for node in ast.walk(tree) if isinstance(node, kinds))


def code_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of the body, its docstring not counted."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


class TestEveryFile:
    def test_there_are_sources_to_check(self):
        assert len(SOURCES) > 20

    def test_is_short_and_named_by_a_noun(self):
        assert not [path.name for path in SOURCES if len(path.read_text(encoding="utf-8").splitlines()) > 300]
        assert not BANNED_NAMES & {path.name for path in SOURCES}

    def test_has_short_functions(self):
        """25 lines are usual; those that wait are counted too."""
        functions = nodes(ast.FunctionDef, ast.AsyncFunctionDef)
        assert not [f"{path}:{f.name}" for path, f in functions if code_lines(f) > 30]

    def test_says_what_it_is_for(self):
        assert not [path for path, tree in trees().items() if not ast.get_docstring(tree)]

    def test_opens_nested_choices(self):
        nested = [
            f"{path}:{node.lineno}"
            for path, node in nodes(ast.IfExp)
            if any(isinstance(inner, ast.IfExp) for inner in (node.test, node.body, node.orelse))
        ]
        assert len([where for where in nested if where.split("/")[0] in SWEPT]) == 0


SWEPT = ("arithmetic", "noise", "privacy", "mechanisms", "testing", "audit", "samples")
"""Rooms that keep every rule below; the lists further down only ever get shorter."""


def test_a_folder_is_read_at_a_glance():
    folders = {path.parent for path in SOURCES}
    crowds = {str(f.relative_to(HOUSE)): len([m for m in f.glob("*.py") if m.name != "__init__.py"]) for f in folders}
    allowed = {name: CROWDED.get(name, MOST_MODULES) for name in crowds}
    assert not {name: count for name, count in crowds.items() if count > max(allowed[name], STILL_CROWDED.get(name, 0))}


STILL_CROWDED: dict[str, int] = {}


class TestClasses:
    def test_no_two_have_one_name(self):
        """Reading a name tells what it is, wherever it stands."""
        homes = defaultdict(list)
        for path, tree in trees().items():
            for node in tree.body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    homes[node.name].append(path)
        assert {name for name, paths in homes.items() if len(paths) > 1} <= STILL_TWICE | {"SparseVector"}

    def test_are_no_deeper_than_two(self):
        bases = {node.name: [ast.unparse(b) for b in node.bases] for _, node in nodes(ast.ClassDef)}

        def depth(name: str) -> int:
            return 1 + max((depth(base) for base in bases.get(name, ()) if base in bases and base != name), default=0)

        def is_error(name: str) -> bool:
            return name == "DiscreetError" or any(is_error(base) for base in bases.get(name, ()) if base != name)

        assert not {name for name in bases if depth(name) > (3 if is_error(name) else 2)}


# events.SparseVector is for ever: ledgers hold it; mechanisms.SparseVector is what people make.
STILL_TWICE = {
    *("Asked", "Bounds", "Call", "Entry", "Frame", "Line", "Part", "People", "Person", "Place", "PostgresStore"),
    *("Public", "Scope", "Source", "SqliteStore", "Store", "Terms", "Total"),
}
"""Names that rooms outside `SWEPT` still share."""


class TestImports:
    def test_inside_functions_are_of_optional_packages(self):
        """They are few, and none of them hides a circle; rooms not yet swept are counted."""
        hidden = defaultdict(set)
        for path, function in nodes(ast.FunctionDef, ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Import | ast.ImportFrom) and not _optional(node):
                    hidden[path].add(node.lineno)
        swept = {path for path in hidden if path.split("/")[0] in SWEPT} - {"privacy/measures.py"}
        assert not swept
        assert len(hidden["privacy/measures.py"]) == 1  # a measure compares itself: the one that looks upward
        assert sum(map(len, hidden.values())) <= STILL_HIDDEN


OPTIONAL = {"matplotlib", "pandas", "polars", "pyarrow", "psycopg", "pyspark", "httpx", "cryptography", "uvicorn"}
STILL_HIDDEN = 90


def _optional(node: ast.Import | ast.ImportFrom) -> bool:
    named = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    return all(name.split(".")[0] in OPTIONAL for name in named) and not getattr(node, "level", 0)


def imported_by(statement: str) -> set[str]:
    script = f"{statement}; import sys; print(' '.join(sys.modules))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


class TestImportIsCheap:
    def test_the_package_brings_nothing_heavy(self):
        assert not {"numpy", "scipy", "rich", "typer", "matplotlib"} & imported_by("import discreet")

    @pytest.mark.parametrize("room", ["noise", "privacy", "mechanisms", "audit"])
    def test_a_room_brings_no_scipy(self, room):
        assert not {"scipy", "matplotlib"} & imported_by(f"import discreet.{room}")


class TestNothingLeaksIntoTheProject:
    def test_no_lock_file_that_records_download_hosts(self):
        assert not [name for name in ("uv.lock", "pylock.toml", "poetry.lock") if (ROOT / name).exists()]


class TestTheTopOfThePackage:
    def test_the_names_for_type_checkers_are_the_names_of_the_program(self):
        import discreet

        block = next(node for node in trees()["__init__.py"].body if isinstance(node, ast.If))
        imported = {alias.asname for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
        renamed = {n.id for node in block.body if isinstance(node, ast.Assign) for n in node.targets[0].elts}
        spelled = {name for name in imported | renamed if not name.startswith("_")}
        assert spelled == set(discreet.__all__) == set(dir(discreet))

    def test_every_name_is_there(self):
        import discreet

        assert all(getattr(discreet, name) is not None for name in discreet.__all__)

    def test_a_name_that_is_not_there_is_refused(self):
        import discreet

        with pytest.raises(AttributeError, match="discreet has no 'laplace'"):
            discreet.laplace  # noqa: B018

    def test_the_version_is_that_of_the_project(self):
        import discreet

        assert discreet.__version__ == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("sample", "example"),
            ("group", "group_privacy"),
            ("parse", "parse_sql"),
            ("find_third", "solve_tradeoff"),
            ("Third", "Tradeoff"),
            ("answer_question", "answer.answer_question"),
            ("suggest_bounds", "answer.suggest_bounds"),
            ("classic_gaussian", "mechanisms.classic_gaussian"),
            ("stability_histogram", "mechanisms.stability_histogram"),
            ("bounds", "mechanisms.bounds"),
            ("sensitivity", "mechanisms.sensitivity"),
        ],
    )
    def test_a_name_of_version_0_1_still_works_and_warns(self, old, new):
        import discreet

        with pytest.warns(DeprecationWarning, match=f"discreet.{old} is now discreet.{new};"):
            found = getattr(discreet, old)
        room, _, name = new.rpartition(".")
        assert found is getattr(sys.modules[f"discreet.{room}"] if room else discreet, name)
        assert old not in dir(discreet)
