"""Record and replay on random neighbours over random questions: nothing moves but what noise hides, and that not too far."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from audit.replayed import program
from discreet.audit import replay
from discreet.data import Integer, People, Schema
from discreet.plan import plan_question
from discreet.privacy.measures import PureDP
from discreet.query import parse
from discreet.query.algebra.tally import RowShare
from end_to_end.questions import neighbour, questions
from engines.tables import Table, in_duckdb, in_memory
from support.profile import DEEP, examples

EASY = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


def look(asked, seed, pairs, store):
    """Replay one question on several pairs of neighbours; equal tables are no pair."""
    random, found = Random(seed), 0
    for _ in range(pairs):
        other = neighbour(asked, random)
        if repr(other) != repr(asked.tables):
            found += 1
            run = program(
                asked.plan,
                keys_of(asked.plan, asked.tables, other),
                store=lambda tables: store(tables["visits"]),
            )
            replay(run, (asked.tables, other)).require()
    assume(found)


def keys_of(plan, *tables):
    """List the keys that a selection sees in either table, so that the recorder compares their counts one by one."""
    if plan.selection is None:
        return ()
    return sorted(
        {key for each in tables for key in in_memory(each).tally(plan.selection.tally)}, key=repr
    )


def planned(sql, spend, **columns):
    return plan_question(
        parse(sql, {"many": Schema("many", People("id", max_rows=2), columns)}), spend
    )


def wider(plan):
    """Ask the store for shares of four rows, with noise for two."""
    share = RowShare(4)

    def widened(release):
        tally = replace(release.need.tally, share=share)
        return replace(release, need=replace(release.need, tally=tally))

    return replace(plan, releases=tuple(map(widened, plan.releases)))


class TestReplayWouldSee:
    """What breaks the declared sensitivity is caught on one pair of neighbours: a person with forty rows leaves."""

    @pytest.mark.parametrize(
        "what", ["COUNT(*)", "SUM(x)", "AVG(x)", "STDDEV(x)", "CORR(x, y)", "MAX(x)", "MODE(y)"]
    )
    def test_a_share_that_is_too_wide(self, what):
        plan = planned(f"SELECT {what} AS v FROM many", PureDP(1), x=Integer(0, 9), y=Integer(0, 3))
        one, two = ([(9, 3, "a")] * 40, [(1, 1, "b")])
        full, less = (
            {"many": Table({"x": "bigint", "y": "bigint", "id": "text"}, rows)}
            for rows in (one + two, two)
        )
        run = {
            made: program(made, (), store=lambda tables: in_memory(tables["visits"]))
            for made in (plan, wider(plan))
        }
        assert not replay(run[plan], (full, less)).refuted
        assert replay(run[wider(plan)], (full, less)).refuted


class TestNeighbours:
    @settings(max_examples=examples(150), deadline=None, suppress_health_check=EASY)
    @given(questions(), st.integers(0, 2**32))
    def test_in_memory(self, asked, seed):
        look(asked, seed, 5 if DEEP else 2, in_memory)

    @settings(max_examples=examples(25), deadline=None, suppress_health_check=EASY)
    @given(questions(), st.integers(0, 2**32))
    def test_on_duckdb(self, asked, seed):
        look(asked, seed, 4 if DEEP else 2, in_duckdb)
