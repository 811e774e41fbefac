"""Scalar sub-queries: one number of all rows beside the results of a SELECT."""

from __future__ import annotations

import pytest

import discreet as dp
from discreet.query import col, count, count_people, describe, overall, parse
from discreet.query.algebra.statistic import Count, CountPeople, Overall, Quantile
from discreet.query.algebra.tree import Scan, relations_of
from discreet.query.bounds.check import require_sound
from query.samples import PEOPLE, SWAPS, TABLES, USERS, VISITS

ALL = "(SELECT COUNT(*) FROM people)"


def read(sql):
    return parse(sql, TABLES)


class TestShares:
    """A sub-query among results is a statistic of rows of its own."""

    def test_reads_rows_of_its_own(self):
        question = read(
            f"SELECT region, COUNT(*) / {ALL} AS share FROM people WHERE age > 3 GROUP BY region"
        )
        assert dict(question.statistics)["all_count"] == Overall(Scan(PEOPLE), Count())
        assert relations_of(question) == (question.rows, Scan(PEOPLE))

    def test_the_same_sub_query_is_asked_once(self):
        question = read(
            f"SELECT COUNT(*) / {ALL} AS a, SUM(age) / {ALL} AS b FROM people HAVING COUNT(*) > {ALL} / 9"
        )
        assert len(question.statistics) == 3

    @pytest.mark.parametrize(
        "sql",
        [
            f"SELECT region, COUNT(*) / {ALL} AS share FROM people GROUP BY region",
            "SELECT COUNT(*) / (SELECT SUM(age) / COUNT(*) FROM people WHERE age > 3) AS x FROM people",
            "SELECT COUNT(*) / (SELECT COUNT(DISTINCT v.user_id) FROM visits v JOIN users u ON v.user_id = u.user_id "
            "WHERE u.age > 3) AS x FROM users",
            "SELECT COUNT(*) / (SELECT COUNT(*) FROM (SELECT user_id, SUM(spent) AS s FROM visits GROUP BY user_id) t "
            "WHERE s > 3) AS x FROM visits",
        ],
    )
    def test_its_text_is_read_back(self, sql):
        assert read(describe(read(sql))) == read(sql)

    def test_python_builds_the_same(self):
        users = dp.Table(USERS)
        built = users.where(col("age") > 3).aggregate(
            by="shop",
            n=count(),
            all_people=overall(users, count_people()),
            show={"s": col("n") / col("all_people")},
        )
        asked = read(
            "SELECT shop, COUNT(*) / (SELECT COUNT(DISTINCT user_id) FROM users) AS s FROM users WHERE age > 3 GROUP BY shop"
        )
        assert {one for _, one in built.statistics} == {one for _, one in asked.statistics}
        assert built.rows == asked.rows

    @pytest.mark.parametrize(
        ("sql", "why", "instead"),
        [
            ("SELECT COUNT(*) / (SELECT MEDIAN(age) FROM people) FROM people", "a count, a sum or a mean", "by itself"),
            ("SELECT COUNT(*) / (SELECT age FROM people) FROM people", "an aggregate of all its rows", "SELECT COUNT"),
            ("SELECT COUNT(*) / (SELECT COUNT(*) FROM people GROUP BY age) FROM people", "it has GROUP", "SELECT COUNT"),
            ("SELECT COUNT(*) / (SELECT COUNT(*), 1 FROM people) FROM people", "one number of all its rows", "SELECT COUNT"),
            ("SELECT COUNT(*) / (SELECT COUNT(*) FROM people LIMIT 1) FROM people", "it has LIMIT", "SELECT COUNT"),
            ("SELECT region, (SELECT COUNT(*) FROM people p WHERE p.region = o.region) AS n FROM people o GROUP BY region",
             "o.region: the sub-query depends on the row outside", "OVER (PARTITION BY"),
            ("SELECT COUNT(*) FROM people WHERE age > (SELECT AVG(age) FROM people)", "a sub-query in an expression",
             "ask for the inner number first"),
            ("SELECT COUNT(*) / (SELECT COUNT(*) FROM wards) FROM people", "it is public", "ask the store itself"),
            ("SELECT COUNT(*) / (SELECT COUNT(*) FROM visits) FROM people", "other units", "each by itself"),
            ("SELECT COUNT(*) / (SELECT COUNT(*) FROM swaps) FROM people", "other units", "each by itself"),
            ("SELECT COUNT(*) / (SELECT COUNT(*) FROM visits) FROM monthly", "other units", "each by itself"),
            (f"SELECT region, COUNT(*) / {ALL} AS s FROM people GROUP BY CUBE (region)", "GROUPING SETS", "by itself"),
            (f"SELECT region, LAG(COUNT(*) / {ALL}) OVER (ORDER BY region) AS s FROM people GROUP BY region",
             "the same number in every row", "divide after the window"),
            (f"SELECT age, SUM(COUNT(*)) OVER (ORDER BY age) / {ALL} AS s FROM people GROUP BY age", "OVER", "by itself"),
            ("SELECT COUNT(*) FROM (SELECT user_id, COUNT(*) / (SELECT COUNT(*) FROM visits) AS s FROM visits GROUP BY user_id) t",
             "a sub-query in an expression", "groups by the person"),
        ],
    )  # fmt: skip
    def test_what_is_refused_says_what_would_work(self, sql, why, instead):
        with pytest.raises(dp.UnsupportedQuery) as refused:
            read(sql)
        assert why in str(refused.value) and instead in str(refused.value)

    @pytest.mark.parametrize(
        "hidden",
        [
            Overall(Scan(PEOPLE), Overall(Scan(PEOPLE), Count())),
            Overall(Scan(PEOPLE), Quantile(col("age").expression, 1)),
            Overall(Scan(PEOPLE), CountPeople()),
            Overall(Scan(VISITS), Count()),
            Overall(Scan(SWAPS), Count()),
        ],
    )
    def test_a_tree_that_no_reader_made_is_checked_too(self, hidden):
        sound = read("SELECT COUNT(*) AS n FROM people")
        with pytest.raises(dp.UnsupportedQuery):
            require_sound(dp.Question(sound.rows, (), (("n", hidden),), sound.finish))

    def test_python_refuses_what_is_no_table(self):
        with pytest.raises(dp.InvalidArgument, match="overall takes a table and a statistic"):
            overall("people", count())
