"""Walk of a data scientist in a notebook: models, synthetic tables, and every object as its HTML.

Before: no labels in tables, explanations and pictures. `KMeans(k=3)` is a TypeError: it takes `n_clusters`,
the word of scikit-learn.
"""

from __future__ import annotations

import html
import re

import numpy as np
import pytest

import discreet as dp
from discreet.learn import AdditiveClassifier, KMeans, LinearRegression

from .test_student import SEX

SPEND = dp.ApproxDP(2, "1e-7")
COLUMNS = {
    "age": dp.Integer(0, 120),
    "sex": SEX,
    "income": dp.Real(0, 250_000),
    "married": dp.Category(["0", "1"]),
}


SCHEMA = dp.Schema("people", dp.Rows(), COLUMNS, size=1_000)


@pytest.fixture(scope="module")
def curator():
    engine = dp.DuckDB({"people": dp.example("pums.csv")})
    return dp.Curator(engine, [SCHEMA], dp.open_ledger(":memory:", dp.ApproxDP(30, "1e-5")))


def words_of(page):
    """Return the words of a piece of HTML; its tags must be closed and nothing may run in it."""
    assert "<script" not in page and page.count("<table") == page.count("</table>")
    return html.unescape(re.sub(r"<[^>]*>", " ", page))


@pytest.mark.slow
def test_models(curator):
    linear = curator.learn(
        "SELECT age, sex, income FROM people", LinearRegression(target="income"), SPEND
    )
    assert "intercept" in words_of(linear._repr_html_())
    classes = curator.learn(
        "SELECT age, sex, married FROM people", AdditiveClassifier(target="married"), SPEND
    )
    guessed = classes.predict({"age": [20, 50], "sex": ["0", "1"]})
    assert len(np.unique(guessed)) <= 2 and "effect" in words_of(classes._repr_html_())
    groups = curator.learn("SELECT age, income FROM people", KMeans(n_clusters=3), SPEND)
    assert "KMeans" in words_of(groups._repr_html_())
    told = curator.explain_model(
        "SELECT age, income FROM people", LinearRegression(target="income"), SPEND, n=1_000
    )
    assert "R²" in str(told)


@pytest.mark.slow
def test_synthetic_tables(curator):
    made = curator.synthesize("people", SPEND)
    assert "age, sex, income, married" in words_of(made._repr_html_())
    assert len(made.to_pandas(200)) == 200
    told = str(made.table("sex"))
    assert "±" in told or " to " in told
    assert "age" in words_of(made.quality()._repr_html_())


def test_every_object_of_a_notebook(curator):
    asked = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
    shown = {
        "man": curator.sql(asked, spend=dp.ApproxDP("1/10", 0)),
        "0 = man": curator.explain(asked, spend=dp.ApproxDP("1/10", 0)),
        "left for analyst": curator,
        "budget": curator.ledger,
        "charge": curator.history(),
        "mechanism": curator.plan(asked, spend=dp.ApproxDP("1/10", 0)),
        "'0' (man)": SCHEMA,
    }
    for word, thing in shown.items():
        assert word in words_of(thing._repr_html_()), word
