"""Forms of questions that the suites of two peers hold, as questions over our own tables.

The suites are those of SmartNoise SQL (its parse, validate, rewrite, run, having and order tests) and of
Qrlew (integration, rewriting and base queries). Each form that occurs there is here once, in words and
tables of our own: 350 of their questions are about these forms. `ANSWERED` must be what plain SQL gives,
`REFUSED` must name an alternative, which is run.
"""

from __future__ import annotations

from end_to_end.compare import Case

PLAIN_TOTALS = "SELECT SUM(age) AS a, COUNT(*) AS n FROM people"
CLAMPED = "SELECT user_id, shop, CASE WHEN minutes < 0 THEN 0 WHEN minutes > 90 THEN 90 ELSE minutes END AS m FROM visits"
ANSWERED = [
    # Aggregates.
    Case("a count of ones", "SELECT ward, COUNT(1) AS n FROM people GROUP BY ward"),
    Case("counts of columns beside all", "SELECT COUNT(*) AS n, COUNT(minutes) AS m, COUNT(paid) AS p FROM visits"),
    Case("a count of the id", "SELECT shop, COUNT(user_id) AS n FROM visits GROUP BY shop"),
    Case("people beside rows", "SELECT COUNT(*) AS n, COUNT(DISTINCT user_id) AS p FROM visits"),
    Case("people twice, in two cases", "SELECT COUNT(DISTINCT user_id) AS a, COUNT(DISTINCT \"User_ID\") AS b FROM visits"),
    Case("COUNT(ALL x)", "SELECT COUNT(ALL minutes) AS n FROM visits", "SELECT COUNT(minutes) AS n FROM visits"),
    Case("distinct values by key", "SELECT region, COUNT(DISTINCT ward) AS n FROM people GROUP BY region HAVING COUNT(*) > 0"),
    Case("the same sum twice", "SELECT SUM(age) AS a, SUM(age) AS b, COUNT(region) AS c FROM people"),
    Case("all moments of a column", "SELECT COUNT(*) AS n, SUM(age) AS s, AVG(age) AS m, VARIANCE(age) AS v, STDDEV(age) AS d FROM people WHERE age > 0 AND age < 115", within=1e-6, why="floats"),
    Case("other names of moments", "SELECT VAR(age) AS v, STD(age) AS d, MEAN(age) AS m FROM people", "SELECT VARIANCE(age) AS v, STDDEV(age) AS d, AVG(age) AS m FROM people", within=1e-6, why="floats"),
    Case("a variance by key", "SELECT (VARIANCE(age)) AS v, region FROM people GROUP BY region HAVING COUNT(*) > 0", within=1e-6, why="floats"),
    Case("extremes of the key", "SELECT ward, MAX(ward) AS w, SUM(age) AS a FROM people GROUP BY ward"),
    Case("a sum of the key", "SELECT ward, SUM(ward) AS s FROM people GROUP BY ward"),
    Case("sums of expressions", "SELECT SUM(1 + age) AS a, SUM(100 * age) AS b, SUM(-100 * age) AS c, SUM(age / 100) AS d, SUM(CAST(age AS DOUBLE) / 1000.) AS e FROM people WHERE age = 40 OR age > 80"),
    Case("a sum of a product", "SELECT SUM(age * ward + 4) AS s, AVG(age * ward) AS m FROM people"),
    Case("sums of a CASE", "SELECT SUM(CASE WHEN age > 80 THEN 1 ELSE 0 END) AS a, 2 * (SUM(CASE WHEN age > 90 THEN 1 ELSE 0 END)) AS b FROM people"),
    # Arithmetic of results.
    Case("brackets and factors", "SELECT (SUM(age)) AS a, ((SUM(age))) AS b, SUM(age) * 1 AS c, 1 + COUNT(*) AS d, COUNT(*) / 7 AS e, 3 * COUNT(age) AS f FROM people"),
    Case("functions of results", "SELECT POWER(AVG(age), 2) AS a, SQRT(COUNT(*)) AS b, LN(COUNT(*)) AS c, CEIL(COUNT(*)) AS d, LOG2(COUNT(*)) AS e, EXP(AVG(ward)) AS f FROM people", within=1e-6, why="floats"),
    Case("a variance by hand", "SELECT SQRT(AVG(age * age) - AVG(age) * AVG(age)) AS d FROM people", within=1e-6, why="floats"),
    Case("means and sums moved", "SELECT AVG(age) + 3 AS a, SUM(age) / 10 AS b, COUNT(age) + 2 AS c FROM people"),
    Case("a constant beside results", "SELECT 3 AS three, region, AVG(age) AS a FROM people GROUP BY region HAVING COUNT(*) > 0"),
    Case("texts by the size of a result", "SELECT ward, 3 * COUNT(*) AS a, CASE WHEN COUNT(*) > 25 THEN 'large' ELSE 'small' END AS b FROM people GROUP BY ward"),
    Case("a result between bounds", "SELECT ward, CASE WHEN COUNT(*) BETWEEN 0 AND 25 THEN 0 ELSE 1 END AS b FROM people GROUP BY ward"),
    Case("branches of results", "SELECT CASE WHEN SUM(age) > 90 THEN 90 WHEN SUM(age) < 10 THEN 10 ELSE 0 END AS a, CASE WHEN SUM(age) = 5 THEN 5 ELSE 4 * AVG(age) END AS b FROM people"),
    # WHERE.
    Case("a text and a number", "SELECT COUNT(*) AS n FROM people WHERE region = 'N' AND age <= 40 AND ward != 3"),
    Case("AND before OR", "SELECT COUNT(*) AS n FROM people WHERE age < ward * 9 AND ward > 2 OR age >= 60 AND region != 'N'"),
    Case("NOT of an equality", "SELECT COUNT(*) AS n FROM people WHERE NOT ward = 2"),
    Case("an expression in WHERE", "SELECT COUNT(*) AS n FROM visits WHERE (5 + (spent * 0.01)) > ward"),
    Case("lists of texts", "SELECT COUNT(*) AS n FROM people WHERE region IN ('N', 'E')"),
    Case("not in a list, by key", "SELECT region, COUNT(*) AS n FROM people WHERE region NOT IN ('N', 'E') GROUP BY region"),
    Case("a list of other numbers", "SELECT ward, SUM(age) AS s FROM people WHERE ward IN (1, -0.5, 2, 13) GROUP BY ward HAVING COUNT(*) > 0"),
    Case("between, by key", "SELECT ward, COUNT(*) AS n FROM people WHERE ward BETWEEN 2 AND 4 GROUP BY ward"),
    Case("not between, by key", "SELECT ward, COUNT(*) AS n FROM people WHERE ward NOT BETWEEN 2 AND 4 GROUP BY ward"),
    Case("values that are there", "SELECT shop, SUM(minutes) AS s FROM visits WHERE minutes IS NOT NULL GROUP BY shop"),
    Case("patterns of text", "SELECT COUNT(*) AS n FROM visits WHERE note LIKE 'g%'"),
    Case("patterns in any case", "SELECT COUNT(*) AS n FROM visits WHERE note ILIKE '%GO%'"),
    Case("a truth compared with TRUE", "SELECT shop, SUM(spent) AS s, AVG(spent) AS a FROM visits WHERE paid = TRUE GROUP BY shop"),
    Case("a truth compared with 1", "SELECT COUNT(*) AS n FROM visits WHERE paid = 1 OR paid = 0 AND ward > 3"),
    Case("a number as text", "SELECT COUNT(*) AS n FROM people WHERE age > 70 AND ward = '3'"),
    Case("dates as text", "SELECT COUNT(*) AS n FROM visits WHERE day > '2024-02-01' AND seen < '2024-10-01'"),
    Case("dates by CAST", "SELECT COUNT(*) AS n FROM visits WHERE day < CAST('2024-06-01' AS DATE)"),
    Case("nobody", "SELECT COUNT(*) AS n, SUM(minutes) AS s FROM visits WHERE spent > 900", "SELECT 0 AS n, 0 AS s"),
    # GROUP BY.
    Case("keys that are not shown", "SELECT COUNT(*) AS n FROM people GROUP BY ward ORDER BY ward", ordered=True),
    Case("several keys, others first", "SELECT SUM(age) AS a, region, ward FROM people GROUP BY ward, region HAVING COUNT(*) > 0"),
    Case("an alias as key", "SELECT ward AS my_ward, SUM(age) AS s FROM people GROUP BY my_ward ORDER BY my_ward", ordered=True),
    Case("a quoted alias as key", "SELECT ward AS \"my ward\", AVG(age) AS \"my avg\" FROM people GROUP BY \"my ward\" ORDER BY \"my ward\"", ordered=True),
    Case("a rounded key", "SELECT CEIL(spent / 100) AS c, COUNT(*) AS n FROM visits GROUP BY CEIL(spent / 100) HAVING COUNT(*) > 0"),
    Case("a rounded key by its alias", "SELECT CEIL(spent / 100) AS c, COUNT(*) AS n FROM visits GROUP BY c HAVING COUNT(*) > 0"),
    Case("a rounded key that is not shown", "SELECT COUNT(*) AS n FROM visits WHERE spent < 100 GROUP BY FLOOR(spent / 50) ORDER BY n", ordered=True),
    Case("a multiple as key", "SELECT 3 * ward AS w, COUNT(*) AS n FROM people GROUP BY 3 * ward"),
    Case("a CASE as key", "SELECT CASE WHEN age < 50 THEN 50 ELSE 1 END AS k, COUNT(age) AS n FROM people GROUP BY CASE WHEN age < 50 THEN 50 ELSE 1 END"),
    Case("a CASE as key, by alias, in order", "SELECT CASE WHEN age > 90 THEN 1 ELSE 0 END AS k, SUM(age) AS s FROM people GROUP BY k ORDER BY s", ordered=True),
    Case("a CASE beside a key", "SELECT SUM(age) AS s FROM people WHERE region <> 'E' GROUP BY region, CASE WHEN age > 90 THEN 1 ELSE 0 END ORDER BY s", ordered=True),
    Case("a CASE of the key, shown", "SELECT ward, CASE WHEN ward IN (2, 4, 6) THEN 'even' ELSE '-' END AS k, COUNT(*) AS n FROM people GROUP BY ward"),
    Case("a CASE of the key between bounds", "SELECT ward, CASE WHEN ward BETWEEN 2 AND 4 THEN 0 ELSE 1 END AS k, COUNT(*) AS n FROM people GROUP BY ward"),
    Case("whether a key is NULL", "SELECT mood, CASE WHEN mood IS NULL THEN 'none' ELSE 'some' END AS k, COUNT(*) AS n FROM visits GROUP BY mood"),
    Case("a default of a key", "SELECT COALESCE(mood, 'none') AS m, COUNT(*) AS n FROM visits GROUP BY COALESCE(mood, 'none') ORDER BY m"),
    Case("letters of a key", "SELECT UPPER(shop) AS u, LOWER(shop) AS l, CHAR_LENGTH(shop) AS c, COUNT(*) AS n FROM visits GROUP BY shop"),
    Case("a trimmed key", "SELECT TRIM(shop) AS t, COUNT(*) AS n FROM visits GROUP BY TRIM(shop)"),
    Case("a part of a key", "SELECT SUBSTRING(shop FROM 1 FOR 1) AS m, COUNT(*) AS n FROM visits GROUP BY shop"),
    Case("numbers as text", "SELECT CAST(ward AS VARCHAR) AS w, COUNT(*) AS n FROM people GROUP BY ward ORDER BY CAST(ward AS VARCHAR) DESC", ordered=True),
    Case("multiples as text", "SELECT 'w' || 2 * ward AS w, COUNT(*) AS n FROM people GROUP BY w", "SELECT 'w' || CAST(2 * ward AS VARCHAR) AS w, COUNT(*) AS n FROM people GROUP BY w"),
    Case("numbers as text, as keys", "SELECT CONCAT(YEAR(day), '-Q', QUARTER(day)) AS q, COUNT(*) AS n FROM visits GROUP BY q HAVING COUNT(*) > 0 ORDER BY q", ordered=True),
    Case("a number and text together", "SELECT CONCAT(ward, region) AS k, COUNT(*) AS n FROM people WHERE region <> 'E' GROUP BY ward, region"),
    Case("texts of keys together", "SELECT CONCAT(shop, '-', mood) AS k, COUNT(*) AS n FROM visits GROUP BY shop, mood"),
    Case("the year of a time", "SELECT EXTRACT(YEAR FROM seen) AS y, COUNT(*) AS n FROM visits GROUP BY EXTRACT(YEAR FROM seen)"),
    Case("the hour of a time", "SELECT EXTRACT(HOUR FROM seen) AS h, COUNT(*) AS n FROM visits GROUP BY 1 HAVING COUNT(*) > 0"),
    Case("keys of unlisted text", "SELECT note, COUNT(*) AS n FROM visits GROUP BY note ORDER BY n DESC, note"),
    # HAVING.
    Case("a count in HAVING", "SELECT ward, COUNT(*) AS n FROM people GROUP BY ward HAVING COUNT(*) > 25"),
    Case("people in HAVING", "SELECT shop, COUNT(DISTINCT user_id) AS n FROM visits GROUP BY shop HAVING COUNT(DISTINCT user_id) > 40"),
    Case("another count in HAVING", "SELECT shop, COUNT(DISTINCT user_id) AS n FROM visits GROUP BY shop HAVING COUNT(*) > 60"),
    Case("an alias in HAVING", "SELECT ward, COUNT(*) AS n FROM people GROUP BY ward HAVING (ward < 3 OR ward > 5) AND n * 100 / 2 > 500"),
    Case("an alias that is a column", "SELECT ward, COUNT(*) AS n, SUM(income) AS income FROM people GROUP BY ward HAVING income > 100000 OR ward = 1", "SELECT ward, COUNT(*) AS n, SUM(income) AS income FROM people GROUP BY ward HAVING SUM(income) > 100000 OR ward = 1"),
    Case("a multiple of the key in HAVING", "SELECT ward AS ward, COUNT(*) AS n FROM people GROUP BY ward HAVING ward * 1000 < 3000 OR ward * 2 > 10"),
    Case("NOT in HAVING", "SELECT region, SUM(age) AS s FROM people GROUP BY region HAVING NOT ( region = 'E' ) ORDER BY s DESC LIMIT 10", ordered=True),
    Case("a truth in HAVING", "SELECT paid, SUM(spent) AS s FROM visits GROUP BY paid HAVING paid"),
    Case("a false truth in HAVING", "SELECT paid, COUNT(*) AS n FROM visits GROUP BY paid HAVING n > 9999 OR NOT paid"),
    Case("a truth in HAVING beside 0", "SELECT paid, COUNT(*) AS n FROM visits GROUP BY paid HAVING n > 9999 OR paid = 0"),
    Case("a quotient by the key", "SELECT ward, COUNT(*) AS n FROM people GROUP BY ward HAVING (COUNT(*) / CAST(ward AS INTEGER)) > 5"),
    Case("names that change places", "SELECT region AS ward, ward AS region, COUNT(*) AS n FROM people GROUP BY region, ward HAVING COUNT(*) > 3"),
    Case("HAVING without keys", "SELECT SUM(age) AS s FROM people HAVING COUNT(age) > 4"),
    Case("three conditions of results", "SELECT SUM(age) AS s FROM people GROUP BY ward HAVING COUNT(age) > 4 AND ward > 4 AND s > 6 ORDER BY s", "SELECT SUM(age) AS s FROM people GROUP BY ward HAVING COUNT(age) > 4 AND ward > 4 AND SUM(age) > 6 ORDER BY s", ordered=True),
    # ORDER BY and LIMIT.
    Case("downwards by a key", "SELECT ward, COUNT(*) AS n FROM people GROUP BY ward ORDER BY ward DESC", ordered=True),
    Case("by a result", "SELECT ward, SUM(income) AS s FROM people GROUP BY ward ORDER BY s DESC LIMIT 5", ordered=True),
    Case("by a result that is not shown", "SELECT ward, COUNT(DISTINCT user_id) AS n FROM visits GROUP BY ward ORDER BY SUM(spent) DESC", ordered=True),
    Case("by an expression of results", "SELECT COUNT(*) AS n, SUM(age) AS s, ward FROM people GROUP BY ward ORDER BY 2 * s / ((n + 300.11) / 2) DESC", ordered=True),
    Case("by an expression of a key", "SELECT ward AS w, region, COUNT(*) AS n FROM people WHERE region <> 'E' GROUP BY ward, region ORDER BY (CAST(w AS INTEGER) * -1) DESC, region ASC", "SELECT ward AS w, region, COUNT(*) AS n FROM people WHERE region <> 'E' GROUP BY ward, region ORDER BY ward, region", ordered=True),
    Case("TOP", "SELECT TOP 3 ward, COUNT(*) AS n, SUM(income) AS s FROM people GROUP BY ward ORDER BY s DESC", "SELECT ward, COUNT(*) AS n, SUM(income) AS s FROM people GROUP BY ward ORDER BY s DESC LIMIT 3", ordered=True),
    Case("LIMIT and OFFSET", "SELECT ward, COUNT(*) AS n FROM people GROUP BY ward ORDER BY ward LIMIT 3 OFFSET 1", ordered=True),
    # DISTINCT.
    Case("DISTINCT of one row", "SELECT DISTINCT SUM(age) AS s FROM people"),
    Case("DISTINCT of rows that differ", "SELECT DISTINCT ward, COUNT(*) AS n FROM people GROUP BY ward"),
    Case("which keys there are", "SELECT ward FROM people GROUP BY ward ORDER BY ward DESC", ordered=True),
    Case("which pairs there are", "SELECT DISTINCT shop, ward FROM visits"),
    Case("other names of which pairs there are", "SELECT shop AS ward, ward AS shop FROM visits GROUP BY shop, ward ORDER BY shop, ward", "SELECT shop AS ward, ward AS shop FROM visits GROUP BY 1, 2 ORDER BY 2, 1", ordered=True),
    # Joins.
    Case("a join on the id", "SELECT region, COUNT(*) AS n FROM visits v JOIN users u ON (v.user_id = u.user_id) GROUP BY region ORDER BY region", ordered=True),
    Case("a join USING the id", "SELECT region, AVG(spent) AS s FROM users JOIN visits USING(user_id) GROUP BY region"),
    Case("a join of ids of two names", "SELECT level, COUNT(member) AS n, SUM(spent) AS s, AVG(spent) AS a FROM members m JOIN visits v ON m.member = v.user_id GROUP BY level"),
    Case("a join of three in brackets", "SELECT region, level, COUNT(user_id) AS n, SUM(spent) AS s FROM (SELECT spent, t.* FROM visits JOIN (SELECT user_id, region, level FROM (users JOIN (SELECT member AS user_id, level FROM members) m USING(user_id)) AS q) AS t USING(user_id)) AS z GROUP BY region, level ORDER BY region, level", ordered=True),
    Case("views that are joined", "WITH a AS (SELECT user_id, spent FROM visits WHERE spent > 40), b AS (SELECT * FROM users) SELECT SUM(spent) AS s FROM a JOIN b ON a.user_id = b.user_id"),
    Case("a public table by its key", "SELECT city, AVG(age) AS a FROM people INNER JOIN wards ON people.ward = wards.ward GROUP BY city"),
    Case("a public table's other columns", "SELECT w.ward, w.city, COUNT(*) AS n FROM wards w INNER JOIN visits v ON w.ward = v.ward GROUP BY w.ward, w.city HAVING COUNT(*) > 0"),
    Case("a public table and dates", "SELECT v.ward, w.city, COUNT(*) AS n FROM visits v INNER JOIN wards w ON v.ward = w.ward WHERE v.seen > '2024-01-01' AND v.seen < '2024-06-01' GROUP BY v.ward, w.city HAVING COUNT(*) > 0"),
    Case("a count over a public join", "SELECT COUNT(*) AS n FROM visits v INNER JOIN wards w ON v.ward = w.ward"),
    Case("a left join, filtered", "SELECT COUNT(*) AS n FROM users u LEFT JOIN visits v ON u.user_id = v.user_id WHERE spent > 10"),
    Case("joins by comma", "SELECT AVG(spent) AS s FROM visits v, users u WHERE v.user_id = u.user_id"),
    # Sub-queries and views.
    Case("stars in stars", "SELECT (3 * COUNT(spent)) AS n FROM (SELECT * FROM (SELECT * FROM (SELECT spent, shop FROM users JOIN visits USING(user_id)) a) b) c"),
    Case("a view of a view", "WITH a AS (SELECT * FROM people), b AS (SELECT * FROM a) SELECT COUNT(*) AS n FROM b WHERE age > 50"),
    Case("an ordered view", "WITH a AS (SELECT age, ward FROM people ORDER BY ward, age) SELECT AVG(age) AS m FROM a"),
    Case("functions in a view", "SELECT SUM(square) AS s, SUM(part) AS p FROM (SELECT age * age AS square, ABS(age - 60) / 4 AS part FROM people) AS q"),
    Case("clamped rows of each person", f"SELECT shop, SUM(s) AS m FROM (SELECT user_id, shop, SUM(m) AS s FROM ({CLAMPED}) AS c GROUP BY user_id, shop) AS p GROUP BY shop ORDER BY shop DESC", ordered=True),
    Case("people of a grouped view", "SELECT COUNT(DISTINCT user_id) AS n FROM (SELECT user_id, SUM(spent) AS s FROM visits GROUP BY user_id ORDER BY s DESC) t ORDER BY n ASC"),
    # Names.
    Case("qualified names", "SELECT COUNT(*) AS n FROM main.people", "SELECT COUNT(*) AS n FROM people"),
    Case("names in quotes", "SELECT SUM(\"age\") AS \"total age\", COUNT(\"t\".\"age\") AS n FROM people AS \"t\""),
    Case("names in brackets and backticks", "SELECT SUM([age]) AS a, COUNT(*) AS n FROM `people`", PLAIN_TOTALS),
    Case("a name of one table, twice", "SELECT SUM(people.age) AS a, COUNT(*) AS n FROM people", PLAIN_TOTALS),
    Case("a table in brackets", "SELECT SUM(c.age) AS a, COUNT(*) AS n FROM (people) AS c", PLAIN_TOTALS),
    Case("a semicolon and small letters", "select sum(age) as a, count(*) as n from people;", PLAIN_TOTALS),
]  # fmt: skip

