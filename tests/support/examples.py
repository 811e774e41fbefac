"""Which files hold examples: those of the program with a `>>>`. Registered for every folder by tests/conftest.py."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule

import discreet

PACKAGE = Path(discreet.__file__).parent


def import_as_the_program_does(file: Path) -> None:
    """Import a module by its name before pytest reads its file.

    Otherwise pytest imports its package, which imports the module, and then runs the file again: there would be two
    classes of each name, and a value of the one cannot be pickled as the other.
    """
    inside = file.relative_to(PACKAGE.parent).with_suffix("").parts
    importlib.import_module(".".join(inside[:-1] if inside[-1] == "__init__" else inside))


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path, parent):
    """Leave out files without an example: in the tests there are none, and to read each file again costs seconds."""
    found = yield
    in_program = PACKAGE in file_path.parents
    if in_program and found:
        import_as_the_program_does(file_path)
    shows = in_program and ">>>" in file_path.read_text(encoding="utf-8")
    return [one for one in found if shows or not isinstance(one, DoctestModule)]
