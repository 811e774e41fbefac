"""The steward's words: unknown and wrong ones are refused, missing ones stay open in red."""

from __future__ import annotations

import pytest
import yaml

import discreet as dp
from discreet.errors import InvalidArgument
from discreet.record.fields import NOT_STATED
from discreet.record.words import read_words
from record.conftest import PEOPLE, WORDS

QUICK = {"justification", "data_product_sector", "data_curators"}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"intendet_use": "x"}, "intendet_use"),
        ({"intended_use": ""}, "intended_use"),
        ({"intended_use": 3}, "intended_use is text"),
        ({"intended_use": "a\x00b"}, r"control character, U\+0000"),
        ({"intended_use": "a\u202eb"}, r"control character, U\+202E"),
        ({"data_curators": "City"}, "data_curators is a list"),
        ({"data_curators": []}, "data_curators is a list"),
        ({"data_curators": [""]}, "data_curators is text"),
        ({"data_product_sector": "Buses"}, "one of Technology"),
        ({"epsilon": "0.1"}, "epsilon"),
        ({"checklist": {"15": "x"}}, "from 1 to 14"),
    ],
)
def test_refused(words, says):
    with pytest.raises(InvalidArgument, match=says):
        read_words(words)


def test_read_from_a_file(tmp_path):
    path = tmp_path / "words.toml"
    path.write_text(
        'notes = "a"\nlooked_at_data = []\nchecklist = { 14 = "Deleted." }\n', encoding="utf-8"
    )
    assert read_words(path) == {"notes": "a", "looked_at_data": (), "checklist": {"14": "Deleted."}}
    path.write_text("notes =", encoding="utf-8")
    with pytest.raises(InvalidArgument, match="no TOML"):
        read_words(path)
    with pytest.raises(InvalidArgument, match="cannot be read"):
        read_words(tmp_path / "none.toml")


@pytest.mark.parametrize(
    "missing",
    [word if word in QUICK else pytest.param(word, marks=pytest.mark.slow) for word in WORDS],
)
def test_a_missing_word_stays_open_and_lowers_the_tier(missing):
    ledger = dp.open_ledger(":memory:", dp.PureDP(1))
    whole = dp.record(ledger, PEOPLE, WORDS)
    assert whole.tier == 3
    rest = {name: text for name, text in WORDS.items() if name != missing}
    made = dp.record(ledger, PEOPLE, rest)
    assert missing in made.open and missing not in whole.open
    assert made.tier == (2 if missing == "justification" else 1)
    assert f'<li class="open">{missing}</li>' in made.files["index.html"]
    entry = yaml.safe_load(made.files["registry.yaml"])["deployment"]
    found = [section[missing] for section in entry.values() if missing in section]
    if missing == "data_product_sector":
        assert not found
    else:
        assert found[0] in (NOT_STATED, [NOT_STATED])


def test_what_was_looked_at_is_asked_for_and_told():
    ledger = dp.open_ledger(":memory:", dp.PureDP(1))

    def told(words):
        made = dp.record(ledger, PEOPLE, WORDS | words)
        return yaml.safe_load(made.files["registry.yaml"])["deployment"]["dp_variant"][
            "unprotected_quantities"
        ]

    assert f"outside the ledger: {NOT_STATED}" in told({})
    assert "The steward states that nothing was chosen" in told({"looked_at_data": []})
    cap = told({"looked_at_data": ["The cap of 10 rows a day."]})
    assert "without noise: The cap of 10 rows a day." in cap and NOT_STATED not in cap


def test_checklist_answers_close_points():
    ledger = dp.open_ledger(":memory:", dp.PureDP(1))
    page = dp.record(ledger, PEOPLE, WORDS).files["checklist.md"]
    assert page.count(">not answered<") == 5
    page = dp.record(ledger, PEOPLE, WORDS | {"checklist": {"14": "Deleted after a year."}}).files[
        "checklist.md"
    ]
    assert page.count(">not answered<") == 4 and "- Deleted after a year." in page
