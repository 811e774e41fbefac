"""One measurement, many views: names, order and post-processing are made of one stored table, for free."""

from __future__ import annotations

import json

import pytest

import discreet as dp
from curator.cases import curator, opened

ONE = dp.PureDP(1)
TWO_KEYS = "SELECT region, ward, COUNT(*) AS n, SUM(age) AS s FROM people WHERE age > 30 GROUP BY region, ward"
VIEWS = [
    TWO_KEYS,
    "SELECT ward, region, SUM(age) AS t, COUNT(*) AS m FROM people WHERE age >= 31 GROUP BY ward, region",
    "SELECT region, ward, COUNT(*) n, SUM(age) s FROM people WHERE 30 < age GROUP BY region, ward ORDER BY n DESC",
    "SELECT ward, COUNT(*) n, SUM(age) s FROM people WHERE age > 30 GROUP BY region, ward HAVING COUNT(*) > 40",
    "SELECT COUNT(*) + 1 AS more, SUM(age) / COUNT(*) AS mean FROM people WHERE NOT age <= 30 GROUP BY region, ward",
    "SELECT region, ward, SUM(age) s, COUNT(*) n FROM people WHERE age > 30 GROUP BY 1, 2 ORDER BY s LIMIT 2",
    "SELECT region r, ward w, SUM(age) s, COUNT(*) n FROM people WHERE NOT (age < 31) GROUP BY 2, 1 LIMIT 1 OFFSET 3",
    "SELECT region, COUNT(*) / SUM(COUNT(*)) OVER () AS share, SUM(age) FROM people WHERE age > 30 GROUP BY ward, region",
]
NEAR = [
    (
        "SELECT COUNT(*) AS n FROM people WHERE income < 500",
        "SELECT COUNT(*) AS n FROM people WHERE income <= 500",
    ),
    (
        "SELECT COUNT(*) AS n FROM people WHERE age > 30",
        "SELECT COUNT(*) AS n FROM people WHERE age > 31",
    ),
    ("SELECT COUNT(*) AS n FROM people", "SELECT COUNT(age) AS n FROM people"),
    ("SELECT COUNT(*) AS n FROM people", "SELECT COUNT(*) AS n FROM people WHERE age IS NOT NULL"),
    (
        "SELECT COUNT(*) FILTER (WHERE age > 3) AS n FROM people",
        "SELECT COUNT(*) FILTER (WHERE age > 4) AS n FROM people",
    ),
    ("SELECT SUM(age) AS n FROM people", "SELECT SUM(ward) AS n FROM people"),
    (
        "SELECT region, COUNT(*) AS n FROM people GROUP BY region",
        "SELECT region, ward, COUNT(*) AS n FROM people GROUP BY region, ward",
    ),
]


def table_of(answer, keys, values):
    """Rows of an answer by key, whatever their order and names are."""
    columns = [answer.column(name) for name in (*keys, *values)]
    return {row[: len(keys)]: row[len(keys) :] for row in zip(*columns, strict=True)}


