"""A ledger's life: moved, imported, brought forward, repaired; the chain goes on, and no spend is forgotten."""

from __future__ import annotations

import os
import secrets
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

import discreet as dp
from discreet.ledger import clock, import_ledger, move_ledger, repair_ledger
from discreet.ledger import failpoints as steps
from discreet.ledger.stores.store import ACCOUNT_TREE
from discreet.privacy.events import LaplaceNoise
from fixtures.world_0_1_0 import MAY
from ledger.crowd import die, forked, heard

TWENTIETH = LaplaceNoise(scale=20, sensitivity=1)
HALF = LaplaceNoise(scale=2, sensitivity=1)
OLD = Path(__file__).parents[1] / "fixtures" / "ledger_0_1_0"


class Places:
    """Places for ledgers, in files or on a server, in turn."""

    def __init__(self, tmp_path, dsn, order):
        self.tmp_path, self.dsn, self.order = tmp_path, dsn, order

    def __iter__(self):
        for number, kind in enumerate(self.order):
            file = kind == "sqlite"
            yield (
                (self.tmp_path / f"{number}.ledger" if file else self.dsn),
                "main" if file else secrets.token_hex(8),
            )


@pytest.fixture(params=["sqlite sqlite", "sqlite postgres", "postgres sqlite", "postgres postgres"])
def places(request, tmp_path):
    order = request.param.split()
    dsn = request.getfixturevalue("postgres_dsn") if "postgres" in order else None
    return list(Places(tmp_path, dsn, order))


def opened(place, *args, **terms):
    return dp.open_ledger(place[0], *args, name=place[1], **terms)


def moved(one, two):
    return move_ledger(one[0], two[0], name=one[1], to_name=two[1])


def filled(place, **terms):
    """A ledger with an answer, a failure, a pending charge and an allowance."""
    with opened(place, dp.PureDP(1), allowances={"*": dp.PureDP("1/2")}, **terms) as ledger:
        ledger.finish(ledger.charge(TWENTIETH, who="ann", key="k1"), '"é"')
        ledger.fail(ledger.charge(TWENTIETH, who="bob", key="k2"))
        ledger.allow("bob", dp.PureDP("1/4"))
        ledger.charge(TWENTIETH, who="bob", key="k3")
        return ledger.verify()


