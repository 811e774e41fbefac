"""Public answers: what follows from declarations is answered for nothing, and reads no private row."""

from __future__ import annotations

import pytest

import discreet as dp
from curator.cases import COUNT, PEOPLE, ROWS, VISITS, WARDS, curator, opened

ONE = dp.PureDP(1)
TABLES = [PEOPLE, VISITS, WARDS]
KEYS = {
    "SELECT DISTINCT region FROM people": [("N",), ("S",), ("E",)],
    "SELECT region AS r FROM people GROUP BY region ORDER BY r LIMIT 2": [("E",), ("N",)],
    "SELECT ward, region FROM people WHERE ward > 3 GROUP BY region, ward": [
        (4, "N"),
        (4, "S"),
        (4, "E"),
    ],
    "SELECT DISTINCT paid FROM visits": [(False,), (True,)],
    "SELECT DISTINCT city FROM people JOIN wards USING (ward)": [("Oslo",), ("Rome",)],
    "SELECT region FROM people GROUP BY region HAVING region <> 'N'": [("S",), ("E",)],
    f"{COUNT} LIMIT 0": [],
    "SELECT AVG(income) AS m FROM people WHERE age > 3 LIMIT 0": [],
}
BUDGETS = [dp.PureDP(1), dp.ZCDP(1), dp.GaussianDP(1), dp.ApproxDP(1, "1/1000")]


class Sealed(dp.Memory):
    """A store whose private rows must not be read."""

    def tally(self, tally, /):
        raise AssertionError("read")


class TestAPublicAnswer:
    @pytest.mark.parametrize("sql", KEYS)
    def test_reads_nothing_and_costs_nothing(self, sql):
        asked = dp.Curator(Sealed(ROWS), TABLES, opened())
        answer = asked.sql(sql)
        assert list(answer.rows) == KEYS[sql] and asked.spent() == dp.PureDP(0)
        assert answer.caption.startswith("public") and "nothing spent" in str(answer)
        assert dp.verify_receipt(answer.receipt, answer=answer, ledger=asked.ledger)
        assert str(asked.explain(sql)) and asked.rehearse(sql).rows == answer.rows
        assert asked.ledger.verify().charges == 1

    @pytest.mark.parametrize("budget", BUDGETS)
    def test_is_given_under_every_budget_also_an_empty_one(self, budget):
        asked = curator(opened(budget))
        before = asked.left()
        answer = asked.sql("SELECT DISTINCT region FROM people")
        assert asked.left() == before and answer.receipt.price == dp.PureDP(0)
        empty = curator(opened(ONE))
        empty.sql(COUNT, spend=ONE)
        assert len(empty.sql("SELECT DISTINCT region FROM people")) == 3

    def test_does_not_depend_on_the_data(self):
        """Declared keys that nobody has are listed too, and it is the same answer without any row."""
        answers = [
            curator(rows={"people": rows}).sql("SELECT DISTINCT region, ward FROM people").rows
            for rows in ([], ROWS["people"])
        ]
        assert answers[0] == answers[1] and len(answers[0]) == 12

    def test_takes_a_spend_and_does_not_spend_it(self):
        asked = curator()
        one, two = asked.sql(f"{COUNT} LIMIT 0", spend=ONE), asked.sql(f"{COUNT} LIMIT 0")
        assert one == two and asked.spent() == dp.PureDP(0)

    def test_is_no_answer_to_the_question_with_rows(self):
        """LIMIT 0 measures nothing, so it is not taken for the measured table; in a release it is one."""
        asked = curator()
        assert (
            len(asked.sql(f"{COUNT} LIMIT 0", spend=ONE)) == 0
            and len(asked.sql(COUNT, spend=ONE)) == 3
        )
        assert asked.spent() == ONE
        assert len(asked.release({"a": f"{COUNT} LIMIT 0"}, spend=ONE)["a"]) == 0
        assert len(asked.release({"a": COUNT}, spend=ONE)["a"]) == 3
        assert asked.spent() == dp.PureDP(2)

    def test_in_a_release_has_no_part_of_the_spend(self):
        asked = curator()
        told = asked.release({"keys": "SELECT DISTINCT region FROM people", "n": COUNT}, spend=ONE)
        assert told["keys"].column("region") == ["N", "S", "E"] and len(told["n"]) == 3


class TestWhatIsPrivate:
    def test_keys_that_are_not_declared(self):
        with pytest.raises(dp.InvalidArgument):
            curator().sql("SELECT DISTINCT town FROM people")

    def test_keys_that_noise_picks(self):
        with pytest.raises(dp.InvalidArgument, match="spend"):
            curator().sql("SELECT region FROM people GROUP BY region HAVING COUNT(*) > 3")

    def test_rows(self):
        with pytest.raises(dp.UnsupportedQuery):
            curator().sql("SELECT * FROM people LIMIT 0")
