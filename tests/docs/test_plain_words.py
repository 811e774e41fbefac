"""Words of the documentation and of messages: short sentences, easy to read by Flesch's formula."""

from __future__ import annotations

import re
import runpy
from datetime import date
from pathlib import Path

import pytest

import discreet as dp
from support.reading import ease_of, paragraphs_of, sentences_of

ROOT = Path(__file__).parents[2]
MIN_EASE = 60
MAX_SENTENCE = 25
MAX_CAPTION = 20
NAVIGATION = re.findall(
    r"([\w./-]+\.md)\s*$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE
)
PAGES = ["README.md", *(f"docs/{page}" for page in NAVIGATION[:18])]
"""README and the first pages of the site, in the order of its menu."""


def test_the_first_pages_are_plain():
    every: list[str] = []
    for page in PAGES:
        texts = paragraphs_of((ROOT / page).read_text(encoding="utf-8"))
        every += texts
        print(f"{page}: {ease_of(texts):.0f}")  # noqa: T201 - seen with pytest -s
        assert ease_of(texts) >= MIN_EASE, page
        long = [one for one in sentences_of(texts) if len(one.split()) > MAX_SENTENCE]
        assert not long, page
    print(f"all: {ease_of(every):.1f} over {sum(len(one.split()) for one in every)} words")  # noqa: T201


@pytest.mark.parametrize("page", PAGES[2:])
def test_a_page_says_first_for_whom_it_is(page):
    first = paragraphs_of((ROOT / page).read_text(encoding="utf-8"))[0]
    assert first.startswith("For "), first


SEX = "SELECT sex, COUNT(*) AS n, AVG(cost) AS cost FROM visits GROUP BY sex"
WORDS = "SELECT word, COUNT(*) AS n FROM visits GROUP BY word"
ANSWERED = [
    ("SELECT COUNT(*) AS n FROM visits", {"spend": dp.PureDP(1)}),
    ("SELECT COUNT(*) AS n FROM visits", {"spend": dp.PureDP(1)}),
    (SEX, {"spend": dp.PureDP(1)}),
    (WORDS, {"spend": dp.ApproxDP(1, "1e-6")}),
    ("SELECT MEDIAN(cost) AS m FROM rows", {"error": 200}),
    ("SELECT MODE(sex) AS m FROM rows", {"spend": dp.PureDP(1)}),
    ("SELECT sex, COUNT(*) AS n FROM rows GROUP BY CUBE (sex)", {"spend": dp.PureDP(1)}),
    ("SELECT COUNT(*) AS n FROM visits", {"spend": dp.PureDP("1/2"), "nonnegative": True}),
    (
        "SELECT age, COUNT(*) AS n FROM rows GROUP BY age ORDER BY n DESC LIMIT 3",
        {"spend": dp.PureDP(1)},
    ),
]
REFUSED = [
    ("SELECT COUNT(*) AS n FROM rows", {"spend": dp.PureDP(100)}),
    ("SELECT * FROM rows", {}),
    ("SELECT uid, cost FROM visits", {}),
    ("SELECT CUNT(*) FROM rows", {}),
    ("SELECT COUNT(*) AS n FROM peple", {}),
    ("SELECT AVG(agee) AS a FROM rows", {}),
    ("SELECT sex, cost FROM rows GROUP BY sex", {}),
    ("SELECT COUNT(*) AS n FROM rows WHERE", {}),
    ("UPDATE rows SET cost = 1", {}),
    ("SELECT COUNT(*) AS n FROM rows; SELECT 1", {}),
    ("SELECT COUNT(*) AS n FROM rows JOIN visits ON rows.age = visits.age", {}),
    ("SELECT COUNT(*) AS n FROM rows WHERE cost > (SELECT AVG(cost) FROM rows)", {}),
    ("SELECT age, COUNT(*) AS n FROM rows GROUP BY age LIMIT -1", {}),
    ("SELECT SUM(word) AS s FROM rows", {}),
    ("SELECT COUNT(*) AS n FROM rows WHERE age = 'x'", {}),
    ("SELECT COUNT(*) AS n FROM rows WHERE day > NOW()", {}),
    (WORDS, {"spend": dp.PureDP(1)}),
    ("SELECT COUNT(*) AS n FROM rows", {"spend": None}),
    ("SELECT COUNT(*) AS n FROM rows", {"spend": -1}),
    ("SELECT COUNT(*) AS n FROM rows", {"level": 2}),
]