class TestAMove:
    def test_keeps_the_chain_and_closes_the_old_one_for_good(self, places):
        one, two = places
        before = filled(one)
        with opened(one) as still_open:
            verdict = moved(one, two)
            assert (verdict.entries, verdict.charges, verdict.spent) == (
                before.entries + 2,
                3,
                before.spent,
            )
            assert verdict.exact
            for old in (still_open, opened(one)):
                with old, pytest.raises(dp.LedgerConflict, match="closed for good"):
                    old.charge(TWENTIETH, who="ann")
                with old, pytest.raises(dp.LedgerConflict, match="closed for good"):
                    old.finish(old.pending("k3", "bob"), "late")
                with old:
                    assert (
                        old.answer("k1")[1] == '"é"' and old.verify().entries == before.entries + 1
                    )
        with opened(two) as new:
            assert (
                new.verify(checkpoint=before.checkpoint).pending == 1
                and new.answer("k1")[1] == '"é"'
            )
            assert new.left("bob") == dp.PureDP("3/20") and new.left("eve") == dp.PureDP("1/2")
            new.finish(new.pending("k3", "bob"), "3")
            new.charge(TWENTIETH, who="ann")
            assert new.spent() == dp.PureDP("1/5") and new.verify().exact

    def test_happens_once_and_to_one_place(self, places, tmp_path):
        one, two = places
        filled(one)
        moved(one, two)
        with opened(two) as new:
            new.charge(TWENTIETH, who="ann")
        assert moved(one, two).charges == 4  # asked again: it is there
        third = (tmp_path / "third.ledger", "main")
        with pytest.raises(dp.LedgerConflict, match="closed for good"):
            moved(one, third)
        with pytest.raises((dp.InvalidArgument, dp.LedgerConflict)):
            opened(third)
        assert moved(two, third).charges == 4  # but the new one may move on

    def test_refuses_a_place_with_a_ledger(self, places):
        one, two = places
        filled(one)
        filled(two)
        with pytest.raises(dp.InvalidArgument, match="there is a ledger there already"):
            moved(one, two)
        with opened(one) as ledger:
            assert ledger.charge(TWENTIETH, who="ann").number

    @pytest.mark.parametrize("step", ["draft:written", "close:written", "resume:written"])
    def test_that_is_killed_leaves_one_ledger_to_charge_and_can_be_ended(
        self, places, step, tmp_path
    ):
        one, two = places
        before = filled(one)

        def work(say):
            steps.passed = lambda passed: die() if passed == step else None
            moved(one, two)

        assert heard(*forked(work)) == ([], -9)
        with opened(one) as old:
            if step == "resume:written":
                with pytest.raises(dp.LedgerConflict, match="closed for good"):
                    old.charge(TWENTIETH, who="ann")
                with pytest.raises(dp.LedgerConflict, match="goes on as"):  # not to another place
                    moved(one, (tmp_path / "else.ledger", "main"))
            else:
                old.charge(TWENTIETH, who="ann")
        with pytest.raises(
            (dp.LedgerConflict, dp.InvalidArgument), match="about to be moved|no ledger here yet"
        ):
            opened(two)
        verdict = moved(one, two)
        assert verdict.exact and verdict.charges == before.charges + (step != "resume:written")
        with opened(two) as new:
            assert new.charge(TWENTIETH, who="ann").number == verdict.entries + 1

    def test_to_a_place_that_another_ledger_is_about_to_take_is_refused(self, tmp_path):
        one, other, two = (((tmp_path / name), "main") for name in ("one", "other", "two"))
        filled(one)
        filled(other)

        def work(say):
            steps.passed = lambda passed: die() if passed == "close:written" else None
            moved(one, two)

        heard(*forked(work))
        with pytest.raises(dp.LedgerConflict, match="another ledger is about to be moved there"):
            moved(other, two)
        assert moved(one, two).exact

    def test_from_or_to_memory_is_refused(self, tmp_path):
        for places in ((":memory:", tmp_path / "x"), (tmp_path / "x", ":memory:")):
            with pytest.raises(dp.InvalidArgument, match="in memory"):
                move_ledger(*places)


class TestAnImport:
    def test_of_an_empty_file_is_refused_and_makes_nothing(self, tmp_path):
        (tmp_path / "lines").write_text("")
        with pytest.raises(dp.InvalidArgument, match="no lines, so it is no export"):
            import_ledger(tmp_path / "lines", tmp_path / "new.ledger")
        assert not (tmp_path / "new.ledger").exists()

    @pytest.mark.parametrize("answers", [True, False])
    def test_goes_on_where_the_export_ended(self, places, answers, tmp_path):
        one, two = places
        before = filled(one)
        with opened(one) as old:
            old.export(tmp_path / "lines", answers=answers)
        verdict = import_ledger(
            tmp_path / "lines", two[0], name=two[1], checkpoint=before.checkpoint
        )
        assert (
            verdict.exact
            and verdict.spent == before.spent
            and verdict.entries == before.entries + 1
        )
        with opened(two) as new:
            assert new.left("bob") == dp.PureDP("3/20")
            assert (new.answer("k1") is not None) == answers
            new.finish(new.charge(TWENTIETH, who="ann", key="k1"), "again")
            assert new.answer("k1")[1] == ('"é"' if answers else "again") and new.verify().exact
            assert dp.ledger.verify_export(tmp_path / "lines").checkpoint == before.checkpoint

    def test_refuses_a_chain_that_does_not_hold_an_older_one_and_a_place_with_a_ledger(
        self, tmp_path
    ):
        place = (tmp_path / "one", "main")
        before = filled(place)
        with opened(place) as ledger:
            ledger.export(tmp_path / "lines", answers=True)
            ledger.charge(TWENTIETH, who="ann")
            newer = ledger.verify().checkpoint
        lines = (tmp_path / "lines").read_text()
        for changed in (
            lines.replace("\\u00e9", "e"),
            lines.replace('"ann"', '"eve"'),
            lines[:-9],
        ):
            assert changed != lines
            (tmp_path / "changed").write_text(changed)
            with pytest.raises(dp.LedgerCorrupt):
                import_ledger(tmp_path / "changed", tmp_path / "two")
        with pytest.raises(dp.LedgerCorrupt, match="it is an older copy"):
            import_ledger(tmp_path / "lines", tmp_path / "two", checkpoint=newer)
        with pytest.raises(dp.InvalidArgument, match="there is a ledger there already"):
            import_ledger(tmp_path / "lines", place[0])
        assert not (tmp_path / "two").exists() and before.charges == 3


