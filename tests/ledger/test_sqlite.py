"""The file: what is no ledger is refused, what goes wrong is said, and nothing is lost or forgotten."""

from __future__ import annotations

import ctypes
import os
import resource
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import discreet as dp
from discreet.ledger.stores import sqlite, sqlite_file
from discreet.privacy.events import LaplaceNoise
from ledger.crowd import forked, heard

TWENTIETH = LaplaceNoise(scale=20, sensitivity=1)


@pytest.fixture
def ledger(file):
    opened = dp.open_ledger(file, dp.PureDP(1))
    yield opened
    opened.close()


def charged(ledger, times):
    for _ in range(times):
        ledger.charge(TWENTIETH, who="ann", why="x" * 2000)


class TestWhatIsNoLedger:
    @pytest.mark.parametrize("content", [b"", b"hello", b"SQLite format 2\0" + b"\0" * 100])
    def test_another_file_is_refused_and_left_alone(self, file, content):
        file.write_bytes(content)
        for budget in (None, dp.PureDP(1)):
            with pytest.raises(dp.LedgerCorrupt, match="nothing was changed"):
                dp.open_ledger(file, budget)
        assert file.read_bytes() == content

    def test_another_database_is_refused_and_left_alone(self, file):
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("CREATE TABLE t (x)")
        before = file.read_bytes()
        with pytest.raises(dp.LedgerCorrupt, match="a database, but no ledger"):
            dp.open_ledger(file, dp.PureDP(1))
        assert file.read_bytes() == before

    def test_a_ledger_of_another_version_is_refused(self, file, ledger):
        ledger.close()
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("PRAGMA user_version = 3")
        with pytest.raises(dp.LedgerCorrupt, match="version 3, this release reads up to 2"):
            dp.open_ledger(file)

    def test_a_ledger_without_its_tables_is_refused(self, file, ledger):
        ledger.close()
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("DROP TABLE entry")
        with pytest.raises(dp.LedgerCorrupt, match="torn or no ledger"):
            dp.open_ledger(file)

    def test_a_folder_is_refused(self, tmp_path):
        with pytest.raises(dp.LedgerUnavailable, match="cannot be reached"):
            dp.open_ledger(tmp_path, dp.PureDP(1))

    def test_a_place_without_a_folder_is_refused(self, tmp_path):
        with pytest.raises(dp.LedgerUnavailable, match="cannot be reached"):
            dp.open_ledger(tmp_path / "nowhere" / "x.ledger", dp.PureDP(1))


class TestATornFile:
    @pytest.mark.parametrize("kept", [0.95, 0.5, 0.1])
    def test_it_is_refused(self, file, ledger, kept):
        charged(ledger, 20)
        ledger.close()
        size = file.stat().st_size
        os.truncate(file, int(size * kept))
        with pytest.raises(dp.LedgerCorrupt, match=f"is torn: {size} bytes are expected"):
            dp.open_ledger(file)

    def test_pages_of_another_time_are_refused(self, file, ledger):
        charged(ledger, 20)
        ledger.close()
        content = bytearray(file.read_bytes())
        content[4096:] = b"\xaa" * (len(content) - 4096)
        file.write_bytes(content)
        with pytest.raises(dp.LedgerCorrupt, match="torn or no ledger"):
            dp.open_ledger(file).verify()

    def test_a_log_that_was_left_by_a_crash_is_read(self, file):
        def work(say):
            charged(dp.open_ledger(file, dp.PureDP(1)), 5)
            say("charged")  # and the process ends without closing anything

        assert heard(*forked(work)) == (["charged"], 0)
        assert Path(f"{file}-wal").stat().st_size
        assert dp.open_ledger(file).verify().charges == 5

    def test_a_log_whose_end_is_torn_loses_only_what_was_not_durable(self, file, monkeypatch):
        def work(say):
            monkeypatch.setattr(
                sqlite, "note_end", lambda *_: None
            )  # as if the machine had lost its power before it
            charged(dp.open_ledger(file, dp.PureDP(1)), 5)

        heard(*forked(work))
        log = Path(f"{file}-wal")
        os.truncate(log, log.stat().st_size - 100)
        verdict = dp.open_ledger(file).verify()
        assert verdict.charges == 4 and verdict.exact


