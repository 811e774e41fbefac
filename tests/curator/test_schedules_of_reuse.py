"""One person asks the same twice at once, while a third process stores what would answer it: every schedule."""

from __future__ import annotations

import pytest

import discreet as dp
from curator.test_contrast import BY_REGION, OLD, RICH, SPEND, TOTAL, YOUNG, curator
from discreet.curator import pay as paying
from discreet.ledger import failpoints as steps
from ledger.schedules import Stage, every_schedule

WIDE = "SELECT region, age, COUNT(*) AS n FROM shops GROUP BY region, age"
MUCH = dp.ZCDP(9)
CASES = {
    "total": (TOTAL, SPEND, YOUNG, []),
    "total of each key": (BY_REGION, SPEND, OLD, []),
    "total after both sides": (TOTAL, MUCH, RICH, [YOUNG]),
    "finer cells": (WIDE, MUCH, "SELECT COUNT(*) AS n FROM shops WHERE age = 4", [BY_REGION]),
}


def play_all(monkeypatch, case, points, *, share=False, dies=None):
    """Play all schedules of two askers and of one who ends a pending charge; return how many there were."""
    source, much, asked, before = CASES[case]
    monkeypatch.setattr(paying, "PATIENCE", 0.0)

    def play(choose):
        monkeypatch.setattr(steps, "passed", lambda step: None)
        ledger = dp.open_ledger(":memory:", dp.ZCDP(99))
        askers = [curator(ledger=ledger, share_questions=share) for _ in range(4)]
        if share:
            askers = [one.named(f"person {place}") for place, one in enumerate(askers)]
        for sql in before:
            askers[2].sql(sql, spend=SPEND)

        def stop(step):
            if step == "charge:after":
                raise KeyboardInterrupt

        monkeypatch.setattr(steps, "passed", stop)
        with pytest.raises(KeyboardInterrupt):
            askers[2].sql(source, spend=much)
        known = ledger.verify().charges
        told = []
        stage = Stage(points, choose, dies)
        monkeypatch.setattr(steps, "passed", stage.passed)

        def act(asker):
            if asker == 2:
                askers[2].sql(source, spend=much)
            else:
                told.append(askers[asker].sql(asked, spend=SPEND))

        stage.play([act] * 3)
        monkeypatch.setattr(steps, "passed", lambda step: None)
        told.append(askers[3].sql(asked, spend=SPEND))
        assert len({one.rows for one in told}) == 1, [one.caption for one in told]
        assert len(told) == 3 or (dies and len(told) == 2)
        verdict = ledger.verify()
        assert verdict.charges <= known + 1 and verdict.pending == 0 and verdict.exact
        assert ledger.spent().rho <= (much.rho + SPEND.rho * (1 + len(before))) * (1 + 1e-6)

    played, _ = every_schedule(play)
    return played


SLOW = pytest.mark.slow


@pytest.mark.parametrize("case", [
    "total", "finer cells", *(pytest.param(one, marks=SLOW) for one in list(CASES)[1:3]),
])  # fmt: skip
def test_is_charged_once_and_told_once(monkeypatch, case):
    """At the step before a charge: between the choice of what is bought and the charge others may have moved."""
    assert play_all(monkeypatch, case, ("charge:before",)) >= 12


@pytest.mark.parametrize("dies", [
    "charge:after", *(pytest.param(one, marks=SLOW) for one in ("charge:before", "finish:before")),
])  # fmt: skip
def test_so_it_is_if_one_asker_dies(monkeypatch, dies):
    assert play_all(monkeypatch, "total", ("charge:before",), dies=dies) >= 4


@SLOW
@pytest.mark.parametrize("case", CASES)
def test_so_it_is_at_all_steps_that_touch_the_store(monkeypatch, case):
    assert play_all(monkeypatch, case, ("charge:before", "finish:before")) > 100


@SLOW
def test_so_it_is_of_two_people_who_share_their_questions(monkeypatch):
    assert play_all(monkeypatch, "total", ("charge:before",), share=True) >= 12


def test_what_is_paid_while_keys_are_listed_counts_as_new(monkeypatch):
    """Between listing what was paid for and the number from which entries are new there is no gap."""
    ledger = dp.open_ledger(":memory:", dp.ZCDP(99))
    one, other = curator(ledger=ledger), curator(ledger=ledger)
    real = type(ledger).keys
    told = []

    def keys(ledger, starts, who=None):
        listed = real(ledger, starts, who)
        monkeypatch.undo()
        other.sql(TOTAL, spend=SPEND)
        told.append(other.sql(YOUNG, spend=SPEND))
        return listed

    other.sql(BY_REGION, spend=SPEND)
    monkeypatch.setattr(type(ledger), "keys", keys)
    assert one.sql(YOUNG, spend=SPEND).rows == told[0].rows
    assert ledger.verify().charges == 3