ROWS_SHOWN = "it shows rows of people"
COUNT_ROWS = ["SELECT COUNT(*) AS n FROM people"]
BY_PERSON = [
    "SELECT AVG(s) AS mean FROM (SELECT user_id, SUM(spent) AS s FROM visits GROUP BY user_id) t"
]
ON_PERSON = ["SELECT COUNT(*) AS n FROM visits v JOIN stays s ON v.user_id = s.user_id"]
REFUSED = {
    "all rows": ("SELECT * FROM people", ROWS_SHOWN, COUNT_ROWS),
    "all rows of a view": ("WITH a AS (SELECT * FROM people) SELECT * FROM a", ROWS_SHOWN, COUNT_ROWS),
    "rows in order": ("SELECT * FROM users u ORDER BY u.region, u.age LIMIT 10", ROWS_SHOWN, COUNT_ROWS),
    "rows of a join": ("SELECT * FROM visits v JOIN wards w ON v.ward = w.ward", ROWS_SHOWN, COUNT_ROWS),
    "a column of rows": ("SELECT age AS a FROM people WHERE age > 100", ROWS_SHOWN, ["SELECT age, COUNT(*) AS n FROM people WHERE age > 100 GROUP BY age"]),
    "expressions of rows": ("SELECT 7 * age, UPPER(region), CASE WHEN age < 5 THEN 0 END FROM people", ROWS_SHOWN, ["SELECT AVG(7 * age) AS a FROM people"]),
    "rows beside chance": ("SELECT RANDOM(), * FROM people", ROWS_SHOWN, COUNT_ROWS),
    "hashes of rows": ("SELECT MD5(note) FROM visits LIMIT 10", ROWS_SHOWN, ["SELECT COUNT(DISTINCT note) AS n FROM visits"]),
    "ids of people": ("SELECT v.user_id FROM visits v JOIN users u ON v.user_id = u.user_id", ROWS_SHOWN, ON_PERSON),
    "a row for each person": ("SELECT user_id, COUNT(*) AS n FROM visits GROUP BY user_id", "it would show each person", ["SELECT n, COUNT(*) AS people FROM (SELECT user_id, COUNT(*) AS n FROM visits GROUP BY user_id) t GROUP BY n"]),
    "a row for each person and key": ("SELECT v.user_id, ward, AVG(spent) AS s FROM users u JOIN visits v ON u.user_id = v.user_id GROUP BY v.user_id, ward", "it would show each person", BY_PERSON),
    "a join on another column": ("SELECT COUNT(*) AS n FROM visits a JOIN visits b ON a.ward = b.ward", "rows of different people could meet", ON_PERSON),
    "a join of rows": ("SELECT SUM(a.age) AS s FROM people a JOIN people b ON a.ward = b.ward", "their unit is a row", ["SELECT city, SUM(age) AS s FROM people JOIN wards ON people.ward = wards.ward GROUP BY city"]),
    "a natural join of rows": ("WITH a AS (SELECT age, ward FROM people), b AS (SELECT income, ward FROM people) SELECT COUNT(*) AS n FROM a NATURAL JOIN b", "their unit is a row", COUNT_ROWS),
    "a cross join": ("SELECT COUNT(*) AS n FROM visits CROSS JOIN stays", "each row would meet every other", ON_PERSON),
    "some rows of a view": ("WITH a AS (SELECT age FROM people LIMIT 10) SELECT AVG(age) AS m FROM a", "LIMIT: it is not supported", ["WITH a AS (SELECT age FROM people WHERE age < 10) SELECT AVG(age) AS m FROM a"]),
    "numbered rows of each person": ("SELECT SUM(spent) AS s FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY random()) AS r FROM visits) t WHERE r <= 5", "not among what can be asked", ["SELECT SUM(spent) AS s FROM visits"]),
    "a sample of rows": ("SELECT COUNT(*) AS n FROM people TABLESAMPLE BERNOULLI (1) REPEATABLE (200)", "noise is all the chance", COUNT_ROWS),
    "sums of distinct values": ("SELECT region, SUM(DISTINCT age) AS s, VARIANCE(DISTINCT age) AS v FROM people GROUP BY region", "DISTINCT compares people", ["SELECT region, SUM(age) AS s, COUNT(DISTINCT age) AS n FROM people GROUP BY region", "SELECT age, COUNT(*) AS n FROM people GROUP BY age"]),
    "DISTINCT of noisy numbers": ("SELECT DISTINCT COUNT(*) AS n FROM people GROUP BY ward", "differ by their keys", ["SELECT ward, COUNT(*) AS n FROM people GROUP BY ward"]),
    "an aggregate of an aggregate": ("SELECT SUM(SUM(age)) AS s FROM people", "an aggregate cannot stand here", ["SELECT SUM(age) AS s FROM people"]),
    "LOG without a base": ("SELECT SUM(age + LOG(age + 2)) AS s FROM people", "its base is 10 in some stores", ["SELECT LN(SUM(age + 2)) AS s FROM people"]),
    "logarithms of rows": ("SELECT SUM(LN(age + 2)) AS s FROM people", "libraries differ in its last bit", ["SELECT LN(AVG(age + 2)) AS s FROM people"]),
    "angles of results": ("SELECT ward, 3 * COS(COUNT(*)) AS c, DEGREES(COUNT(*)) AS d FROM people GROUP BY ward", "not among what can be asked", ["SELECT ward, 3 * SQRT(COUNT(*)) AS c FROM people GROUP BY ward"]),
    "constants by function": ("SELECT PI(), AVG(age) AS a FROM people", "not among what can be asked", ["SELECT 3.14159265 AS pi, AVG(age) AS a FROM people"]),
    "chance beside results": ("SELECT RAND() AS r, AVG(age) AS a FROM people", "not among what can be asked", ["SELECT AVG(age) AS a FROM people"]),
    "fractions as text": ("SELECT CAST(income AS VARCHAR) AS i, COUNT(*) AS n FROM people GROUP BY i", "whole numbers alone", ["SELECT CAST(ROUND(income / 1000) AS VARCHAR) AS i, COUNT(*) AS n FROM people GROUP BY i"]),
    "results as text": ("SELECT ward, CAST(COUNT(*) AS VARCHAR) AS n FROM people GROUP BY ward", "whole numbers alone", ["SELECT ward, COUNT(*) AS n FROM people GROUP BY ward"]),
    "text beside a number": ("SELECT COUNT(*) AS n FROM people WHERE region < 2", "a number and text together", ["SELECT COUNT(*) AS n FROM people WHERE region IN ('N', 'S')"]),
    "the place of a letter": ("SELECT POSITION('a' IN shop) AS p, COUNT(*) AS n FROM visits GROUP BY shop", "not among what can be asked", ["SELECT shop LIKE '%a%' AS p, COUNT(*) AS n FROM visits GROUP BY p"]),
    "the clock": ("SELECT COUNT(*) AS n FROM visits WHERE seen < CURRENT_TIMESTAMP", "may not depend on the clock", ["SELECT COUNT(*) AS n FROM visits WHERE seen < TIMESTAMP '2024-06-01 00:00:00'"]),
    "rows against statistics of rows": ("WITH m AS (SELECT AVG(age) AS a, STDDEV(age) AS s FROM people) SELECT AVG((age - a) / s) AS z FROM people CROSS JOIN m", "ask for each table by itself", ["SELECT AVG(age) AS a, STDDEV(age) AS s FROM people", "SELECT AVG((age - 40) / 12) AS z FROM people"]),
    "a column that is no key": ("SELECT ward, region, AVG(age) AS a FROM people GROUP BY ward", "neither a key nor inside an aggregate", ["SELECT ward, region, AVG(age) AS a FROM people GROUP BY ward, region"]),
    "an order by no key": ("SELECT ward FROM people GROUP BY ward ORDER BY age DESC", "neither a key nor inside an aggregate", ["SELECT ward, AVG(age) AS a FROM people GROUP BY ward ORDER BY a DESC"]),
    "unnamed columns that are united": ("SELECT 1 * age FROM people UNION SELECT 1 * ward FROM people", "needs a name", ["SELECT a, COUNT(*) AS n FROM (SELECT age AS a FROM people UNION ALL SELECT ward AS a FROM people) t GROUP BY a"]),
}  # fmt: skip
"""Forms that stay refused: the question, what the refusal says, and what would work."""

OVER_ANSWERS = {
    "a mean of sums by key": "SELECT AVG(s) AS m FROM (SELECT SUM(age) AS s FROM people GROUP BY ward) AS q",
    "a view of sums by key": "WITH t AS (SELECT ward, SUM(age) AS s, AVG(income) AS i FROM people GROUP BY ward) SELECT ward, s FROM t WHERE s <> 1",
    "keys in the order of a view": "WITH t AS (SELECT ward, COUNT(*) AS n FROM people GROUP BY ward) SELECT ward FROM t ORDER BY n, ward",
    "counts of a view": "WITH t AS (SELECT ward, region, COUNT(*) AS n FROM people WHERE region <> 'E' GROUP BY ward, region) SELECT region, COUNT(*) AS res FROM t GROUP BY region",
    "a star of a view": "WITH t AS (SELECT COUNT(*) AS n, SUM(age) AS s FROM people) SELECT * FROM t",
    "a public table alone": "SELECT city, COUNT(*) AS n FROM wards GROUP BY city",
    "a list alone": "SELECT a FROM (VALUES (1), (2), (3)) AS t(a)",
}  # fmt: skip
"""Forms over released answers and public tables: what plain SQL gives, or refused."""
