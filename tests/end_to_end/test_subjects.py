"""Sixty questions of three subjects: what plain SQL gives, or a refusal with an alternative that runs.

The questions are in `subjects.py`, as they were written down before the first was tried.
"""

from __future__ import annotations

import re
from contextlib import closing
from functools import cache

import pytest

import discreet as dp
from end_to_end.compare import EXACT, Case, check
from end_to_end.stores import duckdb_beside, memory_beside, postgres_beside, spark_beside
from end_to_end.subjects import subjects
from support.profile import DEEP

SUBJECTS = subjects()
NAMES = [(subject, name) for subject, each in SUBJECTS.items() for name in each.questions]
REFUSED = {
    ("clinic", "above the mean"): (
        "ask for the inner number first",
        ["SELECT AVG(cost) AS mean FROM stays", "SELECT COUNT(*) AS n FROM stays WHERE cost > 24000"],
    ),
    ("log", "pages seen together"): (
        "compare them with = or IN",
        ["SELECT a.page, b.page AS other, COUNT(DISTINCT a.uid) AS n FROM events a JOIN events b ON a.uid = b.uid "
         "WHERE a.page IN ('home', 'search') AND b.page IN ('item', 'basket') GROUP BY a.page, b.page"],
    ),
}  # fmt: skip
"""Questions that stay refused: what the refusal says, and the alternative, which is run."""
SHOWN = " HAVING COUNT(*) > 0"
"""Plain SQL leaves out public keys that nobody has; ours shows them, unless they are left out so."""
PLAIN = {
    ("shop", "basket size"): "SELECT AVG(amount) AS basket, MEDIAN(amount) AS middle FROM orders",
    ("shop", "top products"): "SELECT sku, SUM(quantity) AS sold FROM orders GROUP BY sku HAVING SUM(quantity) > 3 ORDER BY sold DESC LIMIT 3",
    ("shop", "orders per decade"): "SELECT FLOOR(age / 10) * 10 AS decade, COUNT(*) AS n FROM users WHERE age > 30 GROUP BY 1",
    ("log", "share by page"): "SELECT page, COUNT(*) / CAST((SELECT COUNT(*) FROM events) AS DOUBLE) AS share FROM events GROUP BY page",
    ("clinic", "text in double quotes"): "SELECT COUNT(*) AS n FROM stays WHERE ward = 'icu' AND days >= 7",
    ("clinic", "pneumonia by month"): "SELECT CAST(DATE_TRUNC('month', admitted) AS DATE) AS month, COUNT(*) AS n FROM stays WHERE code LIKE 'J%' GROUP BY 1",
}  # fmt: skip
"""The same in SQL that a plain store reads."""
LOOSE = {
    ("shop", "basket size"): (0.5, "an even number of rows has no middle one"),
    ("clinic", "cost quantiles"): (2500.0, "ranks between two rows"),
    ("clinic", "bed days per bed"): (1e-6, "a quotient of floats"),
    ("clinic", "mean stay per patient"): (1e-4, "a quotient of two columns is rounded"),
    ("log", "slow pages"): (2500.0, "ranks between two rows"),
}
MAKERS = {"memory": memory_beside, "duckdb": duckdb_beside}


@cache
def beside(store, subject):
    return MAKERS[store](SUBJECTS[subject].tables)


def schemas_of(subject):
    return {schema.name: schema for schema in SUBJECTS[subject].schemas}


def case_of(subject, name):
    """Return a question with what plain SQL says; our answer also shows keys that nobody has."""
    sql = SUBJECTS[subject].questions[name]
    within, why = LOOSE.get((subject, name), (0.0, ""))
    plain = PLAIN.get((subject, name)) or plain_of(subject, sql)
    return Case(name, sql, plain, within, why)


def plain_of(subject, sql):
    """Write a question for a plain store: AT is a word of DuckDB's, and it makes times of dates."""
    quoted = re.sub(r"\bat\b", '"at"', sql)
    dates = "signed_up" if subject == "log" else r"[^)]*"
    return re.sub(rf"(date_trunc\('\w+', {dates}\))", r"CAST(\1 AS DATE)", quoted)


def test_sixty_were_asked_and_at_least_fifty_five_are_answered():
    assert len(NAMES) == 60 and len(set(NAMES)) == 60
    assert len(REFUSED) <= 2
    for each in SUBJECTS.values():
        units = [schema.unit for schema in each.schemas if not schema.public]
        assert len({unit.id for unit in units}) == 2 and len({unit.who for unit in units}) == 1


def curator_of(subject):
    ledger = dp.open_ledger(":memory:", dp.ApproxDP(10**12, "1e-2"))
    engine = beside("memory", subject).engine
    return dp.Curator(engine, SUBJECTS[subject].schemas, ledger)


@pytest.mark.parametrize(("subject", "name"), REFUSED)
def test_a_refusal_names_an_alternative_that_runs(subject, name):
    why, instead = REFUSED[subject, name]
    curator = curator_of(subject)
    with pytest.raises(dp.UnsupportedQuery, match=why):
        curator.sql(SUBJECTS[subject].questions[name], spend=dp.PureDP(1))
    for sql in instead:
        assert len(curator.sql(sql, spend=dp.PureDP(1)))


ANSWERED = [case for case in NAMES if case not in REFUSED]


def answers_as_plain_sql(subject, name, found):
    """Compare with plain SQL on the same store; keys that nobody has are left out of ours."""
    case = case_of(subject, name)
    try:
        check(case, found, schemas_of(subject))
    except AssertionError:
        if "GROUP BY" not in case.sql.upper() or "HAVING" in case.sql.upper():
            raise
        head, order, tail = case.sql.rpartition("ORDER BY")
        shown = head + SHOWN + " " + order + tail if order else case.sql + SHOWN
        check(
            Case(name, shown, case.plain, case.within, case.why),
            found,
            schemas_of(subject),
        )


@pytest.mark.parametrize("store", list(MAKERS))
@pytest.mark.parametrize(("subject", "name"), ANSWERED)
def test_answers_are_those_of_plain_sql(subject, name, store):
    if store == "memory" and not DEEP and ANSWERED.index((subject, name)) % 3:
        pytest.skip("every third question is asked of memory outside deep")
    answers_as_plain_sql(subject, name, beside(store, subject))


@pytest.mark.slow
@pytest.mark.parametrize("subject", SUBJECTS)
def test_postgres(subject, postgres_dsn):
    with closing(postgres_beside(SUBJECTS[subject].tables, postgres_dsn)) as found:
        curator_like(subject, found)


@pytest.mark.slow
@pytest.mark.parametrize("subject", SUBJECTS)
def test_spark(subject, spark_session):
    with closing(spark_beside(SUBJECTS[subject].tables, spark_session)) as found:
        curator_like(subject, found)


def curator_like(subject, found):
    """Compare a server with memory: both have exact totals, so their answers are equal."""
    from end_to_end.compare import ask

    for asked, name in ANSWERED:
        if asked == subject:
            sql = SUBJECTS[subject].questions[name]
            own = ask(sql, beside("memory", subject), schemas_of(subject), EXACT)
            assert ask(sql, found, schemas_of(subject), EXACT).rows == own.rows, name
