"""Record and replay on random neighbours over random questions: nothing moves but what noise hides, and that not too far."""

from __future__ import annotations

from random import Random

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from audit.replayed import program
from discreet.audit import replay
from end_to_end.questions import neighbour, questions
from engines.tables import in_duckdb, in_memory

EASY = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


def look(asked, seed, pairs, store):
    """Replay one question on several pairs of neighbours; equal tables are no pair."""
    random, found = Random(seed), 0
    for _ in range(pairs):
        other = neighbour(asked, random)
        if repr(other) != repr(asked.tables):
            found += 1
            run = program(
                asked.plan, keys_of(asked.plan, asked.tables, other), store=lambda tables: store(tables["visits"])
            )
            replay(run, (asked.tables, other)).require()
    assume(found)


def keys_of(plan, *tables):
    """List the keys that a selection sees in either table, so that the recorder compares their counts one by one."""
    if plan.selection is None:
        return ()
    return sorted({key for each in tables for key in in_memory(each).tally(plan.selection.tally)}, key=repr)


class TestNeighbours:
    @settings(max_examples=150, deadline=None, suppress_health_check=EASY)
    @given(questions(), st.integers(0, 2**32))
    def test_in_memory(self, asked, seed):
        look(asked, seed, 15, in_memory)

    @settings(max_examples=25, deadline=None, suppress_health_check=EASY)
    @given(questions(), st.integers(0, 2**32))
    def test_on_duckdb(self, asked, seed):
        look(asked, seed, 8, in_duckdb)