class TestAView:
    def test_of_a_measurement_is_free(self):
        asked = curator()
        for sql in VIEWS:
            asked.sql(sql, spend=ONE)
        assert asked.spent() == ONE and asked.ledger.verify().charges == 1

    @pytest.mark.parametrize("first", [0, 1, 3, 5])
    def test_shows_the_numbers_that_were_measured_whichever_view_was_first(self, first):
        asked = curator()
        asked.sql(VIEWS[first], spend=ONE)
        whole = asked.sql(VIEWS[0], spend=ONE)
        turned = asked.sql(VIEWS[1], spend=ONE)
        keys = ("region", "ward")
        known = table_of(whole, keys, ("n", "s"))
        assert len(known) == 12 and known == table_of(turned, keys, ("m", "t"))
        # Rows are in the order of the keys as asked.
        assert whole.column("ward")[:4] == [1, 2, 3, 4] and turned.column("region")[:3] == [
            "N",
            "S",
            "E",
        ]
        assert whole.interval(0.9)[0] == {
            "n": turned.interval(0.9)[0]["m"],
            "s": turned.interval(0.9)[0]["t"],
        }
        best = asked.sql(VIEWS[5], spend=ONE)
        sums = sorted(known.values(), key=lambda values: values[1])
        assert best.column("s") == [values[1] for values in sums[:2]]
        left = asked.sql(VIEWS[6], spend=ONE)
        assert (left.column("r"), left.column("w")) == (["N"], [2])
        assert asked.spent() == ONE

    def test_of_picked_rows_has_the_intervals_of_picked_rows(self):
        """LIMIT by noise looks at all keys: the same intervals as if it had been asked first."""
        asked = curator()
        asked.sql(VIEWS[0], spend=ONE)
        picked = asked.sql(VIEWS[5], spend=ONE)
        assert picked.candidates == 12 and len(picked) == 2
        wide, plain = (
            picked.interval(0.9)[0]["s"],
            asked.sql(VIEWS[0], spend=ONE).interval(0.9)[0]["s"],
        )
        assert wide[1] - wide[0] > plain[1] - plain[0]

    def test_has_the_receipt_of_the_measurement(self):
        asked = curator()
        receipts = {asked.sql(sql, spend=ONE).receipt for sql in VIEWS}
        assert len(receipts) == 1
        [receipt] = receipts
        assert dp.verify_receipt(receipt, ledger=asked.ledger)
        for sql in VIEWS:
            assert dp.verify_receipt(receipt, answer=asked.sql(sql, spend=ONE))
        other = asked.sql(VIEWS[0], spend=dp.PureDP(2))
        with pytest.raises(dp.ClaimRefuted):
            dp.verify_receipt(receipt, answer=other)

    @pytest.mark.parametrize("fresh", VIEWS)
    def test_is_read_as_it_was_made(self, fresh):
        asked = curator()
        assert asked.sql(fresh, spend=ONE) == asked.sql(fresh, spend=ONE)

    def test_of_selected_keys_is_free(self):
        asked = curator(opened(dp.ApproxDP(9, "1/1000")))
        spend = dp.ApproxDP(2, "1/100000")
        first = asked.sql("SELECT town, COUNT(*) AS n FROM people GROUP BY town", spend=spend)
        again = asked.sql(
            "SELECT COUNT(*) AS m, town AS t FROM people GROUP BY town ORDER BY m", spend=spend
        )
        assert first.column("n") == again.column("m") and asked.ledger.verify().charges == 1

    def test_of_sets_is_free(self):
        asked = curator()
        first = asked.sql(
            "SELECT region, ward, COUNT(*) n FROM people GROUP BY CUBE (region, ward)", spend=ONE
        )
        again = asked.sql(
            "SELECT ward, region, COUNT(*) m FROM people GROUP BY CUBE (ward, region)", spend=ONE
        )
        keys = ("region", "ward")
        assert table_of(first, keys, ("n",)) == table_of(again, keys, ("m",))
        assert asked.ledger.verify().charges == 1

    def test_has_its_errors_and_weights_by_statistic(self):
        asked = curator()
        one = "SELECT COUNT(*) AS n, SUM(age) AS s FROM people"
        two = "SELECT SUM(age) AS n, COUNT(*) AS s FROM people"
        asked.sql(one, spend=ONE, weights={"n": 3})
        asked.sql(two, spend=ONE, weights={"s": 3})
        assert asked.ledger.verify().charges == 1
        asked.sql(two, spend=ONE, weights={"n": 3})
        assert asked.ledger.verify().charges == 2
        asked.sql(one, error={"n": 50, "s": 900})
        asked.sql(two, error={"s": 50, "n": 900})
        assert asked.ledger.verify().charges == 3

    def test_in_a_release_is_free(self):
        asked = curator()
        asked.release({"a": VIEWS[0], "b": "SELECT COUNT(*) AS n FROM people"}, spend=ONE)
        asked.release({"b": "SELECT COUNT(*) AS m FROM people", "a": VIEWS[2]}, spend=ONE)
        assert asked.ledger.verify().charges == 1


DECIMALS = [
    ("x > 0.7", "x >= 0.7"),
    ("x < 0.3", "x <= 0.3"),
    ("2 * x > 1.4", "2 * x >= 1.4"),
    ("x - 1 < -0.3", "x - 1 <= -0.3"),
]


