"""The page and the label: one sheet, no script, no other host, and every number with its evidence."""

from __future__ import annotations

import json
import re
from html import unescape
from html.parser import HTMLParser

import pytest
import yaml

import discreet as dp
from record import registry
from record.conftest import PEOPLE, SQL, WORDS, ask

NUMBER = re.compile(r"\d+(?:[.,]\d+)*(?:e-?\d+)?")


class Page(HTMLParser):
    """Tags and text of a page; text of its style is left out."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts, self.open = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if "style" not in self.open:
            self.texts.append(data)


@pytest.fixture(scope="module")
def made():
    asked = dp.open_ledger(":memory:", dp.PureDP(3))
    ask(asked, *SQL.values())
    numbers = [entry.number for entry in asked.history(kinds=["charge"])]
    return dp.record(asked, PEOPLE, WORDS, questions=numbers)


def test_the_page_has_no_script_and_loads_nothing(made):
    page = Page(made.files["index.html"])
    for tag, facts in page.tags:
        assert tag not in ("script", "iframe", "img", "object", "link", "form")
        assert not any(name.startswith("on") or name == "src" for name in facts)
        if "href" in facts:
            assert facts["href"] in made.files
    assert "@import" not in made.files["index.html"] and "url(" not in made.files["index.html"]


def test_the_page_can_be_read_aloud(made):
    page = Page(made.files["index.html"])
    tags = dict(page.tags)
    assert tags["html"]["lang"] == "en" and "title" in tags
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1 and set(levels) == {1, 2}
    assert all(facts.get("scope") == "row" for tag, facts in page.tags if tag == "th")
    assert [tag for tag, _ in page.tags].count("main") == 1


def test_every_number_on_the_page_and_the_label_is_in_the_evidence(made):
    evidence = json.loads(made.files["evidence.json"])["sentences"]
    known = set(NUMBER.findall(" ".join(one["text"] for one in evidence)))
    page = set(NUMBER.findall(" ".join(Page(made.files["index.html"]).texts)))
    assert len(page) > 10
    assert page <= known, page - known
    # Texts of the label are broken into lines, never within a number.
    label = unescape(" ".join(re.findall(r">([^<]+)<", made.files["label.svg"])))
    assert "Differential privacy facts" in label and set(NUMBER.findall(label)) <= known


def test_hostile_words_stay_text():
    ledger = dp.open_ledger(":memory:", dp.PureDP(1))
    hostile = "<script>alert(1)</script> 'x': # \\(\\epsilon\\) \"y\" | > - {a}"
    words = WORDS | {
        "data_curators": [hostile], "contact": hostile, "name": hostile,
        "description": f"{hostile}\n- {hostile}", "justification": f": {hostile}",
    }  # fmt: skip
    made = dp.record(ledger, PEOPLE, words)
    assert "<script" not in made.files["index.html"] + made.files["label.svg"]
    entry = yaml.safe_load(made.files["registry.yaml"])["deployment"]
    assert entry["basic"]["name"] == hostile and entry["basic"]["data_curators"] == [hostile]
    assert entry["basic"]["description"].rstrip("\n") == words["description"]
    assert entry["implementation"]["justification"] == f": {hostile}"
    assert yaml.safe_load(made.files["CITATION.cff"])["authors"] == [{"name": hostile}]


def test_words_open_no_tag_link_or_heading_in_markdown():
    ledger = dp.open_ledger(":memory:", dp.PureDP(1))
    hostile = "ask\n\n## 14. Retention\n\n- <script>alert(1)</script> [here](javascript:alert(1))"
    words = WORDS | {"contact": hostile, "unit": hostile, "checklist": {"8": hostile}}
    made = dp.record(ledger, PEOPLE, words)
    for name in ("people.md", "people.de.md", "checklist.md"):
        text = made.files[name]
        assert "ask" in text and "<script" not in text and "](javascript" not in text
        assert text.count("\n## 14.") == (name == "checklist.md")


def test_curators_of_other_scripts_have_a_valid_entry():
    words = WORDS | {"name": "统计\u00a0نتایج می\u200cشود", "data_curators": ["東京都"]}
    made = dp.record(dp.open_ledger(":memory:", dp.PureDP(1)), PEOPLE, words)
    entry = registry.check(made.files["registry.yaml"])
    assert entry["url_slug"] == entry["deployment"]["basic"]["publication_date"][:4]
    assert entry["deployment"]["basic"]["name"] == words["name"]


def test_marks_of_unusual_numbers():
    def label(budget, words=(), schema=PEOPLE):
        made = dp.record(dp.open_ledger(":memory:", budget), schema, WORDS | dict(words))
        evidence = json.loads(made.files["evidence.json"])["sentences"]
        return {
            one["place"].removeprefix("label.svg: "): one.get("value")
            for one in evidence
            if "label" in one["place"]
        }

    person = {"unit": "Person"}
    assert label(dp.PureDP(1), person)["Unit"] == "usual" != label(dp.PureDP(1))["Unit"]
    assert label(dp.PureDP(20))["Promise"] == "usual" != label(dp.PureDP(21))["Promise"]
    assert (
        label(dp.ApproxDP(1, "1e-5"))["Promise"]
        == "usual"
        != label(dp.ApproxDP(1, "1e-4"))["Promise"]
    )
    assert label(dp.ApproxDP(1, "1e-9"))["Promise"] != "usual"

    def visits(period):
        unit = dp.People("id", max_rows=2, window=("day", period))
        return dp.Schema("visits", unit, {"day": dp.Date("2024-01-01", "2024-12-31")})

    assert label(dp.PureDP(1), schema=visits("month"))["Unit"] == "usual"
    assert label(dp.PureDP(1), schema=visits("week"))["Unit"] != "usual"
