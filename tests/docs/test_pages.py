"""Every example in README and docs runs, and shows what the page says it shows."""

from __future__ import annotations

import doctest
import re
import unicodedata
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")])


def name_of(page):
    """Return the path of a page as tests are called."""
    return str(page.relative_to(ROOT))


@cache
def places(page):
    """Return the places of a page that can be pointed to: its headings, as MkDocs names them."""
    text = re.sub(
        r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    heads = [
        re.sub(r"\[([^]]*)\]\([^)]*\)|`", r"\1", head)
        for head in re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    ]
    plain = [
        unicodedata.normalize("NFKD", head).encode("ascii", "ignore").decode() for head in heads
    ]
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", head).strip().lower()) for head in plain}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = re.sub(
        r"^```.*$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE
    )  # a fence is no output
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    outcome = doctest.DocTestRunner(optionflags=flags).run(test)
    assert outcome.failed == 0
    assert outcome.attempted > (20 if page.name == "privacy.md" else -1)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_inside_the_project_lead_somewhere(page):
    for target, place in re.findall(
        r"\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)", page.read_text(encoding="utf-8")
    ):
        found = page.parent / target if target else page
        assert found.exists(), f"{name_of(page)} points to {target}"
        assert not place or place in places(found), f"{name_of(page)} points to {target}#{place}"