class TestAnEarlierRelease:
    """Its ledgers are brought forward by the first charge, once; they are read without that."""

    @pytest.mark.parametrize("kind", ["pure", "approximate", "zcdp", "residue"])
    def test_is_brought_forward_by_one_entry(self, kind, tmp_path, stopped_clock):
        stopped_clock.set(MAY.replace(year=2030) if kind == "residue" else MAY)
        path = shutil.copy(OLD / f"{kind}.ledger", tmp_path / "old.ledger")
        with dp.open_ledger(path) as ledger:
            before, spent = ledger.verify(), ledger.spent()
            assert ledger._store.read((ACCOUNT_TREE,)).texts == {}
            ledger.allow("ana", None)
            assert [entry.kind for entry in ledger.history(last=2)] == ["upgrade", "allow"]
            after = ledger.verify(checkpoint=before.checkpoint)
            assert (
                after.entries == before.entries + 2
                and after.exact == before.exact
                and ledger.spent() == spent
            )
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA user_version").fetchone() == (2,)

    def test_moves_to_another_store_and_is_imported(self, tmp_path, stopped_clock, postgres_dsn):
        stopped_clock.set(MAY)
        for kind in ("pure", "approximate", "zcdp"):
            path, name = (
                shutil.copy(OLD / f"{kind}.ledger", tmp_path / f"{kind}.ledger"),
                secrets.token_hex(8),
            )
            with dp.open_ledger(path) as ledger:
                ledger.export(tmp_path / f"{kind}.lines", answers=True)
                before = ledger.verify()
            assert (
                import_ledger(tmp_path / f"{kind}.lines", tmp_path / f"{kind}.new").spent
                == before.spent
            )
            verdict = move_ledger(path, postgres_dsn, to_name=name)
            assert verdict.exact and (verdict.spent, verdict.answers) == (
                before.spent,
                before.answers,
            )

    def test_with_a_changed_account_is_not_vouched_for(self, tmp_path, stopped_clock):
        stopped_clock.set(MAY)
        path = shutil.copy(OLD / "pure.ledger", tmp_path / "old.ledger")
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("DELETE FROM state WHERE name = 'who:ana'")
        with (
            dp.open_ledger(path) as ledger,
            pytest.raises(dp.LedgerCorrupt, match="not those of the chain"),
        ):
            ledger.charge(TWENTIETH, who="bob")


class TestPersonalAccounts:
    """The chain vouches for them: a change is noticed by whoever it is about, at the next charge."""

    @pytest.mark.parametrize("how", ["less", "older", "none", "another page"])
    def test_one_that_was_changed_is_refused(self, file, how):
        with dp.open_ledger(file, dp.PureDP(1), allowances={"*": dp.PureDP("1/2")}) as ledger:
            ledger.charge(TWENTIETH, who="ann")
            older = ledger._store.read(None).texts
            ledger.charge(TWENTIETH, who="ann")
            ledger.charge(TWENTIETH, who="bob")
            page = next(name for name in older if name.startswith(f"{ACCOUNT_TREE}:"))
            changes = {
                "less": ("who:ann", older["who:ann"].replace("1/20", "1/2000")),
                "older": ("who:ann", older["who:ann"]),
                "none": ("who:ann", None),
                "another page": (page, older[page]),
            }
            name, text = changes[how]
            with closing(sqlite3.connect(file, isolation_level=None)) as connection:
                sql = (
                    "DELETE FROM state WHERE name = ?1 AND ?2 IS NULL"
                    if text is None
                    else "UPDATE state SET text = ?2 WHERE name = ?1"
                )
                connection.execute(sql, (name, text))
            for call in (
                lambda: ledger.charge(TWENTIETH, who="ann"),
                lambda: ledger.left("ann"),
                ledger.verify,
            ):
                with pytest.raises(dp.LedgerCorrupt):
                    call()
            assert ledger.charge(TWENTIETH, who="bob").number == 5  # what is about others is not

    def test_many_people_have_one_each(self, place):
        ledger = place.open(dp.PureDP(100), allowances={"*": dp.PureDP("1/20")})
        for number in range(20):
            ledger.charge(TWENTIETH, who=f"person {number}")
        assert (
            ledger.verify().exact
            and ledger.left("person 7") == dp.PureDP(0)
            and ledger.left("x") == dp.PureDP("1/20")
        )


