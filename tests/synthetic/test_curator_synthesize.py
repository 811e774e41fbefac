"""curator.synthesize: one charge, one receipt, free again; what cannot be made is refused before the charge."""

from __future__ import annotations

import pytest

import discreet as dp
from discreet.curator.receipt_check import verify_receipt

from .cases import COLUMNS, SPEND, people

WIDE = {
    "a": dp.Category(list(range(40_000))),
    "b": dp.Category(list(range(30_000))),
    "note": dp.Text(20),
}


def curator(unit=None, columns=COLUMNS, budget=None, rows=None):
    schema = dp.Schema("people", unit or dp.Rows(), columns, size=300)
    ledger = dp.open_ledger(":memory:", budget or dp.ApproxDP(3, "1e-5"))
    return dp.Curator(dp.Memory({"people": people() if rows is None else rows}), [schema], ledger)


class TestOneCharge:
    def test_the_same_request_is_free_and_its_receipt_verifies(self):
        asker = curator()
        words = {"columns": ["sex", "works", "grade"]}
        first = asker.synthesize("people", SPEND, **words)
        left = asker.left()
        again = asker.synthesize(" PEOPLE", SPEND, why="again", **words)
        assert asker.left() == left
        assert (again.table("sex", "works").noisy == first.table("sex", "works").noisy).all()
        verify_receipt(first.receipt, ledger=asker.ledger)
        assert "deviation of the noise" in first.explain()
        asker.synthesize("people", SPEND, columns=["sex", "works"])
        assert asker.left() != left

    def test_rows_of_a_select(self):
        asker = curator()
        made = asker.synthesize(
            "SELECT sex, works, age AS years FROM people WHERE age >= 18", dp.ApproxDP(2, "1e-6")
        )
        assert made.columns == ("sex", "works", "years")

    def test_one_row_a_person_first(self):
        asker = curator(dp.People("id", max_rows=9))
        sql = "SELECT COUNT(*) AS visits, MIN(age) AS youngest FROM people GROUP BY id"
        with pytest.warns(UserWarning, match="noise would drown"):
            made = asker.synthesize(sql, dp.ApproxDP("0.1", "1e-6"), bins={"youngest": 5})
        assert made.columns == ("visits", "youngest")

    def test_a_plan_costs_nothing(self):
        asker = curator()
        before = asker.left()
        assert "synthetic table of" in str(asker.plan_synthesis("people", SPEND))
        assert asker.left() == before


class TestRefusedBeforeTheCharge:
    @pytest.mark.parametrize(
        ("table", "words", "spend", "said"),
        [
            ("nobody", {}, SPEND, "no table 'nobody'"),
            (7, {}, SPEND, "name of a table"),
            ("people", {"columns": ["sex", "nope"]}, SPEND, "nope"),
            ("people", {"columns": ["sex", "sex"]}, SPEND, "once each"),
            ("people", {"columns": []}, SPEND, "1 to 44 columns"),
            ("people", {"columns": "sex"}, SPEND, "list of names"),
            ("people", {"columns": ["sex"], "bins": {"sex": 3}}, SPEND, "no bins"),
            ("people", {"columns": ["age"], "bins": {"age": 0}}, SPEND, "bins of age"),
            ("people", {"columns": ["age"], "bins": {"nope": 3}}, SPEND, "nope"),
            ("people", {"workload": "triples"}, SPEND, "workload"),
            ("people", {"workload": [("sex", "age", "works")]}, SPEND, "one or two"),
            ("people", {"workload": []}, SPEND, "no set"),
            ("people", {"size": 0}, SPEND, "size"),
            ("people", {}, dp.PureDP(1), "no pure ε"),
            ("people", {}, 1.0, "measure"),
            ("people", {}, dp.ApproxDP(90, "1e-6"), "asked for"),
            ("SELECT COUNT(*) FROM people", {}, SPEND, "aggregates"),
        ],
    )
    def test_in_the_users_words(self, table, words, spend, said):
        asker = curator()
        before = asker.left()
        with pytest.raises(dp.DiscreetError, match=said):
            asker.synthesize(table, spend, **words)
        assert asker.left() == before

    def test_a_thousand_million_cells_and_free_text(self):
        asker = curator(columns=WIDE, rows=[])
        with pytest.raises(dp.InvalidArgument, match="1,200,1.* cells in all"):
            asker.synthesize("people", SPEND, columns=["a", "b"])
        with pytest.raises(dp.InvalidArgument, match="free text"):
            asker.synthesize("people", SPEND, columns=["note"])

    def test_people_with_many_rows(self):
        asker = curator(dp.People("id", max_rows=9))
        with pytest.raises(dp.UnsupportedQuery, match="one row a person first"):
            asker.synthesize("people", SPEND)

    def test_a_spend_that_noise_drowns_is_warned_of(self):
        with pytest.warns(UserWarning, match="spend more"):
            curator().synthesize("people", dp.ApproxDP("0.01", "1e-6"), columns=["age", "sex"])


class TestNothingIsShownOfAnEmptyTable:
    def test_no_rows_look_like_few(self):
        made = curator(rows=[]).synthesize("people", SPEND, columns=["sex", "works"])
        assert made.rows >= 1
        assert made.table("sex", "works").values.shape == (4, 3)
        assert len(made.records(10)["sex"]) == 10
