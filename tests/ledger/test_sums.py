"""Σε in the books: kept by every path, found again in ledgers of 0.1.0, and decided once for all parts of a replaced row."""

from __future__ import annotations

import shutil
from fractions import Fraction
from pathlib import Path

import pytest

import discreet as dp
from discreet.privacy.events import GaussianNoise, KeySelection, LaplaceNoise

OLD = Path(__file__).parents[1] / "fixtures" / "ledger_0_1_0" / "residue.ledger"
MONTHS = dp.Parts("visits", "month", ["apr", "may"])
BUDGET = dp.ApproxDP(1, "1e-6")
HALF = LaplaceNoise(2, 1)


@pytest.fixture
def old(tmp_path):
    """A ledger that 0.1.0 wrote: 1/20 + 1/40 on all parts, 1/20 more on N, 1/10 on S, and Gaussian noise on E."""
    with dp.open_ledger(shutil.copy(OLD, tmp_path / "old.ledger")) as ledger:
        yield ledger


class TestALedgerOf010:
    def test_its_sums_are_found_in_its_entries(self, old):
        assert old.filter(part="N").added == Fraction(1, 8)
        assert old.filter(part="S").added == Fraction(7, 40)
        assert old.filter(part="E").added is None and old.filter().added is None
        assert old.filter("ana", part="N").added == Fraction(1, 8)
        assert (
            old.verify().charges == 5
        )  # to the last digit only on a machine that rounds as the one that wrote it

    def test_the_next_charge_writes_them_down_and_the_chain_still_holds(self, old, tmp_path):
        assert not old.admits(HALF, who="ana") and old.admits(HALF, who="ana", part="N")
        old.charge(HALF, who="ana", part="N")
        assert old.verify().charges == 6
        with dp.open_ledger(tmp_path / "old.ledger") as again:
            assert again.filter(part="N").added == Fraction(5, 8)
            assert again.filter("bob", part="S").added == Fraction(
                1, 10
            )  # bob's account is still as 0.1.0 wrote it
            assert not again.admits(HALF, who="ana", part="N")
            with pytest.raises(dp.BudgetExceeded, match=r"there is left ε = 0\.375"):
                again.charge(HALF, who="ana", part="N")
            again.charge(LaplaceNoise("8/3", 1), who="ana", part="N")
            assert again.verify().charges == 7

    def test_never_at_nothing(self, old):
        """Twice ε = ½ would fit an empty account."""
        old.charge(HALF, who="ana", part="S")
        with pytest.raises(dp.BudgetExceeded):
            old.charge(HALF, who="ana", part="S")


class TestParts:
    def test_of_a_removed_unit_are_decided_by_themselves(self):
        ledger = dp.open_ledger(":memory:", BUDGET, parts=MONTHS, neighbours="add-remove")
        for part in MONTHS.values:
            ledger.charge(LaplaceNoise(1, 1), who="ana", part=part)
        assert not ledger.admits(LaplaceNoise(100, 1), who="ana")
        assert ledger.left(part="apr") == dp.ApproxDP(0, "5e-7") and ledger.verify().exact

    @pytest.mark.parametrize("first", ["sum", "tail"])
    def test_of_a_replaced_unit_are_decided_once_for_all(self, first):
        """A Laplace of ½ in one part, by the sum, and Gaussian noise in another, by the tail, do not both fit."""
        half = LaplaceNoise(2, 1, neighbours="replace")
        gauss = GaussianNoise.of(10, 1, neighbours="replace")
        ledger = dp.open_ledger(":memory:", BUDGET, kind="zcdp", parts=MONTHS, neighbours="replace")
        order = [(half, "apr"), (gauss, "may")]
        (one, here), (other, there) = order if first == "sum" else reversed(order)
        ledger.charge(one, who="ana", part=here)
        assert not ledger.admits(other, who="ana", part=there)
        # Named is what is short: the amounts of all parts together, never a δ of 0.
        left = r"asked for [^;]*; of \(ε, δ\) = \(1, 1e-06\) there is left ε = 0"
        with pytest.raises(dp.BudgetExceeded, match=left):
            ledger.charge(other, who="ana", part=there)
        if first == "sum":
            ledger.charge(
                half, who="ana", part=there
            )  # ½ + ½ for a row that moves from one to the other
            assert not ledger.admits(LaplaceNoise(1000, 1, neighbours="replace"), who="ana")
        assert ledger.verify().exact


