"""Refusals go over the line and come back as the same error."""

from __future__ import annotations

import json

import pytest

import discreet as dp
from discreet import errors
from discreet.engines.base import cancelled, failure
from discreet.wire.reply import refusal_from_json, refusal_to_json, status_of

RAISED = [
    errors.InvalidArgument("level must lie between 0 and 1"),
    errors.SchemaMismatch("people has no column 'agee'"),
    errors.UnsupportedQuery("window functions"),
    errors.UnboundedSensitivity("no bound"),
    errors.NotAllowed("ask a steward"),
    errors.LedgerConflict("busy"),
    errors.LedgerCorrupt("entry 3"),
    errors.ClaimRefuted("the signature"),
]


@pytest.mark.parametrize("refusal", RAISED, ids=lambda refusal: type(refusal).__name__)
def test_the_same_error_comes_out(refusal):
    back = refusal_from_json(json.loads(json.dumps(refusal_to_json(refusal))))
    assert type(back) is type(refusal)
    assert str(back) == str(refusal)


@pytest.mark.parametrize("left", [dp.PureDP("1/3"), dp.ApproxDP(1, "1e-9"), dp.ZCDP("1/8"), "nothing"])
def test_a_budget_says_what_was_asked_and_what_is_left_exactly(left):
    refusal = errors.BudgetExceeded("no", asked=dp.PureDP(1), left=left)
    back = refusal_from_json(json.loads(json.dumps(refusal_to_json(refusal))))
    assert isinstance(back, errors.BudgetExceeded)
    assert (str(back), back.asked, back.left) == ("no", dp.PureDP(1), left)


@pytest.mark.parametrize("raised", [errors.EngineFailure("could not cast 'Ada Lovelace' to integer"), cancelled()])
def test_a_failure_of_the_store_is_one_constant_word(raised):
    assert refusal_to_json(raised) == {"error": {"kind": "EngineFailure", "message": str(failure())}}


def test_what_breaks_is_one_constant_word():
    assert "not shown" in refusal_to_json(None)["error"]["message"]


def test_a_subclass_is_named_by_what_clients_know():
    class Closer(errors.NotAllowed):
        pass

    assert refusal_to_json(Closer("no"))["error"]["kind"] == "NotAllowed"


def test_a_kind_without_a_name_of_its_own_is_a_bad_request():
    assert refusal_to_json(errors.DiscreetError("no"))["error"]["kind"] == "InvalidArgument"


@pytest.mark.parametrize("data", [None, [], {}, {"error": 1}, {"error": {"kind": "Unheard", "message": "of"}}])
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
        (errors.LedgerCorrupt("x"), 500),
    ],
)
def test_every_refusal_has_its_status(refusal, status):
    assert status_of(refusal) == status
