"""Questions as text: SQL → question → text → question is the identity, and fingerprints tell questions apart."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet.data import Integer, Rows, Schema
from discreet.errors import UnsupportedQuery
from discreet.query import Table, col, describe, fingerprint, parse
from discreet.query.algebra.expression import Call, Constant, Field, Function
from discreet.query.text.expression import RESERVED, expression_text, quote
from discreet.query.text.question import plain_tree
from query.samples import TABLES, VISITS
from query.strategies import PATIENT
from support.profile import examples

NUMBERS = st.one_of(
    st.sampled_from(
        [
            "age",
            "income",
            "ward",
            "YEAR(joined)",
            "HOUR(seen)",
            "LENGTH(name)",
            "EXTRACT(ISODOW FROM joined)",
        ]
    ),
    st.integers(-99, 99).map(str),
    st.decimals(-99, 99, places=2).map(str),
)
TEXTS = st.sampled_from(
    [
        "name",
        "region",
        "UPPER(name)",
        "TRIM(region)",
        "SUBSTRING(name, 1, 3)",
        "'it''s'",
        "''",
        "LEFT(name, 2)",
    ]
)


def more_numbers(x):
    two = st.tuples(x, st.sampled_from("+-*"), x).map(lambda t: f"({t[0]} {t[1]} {t[2]})")
    return st.one_of(
        two,
        st.tuples(x, st.integers(1, 9)).map(lambda t: f"FLOOR({t[0]} / {t[1]})"),
        st.tuples(x, st.integers(1, 9)).map(lambda t: f"({t[0]}) % {t[1]}"),
        st.tuples(x, st.integers(1, 9)).map(lambda t: f"PMOD({t[0]}, {t[1]})"),
        x.map(lambda t: f"-({t})"),
        x.map(lambda t: f"ABS({t})"),
        x.map(lambda t: f"ROUND({t}, 1)"),
        x.map(lambda t: f"CEIL({t})"),
        st.tuples(x, x).map(lambda t: f"LEAST({t[0]}, {t[1]})"),
        st.tuples(x, x).map(lambda t: f"COALESCE({t[0]}, {t[1]})"),
        st.tuples(x, x).map(lambda t: f"NULLIF({t[0]}, {t[1]})"),
        x.map(lambda t: f"CASE WHEN active THEN {t} ELSE NULL END"),
        x.map(lambda t: f"WIDTH_BUCKET({t}, 0, 12.5, 7)"),
    )


EXPRESSIONS = st.recursive(NUMBERS, more_numbers, max_leaves=4)


def more_conditions(c):
    return st.one_of(
        st.lists(c, min_size=2, max_size=5).map(lambda cs: f"({' AND '.join(cs)})"),
        st.lists(c, min_size=2, max_size=5).map(lambda cs: f"({' OR '.join(cs)})"),
        c.map(lambda t: f"NOT ({t})"),
        c.map(lambda t: f"({t}) IS NOT TRUE"),
    )


CONDITIONS = st.recursive(
    st.one_of(
        st.tuples(EXPRESSIONS, st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), EXPRESSIONS).map(
            " ".join
        ),
        st.tuples(TEXTS, st.sampled_from(["=", "<>"]), TEXTS).map(" ".join),
        st.sampled_from(
            [
                "active",
                "party IS NULL",
                "region IN ('N', 'S')",
                "name LIKE 'A_%'",
                "name NOT LIKE 'it''s'",
                "joined BETWEEN '2021-01-01' AND DATE '2022-01-01'",
                "seen < TIMESTAMP '2024-05-06 07:08:09'",
                "CAST(seen AS DATE) <> joined",
                "age NOT IN (1, -2, 3.5)",
                "region IS NOT DISTINCT FROM name",
            ]
        ),
    ),
    more_conditions,
    max_leaves=4,
)
AGGREGATES = st.one_of(
    st.sampled_from(
        [
            "COUNT(*)",
            "COUNT(DISTINCT region)",
            "MODE(region)",
            "MAX(joined)",
            "COUNT(*) FILTER (WHERE active)",
        ]
    ),
    st.tuples(
        st.sampled_from(
            [
                "COUNT",
                "SUM",
                "AVG",
                "VAR_SAMP",
                "VAR_POP",
                "STDDEV_SAMP",
                "STDDEV_POP",
                "MIN",
                "MAX",
                "MEDIAN",
            ]
        ),
        EXPRESSIONS,
    ).map(lambda t: f"{t[0]}({t[1]})"),
    EXPRESSIONS.map(lambda x: f"QUANTILE({x}, 0.3)"),
    st.tuples(st.sampled_from(["CORR", "COVAR_SAMP", "COVAR_POP"]), EXPRESSIONS, EXPRESSIONS).map(
        lambda t: f"{t[0]}({t[1]}, {t[2]})"
    ),
)
SOURCES = st.one_of(
    st.just("people"),
    st.just("(SELECT * FROM people WHERE age > 3) AS p"),
    st.just("people JOIN wards USING (ward)"),
    st.just("(SELECT *, age AS years FROM people) p LEFT JOIN wards ON p.ward = wards.ward"),
    st.just("(SELECT * FROM people UNION ALL SELECT * FROM people) u"),
)


@st.composite
def questions(draw):
    """SQL of many shapes, about people."""
    key = draw(
        st.sampled_from(
            ["region", "party", "active", "ward % 5", "CASE WHEN active THEN 'a' END", "name"]
        )
    )
    grouped = draw(st.booleans())
    items = draw(st.lists(AGGREGATES, min_size=1, max_size=3))
    listed = [f"{item} AS s{i}" for i, item in enumerate(items)] + (
        [f"{items[0]} / 2"] if "(" in items[0] else []
    )
    sql = f"SELECT {', '.join(([f'{key} AS k'] if grouped else []) + listed)} FROM {draw(SOURCES)}"
    where = draw(st.none() | CONDITIONS)
    sql += f" WHERE {where}" if where else ""
    sql += f" GROUP BY {draw(st.sampled_from(['1', 'k', key]))}" if grouped else ""
    sql += draw(st.sampled_from(["", " HAVING COUNT(*) > 5", " HAVING s0 IS NOT NULL"]))
    sql += draw(
        st.sampled_from(["", " ORDER BY 1", " ORDER BY COUNT(*) DESC, s0", " ORDER BY s0 DESC"])
    )
    return sql + draw(st.sampled_from(["", " LIMIT 4"]))


class TestEveryQuestion:
    @settings(PATIENT, max_examples=examples(60))
    @given(questions())
    def test_is_read_back_from_its_text_as_the_same_question(self, sql):
        try:
            question = parse(sql, TABLES)
        except UnsupportedQuery:  # a random aggregate of the wrong kind, or beyond 64 bits
            assume(False)
        text = describe(question)
        assert parse(text, TABLES) == question
        assert describe(parse(text, TABLES)) == text
        assert fingerprint(parse(text, TABLES)) == fingerprint(question)

    @pytest.mark.parametrize(
        "sql",
        [
            "SELECT COUNT(DISTINCT user_id) AS p FROM visits",
            "SELECT AVG(t) FROM (SELECT user_id, SUM(spent) AS t FROM visits GROUP BY user_id) x WHERE t > 5",
            "SELECT n, COUNT(*) FROM (SELECT COUNT(*) n, AVG(spent) m, MIN(ward) AS lo FROM visits GROUP BY user_id "
            "HAVING SUM(spent) > 3) t GROUP BY n",
            "SELECT s, COUNT(*) FROM (SELECT user_id, shop AS s, MAX(ward) AS w FROM visits GROUP BY user_id, shop) t GROUP BY s",
            "SELECT u.shop, COUNT(*) FROM visits v JOIN users u ON u.user_id = v.user_id AND u.shop = v.shop GROUP BY u.shop",
            "SELECT COUNT(*) FROM users a JOIN users b ON a.user_id = b.user_id AND a.age < b.age",
            "SELECT COUNT(*) FROM visits v JOIN (SELECT user_id, city FROM visits JOIN wards USING (ward)) c USING (user_id)",
            "SELECT COUNT(*) FROM visits v JOIN (SELECT * FROM visits JOIN wards USING (ward)) c USING (user_id)",
            "SELECT AVG(a) FROM (SELECT user_id, ward AS a FROM visits UNION ALL SELECT user_id, age FROM users) t",
            "SELECT COUNT(*) FROM (SELECT user_id FROM visits) t",
            "SELECT COUNT(*) FROM (SELECT user_id FROM visits UNION ALL SELECT user_id FROM users) t",
            "SELECT COUNT(*) FROM (SELECT user_id, age FROM users) u JOIN (SELECT user_id, spent, shop, v.ward, at, "
            'w.ward AS "wards.ward", city, big FROM visits v JOIN wards w ON v.ward = w.ward) c USING (user_id)',
            "SELECT city, COUNT(*) FROM visits v JOIN users USING (user_id) JOIN wards w ON v.ward = w.ward GROUP BY city",
            "SELECT COUNT(*) FROM (SELECT age AS user_id FROM users) t WHERE user_id > 3",
        ],
    )
    def test_about_several_tables_too(self, sql):
        question = parse(sql, TABLES)
        assert parse(describe(question), TABLES) == question


class TestText:
    def test_is_easy_to_read(self):
        question = parse(
            "select city, count(*) n from people p join wards w on p.ward=w.ward where p.age>=18 and not w.big "
            "group by city having n>5 order by n desc limit 3",
            TABLES,
        )
        assert describe(question) == (
            "SELECT t2.city AS city, COUNT(*) AS n\n"
            "FROM people AS t1\n"
            "JOIN wards AS t2 ON t1.ward = t2.ward\n"
            "WHERE t1.age >= 18 AND (NOT t2.big)\n"
            "GROUP BY t2.city\n"
            "HAVING COUNT(*) > 5\n"
            "ORDER BY n DESC\n"
            "LIMIT 3"
        )

    @pytest.mark.untraced
    @pytest.mark.parametrize("word", [*sorted(RESERVED), "Age", "two words", "ø", "a.b", "1st"])
    def test_quotes_names_that_would_mean_something_else(self, word):
        schema = {"t": Schema("t", Rows(), {word: Integer(0, 9)})}
        question = (
            Table(schema["t"])
            .where(col(word) > 3)
            .aggregate(n=Table(schema["t"]).sum(word).statistics[0][1])
        )
        assert quote(word).startswith('"')
        assert parse(describe(question), schema) == question

    @pytest.mark.parametrize(
        ("constant", "text"),
        [
            (Constant(Fraction(1, 3)), "(1 / 3)"),
            (Constant(Fraction(-1, 8)), "(-0.125)"),
            (Constant(-5), "(-5)"),
            (Constant(0, "day"), "DATE '1970-01-01'"),
            (Constant(61, "second"), "TIMESTAMP '1970-01-01 00:01:01'"),
            (Constant(None), "NULL"),
            (Constant("it's"), "'it''s'"),
        ],
    )
    def test_writes_constants_exactly(self, constant, text):
        assert expression_text(constant, {}) == text

    def test_keeps_a_chain_that_is_not_flat(self):
        a, b, c = (Field(name) for name in "abc")
        crooked = Call(Function.AND, (a, Call(Function.AND, (b, c))))
        assert expression_text(crooked, {name: name for name in "abc"}) == "a AND (b AND c)"

    def test_of_people_without_a_name_for_them(self):
        hidden = Table(VISITS).select(user_id=col("ward")).count_people()
        assert "COUNT(DISTINCT person)" in describe(hidden)


class TestFingerprints:
    def test_are_equal_for_equal_questions_only(self):
        asked = [
            "SELECT COUNT(*) FROM people",
            "SELECT COUNT(*) AS n FROM people",
            "SELECT COUNT(*) FROM visits",
            "SELECT COUNT(*) FROM people WHERE age > 3",
            "SELECT COUNT(*) FROM people WHERE age > 3.5",
            "SELECT COUNT(*) FROM people LIMIT 1",
        ]
        assert len({fingerprint(parse(sql, TABLES)) for sql in asked}) == len(asked)

    def test_tell_versions_of_the_data_apart(self):
        one, two = (
            Schema("t", Rows(), {"a": Integer(0, 9)}, version=version) for version in ("1", "2")
        )
        assert fingerprint(Table(one).count()) != fingerprint(Table(two).count())

    def test_do_not_mind_how_a_number_is_held(self):
        schema = Schema("t", Rows(), {"a": Integer(0, 9)})
        one, two = (Table(schema).where(col("a") > value).count() for value in (3, 3.0))
        assert fingerprint(one) == fingerprint(two)
        assert plain_tree(Fraction(3)) == plain_tree(3)

    def test_are_pinned(self):
        schema = Schema("t", Rows(), {"a": Integer(0, 9)})
        question = Table(schema).where(col("a") / 3 > 0.5).sum("a", by="a")
        assert fingerprint(question) == PINNED

    def test_refuse_what_is_no_part_of_a_question(self):
        with pytest.raises(TypeError, match="float"):
            plain_tree(0.5)


PINNED = "447bd60321d4eebdb4bec194f3436b0b96c33d200713ade1bfef252da197cc50"
