"""Contrast: counts under conditions for a third to a half of their price, as exact as planned."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from fractions import Fraction

import pytest

import discreet as dp
from discreet.answer.measured_table import find_half_sum, half_sum
from discreet.errors import InvalidArgument
from discreet.ledger import failpoints

COLUMNS = {
    "region": dp.Category(["N", "S"], default="N"),
    "age": dp.Integer(0, 99),
    "wage": dp.Real(0, 1_000, step="1/100"),
}
SHOPS = dp.Schema("shops", dp.Rows(), COLUMNS)
ROWS = [
    {"region": "NS"[n % 2], "age": n % 100 if n % 7 else None, "wage": n % 997}
    for n in range(1_000)
]
SPEND = dp.ZCDP("1/1000")
TOTAL = "SELECT COUNT(*) AS n FROM shops"
YOUNG = "SELECT COUNT(*) AS n FROM shops WHERE age < 18"
RICH = "SELECT COUNT(*) AS n FROM shops WHERE wage > 900.5 AND age > 30"
BY_REGION = "SELECT region, COUNT(*) AS n FROM shops GROUP BY region"
OLD = "SELECT region, COUNT(*) AS n FROM shops WHERE age BETWEEN 60 AND 79 GROUP BY region"


def curator(budget=None, ledger=None, schema=SHOPS, **more):
    ledger = ledger or dp.open_ledger(":memory:", budget or dp.ZCDP(99))
    return dp.Curator(dp.Memory({"shops": ROWS}), [schema], ledger, **{"who": "ana", **more})


def price(asked, sql, spend=SPEND, **terms):
    """What the ledger takes for a question, in prices of the question by itself."""
    before = asked.spent()
    asked.sql(sql, spend=spend, **terms)
    taken = asked.spent().rho - before.rho
    # Variances of noise are rounded up, so a price may be a hair below what was to be spent.
    return round(float(taken / spend.rho), 6)


class TestAContrast:
    @pytest.mark.parametrize(("budget", "spend"), [
        (dp.ZCDP(99), dp.ZCDP("1/100")),
        (dp.GaussianDP(99), dp.GaussianDP("1/10")),
        (dp.ApproxDP(99, "1/1000"), dp.ApproxDP("1/2", "1/100000")),
    ])  # fmt: skip
    @pytest.mark.parametrize("level", [0.5, 0.99])
    def test_is_as_exact_as_planned(self, budget, spend, level):
        """For less than was asked to be spent, at the level that was asked for."""
        asked = curator(budget)
        asked.sql(BY_REGION, spend=spend)
        told = asked.explain(OLD, spend=spend, level=level)
        answer = asked.sql(OLD, spend=spend, level=level)
        if isinstance(spend, dp.ApproxDP) and not told.sources:
            return  # planned with geometric noise
        planned = asked.plan(OLD, spend, level=level).statistic_errors()["n"]
        for interval in answer.interval(level):
            assert (interval["n"][1] - interval["n"][0]) / 2 <= planned
        assert told.sources == (2,) and "since entry 2 tells the total" in str(told)
        assert json.loads(answer.receipt.to_json())["receipt"] == 5
        assert str(answer.plan) == "half the sum of entries 2 and 4" in answer.notes
        assert answer.receipt.stated_price() == told.price

    @pytest.mark.parametrize("condition", [
        "age < 18", "wage > 500.25", "age IS NULL", "age < 18 OR wage > 900", "NOT (age >= 18)",
        "region = 'N' AND age BETWEEN 3 AND 5", "age IN (1, 2, 50)",
    ])  # fmt: skip
    def test_is_the_exact_count_where_there_is_next_to_no_noise(self, condition):
        asked = curator(dp.ZCDP(10**9))
        much = dp.ZCDP(10**5)
        asked.sql(TOTAL, spend=much)
        sql = f"{TOTAL} WHERE {condition}"
        alone = curator(dp.ZCDP(10**9)).sql(sql, spend=much, reuse=False)
        assert asked.sql(sql, spend=much).rows == alone.rows

    def test_costs_a_third_of_the_question_and_half_of_it_after_both_sides(self):
        asked = curator()
        asked.sql(TOTAL, spend=SPEND)
        assert 1 / 3 <= price(asked, YOUNG) <= 3 / 8
        asked = curator()
        # Nothing is known: both sides of the condition are measured, for the price of one.
        assert price(asked, YOUNG) == 1
        assert asked.explain(YOUNG, spend=SPEND).stored
        assert 1 / 2 <= price(asked, RICH) <= 13 / 24

    def test_of_an_error_keeps_the_error(self):
        asked = curator()
        asked.sql(TOTAL, error=50)
        alone = curator()
        alone.sql(YOUNG, error=50)
        before = asked.spent().rho
        answer = asked.sql(YOUNG, error=50)
        assert asked.spent().rho - before <= alone.spent().rho * 0.4
        low, high = answer.interval(0.95)[0]["n"]
        assert (high - low) / 2 <= 50

    @pytest.mark.parametrize("terms", [
        {"error": {"n": 50}}, {"error": {"shown": 50}}, {"spend": SPEND, "weights": {"n": 3}},
    ])  # fmt: skip
    def test_is_found_whatever_the_statistic_is_called(self, terms):
        """Terms by name say what terms for all say: the total, both sides and the contrast are found."""
        plain = {"error": 50} if "error" in terms else {"spend": SPEND}
        young = YOUNG.replace("AS n", "AS shown") if "shown" in str(terms) else YOUNG
        seen = []
        for known in (TOTAL, RICH):
            for own in (terms, plain):
                asked = curator()
                asked.sql(known, **plain)
                before = asked.spent().rho
                told = asked.explain(young, **own)
                asked.sql(young, **own)
                seen.append((told.sources, told.price, asked.spent().rho - before))
                assert told.sources == (2,) and asked.explain(young, **plain).stored
            assert seen[-2] == seen[-1]
        alone = curator()
        alone.sql(young, **terms)
        assert alone.explain("SELECT COUNT(*) AS n FROM shops", **plain).price == alone.spent()

    def test_is_free_again_and_stays_the_same_for_ever(self):
        """In other words too, after the siblings were bought, and after better totals."""
        asked = curator()
        asked.sql(TOTAL, spend=SPEND)
        sql = "SELECT COUNT(*) AS n FROM shops WHERE age < 18 AND region = '{}'"
        north = asked.sql(sql.format("N"), spend=SPEND)
        spent = asked.spent()
        other = "SELECT COUNT(*) AS m FROM shops WHERE region = 'N' AND NOT age >= 18"
        again = asked.sql(other, spend=SPEND)
        assert again.column("m") == north.column("n") and asked.spent() == spent
        assert again.caption.startswith("from entries 2 and 4, nothing spent")
        assert asked.explain(sql.format("N"), spend=SPEND).sources == (2, 4)
        # A second of the family: all its siblings are measured, and the first keeps its answer.
        assert price(asked, sql.format("S")) == 1
        asked.sql(TOTAL, spend=dp.ZCDP(1))
        assert asked.sql(sql.format("N"), spend=SPEND) == north
        assert asked.explain(sql.format("S"), spend=SPEND).stored

    def test_has_a_receipt_that_the_ledger_proves(self):
        asked = curator(signer=dp.Signer.create())
        for sql in (YOUNG, RICH, BY_REGION, OLD):
            asked.sql(sql, spend=SPEND)
        for sql, entries in ((RICH, (2, 4)), (OLD, (6, 8))):
            answer = asked.sql(sql, spend=SPEND)
            text = answer.receipt.to_json()
            receipt = dp.verify_receipt(text, answer=answer, ledger=asked.ledger)
            assert (receipt.total.number, receipt.number) == entries
            assert f"half the sum of it and of the counts of entry {entries[0]}" in str(receipt)
            with pytest.raises(dp.ClaimRefuted):
                dp.verify_receipt(text, answer=asked.sql(YOUNG, spend=SPEND))
            for changed in (
                {"number": 4},
                {"number": 99},
                {"charge": "0" * 64},
                {"stored_as": receipt.stored_as},
                {"shown": (("region", "N"),)},
                None,
            ):
                total = None if changed is None else replace(receipt.total, **changed)
                forged = replace(receipt, total=total, signature="", key="")
                with pytest.raises(dp.ClaimRefuted):
                    dp.verify_receipt(forged, ledger=asked.ledger)

    def test_adds_up_with_its_own_noise(self):
        """Twice a count is twice as uncertain, and computed columns and HAVING are of the made table."""
        asked = curator()
        asked.sql(BY_REGION, spend=SPEND)
        asked.sql(OLD, spend=SPEND)
        sql = OLD.replace("AS n", "AS n, 2 * COUNT(*) AS d")
        for row in asked.sql(sql, spend=SPEND, reuse="only").interval(0.95):
            assert row["d"] == pytest.approx([2 * end for end in row["n"]], abs=2)
        total = f"SELECT SUM(n) AS n FROM ({OLD}) AS o"
        assert len(asked.sql(total, spend=SPEND, reuse="only")) == 1

    def test_allows_more_error_for_less(self):
        asked = curator()
        asked.sql(TOTAL, spend=SPEND)
        assert price(asked, YOUNG, within="1.01") < 1 / 3

    def test_only_charges_nothing_and_says_the_price(self):
        asked = curator()
        asked.sql(TOTAL, spend=SPEND)
        told = asked.explain(YOUNG, spend=SPEND)
        with pytest.raises(dp.BudgetExceeded, match="no released answer") as refused:
            asked.sql(YOUNG, spend=SPEND, reuse="only")
        assert refused.value.asked == told.price and asked.ledger.verify().charges == 1
        first = asked.sql(YOUNG, spend=SPEND)
        assert asked.sql(YOUNG, spend=SPEND, reuse="only") == first

    def test_shows_the_question_in_the_history(self):
        asked = curator()
        asked.sql(TOTAL, spend=SPEND)
        asked.sql(YOUNG, spend=SPEND)
        assert "SIGNED" not in str(asked.history()).upper()
        assert "WHERE age < 18" in str(asked.history()) and "CASE" not in str(asked.history())

    def test_is_of_two_tables_of_one_count(self):
        asked = curator()
        asked.sql(BY_REGION, spend=SPEND)
        [key] = asked.ledger.keys(["2:"])
        table = json.loads(asked.ledger.answer(key)[1])["answers"][""]
        assert half_sum(table, table)["keys"] == table["keys"]
        fewer = {"keys": table["keys"][:1], "estimates": table["estimates"][:1]}
        two = [{**row, "s1": row["s0"]} for row in table["estimates"]]
        moved = json.loads(json.dumps(table).replace('"low": null', '"low": "0"'))
        for other in (None, {**table, **fewer}, {**table, "estimates": two}, moved):
            with pytest.raises(InvalidArgument):
                half_sum(table, other)
            assert find_half_sum(table, other) is None


class TestWhatHasNoContrast:
    @pytest.mark.parametrize("terms", [
        {"reuse": False}, {"nonnegative": True}, {"whole": True},
    ])  # fmt: skip
    def test_terms(self, terms):
        asked = curator()
        sql = BY_REGION if "whole" in terms else TOTAL
        asked.sql(sql, spend=SPEND)
        sql = OLD if "whole" in terms else YOUNG
        if "whole" in terms:
            sql = sql.replace("GROUP BY region", "GROUP BY ROLLUP (region)")
        assert not asked.explain(sql, spend=SPEND, **terms).sources

    def test_geometric_noise_and_replaced_rows(self):
        asked = curator(dp.PureDP(99))
        for sql in (TOTAL, YOUNG):
            asked.sql(sql, spend=dp.PureDP(1))
        assert asked.spent() == dp.PureDP(2)
        # One row that is replaced moves a signed count by two, and a table of counts by less.
        other = curator(schema=dp.Schema("shops", dp.Rows(), COLUMNS, neighbours="replace"))
        for sql in (TOTAL, BY_REGION):
            other.sql(sql, spend=SPEND)
        assert price(other, YOUNG) == 1
        # Both sides of a condition would change by two: another event, so only one is measured.
        assert other.sql(YOUNG, spend=SPEND).receipt.shown == ()
        assert 2 / 3 <= price(other, OLD) < 3 / 4

    def test_other_versions_other_people_and_moved_totals(self):
        asked = curator()
        asked.sql(TOTAL, spend=SPEND)
        later = curator(
            ledger=asked.ledger, schema=dp.Schema("shops", dp.Rows(), COLUMNS, version="2")
        )
        assert not later.explain(YOUNG, spend=SPEND).sources
        assert not asked.named("bob").explain(YOUNG, spend=SPEND).sources
        assert asked.explain(YOUNG, spend=SPEND).sources
        moved = curator()
        moved.sql(TOTAL, spend=SPEND, nonnegative=True)
        assert not moved.explain(YOUNG, spend=SPEND).sources

    def test_ledgers_with_parts(self):
        parts = dp.Parts("shops", "region", ("N", "S"))
        ledger = dp.open_ledger(":memory:", dp.ZCDP(99), neighbours="add-remove", parts=parts)
        asked = curator(ledger=ledger)
        north = "SELECT COUNT(*) AS n FROM shops WHERE region = 'N'"
        asked.sql(TOTAL, spend=SPEND)
        assert not asked.explain(f"{north} AND age < 18", spend=SPEND).sources

    def test_a_total_that_is_too_far_off(self):
        """The next count pays for both sides of it, so it costs no more than by itself."""
        asked = curator()
        asked.sql(TOTAL, spend=dp.ZCDP("1/100000"))
        assert price(asked, YOUNG) == 1
        assert price(asked, RICH) < 3 / 5

    def test_both_sides_with_too_many_cells(self):
        """Both sides of 60,000 counts are more than one table has, so one side is measured."""
        many = dp.Schema("shops", dp.Rows(), {**COLUMNS, "shop": dp.Integer(1, 300)})
        rows = [{**row, "shop": 1 + n % 300} for n, row in enumerate(ROWS)]
        store = dp.Memory({"shops": rows})
        asked = dp.Curator(store, [many], dp.open_ledger(":memory:", dp.ZCDP(99)), who="ana")
        keys = "shop, region, FLOOR(wage / 10)"
        sql = f"SELECT {keys}, COUNT(*) AS n FROM shops WHERE age < 18 GROUP BY {keys}"
        told = asked.explain(sql, spend=SPEND)
        assert not told.sources and "CASE" not in str(told.texts)

    def test_noise_that_a_contrast_could_not_draw(self):
        """Noise of a count that lies just below the largest that can be drawn: it is bought as asked."""
        asked = curator()
        for spend in (dp.ZCDP(Fraction(1, 2**98)), dp.ZCDP(Fraction(1, 2**100))):
            asked.sql(TOTAL, spend=spend)
            assert not asked.explain(YOUNG, spend=spend).sources
            asked.sql(YOUNG, spend=spend)

    def test_a_total_without_rows(self):
        """LIMIT 0 is answered without a table, so there is no total of the same keys."""
        asked = curator()
        asked.sql(f"{BY_REGION} LIMIT 0", spend=SPEND)
        assert not asked.explain(OLD, spend=SPEND).sources

    def test_siblings_are_switched_off_by_themselves(self):
        asked = curator(siblings=False)
        assert price(asked, YOUNG) == 1 == price(asked, RICH)
        asked.sql(TOTAL, spend=SPEND)
        assert price(asked, f"{TOTAL} WHERE age > 90") < 2 / 5


class TestBetweenPeople:
    def told(self, before):
        """All that bob sees, over several questions, after what ana has asked."""
        shares = {"ana": dp.ZCDP(5), "bob": dp.ZCDP(5)}
        office = curator(ledger=dp.open_ledger(":memory:", dp.ZCDP(9), allowances=shares))
        for sql in before:
            office.sql(sql, spend=SPEND)
        bob, seen, numbers = office.named("bob"), [], {}
        for sql in (YOUNG, RICH, BY_REGION, OLD, RICH):
            told = bob.explain(sql, spend=SPEND)
            answer = bob.sql(sql, spend=SPEND)
            facts = json.loads(answer.receipt.to_json())
            numbers.setdefault(facts["number"], f"entry {len(numbers)}")
            total = facts.get("total")
            seen.append(
                (told.price, told.stored, told.texts, told.left, told.fits, len(told.sources))
            )
            seen.append((facts["event"], facts["price"], facts["stored_as"], facts["receipt"]))
            seen.append((numbers[facts["number"]], total and numbers[total["number"]]))
            seen.append(facts["asked"][0]["text"])
            seen.append((answer.columns, len(answer), answer.caption.count("entries")))
            seen.append((bob.left(), bob.spent()))
        history = bob.history()
        seen += [(one.kind, one.key, one.event, one.refers, one.question) for one in history]
        return office, [*seen, list(history.asked.values())]

    @pytest.mark.parametrize("before", [
        [TOTAL, YOUNG], [BY_REGION, OLD], [YOUNG, RICH, BY_REGION, OLD],
    ])  # fmt: skip
    def test_what_a_colleague_has_asked_does_not_show(self, before):
        _, alone = self.told([])
        office, beside = self.told(before)
        assert beside == alone
        # What both asked in the same way was measured once.
        if len(before) == 4:
            assert office.ledger.spent() == office.spent()

    def test_the_keys_of_others_are_not_read(self, monkeypatch):
        office = curator()
        for sql in (TOTAL, YOUNG):
            office.sql(sql, spend=SPEND)
        listed = []
        real = type(office.ledger).keys

        def keys(ledger, starts, who=None):
            listed.append(who)
            return real(ledger, starts, who)

        monkeypatch.setattr(type(office.ledger), "keys", keys)
        office.named("bob").sql(RICH, spend=SPEND)
        assert set(listed) == {"bob"}

    def test_shared_questions_are_sources(self):
        office = curator(share_questions=True)
        office.sql(TOTAL, spend=SPEND)
        assert office.named("bob").explain(YOUNG, spend=SPEND).sources == (2,)


class TestACharge:
    @pytest.mark.parametrize("step", [
        "charge:before", "charge:after", "run:before", "run:after", "finish:before", "finish:after",
    ])  # fmt: skip
    def test_that_was_cut_off_is_gone_on_with(self, tmp_path, monkeypatch, step):
        """At every step: nothing is paid for twice, and the answer is that of a run without a cut."""
        path = tmp_path / "shops.ledger"
        with dp.open_ledger(path, dp.ZCDP(99)) as ledger:
            asked = curator(ledger=ledger)
            asked.sql(TOTAL, spend=SPEND)
            told = asked.explain(YOUNG, spend=SPEND).price

            def die(passed):
                if passed == step:
                    raise KeyboardInterrupt

            with monkeypatch.context() as patched:
                patched.setattr(failpoints, "passed", die)
                with pytest.raises(KeyboardInterrupt):
                    asked.sql(YOUNG, spend=SPEND)
        with dp.open_ledger(path) as ledger:
            asked = curator(ledger=ledger)
            first = asked.sql(YOUNG, spend=SPEND)
            assert float(asked.spent().rho) == pytest.approx(float(SPEND.rho + told.rho))
            assert asked.sql(YOUNG, spend=SPEND) == first
            ledger.verify()
            ledger.export(tmp_path / "lines", answers=True)
            dp.verify_receipt(first.receipt, answer=first, ledger=ledger)

    def test_is_one_for_all_who_ask_at_once(self):
        asked = curator()
        asked.sql(TOTAL, spend=SPEND)
        told = []
        threads = [
            threading.Thread(target=lambda: told.append(asked.sql(YOUNG, spend=SPEND).rows))
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(told) == 8 and len(set(told)) == 1 and asked.ledger.verify().charges == 2


@pytest.mark.statistical
@pytest.mark.parametrize("runs", [2, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("sides", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_intervals_hold(sides, runs):
    """1,000 cells a run, 10^5 in all; a bound of 6.5 standard errors fails by chance once in 10^10."""
    columns = {"a": dp.Integer(1, 1_000), "b": dp.Integer(1, 25)}
    schema = dp.Schema("t", dp.Rows(), columns)
    rows = [{"a": 1 + n % 1_000, "b": 1 + n % 25} for n in range(4_000)]
    exact = {}
    for row in rows:
        exact[row["a"]] = exact.get(row["a"], 0) + (row["b"] <= 9)
    held = dict.fromkeys((0.5, 0.9, 0.95, 0.99), 0)
    spend = dp.ZCDP("1/20000")
    for _ in range(runs):
        asked = dp.Curator(dp.Memory({"t": rows}), [schema], dp.open_ledger(":memory:", dp.ZCDP(9)))
        first = " WHERE b > 20" if sides else ""
        asked.sql(f"SELECT a, COUNT(*) AS n FROM t{first} GROUP BY a", spend=spend)
        found = asked.sql("SELECT a, COUNT(*) AS n FROM t WHERE b < 10 GROUP BY a", spend=spend)
        assert found.receipt.total is not None
        for level in held:
            for (a,), interval in zip(found.keys, found.interval(level), strict=True):
                low, high = interval["n"]
                held[level] += low <= exact[a] <= high
    cells = 1_000 * runs
    for level, times in held.items():
        print(f"contrast: {times / cells:.4f} of {level}")  # noqa: T201 the numbers are asked for
        error = 6.5 * (level * (1 - level) / cells) ** 0.5
        assert level - error <= times / cells <= level + 0.015 + error, (level, times / cells)
