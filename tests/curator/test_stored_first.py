"""A stored answer is found before its question is planned, and is the same as if it had been planned."""

from __future__ import annotations

import pickle
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest

import discreet as dp
from curator.cases import (
    COUNT,
    MEAN,
    PEOPLE,
    ROWS,
    VISITS,
    WARDS,
    curator,
    opened,
    plan_otherwise,
    told_later,
)
from discreet.answer.provenance import Late, Provenance
from discreet.curator.context import RunControl
from discreet.curator.curator import served
from discreet.ledger import clock
from discreet.plan.planner import RECENT_QUESTIONS, RecentQuestions

ONE = dp.PureDP(1)
VISITED = "SELECT paid, COUNT(*) AS n, AVG(minutes) AS m FROM visits GROUP BY paid"
TOWNS = "SELECT town, COUNT(*) AS n FROM people GROUP BY town"
TABLES = [PEOPLE, VISITS, WARDS]


class Planned(Exception):
    """Raised by a planner that must not be called."""


def forbid_planning(patch):
    def refuse(*_):
        raise Planned

    patch.setattr("discreet.plan.choose.choose", refuse)


def refuse_planning(patch):
    def refuse(*_):
        raise dp.UnsupportedQuery("not any more")

    patch.setattr("discreet.plan.choose.choose", refuse)


class TestARepeatedQuestion:
    @pytest.mark.parametrize("sql", [COUNT, MEAN, VISITED])
    def test_is_answered_without_planning(self, sql):
        asked = curator()
        first = asked.sql(sql, spend=ONE)
        with pytest.MonkeyPatch.context() as patch:
            forbid_planning(patch)
            again = asked.sql(sql, spend=ONE)
            assert again.rows == first.rows and again.receipt == first.receipt
            assert again.interval(0.8) == first.interval(0.8)
            with pytest.raises(Planned):
                asked.sql(sql, spend=dp.PureDP(2))
        assert again == first and asked.spent() == ONE

    @pytest.mark.parametrize("sql", [COUNT, MEAN, VISITED])
    def test_has_its_plan_and_caption_when_somebody_looks(self, sql):
        asked = curator()
        first = asked.sql(sql, spend=ONE)
        again = asked.sql(sql, spend=ONE)
        assert again.plan == first.plan and again.plan is again.plan
        assert str(again.plan) == str(first.plan) and again.plan.events == first.plan.events
        assert again.caption == first.caption.replace("cost", "answered before for")
        assert again.details().endswith(first.details())
        assert again.question == first.question and again.level == first.level
        assert ("at most 3 rows a person" in again.caption) == (sql == VISITED)

    def test_is_answered_without_planning_in_a_release(self):
        asked = curator()
        questions = {"c": COUNT, "m": MEAN}
        first = asked.release(questions, spend=ONE, weights={"c": 2})
        with pytest.MonkeyPatch.context() as patch:
            forbid_planning(patch)
            again = asked.release(questions, spend=ONE, weights={"c": 2})
            assert again["m"].rows == first["m"].rows
        assert again == first and asked.spent() == ONE

    def test_with_selected_keys_has_the_same_intervals(self):
        ledger = opened(dp.ApproxDP(9, "1/1000"))
        asked = curator(ledger)
        spend = dp.ApproxDP(2, "1/100000")
        first = asked.sql(TOWNS, spend=spend)
        again = asked.sql(TOWNS, spend=spend)
        assert again.interval(0.9) == first.interval(0.9) and again == first

    def test_is_the_same_answer_when_little_is_left(self):
        """Today's plan would no longer fit and another would: the answer keeps the plan that made it."""
        ledger = opened(dp.ApproxDP(1, "1/1000"))
        asked = curator(ledger)
        spend = dp.ApproxDP("1/2", "1/100000")
        first = asked.sql(COUNT, spend=spend)
        asked.sql(MEAN, spend=dp.ApproxDP("3/10", "1/100000"))
        again = asked.sql(COUNT, spend=spend)
        assert again == first and again.plan == first.plan

    def test_is_pickled_with_its_plan(self):
        asked = curator()
        first = asked.sql(VISITED, spend=ONE)
        copied = pickle.loads(pickle.dumps(asked.sql(VISITED, spend=ONE)))
        assert copied == first and copied.plan == first.plan and "answered before" in copied.caption

    def test_is_told_with_the_event_of_then_after_the_planner_has_changed(self, monkeypatch):
        asked = curator()
        first = asked.sql(VISITED, spend=ONE)
        plan_otherwise(monkeypatch)
        again = asked.sql(VISITED, spend=ONE)
        assert isinstance(again.plan, Provenance) and str(again.plan) == told_later(first)
        assert again.rows == first.rows and again.interval() == first.interval()


