"""How long a session waits for an answer, and how often its question is planned: as over HTTP."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.plan import choose
from discreet.plan.asked.terms import Terms
from discreet.service.jobs.job import new_job
from discreet.service.jobs.timing_grid import TimingGrid
from discreet.service.postgres.commands import seconds_to_tick
from discreet.service.postgres.questions import Asked, Studied, study
from discreet.wire.verbs.question import Ask, check_ask
from support.profile import examples

SQL = "SELECT region, COUNT(*) AS n FROM people GROUP BY region"
SPEND = dp.PureDP("1/10")


class TestTicks:
    """A session looks at its job once at each tick: never before it, and not long after it.

    Answers leave at ticks, so a wait that ends later adds its length to every answer of the service.
    """

    @settings(max_examples=examples(300))
    @given(st.sampled_from(["0.002", "0.05", "0.25", "1"]), st.floats(0, 10_000))
    def test_the_wait_ends_at_the_tick(self, base, taken):
        grid = TimingGrid(float(base))
        job = new_job("ana", "people", "sql", "{}", mark="", owner="me")
        now = job.started + taken
        tick = grid.tick(job.started, now + 1e-6)
        waited = now + seconds_to_tick(job.to_json(shown=False, next_tick=tick, now=now))
        assert tick <= waited < tick + 0.002
        # Whatever ended by the tick is shown to who looks then, so one look is enough.
        assert grid.shows(job.started, now, waited)


@pytest.fixture
def planned(monkeypatch):
    """List the questions whose mechanisms were chosen."""
    questions = []
    really = choose.choose

    def listed(checked, asked):
        questions.append(checked.question)
        return really(checked, asked)

    monkeypatch.setattr(choose, "choose", listed)
    return questions


@pytest.mark.parametrize("stored", [False, True])
def test_a_question_is_planned_once_as_over_http(planned, stored):
    """Column types come from the plan that HTTP makes too, to refuse before anything is charged."""
    people = dp.Schema("people", dp.Rows(), {"region": dp.Category(["N", "S"])})
    ledger = dp.open_ledger(":memory:", dp.PureDP(1))
    curator = dp.Curator(dp.Memory({"people": [{"region": "N"}]}), [people], ledger)
    if stored:
        curator.sql(SQL, spend=SPEND)
    terms = Terms(spend=SPEND)
    planned.clear()
    check_ask(curator, Ask(SQL, terms), 100)
    assert len(planned) == 1
    studied = study(curator, Asked(SQL, terms=terms))
    assert isinstance(studied, Studied)
    assert [column.name for column in studied.columns] == ["region", "n"]
    assert len(planned) == 2
