"""Totals of any size: no sum of a model wraps around, whatever the store counts."""

from __future__ import annotations

from copy import copy
from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
from discreet import learn
from discreet.learn.coding.rows import CodedRows, narrow
from discreet.learn.store.source import Stored, influence_of
from discreet.learn.training.budget import Slice, divide
from discreet.query.algebra.tree import Scan
from discreet.query.bounds.relation_facts import columns_of

COLUMNS = {
    "age": dp.Integer(0, 99),
    "sex": dp.Category(["f", "m"]),
    "income": dp.Real(0, 1000),
    "kind": dp.Category(["a", "b", "c"]),
    "works": dp.Boolean(),
}
ROWS = dp.Schema("people", dp.Rows(), COLUMNS)
PEOPLE = dp.Schema("people", dp.People("id", max_rows=2), COLUMNS)
SPEND = dp.ApproxDP(1, "1e-6")
MODELS = [
    learn.LinearRegression(target="income", features=["age", "sex"]),
    learn.AdditiveRegressor(target="income", features=["age"], bins=4),
    learn.QuantileRegression(target="income", features=["age"], steps=40),
    learn.LogisticRegression(target="works", features=["income"], steps=40),
    learn.LogisticRegression(target="kind", features=["age"], steps=40),
    learn.AdditiveClassifier(target="works", features=["age"], bins=4),
    learn.GaussianNB(target="kind", features=["age", "sex"]),
    learn.CategoricalNB(target="kind", features=["age", "sex"], bins=4),
    learn.NearestCentroid(target="kind", features=["age", "sex"]),
    learn.KMeans(n_clusters=2, features=["age", "income"]),
    learn.PCA(n_components=1, features=["age", "income"]),
]


class Many:
    """A store whose every total is multiplied: a table in which each row stands so many times."""

    def __init__(self, engine, times):
        self.engine = engine
        self.times = times

    def tally(self, tally):
        totals = self.engine.tally(tally)
        return {key: tuple(self.times * one for one in found) for key, found in totals.items()}


def people(n=300):
    rng = np.random.default_rng(1)
    age = rng.integers(0, 100, n)
    return [
        {
            "id": place // 2,
            "age": int(a),
            "sex": "fm"[place % 2],
            "income": float(5 * a + 100 * (place % 2)),
            "kind": "abc"[min(int(a) // 33, 2)],
            "works": bool((a * 7 + place) % 5 > 1),
        }
        for place, a in enumerate(age)
    ]


def trained(model, schema, times):
    source = Stored(Many(dp.Memory({"people": people()}), times), Scan(schema))
    task = model.task(columns_of(Scan(schema)))
    training = model.recipe().plan(task, SPEND, influence_of(Scan(schema)))
    return model.recipe().train(task, training, source)


def seen(model, schema, fitted):
    """Return what a model says of rows: scores, places of centres, or directions."""
    known = copy(model).restore(columns_of(Scan(schema)), fitted)
    rows = people(50)
    table = {name: np.array([row[name] for row in rows]) for name in COLUMNS}
    match model:
        case learn.KMeans():
            return np.sort(fitted["centres"], axis=0)
        case learn.PCA():
            return np.abs(fitted["components"])
        case learn.LogisticRegression() | learn.AdditiveClassifier():
            return known.predict_proba(table)
        case _ if "sums" in fitted:
            return fitted["sums"] / fitted["sums"][:, -1].sum()
        case _:
            return known.predict(table) / 1000


class TestNoSumWraps:
    """A total beyond 64 bits is added up, and noised, in Python's integers."""

    @pytest.mark.parametrize("schema", [ROWS, PEOPLE], ids=["rows", "people"])
    @pytest.mark.parametrize("model", MODELS, ids=lambda v: type(v).__name__)
    def test_a_store_of_ten_thousand_million_times_the_people(self, model, schema):
        """Noise is nothing then: twice as many people give the same model, 10^8 times as many too."""
        at, more = (seen(model, schema, trained(model, schema, 10**power)) for power in (10, 16))
        assert np.allclose(at, more, rtol=1e-2, atol=2e-2)

    def test_a_distinct_row_of_more_people_than_64_bits_hold(self):
        """Its weight stops at 2^62: nothing is refused after the charge."""
        model = learn.AdditiveClassifier(target="works", features=["age"], bins=4)
        found = trained(model, ROWS, 10**25)
        assert np.isfinite(found["coefficients"]).all()
        assert found["count"][0] > 2**61

    def test_weights_beyond_doubles_are_added_exactly(self):
        weights = np.array([2**62, 2**61 + 1, 3], dtype=np.int64)
        numbers = np.array([[1024.0], [-1024.0], [7.0]])
        rows = CodedRows(numbers, np.full((3, 1), 1), weights, 2)
        by_hand = sum(int(w) * int(x) for w, x in zip(weights, numbers[:, 0], strict=True))
        assert rows.push(np.ones(3, dtype=np.int64)).tolist() == [by_hand, 1024 * rows.people]
        square, _, _ = rows.gram(np.zeros((3, 0), dtype=np.int64))
        assert square[0, 1] == 1024 * by_hand

    def test_noise_is_added_beyond_64_bits_without_a_jump(self):
        """Around every power of two a person more is a person more: the release moves by one."""
        (release,) = divide(dp.ZCDP(10**6), [Slice(10**8, 1, 1, Fraction(1))], "add-remove")
        spread = 8 * float(release.noise.scale)
        for middle in (2**61, 2**62, 2**63, 2**64, 2**70):
            for person in (-1, 0, 1):
                found = release.noisy(np.array([middle + person], dtype=object))
                assert abs(found[0] - middle) <= spread + middle * 2**-50
        assert narrow(np.array([2**61 - 1], dtype=object)).dtype == np.int64
        assert narrow(np.array([-(2**61)], dtype=object)).dtype == object