class TestTheFileAtThePath:
    def test_a_file_that_was_removed_is_not_written(self, file, ledger):
        charged(ledger, 1)
        file.unlink()
        with pytest.raises(dp.LedgerCorrupt, match="no ledger here any more"):
            ledger.charge(TWENTIETH, who="ann")
        assert not file.exists()

    def test_a_file_that_was_replaced_is_not_written(self, file, ledger, tmp_path):
        charged(ledger, 1)
        other = dp.open_ledger(tmp_path / "other", dp.PureDP(1))
        other.close()
        os.replace(tmp_path / "other", file)
        with pytest.raises(dp.LedgerCorrupt, match="removed or replaced while it was open"):
            ledger.charge(TWENTIETH, who="ann")

    def test_nothing_is_left_beside_it(self, file, ledger, tmp_path):
        charged(ledger, 1)
        ledger.close()
        assert [path.name for path in tmp_path.iterdir()] == [file.name]

    def test_a_name_with_odd_letters_is_a_name(self, tmp_path):
        file = tmp_path / "a?b#c %20 é.ledger"
        with dp.open_ledger(file, dp.PureDP(1)) as ledger:
            charged(ledger, 1)
        assert file.exists() and dp.open_ledger(str(file)).spent() == dp.PureDP("1/20")

    def test_somebody_made_it_in_the_meantime(self, file, monkeypatch):
        real = sqlite_file.os.link

        def late(draft, path):
            monkeypatch.setattr(sqlite_file.os, "link", real)
            dp.open_ledger(file, dp.PureDP(1)).close()
            real(draft, path)

        monkeypatch.setattr(sqlite_file.os, "link", late)
        with pytest.raises(dp.InvalidArgument, match="opened with budget"):
            dp.open_ledger(file, dp.PureDP(2))
        assert dp.open_ledger(file).verify().entries == 1