def messages():
    """Return what people read most: captions, and details with refusals, by really asking."""
    columns = {
        "sex": dp.Category(["f", "m"]),
        "age": dp.Integer(0, 120),
        "cost": dp.Real(0, 1000, default=0),
        "word": dp.Text(20),
        "day": dp.Date("2024-01-01", "2024-12-31"),
    }
    rows = [
        {"uid": k % 80, "sex": "fmx"[k % 3], "age": k % 90, "cost": 3.0 * k, "word": "ab"[k % 2]}
        | {"day": date(2024, 1, 1)}
        for k in range(240)
    ]
    units = {"rows": dp.Rows(), "visits": dp.People("uid", max_rows=2)}
    schemas = [dp.Schema(name, unit, columns) for name, unit in units.items()]
    ledger = dp.open_ledger(":memory:", dp.ApproxDP(50, "1e-4"))
    curator = dp.Curator(dp.Memory({"rows": rows, "visits": rows}), schemas, ledger)
    captions, texts = [], []
    for sql, terms in ANSWERED:
        answer = curator.sql(sql, **terms)
        captions.append(answer.caption)
        texts += answer.details().splitlines()
        texts += curator.plan(sql, **terms).warnings
    for sql, terms in REFUSED:
        with pytest.raises(dp.DiscreetError) as refused:
            curator.sql(sql, **{"spend": dp.PureDP(1), **terms})
        texts.append(str(refused.value))
    return captions, list(dict.fromkeys(texts))


def test_captions_and_messages_are_plain():
    captions, texts = messages()
    assert len(set(captions)) + len(texts) >= 40
    assert all(len(caption.split()) <= MAX_CAPTION for caption in captions)
    long = [
        part
        for text in texts
        for part in re.split(r"; |: ", text)
        if len(part.split()) > MAX_SENTENCE
    ]
    assert not long
    ease = ease_of([*captions, *texts])
    print(f"captions and messages: {ease:.1f} over {len(captions) + len(texts)} texts")  # noqa: T201
    assert ease >= MIN_EASE


def test_the_measure_of_sentences_sees_a_long_one():
    short = "One sentence of a list. " * 3
    long = " ".join(["word"] * (MAX_SENTENCE + 1))
    page = f"# A head\n\n{short}\n\n- `code` {long}.\n\n```\n{long} {long}\n```\n\n| {long} |\n"
    found = [one for one in sentences_of(paragraphs_of(page)) if len(one.split()) > MAX_SENTENCE]
    assert len(found) == 1 and found[0].startswith("it word")


def test_the_search_of_the_site_is_checked():
    site = runpy.run_path(str(ROOT / "docs" / "site" / "search.py"))
    entries = [
        {"location": f"{page}#x", "title": f"About {words}"}
        for words, page in site["FOUND"].items()
    ]
    assert site["missed"](entries) == []
    assert site["missed"](entries[1:]) == ["docker"]


def test_the_look_of_the_site_is_that_of_the_pages():
    style = runpy.run_path(str(ROOT / "docs" / "site" / "look.py"))["stylesheet"]()
    light, _, dark = style.partition("[data-md-color-scheme=slate]")
    assert "--accent: #0f5b6d" in light and "--serif:" in light and "--accent: #74c6d6" in dark
    assert "url(" not in style and "@import" not in style
