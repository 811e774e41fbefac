"""The table of proofs is true of this tree without Coq: files, axioms, names, functions, laws, bridges, docstrings."""

from __future__ import annotations

import ast
import re
import runpy
import shutil
from pathlib import Path
from pkgutil import resolve_name

import pytest

ROOT = Path(__file__).parents[2]
PROOFS = ROOT / "proofs"
CHECK = runpy.run_path(str(PROOFS / "check.py"))
ROWS = CHECK["read_rows"]()
CHECKED = CHECK["read_checked"]()
IN_CODE = [row for row in ROWS["row"] if "function" in row]
NAMED = re.compile(r"Proved: ((?:proofs/\w+\.v::\w+(?:,\s+)?)+)")
"""The line of a docstring that names theorems."""


def number_of(row):
    return row["number"]


def classes_of(path):
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.ClassDef)}


def is_theorem(name):
    """Return whether a file states a theorem of this name, such as Totals.free_l1."""
    file, _, short = name.partition(".")
    source = CHECK["without_comments"]((PROOFS / f"{file}.v").read_text(encoding="utf-8"))
    return re.search(rf"^Theorem {short}\b", source, re.MULTILINE) is not None


class TestTheTable:
    """What the last check wrote belongs to the files that are here."""

    def test_every_file_is_the_one_that_was_checked(self):
        assert CHECK["hashes"]() == CHECKED["files"]

    def test_every_theorem_was_asked_for_its_axioms(self):
        assert list(CHECKED["axioms"]) == sorted(CHECK["theorems"](ROWS))

    def test_no_theorem_uses_a_forbidden_axiom(self):
        assert CHECK["surplus_axioms"](ROWS, CHECKED["axioms"]) == []

    def test_nothing_stands_without_proof(self):
        assert CHECK["unproved"]() == []

    def test_the_table_is_written_from_the_rows(self):
        written = (PROOFS / "TABLE.md").read_text(encoding="utf-8")
        assert written == CHECK["table"](ROWS, CHECKED)

    def test_the_page_has_the_counts(self):
        page = CHECK["PAGE"].read_text(encoding="utf-8")
        assert CHECK["page"](page, ROWS, CHECKED) == page

    def test_the_statements_are_those_of_the_theorems(self):
        text = (PROOFS / "STATEMENTS.txt").read_text(encoding="utf-8")
        missing = [name for name in CHECK["theorems"](ROWS) if name not in text]
        assert not missing

    def test_as_many_rows_as_promised(self):
        planned = [row for row in IN_CODE if row["number"].isdecimal()]
        free = [row for row in planned if CHECK["axiom_free"](CHECKED, row)]
        assert {row["number"] for row in planned} == {str(number) for number in range(1, 54)}
        assert len(planned) == 53
        assert len(free) >= 34


class TestARow:
    """Each row leads to theorems, a function, a law and a bridge that are there."""

    @pytest.mark.parametrize("row", ROWS["row"], ids=number_of)
    def test_theorems(self, row):
        assert row["proofs"]
        assert all(is_theorem(name) for name in row["proofs"])

    @pytest.mark.parametrize("row", IN_CODE, ids=number_of)
    def test_function(self, row):
        assert resolve_name(row["function"]) is not None

    @pytest.mark.parametrize("place", ["law", "bridge"])
    @pytest.mark.parametrize("row", IN_CODE, ids=number_of)
    def test_law_and_bridge(self, row, place):
        path, _, name = row[place].partition("::")
        assert name in classes_of(path)


def docstring_names():
    """All theorems that docstrings of the library name, with the file that names them."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        for found in NAMED.findall(path.read_text(encoding="utf-8")):
            for name in re.split(r",\s+", found.strip().rstrip(",")):
                yield path.name, name


class TestDocstrings:
    """A docstring that says "Proved:" names theorems of the table."""

    def test_they_exist(self):
        listed = set(CHECK["theorems"](ROWS))
        named = list(docstring_names())
        assert len(named) >= 12
        for path, name in named:
            file, _, short = name.removeprefix("proofs/").partition(".v::")
            assert f"{file}.{short}" in listed, f"{path}: {name}"


class TestTheChecker:
    """The rules of the check refuse what they are there to refuse."""

    def test_axioms(self):
        used = {"Totals.free_l1": ["Classical_Prop.classic"], "Tail.tail_potential": ["My.axiom"]}
        found = CHECK["surplus_axioms"](ROWS, used)
        assert found == ["Totals.free_l1: Classical_Prop.classic", "Tail.tail_potential: My.axiom"]

    @pytest.mark.parametrize(
        "word", ["Admitted.", "admit.", "Axiom a : False.", "Parameter p : nat."]
    )
    def test_words(self, word):
        assert CHECK["FORBIDDEN"].search(f"Proof. {word}")

    def test_comments_may_say_anything(self):
        text = "a (* Axiom (* nested *) Admitted *) b"
        assert CHECK["without_comments"](text) == "a  b"

    def test_without_coq_it_says_so(self, monkeypatch, capsys):
        monkeypatch.setattr(shutil, "which", lambda _: None)
        CHECK["main"]()
        assert "skipped" in capsys.readouterr().out
