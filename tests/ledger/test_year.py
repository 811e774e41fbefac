"""A year of one ledger, to the last digit.

It begins in release 0.1.0, serves twenty people in monthly windows, moves between stores, is lost and imported, meets a
copy that is put back and a clock that is wrong; a plain model beside it has the same sums.
"""

from __future__ import annotations

import os
import random
import secrets
import shutil
from datetime import timedelta
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest

import discreet as dp
from discreet.ledger import import_ledger, move_ledger, repair_ledger
from discreet.ledger.charge_order import ChargeOrder
from fixtures.world_0_1_0 import MAY

OLD = Path(__file__).parents[1] / "fixtures" / "ledger_0_1_0" / "zcdp.ledger"
PEOPLE = ["ana", "bob", *(f"person {number}" for number in range(18))]
BUDGET = Fraction(2)


@cache
def noise(sigma):
    """Gaussian noise, of price 1/(2σ²)."""
    return dp.Gaussian(scale=sigma, sensitivity=1).event


class Model:
    """What must be true, in plain fractions: spent in this month by everyone and by each, and what each may spend."""

    def __init__(self, month):
        self.month, self.spent, self.own, self.shares = month, Fraction(), {}, {}
        self.answered, self.pending = set(), set()

    def at(self, time):
        if (time.year, time.month) != self.month:
            self.month, self.spent, self.own = (time.year, time.month), Fraction(), {}

    def admits(self, who, price):
        mine = self.own.get(who, Fraction()) + price
        return self.spent + price <= BUDGET and mine <= self.shares.get(who, BUDGET)

    def charge(self, who, price):
        self.spent += price
        self.own[who] = self.own.get(who, Fraction()) + price


class Year:
    """One ledger, wherever it is now, and the model beside it."""

    def __init__(self, folder, dsn, clock, charges):
        self.folder, self.dsn, self.clock = folder, dsn, clock
        self.step = timedelta(days=365) / charges
        self.dice = random.Random(20260514)
        self.places = [(shutil.copy(OLD, folder / "0.ledger"), "main")]
        self.sigma, self.questions, self.every = round((charges / 150) ** 0.5), charges // 25, 4
        self.ledger = self.open()
        self.model = Model((clock.time.year, clock.time.month))
        self.charged, self.refused, self.free = self.ledger.verify().charges, 0, 0

    def open(self):
        return dp.open_ledger(self.places[-1][0], name=self.places[-1][1])

    def ask(self):
        """Somebody asks something: new, or asked before about the same version of the data."""
        self.clock.set(self.clock.time + self.step)
        self.model.at(self.clock.time)
        who, root = self.dice.choice(PEOPLE), self.dice.randint(1, 3)
        version, question = f"{self.clock.time:%Y-%m}", self.dice.randint(1, self.questions)
        key = f"2:{version}:{question}:{root}"
        price = Fraction(1, 2 * (root * self.sigma) ** 2)
        try:
            found = self.ledger.settle(
                ChargeOrder(who, "", key[2:], key, noise(root * self.sigma), text="", apart=False)
            )
        except dp.BudgetExceeded:
            assert key not in self.model.answered and not self.model.admits(who, price)
            self.refused += 1
            return
        assert found.fresh == (key not in self.model.answered)
        if found.fresh:
            assert self.model.admits(who, price)
            self.model.charge(who, price)
            self.model.answered.add(key)
            self.charged += 1
        else:
            assert found.body in (key, None)
            self.free += 1
        if found.body is None and (self.charged % self.every == 0 or not found.fresh):
            self.ledger.finish(found.charge, key)
        elif found.body is None:
            self.model.pending.add(key)  # somebody died before there was an answer
            return
        self.model.pending.discard(key)

    def compare(self, *, verify):
        """Every sum, of everyone and of each person, and the chain priced again."""
        assert self.ledger.spent().rho == self.model.spent
        for who in PEOPLE:
            share = self.model.shares.get(
                who, BUDGET
            )  # of a share that was lowered no more than all is shown as spent
            assert self.ledger.spent(who).rho == min(self.model.own.get(who, 0), share)
        if verify:
            verdict = self.ledger.verify()
            assert (
                verdict.exact
                and verdict.charges == self.charged
                and verdict.spent.rho == self.model.spent
            )

    def allow(self):
        who, share = self.dice.choice(PEOPLE), Fraction(self.dice.randint(1, 8), 20)
        self.ledger.allow(who, dp.ZCDP(share))
        self.model.shares[who] = share

    def move(self, kind):
        self.ledger.close()
        place = (
            (self.dsn, secrets.token_hex(8))
            if kind == "server"
            else (self.folder / f"{len(self.places)}.ledger", "main")
        )
        move_ledger(self.places[-1][0], place[0], name=self.places[-1][1], to_name=place[1])
        with self.open() as closed, pytest.raises(dp.LedgerConflict, match="closed for good"):
            closed.charge(noise(1000), who="ana")
        self.places.append(place)
        self.ledger = self.open()

    def put_back(self):
        """An older copy takes the place of the file: the checkpoint that was kept tells; then the true one is put back."""
        path = self.places[-1][0]
        self.ledger.backup(f"{path}-monday")
        self.ask_until_charged()
        kept = self.ledger.verify().checkpoint
        self.ledger.close()
        os.replace(path, f"{path}-true")
        os.replace(f"{path}-monday", path)
        with (
            dp.open_ledger(path) as copy,
            pytest.raises(dp.LedgerCorrupt, match="it is an older copy"),
        ):
            copy.verify(checkpoint=kept)
        os.replace(f"{path}-true", path)
        self.ledger = self.open()
        assert self.ledger.verify(checkpoint=kept).exact

    def ask_until_charged(self):
        before = self.charged
        while self.charged == before:
            self.ask()

    def wrong_clock(self):
        """A charge under a clock that is forty days ahead counts in the present month after the repair."""
        today = self.clock.time
        self.clock.set(today + timedelta(days=40))
        self.ledger.charge(noise(1000), who="ana")
        self.charged += 1
        self.clock.set(today)
        with pytest.raises(dp.LedgerUnavailable, match="the clock says"):
            self.ledger.left()
        repair_ledger(self.places[-1][0], name=self.places[-1][1])
        self.model.charge("ana", Fraction(1, 2_000_000))
        self.model.answered -= (
            self.model.pending
        )  # nobody trusts the times of charges before it: they are paid for anew
        self.model.pending.clear()

    def lose_and_import(self):
        """The file is lost; an export goes on in its place."""
        self.ledger.export(self.folder / "lines", answers=True)
        kept = self.ledger.verify().checkpoint
        self.ledger.close()
        os.unlink(self.places[-1][0])
        self.places.append((self.folder / "imported.ledger", "main"))
        import_ledger(self.folder / "lines", self.places[-1][0], checkpoint=kept)
        self.ledger = self.open()