class TestAClockThatWasWrong:
    def test_does_not_stop_a_ledger_that_is_repaired(self, durable, stopped_clock):
        ledger = durable.open(dp.PureDP(1))
        ledger.charge(TWENTIETH, who="ann", key="k1")
        today = stopped_clock.time
        stopped_clock.move(days=365)
        ledger.charge(TWENTIETH, who="ann", key="k2")
        stopped_clock.set(today)
        for call in (ledger.left, lambda: ledger.charge(TWENTIETH, who="ann")):
            with pytest.raises(dp.LedgerConflict, match="see `ledger repair`"):
                call()
        entry = repair_ledger(durable.where, name=durable.name)
        assert entry.kind == "repair" and entry.time < ledger.history()[-2].time
        assert ledger.spent() == dp.PureDP("1/10") and ledger.pending("k2", "ann") is not None
        ledger.finish(ledger.pending("k2", "ann"), "2")
        ledger.charge(TWENTIETH, who="ann")
        verdict = ledger.verify()
        assert verdict.exact and verdict.charges == 3
        with pytest.raises(dp.InvalidArgument, match="needs no repair"):
            repair_ledger(durable.where, name=durable.name)

    def test_with_windows_what_was_charged_too_early_counts_now(self, durable, stopped_clock):
        ledger = durable.open(dp.PureDP(1), window="month", allowances={"*": dp.PureDP("3/4")})
        ledger.charge(TWENTIETH, who="ann")  # May
        today = stopped_clock.time
        for days in (40, 80):  # June and July, which have not come
            stopped_clock.set(today + timedelta(days=days))
            ledger.charge(TWENTIETH, who="ann", key=f"k{days}")
            ledger.charge(TWENTIETH, who="bob")
            assert ledger.spent() == dp.PureDP("1/10")
        stopped_clock.set(today)
        repair_ledger(durable.where, name=durable.name)
        assert ledger.spent() == dp.PureDP("1/4")
        assert (ledger.left("ann"), ledger.left("bob")) == (dp.PureDP("3/5"), dp.PureDP("13/20"))
        assert (
            ledger.pending("k40", "ann") is None
        )  # nobody knows its window: what goes out now is paid for now
        ledger.charge(HALF, who="ann")
        stopped_clock.move(days=40)
        assert ledger.left() == dp.PureDP(1) and ledger.pending("k40", "ann") is None
        ledger.charge(TWENTIETH, who="ann")
        stopped_clock.move(days=40)
        ledger.charge(TWENTIETH, who="bob")
        stopped_clock.move(days=-60)  # once more: what was counted in May is not counted again
        repair_ledger(durable.where, name=durable.name)
        assert ledger.spent() == dp.PureDP("1/10") and ledger.verify().exact

    def test_more_than_a_window_holds_fills_it(self, durable, stopped_clock):
        ledger = durable.open(dp.PureDP(1), window="month")
        today = stopped_clock.time
        for days in (0, 40):
            stopped_clock.set(today + timedelta(days=days))
            ledger.charge(HALF, who="ann")
            ledger.charge(LaplaceNoise(4, 1), who="ann")
        stopped_clock.set(today)
        repair_ledger(durable.where, name=durable.name)
        assert ledger.left() == dp.PureDP(0) and ledger.verify().exact
        stopped_clock.move(days=40)
        assert ledger.left() == dp.PureDP(1)