@pytest.mark.parametrize(("one", "other"), [*DECIMALS, *(pair[::-1] for pair in DECIMALS)])
def test_a_decimal_of_a_column_without_steps_is_no_next_number(one, other):
    """Decimals are rounded to the column's binary grid: 0.7 lies beside a bound that is rounded up or down."""
    rows = [{"x": x} for x in (0.3, 0.7) for _ in range(500)]
    schema = dp.Schema("t", dp.Rows(), {"x": dp.Real(0, 100)})
    ledger = dp.open_ledger(":memory:", dp.PureDP(10**4))
    asked = dp.Curator(dp.Memory({"t": rows}), [schema], ledger)
    counts = []
    for where in (one, other):
        answer = asked.sql(f"SELECT COUNT(*) AS n FROM t WHERE {where}", spend=1000)
        counts.append(answer.rows[0][0])
    assert asked.ledger.verify().charges == 2
    assert abs(counts[0] - counts[1]) == 500


@pytest.mark.parametrize(
    "where", ["YEAR(d) = 2024", "MONTH(d) = 3", "SQRT(a) > 2", "FLOOR(a / 3) = 1"]
)
def test_a_condition_on_a_function_of_a_column_is_read_beside_stored_answers(where):
    """The search among stored tables evaluates conditions on public values, which needs their types."""
    rows = [{"d": "2024-03-05", "a": 4, "k": "x"} for _ in range(9)]
    columns = {
        "d": dp.Date("2024-01-01", "2024-12-31"),
        "a": dp.Integer(0, 9),
        "k": dp.Category(["x", "y"]),
    }
    schema = dp.Schema("t", dp.Rows(), columns)
    ledger = dp.open_ledger(":memory:", dp.PureDP(10**4))
    asked = dp.Curator(dp.Memory({"t": rows}), [schema], ledger)
    asked.sql("SELECT k, COUNT(*) AS n FROM t GROUP BY k", spend=1000)
    grouped = asked.sql(f"SELECT k, COUNT(*) AS n FROM t WHERE {where} GROUP BY k", spend=1000)
    expected = 0 if "SQRT" in where else 9
    assert dict(grouped.rows)["x"] == expected
    assert (
        asked.sql(f"SELECT COUNT(*) AS n FROM t WHERE {where}", spend=1000).rows[0][0] == expected
    )


@pytest.mark.parametrize(("one", "other"), NEAR)
def test_near_misses_are_charged(one, other):
    asked = curator()
    asked.sql(one, spend=ONE)
    asked.sql(other, spend=ONE)
    assert asked.ledger.verify().charges == 2


class TestAStoredTable:
    @pytest.mark.parametrize("share", [False, True])
    def test_does_not_tell_by_which_words_it_was_asked_for(self, share):
        """All that is stored and charged is the same for all spellings, but for noise, words and time."""
        told = set()
        for sql in VIEWS:
            asked = curator(share_questions=share)
            asked.sql(sql, spend=ONE)
            charge, answer = list(asked.ledger.history())[1:3]
            body = json.loads(asked.ledger.answer(charge.key)[1])
            noisy = body["answers"].pop("")
            body["shape"] = [
                noisy["keys"],
                noisy["mechanisms"],
                [sorted(row) for row in noisy["estimates"]],
            ]
            told.add(json.dumps([body, charge.key, charge.question, charge.event, answer.key]))
        assert len(told) == 1

    def test_is_given_to_a_colleague_with_other_words_as_if_it_were_new(self):
        """Compared with asking alone: only numbers, times and hashes differ."""
        facts = []
        for before in ([], [VIEWS[5]]):
            office = curator(opened(allowances={"ana": dp.PureDP(2), "bob": dp.PureDP(2)}))
            for sql in before:
                office.named("ana").sql(sql, spend=ONE)
            bob = office.named("bob")
            answer = bob.sql(VIEWS[1], spend=ONE, why="because")
            receipt = json.loads(answer.receipt.to_json())
            for name in ("number", "charge", "time", "hash"):
                del receipt[name]
            for question in receipt["asked"]:
                del question["answer"]
            entry = bob.history()[0]
            shown = [
                entry.kind,
                entry.who,
                entry.why,
                entry.question,
                entry.key,
                entry.event,
                entry.refers,
            ]
            words = list(bob.history().asked.values())
            facts.append(
                (receipt, shown, words, answer.caption, answer.columns, bob.left(), bob.spent())
            )
            assert office.ledger.spent() == ONE
        assert facts[0] == facts[1]
