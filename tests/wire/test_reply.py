"""Refusals go over the line and come back as the same error."""

from __future__ import annotations

import json

import pytest

import discreet as dp
from discreet import errors
from discreet.engines.base import cancelled, failure
from discreet.wire.json_text import write_json
from discreet.wire.reply import (
    answer_reply,
    plain_json,
    refusal_from_json,
    refusal_to_json,
    status_of,
)
from discreet.wire.verbs.question import explanation_reply, plan_reply

RAISED = [
    errors.InvalidArgument("level must lie between 0 and 1"),
    errors.SchemaMismatch("people has no column 'agee'"),
    errors.UnsupportedQuery("window functions"),
    errors.UnboundedSensitivity("no bound"),
    errors.NotAllowed("ask a steward"),
    errors.LedgerConflict("busy"),
    errors.LedgerUnavailable("full"),
    errors.ServiceUnavailable("away"),
    errors.LedgerCorrupt("entry 3"),
    errors.ClaimRefuted("the signature"),
]


@pytest.mark.parametrize("refusal", RAISED, ids=lambda refusal: type(refusal).__name__)
def test_the_same_error_comes_out(refusal):
    back = refusal_from_json(json.loads(json.dumps(refusal_to_json(refusal))))
    assert type(back) is type(refusal)
    assert str(back) == str(refusal)


@pytest.mark.parametrize(
    "left", [dp.PureDP("1/3"), dp.ApproxDP(1, "1e-9"), dp.ZCDP("1/8"), "nothing"]
)
def test_a_budget_says_what_was_asked_and_what_is_left_exactly(left):
    refusal = errors.BudgetExceeded("no", asked=dp.PureDP(1), left=left)
    back = refusal_from_json(json.loads(json.dumps(refusal_to_json(refusal))))
    assert isinstance(back, errors.BudgetExceeded)
    assert (str(back), back.asked, back.left) == ("no", dp.PureDP(1), left)


def test_a_failure_of_the_store_is_one_constant_word():
    raised = errors.EngineFailure("could not cast 'Ada Lovelace' to integer")
    assert refusal_to_json(raised) == {
        "error": {"kind": "EngineFailure", "message": str(failure())}
    }


def test_a_query_that_was_stopped_is_one_constant_word_of_its_own():
    raised = errors.Cancelled("stopped at 'Ada Lovelace'")
    assert refusal_to_json(raised) == {"error": {"kind": "Cancelled", "message": str(cancelled())}}
    assert type(refusal_from_json(refusal_to_json(raised))) is errors.Cancelled


def test_what_breaks_is_one_constant_word():
    assert "not shown" in refusal_to_json(None)["error"]["message"]


def test_a_subclass_is_named_by_what_clients_know():
    class Closer(errors.NotAllowed):
        pass

    assert refusal_to_json(Closer("no"))["error"]["kind"] == "NotAllowed"


def test_a_kind_without_a_name_of_its_own_is_a_bad_request():
    assert refusal_to_json(errors.DiscreetError("no"))["error"]["kind"] == "InvalidArgument"


@pytest.mark.parametrize(
    "data", [None, [], {}, {"error": 1}, {"error": {"kind": "Unheard", "message": "of"}}]
)
def test_words_that_no_client_knows_are_an_engine_failure(data):
    assert type(refusal_from_json(data)) is errors.EngineFailure


@pytest.mark.parametrize(
    ("refusal", "status"),
    [
        (errors.InvalidArgument("x"), 422),
        (errors.UnboundedSensitivity("x"), 422),
        (errors.SchemaMismatch("x"), 422),
        (errors.BudgetExceeded("x", asked=1, left=0), 409),
        (errors.NotAllowed("x"), 403),
        (errors.EngineFailure("x"), 502),
        (errors.LedgerConflict("x"), 503),
        (errors.LedgerUnavailable("x"), 503),
        (errors.ServiceUnavailable("x"), 503),
        (errors.LedgerCorrupt("x"), 500),
    ],
)
def test_every_refusal_has_its_status(refusal, status):
    assert status_of(refusal) == status


class TestAnswers:
    @pytest.fixture(scope="class")
    @classmethod
    def curator(cls):
        visits = dp.Schema(
            "visits",
            dp.Rows(),
            {"day": dp.Date("2024-01-01", "2024-12-31"), "paid": dp.Real(0, 10, step=1)},
        )
        rows = [{"day": f"2024-0{1 + k % 9}-15", "paid": k % 10} for k in range(200)]
        return dp.Curator(
            dp.Memory({"visits": rows}), [visits], dp.open_ledger(":memory:", dp.PureDP(1000))
        )

    def test_days_are_written_in_iso_form(self, curator):
        found = answer_reply(curator.sql("SELECT MEDIAN(day) AS d FROM visits", dp.PureDP(50)), 0.9)
        assert found["rows"][0][0].startswith("2024-")
        assert all(end.startswith("2024-") for end in found["intervals"][0][0])
        assert found["level"] == "0.9"

    def test_every_reply_is_plain_json(self, curator):
        for sql in (
            "SELECT COUNT(*) AS n, SUM(paid) AS s, AVG(paid) AS m, STDDEV(paid) AS d FROM visits WHERE paid > 11",
            "SELECT SUM(paid) / COUNT(*) AS q FROM visits WHERE paid > 11",
        ):
            write_json(answer_reply(curator.sql(sql, dp.PureDP("1/100"))))
            write_json(explanation_reply(curator.explain(sql, dp.PureDP("1/100"))))
            write_json(plan_reply(curator.plan(sql, dp.PureDP("1/100"))))

    def test_what_has_no_end_is_null(self):
        assert plain_json({"a": [float("inf"), dp.PureDP("1/3")]}) == {
            "a": [None, {"epsilon": "1/3"}]
        }
