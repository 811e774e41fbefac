"""Answers of an earlier meaning: given again only where they counted what the question counts now."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import discreet as dp
from discreet.arithmetic.canonical import hash_json
from discreet.curator import answer_key
from discreet.curator import curator as curator_module
from discreet.curator.answer_key import same_target
from discreet.privacy.events.json import measure_to_json
from discreet.query.bounds import check
from discreet.query.bounds.check import CheckedQuestion

COLUMNS = {
    "a": dp.Category(["x", "y"]),
    "b": dp.Category(["p", "q"], default="p"),
    "t": dp.Text(9),
    "n": dp.Integer(0, 9),
}
ROWS = dp.Schema("v", dp.Rows(), COLUMNS)
PEOPLE = dp.Schema("v", dp.People("id", max_rows=3), COLUMNS)
CAPPED = dp.Schema("v", dp.People("id", max_rows=3, max_groups=2), COLUMNS)
USERS = dp.Schema("u", dp.People("id", max_rows=2), {"age": dp.Integer(0, 9, default=0)})
TOTAL = "SELECT COUNT(*) AS n FROM v"
JOINED = "SELECT COUNT(*) AS n FROM v JOIN u ON v.id = u.id"
"""Both sides may have several rows of a person, so that the join truncates them first."""


def by(keys):
    return f"SELECT COUNT(*) AS n FROM v GROUP BY {keys}"


@pytest.mark.parametrize(
    ("schema", "texts", "same"),
    [
        (ROWS, [TOTAL], True),
        (ROWS, [by("a")], True),
        (ROWS, [by("t")], True),
        (ROWS, [by("CUBE (b)")], True),
        (ROWS, [by("CUBE (a)")], False),
        (ROWS, [by("GROUPING SETS ((a), (a, b))")], True),
        (ROWS, [by("b"), TOTAL], True),
        (ROWS, [by("a"), TOTAL], False),
        (PEOPLE, [TOTAL], True),
        (PEOPLE, [by("b")], True),
        (PEOPLE, [by("a")], False),
        (PEOPLE, [by("t")], False),
        (PEOPLE, [by("b"), TOTAL], True),
        (CAPPED, [by("b")], False),
        (PEOPLE, [JOINED], False),
        (ROWS, ["SELECT MEDIAN(n) AS m FROM v"], True),
        (PEOPLE, ["SELECT MEDIAN(n) AS m FROM v"], False),
        (PEOPLE, ["SELECT MEDIAN(COALESCE(n, 0)) AS m FROM v"], True),
    ],
)
def test_what_is_proved_to_be_the_same(schema, texts, same):
    parsed = {
        str(at): CheckedQuestion(dp.parse_sql(text, {"v": schema, "u": USERS}))
        for at, text in enumerate(texts)
    }
    assert same_target(parsed) is same


@pytest.mark.parametrize(
    "asked",
    [
        "SELECT a, b, COUNT(*) AS n FROM v GROUP BY CUBE (a, b)",
        dp.Table(ROWS).hierarchy({"half": dp.col("n") // 5, "n": "n"}),
    ],
)
def test_marks_of_a_question_are_worked_out_once(asked, monkeypatch):
    """Post-processing, plan and the proof about earlier answers share them."""
    seen = []
    marked_question = check.marked_question

    def counted(question, public_values):
        seen.append(question)
        return marked_question(question, public_values)

    monkeypatch.setattr(check, "marked_question", counted)
    store = dp.Memory({"v": [{"a": "x", "b": "p", "t": "t", "n": 1}]})
    curator = dp.Curator(store, [ROWS], dp.open_ledger(":memory:", dp.PureDP(9)))
    ask = curator.sql if isinstance(asked, str) else curator.ask
    ask(asked, spend=dp.PureDP(1), whole=True)
    assert len(seen) == 1


def test_a_colleague_is_not_given_what_another_release_stored(tmp_path):
    """Its key, receipt and price would show that somebody asked before; who asked is given it all the same."""
    schema = dp.Schema("v", dp.Rows(), COLUMNS)
    path = tmp_path / "old.ledger"
    store = dp.Memory({"v": [dict.fromkeys(COLUMNS, 1)] * 50})
    with dp.open_ledger(path, dp.PureDP(10)) as ledger:
        ana = dp.Curator(store, [schema], ledger, who="ana")
        key_text = answer_key.key_of
        with pytest.MonkeyPatch.context() as patch:
            # The key of the second format, as the release before wrote it.
            patch.setattr(curator_module, "key_of", lambda *a: _former(key_text(*a)))
            first = ana.sql(TOTAL, spend=1)
        assert ana.sql(TOTAL, spend=1).rows == first.rows and ledger.spent() == dp.PureDP(1)
        bob = ana.named("bob").sql(TOTAL, spend=1)
        assert ledger.spent() == dp.PureDP(2)
        assert bob.receipt.stored_as.startswith("2:m2:")


def _former(key):
    return replace(key, text=key.former)


@pytest.mark.parametrize(("schema", "counts_anew"), [(ROWS, False), (PEOPLE, True)])
def test_models_and_bounds_of_people_have_keys_of_their_meaning(schema, counts_anew):
    """Rows without a label or value came to count among those of their person, and only of people."""
    rows = [{"id": at, "a": "xy"[at % 2], "b": "p", "t": "w", "n": at % 10} for at in range(60)]
    with dp.open_ledger(":memory:", dp.ApproxDP(100, "1e-3")) as ledger:
        curator = dp.Curator(dp.Memory({"v": rows}), [schema], ledger)
        curator.suggest_bounds("v", "n", dp.PureDP(1))
        [bounds] = ledger.history(last=1, kinds=("charge",))
        spend = measure_to_json(dp.PureDP(1))
        former = hash_json({"key": 2, "bounds": bounds.question, "spend": spend})
        assert (bounds.key == f"2:{former}") is not counts_anew
        model = dp.learn.GaussianNB(target="a")
        curator.learn("SELECT a, n FROM v", model, spend=dp.ApproxDP(1, "1e-5"))
        [trained] = ledger.history(last=1, kinds=("charge",))
        terms = json.loads(ledger.answer(trained.key)[1])["terms"]
        assert ("meaning" in terms) is counts_anew
