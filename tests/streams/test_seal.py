"""Key files: what is sealed opens with its own key and place alone; a file behind is refused."""

from __future__ import annotations

import pickle
import shutil
import sqlite3
import stat
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet.ledger import failpoints
from discreet.streams.closing import pack_numbers, times_rows, unpack_numbers
from streams.cases import BY_REGION, PEOPLE, PLENTY, START, VISITS, curator, set_clock, visit

ALL = "SELECT day, COUNT(*) AS n FROM visits GROUP BY day"
WORDS = {"start": START, "periods": 9, "matters": {"day": 1}}


class TestSeal:
    def test_a_key_opens_what_it_sealed_at_its_place(self, tmp_path):
        seal = dp.Seal.create(tmp_path / "a.key")
        other = dp.Seal.create(tmp_path / "b.key")
        sealed = seal.encrypt(b"exact", "ledger/v/3")
        assert dp.Seal.load(tmp_path / "a.key").decrypt(sealed, "ledger/v/3") == b"exact"
        assert seal.encrypt(b"exact", "ledger/v/3") != sealed
        for key, text, bound in [
            (other, sealed, "ledger/v/3"),
            (seal, sealed, "ledger/v/4"),
            (seal, sealed[:-1] + b"x", "ledger/v/3"),
            (seal, b"short", "ledger/v/3"),
        ]:
            with pytest.raises(dp.LedgerCorrupt, match="not sealed by"):
                key.decrypt(text, bound)

    def test_files(self, tmp_path):
        seal = dp.Seal.create(tmp_path / "a.key")
        assert stat.S_IMODE((tmp_path / "a.key").stat().st_mode) == 0o600
        with pytest.raises(dp.InvalidArgument, match="there already"):
            dp.Seal.create(tmp_path / "a.key")
        (tmp_path / "text").write_text("a text of some length that is no database at all")
        dp.open_ledger(tmp_path / "l", dp.PureDP(1)).close()
        for name in ("text", "l", "missing"):
            with pytest.raises(dp.InvalidArgument, match="no key of streams"):
                dp.Seal.load(tmp_path / name)
        assert repr(seal) == "<Seal a.key>"
        with pytest.raises(dp.InvalidArgument, match="not pickled"):
            pickle.dumps(seal)

    def test_the_last_period_only_grows(self, tmp_path):
        seal = dp.Seal.create(tmp_path / "a.key")
        assert seal.last("v") == -1
        seal.remember("v", 4)
        seal.remember("v", 2)
        assert seal.last("v") == 4 and seal.last("w") == -1

    @given(st.lists(st.integers(-(2**126), 2**126)))
    def test_numbers_have_one_length(self, numbers):
        packed = pack_numbers(numbers)
        assert len(packed) == 16 * len(numbers)
        assert unpack_numbers(packed).tolist() == numbers

    def test_products_never_overflow(self):
        rows = [np.array([2**62, -(2**62)]), np.array([2**62, 5])]
        factors = np.array([3, 4])
        assert times_rows(factors, rows).tolist() == [7 * 2**62, -3 * 2**62 + 20]


class TestWhatIsCarriedOn:
    def closer(self, home):
        seal = dp.Seal.load(home / "v.key")
        asker = curator([visit(0)], dp.open_ledger(home / "v.ledger", dp.ZCDP(1)), VISITS)
        report = asker.stream(ALL, dp.ZCDP("1/9"), name="v", seal=seal, **WORDS)
        return report, report._closer()

    def test_it_follows_from_what_is_stored(self, tmp_path, monkeypatch):
        """Another closer is first with the period: what this one drew is forgotten."""
        dp.Seal.create(tmp_path / "v.key")
        set_clock(monkeypatch, 1)
        report, closer = self.closer(tmp_path)
        first = []

        def passed(step):
            if step == "draw:after" and not first:
                first.append(step)
                self.closer(tmp_path)[0].close()

        with monkeypatch.context() as patched:
            patched.setattr(failpoints, "passed", passed)
            closer.close(report._engine, START, 0)
        stored = closer._carried_again(0)
        [(attempt, raw)] = closer.seal.carried(closer.stream).values()
        assert closer._history[0].numbers.tolist() == stored.numbers.tolist() and first
        assert (attempt, raw) == (stored.attempt, stored.packed())


