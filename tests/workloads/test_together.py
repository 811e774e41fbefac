"""Questions of one release that ask sums of the same rows: one charge, answers that agree, never dearer than apart."""

from __future__ import annotations

from itertools import combinations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.plan.several.workload import plan_workload
from discreet.privacy.pricing.pure import price_pure
from support.profile import examples

PEOPLE = dp.Schema(
    "people",
    dp.Rows(),
    {
        "age": dp.Integer(0, 39),
        "sex": dp.Category(["f", "m"], default="f"),
        "region": dp.Category(["N", "S", "E", "W"], default="N"),
        "job": dp.Category(["a", "b", "c"], default="a"),
        "pay": dp.Integer(0, 20),
    },
)
NAMED = {"people": PEOPLE}
ROWS = [
    {
        "age": i * 7 % 40,
        "sex": "fm"[i % 2],
        "region": "NSEW"[i // 3 % 4],
        "job": "abc"[i % 3],
        "pay": i % 20,
    }
    for i in range(600)
]
ASKED = {
    "total": "SELECT COUNT(*) AS n FROM people",
    "sexes": "SELECT sex, COUNT(*) AS people FROM people GROUP BY sex",
    "both": "SELECT region, sex, COUNT(*) AS n FROM people GROUP BY region, sex ORDER BY n DESC LIMIT 3",
    "cube": "SELECT job, sex, COUNT(*) AS n FROM people GROUP BY CUBE (job, sex)",
    "pay": "SELECT sex, SUM(pay) AS pay FROM people GROUP BY sex",
}
KEYS = ["sex", "region", "job", "age"]
sets = st.lists(
    st.sampled_from([one for k in range(3) for one in combinations(KEYS, k)]),
    min_size=2,
    max_size=4,
)


def curator(budget=None, rows=ROWS):
    data = pl.DataFrame(rows)
    return dp.Curator(
        dp.DuckDB({"people": data}), [PEOPLE], dp.open_ledger(":memory:", budget or dp.ZCDP(100))
    )


def count(keys):
    listed = ", ".join(keys)
    return f"SELECT {listed}{', ' * bool(keys)}COUNT(*) AS n FROM people{' GROUP BY ' * bool(keys)}{listed}"


class TestTogether:
    @given(sets, st.sampled_from([dp.PureDP(1), dp.ZCDP("1/2"), dp.ApproxDP(1, 1e-6)]))
    @settings(max_examples=examples(40))
    def test_never_dearer_than_apart(self, asked, spend):
        """The sum of the logarithms of errors is no larger than with the same spend divided among the questions."""
        questions = {f"q{at}": dp.parse_sql(count(keys), NAMED) for at, keys in enumerate(asked)}
        together = plan_workload(questions, spend)
        parts = [
            plan_workload({name: one, "other": one}, spend)["other"]
            for name, one in list(questions.items())[:1]
        ]
        assert parts[0].loss([1]) < 100
        apart = 0.0
        for one in questions.values():
            alone = [dp.plan_question(one, piece) for piece in _nth(spend, len(questions))]
            apart += min(plan.loss([1]) for plan in alone)
        assert sum(plan.loss([1]) for _, plan in together.plans) <= apart + 1e-9

    @given(sets, st.integers(3, 50))
    @settings(max_examples=examples(30))
    def test_an_error_costs_no_more_than_apart(self, asked, error):
        questions = {f"q{at}": dp.parse_sql(count(keys), NAMED) for at, keys in enumerate(asked)}
        found = plan_workload(questions, error=error)
        assert max(e for one in found.statistic_errors().values() for e in one.values()) <= error
        apart = sum(dp.plan_question(one, error=error).spend.epsilon for one in questions.values())
        assert price_pure(found.event) <= apart

    def test_one_charge_and_answers_that_agree(self):
        asked = curator()
        found = asked.release(ASKED, spend=dp.ZCDP("1/2"))
        assert asked.spent() <= dp.ZCDP("1/2")
        n = found["total"].estimates[0]["n"].total
        assert n == sum(row["people"].total for row in found["sexes"].estimates)
        assert n == sum(row["n"].total for row in found["cube"].table("job").estimates)
        assert found["cube"].table("sex").column("n") == found["sexes"].column("people")
        assert len(found["both"]) == 3
        assert found["both"].candidates == 8
        left = asked.left()
        assert asked.release(ASKED, spend=dp.ZCDP("1/2")) == found
        assert asked.left() == left
        assert len({answer.receipt.number for answer in found.values()}) == 1

    def test_without_noise_it_is_plain_sql(self):
        found = curator(dp.PureDP(10**9)).release(ASKED, spend=dp.PureDP(10**7))
        assert [round(n) for n in found["sexes"].column("people")] == [300, 300]
        assert round(found["total"].column("n")[0]) == 600
        for job, sex, n in found["cube"].rows:
            own = [row for row in ROWS if job in (None, row["job"]) and sex in (None, row["sex"])]
            assert n == pytest.approx(len(own), abs=1e-2)
        assert [round(x) for x in found["pay"].column("pay")] == [
            sum(row["pay"] for row in ROWS if row["sex"] == sex) for sex in "fm"
        ]

    def test_whole_numbers_agree(self):
        found = curator(rows=ROWS[:7]).release(ASKED, spend=dp.ZCDP("1/2"), whole=True)
        assert sum(found["sexes"].column("people")) == found["total"].column("n")[0]
        assert min(found["cube"].column("n")) >= 0

    def test_histograms_of_several_widths(self):
        asked = {
            f"w{w}": f"SELECT FLOOR(age / {w}) AS bin, COUNT(*) AS n FROM people GROUP BY 1"
            for w in (2, 10, 20)
        }
        found = curator().release(asked, spend=dp.PureDP(1))
        assert [len(one) for one in found.values()] == [20, 4, 2]
        assert found["w10"].estimates[0]["n"].total == sum(
            row["n"].total for row in found["w2"].estimates[:5]
        )
        plan = curator().plan(asked, spend=dp.PureDP(1))
        assert "planned as one with w10, w20" in str(plan)
        overlapping = curator().plan(
            {**asked, "w15": asked["w2"].replace("/ 2", "/ 15")}, spend=dp.PureDP(1)
        )
        assert overlapping["w15"].within is None
        assert overlapping["w2"].within is overlapping["w10"].within

    def test_counts_under_where(self):
        """Nine thresholds asked by nine questions cost what one question with nine FILTERs costs."""
        asked = {
            f"t{t}": f"SELECT COUNT(*) AS n FROM people WHERE age >= {t}" for t in range(4, 40, 4)
        }
        plan = curator().plan(asked, spend=dp.PureDP(1))
        assert max(one["n"] for one in plan.statistic_errors().values()) < 12
        found = curator(dp.PureDP(100)).release(asked, spend=dp.PureDP(30))
        for threshold, answer in zip(range(4, 40, 4), found.values(), strict=True):
            assert answer.column("n")[0] == pytest.approx(
                sum(row["age"] >= threshold for row in ROWS), abs=4
            )
        few = curator().plan(dict(list(asked.items())[:3]), spend=dp.PureDP(1))
        assert all(one.within is None for _, one in few.plans)
        people = {"people": dp.Schema("people", dp.People("id", max_rows=4), dict(PEOPLE.columns))}
        capped = {name: dp.parse_sql(sql, people) for name, sql in asked.items()}
        assert all(one.within is None for _, one in plan_workload(capped, dp.PureDP(1)).plans)

    def test_what_is_no_sum_of_the_same_rows_stays_apart(self):
        asked = {
            "all": ASKED["sexes"],
            "young": ASKED["sexes"].replace("GROUP", "WHERE age < 18 GROUP"),
            "mean": "SELECT sex, AVG(pay) AS pay FROM people GROUP BY sex",
            "running": "SELECT age, SUM(COUNT(*)) OVER (ORDER BY age) AS n FROM people GROUP BY age",
        }
        plan = curator().plan(asked, spend=dp.ZCDP(1))
        assert all(one.within is None for _, one in plan.plans)
        weighted = curator().plan(
            {"a": ASKED["sexes"], "b": ASKED["total"]}, spend=dp.ZCDP(1), weights={"a": 3}
        )
        assert all(one.within is None for _, one in weighted.plans)

    def test_people_whose_groups_are_bounded_join_too(self):
        """`max_groups` bounds no rows, so the same of them count by other keys."""
        unit = dp.People("id", max_rows=4, max_groups=2)
        people = {"people": dp.Schema("people", unit, dict(PEOPLE.columns))}
        asked = {name: dp.parse_sql(ASKED[name], people) for name in ("sexes", "total")}
        assert all(plan.within is not None for _, plan in plan_workload(asked, dp.PureDP(1)).plans)

    def test_rows_without_a_key_are_measured_and_never_shown(self):
        """Questions by other keys join; a key that some question lacks has a mark, of which nothing is shown."""
        columns = {**PEOPLE.columns, "sex": dp.Category(["f", "m"])}
        people = {"people": dp.Schema("people", dp.Rows(), columns)}
        joined = {"sexes": ASKED["sexes"], "both": count(["sex", "region"])}
        for sql, marked in (
            (count(["sex", "job"]), ()),
            (count(["region"]), ("sex",)),
            (count([]), ("sex",)),
        ):
            texts = {**joined, "more": sql}
            asked = {name: dp.parse_sql(one, people) for name, one in texts.items()}
            plan = plan_workload(asked, dp.PureDP(1))
            assert len({id(one.within) for _, one in plan.plans}) == 1
            within = plan["both"].within
            shape = within.releases[0].plan.workload
            names = [key.name for key in within.question.keys]
            has_mark = [name for name, one in zip(names, shape.marked, strict=True) if one]
            assert tuple(has_mark) == marked
        short = dp.Table(people["people"]).count(by="sex", keys={"sex": ["f"]})
        asked = {"sexes": dp.parse_sql(ASKED["sexes"], people), "short": short}
        assert all(one.within is None for _, one in plan_workload(asked, dp.PureDP(1)).plans)


def _nth(spend, count):
    if isinstance(spend, dp.PureDP):
        return [dp.PureDP(spend.epsilon / count)]
    if isinstance(spend, dp.ZCDP):
        return [dp.ZCDP(spend.rho / count)]
    return [dp.ApproxDP(spend.epsilon / count, spend.delta / count)]


def test_two_widths_of_bins_in_one_question_stay_by_themselves():
    """Their table has cells that cannot be; what another question makes of the same rows does not leave them out."""
    schema = dp.Schema("s", dp.Rows(), {"age": dp.Integer(0, 39), "ok": dp.Boolean()})
    rows = [{"age": n % 40, "ok": n % 3 == 0} for n in range(200)]
    curator = dp.Curator(dp.Memory({"s": rows}), [schema], dp.open_ledger(":memory:", dp.ZCDP(10)))
    found = curator.release(
        {
            "a": "SELECT FLOOR(age / 10) AS d, FLOOR(age / 20) AS g, COUNT(*) AS n FROM s GROUP BY d, g",
            "b": "SELECT ok, COUNT(*) AS n FROM s GROUP BY ok",
        },
        spend=dp.ZCDP(1),
    )
    assert len(found["a"]) == 8 and len(found["b"]) == 2
