"""Sets of keys and running totals are read from SQL and Python alike, and refused where they have no meaning."""

from __future__ import annotations

from dataclasses import replace

import pytest

import discreet as dp
from discreet.query import describe, fingerprint
from discreet.query.algebra.expression import Constant
from discreet.query.bounds.check import require_sound

PEOPLE = dp.Schema(
    "people",
    dp.Rows(),
    {
        "age": dp.Integer(0, 39),
        "sex": dp.Category(["f", "m"]),
        "region": dp.Category(["N", "S", "E", "W"]),
        "pay": dp.Real(-10, 50, step="1/2"),
        "name": dp.Text(20),
        "job": dp.Category(["a", "b"], null_key=True),
    },
)
NAMED = {"people": PEOPLE}
CUBE = "SELECT sex, region, COUNT(*) AS n FROM people GROUP BY CUBE (sex, region)"
RUNNING = "SELECT age, SUM(COUNT(*)) OVER (ORDER BY age) AS n FROM people GROUP BY age"


class TestReading:
    @pytest.mark.parametrize(
        ("clause", "sets"),
        [
            ("CUBE (sex, region)", [(0, 1), (0,), (1,), ()]),
            ("ROLLUP (sex, region)", [(0, 1), (0,), ()]),
            ("GROUPING SETS ((sex, region), sex, ())", [(0, 1), (0,), ()]),
            ("GROUPING SETS ((sex), CUBE (region))", [(0,), (1,), ()]),
            ("sex, ROLLUP (region)", [(0, 1), (0,)]),
            ("CUBE ((sex, region))", [(0, 1), ()]),
        ],
    )
    def test_sets(self, clause, sets):
        found = dp.parse_sql(
            f"SELECT sex, region, COUNT(*) AS n FROM people GROUP BY {clause}", NAMED
        )
        assert list(found.sets) == sets
        again = dp.parse_sql(describe(found), NAMED)
        assert fingerprint(again) == fingerprint(found)

    @pytest.mark.parametrize("keys", ["", "sex", "region, sex", "sex, FLOOR(age / 10)", "job"])
    @pytest.mark.parametrize("asked", ["COUNT(*) AS n, SUM(pay) AS s", "AVG(pay) AS m"])
    def test_one_set_is_group_by(self, keys, asked):
        """A single set is read as GROUP BY its keys, so its plan, price and errors are the same."""
        plain = f"SELECT {asked} FROM people" + (f" GROUP BY {keys}" if keys else "")
        single = f"SELECT {asked} FROM people GROUP BY GROUPING SETS (({keys}))"
        found = dp.parse_sql(single, NAMED)
        assert found.sets is None
        assert found == dp.parse_sql(plain, NAMED)

    def test_one_set_of_nested_keys_stays(self):
        """Nested keys show possible cells only, which GROUP BY does not."""
        sql = "SELECT COUNT(*) AS n FROM people GROUP BY GROUPING SETS ((FLOOR(age / 10), age))"
        found = dp.parse_sql(sql, NAMED)
        assert found.sets == ((0, 1),)
        assert len(found.nested.rows) == 40

    @pytest.mark.parametrize("clause", ["job", "GROUPING SETS ((job))"])
    def test_a_single_set_sums_over_no_key(self, clause):
        """NULL is a value of a plain key, so GROUPING is 0 there."""
        sql = f"SELECT job, GROUPING(job) AS g, COUNT(*) AS n FROM people GROUP BY {clause}"
        _, flag, _ = dp.parse_sql(sql, NAMED).finish.columns
        assert flag == ("g", Constant(0))

    def test_python_says_the_same(self):
        built = dp.Table(PEOPLE).marginals(["sex", "region"])
        assert set(built.sets) == set(dp.parse_sql(CUBE, NAMED).sets)
        assert dp.Table(PEOPLE).cumulative("age", width=10).keys[0].values == (0, 10, 20, 30)
        assert fingerprint(dp.parse_sql(describe(dp.Table(PEOPLE).cumulative("age")), NAMED))

    def test_a_mean_is_two_sums(self):
        """AVG in several sets is SUM/COUNT, wherever it stands; the same sum is asked once."""
        sql = (
            CUBE.replace("COUNT(*) AS n", "AVG(pay) AS n, SUM(pay) AS s")
            + " HAVING AVG(pay) > 1 ORDER BY n"
        )
        found = dp.parse_sql(sql, NAMED)
        assert [name for name, _ in found.statistics] == ["n_total", "n_count"]
        assert describe(found).count("SUM(pay) / COUNT(pay)") >= 2
        assert fingerprint(dp.parse_sql(describe(found), NAMED))
        one = {"people": dp.Schema("people", dp.People("id", max_rows=1), dict(PEOPLE.columns))}
        people = dp.parse_sql(CUBE.replace("COUNT(*)", "COUNT(DISTINCT id)"), one)
        assert people.statistics == dp.parse_sql(CUBE, one).statistics

    def test_old_fingerprints_stay(self):
        """A question without sets is written as release 0.1.0 wrote it: what came later is left out."""
        plain = dp.Table(PEOPLE).count(by="sex")
        assert fingerprint(plain) != fingerprint(dp.Table(PEOPLE).marginals(["sex"]))
        assert plain.sets is None
        assert not plain.running

    @pytest.mark.parametrize(
        ("sql", "words"),
        [
            (CUBE.replace("region", "job"), "NULL stands for all"),
            (CUBE.replace("COUNT(*)", "VARIANCE(age)"), "ask for it by itself"),
            (
                CUBE.replace("CUBE (sex, region)", "GROUPING SETS ((sex, region), (region, sex))"),
                "asked twice",
            ),
            (CUBE.replace("CUBE (sex, region)", "CUBE (sex, region, nobody)"), "nobody"),
            (CUBE.replace("COUNT(*)", "GROUPING(age)"), "nothing to count|takes one key"),
            (CUBE.replace("CUBE (sex, region)", "CUBE (sex, region, sex)"), "asked twice"),
            (RUNNING.replace("ORDER BY age", "ORDER BY age DESC"), "go up"),
            (RUNNING.replace("ORDER BY age)", "ORDER BY sex)"), "the one key"),
            (RUNNING.replace("AS n", "AS n, COUNT(*) AS m"), "beside no other"),
            (RUNNING.replace("SUM(COUNT(*))", "STDDEV(COUNT(*))"), "over results there are"),
            (RUNNING.replace("age", "sex"), "along a number"),
            (
                RUNNING.replace("GROUP BY age", "GROUP BY age, sex").replace(
                    "SELECT age", "SELECT age, sex"
                ),
                "one key",
            ),
            (RUNNING.replace("ORDER BY age", "PARTITION BY age ORDER BY age"), "PARTITION"),
            (CUBE.replace("region", "name"), "not public"),
            (
                CUBE.replace(
                    "CUBE (sex, region)", "CUBE (sex, region, age + 0, age - 0, pay, job, 1)"
                ),
                "GROUP BY",
            ),
            (
                CUBE.replace("CUBE (sex, region)", "CUBE (a.sex, sex)").replace(
                    "people", "people a"
                ),
                "two ways|asked",
            ),
            (
                f"SELECT COUNT(*) AS n FROM people GROUP BY CUBE ({', '.join(f'age + {i}' for i in range(9))})",
                "256",
            ),
            (CUBE.replace("n FROM", "n, GROUPING(sex, region) AS g FROM"), "takes one key"),
        ],
    )
    def test_refuses_what_has_no_meaning(self, sql, words):
        with pytest.raises(dp.DiscreetError, match=words):
            dp.parse_sql(sql, NAMED)

    def test_refuses_a_billion_cells(self):
        wide = dp.Schema("wide", dp.Rows(), {name: dp.Integer(0, 999) for name in "abc"})
        with pytest.raises(dp.DiscreetError, match=r"1,000,000,000 combinations.*wider bins"):
            dp.Table(wide).marginals(["a", "b", "c"])
        with pytest.raises(dp.DiscreetError, match="wider bins"):
            dp.Table(dp.Schema("wide", dp.Rows(), {"a": dp.Integer(0, 5000)})).cumulative("a")

    def test_refuses_words_in_python(self):
        for by, up_to in (("sex", 1), (["sex", "sex"], 1), (["sex"], 2), ([], 1)):
            with pytest.raises(dp.DiscreetError):
                dp.Table(PEOPLE).marginals(by, up_to)

    def test_people_are_not_the_sum_of_their_cells(self):
        visits = {
            "visits": dp.Schema(
                "visits", dp.People("id", max_rows=3), {"sex": dp.Category(["f", "m"])}
            )
        }
        with pytest.raises(dp.UnsupportedQuery, match="not the sum"):
            dp.parse_sql(
                "SELECT sex, COUNT(DISTINCT id) AS n FROM visits GROUP BY CUBE (sex)", visits
            )


