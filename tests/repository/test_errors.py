"""Everything discreet refuses is one tree, and every refusal survives a pickle."""

from __future__ import annotations

import pickle

import pytest

import discreet as dp
from discreet import errors

NAMES = [name for name in errors.__all__ if name != "DiscreetError"]


@pytest.mark.parametrize("name", NAMES)
def test_every_error_is_a_discreet_error_and_exported_at_the_top(name):
    assert issubclass(getattr(errors, name), errors.DiscreetError)
    assert getattr(dp, name) is getattr(errors, name)


def test_an_invalid_argument_is_a_value_error():
    assert issubclass(errors.InvalidArgument, ValueError)


def test_unbounded_sensitivity_is_an_unsupported_query():
    assert issubclass(errors.UnboundedSensitivity, errors.UnsupportedQuery)


def test_budget_exceeded_says_what_was_asked_and_what_is_left_also_after_a_pickle():
    refusal = pickle.loads(
        pickle.dumps(errors.BudgetExceeded("no", asked=dp.PureDP(1), left=dp.PureDP("1/2")))
    )
    assert (str(refusal), refusal.asked, refusal.left) == ("no", dp.PureDP(1), dp.PureDP("1/2"))


def test_unreachable_says_what_may_have_been_spent_also_after_a_pickle():
    refusal = pickle.loads(pickle.dumps(errors.Unreachable("gone", spent=dp.PureDP(1), key="k")))
    assert (str(refusal), refusal.spent, refusal.key) == ("gone", dp.PureDP(1), "k")


def test_service_unavailable_spent_nothing_also_after_a_pickle():
    refusal = pickle.loads(pickle.dumps(errors.ServiceUnavailable("away")))
    assert (type(refusal), str(refusal), refusal.spent) == (errors.ServiceUnavailable, "away", None)


def test_what_0_1_0_documents_is_still_caught():
    """A ledger that cannot be used was a LedgerConflict, a service that cannot be reached an Unreachable."""
    assert issubclass(errors.LedgerUnavailable, errors.LedgerConflict)
    assert issubclass(errors.ServiceUnavailable, errors.Unreachable)


@pytest.mark.parametrize("name", errors.__all__)
def test_the_drawn_tree_shows_every_error(name):
    assert name in errors.__doc__
