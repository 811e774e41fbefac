"""The site: its reference has every public name, its table of theorems leads to functions and laws that are there."""

from __future__ import annotations

import ast
import json
import re
import runpy
from pathlib import Path
from pkgutil import resolve_name
from types import ModuleType

import pytest

import discreet as dp

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| .* \| `(discreet[\w.]*)` \| `(tests/[\w/.]+)::(\w+)` \|$", re.MULTILINE)
THEOREMS = ROW.findall((ROOT / "docs" / "reference" / "theorems.md").read_text(encoding="utf-8"))


def test_the_reference_has_every_public_name_once():
    site = runpy.run_path(str(ROOT / "docs" / "site" / "reference.py"))
    listed = re.findall(r"heading: (?:dp\.)?(\w+),", "".join(map(site["page"], site["TITLES"])))
    packages = {name for name in dp.__all__ if isinstance(getattr(dp, name), ModuleType)}
    missing = set(dp.__all__) - packages - set(listed)
    assert not missing
    twice = {name for name in listed if listed.count(name) > 1}
    assert twice <= {"SparseVector"}  # a mechanism, and the event that ledgers hold of it


@pytest.mark.parametrize(("function", "file", "law"), THEOREMS, ids=[law for _, _, law in THEOREMS])
def test_a_theorem_leads_to_its_function_and_its_law(function, file, law):
    assert resolve_name(function) is not None
    classes = [
        node
        for node in ast.parse((ROOT / file).read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    ]
    assert any(node.name == law and ast.get_docstring(node) for node in classes)


def test_the_table_of_theorems_was_read():
    assert len(THEOREMS) > 40


def test_what_benchmarks_printed_is_shown_as_it_was_kept(tmp_path):
    site = runpy.run_path(str(ROOT / "docs" / "site" / "benchmarks.py"))
    shown = site["page"]()
    for kept in ROOT.glob("benchmarks/results/*.txt"):
        assert (
            f"## {kept.stem}.py" in shown
            and kept.read_text(encoding="utf-8").partition("\n")[2].strip() in shown
        )
    (tmp_path / "results").mkdir()
    (tmp_path / "one.py").write_text('"""Measures one thing."""\n', encoding="utf-8")
    (tmp_path / "results" / "one.txt").write_text("today\n\n 1.0 x\n", encoding="utf-8")
    assert site["page"](tmp_path).endswith(
        "## one.py\n\nMeasures one thing.\n\n*today*\n\n```text\n1.0 x\n```\n"
    )
    assert "keep.py noise" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_every_release_keeps_its_own_documents(tmp_path):
    publish = runpy.run_path(str(ROOT / "docs" / "site" / "versions.py"))["publish"]
    built, folder = tmp_path / "site", tmp_path / "published"
    built.mkdir()
    for version in ("0.9.0", "0.10.0", "0.2.0"):
        (built / "index.html").write_text(version, encoding="utf-8")
        publish(built, folder, version)
    listed = json.loads((folder / "versions.json").read_text(encoding="utf-8"))
    assert [(one["version"], one["aliases"]) for one in listed] == [
        ("0.10.0", ["latest"]),
        ("0.9.0", []),
        ("0.2.0", []),
    ]
    assert (folder / "0.9.0" / "index.html").read_text(encoding="utf-8") == "0.9.0"
    with pytest.raises(SystemExit, match="no version"):
        publish(built, folder, "../elsewhere")


def test_every_page_stands_in_the_navigation():
    """What `mkdocs build --strict` would say, without building."""
    listed = set(
        re.findall(
            r"([\w./-]+\.md)\s*$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE
        )
    )
    pages = {str(path.relative_to(ROOT / "docs")) for path in ROOT.glob("docs/**/*.md")}
    assert {page for page in pages if not page.startswith("decisions/")} <= listed
    made = {page for page in listed if page.startswith(("reference/", "gallery/"))} | {
        "benchmarks-printed.md"
    }
    assert listed - made <= pages
    notebooks = {f"gallery/{path.stem}.md" for path in ROOT.glob("docs/notebooks/*.ipynb")}
    assert notebooks == {page for page in listed if page.startswith("gallery/")}
