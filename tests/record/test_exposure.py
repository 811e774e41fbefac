"""Nobody is exposed: no analyst's name, reason, time or question is in any file of a record."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

import discreet as dp
from discreet.ledger import clock
from record.conftest import PEOPLE, WORDS, ask

NAMES = (("ann", "bob"), ("zoë-the-analyst", "yves@secret.example"))
REASONS = ("the minister asked", "curiosity about Mr. Smith")
BOUNDS = (3, 5)


def _served(names, reason, bound):
    """A ledger of two analysts with allowances, repeated questions and a failure."""
    budgets = dict.fromkeys(names, dp.PureDP(1))
    ledger = dp.open_ledger(":memory:", dp.PureDP(3), allowances=budgets)
    sql = (
        f"SELECT region, COUNT(*) AS {'n' * bound} FROM people WHERE age < {bound} GROUP BY region"
    )
    for name in names:
        # The second pays for what the first asked: an entry `again`.
        ask(ledger, sql, who=name, why=reason)
        ask(
            ledger,
            f"SELECT AVG(income) AS m FROM people WHERE age <> {bound}",
            who=name,
            why=reason,
        )
    laplace = dp.Laplace(scale=8, sensitivity=1)
    ledger.fail(ledger.charge(laplace.event, who=names[0], why=reason))
    ledger.allow("carl", dp.PureDP(2))
    return ledger


def test_ledgers_that_differ_in_names_reasons_times_and_questions_have_equal_records(monkeypatch):
    found = []
    for names, reason, bound, pause in zip(NAMES, REASONS, BOUNDS, (7, 90_000), strict=True):
        opened = datetime(2026, 3, 4, 5, bound, tzinfo=UTC)
        ticks = count()

        def tick(ticks=ticks, opened=opened, pause=pause):
            return opened + timedelta(seconds=pause * (next(ticks) > 1))

        monkeypatch.setattr(clock, "now", tick)
        found.append(dp.record(_served(names, reason, bound), PEOPLE, WORDS).files)
    one, two = found
    assert one.keys() == two.keys()
    for name in one:
        assert one[name] == two[name], name


def test_no_name_reason_time_or_question_is_in_the_folder():
    names, reason = NAMES[1], REASONS[1]
    ledger = _served(names, reason, 5)
    everything = "\n".join(dp.record(ledger, PEOPLE, WORDS).files.values())
    for hidden in (*names, "carl", reason, "WHERE", "nnnnn", "age <", "income) AS"):
        assert hidden not in everything, hidden
    for entry in ledger.history():
        for secret in (entry.question, entry.key, entry.hash, entry.time, entry.time[11:19]):
            assert not secret or secret not in everything
    # How often somebody failed, repeated or was allowed something leaves no line.
    lines = dp.record(ledger, PEOPLE, WORDS).files["proof.lines"].splitlines()
    assert len(lines) == 2 + sum(entry.kind == "charge" for entry in ledger.history())


def test_only_the_named_entry_is_shown():
    ledger = _served(NAMES[0], REASONS[0], 3)
    charges = [entry.number for entry in ledger.history(kinds=["charge"])]
    made = dp.record(ledger, PEOPLE, WORDS, questions=charges[:1])
    everything = "\n".join(made.files.values())
    assert "age < 3" in everything or "age <= 2" in everything
    assert "income) AS" not in everything
    assert f"data/entry-{charges[0]}.csv" in made.files
    for hidden in ("ann", REASONS[0]):
        assert f'"{hidden}"' not in everything


def test_a_number_that_is_no_stored_table_is_refused():
    ledger = dp.open_ledger(":memory:", dp.PureDP(1))
    ledger.fail(ledger.charge(dp.Laplace(scale=8, sensitivity=1).event, who="ann"))
    failed = next(iter(ledger.history(kinds=["fail"]))).refers
    for number in (1, failed, 99):
        with pytest.raises(dp.InvalidArgument, match="no charge with a stored answer"):
            dp.record(ledger, PEOPLE, WORDS, questions=[number])


def test_the_store_is_not_asked_and_nothing_is_spent():
    ledger = _served(NAMES[0], REASONS[0], 3)
    before = (ledger.spent(), len(ledger.history()))
    dp.record(ledger, PEOPLE, WORDS)
    assert (ledger.spent(), len(ledger.history())) == before


def test_what_is_no_ledger_is_refused():
    for wrong in (object(), None, "people.ledger"):
        with pytest.raises(dp.InvalidArgument, match="a record is of a ledger"):
            dp.record(wrong, PEOPLE, WORDS)