class TestAQuestionThatPlanningRefusesToday:
    """The answer was paid for and released, so it is given again; nothing new is charged or run."""

    @pytest.mark.parametrize("sql", [COUNT, VISITED])
    def test_has_its_stored_answer(self, sql, monkeypatch):
        asked = curator()
        first = asked.sql(sql, spend=ONE)
        refuse_planning(monkeypatch)
        again = asked.sql(sql, spend=ONE)
        assert again.rows == first.rows and again.receipt == first.receipt
        assert isinstance(again.plan, Provenance) and str(again.plan) == told_later(first)
        assert ("at most 3 rows a person" in again.caption) == (sql == VISITED)
        assert again.details().endswith(first.details())
        assert asked.spent() == ONE
        with pytest.raises(dp.UnsupportedQuery):
            asked.sql(sql, spend=dp.PureDP(2))

    @pytest.mark.parametrize(
        ("terms", "why"),
        [
            ({"spend": ONE, "weights": {"nobody": 2}}, "weights name no statistic"),
            ({"spend": ONE, "error": 3}, "exactly one"),
            ({}, "exactly one"),
            ({"spend": ONE, "level": 2}, "level must lie"),
        ],
    )
    def test_is_refused_for_its_terms_all_the_same(self, terms, why):
        asked = curator()
        asked.sql(COUNT, spend=ONE)
        with pytest.raises(dp.InvalidArgument, match=why):
            asked.sql(COUNT, **terms)

    @pytest.mark.parametrize(
        ("terms", "why"),
        [
            ({"spend": ONE, "weights": {"nobody": 2}}, "there is no question nobody"),
            ({"spend": ONE, "error": 3}, "exactly one"),
            ({"error": 30, "weights": {"c": 2}}, "weights divide a spend"),
            ({"error": {"c": 30, "d": 30}}, "there is no question d"),
        ],
    )
    def test_is_refused_for_the_terms_of_a_release(self, terms, why):
        asked = curator()
        asked.release({"c": COUNT}, spend=ONE)
        with pytest.raises(dp.InvalidArgument, match=why):
            asked.release({"c": COUNT}, **terms)

    def test_is_refused_for_its_reason(self):
        asked = curator()
        asked.sql(COUNT, spend=ONE)
        with pytest.raises(dp.InvalidArgument, match="why"):
            asked.sql(COUNT, spend=ONE, why="\0")


class TestOnlyWhatTheAskerHasPaidFor:
    def test_a_colleagues_answer_is_planned_and_charged_like_a_new_question(self):
        ledger = opened()
        ana, bob = (curator(ledger, who=who) for who in ("ana", "bob"))
        first = ana.sql(COUNT, spend=ONE)
        with pytest.MonkeyPatch.context() as patch:
            forbid_planning(patch)
            with pytest.raises(Planned):
                bob.sql(COUNT, spend=ONE)
        answer = bob.sql(COUNT, spend=ONE)
        assert answer.rows == first.rows and "answered before" not in answer.caption
        assert bob.spent() == ONE == ledger.spent()
        with pytest.MonkeyPatch.context() as patch:
            forbid_planning(patch)
            again = bob.sql(COUNT, spend=ONE)
        assert again.receipt == answer.receipt and "answered before" in again.caption

    def test_a_shared_answer_is_found_by_all(self):
        ledger = opened()
        ana, bob = (curator(ledger, who=who, share_questions=True) for who in ("ana", "bob"))
        first = ana.sql(COUNT, spend=ONE)
        with pytest.MonkeyPatch.context() as patch:
            forbid_planning(patch)
            shared = bob.sql(COUNT, spend=ONE)
        assert shared == first and bob.spent() == dp.PureDP(0)

    def test_who_has_no_allowance_any_more_is_refused_as_before(self):
        ledger = opened(allowances={"ana": dp.PureDP(2)})
        ana = curator(ledger, who="ana")
        ana.sql(COUNT, spend=ONE)
        ledger.allow("ana", None)
        with pytest.raises(dp.NotAllowed):
            ana.sql(COUNT, spend=ONE)

    def test_a_closed_person_learns_first_what_planning_refuses(self, monkeypatch):
        ledger = opened(allowances={"ana": dp.PureDP(2)})
        ana = curator(ledger, who="ana")
        ana.sql(COUNT, spend=ONE)
        ledger.allow("ana", None)
        refuse_planning(monkeypatch)
        with pytest.raises(dp.UnsupportedQuery):
            ana.sql(COUNT, spend=ONE)