def test_a_new_window_begins_with_no_sum(stopped_clock):
    ledger = dp.open_ledger(":memory:", BUDGET, window="month")
    ledger.charge(LaplaceNoise(1, 1), who="ana")
    assert not ledger.admits(HALF, who="ana")
    stopped_clock.move(days=40)
    assert ledger.left() == dp.ApproxDP(1, "5e-7") and ledger.admits(LaplaceNoise(1, 1), who="bob")


def test_an_allowance_adds_up_too():
    ledger = dp.open_ledger(
        ":memory:", BUDGET, allowances={"ana": dp.ApproxDP("1/2", "5e-7"), "*": BUDGET}
    )
    assert ledger.left("ana") == dp.ApproxDP("1/2", "2.5e-7") and ledger.room("bob").epsilon == 1
    ledger.charge(HALF, who="ana")
    assert not ledger.admits(LaplaceNoise(100, 1), who="ana") and ledger.admits(HALF, who="bob")
    assert ledger.spent("ana").epsilon == Fraction(1, 2) and ledger.verify().exact


class TestAnAllowanceThatIsRaised:
    """What only the sum admitted, or the whole rule, is owed to the tail at its own price, also by a larger promise."""

    def ledger(self, event):
        ledger = dp.open_ledger(":memory:", dp.ApproxDP(50, "1e-2"), allowances={"ana": BUDGET})
        ledger.charge(event, who="ana")
        return ledger

    @pytest.mark.parametrize("delta", ["1e-6", "2e-6"])
    @pytest.mark.parametrize(
        "first",
        [LaplaceNoise(1, 1), KeySelection(LaplaceNoise(1, 1), "1e-6")],
        ids=("sum", "whole"),
    )
    def test_has_no_more_tail_than_its_promise_leaves(self, first, delta):
        ledger, noise = self.ledger(first), GaussianNoise.of("3.2", 1)
        assert not ledger.admits(LaplaceNoise(100, 1), who="ana")
        ledger.allow("ana", dp.ApproxDP(2, delta))
        assert dp.open_filter(dp.ApproxDP(2, delta), delta=Fraction(delta) / 2).admits(noise)
        assert dp.compose([LaplaceNoise(1, 1), noise]).lower.delta(epsilon=2) > 20 * float(delta)
        assert not ledger.admits(noise, who="ana") and ledger.admits(LaplaceNoise(1, 1), who="ana")
        assert ledger.verify().exact

    def test_has_leaked_all_that_the_whole_rule_gave(self):
        """δ = 1e-6 went to keys, twice what an allowance of that δ sets aside."""
        ledger = self.ledger(KeySelection(LaplaceNoise(1, 1), "1e-6"))
        ledger.allow("ana", dp.ApproxDP(2, "2e-6"))
        assert not ledger.admits(KeySelection(LaplaceNoise(10, 1), "1e-9"), who="ana")
        ledger.allow("ana", dp.ApproxDP(2, "3e-6"))
        assert ledger.admits(KeySelection(LaplaceNoise(10, 1), "5e-7"), who="ana")
        assert not ledger.admits(KeySelection(LaplaceNoise(10, 1), "5.1e-7"), who="ana")

    @pytest.mark.parametrize(
        "first",
        [LaplaceNoise(1, 1), KeySelection(LaplaceNoise(1, 1), "1e-6")],
        ids=("sum", "whole"),
    )
    def test_pays_for_it_where_it_can(self, first):
        ledger = self.ledger(first)
        ledger.allow("ana", dp.ApproxDP(20, "1e-4"))
        assert ledger.admits(GaussianNoise.of(1, 1), who="ana")
        assert dp.compose([first, GaussianNoise.of(1, 1)]).delta(epsilon=20) <= 1e-4