class TestEntriesThatWereLost:
    @pytest.mark.parametrize("window", [None, "month"])
    def test_are_accepted_by_counting_all_as_spent(self, file, window, stopped_clock):
        with dp.open_ledger(file, dp.PureDP(1), window=window) as ledger:
            ledger.finish(ledger.charge(TWENTIETH, who="ann", key="k"), "1")
            ledger.backup(file.with_name("copy"))
            ledger.charge(TWENTIETH, who="ann")
        try:
            os.getxattr(file, "user.discreet.last")
        except (OSError, AttributeError):
            pytest.skip("this file system keeps no attributes")
        shutil.copyfile(file.with_name("copy"), file)
        with pytest.raises(dp.LedgerCorrupt, match="repair --lost"):
            dp.open_ledger(file)
        entry = repair_ledger(file, lost=True)
        assert entry.terms == {"lost": 4}
        with dp.open_ledger(file) as ledger:
            assert (
                ledger.left() == dp.PureDP(0)
                and ledger.answer("k")[1] == "1"
                and ledger.verify().exact
            )
            stopped_clock.move(days=40)
            assert ledger.left() == dp.PureDP(0 if window is None else 1)
        with pytest.raises(dp.InvalidArgument, match="nothing is missing"):
            repair_ledger(file, lost=True)


def lies(true):
    """One lie each about the text, the fingerprint, the answer, the versions, the neighbours, the part, who, why, price."""
    [asked] = true.asked
    for change in ({"text": "?"}, {"fingerprint": "0" * 64}, {"answer": "0" * 64}):
        yield replace(true, asked=(replace(asked, **change),))
    for change in (
        {"tables": (("people", "2"),)},
        {"neighbours": "replace"},
        {"part": True},
        {"who": "eve"},
        {"why": "else"},
        {"price": dp.PureDP(2)},
    ):
        yield replace(true, **change)


def test_receipts_hold_on_every_store_and_after_a_move(places):
    """What a receipt states is proved against the ledger, wherever that is now."""
    from curator.cases import COUNT, PEOPLE, ROWS

    one, two = places
    with opened(one, dp.PureDP(3)) as ledger:
        answer = dp.Curator(dp.Memory(ROWS), [PEOPLE], ledger, who="ann").sql(
            COUNT, spend=dp.PureDP(1)
        )
        dp.verify_receipt(answer.receipt, answer=answer, ledger=ledger)
    moved(one, two)
    for place in places:
        with opened(place) as ledger:
            dp.verify_receipt(answer.receipt, answer=answer, ledger=ledger)
            for forged in lies(answer.receipt):
                with pytest.raises(dp.ClaimRefuted):
                    dp.verify_receipt(forged, ledger=ledger)
            again = dp.Curator(dp.Memory(ROWS), [PEOPLE], ledger, who="ann").sql(
                COUNT, spend=dp.PureDP(1)
            )
            assert again.rows == answer.rows and ledger.spent() == dp.PureDP(1)


def test_a_loss_is_not_forgotten_by_a_repair_of_the_clock(tmp_path, monkeypatch):
    """What was lost counts as spent in the window in which it was noticed, also if that window had not come."""
    shift = [timedelta(0)]
    usual = clock.now
    monkeypatch.setattr(clock, "now", lambda: usual() + shift[0])
    path, full = tmp_path / "a.ledger", dp.Laplace(scale=1, sensitivity=1).event
    dp.open_ledger(path, dp.PureDP(1), window="month").close()
    older = path.read_bytes()
    with dp.open_ledger(path) as ledger:
        ledger.charge(full, who="ann")
    with path.open("r+b") as file:  # an older content put back
        file.truncate(0)
        file.write(older)
    shift[0] = timedelta(days=60)
    repair_ledger(path, lost=True)
    shift[0] = timedelta(0)
    repair_ledger(path)
    with dp.open_ledger(path) as ledger:
        assert ledger.left() == dp.PureDP(0) and ledger.verify().exact
        with pytest.raises(dp.BudgetExceeded):
            ledger.charge(full, who="ann")


def test_a_copy_of_a_draft_is_no_third_place(tmp_path, monkeypatch):
    one, two, three = (tmp_path / f"{name}.ledger" for name in "abc")
    with dp.open_ledger(one, dp.PureDP(1)) as ledger:
        ledger.charge(dp.Laplace(scale=2, sensitivity=1).event, who="ann")

    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("discreet.ledger.life.move._close", stop)
        with pytest.raises(KeyboardInterrupt):
            move_ledger(one, two)
    three.write_bytes(two.read_bytes())
    assert move_ledger(one, two).charges == 1
    with pytest.raises(dp.LedgerConflict, match="closed for good"):
        move_ledger(one, three)
