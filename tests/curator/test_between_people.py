"""Between people: whether a colleague asked before does not show, unless the steward shares questions."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

import discreet as dp
from curator.cases import COUNT, curator, opened
from discreet.curator import context as standing
from discreet.curator import pay as paying
from discreet.curator.curator import served
from discreet.learn import GaussianNB
from discreet.ledger import verify_export
from discreet.ledger.entry import read_line, seal, write_line
from discreet.query import describe

ONE = dp.PureDP(1)
ALLOWED = {"ana": dp.PureDP(2), "bob": dp.PureDP(2)}


def asked_by(*names, ledger=None, **more):
    """Let people ask the same, one after the other; the last one's curator and answer."""
    office = curator(opened(allowances=ALLOWED) if ledger is None else ledger, **more)
    answers = [office.named(name).sql(COUNT, spend=ONE, why=f"{name}'s reason") for name in names]
    return office.named(names[-1]), answers


def without_numbers(text):
    return re.sub(r"[0-9a-f]{64}|[0-9:.T-]{10,}Z|entry +\d+", "…", text)


class TestAQuestionThatAColleagueAskedBefore:
    def test_looks_and_costs_the_asker_like_a_new_one_and_the_ledger_nothing(self):
        bob, (first, second) = asked_by("ana", "bob")
        alone, (fresh,) = asked_by("bob")
        assert second.rows == first.rows and bob.spent() == bob.left() == ONE == alone.spent()
        assert bob.ledger.spent() == ONE and bob.ledger.verify().charges == 1
        assert second.caption == fresh.caption
        assert without_numbers(second.details()) == without_numbers(fresh.details())
        assert without_numbers(str(second.receipt)) == without_numbers(str(fresh.receipt))
        assert (
            "ana" not in second.receipt.to_json() and second.receipt.number > first.receipt.number
        )
        assert bob.sql(COUNT, spend=ONE, why="once more") == second and bob.left() == ONE

    def test_is_explained_as_if_nobody_had_asked(self):
        office = curator(opened(allowances=ALLOWED))
        before = office.named("bob").explain(COUNT, spend=ONE)
        office.named("ana").sql(COUNT, spend=ONE)
        after = office.named("bob").explain(COUNT, spend=ONE)
        assert (
            str(after) == str(before)
            and not after.stored
            and office.named("ana").explain(COUNT, spend=ONE).stored
        )
        office.named("bob").sql(COUNT, spend=ONE)
        assert office.named("bob").explain(COUNT, spend=ONE).stored

    def test_is_refused_where_a_new_one_would_be(self):
        """Else an empty budget would be a free oracle of what others have asked."""
        ledger = opened(dp.PureDP(2), allowances={"ana": dp.PureDP(2), "bob": dp.PureDP(2)})
        office = curator(ledger)
        office.named("ana").sql(COUNT, spend=ONE)
        office.named("ana").sql(COUNT, spend=dp.PureDP("9/10"))
        told = []
        for sql in (COUNT, "SELECT COUNT(*) AS n FROM people"):
            with pytest.raises(dp.BudgetExceeded) as refused:
                office.named("bob").sql(sql, spend=ONE)
            told.append(str(refused.value))
        assert told[0] == told[1] and office.named("bob").spent() == dp.PureDP(0)
        small = curator(opened(allowances={"ana": ONE, "bob": dp.PureDP("1/2")}))
        small.named("ana").sql(COUNT, spend=ONE)
        with pytest.raises(dp.BudgetExceeded, match="the allowance of bob has no room"):
            small.named("bob").sql(COUNT, spend=ONE)

    def test_takes_as_long_as_it_took_the_first(self, monkeypatch):
        slept = []
        office = curator()
        first = office.named("ana").sql(COUNT, spend=ONE)
        charge, answer = (
            entry for entry in office.ledger.history() if entry.kind in ("charge", "answer")
        )
        took = (paying.read_time(answer.time) - paying.read_time(charge.time)).total_seconds()
        monkeypatch.setattr(standing, "time", SimpleNamespace(sleep=slept.append))
        assert office.named("bob").sql(COUNT, spend=ONE).rows == first.rows
        assert len(slept) == 1 and 0 <= slept[0] <= took
        monkeypatch.setattr(paying.clock, "now", lambda: paying.read_time(charge.time))
        office.named("eve").sql(COUNT, spend=ONE)
        assert slept[1] == pytest.approx(took)

    def test_shows_in_the_history_of_its_asker_as_a_charge_with_no_trace_of_others(self):
        bob, (_, second) = asked_by("ana", "bob")
        (entry,) = bob.history()
        # Ana's own run looks alike: its entry "answer" would tell that she asked first.
        assert [one.kind for one in bob.named("ana").history()] == [entry.kind] == ["charge"]
        assert (entry.kind, entry.refers, entry.who, entry.why) == (
            "charge",
            None,
            "bob",
            "bob's reason",
        )
        assert entry.hash == second.receipt.charge
        # The history has the words of the asker, the receipt the measured part.
        assert bob.history().asked == {entry.number: describe(second.question)}
        assert [one.kind for one in bob.ledger.history()] == ["open", "charge", "answer", "again"]

    def test_so_do_models_and_bounds(self):
        office = curator(opened(dp.ZCDP(9)))
        sql, model = "SELECT age, region FROM people", GaussianNB(target="region", spend=dp.ZCDP(1))
        learned = [office.named(name).learn(sql, model).receipt_ for name in ("ana", "bob")]
        found = [
            office.named(name).suggest_bounds("people", "age", spend=ONE) for name in ("ana", "bob")
        ]
        assert [one.who for one in learned] == ["ana", "bob"] and found[0] == found[1]
        assert (
            office.ledger.spent().rho > 1 and office.ledger.spent() == office.named("bob").spent()
        )


