"""Caps of people: the first days count, kept for ever, whatever is deleted or comes late."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet.streams.caps import admitted
from discreet.workloads.triangular import Participation
from streams.cases import BY_REGION, PEOPLE, PLENTY, START, column, curator, set_clock, visit

WORDS = {"start": START, "periods": 12, "matters": {"day": 1}}
ALL = "SELECT day, COUNT(*) AS n FROM visits GROUP BY day"


class TestAdmission:
    @given(st.lists(st.integers(0, 30), unique=True), st.integers(1, 4), st.integers(1, 5))
    def test_no_more_days_and_never_closer(self, wanted, days, apart):
        counted = Participation(days, apart)
        used = {}
        taken = []
        for day in sorted(wanted):
            if admitted(used, b"ann", day, counted):
                taken.append(day)
                used[b"ann"] = (len(taken), day)
        assert len(taken) <= days
        assert all(later - day >= apart for day, later in pairwise(taken))
        # The first day always counts, and the next that is far enough.
        assert taken[:1] == sorted(wanted)[:1]


@pytest.fixture
def seal(tmp_path):
    return dp.Seal.create(tmp_path / "v.key")


@pytest.fixture
def close_day(seal, monkeypatch):
    """Open the stream if it is not open, close one day of these rows, return its numbers."""

    def close(ledger, day, rows, caps, sql=ALL):
        set_clock(monkeypatch, day + 1)
        asker = curator(rows, ledger, PEOPLE)
        report = asker.stream(sql, PLENTY, name="v", seal=seal, per_person=caps, **WORDS)
        return column(report.close())

    return close


class TestPeople:
    def test_a_person_counts_on_the_first_days_only(self, close_day):
        ledger = dp.open_ledger(":memory:", PLENTY)
        counted = []
        for day in range(6):
            rows = [visit(day, who="ann"), visit(day, who=f"new {day}")]
            counted += close_day(ledger, day, rows, dp.Days(2, apart=2))
        assert counted == [2, 1, 2, 1, 1, 1]

    def test_who_deletes_a_row_and_comes_again_counts_no_more(self, close_day):
        """Without the days used, kept for ever, this person would count on k + 1 days."""
        ledger = dp.open_ledger(":memory:", PLENTY)
        caps = dp.Days(1)
        assert close_day(ledger, 0, [visit(0)], caps) == [1]
        # All rows of day 0 are deleted, and the person is in the store on day 1 alone.
        assert close_day(ledger, 1, [visit(1)], caps) == [0]

    def test_many_rows_of_a_day_are_shares_in_all_keys(self, close_day):
        ledger = dp.open_ledger(":memory:", PLENTY)
        rows = [visit(0, "N"), visit(0, "N"), visit(0, "S"), visit(0, "S")]
        found = close_day(ledger, 0, rows, dp.Days(3, rows=2), BY_REGION)
        assert found == [1, 1]

    def test_the_attempt_that_did_not_win_uses_no_day(self, seal, close_day, monkeypatch):
        ledger = dp.open_ledger(":memory:", PLENTY)
        caps = dp.Days(1)
        set_clock(monkeypatch, 1)
        asker = curator([visit(0, who="bob")], ledger, PEOPLE)
        report = asker.stream(ALL, PLENTY, name="v", seal=seal, per_person=caps, **WORDS)
        stream = f"{ledger.identity}/v"
        # An attempt that died before its seal had counted ann.
        seal.write_used(stream, 0, [seal.hash_of("str ann", stream)])
        assert column(report.close()) == [1]
        assert close_day(ledger, 1, [visit(1, who="ann")], caps) == [1]
        assert close_day(ledger, 2, [visit(2, who="ann")], caps) == [0]

    def test_numbers_and_texts_are_different_people(self, close_day):
        ledger = dp.open_ledger(":memory:", PLENTY)
        caps = dp.Days(1)
        assert close_day(ledger, 0, [visit(0, who=7)], caps) == [1]
        assert close_day(ledger, 1, [visit(1, who="7")], caps) == [1]
        assert close_day(ledger, 2, [visit(2, who=7)], caps) == [0]

    def test_files_and_prepared_stores(self, seal, tmp_path, monkeypatch):
        """Files have the ids; a prepared store has numbers of people and is refused."""
        source = tmp_path / "visits.csv"
        source.write_text("day,region,minutes,who\n2027-01-01,N,5,ann\n2027-01-02,N,5,ann\n")
        ledger = dp.open_ledger(":memory:", PLENTY)
        words = {**WORDS, "per_person": dp.Days(1)}
        set_clock(monkeypatch, 2)
        with dp.DuckDB({"visits": str(source)}) as engine:
            report = dp.Curator(engine, [PEOPLE], ledger).stream(
                ALL, PLENTY, name="v", seal=seal, **words
            )
            assert column(report.close()) == [1, 0]
        store = dp.prepare({"visits": str(source)}, [PEOPLE], str(tmp_path / "v.store"))
        other = dp.open_ledger(":memory:", PLENTY)
        with pytest.raises(dp.SchemaMismatch, match="numbers of people"):
            dp.Curator(store, [PEOPLE], other).stream(ALL, PLENTY, name="v", seal=seal, **words)
        assert len(other.history()) == 1

    def test_a_ledger_with_blocks_and_a_table_with_retention(self, close_day):
        """Blocks and retention leave rows out before people are told apart."""
        ledger = dp.open_ledger(
            ":memory:", PLENTY, blocks=dp.Blocks("visits", "day", "week", stays=1)
        )
        caps = dp.Days(9)
        rows = [visit(0), visit(1), visit(7), visit(7, who="bob")]
        assert close_day(ledger, 7, rows, caps) == [1, 1, 0, 0, 0, 0, 0, 1]

    def test_a_store_that_cannot_tell_people_apart(self, seal):
        class Plain:
            def __init__(self):
                self.memory = dp.Memory({"visits": []})
                for name in ("tally", "explain", "check", "public_values"):
                    setattr(self, name, getattr(self.memory, name))

        ledger = dp.open_ledger(":memory:", PLENTY)
        asker = dp.Curator(Plain(), [PEOPLE], ledger)
        with pytest.raises(dp.UnsupportedQuery, match="tell people apart"):
            asker.stream(ALL, PLENTY, name="v", seal=seal, per_person=dp.Days(2), **WORDS)
        assert len(ledger.history()) == 1
