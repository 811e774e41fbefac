"""SQL as questions: what each clause becomes."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.errors import SchemaMismatch
from discreet.query import parse
from discreet.query.algebra.expression import Call, Constant, Field, Function
from discreet.query.algebra.statistic import (
    Correlation,
    Count,
    CountDistinct,
    CountOf,
    CountPeople,
    Covariance,
    Mean,
    Mode,
    Quantile,
    Sum,
    Variance,
)
from discreet.query.algebra.tree import (
    Finish,
    JoinPeople,
    JoinPublic,
    Key,
    PerPerson,
    Question,
    Scan,
    Select,
    Total,
    Union,
    Where,
)
from discreet.query.bounds.relation_facts import columns_of
from query.samples import PEOPLE, TABLES, USERS, VISITS, WARDS

AGE, INCOME = Field("age"), Field("income")
NULL = Constant(None)


def ask(sql, **options):
    return parse(sql, TABLES, **options)


def condition(sql):
    """Read a condition on people."""
    question = ask(f"SELECT COUNT(*) FROM people WHERE {sql}")
    assert question.rows.rows == Scan(PEOPLE)
    return question.rows.condition


def f(name, *arguments):
    return Call(Function(name), arguments)


class TestAQuestion:
    def test_has_rows_keys_statistics_and_a_finish(self):
        question = ask(
            "SELECT region, COUNT(*) AS n, AVG(income) AS income FROM people WHERE age >= 18 "
            "GROUP BY region HAVING COUNT(*) > 100 ORDER BY n DESC, region LIMIT 3"
        )
        region, n = Field("region"), Field("n")
        assert question == Question(
            Where(Scan(PEOPLE), f("at_most", Constant(18), AGE)),
            (Key("region", region, ("N", "S", "E", "W")),),
            (("n", Count()), ("income", Mean(INCOME))),
            Finish(
                (("region", region), ("n", n), ("income", INCOME)),
                f("less", Constant(100), n),
                ((n, True), (region, False)),
                3,
            ),
        )

    @pytest.mark.parametrize(
        ("sql", "statistic"),
        [
            ("COUNT(*)", Count()),
            ("COUNT()", Count()),
            ("COUNT(1)", Count()),
            (
                "COUNT(1 + 1) FILTER (WHERE active)",
                CountOf(f("case", Field("active"), Constant(1), NULL)),
            ),
            ("COUNT(age)", CountOf(AGE)),
            ("COUNT(DISTINCT region)", CountDistinct(Field("region"))),
            (
                "COUNT(*) FILTER (WHERE active)",
                CountOf(f("case", Field("active"), Constant(1), NULL)),
            ),
            ("COUNT_IF(active)", CountOf(f("case", Field("active"), Constant(1), NULL))),
            ("SUM(age)", Sum(AGE)),
            ("SUM(age) FILTER (WHERE active)", Sum(f("case", Field("active"), AGE, NULL))),
            ("AVG(age + 1)", Mean(f("add", AGE, Constant(1)))),
            ("VARIANCE(age)", Variance(AGE)),
            ("VAR_SAMP(age)", Variance(AGE)),
            ("VAR_POP(age)", Variance(AGE, sample=False)),
            ("STDDEV(age)", Variance(AGE, root=True)),
            ("STDDEV_SAMP(age)", Variance(AGE, root=True)),
            ("STDDEV_POP(age)", Variance(AGE, sample=False, root=True)),
            ("MIN(age)", Quantile(AGE, Fraction(0))),
            ("MAX(joined)", Quantile(Field("joined"), Fraction(1))),
            ("MEDIAN(age)", Quantile(AGE, Fraction(1, 2))),
            ("QUANTILE(age, 0.9)", Quantile(AGE, Fraction(9, 10))),
            ("QUANTILE_CONT(age, 0.9)", Quantile(AGE, Fraction(9, 10))),
            ("APPROX_QUANTILE(age, 0.9)", Quantile(AGE, Fraction(9, 10))),
            ("PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY age)", Quantile(AGE, Fraction(9, 10))),
            (
                "PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY age DESC)",
                Quantile(AGE, Fraction(1, 10)),
            ),
            ("MODE(region)", Mode(Field("region"))),
            ("MODE() WITHIN GROUP (ORDER BY region)", Mode(Field("region"))),
            ("COVAR_SAMP(age, income)", Covariance(AGE, INCOME)),
            ("COVAR_POP(age, income)", Covariance(AGE, INCOME, sample=False)),
            ("CORR(age, income)", Correlation(AGE, INCOME)),
        ],
    )
    def test_reads_every_aggregate(self, sql, statistic):
        assert ask(f"SELECT {sql} AS x FROM people").statistics == (("x", statistic),)

    def test_counts_people_by_their_id_in_any_case(self):
        assert ask("SELECT COUNT(DISTINCT (USER_ID)) FROM visits").statistics == (
            ("people", CountPeople()),
        )

    def test_asks_the_same_statistic_once(self):
        question = ask(
            "SELECT SUM(age) / COUNT(*) AS mean, COUNT(*) AS n, COUNT(*) + 1 FROM people HAVING COUNT(*) > 5"
        )
        assert question.statistics == (("n", Count()), ("sum_age", Sum(AGE)))
        names = [name for name, _ in question.finish.columns]
        assert names == ["mean", "n", "column_3"]

    def test_tells_true_from_one(self):
        question = ask(
            "SELECT MODE(CASE WHEN active THEN 1 END) AS a, MODE(CASE WHEN active THEN TRUE END) AS b FROM people"
        )
        assert [name for name, _ in question.statistics] == ["a", "b"]

    def test_numbers_names_that_nobody_gave(self):
        question = ask("SELECT COUNT(*), COUNT(*), AVG(age + 1), AVG(age + 2), 7 FROM people")
        assert [name for name, _ in question.finish.columns] == [
            "count",
            "count_2",
            "avg_age",
            "avg_age_2",
            "column_5",
        ]
        assert [name for name, _ in question.statistics] == ["count", "avg_age", "avg_age_2"]

    def test_hidden_statistics_get_names_of_their_own(self):
        question = ask("SELECT AVG(income) AS count FROM people HAVING COUNT(*) > 5")
        assert question.statistics == (("count", Mean(INCOME)), ("statistic.count", Count()))

    def test_may_stand_in_brackets_and_end_with_a_semicolon(self):
        assert ask("(SELECT COUNT(*) FROM people);") == ask(
            "SELECT COUNT(*) FROM people -- all of them"
        )

    def test_finds_names_in_any_case(self):
        assert ask('SELECT COUNT(*) FROM PEOPLE P WHERE p.AGE > 3 AND "Age" < 9') == ask(
            "SELECT COUNT(*) FROM people WHERE age > 3 AND age < 9"
        )

    def test_says_what_was_meant(self):
        with pytest.raises(SchemaMismatch, match="did you mean region"):
            ask("SELECT COUNT(*) FROM people WHERE regoin = 'N'")

    @pytest.mark.untraced
    def test_of_a_long_chain_is_not_deep(self):
        chain = " OR ".join(f"age = {i}" for i in range(400))
        assert len(columns_of(ask(f"SELECT COUNT(*) FROM people WHERE {chain}").rows)) == 9


class TestKeys:
    def test_may_be_places_names_or_expressions(self):
        decade = f("multiply", f("floor", f("divide", AGE, Constant(10))), Constant(10))
        for group in ("1", "decade", "FLOOR(age / 10) * 10", "(FLOOR(age / 10) * 10)"):
            question = ask(
                f"SELECT FLOOR(age / 10) * 10 AS decade, COUNT(*) FROM people GROUP BY {group}"
            )
            assert question.keys == (Key("decade", decade, tuple(range(0, 130, 10))),)

    def test_a_column_comes_before_a_name_that_select_gives(self):
        question = ask("SELECT FLOOR(age / 10) AS age, COUNT(*) FROM people GROUP BY age")
        assert question.keys[0].expression == AGE
        assert question.finish.columns[0] == (
            "age",
            f("floor", f("divide", Field("age"), Constant(10))),
        )

    def test_need_not_be_shown_and_count_once(self):
        question = ask("SELECT COUNT(*) FROM people GROUP BY region, ward + 1, region")
        assert [key.name for key in question.keys] == ["region", "key_2"]

    def test_may_be_shown_twice_and_computed_with(self):
        question = ask("SELECT region AS r, LOWER(region), COUNT(*) FROM people GROUP BY region")
        assert question.keys[0].name == "r"
        assert question.finish.columns[1] == ("column_2", f("lower", Field("r")))

    def test_unknown_ones_are_left_to_a_private_selection(self):
        assert ask("SELECT name, COUNT(*) FROM people GROUP BY name").keys[0].values is None

    def test_may_come_from_a_public_table(self):
        sql = "SELECT city, COUNT(*) FROM people JOIN wards USING (ward) GROUP BY city"
        assert ask(sql).keys[0].values is None
        assert ask(sql, public_values=lambda *_: ["Oslo", None, "Bergen"]).keys[0].values == (
            "Oslo",
            "Bergen",
        )


class TestFinish:
    def test_reads_names_that_select_gives(self):
        question = ask(
            "SELECT region, COUNT(*) AS n FROM people GROUP BY 1 HAVING n > 5 AND NOT n > 90 ORDER BY 2, region"
        )
        more, less = (
            f("less", Constant(5), Field("n")),
            f("not", f("less", Constant(90), Field("n"))),
        )
        assert question.finish.having == f("and", more, less)
        assert question.finish.order == ((Field("n"), False), (Field("region"), False))

    def test_orders_by_what_is_not_shown(self):
        question = ask(
            "SELECT region FROM people GROUP BY region HAVING COUNT(*) > 5 ORDER BY AVG(age) DESC"
        )
        assert question.statistics == (("count", Count()), ("avg_age", Mean(AGE)))
        assert question.finish.order == ((Field("avg_age"), True),)

    @pytest.mark.parametrize("limit", ["LIMIT 5", "FETCH FIRST 5 ROWS ONLY"])
    def test_keeps_the_first_rows(self, limit):
        assert ask(f"SELECT COUNT(*) FROM people {limit}").finish.limit == 5

    def test_computes_with_results(self):
        question = ask("SELECT ROUND(100 * SUM(age) / NULLIF(COUNT(*), 0), 2) AS x FROM people")
        n = Field("count")
        divisor = f("case", f("equal", n, Constant(0)), NULL, n)
        percent = f("divide", f("multiply", Constant(100), Field("sum_age")), divisor)
        assert question.finish.columns == (
            ("x", f("divide", f("round", f("multiply", percent, Constant(100))), Constant(100))),
        )


class TestConditions:
    @pytest.mark.parametrize(
        ("sql", "expression"),
        [
            ("age > 18", f("less", Constant(18), AGE)),
            ("age <= 18", f("at_most", AGE, Constant(18))),
            ("age <> 18", f("unequal", AGE, Constant(18))),
            ("NOT active", f("not", Field("active"))),
            ("active IS NULL", f("is_null", Field("active"))),
            ("active IS NOT NULL", f("not", f("is_null", Field("active")))),
            ("active IS TRUE", f("coalesce", Field("active"), Constant(False))),
            ("active IS NOT FALSE", f("not", f("coalesce", f("not", Field("active")), Constant(False)))),
            ("age BETWEEN 1 AND 3", f("and", f("at_most", Constant(1), AGE), f("at_most", AGE, Constant(3)))),
            ("age IN (1, -2)", f("among", AGE, Constant(1), Constant(-2))),
            ("NOT region IN ('N')", f("not", f("among", Field("region"), Constant("N")))),
            ("name LIKE 'A%'", f("like", Field("name"), Constant("A%"))),
            ("name NOT LIKE 'A%'", f("not", f("like", Field("name"), Constant("A%")))),
            ("name = 'it''s'", f("equal", Field("name"), Constant("it's"))),
            ("joined >= '1970-01-31'", f("at_most", Constant(30, "day"), Field("joined"))),
            ("joined IN ('1970-01-02')", f("among", Field("joined"), Constant(1, "day"))),
            ("seen < '1970-01-02'", f("less", Field("seen"), Constant(86_400, "second"))),
            ("seen < TIMESTAMP '1970-01-01 00:01:00'", f("less", Field("seen"), Constant(60, "second"))),
            ("joined = DATE '1970-01-02'", f("equal", Field("joined"), Constant(1, "day"))),
            ("CAST(seen AS DATE) = '1970-01-02'", f("equal", f("date_of", Field("seen")), Constant(1, "day"))),
            ("income = 0.25", f("equal", INCOME, Constant(Fraction(1, 4)))),
            ("income = 2.5e1", f("equal", INCOME, Constant(25))),
            ("age = 2 * 3 - 4 / 8 + .5", f("equal", AGE, Constant(6))),
            ("CASE WHEN active THEN FALSE END", f("case", Field("active"), Constant(False), NULL)),
            ("IF(active, TRUE, FALSE)", f("case", Field("active"), Constant(True), Constant(False))),
            ("IF(active, TRUE)", f("case", Field("active"), Constant(True), NULL)),
            ("YEAR(joined) = 2024", f("equal", f("year", Field("joined")), Constant(2024))),
            ("EXTRACT(ISODOW FROM joined) = 1", f("equal", f("weekday", Field("joined")), Constant(1))),
            ("DATE_PART('month', joined) = 1", f("equal", f("month", Field("joined")), Constant(1))),
            ("LEFT(name, 2) = 'ab'", f("equal", f("substring", Field("name"), Constant(1), Constant(2)), Constant("ab"))),
            ("ROUND(income, 0) = 1", f("equal", f("round", INCOME), Constant(1))),
            ("ROUND(income) = 1", f("equal", f("round", INCOME), Constant(1))),
            ("age % 7 = 1", f("equal", f("modulo", AGE, Constant(7)), Constant(1))),
            ("PMOD(income, 7) = 1", f("equal", f("modulo", INCOME, Constant(7)), Constant(1))),
            ("COALESCE(joined, '1970-01-02') = joined", f("equal", f("coalesce", Field("joined"), Constant(1, "day")), Field("joined"))),
            ("CAST(active AS BOOLEAN)", Field("active")),
            ("CAST(joined AS DATE) = joined", f("equal", Field("joined"), Field("joined"))),
            ("CAST(seen AS TIMESTAMP) = seen", f("equal", Field("seen"), Field("seen"))),
            ("CAST(age AS INTEGER) = CAST(income AS DOUBLE)", f("equal", AGE, INCOME)),
            ("CAST(name AS VARCHAR) = region", f("equal", Field("name"), Field("region"))),
        ],
    )  # fmt: skip
    def test_are_read_exactly(self, sql, expression):
        assert condition(sql) == expression

    def test_with_a_remainder_keep_the_sign_of_the_number(self):
        mirrored = f("negate", f("modulo", f("negate", INCOME), Constant(7)))
        remainder = f(
            "case", f("less", INCOME, Constant(0)), mirrored, f("modulo", INCOME, Constant(7))
        )
        assert condition("income % 7 = 1") == f("equal", remainder, Constant(1))

    def test_however_written_are_the_same_chain(self):
        assert condition("(age > 1 AND age > 2) AND age > 3") == condition(
            "age > 1 AND (age > 2 AND age > 3)"
        )


class TestSubqueries:
    def test_keep_rows_as_they_are_when_they_choose_everything(self):
        plain = ask("SELECT COUNT(*) FROM people")
        assert ask("SELECT COUNT(*) FROM (SELECT * FROM people) t") == plain
        assert ask("WITH t AS (SELECT p.* FROM people p) SELECT COUNT(*) FROM t") == plain

    def test_rename_and_compute(self):
        question = ask(
            "SELECT AVG(y) FROM (SELECT age * 2 AS y, region FROM people WHERE age > 3) t WHERE t.y < 9"
        )
        rows = Where(Scan(PEOPLE), f("less", Constant(3), AGE))
        inner = Select(rows, (("y", f("multiply", AGE, Constant(2))), ("region", Field("region"))))
        assert question.rows == Where(inner, f("less", Field("y"), Constant(9)))

    def test_of_nothing_but_the_person_still_have_rows(self):
        question = ask(
            "SELECT COUNT(DISTINCT u) FROM (SELECT user_id AS u FROM visits WHERE ward = 1) t"
        )
        assert question.rows.columns == (("present", Constant(1)),)
        assert question.statistics == (("people", CountPeople()),)

    def test_see_the_views_before_them(self):
        question = ask(
            "WITH a AS (SELECT age FROM people), b AS (WITH c AS (SELECT age AS x FROM a) SELECT * FROM c) "
            "SELECT AVG(x) FROM (WITH d AS (SELECT * FROM b) SELECT * FROM d) t"
        )
        assert list(columns_of(question.rows)) == ["x"]

    def test_a_view_hides_a_table_of_its_name(self):
        question = ask("WITH people AS (SELECT ward FROM visits) SELECT AVG(ward) FROM people")
        assert question.rows == Select(Scan(VISITS), (("ward", Field("ward")),))

    def test_unite_rows_by_place(self):
        question = ask(
            "SELECT AVG(a) FROM (SELECT user_id, ward AS a FROM visits UNION ALL (SELECT user_id, age FROM users) "
            "UNION ALL SELECT user_id, ward FROM visits) t"
        )
        ward = Select(Scan(VISITS), (("a", Field("ward")),))
        assert question.rows == Union(
            (
                ward,
                Select(Select(Scan(USERS), (("age", AGE),)), (("a", AGE),)),
                Select(Select(Scan(VISITS), (("ward", Field("ward")),)), (("a", Field("ward")),)),
            )
        )

    def test_unite_people(self):
        union = "SELECT user_id FROM visits UNION ALL SELECT user_id FROM users"
        question = ask(f"SELECT COUNT(DISTINCT user_id) FROM ({union}) t")
        assert question.statistics == (("people", CountPeople()),)
        assert list(columns_of(question.rows)) == ["present"]

    def test_unite_whole_tables(self):
        question = ask("SELECT COUNT(*) FROM (SELECT * FROM users UNION ALL SELECT * FROM users) t")
        assert question.rows == Union((Scan(USERS), Scan(USERS)))


class TestOnePersonsRows:
    def test_become_one_row_with_bounds_from_the_schema(self):
        question = ask(
            "SELECT AVG(t), COUNT(DISTINCT p) FROM (SELECT user_id AS p, SUM(spent) AS t FROM visits GROUP BY 1) x"
        )
        total = Total("sum", Field("spent"), Fraction(1, 100), 0, 10 * 50_000)
        assert question.rows == PerPerson(Scan(VISITS), (), (("t", total),))

    def test_are_counted_and_bounded(self):
        question = ask(
            "SELECT COUNT(*) FROM (SELECT user_id, shop AS s, COUNT(*) AS n, MIN(ward) AS lo, MAX(ward) AS hi, "
            "COUNT(ward) AS w FROM visits GROUP BY user_id, shop HAVING COUNT(*) > 1 AND n < 9) t WHERE n > 2"
        )
        people = question.rows.rows.rows
        assert people.keys == (("s", Field("shop")),)
        one = Fraction(1)
        present = f("case", f("is_null", Field("ward")), Constant(0), Constant(1))
        assert people.totals == (
            ("n", Total("count", None, one, 1, 10)),
            ("lo", Total("least", Field("ward"), one, 1, 40)),
            ("hi", Total("greatest", Field("ward"), one, 1, 40)),
            ("w", Total("sum", present, one, 0, 10)),
        )

    def test_have_a_mean_within_the_bounds_of_a_value(self):
        question = ask(
            "SELECT AVG(m) FROM (SELECT user_id, AVG(spent) AS m FROM visits GROUP BY user_id) t"
        )
        assert [name for name, _ in question.rows.rows.totals] == ["m sum", "m count"]
        kind = columns_of(question.rows)["m"]
        assert (kind.low * kind.step, kind.high * kind.step) == (0, 500)

    def test_without_totals_have_their_number(self):
        question = ask(
            "SELECT s, COUNT(*) FROM (SELECT user_id, shop AS s FROM visits GROUP BY 1, 2) t GROUP BY s"
        )
        people = question.rows.rows
        assert people.totals == (("rows", Total("count", None, Fraction(1), 1, 10)),)
        assert question.keys[0].values == ("a", "b")

    def test_are_computed_with(self):
        question = ask(
            "SELECT COUNT(*) FROM (SELECT LEAST(SUM(spent), 50) / COUNT(*) AS x FROM visits GROUP BY user_id) t"
        )
        assert list(columns_of(question.rows)) == ["x"]


class TestJoins:
    def test_with_a_public_table_keep_one_row_for_each(self):
        question = ask(
            "SELECT AVG(p.age) FROM people p LEFT JOIN wards w ON w.ward = p.ward WHERE w.big"
        )
        columns = (("wards.ward", "ward"), ("city", "city"), ("big", "big"))
        join = JoinPublic(Scan(PEOPLE), WARDS, ((Field("ward"), "ward"),), columns, keep=True)
        assert question.rows == Where(join, Field("big"))

    def test_put_further_conditions_above(self):
        one = ask(
            "SELECT COUNT(*) FROM people p JOIN wards w ON p.ward = w.ward AND w.big AND LOWER(w.city) = p.name"
        )
        two = ask(
            "SELECT COUNT(*) FROM people p JOIN wards w ON (p.ward = w.ward) WHERE w.big AND LOWER(w.city) = p.name"
        )
        assert one == two

    def test_may_name_the_public_table_first(self):
        one = ask(
            "SELECT city, COUNT(*) FROM wards JOIN people ON people.ward = wards.ward GROUP BY city"
        )
        two = ask("SELECT city, COUNT(*) FROM people JOIN wards USING (ward) GROUP BY city")
        assert one == two

    def test_on_an_expression(self):
        question = ask("SELECT COUNT(*) FROM people p JOIN wards w ON p.ward + 1 = w.ward")
        assert question.rows.on == ((f("add", Field("ward"), Constant(1)), "ward"),)

    def test_of_private_tables_pair_the_rows_of_one_person(self):
        question = ask(
            "SELECT u.shop, COUNT(*) FROM visits v JOIN users u ON v.user_id = u.user_id AND v.shop = u.shop "
            "WHERE u.age > v.ward GROUP BY u.shop"
        )
        right = Select(Scan(USERS), (("age", AGE), ("users.shop", Field("shop"))))
        join = JoinPeople(Scan(VISITS), right, ((Field("shop"), Field("users.shop")),))
        assert question.rows == Where(join, f("less", Field("ward"), AGE))
        assert question.keys == (Key("shop", Field("users.shop"), ("a", "b")),)

    def test_by_using_merge_the_names(self):
        question = ask(
            "SELECT shop, COUNT(DISTINCT user_id) FROM visits JOIN users USING (user_id, shop) GROUP BY shop"
        )
        assert question.rows.on == ((Field("shop"), Field("users.shop")),)
        assert question.keys[0].expression == Field("shop")

    def test_of_a_table_with_itself_on_the_person(self):
        question = ask(
            "SELECT COUNT(*) FROM users a JOIN users b ON a.user_id = b.user_id AND a.age < b.age"
        )
        assert list(columns_of(question.rows)) == ["age", "shop", "users.age", "users.shop"]

    def test_of_several_tables(self):
        question = ask(
            "SELECT city, COUNT(*) FROM visits v JOIN users u ON v.user_id = u.user_id JOIN wards w ON v.ward = w.ward "
            "JOIN prices p ON p.shop = v.shop GROUP BY city"
        )
        assert [
            type(rows) for rows in (question.rows, question.rows.rows, question.rows.rows.rows)
        ] == [
            JoinPublic,
            JoinPublic,
            JoinPeople,
        ]

    def test_can_be_shown_whole_in_a_sub_query(self):
        question = ask(
            "SELECT AVG(age) FROM (SELECT * FROM people JOIN wards USING (ward)) t WHERE big"
        )
        assert "ward" in columns_of(question.rows)