class TestOldCopies:
    def report(self, home, rows, schema=PEOPLE, **words):
        ledger = dp.open_ledger(home / "v.ledger", PLENTY)
        seal = dp.Seal.load(home / "v.key")
        asker = curator(rows, ledger, schema)
        return asker.stream(
            ALL, PLENTY, name="v", seal=seal, per_person=dp.Days(2), **WORDS, **words
        )

    def test_a_ledger_or_a_key_file_of_before_is_refused(self, tmp_path, monkeypatch):
        dp.Seal.create(tmp_path / "v.key")
        set_clock(monkeypatch, 1)
        report = self.report(tmp_path, [visit(0)])
        report.close()
        report._ledger.backup(tmp_path / "old.ledger")
        shutil.copy(tmp_path / "v.key", tmp_path / "old.key")
        set_clock(monkeypatch, 2)
        report.close()
        report._ledger.close()
        set_clock(monkeypatch, 3)
        shutil.copy(tmp_path / "v.key", tmp_path / "new.key")
        # The key file of before has forgotten who used day 1.
        shutil.copy(tmp_path / "old.key", tmp_path / "v.key")
        with pytest.raises(dp.LedgerCorrupt, match="older than its ledger"):
            self.report(tmp_path, [visit(2)]).close()
        # The ledger of before would publish day 1 a second time.
        old = tmp_path / "old"
        old.mkdir()
        shutil.copy(tmp_path / "old.ledger", old / "v.ledger")
        shutil.copy(tmp_path / "new.key", old / "v.key")
        with pytest.raises(dp.LedgerCorrupt, match="restored from an older copy"):
            self.report(old, [visit(2)]).close()


class TestWhatIsRemoved:
    """Who used which day is kept until no day can close any more, and no longer."""

    def used(self, path):
        with closing(sqlite3.connect(path)) as file:
            return [
                file.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                for table in ("used", "carried", "last")
            ]

    def test_a_week_after_the_end(self, tmp_path, monkeypatch):
        seal = dp.Seal.create(tmp_path / "v.key")
        ledger = dp.open_ledger(":memory:", PLENTY)
        rows = [visit(day, who=f"p{each}") for day in range(5) for each in range(400)]
        words = {"start": START, "periods": 5, "matters": {"day": 1}, "per_person": dp.Days(3)}
        asker = curator(rows, ledger, PEOPLE)
        report = asker.stream(ALL, dp.ZCDP(1), name="v", seal=seal, **words)
        other = asker.stream(BY_REGION, dp.ZCDP(1), name="w", seal=seal, **words | {"periods": 9})
        third = asker.stream(ALL, dp.ZCDP(1), name="x", seal=seal, **words | {"periods": 2})
        set_clock(monkeypatch, 11)
        # Overdue by a week, but a day is still to be closed; and closed, but for less than a week.
        third.close(1)
        third.close(0)
        report.close()
        other.close()
        report.close()
        assert self.used(seal.path) == [15, 15, 3]
        shown = report.by("day").rows()
        size = seal.path.stat().st_size
        set_clock(monkeypatch, 12)
        report.close()
        # The other stream is none of its business, and what was published stays.
        assert self.used(seal.path) == [10, 10, 3] and seal.path.stat().st_size < size
        assert report.by("day").rows() == shown and len(report.close()) == 0
        other.stop(why="over")
        with pytest.raises(dp.LedgerConflict, match="stopped"):
            other.close()
        assert self.used(seal.path) == [1, 1, 3]