def live(year, charges):
    """Let a year pass: what happens stands at its share of the charges."""
    happens = {3: year.allow, 5: lambda: year.move("server"), 7: lambda: year.move("file"), 10: year.allow,
               12: year.put_back, 14: year.wrong_clock, 17: year.lose_and_import, 20: year.allow,
               25: lambda: year.move("server"), 26: year.wrong_clock, 27: lambda: year.move("file"), 50: year.allow}  # fmt: skip
    early = 1 if charges < 10_000 else 3  # a long chain is walked in the end
    due = {share * charges // (100 * early): what for share, what in happens.items()}
    for number in range(charges):
        year.ask()
        if number in due:
            due[number]()
            year.compare(verify=charges < 10_000)
    year.compare(verify=True)
    asked = f"{charges} questions: {year.charged} charges, {year.free} free, {year.refused} refused"
    print(f"{asked}; {year.ledger.history(last=1)[0].number} entries in {len(year.places)} places")  # noqa: T201 the numbers are asked for
    assert year.refused > charges // 200 and year.free > charges // 100
    year.ledger.close()


@pytest.mark.parametrize("charges", [300, pytest.param(140_000, marks=pytest.mark.slow)])
def test_a_year_adds_up_to_the_last_digit(charges, tmp_path, postgres_dsn, stopped_clock):
    stopped_clock.set(
        MAY.replace(month=6, day=1)
    )  # a new window: what 0.1.0 spent in May has passed
    shared = Path("/dev/shm")  # noqa: S108 a disk in memory: what is durable is proved elsewhere
    folder = shared / secrets.token_hex(8) if shared.is_dir() else tmp_path / "year"
    folder.mkdir()
    try:
        live(Year(folder, postgres_dsn, stopped_clock, charges), charges)
    finally:
        shutil.rmtree(folder)
