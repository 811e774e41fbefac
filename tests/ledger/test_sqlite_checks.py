"""The file from outside: other objects in it, a log taken away, locks let go of, rights too wide."""

from __future__ import annotations

import contextlib
import gzip
import os
import random
import shutil
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

import discreet as dp
from discreet.privacy.events import LaplaceNoise
from ledger.crowd import forked, heard

TWENTIETH = LaplaceNoise(scale=20, sensitivity=1)
OBJECTS = [
    "CREATE TRIGGER t BEFORE INSERT ON entry BEGIN SELECT RAISE(IGNORE); END",
    "CREATE TRIGGER t AFTER UPDATE ON state BEGIN UPDATE state SET text = old.text WHERE name = old.name; END",
    "CREATE VIEW v AS SELECT * FROM entry",
    "CREATE TABLE extra (x)",
    "CREATE UNIQUE INDEX i ON entry (line)",
    "ALTER TABLE entry ADD COLUMN more TEXT",
]


@pytest.fixture
def ledger(file):
    with dp.open_ledger(file, dp.PureDP(1)) as opened:
        opened.charge(TWENTIETH, who="ann")
        yield opened


@pytest.fixture
def marks(file):
    """Where the file system can keep a note at a file."""
    file.touch()
    try:
        os.setxattr(file, "user.discreet.last", b"0")
    except (OSError, AttributeError):
        pytest.skip("this file system keeps no attributes")
    file.unlink()


@pytest.mark.parametrize("sql", OBJECTS)
def test_objects_of_somebody_else_are_refused(file, ledger, sql):
    """Also if they come while it is open: such a trigger would drop a charge, or put the books back."""
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute(sql)
    for call in (
        lambda: ledger.charge(TWENTIETH, who="ann"),
        ledger.left,
        lambda: dp.open_ledger(file),
    ):
        with pytest.raises(dp.LedgerCorrupt, match="that no ledger has"):
            call()


def test_what_sqlite_itself_notes_about_tables_is_no_object_of_somebody_else(file, ledger):
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("ANALYZE")
    assert ledger.charge(TWENTIETH, who="ann").number == 3


class TestTheLog:
    @staticmethod
    def _left_by_a_crash(file):
        def work(say):
            opened = dp.open_ledger(file, dp.PureDP(1))
            for _ in range(5):
                opened.charge(TWENTIETH, who="ann")

        assert heard(*forked(work))[1] == 0

    def test_one_that_was_removed_is_missed(self, marks, file):
        self._left_by_a_crash(file)
        Path(f"{file}-wal").unlink()
        for _ in range(2):
            with pytest.raises(
                dp.LedgerCorrupt, match="ends with entry 1, but entry 6 was written here"
            ):
                dp.open_ledger(file)

    def test_a_copy_that_is_written_over_the_file_is_told_from_it(self, marks, file, ledger):
        ledger.backup(file.with_name("copy"))
        ledger.charge(TWENTIETH, who="ann")
        ledger.close()
        shutil.copyfile(file.with_name("copy"), file)
        with pytest.raises(dp.LedgerCorrupt, match="an older copy was put in its place"):
            dp.open_ledger(file)
        assert dp.open_ledger(file.with_name("copy")).verify().charges == 1

    def test_one_that_is_removed_while_it_is_open_is_not_written(self, file, ledger):
        Path(f"{file}-wal").unlink()
        with pytest.raises(
            dp.LedgerCorrupt, match=r"the log .* was removed or replaced while it was open"
        ):
            ledger.charge(TWENTIETH, who="ann")

    def test_two_ledgers_of_one_process_keep_the_log_from_being_taken_away(self, file, ledger):
        """To open the file a second time, only to look at it, would let go of the locks of the first connection."""
        second = dp.open_ledger(file)
        other = f"import discreet as dp; l = dp.open_ledger({str(file)!r}); print(l.spent().epsilon); l.close()"
        for charged in (1, 2):
            told = subprocess.run(
                [sys.executable, "-c", other], capture_output=True, text=True, check=True
            )
            assert told.stdout.strip() == str(dp.PureDP(f"{charged}/20").epsilon)
            ledger.charge(TWENTIETH, who="ann")
        assert second.verify().charges == 3


def test_only_the_owner_may_read_a_ledger_its_log_a_copy_and_an_export(file, ledger):
    ledger.backup(file.with_name("copy"))
    ledger.export(file.with_name("lines"))
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in file.parent.iterdir()}
    assert set(modes.values()) == {0o600} and len(modes) == 5, modes


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_a_flipped_bit_is_found_or_changes_nothing(tmp_path, seed):
    """Whatever bit of the file it is: LedgerCorrupt, or the same sums; never another error."""
    packed = Path(__file__).parents[1] / "fixtures" / "before_0_2_0" / "pure.ledger.gz"
    whole, drawn = gzip.decompress(packed.read_bytes()), random.Random(seed)
    spent = set()
    for number in range(600 if seed else 60):
        changed = bytearray(whole)
        changed[drawn.randrange(len(whole))] ^= 1 << drawn.randrange(8)
        path = tmp_path / f"{number}.ledger"
        path.write_bytes(changed)
        with (
            contextlib.suppress(dp.LedgerCorrupt),
            contextlib.closing(dp.open_ledger(path)) as ledger,
        ):
            ledger.verify()
            spent.add(str(ledger.spent()))
        path.unlink()
    assert len(spent) == 1
