"""Roll-up: sums of cells that the asker has paid for, free where they are as good as asked."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

import discreet as dp
from discreet.answer.measured_table import slice_table
from discreet.errors import InvalidArgument
from support.profile import draws

SHOPS = dp.Schema(
    "shops",
    dp.Rows(),
    {
        "region": dp.Category(["N", "S", "E"], default="N"),
        "kind": dp.Category(["a", "b"], default="a"),
        "size": dp.Integer(0, 9, default=0),
        "open": dp.Boolean(),
    },
)
ROWS = [
    {
        "region": "NSE"[n % 3],
        "kind": "ab"[n % 2],
        "size": n % 10,
        "open": (None, True, False)[n % 3],
    }
    for n in range(1_000)
]
MEASURES = [
    (dp.PureDP(99), dp.PureDP(4), dp.PureDP(1)),
    (dp.ZCDP(99), dp.ZCDP(1), dp.ZCDP("1/10")),
    (dp.GaussianDP(99), dp.GaussianDP(2), dp.GaussianDP("1/2")),
    (dp.ApproxDP(99, "1/1000"), dp.ApproxDP(4, "1/100000"), dp.ApproxDP("1/2", "1/100000")),
]
WIDE = "SELECT region, kind, COUNT(*) AS n, SUM(size) AS s FROM shops GROUP BY region, kind"
MARGIN = "SELECT region, COUNT(*) AS m, SUM(size) AS t FROM shops GROUP BY region"
ONE = dp.PureDP(1)


class Sealed(dp.Memory):
    """A store that must not be read."""

    def tally(self, tally, /):
        raise AssertionError("read")


def curator(budget=None, engine=dp.Memory, ledger=None, **more):
    ledger = ledger or dp.open_ledger(":memory:", budget or dp.PureDP(99))
    return dp.Curator(engine({"shops": ROWS}), [SHOPS], ledger, **more)


class TestARollUp:
    @pytest.mark.parametrize(("budget", "much", "little"), MEASURES)
    def test_is_free_where_it_is_as_good_as_asked(self, budget, much, little):
        asked = curator(budget)
        wide = asked.sql(WIDE, spend=much)
        sealed = curator(engine=Sealed, ledger=asked.ledger)
        spent = asked.spent()
        margin = sealed.sql(MARGIN, spend=little)
        assert asked.spent() == spent and asked.ledger.verify().charges == 1
        sums = {}
        for region, _, n, s in wide.rows:
            sums[region] = [a + b for a, b in zip(sums.get(region, (0, 0)), (n, s), strict=True)]
        for region, m, t in margin.rows:
            assert [m, t] == pytest.approx(sums[region], abs=2)
        planned = asked.plan(MARGIN, little).statistic_errors()
        for row in margin.interval(0.95):
            assert (row["m"][1] - row["m"][0]) / 2 <= planned["m"] * 1.01
        assert margin.caption.startswith(f"from entry {margin.receipt.number}, nothing spent")
        assert str(margin.plan) == f"from entry {margin.receipt.number}, nothing spent"

    def test_is_charged_where_it_is_not(self):
        """A sum of two cells has more noise than a margin at the same spend, unless twice as much is allowed."""
        asked = curator()
        asked.sql(WIDE, spend=ONE)
        assert not asked.explain(MARGIN, spend=ONE).stored
        told = asked.explain(MARGIN, spend=ONE, within=2)
        assert told.stored and told.sources == (2,) and 1 < told.times <= 2
        assert "made of the cells of entry 2" in str(told) and asked.spent() == ONE
        asked.sql(MARGIN, spend=ONE, within=2, reuse="only")
        with pytest.raises(dp.BudgetExceeded, match="no released answer"):
            asked.sql(MARGIN, spend=ONE, reuse="only")
        asked.sql(MARGIN, spend=ONE)
        assert asked.spent() == dp.PureDP(2)

    def test_is_free_where_it_is_just_as_good(self):
        """One cell of a table has the error of that cell asked alone, and equal errors are good enough."""
        asked = curator(siblings=False)
        asked.sql(WIDE, spend=ONE)
        cells = "SELECT region, COUNT(*) AS m, SUM(size) AS t FROM shops WHERE kind = 'a' GROUP BY region"
        told = asked.explain(cells, spend=ONE, within=1)
        assert told.sources == (2,) and told.times == pytest.approx(1)

    def test_has_the_noise_of_each_cell_once(self):
        """Twice a sum is twice as uncertain: the cells have noises of their own, a cell has one."""
        asked = curator()
        asked.sql(WIDE, spend=ONE)
        sql = "SELECT region, COUNT(*) AS m, 2 * COUNT(*) AS d, SUM(size) AS t FROM shops GROUP BY region"
        for row in asked.sql(sql, spend=ONE, within=9, reuse="only").interval(0.95):
            assert row["d"] == pytest.approx([2 * end for end in row["m"]], abs=2)

    def test_stays_the_same_for_ever(self):
        """The first charge that serves is taken, whatever is bought later; the own answer comes before it."""
        asked = curator()
        asked.sql(WIDE, spend=dp.PureDP(4))
        first = asked.sql(MARGIN, spend=ONE)
        asked.sql(WIDE, spend=dp.PureDP(9))
        asked.sql(
            "SELECT region, size, COUNT(*) AS n, SUM(size) AS s FROM shops GROUP BY 1, 2",
            spend=dp.PureDP(30),
        )
        assert asked.sql(MARGIN, spend=ONE) == first
        fresh = asked.sql(MARGIN, spend=ONE, reuse=False)
        assert fresh.receipt.number > first.receipt.number
        assert asked.sql(MARGIN, spend=ONE) == fresh

    @pytest.mark.parametrize("sql", [
        "SELECT COUNT(*) AS n, SUM(size) AS s FROM shops",
        "SELECT COUNT(*) AS n, SUM(size) AS s FROM shops WHERE kind = 'a'",
        "SELECT region, COUNT(*) AS n, SUM(size) AS s FROM shops WHERE region = 'S' GROUP BY region",
        "SELECT region AS r, SUM(size) AS x, COUNT(*) AS y FROM shops GROUP BY region HAVING y > 2 ORDER BY x LIMIT 2",
        "SELECT SUM(n) AS total FROM (SELECT region, COUNT(*) AS n, SUM(size) AS s FROM shops GROUP BY region)",
    ])  # fmt: skip
    def test_has_a_receipt_that_the_ledger_proves(self, sql):
        asked = curator(signer=dp.Signer.create())
        asked.sql(WIDE, spend=dp.PureDP(9))
        answer = asked.sql(sql, spend=dp.PureDP("1/2"))
        assert asked.spent() == dp.PureDP(9)
        receipt = dp.verify_receipt(answer.receipt.to_json(), answer=answer, ledger=asked.ledger)
        assert receipt.number == 2
        # Earlier releases know no sums, and must not read them as parts.
        assert json.loads(receipt.to_json())["receipt"] == 4
        for name, value in receipt.shown:
            changed = {"sum": ["N"]} if isinstance(value, dict) else {"sum": ["a", "b"]}
            others = [(one, changed if one == name else kept) for one, kept in receipt.shown]
            with pytest.raises(dp.ClaimRefuted):
                dp.verify_receipt(
                    replace(receipt, shown=tuple(others), signature="", key=""), ledger=asked.ledger
                )

    def test_of_the_same_question_at_another_spend_is_given_if_it_is_said(self):
        asked = curator()
        much = asked.sql(WIDE, spend=dp.PureDP(4))
        assert asked.sql(WIDE, spend=ONE, within=1).rows == much.rows
        assert asked.spent() == dp.PureDP(4)
        asked.sql(WIDE, spend=ONE)
        assert asked.spent() == dp.PureDP(5)

    def test_is_not_made_of_what_is_not_there(self):
        """Another version, moved numbers, means, a key that a row may be without, a filter of several cells."""
        asked = curator()
        much = dp.PureDP(9)
        asked.sql("SELECT region, open, COUNT(*) AS n FROM shops GROUP BY region, open", spend=much)
        asked.sql(
            "SELECT kind, size, COUNT(*) AS n FROM shops GROUP BY kind, size",
            spend=much,
            nonnegative=True,
        )
        asked.sql(
            "SELECT region, size, AVG(size) AS n FROM shops GROUP BY region, size", spend=much
        )
        for sql in (
            "SELECT region, COUNT(*) AS n FROM shops GROUP BY region",
            "SELECT kind, COUNT(*) AS n FROM shops GROUP BY kind",
            "SELECT region, AVG(size) AS n FROM shops GROUP BY region",
            "SELECT COUNT(*) AS n FROM shops WHERE region IN ('N', 'S') AND open",
        ):
            assert not asked.explain(sql, spend=dp.PureDP("1/10")).stored, sql
        # Of rows that are open no row is lost: the condition drops those without a value too.
        assert asked.explain(
            "SELECT COUNT(*) AS n FROM shops WHERE open = TRUE", spend=dp.PureDP("1/10")
        ).stored
        later = dp.Schema("shops", dp.Rows(), dict(SHOPS.columns), version="2")
        other = dp.Curator(dp.Memory({"shops": ROWS}), [later], asked.ledger)
        sql = "SELECT COUNT(*) AS n FROM shops WHERE open = TRUE"
        assert not other.explain(sql, spend=dp.PureDP("1/10")).stored

    def test_is_not_of_moved_numbers_and_is_not_moved(self):
        """Counts that were moved to 0 or above are no totals with noise, not even one by one."""
        sizes = "SELECT kind, size, COUNT(*) AS n FROM shops GROUP BY kind, size"
        asked = curator()
        asked.sql(sizes, spend=dp.PureDP(9), nonnegative=True)
        one = "SELECT kind, COUNT(*) AS n FROM shops WHERE size = 3 GROUP BY kind"
        assert not asked.explain(one, spend=ONE, within=9).stored
        plain = curator()
        plain.sql(sizes, spend=dp.PureDP(9))
        assert plain.explain(one, spend=ONE, within=9).stored
        assert not plain.explain(one, spend=ONE, within=9, nonnegative=True).stored

    def test_never_reaches_across_parts_of_a_ledger(self):
        """Each part is charged by itself, so a table of all parts is no source for a sum."""
        parted = dp.open_ledger(
            ":memory:",
            dp.PureDP(99),
            neighbours="add-remove",
            parts=dp.Parts("shops", "region", ["N", "S", "E"]),
        )
        asked = curator(ledger=parted)
        asked.sql(
            "SELECT kind, size, COUNT(*) AS n FROM shops WHERE region = 'N' GROUP BY 1, 2",
            spend=dp.PureDP(9),
        )
        sql = "SELECT kind, COUNT(*) AS n FROM shops WHERE region = 'N' GROUP BY kind"
        assert not asked.explain(sql, spend=ONE, within=9).stored

    def test_never_reaches_across_blocks_of_a_ledger(self):
        """Each block has a budget of its own, and the charge of a table may have been of others."""
        days = {"day": dp.Date("2024-01-01", "2024-01-28"), **SHOPS.columns}
        visits = dp.Schema("visits", dp.Rows(), days)
        ledger = dp.open_ledger(
            ":memory:",
            dp.PureDP(99),
            neighbours="add-remove",
            blocks=dp.Blocks("visits", "day", "week", stays=1),
        )
        rows = [{"day": "2024-01-02", **row} for row in ROWS[:9]]
        asked = dp.Curator(dp.Memory({"visits": rows}), [visits], ledger)
        week = "FROM visits WHERE day < DATE '2024-01-08'"
        asked.sql(f"SELECT kind, size, COUNT(*) AS n {week} GROUP BY 1, 2", spend=dp.PureDP(9))
        sql = f"SELECT kind, COUNT(*) AS n {week} GROUP BY kind"
        assert not asked.explain(sql, spend=ONE, within=9).stored

    def test_of_a_colleague_is_not_given_and_not_told(self):
        """Every visible byte is that of a ledger in which the colleague did not ask."""
        seen = []
        for history in (True, False):
            asked = curator()
            if history:
                asked.named("bob").sql(WIDE, spend=dp.PureDP(9))
            ana = asked.named("ana")
            told = ana.explain(MARGIN, spend=ONE)
            answer = ana.sql(MARGIN, spend=ONE)
            facts = json.loads(answer.receipt.to_json())
            visible = {
                name: facts[name] for name in ("who", "event", "price", "shown") if name in facts
            }
            seen.append(
                (
                    (told.price, told.sources, told.stored, told.fits, told.texts, told.warnings),
                    (answer.caption, answer.columns, len(answer), visible),
                    (ana.spent(), len(ana.history()), str(ana.plan(MARGIN, ONE))),
                )
            )
        assert seen[0] == seen[1]
        shared = curator(share_questions=True)
        shared.named("bob").sql(WIDE, spend=dp.PureDP(9))
        assert shared.named("ana").explain(MARGIN, spend=ONE).sources == (2,)

    def test_is_of_the_own_charge_where_a_colleague_paid_for_the_same(self, monkeypatch):
        """The receipt is the asker's, and the keys of others are not even read: time would tell of them."""
        asked = curator()
        asked.named("bob").sql(WIDE, spend=dp.PureDP(9))
        ana = asked.named("ana")
        own = ana.sql(WIDE, spend=dp.PureDP(9)).receipt
        listed = []
        real = type(asked.ledger).keys

        def keys(ledger, starts, who=None):
            listed.append(who)
            return real(ledger, starts, who)

        monkeypatch.setattr(type(asked.ledger), "keys", keys)
        margin = ana.sql(MARGIN, spend=ONE)
        assert (margin.receipt.number, margin.receipt.who) == (own.number, "ana")
        assert set(listed) == {"ana"}

    def test_of_a_ledger_in_a_file_is_found_by_another_process_of_it(self, tmp_path):
        path = tmp_path / "shops.ledger"
        with dp.open_ledger(path, dp.PureDP(99)) as ledger:
            curator(ledger=ledger, who="ana").sql(WIDE, spend=dp.PureDP(9))
        with dp.open_ledger(path) as again:
            assert curator(ledger=again, who="ana").explain(MARGIN, spend=ONE).sources == (2,)
            assert not curator(ledger=again, who="bob").explain(MARGIN, spend=ONE).stored

    @pytest.mark.parametrize("within", [0.5, -1, "x", True, math.nan, math.inf, 10**6])
    def test_takes_a_number_of_times_from_one(self, within):
        with pytest.raises(InvalidArgument):
            curator().sql(MARGIN, spend=ONE, within=within)

    def test_adds_up_plain_totals_alone(self):
        asked = curator()
        asked.sql(WIDE, spend=ONE)
        [(_, body)] = [
            found for found in [asked.ledger.answer(asked.ledger.keys(["2:"])[0])] if found
        ]
        table = json.loads(body)["answers"][""]
        summed = slice_table(table, ["kind", "region"], {"kind": {"sum": ["a", "b"]}})
        assert len(summed["keys"]) == 3
        moved = json.loads(json.dumps(table).replace('"low": null', '"low": "0"'))
        with pytest.raises(InvalidArgument):
            slice_table(moved, ["kind", "region"], {"kind": {"sum": ["a", "b"]}})
        with pytest.raises(InvalidArgument):
            slice_table(table, ["kind", "region"], {"town": {"sum": ["a", "b"]}})
        alone = {"estimate": "amount", "low": None, "high": None, "total": [5, "1", 0]}
        cut = {"keys": [["a"]], "estimates": [{"n": {**alone, "low": "0"}}]}
        with pytest.raises(InvalidArgument, match="not moved"):
            slice_table(cut, ["k"], {"k": {"sum": ["a", "b"]}})
        # NULL is a value of a key as any other.
        cells = {"keys": [["a"], [None]], "estimates": [{"n": alone}, {"n": alone}]}
        [made] = slice_table(cells, ["k"], {"k": {"sum": ["a", None]}})["estimates"]
        assert made["n"]["totals"] == [alone["total"]] * 2
        # One release may stand for two statistics, whose noise is then one.
        same = [dict.fromkeys(row, alone) for row in table["estimates"]]
        with pytest.raises(InvalidArgument, match="share their noise"):
            slice_table(
                {**table, "estimates": same}, ["kind", "region"], {"kind": {"sum": ["a", "b"]}}
            )


@pytest.mark.statistical
@pytest.mark.parametrize(("budget", "much", "little"), MEASURES)
def test_intervals_of_sums_hold_as_often_as_they_say(budget, much, little):
    """Of r runs fewer than 0.9 r − √(r ln(4e9)/2) hold with probability 1e-9/4 at most, in each of the cells."""
    exact = {}
    for row in ROWS:
        exact[row["region"]] = exact.get(row["region"], 0) + 1
    runs = draws(60)
    held = dict.fromkeys(exact, 0)
    for _ in range(runs):
        asked = curator(budget)
        asked.sql(WIDE, spend=little)
        margin = asked.sql(MARGIN, spend=little, within=9, reuse="only")
        for row, bound in zip(margin.rows, margin.interval(0.9), strict=True):
            held[row[0]] += bound["m"][0] <= exact[row[0]] <= bound["m"][1]
    assert min(held.values()) >= 0.9 * runs - math.sqrt(runs * math.log(4e9) / 2)
