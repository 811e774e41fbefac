"""Lessons lead into the documents, and the documents lead back."""

from __future__ import annotations

import re
from pathlib import Path

from discreet.lessons.routes import CONTENTS, LESSONS

ROOT = Path(__file__).parents[2]
TEMPLATE = (ROOT / "src/discreet/lessons/templates/learn.html").read_text(encoding="utf-8")
PAGE = (ROOT / "docs/tutorials/lessons.md").read_text(encoding="utf-8")
SECTIONS = dict(
    re.findall(r'<section class="two lesson" id="(\w+)".*?>(.*?)</section>', TEMPLATE, re.DOTALL)
)


def test_every_lesson_has_an_exercise_with_an_answer_and_a_page():
    assert [name for name, _ in CONTENTS] == list(SECTIONS) and set(SECTIONS) == set(LESSONS)
    for name, text in SECTIONS.items():
        [(asked, answer, page)] = re.findall(
            r'more\("([^"]+\?)", "([^"]+\.)", "([\w/-]+)", "[^"]+"\)', text
        )
        assert len(asked) > 20 and len(answer) > 20
        assert (ROOT / "docs" / f"{page}.md").exists(), name


def test_the_documents_lead_back():
    rows = re.findall(r"^\| `/learn#(\w+)` .*\]\(([\w/.-]+)\) \|$", PAGE, re.MULTILINE)
    assert [name for name, _ in rows] == list(SECTIONS)
    for name, link in rows:
        page = (ROOT / "docs/tutorials" / link).resolve()
        assert page.relative_to(ROOT / "docs").with_suffix("").as_posix() in SECTIONS[name]
        assert "lessons.md)" in page.read_text(encoding="utf-8")