class TestTrees:
    """A question that is put together by hand is checked like one that was read."""

    @pytest.mark.parametrize("sets", [(), ((0,), (0,)), ((1, 0),), ((0, 2),), ((0,),)])
    def test_sets_name_every_key_in_order(self, sets):
        with pytest.raises(dp.UnsupportedQuery, match="GROUPING SETS"):
            require_sound(replace(dp.parse_sql(CUBE, NAMED), sets=sets))

    def test_running_totals_have_no_sets(self):
        with pytest.raises(dp.UnsupportedQuery, match="one key"):
            require_sound(replace(dp.parse_sql(RUNNING, NAMED), sets=((0,),)))

    def test_what_came_later_is_not_in_old_fingerprints(self):
        question = dp.parse_sql(CUBE, NAMED)
        plain = replace(question, sets=None)
        assert fingerprint(plain) != fingerprint(question)
        assert fingerprint(replace(dp.parse_sql(RUNNING, NAMED), running=False)) == fingerprint(
            dp.parse_sql("SELECT age, COUNT(*) AS n FROM people GROUP BY age", NAMED)
        )

    def test_a_bin_is_named_by_its_expression(self):
        by_two = dp.Table(PEOPLE).cumulative(dp.col("age") * 2, width=20)
        assert by_two.keys[0].name == "bin"
        assert dp.Table(PEOPLE).cumulative(dp.col("age") * 2).keys[0].name == "bin"

    def test_a_hierarchy_without_keys_beside(self):
        assert dp.Table(PEOPLE).hierarchy("sex", "region").sets == ((0, 1), (0,), ())
