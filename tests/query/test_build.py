"""Questions from Python: each the same tree as the SQL beside it."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction

import pytest

from discreet.errors import InvalidArgument, UnboundedSensitivity, UnsupportedQuery
from discreet.query import (
    Col,
    Table,
    case,
    col,
    correlation,
    count,
    count_distinct,
    count_people,
    covariance,
    describe,
    maximum,
    mean,
    median,
    minimum,
    mode,
    parse,
    quantile,
    standard_deviation,
    sum_of,
    variance,
)
from discreet.query.algebra.expression import Constant, Function
from discreet.query.algebra.tree import Nest
from discreet.query.bounds.relation_facts import columns_of
from discreet.query.python.column import constant
from query.samples import MONTHLY, PEOPLE, PRICES, TABLES, USERS, VISITS, WARDS

people, visits, users = Table(PEOPLE), Table(VISITS), Table(USERS)
age = col("age")


class TestAQuestion:
    @pytest.mark.parametrize(
        ("built", "sql"),
        [
            (people.count(), "SELECT COUNT(*) FROM people"),
            (people.count(by="region"), "SELECT region, COUNT(*) FROM people GROUP BY region"),
            (people.sum("income", by=["region", "active"]), "SELECT region, active, SUM(income) FROM people GROUP BY 1, 2"),
            (people.mean("income", by="region"), "SELECT region, AVG(income) FROM people GROUP BY region"),
            (people.variance(age), "SELECT VARIANCE(age) FROM people"),
            (people.median("age"), "SELECT MEDIAN(age) FROM people"),
            (people.quantile("age", 0.9), "SELECT QUANTILE(age, 0.9) FROM people"),
            (people.mode("region"), "SELECT MODE(region) FROM people"),
            (people.count_distinct("region"), "SELECT COUNT(DISTINCT region) FROM people"),
            (visits.count_people(by="shop"), "SELECT shop, COUNT(DISTINCT user_id) FROM visits GROUP BY shop"),
            (
                people.histogram("age", width="10"),
                "SELECT FLOOR(age / 10) * 10 AS age, COUNT(*) FROM people GROUP BY FLOOR(age / 10) * 10",
            ),
            (
                people.histogram(age + 1, width=0.5, start=5),
                "SELECT FLOOR((age + 1 - 5) / 0.5) * 0.5 + 5 AS bin, COUNT(*) FROM people GROUP BY bin",
            ),
            (
                people.histogram("age", edges=[0, 18, 65]),
                "SELECT CASE WHEN age >= 65 THEN 65 WHEN age >= 18 THEN 18 WHEN age >= 0 THEN 0 END AS age, COUNT(*) "
                "FROM people GROUP BY 1",
            ),
            (
                people.where(age >= 18, col("region") == "N").where(~col("active")).count(),
                "SELECT COUNT(*) FROM (SELECT * FROM people WHERE age >= 18 AND region = 'N') t WHERE NOT active",
            ),
            (
                people.select("age", double=age * 2).mean("double"),
                "SELECT AVG(double) FROM (SELECT age, age * 2 AS double FROM people) t",
            ),
            (
                people.join(WARDS, on="ward", keep=True).where(col("big")).count(),
                "SELECT COUNT(*) FROM people LEFT JOIN wards ON people.ward = wards.ward WHERE big",
            ),
            (
                people.join(WARDS, on=[(col("ward") + 1, "ward")]).count(),
                "SELECT COUNT(*) FROM people p JOIN wards w ON p.ward + 1 = w.ward",
            ),
            (
                visits.join_person(users, on=["shop"]).where(col("users.shop") == "a").count(),
                "SELECT COUNT(*) FROM visits v JOIN users u USING (user_id, shop) WHERE u.shop = 'a'",
            ),
            (
                users.union(users, users).count(),
                "SELECT COUNT(*) FROM (SELECT * FROM users UNION ALL SELECT * FROM users UNION ALL SELECT * FROM users) t",
            ),
            (
                visits.per_person(t=sum_of("spent")).mean("t"),
                "SELECT AVG(t) FROM (SELECT user_id, SUM(spent) AS t FROM visits GROUP BY user_id) x",
            ),
            (
                visits.per_person(by="shop", m=mean("spent"), lo=minimum("ward"), n=count("ward")).count(by="shop"),
                "SELECT shop, COUNT(*) FROM (SELECT shop, AVG(spent) AS m, MIN(ward) AS lo, COUNT(ward) AS n FROM visits "
                "GROUP BY user_id, shop) x GROUP BY shop",
            ),
            (
                visits.per_person(by="shop").count(by="shop"),
                "SELECT shop, COUNT(*) FROM (SELECT shop, COUNT(*) AS rows FROM visits GROUP BY user_id, shop) x GROUP BY 1",
            ),
            (
                people.aggregate(
                    by={"young": age < 18}, n=count(), sd=standard_deviation("age"), having=col("n") > 5, order=["-n", "young"], limit=3
                ),
                "SELECT age < 18 AS young, COUNT(*) AS n, STDDEV(age) AS sd FROM people GROUP BY age < 18 HAVING n > 5 "
                "ORDER BY n DESC, young LIMIT 3",
            ),
            (
                people.aggregate(
                    a=covariance("age", "income", sample=False), b=correlation("age", age), c=maximum("joined"),
                    d=median("seen"), e=count_distinct(col("age") % 5), f=quantile("age", Fraction(1, 3)),
                    g=variance("age", sample=False), h=mode("party"), i=count("name"),
                ),
                "SELECT COVAR_POP(age, income) AS a, CORR(age, age) AS b, MAX(joined) AS c, MEDIAN(seen) AS d, "
                "COUNT(DISTINCT PMOD(age, 5)) AS e, QUANTILE(age, 1 / 3) AS f, VAR_POP(age) AS g, MODE(party) AS h, "
                "COUNT(name) AS i FROM people",
            ),
        ],
    )  # fmt: skip
    def test_is_the_same_as_in_sql(self, built, sql):
        assert built == parse(sql, TABLES)

    def test_has_every_verb_that_sql_has(self):
        day, seen = col("joined"), users.where(col("age") > 30)
        pairs = [
            (people.count(by={"w": day.truncate("week")}), "SELECT DATE_TRUNC('week', joined) AS w, COUNT(*) AS count FROM people GROUP BY w"),
            (people.count(by={"d": day - date(2024, 1, 1)}), "SELECT joined - DATE '2024-01-01' AS d, COUNT(*) AS count FROM people GROUP BY d"),
            (people.where(day.later(months=1, days=-1) >= date(2024, 5, 1)).count(), "SELECT COUNT(*) AS count FROM people WHERE joined + INTERVAL '1' MONTH - INTERVAL '1' DAY >= '2024-05-01'"),
            (people.histogram("joined", width="quarter"), "SELECT DATE_TRUNC('quarter', joined) AS joined, COUNT(*) AS count FROM people GROUP BY DATE_TRUNC('quarter', people.joined)"),
            (visits.where_person_in(seen).count(), "SELECT COUNT(*) AS count FROM visits v WHERE EXISTS (SELECT 1 FROM users u WHERE u.user_id = v.user_id AND age > 30)"),
            (visits.where_person_not_in(seen).count(), "SELECT COUNT(*) AS count FROM visits v WHERE NOT EXISTS (SELECT 1 FROM users u WHERE u.user_id = v.user_id AND age > 30)"),
            (people.aggregate(by="region", n=count(), show={"share": col("n") / col("n").total()}, order=["-share"], limit=2, offset=1), "SELECT region, COUNT(*) AS n, COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM people GROUP BY region ORDER BY share DESC LIMIT 2 OFFSET 1"),
            (people.aggregate(by="ward", n=count(), show={"d": col("n") - col("n").lag("ward")}), "SELECT ward, COUNT(*) AS n, COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY ward) AS d FROM people GROUP BY ward"),
            (people.distinct("name"), "SELECT DISTINCT name FROM people"),
        ]  # fmt: skip
        for built, sql in pairs:
            assert built == parse(sql, TABLES), sql
            assert parse(describe(built), TABLES) == built

    def test_takes_chosen_pairs_of_keys(self):
        chosen = people.aggregate(
            by=["region", "active"], keys=[("N", True), ("S", False)], n=count()
        )
        assert [key.values for key in chosen.keys] == [("N", "S"), (True, False)]
        assert chosen.nested == Nest((0, 1), (("N", True), ("S", False)))

    def test_takes_public_keys_that_it_lists(self):
        question = people.count(by="name", keys=["Ann", "Bo", None])
        assert question.keys[0].values == ("Ann", "Bo", None)
        question = people.count(by=["name", "joined"], keys={"joined": [date(2024, 1, 1)]})
        assert [key.values for key in question.keys] == [None, (19723,)]

    def test_takes_keys_from_a_public_table(self):
        table = Table(PEOPLE, public_values=lambda *_: ["Oslo"]).join(WARDS, on="ward")
        assert table.count(by="city").keys[0].values == ("Oslo",)
        assert table.count_distinct("city").statistics[0][0] == "count_city"

    def test_names_its_statistic_apart_from_its_keys(self):
        assert people.count(by={"count": "region"}).statistics[0][0] == "statistic.count"

    def test_of_windows_pairs_rows_of_one_window(self):
        monthly = Table(MONTHLY)
        assert monthly.join_person(monthly).count_people().statistics[0][0] == "people"


class TestColumns:
    def test_build_every_expression(self):
        x = col("income")
        built = [
            (1 + x, "1 + income"),
            (1 - x, "1 - income"),
            (2 * x / 4, "(2 * income) / 4"),
            (1 / (x + 1), "1 / (income + 1)"),
            (x // 3, "FLOOR(income / 3)"),
            (x**1, "income"),
            (x**3, "(income * income) * income"),
            (-x, "-income"),
            (abs(x) - 0.5, "ABS(income) - 0.5"),
            ((x > 1) | (x < 0) & (x != 5), "income > 1 OR (income < 0 AND income <> 5)"),
            (x.is_null(), "income IS NULL"),
            (x.is_in([1, 2]), "income IN (1, 2)"),
            (x.between(1, x), "income >= 1 AND income <= income"),
            (x.clip(0, 9), "LEAST(GREATEST(income, 0), 9)"),
            (x.coalesce(age, 0), "COALESCE(income, age, 0)"),
            (col("name").like("A%"), "name LIKE 'A%'"),
            (col("name").substring(1, 2), "SUBSTRING(name, 1, 2)"),
            (col("seen").call(Function.DATE_OF), "CAST(seen AS DATE)"),
            (
                case((x > 1, "a"), (x > 0, "b")),
                "CASE WHEN income > 1 THEN 'a' WHEN income > 0 THEN 'b' ELSE NULL END",
            ),
            (col("Time spent") <= 3, '"Time spent" <= 3'),
        ]
        assert [
            (repr(expression), text) for expression, text in built if repr(expression) != text
        ] == []
        for power in (0, 9, 0.5):
            with pytest.raises(InvalidArgument, match="power"):
                _ = x**power

    @pytest.mark.parametrize(
        ("value", "exact"),
        [
            (0.1, Constant(Fraction(1, 10))),
            (Decimal("2.50"), Constant(Fraction(5, 2))),
            (3.0, Constant(3)),
            (True, Constant(True)),
            (None, Constant(None)),
            ("x", Constant("x")),
            (date(1969, 12, 31), Constant(-1, "day")),
            (datetime(1970, 1, 2, 0, 0, 5), Constant(86_405, "second")),
            (datetime(1970, 1, 1, 1, tzinfo=UTC), Constant(3600, "second")),
        ],
    )
    def test_read_values_exactly(self, value, exact):
        found = constant(value)
        assert found == exact
        assert type(found.value) is type(exact.value)

    def test_have_no_truth_value_and_no_hash(self):
        with pytest.raises(InvalidArgument, match="&"):
            people.where(age > 3 and age < 5)
        with pytest.raises(TypeError, match="unhashable"):
            hash(age)


class TestRefusals:
    @pytest.mark.parametrize(
        ("ask", "error", "words"),
        [
            (lambda: Table(WARDS), UnsupportedQuery, "public"),
            (people.where, InvalidArgument, "conditions"),
            (lambda: people.where(True), InvalidArgument, "conditions"),
            (lambda: people.where(age + 1), UnsupportedQuery, "WHERE"),
            (lambda: people.where(col("height") > 1), UnsupportedQuery, "no column 'height'"),
            (lambda: visits.where(col("user_id") == 7), UnsupportedQuery, "no column 'user_id'"),
            (lambda: visits.select(USER_ID=col("user_id")), UnsupportedQuery, "no column 'user_id'"),
            (people.select, InvalidArgument, "at least one"),
            (lambda: people.select("age", AGE=age), UnsupportedQuery, "same name"),
            (lambda: people.select(**{"a'b": age}), UnsupportedQuery, "quotes"),
            (lambda: people.join(WARDS, on=[]), UnsupportedQuery, "needs ON"),
            (lambda: people.join(WARDS, on="city"), UnsupportedQuery, "no column 'city'"),
            (lambda: people.join(WARDS, on=[("name", "nowhere")]), UnsupportedQuery, "needs ON"),
            (lambda: people.join(WARDS, on=[("name", "ward")]), UnsupportedQuery, "one type"),
            (lambda: people.join(PRICES, on=[("age", "price")]), UnboundedSensitivity, "declared key"),
            (lambda: people.join(VISITS, on="ward"), UnsupportedQuery, "private"),
            (lambda: people.join_person(people), UnboundedSensitivity, "person"),
            (lambda: visits.join_person(people), UnsupportedQuery, "different units"),
            (lambda: visits.join_person(users, on=[("spent", "shop")]), UnsupportedQuery, "one type"),
            (lambda: people.select("ward").union(visits.select("ward")), UnsupportedQuery, "different units"),
            (lambda: visits.union(users), UnsupportedQuery, "same columns"),
            (lambda: people.per_person(n=count()), UnboundedSensitivity, "person"),
            (lambda: visits.per_person(n=median("spent")), UnsupportedQuery, "MEDIAN"),
            (lambda: visits.per_person(n=sum_of("shop")), UnsupportedQuery, "number"),
            (lambda: visits.per_person(by="shop", SHOP=count()), UnsupportedQuery, "same name"),
            (lambda: people.aggregate(by="region"), InvalidArgument, "at least one statistic"),
            (lambda: people.aggregate(n=count(), order=["m"]), UnsupportedQuery, "no column 'm'"),
            (lambda: people.aggregate(n=count(), having=col("n") + 1), UnsupportedQuery, "HAVING"),
            (lambda: people.aggregate(n=count(), limit=-1), UnsupportedQuery, "LIMIT"),
            (lambda: people.aggregate(by="region", Region=count()), UnsupportedQuery, "same name"),
            (people.count_people, UnsupportedQuery, "COUNT"),
            (lambda: people.sum("name"), UnsupportedQuery, "SUM"),
            (lambda: people.mean("active"), UnsupportedQuery, "WHERE it holds"),
            (lambda: people.median("region"), UnsupportedQuery, "MIN, MAX"),
            (lambda: people.mode("name"), UnsupportedQuery, "MODE"),
            (lambda: people.quantile("age", 2), InvalidArgument, "from 0 to 1"),
            (lambda: people.histogram("age"), InvalidArgument, "width"),
            (lambda: people.histogram("age", width=0), InvalidArgument, "greater than 0"),
            (lambda: people.histogram("age", width=1, edges=[1, 2]), InvalidArgument, "width"),
            (lambda: people.histogram("age", edges=[3]), InvalidArgument, "increasing"),
            (lambda: people.histogram("age", edges=[3, 3]), InvalidArgument, "increasing"),
            (lambda: people.count(by=[age]), InvalidArgument, "under names"),
            (lambda: people.count(by="name", keys="Ann"), InvalidArgument, "whose values"),
            (lambda: people.count(by=["name", "age"], keys=["Ann"]), InvalidArgument, "whose values"),
            (lambda: people.count(by="name", keys={"age": [1]}), InvalidArgument, "'age'"),
            (lambda: people.count(by="name", keys=[1]), InvalidArgument, "text"),
            (lambda: people.count(by="name", keys=[]), InvalidArgument, "at least one"),
            (lambda: people.count(by="name", keys=["a", "a"]), InvalidArgument, "once"),
            (lambda: col(7), InvalidArgument, "name"),
            (lambda: mean(7), InvalidArgument, "column"),
            (lambda: age.call("explode"), InvalidArgument, "explode"),
            (lambda: constant(float("nan")), InvalidArgument, "finite"),
            (lambda: constant(datetime(2024, 1, 1, 0, 0, 0, 5)), InvalidArgument, "whole second"),
            (lambda: constant(datetime(2024, 1, 1, tzinfo=timezone(timedelta(hours=1)))), InvalidArgument, "UTC"),
        ],
    )  # fmt: skip
    def test_say_what_would_work(self, ask, error, words):
        with pytest.raises(error, match=words):
            ask()

    def test_a_statistic_of_people_needs_people(self):
        assert count_people() == visits.count_people().statistics[0][1]
        assert isinstance(age, Col)
        assert "user_id" not in columns_of(visits.rows)