class TestSomebodyElseHoldsIt:
    def test_a_charge_waits_and_then_gives_up(self, file, ledger):
        with closing(sqlite3.connect(file, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            hurried = dp.open_ledger(file, wait=0.1)
            with pytest.raises(
                dp.LedgerUnavailable, match="holds it for too long; nothing was spent"
            ):
                hurried.charge(TWENTIETH, who="ann")
            assert hurried.left() == dp.PureDP(1)  # who only reads does not wait
            other.execute("ROLLBACK")
            hurried.charge(TWENTIETH, who="ann")
        assert ledger.verify().charges == 1

    def test_a_file_that_may_not_be_written_can_be_read(self, file, ledger):
        charged(ledger, 1)
        ledger.close()
        with closing(sqlite3.connect(file)) as other:
            other.execute("PRAGMA journal_mode = DELETE")
        readonly = dp.open_ledger(file)
        readonly._store._connection().execute("PRAGMA query_only = ON")  # root may write any file
        assert readonly.left() == dp.PureDP("19/20")
        with pytest.raises(dp.LedgerUnavailable, match="may not be written"):
            readonly.charge(TWENTIETH, who="ann")


class TestAFullDisk:
    def test_a_file_that_may_not_grow(self, file, ledger):
        """A limit of the operating system on the size of files, in a child: the write itself fails."""
        charged(ledger, 3)
        ledger.close()

        def work(say):
            with dp.open_ledger(file) as inner:
                resource.setrlimit(resource.RLIMIT_FSIZE, (64_000, resource.RLIM_INFINITY))
                for number in range(100):
                    try:
                        charged(inner, 1)
                        say(number)
                    except dp.LedgerUnavailable as refusal:
                        resource.setrlimit(
                            resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
                        )
                        say(str(refusal))
                        say(inner.verify().charges)
                        charged(inner, 1)
                        return

        words, code = heard(*forked(work))
        told = len(words) - 2
        assert code == 0 and told > 0 and "the ledger" in words[told]
        assert words[-1] == 3 + told  # what was told is there, what was refused is not
        verdict = dp.open_ledger(file).verify()
        assert verdict.charges == 4 + told and verdict.exact

    def test_a_database_that_may_not_grow(self, ledger):
        charged(ledger, 1)
        connection = ledger._store._connection()
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(dp.LedgerUnavailable, match=r"disk is full.*SQLITE_FULL"):
            charged(ledger, 20)
        told = ledger.verify().charges
        charged(ledger, 1)  # the next turn has a connection of its own
        assert ledger.verify().charges == told + 1

    def test_a_real_disk_that_is_full(self, tmp_path):
        libc = ctypes.CDLL(None, use_errno=True)
        disk = tmp_path / "disk"
        disk.mkdir()
        if libc.mount(b"none", str(disk).encode(), b"tmpfs", 0, b"size=400k"):
            pytest.skip("only root may mount a small disk")
        try:
            with dp.open_ledger(disk / "people.ledger", dp.PureDP(100)) as ledger:
                with pytest.raises(dp.LedgerUnavailable):
                    charged(ledger, 1000)
                told = ledger.verify().charges
                assert 10 < told < 1000 and ledger.history()[-1].number == told + 1
                with pytest.raises(dp.LedgerUnavailable):
                    charged(ledger, 1)
            with dp.open_ledger(
                disk / "people.ledger"
            ) as ledger:  # closing has made room in the log
                assert ledger.verify().charges == told
        finally:
            libc.umount2(str(disk).encode(), 2)


class TestCopies:
    def test_a_copy_is_a_ledger(self, file, ledger, tmp_path):
        charged(ledger, 3)
        checkpoint = ledger.backup(tmp_path / "copy")
        charged(ledger, 1)
        copy = dp.open_ledger(tmp_path / "copy")
        assert copy.verify().charges == 3 and copy.terms == ledger.terms
        assert copy.verify().checkpoint == checkpoint and checkpoint[0] == 4
        with pytest.raises(dp.LedgerCorrupt, match="it is an older copy"):
            copy.verify(checkpoint=ledger.verify().checkpoint)

    def test_nothing_is_overwritten(self, ledger, tmp_path):
        (tmp_path / "copy").write_text("mine")
        with pytest.raises(dp.LedgerConflict, match="name a new file"):
            ledger.backup(tmp_path / "copy")
        assert (tmp_path / "copy").read_text() == "mine"

    def test_only_a_file_can_be_copied(self):
        with pytest.raises(dp.InvalidArgument, match="`export` works for all"):
            dp.open_ledger(":memory:", dp.PureDP(1)).backup("copy")


def test_it_is_durable(ledger):
    connection = ledger._store._connection()
    asked = {
        name: connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("journal_mode", "synchronous")
    }
    assert asked == {"journal_mode": "wal", "synchronous": 2}
    assert connection.execute("PRAGMA application_id").fetchone()[0] == int.from_bytes(
        b"DPL1", "big"
    )


def test_a_key_that_was_changed_beside_its_line_is_noticed(tmp_path):
    """An answer that is kept under another key is not found, and would be paid for again."""
    path = tmp_path / "x.ledger"
    with dp.open_ledger(path, dp.PureDP(1)) as ledger:
        ledger.finish(
            ledger.charge(
                dp.Laplace(scale=2, sensitivity=1).event, who="ana", key="2:a", question="a"
            ),
            "1",
        )
        assert ledger.answer("2:a") is not None and ledger.verify().exact
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE entry SET key = '2:b' WHERE number = 3")
    with (
        dp.open_ledger(path) as ledger,
        pytest.raises(dp.LedgerCorrupt, match="entry 3 is kept under another key"),
    ):
        ledger.verify()