class TestWhatIsReadOnce:
    def test_a_text_is_parsed_once_for_each_analyst(self, monkeypatch):
        from discreet.plan import planner

        parsed = []
        usual = planner.parse

        def parse(text, *more):
            parsed.append(text)
            return usual(text, *more)

        monkeypatch.setattr(planner, "parse", parse)
        asked = curator(who="ana")
        for _ in range(3):
            asked.sql(COUNT, spend=ONE)
        assert parsed == [COUNT]
        asked.named("bob").sql(COUNT, spend=ONE)
        assert parsed == [COUNT, COUNT]

    def test_a_refused_text_is_refused_again(self):
        asked = curator()
        for _ in range(2):
            with pytest.raises(dp.DiscreetError):
                asked.sql("SELECT nothing FROM people", spend=ONE)

    def test_the_cache_drops_what_was_not_asked_for_longest(self):
        cache = RecentQuestions()
        question = dp.parse_sql(COUNT, {"people": PEOPLE})
        for number in range(RECENT_QUESTIONS):
            cache.keep(str(number), question)
        assert cache.find("0") is question
        cache.keep("new", question)
        assert cache.find("1") is None and cache.find("0") is question

    def test_only_so_many_analysts_are_remembered(self, monkeypatch):
        monkeypatch.setattr("discreet.curator.context.MAX_REMEMBERED", 1)
        asked = curator(who="ana")
        first = asked.sql(COUNT, spend=ONE)
        assert asked.named("bob").sql(COUNT, spend=ONE).rows == first.rows
        assert list(asked.context.recent) == ["ana"]

    def test_a_late_value_is_made_once(self):
        made = []
        late = Late(lambda: made.append(1) or Fraction(1, 2))
        assert late.read() is late.read() and made == [1]


def test_another_store_under_the_same_ledger_finds_the_answer():
    ledger = opened()
    first = curator(ledger).sql(COUNT, spend=ONE)
    other = dp.Curator(dp.Memory(ROWS), TABLES, ledger)
    assert other.sql(COUNT, spend=ONE) == first


def test_an_answer_of_a_colleague_is_held_back_as_long_when_it_is_asked_again(monkeypatch):
    """Else who asks twice in a row would learn from the second wait that somebody had asked before."""
    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    monkeypatch.setattr(clock, "now", lambda: now[0])

    class Slow(dp.Memory):
        def tally(self, tally):
            now[0] += timedelta(seconds=3)
            return super().tally(tally)

    ledger = opened(allowances={"ana": dp.PureDP(9), "bob": dp.PureDP(9)})
    waits = []
    control = RunControl(lambda: None, waits.append)
    ana = dp.Curator(Slow(ROWS), TABLES, ledger, who="ana")
    bob = served(dp.Curator(Slow(ROWS), TABLES, ledger, who="bob"), control)
    ana.sql(COUNT, spend=ONE)
    assert bob.sql(COUNT, spend=ONE).rows == bob.sql(COUNT, spend=ONE).rows
    assert len(waits) == 2 and waits[0] == waits[1] > 2
    now[0] += timedelta(seconds=60)
    bob.sql(COUNT, spend=ONE)
    assert len(waits) == 2 and ledger.spent("bob") == ONE
