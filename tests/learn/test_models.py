"""Models: what they learn from clear data, what they refuse, and that the ledger comes first."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import discreet as dp
from discreet import learn
from discreet.errors import BudgetExceeded, InvalidArgument
from discreet.learn.coding.feature import UNIT
from discreet.learn.frame import read_columns
from discreet.learn.stored import model_from_json, model_to_json
from discreet.learn.tuning import _part, _worth

SPEND = dp.ApproxDP(2, "1e-6")
SCHEMA = dp.Schema(
    "people",
    dp.Rows(),
    {
        "age": dp.Integer(0, 99),
        "sex": dp.Category(["f", "m"]),
        "income": dp.Real(0, 1000),
        "kind": dp.Category(["a", "b", "c"]),
        "works": dp.Boolean(),
    },
)
KINDS = {
    name: getattr(learn, name)
    for name in learn.__all__
    if name[0].isupper() and name not in ("NoisySum", "Recommendation")
}


def people(n: int = 6000, seed: int = 1) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    age, sex = rng.integers(0, 100, n), rng.integers(0, 2, n)
    return {
        "age": age,
        "sex": np.array(["f", "m"])[sex],
        "income": np.clip(200 + 5 * age + 100 * sex + rng.normal(0, 20, n), 0, 1000),
        "kind": np.array(["a", "b", "c"])[np.minimum(age // 33, 2)],
        "works": (age >= 20) & (age < 70),
    }


BUDGET = dp.ApproxDP(50, "1e-4")


def ledger(budget=BUDGET):
    return dp.open_ledger(":memory:", budget)


class TestEachModelLearnsWhatIsClear:
    @pytest.mark.parametrize(
        ("model", "least"),
        [
            (learn.LinearRegression(SCHEMA, "income", SPEND, features=["age", "sex"]), 0.9),
            (
                learn.AdditiveRegressor(SCHEMA, "income", SPEND, features=["age", "sex"], bins=8),
                0.8,
            ),
            (learn.QuantileRegression(SCHEMA, "income", SPEND, features=["age", "sex"]), 0.85),
            (learn.LogisticRegression(SCHEMA, "kind", SPEND, features=["age", "income"]), 0.75),
            (
                learn.AdditiveClassifier(SCHEMA, "works", SPEND, features=["age", "sex"], bins=10),
                0.97,
            ),
            (
                learn.AdditiveClassifier(
                    SCHEMA, "kind", SPEND, features=["age"], edges={"age": [33, 66]}
                ),
                0.98,
            ),
            (learn.CategoricalNB(SCHEMA, "works", SPEND, features=["age", "sex"], bins=10), 0.97),
            (learn.GaussianNB(SCHEMA, "kind", SPEND, features=["age", "sex"]), 0.9),
            (learn.NearestCentroid(SCHEMA, "kind", SPEND, features=["age", "income"]), 0.85),
        ],
        ids=lambda value: type(value).__name__ if not isinstance(value, float) else None,
    )
    def test_score(self, model, least):
        rows = people()
        book = ledger()
        assert model.fit(rows, ledger=book).score(rows, rows[model.target]) > least
        assert model.receipt_.number == 2
        assert dp.compose([model.event_]).delta(epsilon=SPEND.epsilon) <= SPEND.delta
        again = model_from_json(model_to_json(model), KINDS)
        assert json.loads(model_to_json(again)) == json.loads(model_to_json(model))
        assert (again.predict(rows) == model.predict(rows)).all()

    def test_clusters_and_directions(self):
        rows = people()
        found = learn.KMeans(SCHEMA, SPEND, n_clusters=3, features=["age", "income"]).fit(
            rows, ledger=ledger()
        )
        assert found.predict(rows).shape == (6000,)
        assert (found.cluster_centers_ >= 0).all() and found.cluster_centers_[:, 0].max() <= 99
        axis = learn.PCA(SCHEMA, SPEND, n_components=1, features=["age", "income"]).fit(
            rows, ledger=ledger()
        )
        assert axis.transform(rows).shape == (6000, 1)
        assert abs(axis.components_[0, 0]) > abs(axis.components_[0, 1]) > 0.1

    def test_effects_and_intervals(self):
        rows = people()
        model = learn.AdditiveClassifier(SCHEMA, "works", SPEND, features=["age"], bins=10).fit(
            rows, ledger=ledger()
        )
        (age,) = model.effects_.columns
        assert age.ordered and len(age.values) == len(age.labels) == len(age.deviations)
        assert "age[" in str(model.effects_)
        assert len(model.effects_.plot().axes) == 3
        linear = learn.LinearRegression(SCHEMA, "income", SPEND, features=["age", "sex"]).fit(
            rows, ledger=ledger()
        )
        low, high = linear.coef_interval(1 - 1e-10)["age"]
        assert low < 5 < high
        assert linear.columns_[0] == "age" and low < linear.coef_[0] < high

    def test_coefficients_are_in_the_users_units(self):
        """A prediction within the bounds is x·coef_ + intercept_, in years and euros, and log-odds alike."""
        rows, ages = people(), np.array([30.0, 40.0, 50.0])
        linear = learn.LinearRegression(SCHEMA, "income", SPEND, features=["age"]).fit(
            rows, ledger=ledger()
        )
        said = ages * linear.coef_[0] + linear.intercept_
        assert np.abs(linear.predict(ages[:, None]) - said).max() < 0.5
        model = learn.LogisticRegression(SCHEMA, "works", SPEND, features=["age"]).fit(
            rows, ledger=ledger()
        )
        assert model.coef_.shape == (1, 1) and model.intercept_.shape == (1,)
        odds = ages * model.coef_[0, 0] + model.intercept_[0]
        assert (
            np.abs(model.decision_function(ages[:, None]) - odds).max()
            < 0.01 * np.abs(model.coef_).max() * 99
        )
        centre = learn.NearestCentroid(SCHEMA, "works", SPEND, features=["age"]).fit(
            rows, ledger=ledger()
        )
        assert 0 <= centre.centroids_.min() <= centre.centroids_.max() <= 99


class TestTheLedgerComesFirst:
    def test_fitting_twice_is_two_charges(self):
        book, rows = ledger(dp.GaussianDP(1)), people(200)
        model = learn.LinearRegression(SCHEMA, "income", dp.GaussianDP("1/2"), features=["age"])
        for _ in range(3):
            model.fit(rows, ledger=book)
        before = model.fitted_
        model.fit(rows, ledger=book)
        with pytest.raises(BudgetExceeded):
            model.fit(rows, ledger=book)
        assert before is not model.fitted_

    def test_without_a_ledger_only_by_word(self):
        model = learn.LinearRegression(SCHEMA, "income", SPEND)
        with pytest.raises(InvalidArgument, match="fit needs a ledger"):
            model.fit(people(50))
        with pytest.warns(UserWarning, match="nothing is recorded"):
            model.fit(people(50), ledger=None)

    def test_nothing_is_charged_for_what_is_refused(self):
        book, rows = ledger(), people(50)
        refused = [
            (
                learn.LinearRegression(SCHEMA, "income", SPEND),
                {"age": rows["age"]},
                "no column sex",
            ),
            (
                learn.LinearRegression(SCHEMA, "income", SPEND),
                np.zeros((5, 2)),
                "is expecting 4 features",
            ),
            (
                learn.LinearRegression(SCHEMA, "income", SPEND),
                {**rows, "age": []},
                "different lengths",
            ),
            (learn.LinearRegression(SCHEMA, "income", dp.PureDP(1)), rows, "keeps no pure ε"),
            (learn.LinearRegression(SCHEMA, "income"), rows, "say what the fit may spend"),
            (learn.LinearRegression(SCHEMA, "salary", SPEND), rows, "none of the columns"),
            (learn.LinearRegression(SCHEMA, "kind", SPEND), rows, "no number between bounds"),
            (learn.LogisticRegression(SCHEMA, "age", SPEND), rows, "never from data"),
            (
                learn.LinearRegression(SCHEMA, "income", SPEND, features=["income"]),
                rows,
                "other columns",
            ),
            (learn.LinearRegression(None, "income", SPEND), rows, "needs a schema"),
            (learn.QuantileRegression(SCHEMA, "income", SPEND, at=1.5), rows, "between 0 and 1"),
            (learn.PCA(SCHEMA, SPEND, n_components=99), rows, "n_components is a number"),
            (
                learn.LogisticRegression(SCHEMA, "works", SPEND, clip=0),
                rows,
                "clip is a number from 0.001",
            ),
            (
                learn.LogisticRegression(SCHEMA, "works", SPEND, rate=float("nan")),
                rows,
                "rate is a number",
            ),
            (
                learn.AdditiveClassifier(SCHEMA, "works", SPEND, steps=10**9),
                rows,
                "from 1 to 10000",
            ),
            (learn.LinearRegression(SCHEMA, "income", SPEND, lift=-1), rows, "lift is a number"),
            (
                learn.AdditiveRegressor(SCHEMA, "income", SPEND, edges={"height": [1]}),
                rows,
                "has no height",
            ),
        ]
        for model, table, words in refused:
            with pytest.raises(InvalidArgument, match=words):
                model.fit(table, ledger=book)
        assert book.spent() == ledger().spent()

    def test_a_model_that_was_not_fitted_says_so(self):
        for kind in KINDS.values():
            with pytest.raises(InvalidArgument, match="has not been fitted"):
                kind(SCHEMA, features=["age"]).image([[1]])

    def test_explain(self):
        model = learn.AdditiveClassifier(SCHEMA, "works", SPEND)
        assert "nothing is worth training" in str(model.explain(n=10))
        assert "little loss" in str(model.explain(n=10**6))
        with pytest.raises(InvalidArgument, match="said twice"):
            model.explain(n=10, spend=SPEND)


class TestTune:
    def test_the_better_of_two_for_the_price_of_one(self):
        rows, book = people(), ledger()
        model = learn.AdditiveClassifier(
            SCHEMA, "works", SPEND, features=["age"], bins=10, steps=20
        )
        found = learn.tune(model, {"edges": [{"age": [50]}, {"age": [20, 70]}]}, rows, ledger=book)
        assert found.edges == {"age": [20, 70]}
        assert found.score(rows, rows["works"]) > 0.95
        with pytest.raises(BudgetExceeded):
            learn.tune(model, {"bins": [4, 8]}, rows, ledger=ledger(dp.ApproxDP("1/2", "1e-6")))

    @pytest.mark.parametrize("kind", [learn.LinearRegression, learn.QuantileRegression])
    def test_the_nearer_of_two_regressions(self, kind):
        rows = people()
        found = learn.tune(
            kind(SCHEMA, "income", SPEND),
            {"features": [["sex"], ["age", "sex"]]},
            rows,
            ledger=ledger(),
        )
        assert found.features == ["age", "sex"]

    @pytest.mark.parametrize(
        ("model", "most"),
        [
            (
                learn.QuantileRegression(
                    SCHEMA, "income", SPEND, features=["age"], at=0.9, steps=3
                ),
                2 * UNIT,
            ),
            (learn.LogisticRegression(SCHEMA, "kind", SPEND, features=["age", "sex"], steps=3), 1),
            (learn.GaussianNB(SCHEMA, "kind", SPEND, features=["age", "sex"]), 1),
        ],
    )
    def test_one_row_moves_what_is_chosen_by_at_most_the_sensitivity(self, model, most):
        """Each row is scored as if it were alone, so the sum over rows is the sum of what each says by itself."""
        rows = people(200)
        fitted = model.fit(rows, ledger=ledger())
        columns = read_columns(fitted.task_, fitted.known_, rows, None)
        marks = np.arange(200)
        each = [
            _worth(fitted, {name: _part(cells, marks == at) for name, cells in columns.items()})
            for at in range(200)
        ]
        assert all(0 <= worth <= most for worth in each)
        assert sum(each) == _worth(fitted, columns)

    def test_refusals(self):
        linear = learn.LinearRegression(SCHEMA, "income", SPEND)
        with pytest.raises(InvalidArgument, match="which quantile"):
            learn.tune(
                learn.QuantileRegression(SCHEMA, "income", SPEND),
                {"at": [0.1, 0.9]},
                people(20),
                ledger=None,
            )
        with pytest.raises(InvalidArgument, match="predicts nothing"):
            learn.tune(learn.PCA(SCHEMA, SPEND), {"n_components": [1, 2]}, people(20), ledger=None)
        with pytest.raises(InvalidArgument, match="2 to 64 models"):
            learn.tune(linear, {"lift": [0.5]}, people(20), ledger=None)
        with pytest.raises(InvalidArgument, match="needs a ledger"):
            learn.tune(
                learn.GaussianNB(SCHEMA, "kind", SPEND),
                {"features": [["age"], ["sex"]]},
                people(20),
            )


class TestRecommend:
    def test_the_rule_is_public_and_monotone(self):
        names = [learn.recommend(n, 13, 2, SPEND).kind.__name__ for n in (10, 400, 10**5)]
        assert names == ["CategoricalNB", "LogisticRegression", "AdditiveClassifier"]
        assert (
            learn.recommend(1400, 64, 10, dp.ApproxDP(1, "1e-6")).kind is learn.LogisticRegression
        )
        # Rows that are enough for effects of two classes are not for those of twenty.
        assert learn.recommend(10**5, 13, 400, SPEND).kind is learn.LogisticRegression
        # Where noise drowns the columns, one is used: the model says how common each class is.
        drowned = learn.recommend(40, 13, 2, SPEND).make(SCHEMA, "works")
        assert drowned.features == ["age"] and drowned.bins == 1
        assert learn.recommend(100, 5, None, SPEND).kind is learn.LinearRegression
        assert learn.recommend(10**6, 5, None, SPEND).make(SCHEMA, "income").bins == 16
        assert "rows" in str(learn.recommend(100, 5, 3, SPEND))


class TestManners:
    def test_two_classes_have_one_score(self):
        """As scikit-learn has it: the log-odds of the second, in the order of the chances."""
        rows = people(3000)
        for kind in (
            learn.GaussianNB,
            learn.NearestCentroid,
            learn.CategoricalNB,
            learn.LogisticRegression,
        ):
            model = kind(SCHEMA, "works", SPEND, features=["age", "sex"]).fit(rows, ledger=ledger())
            found = model.decision_function(rows)
            assert found.shape == (3000,)
            assert ((found > 0) == (model.predict_proba(rows)[:, 1] > 0.5)).all()

    def test_shapes_are_refused_in_words_that_say_what_to_do(self):
        model = learn.PCA(SCHEMA, SPEND, features=["age", "income"]).fit(
            people(50), ledger=ledger()
        )
        with pytest.raises(
            InvalidArgument, match="X has 3 features, but PCA is expecting 2 features as input: age"
        ):
            model.transform(np.zeros((4, 3)))
        with pytest.raises(InvalidArgument, match="Reshape your data"):
            model.transform(np.zeros(4))
        frame = pd.DataFrame(
            np.zeros((4, 2))
        )  # columns without names are told apart by their places
        assert model.transform(frame).shape[0] == 4

    def test_params(self):
        model = learn.KMeans(SCHEMA, SPEND, n_clusters=3)
        assert model.get_params()["n_clusters"] == 3
        assert model.set_params(n_clusters=4).n_clusters == 4
        with pytest.raises(InvalidArgument, match="has no parameter"):
            model.set_params(k=3)
        assert "n_clusters=4" in repr(model)

    def test_no_model_takes_a_seed(self):
        assert not any("random_state" in kind().get_params() for kind in KINDS.values())

    def test_other_text_is_no_model(self):
        with pytest.raises(InvalidArgument, match="no model"):
            model_from_json("{}", KINDS)