class TestAReceiptOfWhatWasAskedAgain:
    def test_is_proved_by_the_ledger_without_the_first_asker(self, tmp_path):
        ledger = opened(where=tmp_path / "a.ledger")
        _, (first, second) = asked_by("ana", "bob", ledger=ledger)
        for answer in (first, second):
            assert dp.verify_receipt(answer.receipt, answer=answer, ledger=ledger) == answer.receipt

    @pytest.mark.parametrize(
        "lie", [{"who": "ana"}, {"why": "else"}, {"number": 2}, {"price": dp.PureDP(2)}]
    )
    def test_is_refuted_where_it_lies(self, lie):
        bob, (_, second) = asked_by("ana", "bob")
        with pytest.raises(
            dp.ClaimRefuted, match="the ledger says something else than the receipt"
        ):
            dp.verify_receipt(replace(second.receipt, **lie), ledger=bob.ledger)

    @pytest.mark.parametrize(
        "lie",
        [
            {"refers": 1},
            {"who": "ana"},
            {"key": "2:else"},
            {"event": json.loads('{"event": "nothing", "neighbours": "add-remove"}')},
        ],
        ids=lambda lie: next(iter(lie)),
    )
    def test_stands_in_a_chain_that_is_verified(self, lie, tmp_path):
        """An entry that asks again must be of the very charge that somebody else paid for."""
        bob, _ = asked_by("ana", "bob")
        bob.ledger.export(tmp_path / "whole.jsonl")
        assert verify_export(tmp_path / "whole.jsonl").charges == 1
        lines = (tmp_path / "whole.jsonl").read_text().splitlines()
        lines[-1] = write_line(seal(replace(read_line(lines[-1]), **lie)))
        (tmp_path / "forged.jsonl").write_text("\n".join(lines) + "\n")
        with pytest.raises(dp.LedgerCorrupt, match="entry 4"):
            verify_export(tmp_path / "forged.jsonl")


class TestNumbersOfOnesOwn:
    """As a service tells them: as if the ledger had been opened for one person alone."""

    def receipts(self, *names, **more):
        office = served(curator(opened(allowances=ALLOWED), **more))
        told = [office.named(name).sql(COUNT, spend=ONE, why="").receipt for name in names]
        return office, told

    def test_tell_nothing_of_others_and_are_proved_by_the_ledger(self):
        office, told = self.receipts("ana", "bob", "ana")
        assert [one.number for one in told] == [2, 2, 2] and told[0] == told[2]
        for receipt in told:
            assert dp.verify_receipt(receipt.to_json(), ledger=office.ledger) == receipt
        assert [one.number for one in office.named("bob").history()] == [2]
        assert list(office.named("bob").history().asked) == [2]
        small = dp.PureDP("1/9")
        assert office.named("bob").sql(COUNT, spend=small).receipt.number == 3
        assert office.context.numbers.in_ledger("bob", 3) > 4
        assert (
            office.context.numbers.in_ledger("bob", 4)
            == 0
            == office.context.numbers.in_ledger("eve", 2)
        )

    def test_are_not_mistaken_for_those_of_the_ledger(self):
        office, told = self.receipts("ana", "bob")
        plain_, _ = asked_by("bob")
        whole = plain_.sql(COUNT, spend=ONE).receipt
        for lie, ledger in (
            (replace(told[1], numbered=""), office.ledger),
            (replace(told[1], number=4), office.ledger),
            (replace(told[1], number=3), office.ledger),
            (replace(whole, numbered="own", number=3), plain_.ledger),
        ):
            with pytest.raises(dp.ClaimRefuted):
                dp.verify_receipt(lie, ledger=ledger)
        with pytest.raises(dp.ClaimRefuted, match="no receipt of discreet"):
            dp.verify_receipt(replace(whole, numbered="bob"))

    def test_are_the_ledger_s_where_questions_are_shared(self):
        _, told = self.receipts("ana", "bob", share_questions=True)
        assert told[0] == told[1] and not told[0].numbered

    def test_count_what_a_person_sees(self):
        office, _ = self.receipts("ana")
        office.ledger.allow("ana", dp.PureDP(3))
        office.ledger.allow("bob", dp.PureDP(3))
        ana = office.named("ana")
        ana.sql(COUNT, spend=dp.PureDP("1/9"))
        assert [(one.number, one.kind) for one in ana.history()] == [
            (2, "charge"),
            (3, "allow"),
            (4, "charge"),
        ]


def test_a_steward_may_share_questions():
    bob, (first, second) = asked_by("ana", "bob", share_questions=True)
    assert second == first and second.receipt.who == "ana" and bob.spent() == dp.PureDP(0)
    assert bob.explain(COUNT, spend=ONE).stored and len(bob.history()) == 0
    with pytest.raises(dp.InvalidArgument, match="share_questions is True or False"):
        curator(share_questions="yes")


def test_the_ledger_keeps_what_was_asked_in_words_also_of_what_failed(monkeypatch):
    office = curator()
    office.release({"a": "SELECT COUNT(*) AS n FROM people", "b": COUNT}, spend=ONE)
    monkeypatch.setattr(dp.Memory, "tally", lambda *_: 1 / 0)
    with pytest.raises(dp.EngineFailure):
        office.sql("SELECT COUNT(*) AS n FROM people WHERE age > 7", spend=ONE)
    found = office.ledger.history()
    assert (
        found.asked[2].startswith("a: SELECT COUNT(*)") and "\nb: SELECT region" in found.asked[2]
    )
    assert (
        found.asked[4].endswith("WHERE age > 7")
        and "WHERE age > 7" in str(found)
        and "asked" in found._repr_html_()
    )
