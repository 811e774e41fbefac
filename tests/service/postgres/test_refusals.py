"""Every error has its SQLSTATE; what a store or a bug says never leaves."""

from __future__ import annotations

import pytest

import discreet as dp
from discreet.errors import ServiceUnavailable
from discreet.service.http.rate_limit import TooMany
from discreet.service.jobs.planning_pool import WorkerFailed
from discreet.service.postgres.refusals import WireError, wire_error


@pytest.mark.parametrize(
    ("problem", "sqlstate"),
    [
        (dp.BudgetExceeded("too much", asked=dp.PureDP(2), left=dp.PureDP(1)), "53400"),
        (dp.UnsupportedQuery("no"), "0A000"),
        (dp.UnboundedSensitivity("no"), "0A000"),
        (dp.SchemaMismatch("there is no table 'x'; there is y"), "42P01"),
        (dp.SchemaMismatch("there is no column 'x' here; there are y"), "42703"),
        (dp.InvalidArgument("no"), "22023"),
        (dp.NotAllowed("no"), "42501"),
        (dp.LedgerConflict("busy"), "40001"),
        (dp.LedgerUnavailable("away"), "40001"),
        (ServiceUnavailable("away"), "40001"),
        (dp.TooSlow("slow"), "57014"),
        (dp.Cancelled(), "57014"),
        (dp.EngineFailure("row 7 has age 43"), "58000"),
        (TooMany(3), "53300"),
        (WorkerFailed("plan.py:3"), "XX000"),
        (KeyError("age 43"), "XX000"),
        (WireError("08P01", "as it is"), "08P01"),
    ],
)
def test_every_error_has_its_sqlstate(problem, sqlstate):
    error = wire_error(problem)
    assert error.sqlstate == sqlstate
    assert "43" not in error.words + error.hint


def test_the_last_part_is_the_hint():
    error = wire_error(dp.UnsupportedQuery("a: b; c; write d"))
    assert (error.words, error.hint) == ("a: b; c", "write d")
    assert wire_error(dp.UnsupportedQuery("only words")).hint == ""
