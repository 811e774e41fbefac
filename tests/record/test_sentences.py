"""The table of sentences: every language is whole, sentences are short, the promise is said for its case."""

from __future__ import annotations

import re
import string

import pytest

import discreet as dp
from discreet.record.sentences import CHECKLIST, LANGUAGES, sentences_in
from record.conftest import PEOPLE, WORDS

MAX_WORDS = 20


def _fields(text):
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("name", sentences_in("en"))
def test_every_language_has_every_sentence(name):
    assert all(sentences_in(one).keys() == sentences_in("en").keys() for one in LANGUAGES)
    texts = {language: sentences_in(language)[name] for language in LANGUAGES}
    assert len({frozenset(_fields(text)) for text in texts.values()}) == 1, "other numbers"
    assert len(set(texts.values())) == len(texts), "not translated"
    for text in texts.values():
        for sentence in re.split(r"(?<=[.;:]) ", text):
            assert len(sentence.split()) <= MAX_WORDS, sentence


def test_the_checklist_has_fourteen_points():
    assert [point.number for point in CHECKLIST] == list(range(1, 15))
    assert {point.number for point in CHECKLIST if point.asks} == {8, 10, 11, 12, 14}


def _pages(schema, budget, words=(), **terms):
    ledger = dp.open_ledger(":memory:", budget, **terms)
    files = dp.record(ledger, schema, WORDS | dict(words)).files
    return [files[name] for name in LANGUAGES.values()]


def _people(**more):
    return dp.Schema(
        "visits", dp.People("id", max_rows=3, **more), {"day": dp.Date("2024-01-01", "2024-12-31")}
    )


def test_the_odds_are_said_as_the_promise_is():
    for page in _pages(PEOPLE, dp.PureDP(1)):
        assert "26" in page and "74" in page
    english, german = _pages(PEOPLE, dp.PureDP(5))
    assert "does not hide whether you took part" in english and "verbirgt nicht" in german
    assert "of 100" not in english


def test_what_is_protected_is_said():
    row, _ = _pages(PEOPLE, dp.PureDP(1))
    assert "for one row" in row
    device, _ = _pages(PEOPLE, dp.PureDP(1), {"unit": "Device"})
    assert "Device" in device and "for one row" not in device
    month, _ = _pages(_people(window=("day", "month")), dp.PureDP(1))
    assert "in one month" in month
    window, _ = _pages(_people(), dp.PureDP(1), window="week")
    assert "published in one window" in window
    life, _ = _pages(
        _people(), dp.PureDP(1), blocks=dp.Blocks("visits", "day", "week", stays=4),
        neighbours="add-remove",
    )  # fmt: skip
    assert "for all your life" in life


def test_replacing_neighbours_hide_values_and_not_presence():
    schema = dp.Schema("people", dp.Rows(), {"age": dp.Integer(0, 9)}, neighbours="replace")
    english, german = _pages(schema, dp.PureDP(1))
    assert "hold your values" in english and "you are in these data" not in english
    assert "Ihre Werte" in german
