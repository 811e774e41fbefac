"""Rules for docstrings: the sections Guarantee, Refuses and Law, and the tests that laws name."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src" / "discreet").rglob("*.py"))
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
LAW = re.compile(r"tests/[\w/]+\.py(?:::\w+)*")
"""A test as pytest names it: a file, and a class or function in it."""


def docstrings():
    """Yield every docstring with the place where it stands."""
    for path in SOURCES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, DOCUMENTED):
                text = ast.get_docstring(node)
                if text:
                    place = f"{path.relative_to(ROOT)}:{getattr(node, 'name', 'module')}"
                    yield place, text


def laws(text: str) -> list[str]:
    """Return the tests that the section `Law:` of a docstring names; the section ends at a blank line."""
    section = re.search(r"^Law:(.*?)(?:\n\s*\n|\Z)", text, re.MULTILINE | re.DOTALL)
    if section is None:
        return []
    return LAW.findall(section.group(1)) or ["nothing"]


@cache
def names_in(path: Path) -> set[str]:
    """Return the names of all tests in a file: `TestClass`, `test_function`, `TestClass::test_method`."""
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            names |= {
                f"{node.name}::{one.name}" for one in node.body if isinstance(one, ast.FunctionDef)
            }
    return names


def exists(law: str) -> bool:
    """Return whether a test is where its name says."""
    file, _, name = law.partition("::")
    path = ROOT / file
    return path.is_file() and (not name or name in names_in(path))


def test_every_law_names_a_test_that_exists():
    named = [(place, law) for place, text in docstrings() for law in laws(text)]
    assert not [(place, law) for place, law in named if not exists(law)]


def test_a_law_that_names_no_test_is_found():
    """The check itself: a missing file, a missing class, an empty section."""
    assert exists("tests/repository/test_docstrings.py::laws")
    assert not exists("tests/repository/test_none.py")
    assert not exists("tests/repository/test_docstrings.py::TestNone")
    assert laws("A mechanism.\n\nLaw: the one in the lectures\n") == ["nothing"]
    assert laws("A mechanism.\n\nLaw:\n    tests/a/test_b.py::TestC,\n    tests/a/test_d.py\n") == [
        "tests/a/test_b.py::TestC",
        "tests/a/test_d.py",
    ]
