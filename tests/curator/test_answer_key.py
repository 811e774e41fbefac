"""Keys: equal for whatever means the same, whoever plans it; different where an answer would mean something else."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from curator.cases import COUNT, MEAN, PEOPLE, curator, plan_otherwise, told_later
from discreet.curator.answer_key import key_of as answer_key_of
from discreet.curator.answer_key import questions_of
from discreet.ledger import failpoints as steps
from discreet.plan.asked.terms import Terms

MEDIAN = "SELECT MEDIAN(age) AS m FROM people"
SUM = "SELECT SUM(age) AS s FROM people"


def key_of(plans, terms):
    return answer_key_of(questions_of(plans), terms).text


def key(question, **how):
    """The key under which a question would be stored."""
    asked = curator()
    planned = {
        name: how[name] for name in ("spend", "error", "weights", "size", "level") if name in how
    }
    found = asked.plan(question, **planned)
    plans = {"": found} if isinstance(question, str) else dict(found.plans)
    return key_of(plans, Terms(**{name: how[name] for name in how}))


ONE = {"spend": dp.PureDP(1)}
SAME = [
    (COUNT, ONE, {"spend": dp.PureDP("2/2")}, "an equal spend"),
    (COUNT, ONE, {**ONE, "level": 0.5}, "a count has intervals at any level"),
    (COUNT, ONE, {**ONE, "size": 7}, "no error of a count depends on the number of rows"),
    (COUNT, ONE, {**ONE, "weights": {"n": 3}}, "there is one statistic"),
    (MEAN, ONE, {**ONE, "weights": {"n": 2, "income": 2}}, "equal weights"),
    (
        MEAN,
        {**ONE, "weights": {"n": 1, "income": 3}},
        {**ONE, "weights": {"n": "1/3"}},
        "weights in proportion",
    ),
    (MEDIAN, ONE, {**ONE, "nonnegative": True}, "no count is moved"),
    (COUNT, ONE, {**ONE, "intervals": False}, "a count has its interval for nothing"),
    (COUNT, {"error": 20}, {"error": {"n": "20"}}, "one error for all"),
    (
        {"a": COUNT, "b": SUM},
        ONE,
        {**ONE, "weights": {"a": 5, "b": 5}},
        "equal weights of questions",
    ),
]
OTHER = [
    (COUNT, ONE, {"spend": dp.PureDP(2)}, "a spend"),
    (COUNT, {"spend": dp.ApproxDP(1, 0)}, {"spend": dp.ApproxDP(1, "1e-9")}, "a delta"),
    (COUNT, ONE, {**ONE, "nonnegative": True}, "a count is moved to 0"),
    (MEDIAN, ONE, {**ONE, "level": 0.9}, "a quantile's interval is drawn at a level"),
    (MEDIAN, ONE, {**ONE, "intervals": False}, "a quantile without an interval"),
    (COUNT, {"error": 20}, {"error": 20, "level": 0.9}, "an error holds at a level"),
    (COUNT, {"error": 20}, {"error": 21}, "an error"),
    (MEAN, ONE, {**ONE, "weights": {"n": 2}}, "a weight"),
    (MEAN, ONE, {**ONE, "size": 10}, "a mean is balanced for a number of rows"),
    ({"a": COUNT, "b": SUM}, ONE, {**ONE, "weights": {"a": 2}}, "a weight of a question"),
    (
        {"a": COUNT, "b": SUM},
        {"error": 20},
        {"error": {"a": 20, "b": 21}},
        "an error of a question",
    ),
]


class TestAKey:
    @pytest.mark.parametrize(
        ("question", "one", "other", "why"), SAME, ids=[case[3] for case in SAME]
    )
    def test_is_the_same_for_what_means_the_same(self, question, one, other, why):
        assert key(question, **one) == key(question, **other)

    @pytest.mark.parametrize(
        ("question", "one", "other", "why"), OTHER, ids=[case[3] for case in OTHER]
    )
    def test_tells_apart_what_means_something_else(self, question, one, other, why):
        assert key(question, **one) != key(question, **other)

    def test_tells_questions_names_and_versions_apart(self):
        keys = {
            key(COUNT, **ONE),
            key(MEAN, **ONE),
            key({"a": COUNT}, **ONE),
            key({"b": COUNT}, **ONE),
        }
        newer = dp.Schema("people", PEOPLE.unit, PEOPLE.columns, version="2")
        plan = curator(schemas=[newer]).plan(COUNT, **ONE)
        assert len(keys | {key_of({"": plan}, Terms(**ONE))}) == 5

    def test_does_not_depend_on_the_order_of_the_questions(self):
        assert key({"a": COUNT, "b": SUM}, **ONE) == key({"b": SUM, "a": COUNT}, **ONE)

    def test_says_its_format(self):
        """The number of the meaning, the measured part, and the parts by name with their terms."""
        prefix, meaning, measured, asked = key(COUNT, **ONE).split(":")
        assert (prefix, meaning, len(measured), len(asked)) == ("2", "m2", 64, 64)

    def test_is_for_ever(self):
        """Ledgers hold keys: this very text must come out of every later release."""
        plan = curator().plan(COUNT, **ONE)
        found = answer_key_of(questions_of({"": plan}), Terms(**ONE))
        start = "2:m2:d8e499e09aa0530112120bc234d6ae723b7f88ca02c6f2e826015eaaeb7c6791"
        assert (
            found.text
            == f"{start}:07837d7511c11ccd90118f056ca963d5d8620918aa79f56caff4aa4325542dad"
        )
        third = "2cc350fc8211551b34c06c8c73b8fd2f6923749f4bdb043b6430616d4f651972"
        assert found.spelled == f"{start}:{third}"

    def test_knows_the_key_of_the_meaning_before(self):
        plan = curator().plan(COUNT, **ONE)
        former = answer_key_of(questions_of({"": plan}), Terms(**ONE)).former
        assert former == "2:60f39c30f1e846d1b6c276edde9451b287f269da7ff44d03377124dbc848d19c"

    def test_is_the_same_for_other_words(self):
        """Aliases, order and post-processing are not measured; another condition is."""
        base = "SELECT region, COUNT(*) AS n FROM people WHERE age > 30 GROUP BY region"
        words = [
            base,
            "SELECT COUNT(*) AS m, region FROM people WHERE age >= 31 GROUP BY region ORDER BY m",
            base.replace("GROUP BY region", "GROUP BY region HAVING n > 5 LIMIT 1"),
        ]
        assert len({key(one, **ONE) for one in words}) == 1
        assert key(base.replace("30", "31"), **ONE).split(":")[2] != key(base, **ONE).split(":")[2]

    @settings(max_examples=20, deadline=None)
    @given(
        parts=st.lists(st.fractions(Fraction(1, 9), 9), min_size=2, max_size=2),
        scale=st.fractions(Fraction(1, 9), 9),
    )
    def test_knows_weights_by_their_proportion(self, parts, scale):
        first, second = ({"n": parts[0] * s, "income": parts[1] * s} for s in (Fraction(1), scale))
        assert key(MEAN, **ONE, weights=first) == key(MEAN, **ONE, weights=second)


class TestAStoredAnswer:
    """It is found by whoever asks the same on the same terms, however it would be planned now."""

    def test_is_given_at_another_level_free_of_charge(self):
        asked = curator()
        first, second = (asked.sql(MEAN, spend=dp.PureDP(1), level=level) for level in (0.95, 0.5))
        assert asked.spent() == dp.PureDP(1) and first.interval(0.5) == second.interval(0.5)
        assert "at 50 %" in str(second) and first.receipt == second.receipt

    def test_is_given_after_the_planner_has_changed(self, monkeypatch):
        asked = curator()
        first = asked.release({"m": MEAN, "c": COUNT}, spend=dp.PureDP(1), weights={"m": 2})
        plan_otherwise(monkeypatch)
        again = asked.release({"c": COUNT, "m": MEAN}, spend=dp.PureDP(1), weights={"m": 2})
        assert (
            asked.spent() == dp.PureDP(1)
            and asked.plan(MEAN, dp.PureDP(1)).events != first["m"].plan.events
        )
        for name in ("c", "m"):
            assert again[name].rows == first[name].rows and again[name].interval(0.7) == first[
                name
            ].interval(0.7)
            assert again[name].receipt == first[name].receipt
            assert dp.verify_receipt(again[name].receipt, answer=again[name], ledger=asked.ledger)
        assert (
            str(again["m"].plan) == told_later(first["m"])
            and str(again["m"])
            and again["m"].plan.question == first["m"].plan.question
        )
        assert asked.explain(MEAN, dp.PureDP(2)).stored is False

    def test_is_not_run_under_a_charge_for_other_noise(self, monkeypatch):
        """A pending charge pays for its own event; a planner that has changed since must charge its own."""
        asked = curator()

        def die(step):
            if step == "run:before":
                raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr(steps, "passed", die)
            with pytest.raises(KeyboardInterrupt):
                asked.sql(MEAN, spend=dp.PureDP(1))
        plan_otherwise(monkeypatch)
        answer = asked.sql(MEAN, spend=dp.PureDP(1))
        assert (
            asked.spent() == dp.PureDP(2)
            and answer.receipt.event != asked.ledger.history()[1].event
        )
        assert asked.ledger.verify().pending == 1

    def test_states_its_terms_and_its_plan(self):
        asked = curator()
        answer = asked.sql(MEAN, spend=dp.PureDP(1), weights={"n": 3})
        body = json.loads(asked.ledger.answer(answer.receipt.stored_as)[1])
        assert (body["body"], body["meaning"]) == (4, 2)
        # By the names of the measured part, in which the statistics are in order of their text.
        assert body["terms"]["weights"] == {"s0": "3/4", "s1": "1/4"}
        assert body["asked"][""]["plan"] == told_later(answer)
        assert body["tables"] == {"people": "1"}
